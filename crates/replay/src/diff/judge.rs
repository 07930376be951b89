//! Two exchanges, or one that has no counterpart: what differs, and how much it matters.
//!
//! How an exchange ended comes first, then what its messages say. Messages that are equal to the
//! byte cost nothing.

use super::diff_report::{
    self, Account, Call, Counts, Difference, Ledger, List, Missing, Outcome, Remark, Report, Skip,
    Threshold, Trouble,
};
use super::key::{Key, Terms as KeyTerms};
use super::lists::{self, Page, Pages};
use super::notices::{self, Notices};
use super::values::{Side, Terms, compare_by};
use super::{Change, Class, Comparison, Excerpt, Half, Label, Limits, Line, Verdict};
use crate::rewrite::Rewrites;
use crate::rules::{Rules, Scope, Side as Which};
use mcpreel_trace::exchange::Status;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Document, Value, canonical};
use mcpreel_wire::mcp::{TaskStatus, methods};
use mcpreel_wire::text::{self, plural};

/// Differences of one message that are looked at: more than are kept, so that the worst are.
const LOOKED_AT: usize = 100;

/// An answer that is so little later matters to nobody, however fast the other one was.
const HARDLY_LATER_NS: u64 = 10_000_000;

/// Missing redacted values that are remembered, and named.
const LACKING: usize = 100;
const LACKING_NAMED: usize = 10;

pub(super) const POLL: &str = "tasks/get";

/// What an answer says of how far a task, or each of a list of tasks, has come.
const TASK_PROGRESS: &[&[&str]] = &[
    &["result", "statusMessage"],
    &["result", "tasks", "status"],
    &["result", "tasks", "statusMessage"],
];

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
    /// The size of a response that is too long to be here.
    pub size: Option<u64>,
    pub status: Status,
    /// Nanoseconds to the response, where there is one.
    pub latency_ns: Option<u64>,
    /// When the request was sent, nanoseconds since the Unix epoch.
    pub wall_ns: Option<u64>,
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

impl Options {
    fn terms<'r>(&'r self, scope: Scope<'r>, elsewhere: &'r [&'r [&'r str]]) -> Terms<'r> {
        Terms {
            scope,
            rewrites: &self.rewrites,
            exact_numbers: self.exact_numbers,
            differences_only: true,
            elsewhere,
        }
    }
}

/// Compares exchange after exchange, and makes the report.
#[derive(Debug, Default)]
pub struct Judge {
    rules: Rules,
    options: Options,
    pages: Pages,
    ledger: Ledger,
    /// Placeholders of redacted values that nobody supplied, escaped.
    lacking: Vec<Box<str>>,
}

/// What was found between two exchanges so far.
#[derive(Debug, Default)]
struct Draft {
    differences: Vec<Difference>,
    more: u64,
    counts: Counts,
}

