//! A filter as a tree: conditions, the words of the language, and the values of its fields.

use crate::exchange::Status;
use crate::item::ItemKind;
use mcpreel_wire::json::Path;
use std::ops::RangeInclusive;

/// A filter; the empty one fits everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    pub expr: Option<Expr>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Not(Box<Expr>),
    Is(Flag),
    /// `has:latency`: whether the field is there.
    Has(Subject),
    Compare {
        subject: Subject,
        op: Op,
        value: Value,
    },
    /// A word or string of its own: somewhere in the summary, the bodies or the line.
    Text(Box<str>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    Field(Field),
    /// The values of a header in both heads of the HTTP exchange: its name in small letters.
    Header(Box<str>),
    Body(Root, Path),
}

words! {
    /// Operators, so ordered that the first one that a text begins with is the one meant.
    Op {
        Contains = ":",
            "contains, ignoring case; equals for words of a list and for numbers, these to the precision written";
        Equal = "=", "is exactly";
        Differs = "!=", "is not exactly; also true where the field is absent";
        MatchesNot = "!~",
            "does not match the regular expression; also true where the field is absent";
        Matches = "~", "matches the regular expression; without capitals case is ignored";
        AtMost = "<=", "is at most";
        AtLeast = ">=", "is at least";
        Less = "<", "is below";
        More = ">", "is above";
    }
}

/// The right side of a comparison. Which variants a field takes follows from its [`Type`].
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A word, string or pattern, without its quotes.
    Text {
        text: Box<str>,
        /// Whether it stood in quotes. Kept for [`Type::Id`] and [`Type::Json`], where `7` and
        /// `"7"` differ; false for all others, and for patterns.
        quoted: bool,
    },
    /// A number in the field's unit: nanoseconds, bytes, or none.
    Number(i64),
    /// From one number to another, both included, the first not above the second. With
    /// [`Op::Contains`], [`Op::Equal`] and [`Op::Differs`] only.
    Range(RangeInclusive<i64>),
    /// A moment, in nanoseconds before the end of what is on record: `-5m`.
    Ago(u64),
    /// An unquoted number in JSON (for ids also `null`), as it was written; compared by exact
    /// value.
    Json(Box<str>),
}

impl Op {
    pub fn is_order(self) -> bool {
        matches!(self, Self::Less | Self::AtMost | Self::More | Self::AtLeast)
    }

    /// Whether its value is a pattern.
    pub fn is_match(self) -> bool {
        matches!(self, Self::Matches | Self::MatchesNot)
    }

    /// The operator that this one denies: `=` for `!=`, `~` for `!~`.
    pub fn denied(self) -> Option<Self> {
        match self {
            Self::Differs => Some(Self::Equal),
            Self::MatchesNot => Some(Self::Matches),
            _ => None,
        }
    }

    /// Whether values of this type can be compared so.
    pub fn suits(self, kind: Type) -> bool {
        match kind {
            Type::Text | Type::Words(_) => !self.is_order(),
            Type::Number | Type::Duration | Type::Size | Type::Time => !self.is_match(),
            Type::Id => !self.is_match() && !self.is_order(),
            Type::Json => true,
        }
    }
}

impl Subject {
    pub fn kind_of_values(&self) -> Type {
        match self {
            Self::Field(field) => field.kind_of_values(),
            Self::Header(_) => Type::Text,
            Self::Body(..) => Type::Json,
        }
    }
}

/// The kind of values that a field has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Text,
    Words(&'static [&'static str]),
    Number,
    Duration,
    Size,
    /// A moment in nanoseconds since the start.
    Time,
    /// A JSON-RPC id or progress token: JSON text.
    Id,
    /// Any JSON value, by its own type: a number by its exact value, a string by its text.
    Json,
}

// The words of the language: fields, flags, and where paths begin.

words! {
    Root {
        Params = "params", "params of the request or notification";
        Result = "result", "result of the response";
        Error = "error", "error of the response";
        Req = "req", "the request or notification as a whole";
        Res = "res", "result of the response, failing that its error";
        Meta = "_meta", "_meta of the params, failing that of the result";
    }
}

words! {
    Field {
        Seq = "seq", "number of the frame; of an exchange that of its request";
        Time = "time", "since the start (12:04, 90s), or before the end of the recording (-5m)";
        Stream = "stream", "c2s, s2c, stderr";
        Dir = "dir", "which way it went: c2s, s2c";
        Kind = "kind", "request, response, notification, stderr, other, event";
        Method = "method", "method of the request or notification";
        Name = "name", "tool, prompt, resource URI or task";
        Tool = "tool", "name of the tool of a tools/call";
        Uri = "uri", "URI of a resource request";
        Prompt = "prompt", "name of the prompt of a prompts/get";
        Id = "id", "JSON-RPC id with its type: id:7 is not id:\"7\"";
        Status = "status", "how the exchange stands or ended";
        Code = "code", "code of the error";
        Latency = "latency", "from the request's last byte to the response's first (500ms, 2s)";
        Size = "size", "bytes of the frame; of an exchange request and response together (1MB)";
        ReqSize = "reqsize", "bytes of the request";
        ResSize = "ressize", "bytes of the response";
        Era = "era", "legacy, modern";
        Level = "level", "level of a log message";
        Logger = "logger", "logger of a log message";
        Token = "token", "progress token";
        Task = "task", "id of the task";
        Trace = "trace", "trace id";
        Finding = "finding", "rule of a finding about it";
        Severity = "severity", "error, warning, note: of a finding about it";
        Conversation = "conversation", "number of the conversation, where there are several";
        HttpStatus = "http.status", "status of the HTTP response that answered";
        HttpMethod = "http.method", "method of the HTTP request: POST, GET, DELETE";
        Url = "url", "target of the HTTP request: path and query";
        Mark = "mark", "its mark";
        Note = "note", "its note";
        Text = "text", "summary, bodies or line: like a word of its own";
    }
}

