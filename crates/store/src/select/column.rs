//! Where rows come from, and their fields as SQL. An expression is `NULL` where the field is absent.
//!
//! | field | of an exchange | of a message (on the wire, or one that stands for itself) |
//! |---|---|---|
//! | `seq` | its request's frame | its frame; so of a line; of an event the last frame before it |
//! | `time` | the request was complete | its frame was complete; so of a line; of an event when it happened |
//! | `stream` `dir` | those of the request | its own; a line has a stream, and a direction unless it is stderr; an event neither |
//! | `method` `name` | its own | its own, of a response those of its exchange |
//! | `tool` `prompt` `uri` | `name`, where the method is `tools/call`, `prompts/get`, or one with `resources/` | likewise |
//! | `id` | the request's | its own |
//! | `status` `latency` `reqsize` `ressize` | its own; no `ressize` before the answer | requests and responses: those of the exchange; others none |
//! | `code` | its own | its own; a request or response has that of the exchange |
//! | `size` | request and response together | its frame's; so of a line |
//! | `era` | its own | its own |
//! | `level` `logger` | none | of `notifications/message`: as in `params` |
//! | `token` | what the request gave | what it gave or used |
//! | `trace` | the trace id in the request's `traceparent` | its own |
//! | `task` | its own | its own, else that of the exchange for requests and responses |
//! | `finding` `severity` | of the findings that point at the row | likewise, for all rows |
//! | `mark` `note` | what a person put on it | likewise, for all rows but events |
//! | `text` | always there | always there |

use crate::reader::reader_rows::summary_column;
use mcpreel_trace::item::Lens;
use mcpreel_trace::query::ast::Field;

/// A table whose rows a lens shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Requests with all that belongs to them: `e`.
    Exchange,
    /// Messages that are rows of their own beside the exchanges: `m`.
    Alone,
    /// Messages, `m`, with their exchange, `e`.
    Message,
    /// Frames without a message: `l`.
    Line,
    /// Events: `v`.
    Event,
}

/// The messages that are rows of their own beside the exchanges: what the index `message_alone`
/// holds, and written as it is there. Log messages stay rows of their own even where the call is
/// known in which they came: people look for them in the list.
macro_rules! is_alone {
    () => {
        "(m.exchange IS NULL OR (m.kind = 'notification'
        AND m.method <> 'notifications/progress' AND m.method <> 'notifications/cancelled'))"
    };
}

