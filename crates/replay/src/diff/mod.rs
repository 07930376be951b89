//! What differs between two messages, two exchanges or two recordings, and how much it matters.
//! Pure, but for [`recordings`] and its parts, which read recordings.
//!
//! ```text
//!  two recordings ─ side ─ key ─▶ pairs of exchanges ─▶ judge ─▶ report ─▶ words
//!                  (bound)     (align)                  ├─ values: two messages (equal, noise)
//!                                                       ├─ lists: what a server offers (schema)
//!                                                       └─ notices
//! ```

mod align;
mod bound;
mod diff_report;
mod equal;
mod judge;
pub mod key;
mod line;
mod lists;
mod noise;
mod notices;
mod recordings;
mod schema;
mod side;
mod values;
pub mod words;

pub use bound::Bound;
pub use diff_report::{
    Account, Call, Counts, Difference, LeftOut, List, MAX_DIFFERENCES, Missing, Offer, Outcome,
    Remark, Report, Skip, Tally, Threshold, Trouble, name,
};
pub use judge::{Budget, Judge, Occurrence, Options, is_at_work};
pub use line::{Comparison, Excerpt, Label, Limits, Line, Verdict};
pub use notices::Notices;
pub use recordings::{Compared, Pair, PairSide, Wanted, exchanges, recordings};
pub use side::fill_redacted;
pub use values::{Side, Terms, compare, compare_by};

/// How much a difference matters, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Whoever relied on the left side fails on the right one: an error instead of a result, a
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

impl Change {
    /// `value`, `type`, `removed`, `added`, `order` or `outcome`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Type => "type",
            Self::Removed => "removed",
            Self::Added => "added",
            Self::Order => "order",
            Self::Outcome => "outcome",
        }
    }
}

/// Which half of an exchange is compared. In a request nothing is breaking: it was made so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Half {
    Request,
    Response,
}
