//! Facts of a recording in which causes are looked for: bounded, whatever its length.

mod https;

pub use https::Https;

use super::AT_ONCE_NS;
use crate::Severity;
use crate::quote::expression;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{Event, EventKind, ProcessContext};
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_trace::frame::{FrameHead, Seq, StreamId, Unfinished};
use mcpreel_trace::session::{End, Session, Side};
use regex::Regex;
use std::sync::{Arc, LazyLock};

/// A server that ends when its input is closed has ended by then, nanoseconds.
const LINGERS_NS: u64 = 2_000_000_000;

#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an answer to a question of its own"
)]
pub struct Facts {
    pub context: ProcessContext,
    /// The two sides, their agreement, and the end.
    pub session: Session,
    /// Whether somebody still records.
    pub is_live: bool,
    /// Whether it stops before the session did, for all that is known: it was copied while it was
    /// recorded, the rest stands in a spool that was not read, or was not selected.
    pub is_short: bool,
    /// Now, of a live recording; else when the last thing on record happened.
    pub now: Moment,
    pub counts: Counts,
    /// The first and the last events, in order.
    pub events: Vec<Event>,
    /// The first requests that begin a session: `initialize` and `server/discover`.
    pub opening: Vec<Exchange>,
    /// Whether the client went on after what begins a session: among the first messages is
    /// `initialized`, or a request for something else.
    pub went_on: bool,
    /// The first message of the server, among the first messages.
    pub first_said: Option<Seq>,
    /// The last answer with a result, among the last exchanges.
    pub last_answer: Option<Seq>,
    /// The exchanges that were answered last, a few, in the order of the answers.
    pub last_answered: Vec<Exchange>,
    /// Whether a tool was ever called.
    pub called_tools: bool,
    /// Requests that have no answer yet: the recording is live.
    pub open: Sample,
    /// Requests whose answering side ended.
    pub lost: Sample,
    /// Requests that were open at the end.
    pub unanswered: Sample,
    /// Requests of which nobody knows whether they were answered: too many were open.
    pub untracked: Sample,
    /// Calls that failed, by method and name.
    pub failed: Vec<Failed>,
    /// Calls that failed and are not among these; those of them that are known were answered.
    pub failed_too: Sample,
    /// Requests that were cancelled, whether or not they were answered later.
    pub cancelled: Vec<Cancelled>,
    /// How many of them the user cancelled, [`Sample::COUNTED`] at most.
    pub cancelled_by_user: u64,
    /// Calls that nobody waited for any more, each with the same call that came later.
    pub again: Vec<(Exchange, Exchange)>,
    pub findings: Vec<Group>,
    /// What rules found in the requests of these calls.
    pub in_requests: Vec<(Box<str>, Found)>,
    /// The first lines on the streams of the protocol that are no messages.
    pub noise: Vec<Line>,
    /// The lines that the findings about framing point at: a message is in several of them, or has
    /// something before it.
    pub misframed: Vec<Line>,
    /// The first answers to nothing.
    pub strays: Vec<Line>,
    /// The last lines of stderr, in order; where there are none, those of stdout that are no messages
    /// and hold a traceback.
    pub last_words: Vec<Line>,
    /// Lines whose ends have not come yet.
    pub unfinished: Vec<Unfinished>,
    /// What is known of HTTP; empty over stdio.
    pub https: Https,
    /// Very long frames: those that rules point at, and those at the end.
    pub long: Vec<FrameHead>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub frames: u64,
    pub messages: u64,
    pub exchanges: u64,
    pub failed: u64,
    pub findings: u64,
    /// Bytes that were forwarded but are not on record.
    pub gap_bytes: u64,
    pub stderr_bytes: u64,
}

/// Exchanges that stand alike: the first and the last of them, in order.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// The number of them, [`Self::COUNTED`] at most.
    pub count: u64,
    /// The first few and the last few.
    pub exchanges: Vec<Exchange>,
}

impl Sample {
    /// Exchanges that are counted; a recording of nothing but failures has a million.
    pub const COUNTED: u64 = 1000;
}

#[derive(Clone, Debug)]
pub struct Cancelled {
    /// The request, with its answer if one came all the same.
    pub exchange: Exchange,
    pub said: Arc<str>,
    /// Whether the request had a `progressToken`.
    pub has_token: bool,
}

impl Cancelled {
    /// Nanoseconds until the request was cancelled.
    pub fn waited_ns(&self) -> Option<u64> {
        self.exchange.unanswered_ns(self.exchange.t_request)
    }
}