impl Source {
    /// The sources of the rows of a lens.
    pub fn of(lens: Lens) -> &'static [Self] {
        match lens {
            Lens::Exchanges => &[Self::Exchange, Self::Alone, Self::Line, Self::Event],
            Lens::Wire => &[Self::Message, Self::Line, Self::Event],
        }
    }

    /// `seq, part or event, kind, what runs are folded by` of its rows.
    pub fn columns(self) -> &'static str {
        match self {
            Self::Exchange => "e.request, e.request_part, 'request', NULL",
            Self::Alone | Self::Message => {
                "m.frame, m.part, m.kind,
                CASE m.kind WHEN 'notification' THEN m.direction || ' ' || m.method END"
            }
            Self::Line => "l.frame, 0, CASE l.stream WHEN 2 THEN 'stderr' ELSE 'other' END, NULL",
            Self::Event => "v.after_seq, v.id, 'event', NULL",
        }
    }

    /// Its rows in the frames `?1` to `?2`. `dense` says that most messages are rows of their own.
    pub fn range(self, dense: bool) -> &'static str {
        match self {
            // Exchanges are numbered in the order of their requests.
            Self::Exchange => {
                "exchange e WHERE e.id BETWEEN
                (SELECT id FROM exchange WHERE request >= ?1
                 ORDER BY request, request_part LIMIT 1) AND
                (SELECT id FROM exchange WHERE request <= ?2
                 ORDER BY request DESC, request_part DESC LIMIT 1)"
            }
            // Most messages one after the other are faster than each by the index.
            Self::Alone if dense => concat!(
                "message m NOT INDEXED WHERE m.frame BETWEEN ?1 AND ?2 AND ",
                is_alone!()
            ),
            Self::Alone => concat!(
                "message m INDEXED BY message_alone WHERE m.frame BETWEEN ?1 AND ?2 AND ",
                is_alone!()
            ),
            Self::Message => {
                "message m LEFT JOIN exchange e ON e.id = m.exchange
                WHERE m.frame BETWEEN ?1 AND ?2"
            }
            Self::Line => "line l WHERE l.frame BETWEEN ?1 AND ?2",
            Self::Event => "event v WHERE v.after_seq BETWEEN ?1 AND ?2",
        }
    }

    /// A field of its rows; `None` if no row has it. Of those that stand in bodies or findings it
    /// knows nothing.
    pub fn column(self, field: Field) -> Option<&'static str> {
        match self {
            Self::Exchange => of_exchange(field),
            Self::Alone => of_message(field),
            Self::Message => of_paired(field).or_else(|| of_message(field)),
            Self::Line => of_line(field),
            Self::Event => match field {
                Field::Seq => Some("v.after_seq"),
                Field::Time => Some("v.t"),
                Field::Kind => Some("'event'"),
                _ => None,
            },
        }
    }

    /// What begins the condition that a finding points at the row; after each part a condition on
    /// the finding follows, and after the last one [`END_OF_FINDINGS`].
    pub fn findings(self) -> &'static [&'static str] {
        match self {
            Self::Exchange => &[
                "(e.id IN (SELECT exchange FROM finding WHERE exchange IS NOT NULL AND ",
                ") OR e.request IN (SELECT frame FROM finding WHERE exchange IS NULL AND ",
                ") OR e.response IN (SELECT frame FROM finding WHERE exchange IS NULL AND ",
            ],
            Self::Alone | Self::Message => &[
                "(m.frame IN (SELECT frame FROM finding WHERE (exchange IS NULL
                    OR m.exchange IS NULL OR exchange = m.exchange) AND frame = m.frame AND ",
            ],
            Self::Line => &["(l.frame IN (SELECT frame FROM finding WHERE "],
            Self::Event => &["(0 IN (SELECT 1 FROM finding WHERE 0 AND "],
        }
    }

    /// The bytes of the request and of the response of a row.
    pub fn bodies(self) -> [&'static str; 2] {
        match self {
            Self::Exchange => [
                "(SELECT substr(f.raw, q.start + 1, q.size) FROM message q
                JOIN frame f ON f.seq = q.frame
                WHERE q.frame = e.request AND q.part = e.request_part)",
                "(SELECT substr(f.raw, q.start + 1, q.size) FROM message q
                JOIN frame f ON f.seq = q.frame
                WHERE q.frame = e.response AND q.part = e.response_part)",
            ],
            Self::Alone | Self::Message => [
                "CASE WHEN m.kind <> 'response' THEN
                (SELECT substr(raw, m.start + 1, m.size) FROM frame WHERE seq = m.frame) END",
                "CASE WHEN m.kind = 'response' THEN
                (SELECT substr(raw, m.start + 1, m.size) FROM frame WHERE seq = m.frame) END",
            ],
            Self::Line => ["(SELECT raw FROM frame WHERE seq = l.frame)", "NULL"],
            Self::Event => ["NULL", "NULL"],
        }
    }

    /// What a word of its own is looked for in: texts for people, and bytes in which JSON may have
    /// escaped it.
    pub fn texts(self) -> (&'static [&'static str], [&'static str; 2]) {
        match self {
            Self::Exchange => (&["e.summary", "e.method", "e.name"], self.bodies()),
            Self::Alone => (&["m.summary", "m.method", "m.name"], self.bodies()),
            Self::Message => (&[summary_column!(), "m.method", "m.name"], self.bodies()),
            Self::Line => (&[], self.bodies()),
            Self::Event => (&[], ["v.detail", "NULL"]),
        }
    }

    /// Whether the frame of a row is a batch: a condition that rules most rows out, and the bytes
    /// that the frame begins with. `None`: it never is.
    pub fn batch(self) -> Option<[&'static str; 2]> {
        // The only message of a frame begins at its first byte, unless white space or a bracket
        // stands before it. Where that of a very long frame begins is not kept.
        match self {
            Self::Exchange => Some([
                "(SELECT start > 0 OR size > 1048576 FROM message
                WHERE frame = e.request AND part = e.request_part)",
                "(SELECT substr(raw, 1, 65536) FROM frame WHERE seq = e.request)",
            ]),
            Self::Alone | Self::Message => Some([
                "(m.start > 0 OR m.size > 1048576)",
                "(SELECT substr(raw, 1, 65536) FROM frame WHERE seq = m.frame)",
            ]),
            Self::Line | Self::Event => None,
        }
    }
}

pub(super) const END_OF_FINDINGS: &str = "))";

