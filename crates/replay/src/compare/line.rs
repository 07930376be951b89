//! The lines that a comparison consists of.

use super::{Change, Class};
use mcpreel_wire::json::{Kind, Value};

/// Bytes of a value that are kept to be shown where it differs.
const SHOWN: usize = 1024;

/// Bytes of a value that are kept where it does not.
const SHOWN_UNCHANGED: usize = 160;

/// Bytes before the first different one that are shown, so that one sees where it stands.
const CONTEXT: usize = 24;

/// A value on both sides, or on one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub depth: u16,
    /// Where in its container it stands.
    pub label: Label,
    pub verdict: Verdict,
}

/// Where in its container a value stands. Names are as decoded and have to be escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Label {
    Root,
    Member(Box<str>),
    /// An element, by its places on both sides.
    Element {
        left: Option<usize>,
        right: Option<usize>,
        /// What it was found by, in lists that are compared by name or URI.
        key: Option<Box<str>>,
    },
    /// A line of a text, by its places on both sides, from 0.
    TextLine {
        left: Option<usize>,
        right: Option<usize>,
    },
}

impl Label {
    /// Whether it is the member of this name.
    pub fn is(&self, name: &str) -> bool {
        matches!(self, Self::Member(member) if &**member == name)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Same(Excerpt),
    /// So many values are the same and not kept.
    SameUnkept(u64),
    /// Something in it differs: the lines that follow, one deeper, are what is in it.
    Within(Kind),
    Differs {
        class: Class,
        change: Change,
        left: Option<Excerpt>,
        right: Option<Excerpt>,
    },
    NotCompared {
        left: Excerpt,
        right: Excerpt,
    },
}

impl Verdict {
    /// The class of a difference, `None` for anything else.
    pub fn class(&self) -> Option<Class> {
        match self {
            Self::Differs { class, .. } => Some(*class),
            _ => None,
        }
    }

    /// Whether it is the same on both sides.
    pub fn is_same(&self) -> bool {
        matches!(self, Self::Same(_) | Self::SameUnkept(_))
    }
}

/// A part of a value's text as on the wire, not yet escaped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpt {
    /// Bytes before it that are left out.
    pub before: usize,
    /// The part; bytes that are no UTF-8 are U+FFFD.
    pub text: Box<str>,
    /// Bytes after it that are left out.
    pub after: usize,
}

impl Excerpt {
    /// The beginning of `bytes`, as much as is shown of a difference.
    pub fn new(bytes: &[u8]) -> Self {
        Self::from(bytes, 0, SHOWN)
    }

    pub(super) fn of(value: Value<'_>) -> Self {
        Self::new(value.raw())
    }

    pub(super) fn unchanged(bytes: &[u8]) -> Self {
        Self::from(bytes, 0, SHOWN_UNCHANGED)
    }

    /// Two texts from shortly before the first byte in which they differ, where that is far from
    /// their beginning.
    pub(super) fn pair(left: &[u8], right: &[u8]) -> [Self; 2] {
        let common = left.iter().zip(right).take_while(|(a, b)| a == b).count();
        let start = if common > 2 * CONTEXT {
            common - CONTEXT
        } else {
            0
        };
        [left, right].map(|bytes| Self::from(bytes, start, SHOWN))
    }

    /// At most `length` bytes from `start` on, both moved to the next boundary of characters.
    fn from(bytes: &[u8], start: usize, length: usize) -> Self {
        let start = boundary(bytes, start);
        let end = boundary(bytes, start.saturating_add(length));
        Self {
            before: start,
            text: String::from_utf8_lossy(&bytes[start..end]).into(),
            after: bytes.len() - end,
        }
    }

    pub fn is_whole(&self) -> bool {
        self.before == 0 && self.after == 0
    }
}

/// The first place from `at` on that is not within a character.
fn boundary(bytes: &[u8], at: usize) -> usize {
    let inside = |byte: &u8| byte & 0xC0 == 0x80;
    let rest = bytes.get(at..).unwrap_or_default();
    // A character has three bytes of this kind at most; more are no UTF-8.
    at.min(bytes.len()) + rest.iter().take(3).take_while(|byte| inside(byte)).count()
}