words! {
    Flag {
        Failed = "failed", "error, tool-error, lost, unanswered, cancelled or late; no probe or subscription that ended so";
        Open = "open", "no answer yet";
        Late = "late", "answered after it was cancelled";
        Slow = "slow", "answered after more than a second, or what was configured at capture";
        Batch = "batch", "in a batch";
        Truncated = "truncated", "too long to be read as a whole, or cut";
        Marked = "marked", "it has a mark";
        Noted = "noted", "it has a note";
        Modern = "modern", "of the era without a handshake";
        Legacy = "legacy", "of the era with a handshake";
        Notification = "notification", "a notification";
        Sse = "sse", "answered by a stream of events (server-sent events)";
        Resumed = "resumed", "in a stream that was taken up again: with Last-Event-ID";
        Waiting = "waiting", "the server waited, or waits, for its client in it";
    }
}

// What kind of values each field has.

const STREAMS: &[&str] = &["c2s", "s2c", "stderr"];
const DIRECTIONS: &[&str] = &["c2s", "s2c"];
const ERAS: &[&str] = &["legacy", "modern"];
const SEVERITIES: &[&str] = &["error", "warning", "note"];

impl Field {
    pub fn kind_of_values(self) -> Type {
        match self {
            Self::Stream => Type::Words(STREAMS),
            Self::Dir => Type::Words(DIRECTIONS),
            Self::Kind => Type::Words(ItemKind::WORDS),
            Self::Status => Type::Words(Status::WORDS),
            Self::Era => Type::Words(ERAS),
            Self::Severity => Type::Words(SEVERITIES),
            Self::Seq | Self::Conversation | Self::HttpStatus => Type::Number,
            Self::Latency => Type::Duration,
            Self::Size | Self::ReqSize | Self::ResSize => Type::Size,
            Self::Time => Type::Time,
            Self::Id | Self::Token => Type::Id,
            Self::Code => Type::Json,
            _ => Type::Text,
        }
    }
}

impl Type {
    /// The end of a sentence that begins with the field: which values are taken, with an example.
    pub fn takes(self) -> String {
        let takes = match self {
            Self::Words(words) => return format!("takes one of {}", words.join(", ")),
            Self::Text => "text, for example a word or \"two words\"",
            Self::Number => "a whole number, for example 1187 or 100..200",
            Self::Duration => "a duration with its unit, for example 500ms, 2s or 100ms..2s",
            Self::Size => "a size, for example 1MB, 64KiB or 10kB..1MB",
            Self::Time => "a time, for example 12:04, 90s, -5m or 12:00..12:30",
            Self::Id => "an id, for example 7 or \"7\"",
            Self::Json => "a number or text, for example -32602 or \"7\"",
        };
        format!("takes {takes}")
    }

    pub fn ops(self) -> impl Iterator<Item = Op> {
        Op::ALL.iter().copied().filter(move |op| op.suits(self))
    }
}

// What would be asked with one condition less.

/// `query` with one of its conditions left out, each in turn: the one typed last first, because it
/// is the one that emptied the list. Without its only condition it fits everything; the empty
/// filter has no relaxations.
pub fn relaxations(query: &Query) -> Vec<Query> {
    let conditions = query.expr.as_ref().map_or_else(Vec::new, conditions);
    let without = |left_out: usize| {
        let mut kept = conditions.clone();
        kept.remove(left_out);
        Query::all_of(kept.into_iter().cloned())
    };
    (0..conditions.len()).rev().map(without).collect()
}

/// The conditions that have to hold together.
fn conditions(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::And(all) => all.iter().flat_map(conditions).collect(),
        other => vec![other],
    }
}

impl Query {
    /// The filter that wants all of these, the empty one for none.
    pub fn all_of(conditions: impl IntoIterator<Item = Expr>) -> Self {
        let mut all: Vec<_> = conditions.into_iter().collect();
        let expr = if all.len() > 1 {
            Some(Expr::And(all))
        } else {
            all.pop()
        };
        Self { expr }
    }

    /// The words and strings that every row that fits has somewhere.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let conditions = self.expr.iter().flat_map(conditions);
        conditions.filter_map(|condition| match condition {
            Expr::Text(text) => Some(&**text),
            _ => None,
        })
    }

    /// This filter and that one: what fits both.
    pub fn and(self, other: Self) -> Self {
        Self::all_of(self.expr.into_iter().chain(other.expr))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relaxed(text: &str) -> Vec<String> {
        let query = Query::parse(text).unwrap();
        relaxations(&query).iter().map(Query::to_string).collect()
    }

    #[test]
    fn each_condition_is_left_out_once_the_last_first() {
        assert_eq!(relaxed("a (b c)"), ["a b", "a c", "b c"]);
        assert_eq!(relaxed("a (b OR c)"), ["a", "b OR c"]);
        assert_eq!(relaxed("a OR b"), [""]);
        assert_eq!(relaxed(""), [] as [&str; 0]);
    }
}
