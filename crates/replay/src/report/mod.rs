//! What came of a comparison: what differs, how much it matters, and how the command ends.
//!
//! Everything in a report is ready to be shown: texts off the wire are escaped, on one line and
//! cut. It is bounded, whatever was compared: what is not kept is counted.
//!
//! * [`Account`]: an exchange of which something is to be said, with its [`Difference`]s;
//! * [`Offer`]: a difference in what a server offers: tools, prompts, resources;
//! * [`Trouble`]: what is worse than a difference, and decides how the command ends;
//! * [`words`]: all of it in words.

mod account;
mod ledger;
mod shown;
pub mod words;

pub use account::{Account, Difference, Offer, Outcome, Remark};
pub(super) use ledger::Ledger;
pub use shown::{MAX_SHOWN, name, rule, value};

use super::compare::Class;
use super::rules::Unfired;
use std::collections::BTreeMap;

/// Differences that are kept of an exchange.
pub const MAX_DIFFERENCES: usize = 25;

/// From which class on a difference fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    From(Class),
    Never,
}

impl Default for Threshold {
    fn default() -> Self {
        Self::From(Class::Changed)
    }
}

impl Threshold {
    /// The name of the class, or `never`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::From(class) => class.as_str(),
            Self::Never => "never",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "never" => Some(Self::Never),
            class => Class::parse(class).map(Self::From),
        }
    }

    /// Whether a difference of this class fails.
    pub fn fails(self, class: Class) -> bool {
        match self {
            Self::From(least) => class <= least,
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
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Unreadable => 3,
            Self::Refused => 7,
            Self::Target => 4,
            Self::Hang => 5,
            Self::Assertion => 6,
        }
    }

    /// `unreadable`, `refused`, `target`, `hang` or `assertion`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unreadable => "unreadable",
            Self::Refused => "refused",
            Self::Target => "target",
            Self::Hang => "hang",
            Self::Assertion => "assertion",
        }
    }
}

/// How many differences there are of each class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts([u64; Class::ALL.len()]);

impl Counts {
    pub fn add(&mut self, class: Class, times: u64) {
        let count = &mut self.0[class as usize];
        *count = count.saturating_add(times);
    }

    pub fn remove(&mut self, class: Class) {
        let count = &mut self.0[class as usize];
        *count = count.saturating_sub(1);
    }

    pub fn add_all(&mut self, other: Self) {
        for class in Class::ALL {
            self.add(class, other.of(class));
        }
    }

    pub fn of(self, class: Class) -> u64 {
        self.0[class as usize]
    }

    /// The worst class of which there is one.
    pub fn worst(self) -> Option<Class> {
        Class::ALL.into_iter().find(|class| self.of(*class) > 0)
    }

    /// How many as bad as `threshold` says.
    pub fn failing(self, threshold: Threshold) -> u64 {
        let failing = Class::ALL
            .into_iter()
            .filter(|class| threshold.fails(*class));
        failing.map(|class| self.of(class)).sum()
    }
}

/// What became of the calls of one method or tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Exchanges that were compared with another.
    pub compared: u64,
    /// Those that only one side has, or that could not be compared.
    pub apart: u64,
    pub counts: Counts,
}

/// A method, and the tool, prompt or resource where there is one. Escaped.
pub type Call = (Box<str>, Option<Box<str>>);

/// What was not looked at, or not as it should be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unlooked {
    /// Values that were not compared, because there was too much.
    pub values: u64,
    /// Answers that are too long to be compared as a whole: their outlines were.
    pub outlines: u64,
    /// Lists and texts that were compared place by place, because they are too long.
    pub coarse: u64,
    /// Lists that no rule could match by a member, which not all elements have, or several alike.
    pub unkeyed: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Report {
    /// From which class on a difference fails.
    pub fail_on: Threshold,
    /// Exchanges that were compared with another.
    pub compared: u64,
    /// Those of them in which nothing at all differs.
    pub same: u64,
    /// Exchanges that were not to be compared.
    pub unwanted: u64,
    /// Differences, those that are not kept included.
    pub counts: Counts,
    /// Exchanges of which something is to be said, in the order in which they were judged.
    pub accounts: Vec<Account>,
    /// Exchanges of which something were to be said and nothing is kept.
    pub more_accounts: u64,
    /// What differs in what the server offers.
    pub offers: Vec<Offer>,
    /// Differences of that kind that are not kept.
    pub more_offers: u64,
    pub tallies: BTreeMap<Call, Tally>,
    /// What is worse than a difference, each with a sentence, escaped.
    pub troubles: Vec<(Trouble, Box<str>)>,
    pub more_troubles: u64,
    /// Differences that rules passed over.
    pub passed_over: u64,
    /// Values that are redacted on one side of messages that are the same but for that.
    pub redacted: u64,
    /// What was not looked at, or not as it should be.
    pub unlooked: Unlooked,
    /// Rules that changed nothing. Not escaped.
    pub unfired: Vec<Unfired>,
}

impl Report {
    /// How many differences of a class there are, those that are not kept included.
    pub fn count(&self, class: Class) -> u64 {
        self.counts.of(class)
    }

    /// The worst class that was found.
    pub fn worst(&self) -> Option<Class> {
        self.counts.worst()
    }

    /// Whether differences as bad as the threshold were found.
    pub fn is_failed(&self) -> bool {
        self.counts.failing(self.fail_on) > 0
    }

    /// The trouble that decides how the command ends.
    pub fn trouble(&self) -> Option<Trouble> {
        let worst = self.troubles.iter().map(|(trouble, _)| *trouble).min();
        worst.or((self.compared == 0).then_some(Trouble::Unreadable))
    }

    /// How the command ends: 3, 7, 4, 5, 6 by what went wrong, 1 for differences, else 0.
    pub fn exit_code(&self) -> u8 {
        match self.trouble() {
            Some(trouble) => trouble.exit_code(),
            None => u8::from(self.is_failed()),
        }
    }
}

#[cfg(test)]
mod tests;
