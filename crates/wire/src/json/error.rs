//! Why bytes are no JSON text.

use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason} at byte {offset}")]
pub struct SyntaxError {
    /// Bytes before the one that does not fit.
    pub offset: usize,
    pub reason: Reason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Empty,
    /// Something else where a value must begin.
    Value,
    /// Something else where a member's name must begin.
    Key,
    /// Something else where a member's colon must stand.
    Colon,
    /// Neither a comma nor the end of the array.
    ArrayEnd,
    /// Neither a comma nor the end of the object.
    ObjectEnd,
    /// A number that breaks off or has a digit too many.
    Number,
    /// An unknown escape in a string, or one that breaks off.
    Escape,
    /// A control character in a string, unescaped.
    Control,
    End,
    Trailing,
    /// Containers nested deeper than the limit of the reader.
    TooDeep {
        limit: usize,
    },
    TooLong,
}

impl Reason {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Value => "expected a value",
            Self::Key => "expected a member name in quotes",
            Self::Colon => "expected a colon",
            Self::ArrayEnd => "expected a comma or the end of the array",
            Self::ObjectEnd => "expected a comma or the end of the object",
            Self::Number => "malformed number",
            Self::Escape => "unknown escape in a string",
            Self::Control => "unescaped control character in a string",
            Self::End => "the text ends too early",
            Self::Trailing => "something follows the value",
            Self::TooDeep { .. } => "nested too deeply",
            Self::TooLong => "too long",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
