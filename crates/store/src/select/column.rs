//! The sources of rows, and their fields as SQL. An expression is `NULL` where the field is absent.
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
//! | `http.status` `http.method` `url` | of the HTTP exchange of its request | of the one that carried it; so of parts of HTTP |
//! | `header.NAME` | those of both heads of that HTTP exchange | likewise |
//! | `conversation` | its own | its own, or that of the HTTP exchange |
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
    /// Requests of HTTP that are rows of their own beside the exchanges: `h`.
    Http,
    /// Frames without a message that HTTP does not carry: `l`.
    Line,
    /// Parts of HTTP without a message: `l`.
    Carried,
    /// Events but those of single connections: `v`.
    Notable,
    /// Events: `v`.
    Event,
}

/// That connections come and go says little beside the calls, and so does that the server closed its pipes
/// beside how it ended.
pub(super) const NOTABLE: &str = "kind NOT IN ('connected', 'disconnected')
    AND NOT (kind = 'eof' AND (detail ->> 'stream' > 2
        OR (detail ->> 'stream' = 0) = (detail ->> 'by' = 'reader')))";

impl Source {
    /// The sources of the rows of a lens.
    pub fn of(lens: Lens) -> &'static [Self] {
        match lens {
            Lens::Exchanges => &[
                Self::Exchange,
                Self::Alone,
                Self::Http,
                Self::Line,
                Self::Notable,
            ],
            Lens::Wire => &[Self::Message, Self::Line, Self::Carried, Self::Event],
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
            Self::Http => "h.request, 0, 'http', NULL",
            Self::Line => "l.frame, 0, CASE l.stream WHEN 2 THEN 'stderr' ELSE 'other' END, NULL",
            Self::Carried => "l.frame, 0, 'http', NULL",
            Self::Notable | Self::Event => "v.after_seq, v.id, 'event', NULL",
        }
    }

    /// The rows of a source in the frames `?1` to `?2`.
    pub fn range(self) -> String {
        let range = match self {
            // Exchanges are numbered in the order of their requests.
            Self::Exchange => {
                "exchange e WHERE e.id BETWEEN
                (SELECT id FROM exchange WHERE request >= ?1
                 ORDER BY request, request_part LIMIT 1) AND
                (SELECT id FROM exchange WHERE request <= ?2
                 ORDER BY request DESC, request_part DESC LIMIT 1)"
            }
            // What the index holds, written as it is there. Log messages stay rows of their own
            // even where the call is known in which they came: people look for them in the list.
            Self::Alone => {
                "message m INDEXED BY message_alone WHERE m.frame BETWEEN ?1 AND ?2 AND
                (m.exchange IS NULL OR (m.kind = 'notification'
                AND m.method <> 'notifications/progress'
                AND m.method <> 'notifications/cancelled'))"
            }
            Self::Message => {
                "message m LEFT JOIN exchange e ON e.id = m.exchange
                WHERE m.frame BETWEEN ?1 AND ?2"
            }
            Self::Http => {
                "http h INDEXED BY http_alone WHERE h.alone AND h.request BETWEEN ?1 AND ?2"
            }
            Self::Line => "line l WHERE l.frame BETWEEN ?1 AND ?2 AND l.http = 0",
            Self::Carried => "line l WHERE l.frame BETWEEN ?1 AND ?2 AND l.http > 0",
            Self::Event => "event v WHERE v.after_seq BETWEEN ?1 AND ?2",
            Self::Notable => {
                return format!("event v WHERE v.after_seq BETWEEN ?1 AND ?2 AND {NOTABLE}");
            }
        };
        range.to_owned()
    }

    /// A field of the rows; `None` if no row has it, or if it stands in bodies or findings.
    pub fn column(self, field: Field) -> Option<String> {
        let (table, frame) = match self {
            Self::Exchange => ("e", "e.request"),
            Self::Alone | Self::Message => ("m", "m.frame"),
            Self::Http => ("h", "h.request"),
            Self::Line | Self::Carried => ("l", "l.frame"),
            Self::Notable | Self::Event => ("v", "v.after_seq"),
        };
        let sql = match (field, self) {
            (Field::Seq, _) => "{frame}",
            (Field::Time, Self::Exchange) => "e.t_request",
            (Field::Time, Self::Http) => "h.t_request",
            (Field::Time, Self::Notable | Self::Event) => "v.t",
            (Field::Time, _) => "(SELECT t_last FROM frame WHERE seq = {frame})",
            (Field::Kind, Self::Exchange) => "'request'",
            (Field::Kind, Self::Notable | Self::Event) => "'event'",
            (Field::Kind, Self::Http | Self::Carried) => "'http'",
            (Field::Kind, Self::Line) => "CASE l.stream WHEN 2 THEN 'stderr' ELSE 'other' END",
            (Field::Kind, _) => "m.kind",
            (_, Self::Notable | Self::Event)
            | (
                Field::HttpStatus | Field::HttpMethod | Field::Url | Field::Conversation,
                Self::Line,
            ) => {
                return None;
            }
            (Field::Mark, _) => "(SELECT mark FROM annotation WHERE frame = {frame})",
            (Field::Note, _) => "(SELECT note FROM annotation WHERE frame = {frame})",
            (Field::Size, Self::Exchange) => "(e.request_size + e.response_size)",
            (Field::Size, _) => "(SELECT length(raw) FROM frame WHERE seq = {frame})",
            (Field::HttpStatus, Self::Http) => "h.status",
            (Field::HttpMethod, Self::Http) => "h.method",
            (Field::Url, Self::Http) => "h.target",
            (Field::HttpStatus, _) => "(SELECT status FROM http WHERE id = {table}.http)",
            (Field::HttpMethod, _) => "(SELECT method FROM http WHERE id = {table}.http)",
            (Field::Url, _) => "(SELECT target FROM http WHERE id = {table}.http)",
            (Field::Conversation, Self::Carried) => {
                "(SELECT conversation FROM http WHERE id = l.http)"
            }
            (Field::Conversation, _) => "nullif({table}.conversation, 0)",
            (Field::Stream | Field::Dir, Self::Http) => "'c2s'",
            (Field::Latency, Self::Http) => "(h.t_head - h.t_sent)",
            (Field::Stream, Self::Line | Self::Carried) => {
                "CASE WHEN l.stream = 2 THEN 'stderr'
                WHEN l.stream = 0 OR l.stream > 2 AND l.stream % 2 = 1 THEN 'c2s' ELSE 's2c' END"
            }
            (Field::Dir, Self::Line | Self::Carried) => {
                "CASE WHEN l.stream = 2 THEN NULL
                WHEN l.stream = 0 OR l.stream > 2 AND l.stream % 2 = 1 THEN 'c2s' ELSE 's2c' END"
            }
            (_, Self::Http | Self::Line | Self::Carried) => return None,
            (Field::Stream | Field::Dir, _) => "{table}.direction",
            // The `+` keeps `SQLite` from an index: that by method and name has no frames, so each
            // range would go over all calls of the recording.
            (Field::Method, _) => "+{table}.method",
            (Field::Name, _) => "{table}.name",
            (Field::Tool, _) => "CASE {table}.method WHEN 'tools/call' THEN {table}.name END",
            (Field::Prompt, _) => "CASE {table}.method WHEN 'prompts/get' THEN {table}.name END",
            (Field::Uri, _) => {
                "CASE WHEN {table}.method GLOB 'resources/*'
                OR {table}.method GLOB 'notifications/resources/*' THEN {table}.name END"
            }
            (Field::Id, _) => "{table}.rpc_id",
            (Field::Era, _) => "{table}.era",
            (Field::Token, Self::Exchange) => "(SELECT token FROM message WHERE {request})",
            (Field::Token, _) => "m.token",
            (Field::Trace, Self::Exchange) => "(SELECT trace_id FROM message WHERE {request})",
            (Field::Trace, _) => "m.trace_id",
            (Field::Code, Self::Message) => "coalesce(m.code, CASE WHEN {paired} THEN e.code END)",
            (Field::Task, Self::Message) => "coalesce(m.task, CASE WHEN {paired} THEN e.task END)",
            (Field::Code, _) => "{table}.code",
            (Field::Task, _) => "{table}.task",
            (_, Self::Alone) => return None,
            (Field::Status, _) => "e.status",
            (Field::Latency, _) => "e.latency",
            (Field::ReqSize, _) => "e.request_size",
            (Field::ResSize, _) => "CASE WHEN e.response IS NOT NULL THEN e.response_size END",
            _ => return None,
        };
        let sql = sql.replace("{table}", table).replace("{frame}", frame);
        let sql = match field {
            _ if self != Self::Message => sql,
            Field::Status | Field::Latency | Field::ReqSize | Field::ResSize => {
                format!("CASE WHEN {{paired}} THEN {sql} END")
            }
            _ => sql,
        };
        let sql = sql.replace("{paired}", "m.kind IN ('request', 'response')");
        Some(sql.replace("{request}", "frame = e.request AND part = e.request_part"))
    }

    /// The number of the HTTP exchange that carries a row; `None` where no row has one.
    pub fn http(self) -> Option<&'static str> {
        Some(match self {
            Self::Http => "h.id",
            Self::Exchange => "e.http",
            Self::Alone | Self::Message => "m.http",
            Self::Carried => "l.http",
            Self::Line | Self::Notable | Self::Event => return None,
        })
    }

    /// That a finding for which a condition holds points at the row. It is looked for row by row:
    /// a list of the findings would be made for each range of frames.
    pub fn findings(self, condition: &str) -> String {
        let any = |of: &str| format!("EXISTS (SELECT 1 FROM finding WHERE {of} AND {condition})");
        match self {
            Self::Exchange => format!(
                "({} OR {} OR {})",
                any("exchange = e.id"),
                any("frame = e.request AND exchange IS NULL"),
                any("frame = e.response AND exchange IS NULL"),
            ),
            Self::Alone | Self::Message => any(
                "frame = m.frame AND (exchange IS NULL OR m.exchange IS NULL OR exchange = m.exchange)",
            ),
            Self::Http => any("frame = h.request"),
            Self::Line | Self::Carried => any("frame = l.frame"),
            // None points at an event. The condition stands in it: what it binds must be used.
            Self::Notable | Self::Event => any("frame = NULL"),
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
            Self::Http => [
                "(SELECT raw FROM frame WHERE seq = h.request)",
                "(SELECT raw FROM frame WHERE seq = h.response)",
            ],
            Self::Line | Self::Carried => ["(SELECT raw FROM frame WHERE seq = l.frame)", "NULL"],
            Self::Notable | Self::Event => ["NULL", "NULL"],
        }
    }

    /// The texts in which a bare word is looked for: texts for people, and bytes in which JSON may have
    /// escaped it.
    pub fn texts(self) -> (&'static [&'static str], [&'static str; 2]) {
        match self {
            Self::Exchange => (&["e.summary", "e.method", "e.name"], self.bodies()),
            Self::Alone => (&["m.summary", "m.method", "m.name"], self.bodies()),
            Self::Message => (&[summary_column!(), "m.method", "m.name"], self.bodies()),
            Self::Http => (&["h.method", "h.target"], self.bodies()),
            Self::Line | Self::Carried => (&[], self.bodies()),
            Self::Notable | Self::Event => (&[], ["v.detail", "NULL"]),
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
            _ => None,
        }
    }
}
