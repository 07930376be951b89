//! What was asked.

mod words;

pub use words::{Field, Flag, Root};

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
    Body(Root, Path),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// `:` contains, ignoring case; equals for words of a fixed list and for numbers.
    Contains,
    Equal,
    Differs,
    Less,
    AtMost,
    More,
    AtLeast,
    Matches,
    MatchesNot,
}

/// What is compared with. Which variants a field takes follows from its [`Type`].
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

    pub fn is_order(self) -> bool {
        matches!(self, Self::Less | Self::AtMost | Self::More | Self::AtLeast)
    }

    /// Whether its value is a pattern.
    pub fn is_match(self) -> bool {
        matches!(self, Self::Matches | Self::MatchesNot)
    }

    /// What it denies: `=` for `!=`, `~` for `!~`.
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
            Self::Body(..) => Type::Json,
        }
    }
}

/// What kind of values a field has.
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
