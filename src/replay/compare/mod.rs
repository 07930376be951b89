//! What differs between two messages, and how much it matters. Pure.
//!
//! ```text
//!  bytes ──▶ Document ─┐
//!                      ├─ walk ──▶ Comparison { lines } ──▶ rows (unchanged parts folded)
//!  bytes ──▶ Document ─┘    │
//!                           ├─ equal: by value, not by spelling
//!                           ├─ align: which element stands for which
//!                           └─ noise: what differs between any two runs
//! ```
//!
//! * The order of members and the spelling of numbers and strings make no difference; numbers
//!   are compared by exact value.
//! * Lists of tools, resources and prompts are compared by name or URI, other arrays by their
//!   longest common subsequence, texts of several lines by line.
//! * Every difference has a [`Class`]. What is expected to differ (ids, tokens, times) is found
//!   and shown as [`Class::Noise`], not hidden.
//! * Work is bounded: [`Comparison::limits`] says what was not looked at, or only coarsely.

mod align;
mod equal;
mod judge;
mod line;
mod noise;
mod rows;
mod texts;
mod walk;

pub use line::{Excerpt, Label, Line, Verdict};
pub(super) use noise::shape;
pub use rows::{Row, Rows};

use crate::protocol::json::{Document, Path, Step};
use walk::Walk;

/// How much a difference matters, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Who relied on the left side fails on the right one: an error instead of a result, a
    /// missing member, another type.
    Breaking,
    /// Another value.
    Changed,
    /// Something more.
    Added,
    /// The same things in another order, where order should not matter.
    Order,
    /// What differs between any two runs: ids, tokens, times.
    Noise,
}

impl Class {
    /// All of them, the worst first.
    pub const ALL: [Self; 5] = [
        Self::Breaking,
        Self::Changed,
        Self::Added,
        Self::Order,
        Self::Noise,
    ];

    /// `breaking`, `changed`, `added`, `order` or `noise`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Breaking => "breaking",
            Self::Changed => "changed",
            Self::Added => "added",
            Self::Order => "order",
            Self::Noise => "noise",
        }
    }
}

/// In which way two values differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// Another value of the same type.
    Value,
    /// A value of another type.
    Type,
    /// Only the left side has it.
    Removed,
    /// Only the right side has it.
    Added,
    /// The same elements in another order.
    Order,
    /// A result on one side, an error on the other.
    Outcome,
}

/// Which half of an exchange is compared. In a request nothing is breaking: it was made so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Half {
    /// What was asked.
    Request,
    /// What came back.
    Response,
}

/// One of the two messages.
#[derive(Clone, Copy, Debug, Default)]
pub struct Side<'t> {
    /// Its bytes; `None` where there is no message.
    pub text: Option<&'t [u8]>,
    /// When it was sent, nanoseconds since the Unix epoch: numbers that mean this day are noise.
    pub wall_ns: Option<u64>,
}

/// What was not looked at, or not in full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Values that were not compared any more, because there was too much to compare.
    pub not_compared: u64,
    /// Arrays and texts that were too long to look for what was moved or put in between: they
    /// were compared place by place.
    pub coarse: u64,
    /// Whether a side is no JSON (or nested too deeply), so that only its bytes were compared.
    pub as_bytes: bool,
}

impl Limits {
    /// Whether everything was compared as it should be.
    #[must_use]
    pub fn none(self) -> bool {
        self == Self::default()
    }
}

/// What differs between two messages.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// All lines, containers before what is in them. Containers without a difference are one
    /// line.
    pub lines: Vec<Line>,
    /// What was not looked at.
    pub limits: Limits,
}

/// Compares two messages, the left one being the one to go by.
#[must_use]
pub fn compare(half: Half, left: Side<'_>, right: Side<'_>) -> Comparison {
    let mut walk = Walk::new(half, [left.wall_ns, right.wall_ns]);
    let (left, right) = match (left.text, right.text) {
        (Some(left), Some(right)) => (left, right),
        (left, right) => {
            walk.one_side_missing(left, right);
            return walk.finish();
        }
    };
    match (Document::parse(left), Document::parse(right)) {
        (Ok(left), Ok(right)) => walk.message(left.root(), right.root()),
        _ => walk.bytes(left, right),
    }
    walk.finish()
}

impl Comparison {
    /// How many differences of a class there are.
    #[must_use]
    pub fn count(&self, class: Class) -> usize {
        self.differences()
            .filter(|(_, found)| *found == class)
            .count()
    }

    /// The worst class that was found, `None` where nothing differs.
    #[must_use]
    pub fn worst(&self) -> Option<Class> {
        self.differences().map(|(_, class)| class).min()
    }

    /// Where in [`Self::lines`] the differences stand, with their classes.
    pub fn differences(&self) -> impl Iterator<Item = (usize, Class)> {
        self.lines
            .iter()
            .enumerate()
            .filter_map(|(at, line)| Some((at, line.verdict.class()?)))
    }

    /// The path of the line `at`, by the positions on the left where there is one.
    #[must_use]
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

impl Label {
    fn step(&self) -> Option<Step> {
        match self {
            Self::Root | Self::TextLine { .. } => None,
            Self::Member(name) => Some(Step::Member(name.clone())),
            Self::Element { left, right, .. } => left.or(*right).map(Step::Element),
        }
    }
}

#[cfg(test)]
mod tests;
