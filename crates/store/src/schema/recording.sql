-- What mcpreel that reads this file needs. This table is the same in every version of the format.
CREATE TABLE format (
    needs TEXT NOT NULL           -- the first version of mcpreel that reads this format
) STRICT;

-- One row: the session as a whole.
CREATE TABLE recording (
    one             INTEGER PRIMARY KEY CHECK (one = 1),
    id              TEXT NOT NULL,     -- eight hex digits
    name            TEXT NOT NULL,
    state           TEXT NOT NULL CHECK (state IN ('live', 'pending', 'complete', 'recovered')),
    origin          TEXT NOT NULL,     -- live, demo, replay, minimised, mock, import
    parent          TEXT,              -- id of the recording that this one was made from
    wall_ns         INTEGER NOT NULL,  -- wall clock of t = 0, nanoseconds since the Unix epoch; 0: unknown
    transport       TEXT NOT NULL,
    context         TEXT NOT NULL,     -- the process context, JSON
    slow_ns         INTEGER NOT NULL,  -- an answer that takes longer is slow
    redaction       TEXT,              -- what was taken out, JSON
    note            TEXT,
    -- How far the spool is drained.
    resume          INTEGER NOT NULL,  -- first record of the spool with a byte that is in no frame yet
    drained         INTEGER NOT NULL,  -- end of the last record of the spool that was looked at
    -- Counters of what is on record.
    frames          INTEGER NOT NULL DEFAULT 0,
    bytes           INTEGER NOT NULL DEFAULT 0,
    gap_bytes       INTEGER NOT NULL DEFAULT 0,  -- forwarded, but not on record
    t_last          INTEGER NOT NULL DEFAULT 0,  -- the last thing on record
    -- Derived.
    derived_version INTEGER NOT NULL,  -- of the code that derived; 0: to be derived anew
    messages        INTEGER NOT NULL DEFAULT 0,
    exchanges       INTEGER NOT NULL DEFAULT 0,
    failed          INTEGER NOT NULL DEFAULT 0,
    open            INTEGER NOT NULL DEFAULT 0,
    findings        INTEGER NOT NULL DEFAULT 0,
    session         TEXT,              -- names, versions, capabilities, phase, end: JSON
    phase           TEXT GENERATED ALWAYS AS (session ->> '$.phase') VIRTUAL,
    client_name     TEXT GENERATED ALWAYS AS (session ->> '$.client.name') VIRTUAL,
    server_name     TEXT GENERATED ALWAYS AS (session ->> '$.server.name') VIRTUAL,
    version_asked   TEXT GENERATED ALWAYS AS (session ->> '$.version_asked') VIRTUAL,
    version_agreed  TEXT GENERATED ALWAYS AS (session ->> '$.version_agreed') VIRTUAL
) STRICT;

CREATE TABLE stream (
    id            INTEGER PRIMARY KEY,
    direction     TEXT,               -- c2s, s2c; null where it carries no messages
    kind          TEXT NOT NULL,      -- messages, text
    label         TEXT NOT NULL,
    committed     INTEGER NOT NULL DEFAULT 0,  -- bytes of the stream that are in frames or gaps
    pending       INTEGER NOT NULL DEFAULT 0,  -- bytes of an unfinished line
    pending_since INTEGER             -- when its first byte was read
) STRICT;

-- A unit of a stream, exactly as read: a stream's frames and gaps concatenate to the stream.
CREATE TABLE frame (
    seq      INTEGER PRIMARY KEY,
    stream   INTEGER NOT NULL,
    "offset" INTEGER NOT NULL,        -- bytes of the stream before it
    t_first  INTEGER NOT NULL,        -- when its first byte was read, nanoseconds since t = 0
    t_last   INTEGER NOT NULL,        -- when its terminator was read
    envelope TEXT,                    -- what a transport wraps around it
    origin   TEXT,                    -- what a person changed or sent
    raw      BLOB NOT NULL
) STRICT;

CREATE TABLE event (
    id        INTEGER PRIMARY KEY,
    t         INTEGER NOT NULL,
    after_seq INTEGER NOT NULL,       -- the last frame that was complete before it
    kind      TEXT GENERATED ALWAYS AS (detail ->> 'kind') VIRTUAL,
    detail    TEXT NOT NULL           -- JSON
) STRICT;

CREATE INDEX event_by_frame ON event (after_seq);

-- What people put on frames. Beside recording.note all that a viewer writes.
CREATE TABLE annotation (
    frame   INTEGER PRIMARY KEY,
    mark    TEXT,                     -- a word, empty for a plain mark
    note    TEXT,
    wall_ns INTEGER NOT NULL          -- when it was written last
) STRICT;
