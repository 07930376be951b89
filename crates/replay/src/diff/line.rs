//! The lines of a comparison, and the rows in which they are shown.

use super::{Change, Class};
use mcpreel_wire::json::{Kind, Path, Step};

/// Bytes of a value that are kept.
const SHOWN: usize = 1024;

/// Bytes shown before the first different one, so that its surroundings can be recognised.
const CONTEXT: usize = 24;

/// The comparison of two messages.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// All lines, containers before their contents. A container without a difference is one line.
    pub lines: Vec<Line>,
    /// Differences that rules pass over.
    pub passed_over: u64,
    pub limits: Limits,
}

/// Counts of what was not compared in full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Differences that are not kept because there are too many.
    pub not_compared: u64,
    /// Arrays and texts that were too long to align: they were compared place by place.
    pub coarse: u64,
    /// Whether a side is no JSON (or nested too deeply), so that only its bytes were compared.
    pub as_bytes: bool,
}

/// A value on both sides, or on one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub depth: u16,
    pub label: Label,
    pub verdict: Verdict,
}

/// The place of a value in its container. Names are decoded and have to be escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Label {
    Root,
    Member(Box<str>),
    /// An element, by its places on both sides.
    Element {
        left: Option<usize>,
        right: Option<usize>,
        /// The name or URI by which it was matched.
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

    /// The step of a path that leads to the value; a line of a text has none.
    pub fn step(&self) -> Option<Step> {
        match self {
            Self::Root | Self::TextLine { .. } => None,
            Self::Member(name) => Some(Step::Member(name.clone())),
            Self::Element { left, right, .. } => left.or(*right).map(Step::Element),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Same(Excerpt),
    /// The number of further values that are the same and not kept.
    SameUnkept(u64),
    /// Something inside differs: the following lines, one deeper, say what.
    Within(Kind),
    Differs {
        class: Class,
        change: Change,
        left: Option<Excerpt>,
        right: Option<Excerpt>,
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

    /// Whether the value is the same on both sides.
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
    /// The beginning of `bytes`, as much as is kept of a difference.
    pub fn new(bytes: &[u8]) -> Self {
        Self::from(bytes, 0)
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
        [left, right].map(|bytes| Self::from(bytes, start))
    }

    /// At most [`SHOWN`] bytes from `start` on, both ends moved to the next boundary of characters.
    fn from(bytes: &[u8], start: usize) -> Self {
        let start = boundary(bytes, start);
        let end = boundary(bytes, start + SHOWN);
        Self {
            before: start,
            text: String::from_utf8_lossy(&bytes[start..end]).into(),
            after: bytes.len() - end,
        }
    }
}

/// The first place from `at` on that is not within a character.
fn boundary(bytes: &[u8], at: usize) -> usize {
    let inside = |byte: &u8| byte & 0xC0 == 0x80;
    let rest = bytes.get(at..).unwrap_or_default();
    // A character has three such bytes at most; more are no UTF-8.
    at.min(bytes.len()) + rest.iter().take(3).take_while(|byte| inside(byte)).count()
}

impl Comparison {
    /// The number of differences of a class.
    pub fn count(&self, class: Class) -> usize {
        let all = self.differences();
        all.filter(|(_, found)| *found == class).count()
    }

    /// The places of the differences in [`Self::lines`], with their classes.
    pub fn differences(&self) -> impl Iterator<Item = (usize, Class)> {
        let lines = self.lines.iter().enumerate();
        lines.filter_map(|(at, line)| Some((at, line.verdict.class()?)))
    }

    /// The path of the line `at`, by the positions on the left where there is one.
    pub fn path(&self, at: usize) -> Path {
        let mut steps = Vec::new();
        let mut below = u16::MAX;
        for line in self.lines.iter().take(at + 1).rev() {
            if line.depth < below {
                below = line.depth;
                steps.extend(line.label.step());
            }
        }
        steps.reverse();
        Path::new(steps)
    }
}
