//! Two exchanges.

use super::words;
use super::{Judge, Occurrence, account, call, offered, pages, tasks};
use crate::compare::{
    Change, Class, Comparison, Excerpt, Half, Limits, Side, Terms, Verdict, compare_by,
};
use crate::report::{self, Counts, Difference, Outcome, Threshold};
use crate::rules::Scope;
use mcpreel_trace::exchange::Status;
use mcpreel_wire::text;

/// Differences that are looked at of one message: more than are kept, so that the graver ones are.
const LOOKED_AT: usize = 100;

/// What was found between two exchanges so far.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) differences: Vec<Difference>,
    pub(super) more: u64,
    pub(super) counts: Counts,
}

pub(super) fn both(
    judge: &mut Judge,
    left: &Occurrence<'_>,
    right: &Occurrence<'_>,
) -> Option<Class> {
    let mut draft = Draft::default();
    requests(judge, left, right, &mut draft);
    if !pages::take(judge, left, right, &mut draft)
        && let Some(elsewhere) = tasks::elsewhere(judge, left, right, &mut draft)
    {
        responses(judge, left, right, &mut draft, elsewhere);
    }
    latency(judge, left, right, &mut draft);
    progress(left, right, &mut draft);
    conclude(judge, [left, right], draft)
}

fn conclude(judge: &mut Judge, sides: [&Occurrence<'_>; 2], draft: Draft) -> Option<Class> {
    let worst = draft.counts.worst();
    judge.ledger.compared(call(sides[0]), draft.counts);
    if !draft.differences.is_empty() {
        let mut account = account(sides.map(Some), Outcome::Differs, worst);
        account.differences = draft.differences;
        account.more = draft.more;
        judge.ledger.account(account);
    }
    worst
}

fn requests(judge: &mut Judge, left: &Occurrence<'_>, right: &Occurrence<'_>, draft: &mut Draft) {
    let (Some(l), Some(r)) = (left.request, right.request) else {
        return;
    };
    messages(
        judge,
        Half::Request,
        [left, right],
        [Some(l), Some(r)],
        &[],
        draft,
    );
}

/// How both ended, and what they say, but for the values that somebody else compares.
pub(super) fn responses(
    judge: &mut Judge,
    left: &Occurrence<'_>,
    right: &Occurrence<'_>,
    draft: &mut Draft,
    elsewhere: &[&[&str]],
) {
    let texts = [left.response, right.response];
    let none = texts.iter().any(Option::is_none);
    // What was cancelled may be answered or not.
    let cancelled = |side: &Occurrence<'_>| matches!(side.status, Status::Cancelled | Status::Late);
    if none && (cancelled(left) || cancelled(right)) {
        return;
    }
    let outlines = left.outline.zip(right.outline);
    if outlines.is_some_and(|(left, right)| left == right) {
        return;
    }
    let before = draft.counts;
    messages(
        judge,
        Half::Response,
        [left, right],
        texts,
        elsewhere,
        draft,
    );
    if outlines.is_some() {
        judge.ledger.report().unlooked.outlines += 1;
        draft.outlined(before);
    }
}

fn messages(
    judge: &mut Judge,
    half: Half,
    sides: [&Occurrence<'_>; 2],
    texts: [Option<&[u8]>; 2],
    elsewhere: &[&[&str]],
    draft: &mut Draft,
) {
    if texts[0] == texts[1] {
        return;
    }
    let scope = judge.rules.scope(sides[0].method, sides[0].name);
    let terms = terms(judge, scope, elsewhere);
    let [left, right] = [0, 1].map(|at| Side {
        text: texts[at],
        wall_ns: sides[at].wall_ns,
    });
    let found = compare_by(&terms, half, left, right);
    draft.add(half, &found, sides[0]);
    told(judge, &found);
}

pub(super) fn terms<'r>(
    judge: &'r Judge,
    scope: Scope<'r>,
    elsewhere: &'r [&'r [&'r str]],
) -> Terms<'r> {
    Terms {
        scope,
        rewrites: &judge.options.rewrites,
        exact_numbers: judge.options.exact_numbers,
        differences_only: true,
        elsewhere,
    }
}

/// Counts what was passed over and what was not looked at.
fn told(judge: &mut Judge, found: &Comparison) {
    let report = judge.ledger.report();
    report.passed_over += found.passed_over;
    report.unlooked.values += found.limits.not_compared;
    report.unlooked.coarse += found.limits.coarse;
    report.unlooked.unkeyed += found.limits.unkeyed;
}

impl Draft {
    fn add(&mut self, half: Half, found: &Comparison, call: &Occurrence<'_>) {
        let mut all = differences(half, found);
        for (_, class) in &all {
            self.counts.add(*class, 1);
        }
        all.sort_by_key(|(_, class)| *class);
        self.more += all.len().saturating_sub(LOOKED_AT) as u64;
        let shown = all.into_iter().take(LOOKED_AT);
        let shown = shown.filter_map(|(at, class)| difference(half, found, at, class, call));
        self.differences.extend(shown);
        self.not_compared(half, found.limits);
    }

    /// What was not looked at may as well differ.
    fn not_compared(&mut self, half: Half, limits: Limits) {
        if limits.not_compared == 0 {
            return;
        }
        let values = text::plural(limits.not_compared, "value");
        let note = format!("there is too much: {values} not compared");
        self.push(half, Class::Changed, Change::Value, &note);
    }

    /// Only the outlines of two answers were compared, which are not the same as a whole: where
    /// that says nothing, the rest may as well differ.
    fn outlined(&mut self, before: Counts) {
        let worse = Threshold::From(Class::Latency);
        if self.counts.failing(worse) > before.failing(worse) {
            return;
        }
        let note = if self.counts == before {
            "it is too long to be shown: the outline is the same, the rest is not"
        } else {
            "it is too long to be compared: the outline differs as two runs do, the rest may as well"
        };
        self.push(Half::Response, Class::Changed, Change::Value, note);
    }

    /// Something about the message as a whole.
    pub(super) fn push(&mut self, half: Half, class: Class, change: Change, note: &str) {
        self.counts.add(class, 1);
        self.differences.push(Difference {
            half,
            path: Box::default(),
            class,
            change,
            left: None,
            right: None,
            note: Some(report::name(note)),
            rule: None,
        });
    }
}

/// The lines that differ, with their classes. What a client says of itself in every request does
/// not tell one request from another.
fn differences(half: Half, found: &Comparison) -> Vec<(usize, Class)> {
    let (mut top, mut second) = (false, false);
    let mut all = Vec::new();
    for (at, line) in found.lines.iter().enumerate() {
        match line.depth {
            1 => (top, second) = (line.label.is("params"), false),
            2 => second = top && line.label.is("_meta"),
            _ => {}
        }
        if let Some(class) = line.verdict.class() {
            let class = if half == Half::Request && second {
                Class::Noise
            } else {
                class
            };
            all.push((at, class));
        }
    }
    all
}

fn difference(
    half: Half,
    found: &Comparison,
    at: usize,
    class: Class,
    call: &Occurrence<'_>,
) -> Option<Difference> {
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
    let path = found.path(at);
    let shown = |side: &Option<Excerpt>| side.as_ref().map(report::value);
    let written = path.to_string();
    let rule = offered::rule(found, (at, class), &path, call);
    Some(Difference {
        half,
        path: report::name(&written),
        class,
        change: *change,
        note: words::note(half, line, &written, class).map(|note| report::name(&note)),
        left: shown(left),
        right: shown(right),
        rule: rule.and_then(|rule| report::rule(&rule)),
    })
}

fn latency(judge: &Judge, left: &Occurrence<'_>, right: &Occurrence<'_>, draft: &mut Draft) {
    let late = judge.options.latency_budget.and_then(|budget| {
        let (was, is) = left.latency_ns.zip(right.latency_ns)?;
        budget.exceeded(was, is)
    });
    if let Some(note) = late {
        draft.push(Half::Response, Class::Latency, Change::Value, &note);
    }
}

fn progress(left: &Occurrence<'_>, right: &Occurrence<'_>, draft: &mut Draft) {
    let (Some(was), Some(is)) = (left.progress, right.progress) else {
        return;
    };
    let asked = [left.request, right.request];
    for (class, note) in was.beside(is, asked) {
        draft.push(Half::Response, class, Change::Value, note);
    }
}
