//! Two exchanges, or one that has no other: what differs, and how much it matters.
//!
//! ```text
//!  both ──▶ request, response ─ compare ──┐
//!           lists ─ pages ─ surface ──────┤
//!           latency, progress ────────────┼──▶ report
//!  notices, missing, more, remark ────────┘
//! ```
//!
//! * How an exchange ended comes first, then what its messages say. Messages that are equal to the
//!   byte cost nothing.
//! * `surface`: what a server offers, tools by what their schemas take and give. A list that
//!   comes on several pages is judged as one, however it is cut.
//! * How far a task has come depends on when somebody asks, and how often that is on who asks.
//! * [`Budget`], [`Progress`], [`Notices`]: how long it took, and what came besides.

mod exchange;
mod lacking;
mod latency;
mod notices;
mod offered;
mod pages;
mod progress;
pub mod surface;
mod tasks;
mod words;

pub use latency::Budget;
pub use notices::Notices;
pub use progress::Progress;
pub use surface::List;
pub use tasks::is_at_work;

use super::compare::Class;
use super::key::Digest;
use super::report::{self, Account, Call, Ledger, Outcome, Remark, Report, Threshold, Trouble};
use super::rewrite::Rewrites;
use super::rules::Rules;
use lacking::Lacking;
use mcpreel_trace::exchange::Status;
use mcpreel_trace::frame::Seq;
use pages::Pages;
use tasks::Tasks;

/// One side of a comparison, as far as it came.
#[derive(Clone, Copy, Debug)]
pub struct Occurrence<'a> {
    pub seq: Option<Seq>,
    pub method: &'a str,
    /// Tool or prompt name, resource URI.
    pub name: Option<&'a str>,
    /// The request; `None` where it is not to be compared.
    pub request: Option<&'a [u8]>,
    /// The response; `None` where none came.
    pub response: Option<&'a [u8]>,
    /// Where the response is only the outline of one that is too long: the digest of all of it.
    pub outline: Option<Digest>,
    pub status: Status,
    /// Nanoseconds to the response, where there is one.
    pub latency_ns: Option<u64>,
    /// When the request was sent, nanoseconds since the Unix epoch.
    pub wall_ns: Option<u64>,
    /// Its progress notifications; `None` where they are not to be compared.
    pub progress: Option<&'a Progress>,
}

/// Why an exchange of the left side has no other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The request was sent, and no answer came.
    NeverAnswered,
    /// The server asked for this, and does no more.
    NeverAsked,
    /// The right side has no such exchange.
    Removed,
    Skipped(Skip),
    /// A safety guard refused it: why. Escaped.
    Refused(Box<str>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Skip {
    /// Redacted values in it were not supplied: which. Escaped.
    Redacted(Vec<Box<str>>),
    /// The server answered at once what it had asked for input for.
    NotNeeded,
    /// Something that it depends on did not come: `needs the answer of #12 open`. Escaped.
    Unreached(Box<str>),
}

#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How much later an answer may come; `None`: as late as it likes.
    pub latency_budget: Option<Budget>,
    pub exact_numbers: bool,
    /// Whether log messages are compared.
    pub strict_logs: bool,
    /// From which class on a difference fails.
    pub fail_on: Threshold,
    /// Paths of the left side and what stands for them on the right: workspace roots.
    pub rewrites: Rewrites,
    /// Texts that the server chose on the left side, each with what it chose on the right, where
    /// that is known beforehand.
    pub pairs: Vec<(Box<str>, Box<str>)>,
}

/// Judges exchange after exchange.
#[derive(Debug, Default)]
pub struct Judge {
    rules: Rules,
    options: Options,
    pages: Pages,
    tasks: Tasks,
    ledger: Ledger,
    lacking: Lacking,
}

impl Judge {
    pub fn new(rules: Rules, options: Options) -> Self {
        Self {
            rules,
            ledger: Ledger::new(options.fail_on),
            options,
            pages: Pages::default(),
            tasks: Tasks::default(),
            lacking: Lacking::default(),
        }
    }

    /// The rules, which whoever replays needs as well.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Compares two exchanges: the worst class that was found. Pages of a list are judged when all
    /// of them are there.
    pub fn both(&mut self, left: &Occurrence<'_>, right: &Occurrence<'_>) -> Option<Class> {
        exchange::both(self, left, right)
    }