#[derive(Clone, Debug)]
pub struct Group {
    pub rule: Box<str>,
    /// The number of them, [`Self::COUNTED`] at most.
    pub count: u64,
    pub is_all: bool,
    pub first: Vec<Found>,
}

impl Group {
    /// Findings that are counted; a rule may find a million.
    pub const COUNTED: u64 = 1000;
}

#[derive(Clone, Debug)]
pub struct Found {
    pub severity: Severity,
    pub frame: Option<Seq>,
    pub exchange: Option<ExchangeId>,
    /// The place in the message: the path of members from its top, escaped.
    pub path: Option<Box<str>>,
    pub related: Vec<Seq>,
    pub detail: Box<str>,
}

#[derive(Clone, Debug)]
pub struct Line {
    pub seq: Seq,
    pub stream: StreamId,
    pub t: Moment,
    pub bytes: Box<[u8]>,
}

impl Line {
    /// Bytes of a line that are looked at.
    pub const LOOKED_AT: u64 = 512;

    /// The text without the end of the line.
    pub fn text(&self) -> &[u8] {
        self.bytes.trim_ascii_end()
    }
}

impl Facts {
    pub fn end(&self) -> Option<&End> {
        self.session.phase.end()
    }

    /// The findings of a rule, if there are any.
    pub fn found(&self, rule: &str) -> Option<&Group> {
        debug_assert!(crate::rule(rule).is_some(), "there is no rule {rule}");
        self.findings.iter().find(|group| &*group.rule == rule)
    }

    /// Lines that are no messages, which somebody has logged. A body of HTTP is none.
    pub fn logged(&self) -> impl Iterator<Item = &Line> + Clone {
        let has_lines = self.context.transport != "http";
        self.noise.iter().filter(move |_| has_lines)
    }

    /// The line of a frame, if it is one of those that are framed wrongly.
    pub fn misframed_line(&self, frame: Option<Seq>) -> Option<&Line> {
        self.misframed.iter().find(|line| Some(line.seq) == frame)
    }

    pub fn since(&self, t: Moment) -> u64 {
        self.now.ns_since(t)
    }

    /// Whether the server ended in a way that nobody knows: the log of its host says no more.
    pub fn ended_somehow(&self) -> bool {
        let exits = |kind: &EventKind| matches!(kind, EventKind::Exit { .. });
        self.end() == Some(&End::Unknown) && self.events_that(exits).next().is_some()
    }

    /// Whether the recorder went before the session was over, and what it left was completed.
    pub fn is_cut_off(&self) -> bool {
        let recovers = |kind: &EventKind| matches!(kind, EventKind::Recovered { .. });
        self.end() == Some(&End::Unknown) && self.events_that(recovers).next().is_some()
    }

    /// The end of the server, if nobody told it to end.
    pub fn ended_by_itself(&self) -> Option<&End> {
        let end = self.end()?;
        let is_end = matches!(end, End::Exited { .. } | End::Killed { .. }) || self.ended_somehow();
        (is_end && self.told_to_end().is_none()).then_some(end)
    }

    /// Whether somebody ended the proxy, with its server running on.
    pub fn proxy_was_ended(&self) -> bool {
        self.context.url.is_some() && self.end() == Some(&End::Unknown) && !self.is_cut_off()
    }

    /// When the host closed its side, if it was the first to do so.
    pub fn host_left(&self) -> Option<Moment> {
        let closed = self.session.closed_first?;
        (closed.by == Side::Host).then_some(closed.t)
    }

    /// Whether the host closed its side within `patience` nanoseconds after `t`, as somebody does
    /// who does not like what came.
    pub fn host_left_after(&self, t: Moment, patience: u64) -> bool {
        self.host_left()
            .is_some_and(|left| left >= t && left.0 - t.0 <= patience)
    }

    /// When somebody told the server to end: its input was closed, or a signal came.
    pub fn told_to_end(&self) -> Option<Moment> {
        let is_signal = |event: &&Event| matches!(event.kind, EventKind::Signal { .. });
        let signal = self.events.iter().find(is_signal).map(|event| event.t);
        self.host_left().into_iter().chain(signal).min()
    }

    /// The first signal to the server, or its exit if that came before.
    pub fn stop(&self) -> Option<&Event> {
        let stops =
            |kind: &EventKind| matches!(kind, EventKind::Signal { .. } | EventKind::Exit { .. });
        self.events_that(stops).next()
    }

    /// When and by which signal a server was ended that had not ended after the host closed its side.
    pub fn killed_after_host_left(&self) -> Option<(Moment, &str)> {
        let (left, stop) = (self.host_left()?, self.stop()?);
        let End::Killed { signal } = self.end()? else {
            return None;
        };
        let is_told = ["SIGTERM", "SIGKILL", "SIGINT", "SIGHUP"].contains(&&**signal);
        (is_told && stop.t > left).then_some((stop.t, signal))
    }

