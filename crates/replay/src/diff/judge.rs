//! Two exchanges, or one that has no counterpart: what differs, and how much it matters.
//!
//! How an exchange ended comes first, then what its messages say. Messages that are equal to the
//! byte cost nothing.

use super::diff_report::{
    Account, Call, Counts, Difference, Ledger, List, MAX_DIFFERENCES, Outcome, Report, Threshold,
    Trouble, name, value,
};
use super::lists::{self, Listing, Page};
use super::values::{Side, Terms, compare_by};
use super::{Change, Class, Comparison, Half, Label, Line, Verdict};
use crate::rewrite::Rewrites;
use crate::rules::{Rules, Scope};
use mcpreel_share::phrases::end;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::session::End;
use mcpreel_wire::json::{Document, Value, canonical};
use mcpreel_wire::mcp::TaskStatus;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{self, plural};
use std::collections::BTreeMap;
use std::time::Duration;

/// An answer that is so little later matters to nobody, however fast the other one was.
const HARDLY_LATER_NS: u64 = 10_000_000;

/// Missing redacted values that are named.
const MOST_LACKING: usize = 20;

pub(super) const POLL: &str = "tasks/get";

/// One side of an exchange that is compared.
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
    /// Nanoseconds until the client cancelled the request, where it did and the time is known.
    pub cancelled_after_ns: Option<u64>,
    /// When the request was sent, nanoseconds since the Unix epoch.
    pub wall_ns: Option<u64>,
}

impl<'a> Occurrence<'a> {
    /// An exchange of a recording that began at `wall_ns`, without its messages.
    pub fn of(exchange: &'a Exchange, wall_ns: u64) -> Self {
        Self {
            seq: Some(exchange.request.0),
            method: &exchange.method,
            name: exchange.name.as_deref(),
            request: None,
            response: None,
            size: None,
            status: exchange.status,
            latency_ns: exchange.latency_ns(),
            cancelled_after_ns: None,
            wall_ns: Some(wall_ns.saturating_add(exchange.t_request.0)),
        }
    }

    /// Whether the client gave it up before an answer could come that takes as long as that of the
    /// `other` side.
    fn is_given_up_before(&self, other: &Self) -> bool {
        let is_cancelled = matches!(
            self.status,
            Status::Cancelled | Status::UserCancelled | Status::Late
        );
        let times = self.cancelled_after_ns.zip(other.latency_ns);
        self.response.is_none() && is_cancelled && times.is_none_or(|(gave, took)| gave < took)
    }
}

/// The time that an answer may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// Nanoseconds, whatever the left side took.
    Absolute(u64),
    /// A multiple of the left side's time; less than ten milliseconds more never matter.
    Times(f64),
}

impl Budget {
    /// The note on an answer that took longer than is allowed; both latencies are nanoseconds.
    fn exceeded(self, was: u64, is: u64) -> Option<String> {
        let (late, allowed) = match self {
            Self::Absolute(most) => (is > most, text::duration(most)),
            Self::Times(times) => {
                let later = is.saturating_sub(was) > HARDLY_LATER_NS;
                let [took, before] = [is, was.max(1)].map(Duration::from_nanos);
                let late = later && took.div_duration_f64(before) > times;
                (late, format!("{times} times as long"))
            }
        };
        let (is, was) = (text::duration(is), text::duration(was));
        late.then(|| format!("took {is}, was {was}; allowed is {allowed}"))
    }
}

#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The time that an answer may take; `None`: any time.
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
    /// The terms of comparing two exchanges. The list on its pages is compared elsewhere.
    fn terms<'r>(&'r self, scope: Scope<'r>, page_of: Option<List>) -> Terms<'r> {
        Terms {
            scope,
            rewrites: &self.rewrites,
            exact_numbers: self.exact_numbers,
            differences_only: true,
            page_of,
        }
    }
}

/// Compares exchange after exchange, and makes the report.
#[derive(Debug, Default)]
pub struct Judge {
    rules: Rules,
    options: Options,
    /// The lists of which pages have come that are not compared yet.
    lists: BTreeMap<List, Listing>,
    pub(super) ledger: Ledger,
    /// Whether a request was not sent because redacted values in it were not supplied.
    is_hindered: bool,
}

