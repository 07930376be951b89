//! Two exchanges, or one that has no other: what differs, and how much it matters.

use super::compare::{Class, Half, Side, compare};
use super::report::{Account, Outcome, Remark, Report, Threshold, Trouble};
use super::rewrite::Rewrites;
use super::rules::Rules;
use crate::trace::exchange::Status;
use crate::trace::frame::Seq;

/// One side of a comparison, as far as it came.
#[derive(Clone, Copy, Debug)]
pub struct Occurrence<'a> {
    /// The frame of the request.
    pub seq: Option<Seq>,
    /// The request's method.
    pub method: &'a str,
    /// Tool or prompt name, resource URI.
    pub name: Option<&'a str>,
    /// The request; `None` where it is not to be compared.
    pub request: Option<&'a [u8]>,
    /// The response; `None` where none came.
    pub response: Option<&'a [u8]>,
    /// How the exchange stands.
    pub status: Status,
    /// Nanoseconds to the response, where there is one.
    pub latency_ns: Option<u64>,
    /// When the request was sent, nanoseconds since the Unix epoch.
    pub wall_ns: Option<u64>,
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
    /// It was not tried: why.
    Skipped(Skip),
    /// A safety guard refused it: why. Escaped.
    Refused(Box<str>),
}

/// Why an exchange was not tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Skip {
    /// A redacted value in it was not supplied: which. Escaped.
    Redacted(Box<str>),
    /// The server answered at once what it had asked for input for.
    NotNeeded,
    /// Something that it depends on did not come: what. Escaped.
    Unreached(Box<str>),
}

/// How strict the judge is.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How much later an answer may come; `None`: as late as it likes.
    pub latency_budget: Option<Budget>,
    /// Whether `1` and `1.0` differ.
    pub exact_numbers: bool,
    /// Whether log messages are compared.
    pub strict_logs: bool,
    /// From which class on a difference fails.
    pub fail_on: Threshold,
    /// Paths of the left side and what stands for them on the right: workspace roots.
    pub rewrites: Rewrites,
}

/// How long an answer may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// So many nanoseconds, whatever the left side took.
    Absolute(u64),
    /// So many times as long as on the left side.
    Times(f64),
}

/// Judges exchange after exchange.
#[derive(Debug, Default)]
pub struct Judge {
    #[expect(dead_code, reason = "the rules are read, not applied yet")]
    rules: Rules,
    report: Report,
}

impl Judge {
    /// Nothing judged yet.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "the judge keeps them")]
    pub fn new(rules: Rules, options: Options) -> Self {
        let report = Report::new(options.fail_on);
        Self { rules, report }
    }

    /// Compares two exchanges: the worst class that was found.
    pub fn both(&mut self, left: &Occurrence<'_>, right: &Occurrence<'_>) -> Option<Class> {
        self.report.compared += 1;
        let side = |text, wall_ns| Side { text, wall_ns };
        let found = compare(
            Half::Response,
            side(left.response, left.wall_ns),
            side(right.response, right.wall_ns),
        );
        let class = found.worst()?;
        for class in Class::ALL {
            self.report.counted(class, found.count(class) as u64);
        }
        self.account(Some(left), Some(right), Outcome::Differs, Some(class));
        Some(class)
    }

    /// An exchange of the left side that has no other.
    pub fn missing(&mut self, left: &Occurrence<'_>, why: Missing) {
        let class = match why {
            Missing::NeverAnswered => Some(Class::Breaking),
            Missing::NeverAsked | Missing::Removed => Some(Class::Changed),
            Missing::Skipped(_) | Missing::Refused(_) => None,
        };
        match &why {
            Missing::Refused(reason) => self.trouble(Trouble::Refused, reason.clone()),
            Missing::Skipped(Skip::Redacted(reason)) => {
                self.trouble(Trouble::Unreadable, reason.clone());
            }
            _ => {}
        }
        self.found(class);
        self.account(Some(left), None, Outcome::Missing(why), class);
    }

    /// An exchange that only the right side has.
    pub fn more(&mut self, right: &Occurrence<'_>) {
        let class = Some(Class::Added);
        self.found(class);
        self.account(None, Some(right), Outcome::More, class);
    }

    /// Something besides: a server request that never came, an end that was not clean.
    pub fn remark(&mut self, remark: Remark) {
        if let Some(trouble) = remark.trouble {
            self.trouble(trouble, remark.text.clone());
        }
        self.found(Some(remark.class));
        self.report.accounts.push(Account {
            left: remark.left,
            right: remark.right,
            method: remark.method.clone(),
            name: remark.name.clone(),
            class: Some(remark.class),
            outcome: Outcome::Remark(remark),
            differences: Vec::new(),
            more: 0,
        });
    }

    /// Something that is worse than a difference, with one sentence, escaped.
    pub fn trouble(&mut self, trouble: Trouble, text: Box<str>) {
        self.report.troubles.push((trouble, text));
    }

    /// What came of it.
    #[must_use]
    pub fn finish(self) -> Report {
        self.report
    }

    fn found(&mut self, class: Option<Class>) {
        if let Some(class) = class {
            self.report.counted(class, 1);
        }
    }

    fn account(
        &mut self,
        left: Option<&Occurrence<'_>>,
        right: Option<&Occurrence<'_>>,
        outcome: Outcome,
        class: Option<Class>,
    ) {
        let Some(one) = left.or(right) else { return };
        self.report.accounts.push(Account {
            left: left.and_then(|left| left.seq),
            right: right.and_then(|right| right.seq),
            method: crate::text::escape(one.method).into(),
            name: one.name.map(|name| crate::text::escape(name).into()),
            outcome,
            class,
            differences: Vec::new(),
            more: 0,
        });
    }
}