    /// An exchange of the left side that has no other: how much that matters, pages aside.
    pub fn missing(&mut self, left: &Occurrence<'_>, why: Missing) -> Option<Class> {
        if let Missing::Skipped(Skip::Redacted(names)) = &why {
            self.lacking.hold_back();
            self.lacks(names.iter().map(AsRef::as_ref));
        }
        if pages::takes_left(self, left, &why) {
            return Some(Class::Changed);
        }
        let class = match &why {
            Missing::Removed if is_at_work(left.method, left.response) => Some(Class::Noise),
            Missing::NeverAnswered => Some(Class::Breaking),
            Missing::NeverAsked | Missing::Removed => Some(Class::Changed),
            Missing::Skipped(_) | Missing::Refused(_) => None,
        };
        if let Missing::Refused(reason) = &why {
            self.trouble(Trouble::Refused, reason.clone());
        }
        self.ledger.apart(call(left), class);
        let account = account([Some(left), None], Outcome::Missing(why), class);
        self.ledger.account(account);
        class
    }

    /// An exchange that only the right side has, and how much that matters.
    pub fn more(&mut self, right: &Occurrence<'_>) -> Class {
        let is_chance = is_at_work(right.method, right.response);
        let class = if is_chance {
            Class::Noise
        } else {
            Class::Added
        };
        if !pages::takes_right(self, right) {
            self.question(right, class);
        }
        class
    }

    /// A question of the server that only the right side has, which matters so much.
    pub fn question(&mut self, right: &Occurrence<'_>, class: Class) {
        self.ledger.apart(call(right), Some(class));
        let account = account([None, Some(right)], Outcome::More, Some(class));
        self.ledger.account(account);
    }

    /// Something besides: a server request that never came, an end that was not clean.
    pub fn remark(&mut self, remark: Remark) {
        if let Some(trouble) = remark.trouble {
            self.trouble(trouble, remark.text.clone());
        }
        let call = (
            report::name(&remark.method),
            remark.name.as_deref().map(report::name),
        );
        self.ledger.apart(call.clone(), Some(remark.class));
        self.ledger.account(Account {
            left: remark.left,
            right: remark.right,
            method: call.0,
            name: call.1,
            class: Some(remark.class),
            outcome: Outcome::Remark(remark),
            differences: Vec::new(),
            more: 0,
        });
    }

    /// Something that is worse than a difference, with one sentence, escaped.
    pub fn trouble(&mut self, trouble: Trouble, text: Box<str>) {
        self.ledger.trouble(trouble, text);
    }

    /// How many exchanges were compared so far.
    pub fn compared(&self) -> u64 {
        self.ledger.so_far().compared
    }

    /// An exchange was not to be compared.
    pub fn unwanted(&mut self) {
        self.ledger.report().unwanted += 1;
    }

    /// So many values are redacted on one side of messages that are the same but for that.
    pub fn redacted(&mut self, values: u64) {
        self.ledger.report().redacted += values;
    }

    /// Redacted values were needed and not supplied: their names, escaped.
    pub fn lacks<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) {
        self.lacking.add(names);
    }

    /// Compares what came besides exchanges, in a window of both sides.
    pub fn notices(&mut self, left: &Notices, right: &Notices) {
        notices::both(self, left, right);
    }

    pub fn finish(mut self) -> Report {
        pages::finish(&mut self);
        tasks::finish(&mut self);
        if let Some((trouble, text)) = self.lacking.trouble() {
            self.trouble(trouble, text);
        }
        let mut report = self.ledger.finish();
        report.unfired = self.rules.unfired();
        report
    }
}

/// Under what an exchange is counted.
fn call(one: &Occurrence<'_>) -> Call {
    (report::name(one.method), one.name.map(report::name))
}

/// An account of which nothing differs yet.
fn account(
    [left, right]: [Option<&Occurrence<'_>>; 2],
    outcome: Outcome,
    class: Option<Class>,
) -> Account {
    let seq = |side: Option<&Occurrence<'_>>| side.and_then(|side| side.seq);
    let (method, name) = left.or(right).map(call).unwrap_or_default();
    Account {
        left: seq(left),
        right: seq(right),
        method,
        name,
        outcome,
        class,
        differences: Vec::new(),
        more: 0,
    }
}

#[cfg(test)]
mod tests;