/// The differences of two exchanges, in the making.
#[derive(Debug, Default)]
struct Found {
    /// The worst of each message first.
    differences: Vec<Difference>,
    /// Differences that are not among these.
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
    pub fn compare(&mut self, left: &Occurrence<'_>, right: &Occurrence<'_>) -> Option<Class> {
        let sides = [left, right];
        let mut found = Found::default();
        let requests = sides.map(|side| side.request);
        if !requests.contains(&None) {
            self.messages(Half::Request, sides, requests, None, &mut found);
        }
        match List::of(left.method) {
            Some(list) => self.pages(list, sides, &mut found),
            None if tells_of_open_tasks(sides) => {
                let note = "a task has come farther, or less far, when it is asked about";
                found.whole(Half::Response, Class::Noise, note);
            }
            None => self.responses(sides, None, &mut found),
        }
        let latency = left.latency_ns.zip(right.latency_ns);
        if let Some((budget, (was, is))) = self.options.latency_budget.zip(latency)
            && let Some(note) = budget.exceeded(was, is)
        {
            found.whole(Half::Response, Class::Latency, &note);
        }
        let worst = found.counts.worst();
        let account = Account::new([Some(left), Some(right)], Outcome::Differs, worst);
        self.ledger.compared(&account, found.counts);
        if !found.differences.is_empty() {
            let mut differences = found.differences;
            differences.sort_by_key(|difference| difference.class);
            let more = differences.len().saturating_sub(MAX_DIFFERENCES) as u64;
            differences.truncate(MAX_DIFFERENCES);
            self.ledger.keep(Account {
                differences,
                more: found.more + more,
                ..account
            });
        }
        worst
    }

    /// Both sides have this exchange, and nothing of it can differ: a question that was known by its
    /// words, a request that neither side got an answer to.
    pub fn note_equal(&mut self, one: &Occurrence<'_>) {
        let account = Account::new([Some(one), None], Outcome::Differs, None);
        self.ledger.compared(&account, Counts::default());
    }

