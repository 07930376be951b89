//! What was asked.

use crate::protocol::json::Path;
use std::ops::RangeInclusive;

/// A filter; the empty one fits everything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// What has to hold.
    pub expr: Option<Expr>,
}

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// All of them, two at least.
    And(Vec<Expr>),
    /// One of them, two at least.
    Or(Vec<Expr>),
    /// Not this.
    Not(Box<Expr>),
    /// `is:failed`
    Is(Flag),
    /// `has:latency`: whether the field is there.
    Has(Subject),
    /// `latency>500ms`
    Compare {
        /// Of what.
        subject: Subject,
        /// How.
        op: Op,
        /// With what.
        value: Value,
    },
    /// A word or string of its own: somewhere in the summary, the bodies or the line.
    Text(Box<str>),
}

/// What a comparison is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A field of the row.
    Field(Field),
    /// A place in a body.
    Body(Root, Path),
}

/// How a value is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// `:` contains, ignoring case; equals for words of a fixed list and for numbers.
    Contains,
    /// `=`
    Equal,
    /// `!=`
    Differs,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `>=`
    AtLeast,
    /// `~` regular expression.
    Matches,
    /// `!~`
    MatchesNot,
}

/// What is compared with. Which variants a field takes follows from its [`Type`].
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A word, string or pattern, without its quotes.
    Text {
        /// The text.
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
    /// All of them, so ordered that the first one that a text begins with is the one meant.
    pub const ALL: &[Self] = &[
        Self::Contains,
        Self::Equal,
        Self::Differs,
        Self::MatchesNot,
        Self::Matches,
        Self::AtMost,
        Self::AtLeast,
        Self::Less,
        Self::More,
    ];

    /// How it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Contains => ":",
            Self::Equal => "=",
            Self::Differs => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::More => ">",
            Self::AtLeast => ">=",
            Self::Matches => "~",
            Self::MatchesNot => "!~",
        }
    }

    /// What it asks, for the help.
    #[must_use]
    pub fn help(self) -> &'static str {
        match self {
            Self::Contains => {
                "contains, ignoring case; equals for words of a list and for numbers, these to the precision written"
            }
            Self::Equal => "is exactly",
            Self::Differs => "is not exactly; also true where the field is absent",
            Self::Less => "is below",
            Self::AtMost => "is at most",
            Self::More => "is above",
            Self::AtLeast => "is at least",
            Self::Matches => "matches the regular expression; without capitals case is ignored",
            Self::MatchesNot => {
                "does not match the regular expression; also true where the field is absent"
            }
        }
    }

    /// Whether it asks for an order.
    #[must_use]
    pub fn is_order(self) -> bool {
        matches!(self, Self::Less | Self::AtMost | Self::More | Self::AtLeast)
    }

    /// Whether its value is a pattern.
    #[must_use]
    pub fn is_match(self) -> bool {
        matches!(self, Self::Matches | Self::MatchesNot)
    }

    /// What it denies: `=` for `!=`, `~` for `!~`.
    #[must_use]
    pub fn denied(self) -> Option<Self> {
        match self {
            Self::Differs => Some(Self::Equal),
            Self::MatchesNot => Some(Self::Matches),
            _ => None,
        }
    }

    /// Whether values of this type can be compared so.
    #[must_use]
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
    /// What kind of values it has.
    #[must_use]
    pub fn kind_of_values(&self) -> Type {
        match self {
            Self::Field(field) => field.kind_of_values(),
            Self::Body(..) => Type::Json,
        }
    }
}

macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal, $help:literal;)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $(#[doc = $help] $variant,)*
        }

        impl $name {
            /// All of them, in the order of the documentation.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// How it is written.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// What it means, for the help.
            #[must_use]
            pub fn help(self) -> &'static str {
                match self { $(Self::$variant => $help,)* }
            }

            /// The one that [`Self::as_str`] writes so.
            #[must_use]
            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.as_str() == word)
            }
        }
    };
}

words! {
    /// Where a JSON path begins.
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
    /// A field of a row.
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
        Mark = "mark", "mark that somebody put on it";
        Note = "note", "note that somebody wrote";
        Text = "text", "summary, bodies or line: like a word of its own";
    }
}

words! {
    /// A yes or no of a row.
    Flag {
        Failed = "failed", "error, tool-error, lost or unanswered, but no refused server/discover";
        Open = "open", "no answer yet";
        Late = "late", "answered after it was cancelled";
        Slow = "slow", "answered after more than a second, or what was configured at capture";
        Batch = "batch", "in a batch";
        Truncated = "truncated", "too long to be read as a whole, or cut";
        Marked = "marked", "somebody put a mark on it";
        Noted = "noted", "somebody wrote a note";
        Modern = "modern", "of the era without a handshake";
        Legacy = "legacy", "of the era with a handshake";
        Notification = "notification", "a notification";
        Waiting = "waiting", "the server waited, or waits, for its client meanwhile";
    }
}

/// What kind of values a field has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Free text.
    Text,
    /// One of these words.
    Words(&'static [&'static str]),
    /// A whole number.
    Number,
    /// A duration in nanoseconds.
    Duration,
    /// A size in bytes.
    Size,
    /// A moment in nanoseconds since the start.
    Time,
    /// A JSON-RPC id or progress token: JSON text.
    Id,
    /// Any JSON value, by its own type: a number by its exact value, a string by its text.
    Json,
}
