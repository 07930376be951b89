CREATE TABLE message (
    frame        INTEGER NOT NULL,
    part         INTEGER NOT NULL,    -- position in a batch
    start        INTEGER NOT NULL,    -- where in the frame it stands, bytes
    size         INTEGER NOT NULL,
    direction    TEXT NOT NULL,
    kind         TEXT NOT NULL,       -- request, notification, response, other
    era          TEXT,                -- legacy, modern; of requests and responses see their exchange
    method       TEXT,                -- likewise
    name         TEXT,                -- likewise
    rpc_id       TEXT,                -- JSON text as on the wire
    exchange     INTEGER,
    code         TEXT,                -- JSON text as on the wire
    token        TEXT,                -- progress token, JSON text
    trace_id     TEXT,
    task         TEXT,
    subscription TEXT,                -- JSON text
    summary      TEXT,                -- one line; of most requests that of their exchange
    PRIMARY KEY (frame, part)
) STRICT, WITHOUT ROWID;

CREATE INDEX message_by_exchange ON message (exchange) WHERE exchange IS NOT NULL;
-- What is a row of its own beside the exchanges.
CREATE INDEX message_alone ON message (frame, part)
    WHERE exchange IS NULL OR (kind = 'notification'
        AND method <> 'notifications/progress' AND method <> 'notifications/cancelled');
CREATE INDEX message_by_trace_id ON message (trace_id) WHERE trace_id IS NOT NULL;
CREATE INDEX message_by_task ON message (task) WHERE task IS NOT NULL;

-- A frame without a message: stderr, and what is no JSON-RPC.
CREATE TABLE line (
    frame  INTEGER PRIMARY KEY,
    stream INTEGER NOT NULL
) STRICT;

-- The column `summary` came later: `MIGRATIONS` in `mod.rs`.
CREATE TABLE exchange (
    id              INTEGER PRIMARY KEY,  -- in the order of the requests
    direction       TEXT NOT NULL,        -- of the request
    era             TEXT NOT NULL,
    method          TEXT NOT NULL,
    name            TEXT,
    rpc_id          TEXT NOT NULL,
    request         INTEGER NOT NULL,
    request_part    INTEGER NOT NULL,
    response        INTEGER,
    response_part   INTEGER,
    t_request       INTEGER NOT NULL,     -- the request was complete
    t_response      INTEGER,              -- the first byte of the response came
    t_response_last INTEGER,              -- the response was complete
    latency         INTEGER AS (          -- nanoseconds
        CASE method WHEN 'subscriptions/listen' THEN NULL ELSE max(t_response - t_request, 0) END),
    waited          INTEGER NOT NULL,     -- nanoseconds in which the server waited for its client; of a retry, before it
    status          TEXT NOT NULL,
    code            TEXT,
    parent          INTEGER,              -- exchange in which the other side asked this
    chain           INTEGER,              -- first exchange of the chain of input rounds
    task            TEXT,
    cancelled       INTEGER,              -- frame of the cancellation
    progress_count  INTEGER NOT NULL,
    progress        TEXT,
    request_size    INTEGER NOT NULL,
    response_size   INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX exchange_by_request ON exchange (request, request_part);
CREATE INDEX exchange_by_name ON exchange (method, name);
CREATE INDEX exchange_not_ok ON exchange (status) WHERE status <> 'ok';
CREATE INDEX exchange_by_parent ON exchange (parent) WHERE parent IS NOT NULL;
CREATE INDEX exchange_by_task ON exchange (task) WHERE task IS NOT NULL;
CREATE INDEX exchange_by_chain ON exchange (chain) WHERE chain IS NOT NULL;

CREATE TABLE finding (
    id       INTEGER PRIMARY KEY,
    rule     TEXT NOT NULL,
    severity TEXT NOT NULL,           -- error, warning, note
    frame    INTEGER,
    exchange INTEGER,
    path     TEXT,                    -- where in the message: params.arguments.q
    related  TEXT,                    -- other frames, a JSON array
    detail   TEXT NOT NULL            -- one sentence
) STRICT;

CREATE INDEX finding_by_frame ON finding (frame);
CREATE INDEX finding_by_exchange ON finding (exchange) WHERE exchange IS NOT NULL;
CREATE INDEX finding_by_rule ON finding (rule);
