//! Two exchanges, or one that has no counterpart: what differs, and how much it matters.
//!
//! How an exchange ended comes first, then what its messages say. Messages that are equal to the
//! byte cost nothing.

use super::diff_report::{
    self, Account, Call, Counts, Difference, Ledger, Outcome, Remark, Report, Threshold, Trouble,
};
use super::key::Digest;
use super::lists::Pages;
use super::notices::{self, Notices, Progress};
use super::tasks::{self, Tasks};
use super::values::{Side, Terms, compare_by};
use super::{Change, Class, Comparison, Excerpt, Half, Label, Limits, Line, Verdict};
use crate::rewrite::Rewrites;
use crate::rules::{Rules, Scope};
use mcpreel_trace::exchange::Status;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::{self, plural};

/// Differences of one message that are looked at: more than are kept, so that the worst are.
const LOOKED_AT: usize = 100;

/// An answer that is so little later matters to nobody, however fast the other one was.
const HARDLY_LATER_NS: u64 = 10_000_000;

/// Missing redacted values that are remembered, and named.
const LACKING: usize = 100;
const LACKING_NAMED: usize = 10;

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
    /// Where the response is not here, or only its outline, because it is too long: the digest of
    /// all of it.
    pub outline: Option<Digest>,
    pub status: Status,
    /// Nanoseconds to the response, where there is one.
    pub latency_ns: Option<u64>,
    /// When the request was sent, nanoseconds since the Unix epoch.
    pub wall_ns: Option<u64>,
    /// Its progress notifications; `None` where they are not to be compared.
    pub progress: Option<&'a Progress>,
}

/// Why an exchange of the left side has no counterpart.
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

/// How long an answer may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// So many nanoseconds, whatever the left side took.
    Absolute(u64),
    /// So many times as long as on the left side; less than ten milliseconds more never matter.
    Times(f64),
}

impl Budget {
    /// What to say of an answer that took longer than is allowed; both latencies are nanoseconds.
    fn exceeded(self, was: u64, is: u64) -> Option<String> {
        let (late, allowed) = match self {
            Self::Absolute(most) => (is > most, text::duration(most)),
            Self::Times(times) => {
                let later = is.saturating_sub(was) > HARDLY_LATER_NS;
                let late = later && times_over(is, was) > times;
                (late, format!("{times} times as long"))
            }
        };
        let (is, was) = (text::duration(is), text::duration(was));
        late.then(|| format!("took {is}, was {was}; allowed is {allowed}"))
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a ratio of two durations need not be exact"
)]
fn times_over(is: u64, was: u64) -> f64 {
    is as f64 / was.max(1) as f64
}

#[derive(Clone, Debug, Default)]
pub struct Options {
    /// How much later an answer may come; `None`: any time.
    pub latency_budget: Option<Budget>,
    pub exact_numbers: bool,
    /// From which class on a difference fails.
    pub fail_on: Threshold,
    /// Paths of the left side and what stands for them on the right: workspace roots.
    pub rewrites: Rewrites,
    /// Texts that the server chose on the left side, each with its choice on the right, where
    /// that is known beforehand.
    pub pairs: Vec<(Box<str>, Box<str>)>,
}

/// Compares exchange after exchange, and makes the report.
#[derive(Debug, Default)]
pub struct Judge {
    pub(super) rules: Rules,
    options: Options,
    pub(super) pages: Pages,
    pub(super) tasks: Tasks,
    pub(super) ledger: Ledger,
    /// Placeholders of redacted values that nobody supplied, escaped.
    lacking: Vec<Box<str>>,
    /// Exchanges that were not tried because of those.
    held_back: u64,
}

/// What was found between two exchanges so far.
#[derive(Debug, Default)]
pub(super) struct Draft {
    differences: Vec<Difference>,
    more: u64,
    pub(super) counts: Counts,
}

impl Judge {
    pub fn new(rules: Rules, options: Options) -> Self {
        Self {
            rules,
            ledger: Ledger::new(options.fail_on),
            options,
            ..Self::default()
        }
    }

    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Compares two exchanges: the worst class that was found. Pages of a list are compared when
    /// all of them are there.
    pub fn both(&mut self, left: &Occurrence<'_>, right: &Occurrence<'_>) -> Option<Class> {
        let mut draft = Draft::default();
        if let (Some(l), Some(r)) = (left.request, right.request) {
            self.messages(
                Half::Request,
                [left, right],
                [Some(l), Some(r)],
                &[],
                &mut draft,
            );
        }
        if !self.pages(left, right, &mut draft)
            && let Some(elsewhere) = tasks::elsewhere(self, left, right, &mut draft)
        {
            self.responses(left, right, &mut draft, elsewhere);
        }
        let late = self.options.latency_budget.and_then(|budget| {
            let (was, is) = left.latency_ns.zip(right.latency_ns)?;
            budget.exceeded(was, is)
        });
        if let Some(note) = late {
            draft.push(Class::Latency, &note);
        }
        if let (Some(was), Some(is)) = (left.progress, right.progress) {
            for (class, note) in was.beside(is, [left.request, right.request]) {
                draft.push(class, note);
            }
        }
        let worst = draft.counts.worst();
        self.ledger.compared(call(left), draft.counts);
        if !draft.differences.is_empty() {
            let mut account = account([Some(left), Some(right)], Outcome::Differs, worst);
            account.differences = draft.differences;
            account.more = draft.more;
            self.ledger.account(account);
        }
        worst
    }

