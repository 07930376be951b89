//! The fields of the rows as SQL.
//!
//! The same table as that of [`query::eval`](mcpreel_trace::query::eval), for each source. An expression
//! is `NULL` where the field is absent.

use super::source::Source;
use mcpreel_trace::query::ast::Field;

/// What a field is in the rows of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Absent,
    Is(&'static str),
    /// This expression, once the exchange is answered; before, what it was at a moment is not
    /// kept.
    OnceAnswered(&'static str),
    /// Nothing that a column says: it stands in the bytes, where this holds.
    InBytes(&'static str),
    /// What points at the row: see [`findings`].
    Finding(&'static str),
}

use Column::{Absent, Finding, InBytes, Is, OnceAnswered};

/// Holds where the exchange of a row was answered at the moment `?`.
pub(super) const ANSWERED_BY: &str = "e.response <= ";

/// The field of the rows of `source`.
pub(super) fn of(source: Source, field: Field) -> Column {
    match (source, field) {
        (Source::Method, Field::Tool) => InBytes("e.method = 'tools/call'"),
        (Source::Method, Field::Prompt) => InBytes("e.method = 'prompts/get'"),
        (Source::Method, Field::Method)
        | (Source::Name, Field::Method | Field::Name | Field::Tool | Field::Prompt | Field::Uri)
        | (Source::Status, Field::Status) => match of_exchange(field) {
            OnceAnswered(sql) => Is(sql),
            other => other,
        },
        // Not told by what is known.
        (Source::Method | Source::Name | Source::Status, _) | (_, Field::Text) => InBytes("1"),
        (Source::Event, Field::Finding | Field::Severity | Field::Mark | Field::Note) => Absent,
        (_, Field::Finding) => Finding("rule"),
        (_, Field::Severity) => Finding("severity"),
        (Source::Exchange, _) => of_exchange(field),
        (Source::Alone | Source::Own, _) => of_alone(field),
        (Source::Message, _) => of_message(field),
        (Source::Line, _) => of_line(field),
        (Source::Event, Field::Seq) => Is("v.after_seq"),
        (Source::Event, Field::Time) => Is("v.t"),
        (Source::Event, Field::Kind) => Is("'event'"),
        (Source::Event, _) => Absent,
    }
}

fn of_exchange(field: Field) -> Column {
    match field {
        Field::Seq => Is("e.request"),
        Field::Time => Is("e.t_request"),
        Field::Stream | Field::Dir => Is("e.direction"),
        Field::Kind => Is("'request'"),
        Field::Method => Is("e.method"),
        Field::Name => Is("e.name"),
        Field::Tool => Is("CASE WHEN e.method = 'tools/call' THEN e.name END"),
        Field::Prompt => Is("CASE WHEN e.method = 'prompts/get' THEN e.name END"),
        Field::Uri => Is(
            "CASE WHEN e.method GLOB 'resources/*' OR e.method GLOB 'notifications/resources/*'
            THEN e.name END",
        ),
        Field::Id => Is("e.rpc_id"),
        Field::Status => OnceAnswered("e.status"),
        Field::Code => OnceAnswered("e.code"),
        Field::Latency => OnceAnswered("e.latency"),
        Field::Size => OnceAnswered("(e.request_size + e.response_size)"),
        Field::ReqSize => Is("e.request_size"),
        Field::ResSize => OnceAnswered("CASE WHEN e.response IS NOT NULL THEN e.response_size END"),
        Field::Era => Is("e.era"),
        Field::Token => {
            Is("(SELECT token FROM message WHERE frame = e.request AND part = e.request_part)")
        }
        Field::Trace => {
            Is("(SELECT trace_id FROM message WHERE frame = e.request AND part = e.request_part)")
        }
        Field::Task => Is("e.task"),
        Field::Mark => Is("(SELECT mark FROM annotation WHERE frame = e.request)"),
        Field::Note => Is("(SELECT note FROM annotation WHERE frame = e.request)"),
        Field::Level | Field::Logger => Absent,
        Field::Finding => Finding("rule"),
        Field::Severity => Finding("severity"),
        Field::Text => InBytes("1"),
    }
}

/// Such a row has nothing of an exchange: requests and responses among them have none, and of
/// notifications nothing is told by theirs.
fn of_alone(field: Field) -> Column {
    match field {
        Field::Method => Is("m.method"),
        Field::Name => Is("CASE WHEN m.method IS NOT NULL THEN m.name END"),
        Field::Tool => Is("CASE WHEN m.method = 'tools/call' THEN m.name END"),
        Field::Prompt => Is("CASE WHEN m.method = 'prompts/get' THEN m.name END"),
        Field::Uri => Is("CASE WHEN m.method GLOB 'resources/*'
                OR m.method GLOB 'notifications/resources/*' THEN m.name END"),
        Field::Status | Field::Latency | Field::ReqSize | Field::ResSize => Absent,
        Field::Code => Is("m.code"),
        Field::Era => Is("m.era"),
        Field::Level | Field::Logger => InBytes("m.method = 'notifications/message'"),
        Field::Task => Is("m.task"),
        other => of_message(other),
    }
}

fn of_message(field: Field) -> Column {
    match field {
        Field::Seq => Is("m.frame"),
        Field::Time => Is("(SELECT t_last FROM frame WHERE seq = m.frame)"),
        Field::Stream | Field::Dir => Is("m.direction"),
        Field::Kind => Is("m.kind"),
        Field::Method => Is("coalesce(m.method, e.method)"),
        Field::Name => Is("CASE WHEN m.method IS NULL THEN e.name ELSE m.name END"),
        Field::Tool => Is(
            "CASE WHEN m.method IS NULL AND e.method = 'tools/call' THEN e.name
            WHEN m.method = 'tools/call' THEN m.name END",
        ),
        Field::Prompt => Is(
            "CASE WHEN m.method IS NULL AND e.method = 'prompts/get' THEN e.name
            WHEN m.method = 'prompts/get' THEN m.name END",
        ),
        Field::Uri => Is("CASE WHEN coalesce(m.method, e.method) GLOB 'resources/*'
                OR coalesce(m.method, e.method) GLOB 'notifications/resources/*'
            THEN CASE WHEN m.method IS NULL THEN e.name ELSE m.name END END"),
        Field::Id => Is("m.rpc_id"),
        Field::Status => {
            OnceAnswered("CASE WHEN m.kind IN ('request', 'response') THEN e.status END")
        }
        Field::Code => OnceAnswered(
            "coalesce(m.code, CASE WHEN m.kind IN ('request', 'response') THEN e.code END)",
        ),
        Field::Latency => {
            OnceAnswered("CASE WHEN m.kind IN ('request', 'response') THEN e.latency END")
        }
        Field::Size => Is("(SELECT length(raw) FROM frame WHERE seq = m.frame)"),
        Field::ReqSize => Is("CASE WHEN m.kind IN ('request', 'response') THEN e.request_size END"),
        Field::ResSize => OnceAnswered(
            "CASE WHEN m.kind IN ('request', 'response') AND e.response IS NOT NULL
            THEN e.response_size END",
        ),
        Field::Era => Is("coalesce(m.era, e.era)"),
        Field::Level | Field::Logger => {
            InBytes("coalesce(m.method, e.method) = 'notifications/message'")
        }
        Field::Token => Is("m.token"),
        Field::Trace => Is("m.trace_id"),
        Field::Task => {
            Is("coalesce(m.task, CASE WHEN m.kind IN ('request', 'response') THEN e.task END)")
        }
        Field::Mark => Is("(SELECT mark FROM annotation WHERE frame = m.frame)"),
        Field::Note => Is("(SELECT note FROM annotation WHERE frame = m.frame)"),
        Field::Finding => Finding("rule"),
        Field::Severity => Finding("severity"),
        Field::Text => InBytes("1"),
    }
}

fn of_line(field: Field) -> Column {
    match field {
        Field::Seq => Is("l.frame"),
        Field::Time => Is("(SELECT t_last FROM frame WHERE seq = l.frame)"),
        Field::Stream => Is(
            "CASE l.stream WHEN 0 THEN 'c2s' WHEN 1 THEN 's2c' WHEN 2 THEN 'stderr'
            ELSE 'other' END",
        ),
        Field::Dir => Is("CASE l.stream WHEN 0 THEN 'c2s' WHEN 1 THEN 's2c' END"),
        Field::Kind => Is("CASE l.stream WHEN 2 THEN 'stderr' ELSE 'other' END"),
        Field::Size => Is("(SELECT length(raw) FROM frame WHERE seq = l.frame)"),
        Field::Mark => Is("(SELECT mark FROM annotation WHERE frame = l.frame)"),
        Field::Note => Is("(SELECT note FROM annotation WHERE frame = l.frame)"),
        _ => Absent,
    }
}

/// What the condition on the findings that point at a row of `source` begins with; after each part
/// the condition on the finding follows, and after the last one `END_OF_FINDINGS`.
pub(super) fn findings(source: Source) -> &'static [&'static str] {
    match source {
        Source::Exchange => &[
            "(e.id IN (SELECT exchange FROM finding WHERE exchange IS NOT NULL AND ",
            ") OR e.request IN (SELECT frame FROM finding WHERE exchange IS NULL AND ",
            ") OR e.response IN (SELECT frame FROM finding WHERE exchange IS NULL AND ",
        ],
        Source::Alone | Source::Message | Source::Own => &[
            "(m.frame IN (SELECT frame FROM finding WHERE (exchange IS NULL OR m.exchange IS NULL
                OR exchange = m.exchange) AND frame = m.frame AND ",
        ],
        Source::Line => &["(l.frame IN (SELECT frame FROM finding WHERE "],
        Source::Event | Source::Method | Source::Name | Source::Status => {
            &["(0 IN (SELECT 1 WHERE "]
        }
    }
}

pub(super) const END_OF_FINDINGS: &str = "))";

/// Holds where the frame of a row may be a batch; `None`: it is none.
pub(super) fn may_be_batch(source: Source) -> Option<&'static str> {
    match source {
        // The only message of a frame begins at its first byte, unless white space or a bracket
        // stands before it. Where that of a very long frame begins is not kept.
        Source::Exchange => Some(
            "(SELECT part > 0 OR start > 0 OR size > 1048576 FROM message
            WHERE frame = e.request AND part = e.request_part)",
        ),
        Source::Alone | Source::Message | Source::Own => {
            Some("(m.part > 0 OR m.start > 0 OR m.size > 1048576)")
        }
        Source::Line | Source::Event => None,
        Source::Method | Source::Name | Source::Status => Some("1"),
    }
}
