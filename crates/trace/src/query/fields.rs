//! What kind of values each field has.

use super::ast::{Field, Op, Type};

const STREAMS: &[&str] = &["c2s", "s2c", "stderr"];
const DIRECTIONS: &[&str] = &["c2s", "s2c"];
const KINDS: &[&str] = &[
    "request",
    "response",
    "notification",
    "stderr",
    "other",
    "event",
];
const STATUSES: &[&str] = &[
    "open",
    "ok",
    "tool-error",
    "error",
    "input-required",
    "task",
    "cancelled",
    "late",
    "lost",
    "unanswered",
    "listening",
    "given-up",
];
const ERAS: &[&str] = &["legacy", "modern"];
const SEVERITIES: &[&str] = &["error", "warning", "note"];

impl Field {
    pub fn kind_of_values(self) -> Type {
        match self {
            Self::Stream => Type::Words(STREAMS),
            Self::Dir => Type::Words(DIRECTIONS),
            Self::Kind => Type::Words(KINDS),
            Self::Status => Type::Words(STATUSES),
            Self::Era => Type::Words(ERAS),
            Self::Severity => Type::Words(SEVERITIES),
            Self::Seq => Type::Number,
            Self::Latency => Type::Duration,
            Self::Size | Self::ReqSize | Self::ResSize => Type::Size,
            Self::Time => Type::Time,
            Self::Id | Self::Token => Type::Id,
            Self::Code => Type::Json,
            Self::Method
            | Self::Name
            | Self::Tool
            | Self::Uri
            | Self::Prompt
            | Self::Level
            | Self::Logger
            | Self::Task
            | Self::Trace
            | Self::Finding
            | Self::Mark
            | Self::Note
            | Self::Text => Type::Text,
        }
    }
}

impl Type {
    /// What is taken, with an example: the end of a sentence that begins with the field.
    pub fn takes(self) -> String {
        match self {
            Self::Text => "takes text, for example a word or \"two words\"".to_owned(),
            Self::Words(words) => format!("takes one of {}", words.join(", ")),
            Self::Number => "takes a whole number, for example 1187 or 100..200".to_owned(),
            Self::Duration => {
                "takes a duration with its unit, for example 500ms, 2s or 100ms..2s".to_owned()
            }
            Self::Size => "takes a size, for example 1MB, 64KiB or 10kB..1MB".to_owned(),
            Self::Time => "takes a time, for example 12:04, 90s, -5m or 12:00..12:30".to_owned(),
            Self::Id => "takes an id, for example 7 or \"7\"".to_owned(),
            Self::Json => "takes a number or text, for example -32602 or \"7\"".to_owned(),
        }
    }

    pub fn ops(self) -> impl Iterator<Item = Op> {
        Op::ALL.iter().copied().filter(move |op| op.suits(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::Status;
    use crate::item::ItemKind;

    #[test]
    fn lists_of_words_are_those_of_the_model() {
        assert_eq!(STATUSES, Status::ALL.map(Status::as_str));
        assert_eq!(KINDS, ItemKind::ALL.map(ItemKind::as_str));
    }
}
