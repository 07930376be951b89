//! Differences between two messages, two exchanges or two recordings, each with a class.
//! Pure, but for [`recordings`] and its parts, which read recordings.
//!
//! ```text
//!  two recordings ─ side ─ key ─▶ pairs of exchanges ─▶ judge ─▶ report ─▶ words
//!                              (align)                  ├─ values: two messages (noise)
//!                                                       └─ lists: what a server offers (schema)
//! ```

pub(crate) mod align;
mod diff_report;
mod judge;
pub mod key;
mod line;
mod lists;
mod noise;
mod recordings;
mod schema;
mod side;
mod values;
pub mod words;

pub use diff_report::{
    Account, Call, Counts, Difference, LeftOut, List, MAX_DIFFERENCES, Offer, Outcome, Report,
    Tally, Threshold, Trouble, name,
};
pub use judge::{Budget, Judge, Occurrence, Options, is_at_work};
pub use line::{Comparison, Excerpt, Label, Limits, Line, Verdict};
pub use recordings::{Bound, Compared, Pair, PairSide, Wanted, exchanges, recordings};
pub use side::fill_redacted;
pub(crate) use values::members;
pub use values::{Side, Terms, compare, compare_by};

/// The class of a difference, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Clients that relied on the left side fail on the right one: an error instead of a result, a
    /// missing member, another type.
    Breaking,
    Changed,
    /// A call of the client that only one side has: one session went on longer.
    Unpaired,
    Added,
    /// The same things in another order, where order should not matter.
    Order,
    /// The same answer, later than the budget allows.
    Latency,
    /// Values that differ between any two runs: ids, tokens, times.
    Noise,
}

impl Class {
    pub const ALL: [Self; 7] = [
        Self::Breaking,
        Self::Changed,
        Self::Unpaired,
        Self::Added,
        Self::Order,
        Self::Latency,
        Self::Noise,
    ];

    pub fn as_str(self) -> &'static str {
        [
            "breaking", "changed", "unpaired", "added", "order", "latency", "noise",
        ][self as usize]
    }

    /// This class, or noise.
    pub(crate) fn unless(self, is_noise: bool) -> Self {
        if is_noise { Self::Noise } else { self }
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

impl Change {
    pub fn as_str(self) -> &'static str {
        ["value", "type", "removed", "added", "order", "outcome"][self as usize]
    }
}

/// A half of an exchange. In a request nothing is breaking: the client chose it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Half {
    Request,
    Response,
}