    /// Compares two answers; `page_of` is the list of which both are pages.
    fn responses(&mut self, sides: [&Occurrence<'_>; 2], page_of: Option<List>, found: &mut Found) {
        let texts = sides.map(|side| side.response);
        let [left, right] = sides;
        if left.is_given_up_before(right) || right.is_given_up_before(left) {
            return;
        }
        match sides.map(|side| side.size) {
            [Some(left), Some(right)] => {
                self.ledger.report.left_out.outlines += 1;
                if left != right {
                    let note = "it is too long to be compared, and has another size";
                    found.whole(Half::Response, Class::Changed, note);
                }
            }
            _ => self.messages(Half::Response, sides, texts, page_of, found),
        }
    }

    fn messages(
        &mut self,
        half: Half,
        sides: [&Occurrence<'_>; 2],
        texts: [Option<&[u8]>; 2],
        page_of: Option<List>,
        found: &mut Found,
    ) {
        if texts[0] == texts[1] {
            return;
        }
        let scope = self.rules.scope(sides[0].method, sides[0].name);
        let terms = self.options.terms(scope, page_of);
        let [left, right] = [0, 1].map(|at| Side {
            text: texts[at],
            wall_ns: sides[at].wall_ns,
        });
        let comparison = compare_by(&terms, half, left, right);
        found.add(half, &comparison);
        let left_out = &mut self.ledger.report.left_out;
        left_out.passed_over += comparison.passed_over;
        left_out.values += comparison.limits.not_compared;
        left_out.place_by_place += comparison.limits.coarse;
    }

    /// Compares two answers to a request for a list: what is on them when all pages are there.
    fn pages(&mut self, list: List, sides: [&Occurrence<'_>; 2], found: &mut Found) {
        let pages = sides.map(|side| Page::of(list, side));
        // An error, or no list at all: the pages before it are all there is.
        let ends = |page: &Option<Page>| page.as_ref().is_none_or(|page| page.is_first);
        if pages.iter().any(ends) {
            found.counts.add_all(self.close(list));
        }
        let are_pages = pages.iter().all(Option::is_some);
        self.responses(sides, Some(list).filter(|_| are_pages), found);
        if let [Some(left), Some(right)] = pages {
            let listing = self.lists.entry(list).or_default();
            listing.add(0, left);
            if listing.add(1, right) {
                found.counts.add_all(self.close(list));
            }
        }
    }

    /// Whether an exchange of one side is a page that the other side has no page for.
    fn is_page_apart(&mut self, side: usize, one: &Occurrence<'_>) -> bool {
        let Some(list) = List::of(one.method) else {
            return false;
        };
        let listing = self.lists.get_mut(&list).filter(|it| it.wants(side));
        let page = Page::of(list, one).filter(|page| !page.is_first);
        let Some((listing, page)) = listing.zip(page) else {
            return false;
        };
        if listing.add(side, page) {
            let counts = self.close(list);
            self.ledger.found((list.method().into(), None), counts);
        }
        true
    }

    /// Compares the pages of a list that are there; returns how many differences are new.
    fn close(&mut self, list: List) -> Counts {
        let Some(listing) = self.lists.remove(&list) else {
            return Counts::default();
        };
        let scope = self.rules.scope(list.method(), None);
        let terms = self.options.terms(scope, None);
        lists::compare(list, &listing, &terms, &mut self.ledger)
    }

    /// An exchange of the left side that has no counterpart: how much that matters, pages aside.
    pub fn missing(&mut self, left: &Occurrence<'_>, why: Outcome) -> Option<Class> {
        if self.is_page_apart(0, left) {
            return None;
        }
        let class = match &why {
            Outcome::Removed if is_at_work(left.method, left.response) => Some(Class::Noise),
            Outcome::NeverAnswered => Some(Class::Breaking),
            Outcome::Removed => Some(Class::Unpaired),
            Outcome::NeverAsked => Some(Class::Changed),
            Outcome::Refused(reason) => {
                self.trouble(Trouble::Refused, reason.clone());
                None
            }
            _ => None,
        };
        let account = Account::new([Some(left), None], why, class);
        self.ledger.apart(account);
        class
    }

    /// An exchange that only the right side has, and how much that matters.
    pub fn extra(&mut self, right: &Occurrence<'_>, asked: Direction) -> Class {
        let class = match asked {
            Direction::ClientToServer => Class::Unpaired,
            Direction::ServerToClient => Class::Added,
        };
        let class = class.unless(is_at_work(right.method, right.response));
        if !self.is_page_apart(1, right) {
            self.question(right, class);
        }
        class
    }

    /// A question of the server that only the right side has, which matters so much.
    pub fn question(&mut self, right: &Occurrence<'_>, class: Class) {
        let account = Account::new([None, Some(right)], Outcome::More, Some(class));
        self.ledger.apart(account);
    }

    /// Something besides exchanges: a server request that never came, an end that was not clean.
    /// `method` is the one that it is about; empty for none.
    pub fn remark(&mut self, class: Class, seqs: [Option<Seq>; 2], method: &str, text: &str) {
        let account = Account::new([None, None], Outcome::Remark(name(text)), Some(class));
        self.ledger.apart(Account {
            left: seqs[0],
            right: seqs[1],
            method: name(method),
            ..account
        });
    }

    /// Compares the ends of two servers: a crash is worse than any answer, and to end well after one
    /// more than there was.
    pub fn ends(&mut self, was: &End, is: &End) {
        if was == is || [was, is].contains(&&End::Unknown) {
            return;
        }
        let class = match (by_host(was), by_host(is)) {
            (Some(then), Some(now)) if now <= then => Class::Noise,
            (Some(0), _) => Class::Breaking,
            (None, Some(0)) => Class::Added,
            _ => Class::Changed,
        };
        let text = format!("{}; before, {}", end(is), end(was));
        self.remark(class, [None; 2], "", &text);
    }

    /// Something that is worse than a difference, with one sentence, escaped.
    pub fn trouble(&mut self, trouble: Trouble, text: Box<str>) {
        self.ledger.trouble(trouble, text);
    }

    /// An exchange was not to be compared.
    pub fn unwanted(&mut self) {
        self.ledger.report.left_out.unwanted += 1;
    }

    /// Redacted values were needed and not supplied: their names, escaped. Whether a request was not
    /// sent for that: else it matters only where something differs.
    pub fn lacks(&mut self, names: &[Box<str>], by_request: bool) {
        self.is_hindered |= by_request;
        let lacking = &mut self.ledger.report.lacking;
        for name in names {
            if lacking.len() < MOST_LACKING && !lacking.contains(name) {
                lacking.push(name.clone());
            }
        }
    }

    pub fn is_lacking(&self) -> bool {
        !self.ledger.report.lacking.is_empty()
    }

    pub fn finish(mut self) -> Report {
        while let Some((list, _)) = self.lists.first_key_value() {
            let list = *list;
            let counts = self.close(list);
            self.ledger.found((list.method().into(), None), counts);
        }
        let report = &self.ledger.report;
        let lacking = &report.lacking;
        if let Some(first) = lacking.first()
            && (self.is_hindered || report.is_failed())
        {
            let text = format!(
                "secrets are missing: the recording is redacted, and nothing stands for {}; \
                 supply each with --bind {first}=env:NAME; until then what has them in it is not \
                 sent, and what differs may come of that",
                lacking.join(", ")
            );
            self.trouble(Trouble::Unreadable, text.into());
        }
        let mut report = self.ledger.report;
        report.unfired = self.rules.unfired();
        report
    }
}

/// How hard a host was on a server that ended so: it closed the input, sent SIGTERM, or SIGKILL.
/// A host that has no patience says nothing of its server. `None`: the server ended so by itself.
fn by_host(end: &End) -> Option<u8> {
    match end {
        End::Exited { code: 0 } => Some(0),
        // A shell says by a code above 128 that a signal ended it.
        End::Exited { code: 143 } => Some(1),
        End::Killed { signal } if signal == "SIGTERM" => Some(1),
        End::Exited { code: 137 } => Some(2),
        End::Killed { signal } if signal == "SIGKILL" => Some(2),
        _ => None,
    }
}

/// Whether the answer to a request of this method is that a task is at work. How often a client is
/// told that is chance.
pub fn is_at_work(method: &str, answer: Option<&[u8]>) -> bool {
    let working = |(status, _): &Progress| *status == TaskStatus::Working;
    method == POLL && progress(answer).is_some_and(|tasks| tasks.iter().all(working))
}

/// Whether two answers tell that a task which was not over on the left has come farther, or less
/// far: that depends on when somebody asks.
fn tells_of_open_tasks(sides: [&Occurrence<'_>; 2]) -> bool {
    let is_meant = [POLL, "tasks/list"].contains(&sides[0].method);
    match sides.map(|side| progress(side.response)) {
        [Some(then), Some(now)] if is_meant && then != now => {
            then.iter().any(|(status, _)| !status.is_over())
        }
        _ => false,
    }
}

/// The status of a task and its status message.
type Progress = (TaskStatus, Option<String>);

/// The progress of the tasks in an answer, `None` if there are none in it.
fn progress(answer: Option<&[u8]>) -> Option<Vec<Progress>> {
    let document = Document::parse(answer?).ok()?;
    let result = document.root().get("result")?;
    let list = result
        .get("tasks")
        .into_iter()
        .flat_map(|tasks| tasks.elements());
    let of = |task: Value<'_>| {
        Some((
            TaskStatus::of(task)?,
            task.get("statusMessage").map(canonical),
        ))
    };
    let tasks: Vec<_> = list.chain([result]).filter_map(of).collect();
    (!tasks.is_empty()).then_some(tasks)
}

impl Account {
    /// An account without differences yet.
    fn new(sides: [Option<&Occurrence<'_>>; 2], outcome: Outcome, class: Option<Class>) -> Self {
        let [left, right] = sides.map(|side| side.and_then(|side| side.seq));
        let one = sides[0].or(sides[1]);
        Self {
            left,
            right,
            method: one.map(|one| name(one.method)).unwrap_or_default(),
            name: one.and_then(|one| one.name).map(name),
            outcome,
            class,
            differences: Vec::new(),
            more: 0,
        }
    }

    /// Under what it is counted.
    pub(super) fn call(&self) -> Call {
        (self.method.clone(), self.name.clone())
    }
}

impl Found {
    fn add(&mut self, half: Half, found: &Comparison) {
        let mut all = Vec::new();
        let (mut in_params, mut in_meta) = (false, false);
        for (at, line) in found.lines.iter().enumerate() {
            match line.depth {
                1 => (in_params, in_meta) = (line.label.is("params"), false),
                2 => in_meta = in_params && line.label.is("_meta"),
                _ => {}
            }
            if let Some(class) = line.verdict.class() {
                // What a client says of itself in each request does not tell one from another.
                let is_noise = half == Half::Request && in_meta;
                let class = class.unless(is_noise);
                self.counts.add(class, 1);
                all.push((class, at));
            }
        }
        all.sort_unstable();
        self.more += all.len().saturating_sub(MAX_DIFFERENCES) as u64;
        let shown = all.into_iter().take(MAX_DIFFERENCES);
        let shown = shown.filter_map(|(class, at)| difference(half, found, at, class));
        self.differences.extend(shown);
        let not_compared = found.limits.not_compared;
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
            note: Some(name(note)),
        });
    }
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
    let note = note(half, line, *change, &path, class);
    Some(Difference {
        half,
        class,
        change: *change,
        note: note.map(|note| name(&note)),
        left: left.as_ref().map(value),
        right: right.as_ref().map(value),
        path: name(&path),
    })
}

/// An explanation of a difference, where its values do not say enough.
fn note(half: Half, line: &Line, change: Change, path: &str, class: Class) -> Option<String> {
    let note = match (change, path, &line.label) {
        (Change::Outcome, "result", _) => "an error instead of a result",
        (Change::Outcome, ..) => "a result instead of an error",
        (Change::Removed, "", _) if half == Half::Response => "no answer any more",
        (Change::Added, "", _) if half == Half::Response => "an answer, where there was none",
        (_, "result.isError", _) if class == Class::Breaking => "the call fails now",
        (_, "result.isError", _) if class == Class::Changed => "the call succeeds now",
        (Change::Order, ..) => "the same in another order",
        (_, _, Label::TextLine { left, right }) => {
            return Some(format!("line {}", left.or(*right)? + 1));
        }
        _ => return None,
    };
    Some(note.to_owned())
}

#[cfg(test)]
mod judge_tests;