    /// Until when the server could have answered: the moment when it was told to end. A server that
    /// lives on for seconds after that hangs until it is killed, or until now.
    pub fn could_answer_until(&self) -> Moment {
        let told = self.told_to_end().unwrap_or(self.now);
        let stopped = self.stop().map_or(self.now, |event| event.t);
        let is_hung = stopped.ns_since(told) >= LINGERS_NS;
        if is_hung { stopped } else { told }
    }

    /// Whether the host closed both its pipes at once, as a process does that ends without waiting
    /// for the server. A busy machine notices the two far apart; who waits, waits for seconds.
    pub fn host_vanished(&self) -> bool {
        let ends = self.session.ends;
        ends.c2s.zip(ends.s2c).is_some_and(|(c2s, s2c)| {
            [c2s.by, s2c.by] == [Side::Host; 2] && c2s.t.0.abs_diff(s2c.t.0) < AT_ONCE_NS
        })
    }

    /// Whether a request was still answered with a result after `seq`: whatever it is, both sides
    /// live with it.
    pub fn survived(&self, seq: Seq) -> bool {
        self.last_answer.is_some_and(|last| last > seq)
    }

    /// The requests without an answer that are known: those that are open, those that were when
    /// the recording ended, those whose answering side ended.
    pub fn without_answer(&self) -> impl Iterator<Item = &Exchange> {
        let samples = [&self.open, &self.unanswered, &self.lost];
        samples.into_iter().flat_map(|sample| &sample.exchanges)
    }

    /// The answer to `initialize` or `server/discover` that was a result.
    pub fn opened(&self) -> Option<&Exchange> {
        let is_answered = |exchange: &&Exchange| {
            matches!(exchange.status, Status::Ok | Status::Late) && exchange.response.is_some()
        };
        self.opening.iter().find(is_answered)
    }

    /// The requests that were cancelled, and those without an answer, as far as they are known.
    pub fn unmet(&self) -> impl Iterator<Item = &Exchange> {
        let cancelled = self.cancelled.iter().map(|one| &one.exchange);
        cancelled.chain(self.without_answer())
    }

    /// The calls that failed or wait, as far as they are known.
    pub fn troubled(&self) -> impl Iterator<Item = &Exchange> {
        let ways = self.failed.iter().flat_map(|failed| &failed.ways);
        let known = ways.map(|way| &way.exchange);
        let known = known.chain(&self.failed_too.exchanges);
        known.chain(self.unmet())
    }

    /// Whether mcpreel answered the request in place of the server.
    pub fn is_by_bridge(&self, call: &Exchange) -> bool {
        let mut ways = self.failed.iter().flat_map(|failed| &failed.ways);
        ways.any(|way| way.is_by_bridge && way.requests.contains(&call.request.0))
    }

    pub fn events_that(&self, is: fn(&EventKind) -> bool) -> impl Iterator<Item = &Event> {
        self.events.iter().filter(move |event| is(&event.kind))
    }

    /// Whether the answer to a request may stand in what is missing from the log that the recording
    /// was made from.
    pub fn may_be_hidden(&self, asked: &Exchange) -> bool {
        let is_after = |seq: Seq| seq > asked.request.0;
        let is_skipped = self.skips().any(|event| event.after_seq >= asked.request.0);
        let shortened = self.found("frame-shortened");
        is_skipped
            || shortened.is_some_and(|group| {
                let is_seen = |it: &Found| it.exchange.is_none() && it.frame.is_some_and(is_after);
                group.first.iter().any(is_seen) || group.count > group.first.len() as u64
            })
    }

    /// Whether the log that the recording was made from is known to lack something.
    pub fn is_partial(&self) -> bool {
        let is_hidden = |asked| self.may_be_hidden(asked);
        self.counts.gap_bytes > 0
            || self.skips().next().is_some()
            || self.without_answer().any(is_hidden)
    }

    /// Places where lines of the log were skipped.
    fn skips(&self) -> impl Iterator<Item = &Event> {
        self.events_that(|kind| matches!(kind, EventKind::Skipped { .. }))
    }
}

/// Calls of one method and name that failed, [`Self::COUNTED`] at most.
#[derive(Clone, Debug)]
pub struct Failed {
    /// Calls by their answers, at least one group: the most frequent answers first; what was never
    /// answered comes last.
    pub ways: Vec<Alike>,
    pub is_all: bool,
}

