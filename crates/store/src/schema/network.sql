-- What was read from the connections of a network recording: the truth from which its frames are made.
CREATE TABLE wire (
    id       INTEGER PRIMARY KEY,     -- in the order in which it was recorded
    stream   INTEGER NOT NULL,
    "offset" INTEGER NOT NULL,        -- bytes of the stream before it
    t        INTEGER NOT NULL,        -- when it was read, nanoseconds since t = 0
    raw      BLOB NOT NULL
) STRICT;

-- Derived: a request of HTTP with its response. Times as in the table exchange.
CREATE TABLE http (
    id           INTEGER PRIMARY KEY,
    connection   INTEGER NOT NULL,
    conversation INTEGER NOT NULL,    -- 0: none
    method       TEXT NOT NULL,
    target       TEXT NOT NULL,
    status       INTEGER,
    content_type TEXT,                -- of the response
    session      TEXT,                -- id of the session, as either side said it
    request      INTEGER NOT NULL,    -- frame of the head
    response     INTEGER,
    t_request    INTEGER NOT NULL,    -- the first byte of the request came
    t_sent       INTEGER NOT NULL,    -- its last byte came
    t_head       INTEGER,             -- the first byte of the response came
    t_first      INTEGER,             -- its first event, or its body, was complete
    t_last       INTEGER,             -- the last byte of it came
    ended        TEXT,                -- whole, closed, cut, left, unfinished
    events       INTEGER NOT NULL,
    alone        INTEGER NOT NULL     -- 1: no message came in its request, so it is a row of its own
) STRICT;

CREATE INDEX http_alone ON http (request) WHERE alone;
CREATE INDEX http_failed ON http (id) WHERE status >= 300 OR ended = 'cut';

-- Derived: a conversation of a network recording.
CREATE TABLE conversation (
    id      INTEGER PRIMARY KEY,
    first   INTEGER NOT NULL,         -- frame of its first message
    session TEXT NOT NULL             -- names, versions, capabilities, phase: JSON
) STRICT;

ALTER TABLE message ADD COLUMN conversation INTEGER NOT NULL DEFAULT 0;
ALTER TABLE message ADD COLUMN http INTEGER NOT NULL DEFAULT 0;
ALTER TABLE exchange ADD COLUMN conversation INTEGER NOT NULL DEFAULT 0;
ALTER TABLE exchange ADD COLUMN http INTEGER NOT NULL DEFAULT 0;
ALTER TABLE line ADD COLUMN http INTEGER NOT NULL DEFAULT 0;

CREATE INDEX message_by_http ON message (http) WHERE http > 0;
CREATE INDEX line_by_http ON line (http) WHERE http > 0;