impl Judge {
    pub fn new(rules: Rules, options: Options) -> Self {
        let mut judge = Self {
            rules,
            options,
            ..Self::default()
        };
        judge.ledger.report.fail_on = judge.options.fail_on;
        judge
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
        let requests = [left.request, right.request];
        if requests.iter().all(Option::is_some) {
            self.messages(Half::Request, [left, right], requests, &[], &mut draft);
        }
        match List::of(left.method) {
            Some(list) => self.pages(list, [left, right], &mut draft),
            None => {
                if let Some(elsewhere) = task_progress(left, right, &mut draft) {
                    self.responses(left, right, &mut draft, elsewhere);
                }
            }
        }
        let late = self.options.latency_budget.and_then(|budget| {
            let (was, is) = left.latency_ns.zip(right.latency_ns)?;
            budget.exceeded(was, is)
        });
        if let Some(note) = late {
            draft.whole(Half::Response, Class::Latency, &note);
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
    fn responses(
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
        match left.size.zip(right.size) {
            None => self.messages(Half::Response, [left, right], texts, elsewhere, draft),
            Some((left, right)) => {
                self.ledger.report.left_out.outlines += 1;
                if left != right {
                    let note = "it is too long to be compared, and has another size";
                    draft.whole(Half::Response, Class::Changed, note);
                }
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
        let terms = self.options.terms(scope, elsewhere);
        let [left, right] = [0, 1].map(|at| Side {
            text: texts[at],
            wall_ns: sides[at].wall_ns,
        });
        let found = compare_by(&terms, half, left, right);
        draft.add(half, &found);
        let left_out = &mut self.ledger.report.left_out;
        left_out.passed_over += found.passed_over;
        left_out.values += found.limits.not_compared;
        left_out.place_by_place += found.limits.coarse;
    }

    /// Compares two answers to a request for a list: what is on them when all pages are there.
    fn pages(&mut self, list: List, sides: [&Occurrence<'_>; 2], draft: &mut Draft) {
        let [left, right] = sides;
        let pages = sides.map(|side| page(list, side));
        let starts_anew = pages.iter().flatten().any(|page| page.is_first);
        if starts_anew || pages.iter().any(Option::is_none) {
            draft.counts.add_all(self.close(list));
        }
        let [Some(l), Some(r)] = pages else {
            // An error, or no list at all: the pages before it are all there is.
            return self.responses(left, right, draft, &[]);
        };
        let elsewhere: &[&[&str]] = &[&["result", list.member()], &["result", "nextCursor"]];
        self.responses(left, right, draft, elsewhere);
        let is_whole = [self.pages.add(list, 0, l), self.pages.add(list, 1, r)];
        if is_whole[1] {
            draft.counts.add_all(self.close(list));
        }
    }

    /// Whether an exchange of one side is a page that the other side has no page for.
    fn takes(&mut self, side: usize, one: &Occurrence<'_>) -> bool {
        let Some(list) = List::of(one.method).filter(|list| self.pages.wants(*list, side)) else {
            return false;
        };
        let Some(page) = page(list, one).filter(|page| !page.is_first) else {
            return false;
        };
        if self.pages.add(list, side, page) {
            let counts = self.close(list);
            self.ledger.found((list.method().into(), None), counts);
        }
        true
    }

    /// Compares the pages of a list that are there; returns how many differences are new.
    fn close(&mut self, list: List) -> Counts {
        let Some(listing) = self.pages.take(list) else {
            return Counts::default();
        };
        let scope = self.rules.scope(list.method(), None);
        let terms = self.options.terms(scope, &[]);
        lists::compare(list, &listing, &terms, &mut self.ledger)
    }

    /// An exchange of the left side that has no counterpart: how much that matters, pages aside.
    pub fn missing(&mut self, left: &Occurrence<'_>, why: Missing) -> Option<Class> {
        if let Missing::Skipped(Skip::Redacted(names)) = &why {
            self.lacks(names.iter().map(AsRef::as_ref));
        }
        if self.takes(0, left) {
            return None;
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
        let is_noise = is_at_work(right.method, right.response);
        let class = if is_noise { Class::Noise } else { Class::Added };
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
        let name = remark.name.as_deref().map(diff_report::name);
        let call = (diff_report::name(&remark.method), name);
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
        self.ledger.report.compared
    }

    /// An exchange was not to be compared.
    pub fn unwanted(&mut self) {
        self.ledger.report.left_out.unwanted += 1;
    }

    /// So many values are redacted on one side of messages that are the same but for that.
    pub fn redacted(&mut self, values: u64) {
        self.ledger.report.redacted += values;
    }

    /// Redacted values were needed and not supplied: their names, escaped.
    pub fn lacks<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) {
        for name in names {
            if self.lacking.len() < LACKING && !self.lacking.iter().any(|known| **known == *name) {
                self.lacking.push(name.into());
            }
        }
    }

    /// Adds a notification of one side to `notices`. Progress, cancellations and log messages are
    /// passed over, as are bytes that are no notification.
    pub fn notice(
        &self,
        notices: &mut Notices,
        side: Which,
        seq: Seq,
        message: &[u8],
        wall_ns: Option<u64>,
    ) {
        let Ok(document) = Document::parse(message) else {
            return;
        };
        let root = document.root();
        let Some(method) = root.get("method").and_then(|method| method.as_str()) else {
            return;
        };
        if matches!(
            methods::canonical(&method),
            "notifications/progress" | "notifications/cancelled" | "notifications/message"
        ) {
            return;
        }
        let scope = self.rules.scope(&method, None);
        let terms = KeyTerms {
            scope: &scope,
            side,
            rewrites: &self.options.rewrites,
            wall_ns,
        };
        notices.add(Key::of(root, terms).normalised, &method, seq);
    }

    /// Compares the notifications of both sides.
    pub fn notices(&mut self, left: &Notices, right: &Notices) {
        let (remarks, not_compared) = notices::compare(left, right);
        self.ledger.report.left_out.values += not_compared;
        for remark in remarks {
            self.remark(remark);
        }
    }

    pub fn finish(mut self) -> Report {
        for list in self.pages.open() {
            let counts = self.close(list);
            self.ledger.found((list.method().into(), None), counts);
        }
        if let Some(first) = self.lacking.first() {
            let named = &self.lacking[..self.lacking.len().min(LACKING_NAMED)];
            let more = match self.lacking.len() - named.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let text = format!(
                "secrets are missing: the recording is redacted, and nothing stands for \
                 {}{more}; supply each with --bind {first}=env:NAME; until then what has them in \
                 it is not sent, and what differs may come of that",
                named.join(", ")
            );
            self.trouble(Trouble::Unreadable, text.into());
        }
        let mut report = self.ledger.report;
        report.unfired = self.rules.unfired();
        report
    }
}

fn page(list: List, one: &Occurrence<'_>) -> Option<Page> {
    Page::of(list, one.seq, one.request, one.response)
}

/// Whether the answer to a request of this method is that a task is at work. How often a client is
/// told that is chance.
pub fn is_at_work(method: &str, answer: Option<&[u8]>) -> bool {
    method == POLL && read(answer, TaskStatus::of).flatten() == Some(TaskStatus::Working)
}

/// The values of two answers that are not to be compared because they say how far tasks have come,
/// which depends on when somebody asks; `None`: nothing is to be compared.
fn task_progress(
    left: &Occurrence<'_>,
    right: &Occurrence<'_>,
    draft: &mut Draft,
) -> Option<&'static [&'static [&'static str]]> {
    let tasks = |side: &Occurrence<'_>| match side.method {
        POLL => read(side.response, |task| vec![progress(task)]),
        "tasks/list" => read(side.response, |list| {
            let tasks = list.get("tasks").into_iter();
            tasks
                .flat_map(|tasks| tasks.elements())
                .map(progress)
                .collect()
        }),
        _ => None,
    };
    let is_open = |(status, _): &Progress| status.is_some_and(|status| !status.is_over());
    let [Some(then), Some(now)] = [left, right].map(tasks) else {
        return Some(&[]);
    };
    if !then.iter().any(is_open) {
        return Some(&[]);
    }
    if then != now {
        let note = "a task has come farther, or less far, when it is asked about";
        draft.whole(Half::Response, Class::Noise, note);
    }
    let is_elsewhere = left.method == POLL && then[0].0 != now[0].0;
    (!is_elsewhere).then_some(TASK_PROGRESS)
}

/// How far a task has come, and what it says of that.
type Progress = (Option<TaskStatus>, Option<String>);

fn progress(task: Value<'_>) -> Progress {
    let message = task.get("statusMessage").map(canonical);
    (TaskStatus::of(task), message)
}

/// What the result in an answer says.
fn read<T>(answer: Option<&[u8]>, what: impl FnOnce(Value<'_>) -> T) -> Option<T> {
    let document = Document::parse(answer?).ok()?;
    document.root().get("result").map(what)
}

/// Under what an exchange is counted.
fn call(one: &Occurrence<'_>) -> Call {
    let name = one.name.map(diff_report::name);
    (diff_report::name(one.method), name)
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
        // What was not compared may as well differ.
        let Limits { not_compared, .. } = found.limits;
        if not_compared > 0 {
            let values = plural(not_compared, "value");
            let note = format!("there is too much: {values} not compared");
            self.whole(half, Class::Changed, &note);
        }
    }

    /// Something about a message as a whole.
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
mod judge_tests;