    /// How both ended, and what they say, but for the values that are compared `elsewhere`.
    pub(super) fn responses(
        &mut self,
        left: &Occurrence<'_>,
        right: &Occurrence<'_>,
        draft: &mut Draft,
        elsewhere: &[&[&str]],
    ) {
        let texts = [left.response, right.response];
        let is_cancelled =
            |side: &&Occurrence<'_>| matches!(side.status, Status::Cancelled | Status::Late);
        // What was cancelled may be answered or not.
        if texts.contains(&None) && [left, right].iter().any(is_cancelled) {
            return;
        }
        let outlines = left.outline.zip(right.outline);
        if outlines.is_some_and(|(left, right)| left == right) {
            return;
        }
        let before = draft.counts;
        self.messages(Half::Response, [left, right], texts, elsewhere, draft);
        if outlines.is_some() {
            self.ledger.report().unlooked.outlines += 1;
            // An outline that says nothing is no word about the rest.
            let worse = Threshold::From(Class::Latency);
            if draft.counts.failing(worse) == before.failing(worse) {
                draft.push(
                    Class::Changed,
                    "it is too long to be shown: something in it differs",
                );
            }
        }
    }

    fn messages(
        &mut self,
        half: Half,
        sides: [&Occurrence<'_>; 2],
        texts: [Option<&[u8]>; 2],
        elsewhere: &[&[&str]],
        draft: &mut Draft,
    ) {
        if texts[0] == texts[1] {
            return;
        }
        let scope = self.rules.scope(sides[0].method, sides[0].name);
        let terms = self.terms(scope, elsewhere);
        let [left, right] = [0, 1].map(|at| Side {
            text: texts[at],
            wall_ns: sides[at].wall_ns,
        });
        let found = compare_by(&terms, half, left, right);
        draft.add(half, &found);
        let report = self.ledger.report();
        report.passed_over += found.passed_over;
        report.unlooked.values += found.limits.not_compared;
        report.unlooked.coarse += found.limits.coarse;
        report.unlooked.unkeyed += found.limits.unkeyed;
    }

    pub(super) fn terms<'r>(
        &'r self,
        scope: Scope<'r>,
        elsewhere: &'r [&'r [&'r str]],
    ) -> Terms<'r> {
        Terms {
            scope,
            rewrites: &self.options.rewrites,
            exact_numbers: self.options.exact_numbers,
            differences_only: true,
            elsewhere,
        }
    }