fn of_exchange(field: Field) -> Option<&'static str> {
    Some(match field {
        Field::Seq => "e.request",
        Field::Time => "e.t_request",
        Field::Stream | Field::Dir => "e.direction",
        Field::Kind => "'request'",
        Field::Method => "e.method",
        Field::Name => "e.name",
        Field::Tool => "CASE WHEN e.method = 'tools/call' THEN e.name END",
        Field::Prompt => "CASE WHEN e.method = 'prompts/get' THEN e.name END",
        Field::Uri => {
            "CASE WHEN e.method GLOB 'resources/*' OR e.method GLOB 'notifications/resources/*'
            THEN e.name END"
        }
        Field::Id => "e.rpc_id",
        Field::Status => "e.status",
        Field::Code => "e.code",
        Field::Latency => "e.latency",
        Field::Size => "(e.request_size + e.response_size)",
        Field::ReqSize => "e.request_size",
        Field::ResSize => "CASE WHEN e.response IS NOT NULL THEN e.response_size END",
        Field::Era => "e.era",
        Field::Token => {
            "(SELECT token FROM message WHERE frame = e.request AND part = e.request_part)"
        }
        Field::Trace => {
            "(SELECT trace_id FROM message WHERE frame = e.request AND part = e.request_part)"
        }
        Field::Task => "e.task",
        Field::Mark => "(SELECT mark FROM annotation WHERE frame = e.request)",
        Field::Note => "(SELECT note FROM annotation WHERE frame = e.request)",
        Field::Level | Field::Logger | Field::Finding | Field::Severity | Field::Text => {
            return None;
        }
    })
}

fn of_message(field: Field) -> Option<&'static str> {
    Some(match field {
        Field::Seq => "m.frame",
        Field::Time => "(SELECT t_last FROM frame WHERE seq = m.frame)",
        Field::Stream | Field::Dir => "m.direction",
        Field::Kind => "m.kind",
        Field::Method => "m.method",
        Field::Name => "m.name",
        Field::Tool => "CASE WHEN m.method = 'tools/call' THEN m.name END",
        Field::Prompt => "CASE WHEN m.method = 'prompts/get' THEN m.name END",
        Field::Uri => {
            "CASE WHEN m.method GLOB 'resources/*' OR m.method GLOB 'notifications/resources/*'
            THEN m.name END"
        }
        Field::Id => "m.rpc_id",
        Field::Code => "m.code",
        Field::Size => "(SELECT length(raw) FROM frame WHERE seq = m.frame)",
        Field::Era => "m.era",
        Field::Token => "m.token",
        Field::Trace => "m.trace_id",
        Field::Task => "m.task",
        Field::Mark => "(SELECT mark FROM annotation WHERE frame = m.frame)",
        Field::Note => "(SELECT note FROM annotation WHERE frame = m.frame)",
        _ => return None,
    })
}

/// What the exchange says of its request and its response.
fn of_paired(field: Field) -> Option<&'static str> {
    Some(match field {
        Field::Status => "CASE WHEN m.kind IN ('request', 'response') THEN e.status END",
        Field::Code => {
            "coalesce(m.code, CASE WHEN m.kind IN ('request', 'response') THEN e.code END)"
        }
        Field::Latency => "CASE WHEN m.kind IN ('request', 'response') THEN e.latency END",
        Field::ReqSize => "CASE WHEN m.kind IN ('request', 'response') THEN e.request_size END",
        Field::ResSize => {
            "CASE WHEN m.kind IN ('request', 'response') AND e.response IS NOT NULL
            THEN e.response_size END"
        }
        Field::Task => {
            "coalesce(m.task, CASE WHEN m.kind IN ('request', 'response') THEN e.task END)"
        }
        _ => return None,
    })
}

fn of_line(field: Field) -> Option<&'static str> {
    Some(match field {
        Field::Seq => "l.frame",
        Field::Time => "(SELECT t_last FROM frame WHERE seq = l.frame)",
        Field::Stream => {
            "CASE l.stream WHEN 0 THEN 'c2s' WHEN 1 THEN 's2c' WHEN 2 THEN 'stderr'
            ELSE 'other' END"
        }
        Field::Dir => "CASE l.stream WHEN 0 THEN 'c2s' WHEN 1 THEN 's2c' END",
        Field::Kind => "CASE l.stream WHEN 2 THEN 'stderr' ELSE 'other' END",
        Field::Size => "(SELECT length(raw) FROM frame WHERE seq = l.frame)",
        Field::Mark => "(SELECT mark FROM annotation WHERE frame = l.frame)",
        Field::Note => "(SELECT note FROM annotation WHERE frame = l.frame)",
        _ => return None,
    })
}
