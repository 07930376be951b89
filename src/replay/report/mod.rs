//! What came of a comparison: what differs, how much it matters, and how the command ends.
//!
//! Everything in a report is ready to be shown: texts off the wire are escaped, on one line and
//! cut. What is not kept is counted.

use super::compare::{Change, Class, Half};
use super::judge::Missing;
use crate::trace::frame::Seq;

/// From which class on a difference fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Threshold {
    /// From this class on.
    From(Class),
    /// Changed values fail, as does what is worse.
    #[default]
    Changed,
    /// Nothing fails.
    Never,
}

impl Threshold {
    /// Whether a difference of this class fails.
    #[must_use]
    pub fn fails(self, class: Class) -> bool {
        match self {
            Self::From(least) => class <= least,
            Self::Changed => class <= Class::Changed,
            Self::Never => false,
        }
    }
}

/// What is worse than a difference: it decides how the command ends. In the order in which one
/// takes precedence over another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Trouble {
    /// A recording that cannot be read or used, or nothing that could be compared.
    Unreadable,
    /// A safety guard refused something.
    Refused,
    /// The target could not be started, crashed, or ended early.
    Target,
    /// Work was pending at the deadline.
    Hang,
    /// An assertion about what is used, missed or in order does not hold.
    Assertion,
}

impl Trouble {
    /// The exit code of the command.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Unreadable => 3,
            Self::Refused => 7,
            Self::Target => 4,
            Self::Hang => 5,
            Self::Assertion => 6,
        }
    }
}

/// One difference between two messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// In the request or in the response.
    pub half: Half,
    /// Where in the message, in the grammar of paths; empty for the message itself. Escaped.
    pub path: Box<str>,
    /// How much it matters.
    pub class: Class,
    /// In which way.
    pub change: Change,
    /// What the left side has: JSON as on the wire, escaped, at most 256 bytes.
    pub left: Option<Box<str>>,
    /// What the right side has.
    pub right: Option<Box<str>>,
    /// What it means, where that takes a sentence: a property that is newly required.
    pub note: Option<Box<str>>,
    /// The rule by which it would be passed over, as a rules file has it.
    pub rule: Option<Box<str>>,
}

/// What became of an exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Both sides have it, and they differ.
    Differs,
    /// Only the left side has it, or nothing could be compared with it.
    Missing(Missing),
    /// Only the right side has it.
    More,
    /// Something that belongs to no exchange, or to one of which nothing else is said.
    Remark(Remark),
}

/// Something that is said besides what two messages differ in: a server request that never came, an end that was not clean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The frame of the left side that it is about.
    pub left: Option<Seq>,
    /// The frame of the right side.
    pub right: Option<Seq>,
    /// The method that it is about; empty for none.
    pub method: Box<str>,
    /// Tool, prompt or resource.
    pub name: Option<Box<str>>,
    /// How much it matters.
    pub class: Class,
    /// One sentence, escaped.
    pub text: Box<str>,
    /// Whether it decides how the command ends.
    pub trouble: Option<Trouble>,
}

/// An exchange of which something is to be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The request's frame on the left.
    pub left: Option<Seq>,
    /// The request's frame on the right.
    pub right: Option<Seq>,
    /// The method, escaped.
    pub method: Box<str>,
    /// Tool, prompt or resource, escaped.
    pub name: Option<Box<str>>,
    /// What became of it.
    pub outcome: Outcome,
    /// The worst that was found, `None` where that is nothing.
    pub class: Option<Class>,
    /// What differs, the worst first.
    pub differences: Vec<Difference>,
    /// Differences that are not kept.
    pub more: u64,
}

/// What came of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// From which class on a difference fails.
    pub fail_on: Threshold,
    /// Exchanges that were compared with another.
    pub compared: u64,
    /// Exchanges of which something is to be said, in the order in which they were judged.
    pub accounts: Vec<Account>,
    /// What is worse than a difference, each with a sentence.
    pub troubles: Vec<(Trouble, Box<str>)>,
    counts: [u64; Class::ALL.len()],
}

impl Report {
    pub(super) fn new(fail_on: Threshold) -> Self {
        Self {
            fail_on,
            ..Self::default()
        }
    }

    /// How many differences of a class there are, those that are not kept included.
    #[must_use]
    pub fn count(&self, class: Class) -> u64 {
        self.counts[class as usize]
    }

    /// The worst class that was found.
    #[must_use]
    pub fn worst(&self) -> Option<Class> {
        Class::ALL.into_iter().find(|class| self.count(*class) > 0)
    }

    /// How the command ends: 3, 7, 4, 5, 6 by what went wrong, 1 for differences, else 0.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        let trouble = self.troubles.iter().map(|(trouble, _)| *trouble).min();
        match (trouble, self.worst()) {
            (Some(trouble), _) => trouble.exit_code(),
            (None, _) if self.compared == 0 => Trouble::Unreadable.exit_code(),
            (None, Some(worst)) if self.fail_on.fails(worst) => 1,
            (None, _) => 0,
        }
    }

    pub(super) fn counted(&mut self, class: Class, times: u64) {
        self.counts[class as usize] += times;
    }
}