    /// An exchange of the left side that has no counterpart: how much that matters, pages aside.
    pub fn missing(&mut self, left: &Occurrence<'_>, why: Missing) -> Option<Class> {
        if let Missing::Skipped(Skip::Redacted(names)) = &why {
            self.held_back += 1;
            self.lacks(names.iter().map(AsRef::as_ref));
        }
        if self.takes_left(left, &why) {
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
        let class = if is_at_work(right.method, right.response) {
            Class::Noise
        } else {
            Class::Added
        };
        if !self.takes(1, right) {
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

    /// Something besides exchanges: a server request that never came, an end that was not clean.
    pub fn remark(&mut self, remark: Remark) {
        if let Some(trouble) = remark.trouble {
            self.trouble(trouble, remark.text.clone());
        }
        let call = (
            diff_report::name(&remark.method),
            remark.name.as_deref().map(diff_report::name),
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
    pub fn compared(&mut self) -> u64 {
        self.ledger.report().compared
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
        for name in names {
            if self.lacking.len() < LACKING && !self.lacking.iter().any(|known| **known == *name) {
                self.lacking.push(name.into());
            }
        }
    }

    /// Compares what came besides exchanges, in a window of both sides.
    pub fn notices(&mut self, left: &Notices, right: &Notices) {
        notices::both(self, left, right);
    }

    pub fn finish(mut self) -> Report {
        self.close_lists();
        tasks::finish(&mut self);
        self.tell_lacking();
        let mut report = self.ledger.finish();
        report.unfired = self.rules.unfired();
        report
    }

    /// Says which redacted values are missing, how to supply them, and what came of that.
    fn tell_lacking(&mut self) {
        let Some(first) = self.lacking.first() else {
            return;
        };
        let named = &self.lacking[..self.lacking.len().min(LACKING_NAMED)];
        let more = match self.lacking.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let held_back = match self.held_back {
            0 => "what has them in it was not sent".to_owned(),
            1 => "1 exchange was not tried".to_owned(),
            many => format!("{} were not tried", plural(many, "exchange")),
        };
        let text = format!(
            "secrets are missing: the recording is redacted, and nothing stands for {}{more}; \
             supply each with --bind {first}=env:NAME; until then {held_back}, and what differs \
             may come of that",
            named.join(", ")
        );
        self.trouble(Trouble::Unreadable, text.into());
    }
}

/// Whether the answer to a request of this method is that a task is at work. How often a client is
/// told that is chance.
pub fn is_at_work(method: &str, answer: Option<&[u8]>) -> bool {
    tasks::is_at_work(method, answer)
}

/// Under what an exchange is counted.
fn call(one: &Occurrence<'_>) -> Call {
    (
        diff_report::name(one.method),
        one.name.map(diff_report::name),
    )
}

/// An account without differences yet.
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

impl Draft {
    fn add(&mut self, half: Half, found: &Comparison) {
        let mut all = differences(half, found);
        for (_, class) in &all {
            self.counts.add(*class, 1);
        }
        all.sort_by_key(|(_, class)| *class);
        self.more += all.len().saturating_sub(LOOKED_AT) as u64;
        let shown = all.into_iter().take(LOOKED_AT);
        let shown = shown.filter_map(|(at, class)| difference(half, found, at, class));
        self.differences.extend(shown);
        self.not_compared(half, found.limits);
    }

    /// What was not compared may as well differ.
    fn not_compared(&mut self, half: Half, limits: Limits) {
        if limits.not_compared > 0 {
            let values = plural(limits.not_compared, "value");
            let note = format!("there is too much: {values} not compared");
            self.whole(half, Class::Changed, &note);
        }
    }

    /// Something about the answer as a whole.
    pub(super) fn push(&mut self, class: Class, note: &str) {
        self.whole(Half::Response, class, note);
    }

    fn whole(&mut self, half: Half, class: Class, note: &str) {
        self.counts.add(class, 1);
        self.differences.push(Difference {
            half,
            path: Box::default(),
            class,
            change: Change::Value,
            left: None,
            right: None,
            note: Some(diff_report::name(note)),
        });
    }
}

/// The lines that differ, with their classes. What a client says of itself in `_meta` of every
/// request does not tell one request from another.
fn differences(half: Half, found: &Comparison) -> Vec<(usize, Class)> {
    let (mut in_params, mut in_meta) = (false, false);
    let mut all = Vec::new();
    for (at, line) in found.lines.iter().enumerate() {
        match line.depth {
            1 => (in_params, in_meta) = (line.label.is("params"), false),
            2 => in_meta = in_params && line.label.is("_meta"),
            _ => {}
        }
        if let Some(class) = line.verdict.class() {
            let is_noise = half == Half::Request && in_meta;
            all.push((at, if is_noise { Class::Noise } else { class }));
        }
    }
    all
}

fn difference(half: Half, found: &Comparison, at: usize, class: Class) -> Option<Difference> {
    let line = &found.lines[at];
    let Verdict::Differs {
        change,
        left,
        right,
        ..
    } = &line.verdict
    else {
        return None;
    };
    let path = found.path(at).to_string();
    let note = note(half, line, (*change, left, right), &path, class);
    Some(Difference {
        half,
        class,
        change: *change,
        note: note.map(|note| diff_report::name(&note)),
        left: left.as_ref().map(diff_report::value),
        right: right.as_ref().map(diff_report::value),
        path: diff_report::name(&path),
    })
}

/// What a difference means, where its values do not say it.
fn note(
    half: Half,
    line: &Line,
    (change, left, right): (Change, &Option<Excerpt>, &Option<Excerpt>),
    path: &str,
    class: Class,
) -> Option<String> {
    let note = match (change, path, &line.label) {
        (Change::Outcome, "result", _) => "an error instead of a result",
        (Change::Outcome, ..) => "a result instead of an error",
        (Change::Removed, "", _) if half == Half::Response => "no answer any more",
        (Change::Added, "", _) if half == Half::Response => "an answer, where there was none",
        (_, "result.isError", _) if class == Class::Breaking => "the call fails now",
        (Change::Order, ..) => "the same in another order",
        (Change::Type, ..) => {
            let (left, right) = (left.as_ref()?, right.as_ref()?);
            return Some(format!("{} instead of {}", kind(right), kind(left)));
        }
        (_, _, Label::TextLine { left, right }) => {
            return Some(format!("line {}", left.or(*right)? + 1));
        }
        _ => return None,
    };
    Some(note.to_owned())
}

/// The type of a value, by its first character.
fn kind(value: &Excerpt) -> &'static str {
    match value.text.trim_start().chars().next() {
        Some('"') => "string",
        Some('{') => "object",
        Some('[') => "array",
        Some('t' | 'f') => "boolean",
        Some('n') => "null",
        _ => "number",
    }
}

#[cfg(test)]
mod exchanges_tests;