/// Calls that were answered in the same way.
#[derive(Clone, Debug)]
pub struct Alike {
    /// The first of these calls.
    pub exchange: Exchange,
    /// The answer to that call, in a line of its own: that of an exchange has room for less.
    pub answer: Option<Arc<str>>,
    /// The requests of all of these calls, in order.
    pub requests: Vec<Seq>,
    /// Whether mcpreel answered in place of a server that gave no answer.
    pub is_by_bridge: bool,
}

impl Failed {
    /// Calls that are looked at; a tool may fail a million times.
    pub const COUNTED: usize = 100;

    /// Groups calls, which are in their order. `None` if there are none.
    pub fn new(exchanges: Vec<Exchange>, is_all: bool) -> Option<Self> {
        let mut ways: Vec<Alike> = Vec::new();
        for exchange in exchanges {
            let request = exchange.request.0;
            let is_same = |way: &&mut Alike| is_alike(&way.exchange, &exchange);
            match ways.iter_mut().find(is_same) {
                Some(same) => same.requests.push(request),
                None => ways.push(Alike {
                    answer: exchange.answered().map(Into::into),
                    exchange,
                    requests: vec![request],
                    is_by_bridge: false,
                }),
            }
        }
        ways.sort_by_key(|one| {
            let is_silent = one.exchange.response.is_none();
            (is_silent, usize::MAX - one.requests.len())
        });
        (!ways.is_empty()).then_some(Self { ways, is_all })
    }

    /// The first call of those that were answered in the same way most often.
    pub fn first(&self) -> &Exchange {
        &self.ways[0].exchange
    }

    pub fn count(&self) -> u64 {
        let ways = self.ways.iter();
        ways.map(|alike| alike.requests.len() as u64).sum()
    }
}

impl Alike {
    /// The answer without the words that its status and its code say already.
    pub fn said(&self) -> Option<&str> {
        let said = without_status(self.answer.as_deref()?, self.exchange.code.as_deref());
        Some(said).filter(|said| !said.is_empty())
    }
}

/// An answer without the words that its status and `code` say already; empty if it has no others.
pub fn without_status<'a>(answer: &'a str, code: Option<&str>) -> &'a str {
    let said = answer
        .strip_prefix("tool error")
        .or_else(|| answer.strip_prefix("error"))
        .unwrap_or(answer)
        .trim();
    let said = code
        .and_then(|code| said.strip_prefix(code))
        .unwrap_or(said);
    said.trim_start_matches(':').trim()
}

/// Characters of two answers that are compared: summaries are cut at different lengths.
const COMPARED: usize = 40;

fn is_alike(one: &Exchange, other: &Exchange) -> bool {
    let said = |exchange: &Exchange| {
        let answer = exchange.answered().unwrap_or_default();
        let said = without_ids(without_status(answer, exchange.code.as_deref()));
        said.chars().take(COMPARED).collect::<String>()
    };
    one.status == other.status && one.code == other.code && said(one) == said(other)
}

/// A text with `0` in place of every word that has a digit in it: counts, times, ids. Behind a word
/// like `status` a number says what happened, not to whom, and is kept.
fn without_ids(text: &str) -> String {
    static WORD: LazyLock<Regex> = LazyLock::new(|| {
        let codes = r"(?:http(?:/[\d.]+)?|status|code|error|errno|exit|signal)";
        let pattern = format!(r"(?i)(\b{codes}\W+)?\b[\w-]*\d(?:[\w-]|\.\d)*");
        expression(&pattern)
    });
    let replaced = WORD.replace_all(text, |found: &regex::Captures<'_>| {
        let is_code = found.get(1).is_some();
        let word = if is_code { &found[0] } else { "0" };
        word.to_owned()
    });
    replaced.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_ids_make_no_difference_and_codes_do() {
        let same = |one: &str, other: &str| without_ids(one) == without_ids(other);
        assert!(same(
            "request 7f3a timed out after 1.5 s",
            "request 9b timed out after 30 s"
        ));
        assert!(same(
            "no job 0b1c9f2e-7c1d-4f6e-9a53-5d2f7c1b0aff",
            "no job feedbeef-dead-4bee-8bad-c0ffee00c0de"
        ));
        assert!(!same("HTTP/1.1 404 of /a", "HTTP/1.1 503 of /a"));
        assert!(!same("status code 404", "status code 503"));
        assert!(same(
            "Error: request 7f3a failed",
            "Error: request 9b failed"
        ));
        assert!(!same(
            "No station called Atlantis",
            "Quota exceeded: 100 of 100 calls"
        ));
        assert_eq!(without_ids("é 3é_x: 12."), "é 0: 0.");
    }
}
