//! What differs between two messages, and how much it matters. Pure.
//!
//! ```text
//!  bytes ──▶ Document ─┐
//!                      ├─ walk ──▶ Comparison { lines } ──▶ rows (unchanged parts folded)
//!  bytes ──▶ Document ─┘    │
//!                           ├─ equal: by value, not by spelling
//!                           ├─ align: which element stands for which
//!                           └─ lists, texts: what has elements and lines
//! ```
//!
//! * The order of members and the spelling of numbers and strings make no difference; numbers
//!   are compared by exact value.
//! * A text that is JSON itself is compared by what that says.
//! * Lists of tools, resources and prompts are compared by name or URI, other arrays by their
//!   longest common subsequence, texts of several lines by line.
//! * Every difference has a [`Class`]. What is expected to differ (ids, tokens, times) is found
//!   and shown as [`Class::Noise`], not hidden.
//! * [`Terms`] say more: rules about values that may differ, numbers compared as written.
//! * Work is bounded: [`Comparison::limits`] says what was not looked at, or only coarsely.

mod align;
mod equal;
mod judge;
mod line;
mod lists;
mod messages;
mod rows;
mod terms;
mod texts;
mod walk;
mod written;

pub use line::{Excerpt, Label, Line, Verdict};
pub use rows::{Row, Rows};
pub use terms::Terms;

use super::rules::Spot;
use mcpreel_wire::json::{Document, Path, Step, Value};
use walk::Walk;

/// How much a difference matters, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Who relied on the left side fails on the right one: an error instead of a result, a
    /// missing member, another type.
    Breaking,
    Changed,
    Added,
    /// The same things in another order, where order should not matter.
    Order,
    /// The same answer, later than the budget allows.
    Latency,
    /// What differs between any two runs: ids, tokens, times.
    Noise,
}

impl Class {
    pub const ALL: [Self; 6] = [
        Self::Breaking,
        Self::Changed,
        Self::Added,
        Self::Order,
        Self::Latency,
        Self::Noise,
    ];

    /// `breaking`, `changed`, `added`, `order`, `latency` or `noise`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Breaking => "breaking",
            Self::Changed => "changed",
            Self::Added => "added",
            Self::Order => "order",
            Self::Latency => "latency",
            Self::Noise => "noise",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.as_str() == word)
    }
}

/// In which way two values differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Change {
    /// Another value of the same type.
    Value,
    Type,
    Removed,
    Added,
    /// The same elements in another order.
    Order,
    /// A result on one side, an error on the other.
    Outcome,
}

/// Which half of an exchange is compared. In a request nothing is breaking: it was made so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Half {
    Request,
    Response,
}

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
    /// Lists that were to be compared by a member that not all elements have, or several alike.
    pub unkeyed: u64,
    /// Whether a side is no JSON (or nested too deeply), so that only its bytes were compared.
    pub as_bytes: bool,
}

impl Limits {
    /// Whether everything was compared as it should be.
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
    /// Differences that rules pass over.
    pub passed_over: u64,
    pub limits: Limits,
}

/// Compares two messages, the left one being the one to go by.
pub fn compare(half: Half, left: Side<'_>, right: Side<'_>) -> Comparison {
    compare_by(&Terms::default(), half, left, right)
}

/// The same by other terms than the usual ones.
pub fn compare_by(terms: &Terms<'_>, half: Half, left: Side<'_>, right: Side<'_>) -> Comparison {
    let mut walk = Walk::new(terms, half, [left.wall_ns, right.wall_ns]);
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

/// Compares two values that stand at `place` of two answers.
pub fn compare_values(
    terms: &Terms<'_>,
    place: &[Spot],
    left: Value<'_>,
    right: Value<'_>,
) -> Comparison {
    let mut walk = Walk::new(terms, Half::Response, [None; 2]);
    walk.value_at(place, left, right);
    walk.finish()
}

impl Comparison {
    /// How many differences of a class there are.
    pub fn count(&self, class: Class) -> usize {
        self.differences()
            .filter(|(_, found)| *found == class)
            .count()
    }

    /// The worst class that was found, `None` where nothing differs.
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
