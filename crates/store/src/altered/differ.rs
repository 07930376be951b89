//! Whether what was derived of the one is also what was derived of the other.

/// Whether one table has rows that another has not.
macro_rules! differ {
    ($columns:expr, $one:literal, $other:literal) => {
        concat!(
            "EXISTS (SELECT ",
            $columns,
            " FROM ",
            $one,
            " EXCEPT SELECT ",
            $columns,
            " FROM ",
            $other,
            ") OR EXISTS (SELECT ",
            $columns,
            " FROM ",
            $other,
            " EXCEPT SELECT ",
            $columns,
            " FROM ",
            $one,
            ")"
        )
    };
}

/// Of messages what does not change with their length, but for the number of their exchange.
macro_rules! message {
    () => {
        "frame, part, direction, kind, era, method, name, rpc_id, code, token, trace_id, task,
        subscription, exchange IS NULL"
    };
}

macro_rules! exchange {
    () => {
        "direction, era, method, name, rpc_id, request, request_part, t_request, response,
        response_part, t_response, t_response_last, waited, status, code, task, cancelled,
        progress_count, progress, parent IS NULL, chain IS NULL"
    };
}

macro_rules! finding {
    () => {
        "rule, severity, frame, path, related, detail, exchange IS NULL"
    };
}

/// Whether the part was derived otherwise than the whole, in which exchanges have other numbers.
pub(super) const IS_OTHER_PART: &str = concat!(
    "SELECT ",
    differ!(
        concat!(message!(), ", start, size, summary"),
        "before.message",
        "source.message WHERE frame IN (SELECT frame FROM temp.kept)"
    ),
    " OR ",
    differ!(
        concat!(exchange!(), ", request_size, response_size"),
        "before.exchange",
        "source.exchange WHERE request IN (SELECT frame FROM temp.kept)"
    ),
    " OR ",
    differ!(finding!(), "before.finding", "source.finding"),
    " OR (SELECT count(*) FROM before.finding) <> (SELECT count(*) FROM source.finding) OR ",
    differ!(
        "failed, open, findings, session",
        "before.recording",
        "source.recording"
    ),
);

/// Whether the one twin was derived otherwise than the other.
pub(super) const IS_OTHER_TWIN: &str = concat!(
    "SELECT ",
    differ!(
        concat!(message!(), ", exchange"),
        "before.message",
        "after.message"
    ),
    " OR ",
    differ!(
        concat!(exchange!(), ", id, parent, chain"),
        "before.exchange",
        "after.exchange"
    ),
    " OR ",
    differ!(
        concat!(finding!(), ", id, exchange"),
        "before.finding",
        "after.finding"
    ),
    " OR ",
    differ!("frame, stream", "before.line", "after.line"),
    " OR ",
    differ!(
        "messages, exchanges, failed, open, findings, session",
        "before.recording",
        "after.recording"
    ),
);
