//! What is known of a recording when its cause is looked for: bounded, whatever its length.

use super::named;
use crate::Severity;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{Event, EventKind, ProcessContext};
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_trace::frame::{FrameHead, Seq, StreamId, Unfinished};
use mcpreel_trace::session::{End, Session, Side};
use mcpreel_wire::message::Direction;

#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an answer to a question of its own"
)]
pub struct Facts {
    pub context: ProcessContext,
    /// Who spoke, what they agreed on, how it ended.
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
    /// Whether the client said `initialized`, among the first messages.
    pub confirmed: bool,
    /// Whether the client asked for something but to begin a session, among the first exchanges.
    pub asked_more: bool,
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
    /// Requests that were cancelled, whether or not they were answered later.
    pub cancelled: Vec<Cancelled>,
    /// Calls that were never answered, each with the same call that came later.
    pub again: Vec<(Exchange, Exchange)>,
    pub findings: Vec<Group>,
    /// The first lines on the streams of the protocol that are no messages.
    pub noise: Vec<Line>,
    /// The lines that the findings about framing point at: a message is in several of them, or has
    /// something before it.
    pub misframed: Vec<Line>,
    /// The last lines of stderr, in order.
    pub last_words: Vec<Line>,
    /// Lines whose ends have not come yet.
    pub unfinished: Vec<Unfinished>,
    /// Very long frames of the server: those that rules point at, and those at the end.
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
    /// How many, [`Self::COUNTED`] at most.
    pub count: u64,
    /// The first few and the last few.
    pub exchanges: Vec<Exchange>,
}

impl Sample {
    /// Exchanges that are counted; a recording of nothing but failures has a million.
    pub const COUNTED: u64 = 1000;

    pub fn asked(&self, direction: Direction) -> impl Iterator<Item = &Exchange> {
        let all = self.exchanges.iter();
        all.filter(move |exchange| exchange.direction == direction)
    }
}

#[derive(Clone, Debug)]
pub struct Cancelled {
    /// The request, with its answer if one came all the same.
    pub exchange: Exchange,
    /// When it was cancelled, if that is on record.
    pub t: Option<Moment>,
    pub said: Box<str>,
    /// Whether the request had a `progressToken`.
    pub has_token: bool,
    /// The next call with the same method, name and arguments.
    pub again: Option<Exchange>,
}

#[derive(Clone, Debug)]
pub struct Group {
    pub rule: Box<str>,
    /// How many, [`Self::COUNTED`] at most.
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
    /// Where in the message: the path of members from its top, escaped.
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
    pub const LOOKED_AT: u32 = 512;

    /// What stands in it, without its end.
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
        self.findings.iter().find(|group| &*group.rule == rule)
    }

    pub fn since(&self, t: Moment) -> u64 {
        self.now.0.saturating_sub(t.0)
    }

    /// Whether the server ended by itself, in whatever way: that is on record where the log of its
    /// host says so.
    pub fn ended_somehow(&self) -> bool {
        let exits = |kind: &EventKind| matches!(kind, EventKind::Exit { .. });
        self.end() == Some(&End::Unknown) && self.events_that(exits).next().is_some()
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

    pub fn was_told_to_end(&self) -> bool {
        self.told_to_end().is_some()
    }

    /// Whether the client went on after what begins a session: it said `initialized`, or asked for
    /// something else.
    pub fn went_on(&self) -> bool {
        self.confirmed || self.asked_more
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

    /// The exchanges that began a session with this method.
    pub fn openings(&self, method: &'static str) -> impl Iterator<Item = &Exchange> {
        let all = self.opening.iter();
        all.filter(move |exchange| &*exchange.method == method)
    }

    /// The answer to `initialize` or `server/discover` that was a result.
    pub fn opened(&self) -> Option<&Exchange> {
        let is_answered = |exchange: &&Exchange| {
            matches!(exchange.status, Status::Ok | Status::Late) && exchange.response.is_some()
        };
        self.opening.iter().find(is_answered)
    }

    pub fn events_that(&self, is: fn(&EventKind) -> bool) -> impl Iterator<Item = &Event> {
        self.events.iter().filter(move |event| is(&event.kind))
    }
}

// Calls that failed, by what was said of them.

/// Calls of one method and name that failed, [`Self::COUNTED`] at most.
#[derive(Clone, Debug)]
pub struct Failed {
    /// The calls that are told first: those that were answered in the same way most often.
    pub first: Alike,
    /// The others, the most frequent answers first; what was never answered comes last.
    pub others: Vec<Alike>,
    pub is_all: bool,
}

#[derive(Clone, Debug)]
pub struct Alike {
    pub exchange: Exchange,
    /// What it was answered, in a line of its own: that of an exchange has room for less.
    pub answer: Option<Box<str>>,
    /// The requests of all of them, in order.
    pub requests: Vec<Seq>,
}

impl Failed {
    /// Calls that are looked at; a tool may fail a million times.
    pub const COUNTED: u64 = 100;

    /// Calls in their order, told apart by what was answered. `None` if there are none.
    pub fn new(exchanges: Vec<Exchange>, is_all: bool) -> Option<Self> {
        let mut alike: Vec<(Way, Alike)> = Vec::new();
        for exchange in exchanges {
            let (way, request) = (Way::of(&exchange), exchange.request.0);
            if let Some((_, same)) = alike.iter_mut().find(|(other, _)| other.is_same(&way)) {
                same.requests.push(request);
                continue;
            }
            let one = Alike {
                answer: exchange.answered().map(Into::into),
                exchange,
                requests: vec![request],
            };
            alike.push((way, one));
        }
        let mut alike: Vec<_> = alike.into_iter().map(|(_, alike)| alike).collect();
        alike.sort_by_key(|one| {
            let is_silent = one.exchange.response.is_none();
            (is_silent, usize::MAX - one.requests.len())
        });
        let mut alike = alike.into_iter();
        Some(Self {
            first: alike.next()?,
            others: alike.collect(),
            is_all,
        })
    }

    /// All of them, in the order in which they are told.
    pub fn ways(&self) -> impl Iterator<Item = &Alike> {
        std::iter::once(&self.first).chain(&self.others)
    }

    pub fn count(&self) -> u64 {
        self.ways().map(|alike| alike.requests.len() as u64).sum()
    }
}

impl Alike {
    /// What the answer says, without the words that its status and its code say already.
    pub fn said(&self) -> Option<&str> {
        said(self.answer.as_deref()?, self.exchange.code.as_deref())
    }
}

fn said<'a>(answer: &'a str, code: Option<&str>) -> Option<&'a str> {
    let said = if let Some(rest) = answer.strip_prefix("tool error") {
        rest.strip_prefix(':').unwrap_or(rest)
    } else if let Some(rest) = answer.strip_prefix("error") {
        let rest = rest.trim_start();
        code.and_then(|code| rest.strip_prefix(code))
            .unwrap_or(rest)
    } else {
        answer
    };
    Some(said.trim()).filter(|said| !said.is_empty())
}

struct Way {
    status: Status,
    code: Option<Box<str>>,
    said: String,
}

impl Way {
    fn of(exchange: &Exchange) -> Self {
        let answer = exchange.answered().unwrap_or_default();
        let said = said(answer, exchange.code.as_deref()).unwrap_or_default();
        Self {
            status: exchange.status,
            code: exchange.code.clone(),
            said: without_ids(said),
        }
    }

    /// Of an answer that was cut where there was no more room for it, the beginning has to do.
    fn is_same(&self, other: &Self) -> bool {
        let (one, two) = (self.said.as_str(), other.said.as_str());
        let is_beginning = |part: &str, of: &str| {
            let part = part.strip_suffix('…');
            part.is_some_and(|part| of.trim_end_matches('…').starts_with(part))
        };
        let is_same = one == two || is_beginning(one, two) || is_beginning(two, one);
        is_same && self.status == other.status && self.code == other.code
    }
}

/// Words behind which a number says what happened, not to whom.
const BEFORE_CODES: [&str; 7] = ["http", "status", "code", "error", "errno", "exit", "signal"];

/// Letters of a word that may be a number or an id.
fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-')
}

/// A text with `0` in place of every word that has a digit in it: counts, times, ids. What stands
/// behind a word like `status` is kept.
fn without_ids(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    // The two words before, of which the second is the version in `HTTP/1.1 404`.
    let mut before = [String::new(), String::new()];
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if !is_of_word(first) {
            normal.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let (word, after) = rest.split_at(word_length(rest));
        let [second, first] = &before;
        let is_code = BEFORE_CODES.contains(&first.as_str()) || second == "http";
        if word.contains(|letter: char| letter.is_ascii_digit()) && !is_code {
            normal.push('0');
        } else {
            normal.push_str(word);
        }
        let [_, last] = before;
        before = [last, word.to_lowercase()];
        rest = after;
    }
    normal
}

/// Bytes of the word at the beginning of `text`; a point between digits belongs to a number.
fn word_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is_point = |at: usize| bytes[at] == b'.' && at > 0 && is_digit(at - 1) && is_digit(at + 1);
    let end = text
        .char_indices()
        .find(|(at, letter)| !is_of_word(*letter) && !is_point(*at));
    end.map_or(text.len(), |(at, _)| at)
}

// What may stand in that which the log has not that a recording was made from.

impl Facts {
    /// Whether the answer to a request may stand in what the log has not that the recording was made
    /// from.
    pub fn may_be_hidden(&self, asked: &Exchange) -> bool {
        let skips = |kind: &EventKind| matches!(kind, EventKind::Skipped { .. });
        let is_skipped = self
            .events_that(skips)
            .any(|event| event.after_seq >= asked.request.0);
        let shortened = self.found(named::FRAME_SHORTENED);
        is_skipped
            || shortened.is_some_and(|group| {
                let is_after = |frame: Seq| frame > asked.request.0;
                let mut first = group.first.iter();
                let is_seen =
                    first.any(|it| it.exchange.is_none() && it.frame.is_some_and(is_after));
                is_seen || group.count > group.first.len() as u64
            })
    }

    /// Whether the log that the recording was made from is known to lack something.
    pub fn is_partial(&self) -> bool {
        let skips = |kind: &EventKind| matches!(kind, EventKind::Skipped { .. });
        let lacks = self.events_that(skips).next().is_some();
        let is_open = || self.without_answer().any(|asked| self.may_be_hidden(asked));
        self.counts.gap_bytes > 0 || lacks || is_open()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(seq: u64, status: Status, answer: &str) -> Exchange {
        Exchange {
            request: (Seq(seq), 0),
            response: (!answer.is_empty()).then_some((Seq(seq + 1), 0)),
            status,
            summary: format!("tools/call t → {answer}").into(),
            ..Exchange::begun(
                mcpreel_wire::message::Direction::ClientToServer,
                mcpreel_wire::id::RequestId::from_json("1").expect("it is JSON"),
                "tools/call",
            )
        }
    }

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

    #[test]
    fn calls_are_told_apart_by_their_answers_the_most_frequent_first() {
        let calls = vec![
            call(1, Status::Lost, ""),
            call(3, Status::ToolError, "tool error: no station"),
            call(5, Status::ToolError, "tool error: quota of 100 is used up"),
            call(7, Status::ToolError, "tool error: quota of 7 is used up"),
        ];
        let failed = Failed::new(calls, true).unwrap();
        assert_eq!(failed.count(), 4);
        assert_eq!(failed.first.requests, [Seq(5), Seq(7)]);
        let others: Vec<_> = failed.others.iter().map(|one| one.requests[0]).collect();
        assert_eq!(others, [Seq(3), Seq(1)]);
        assert!(Failed::new(Vec::new(), true).is_none());
    }

    #[test]
    fn an_answer_that_was_cut_is_the_same_as_the_whole_one() {
        let failed = |answers: [&str; 2]| {
            let call = |(at, answer): (usize, &str)| {
                call(
                    at as u64,
                    Status::ToolError,
                    &format!("tool error: {answer}"),
                )
            };
            let calls = answers.into_iter().enumerate().map(call).collect();
            Failed::new(calls, true).unwrap().others.len()
        };
        assert_eq!(
            failed(["no station in…", "no station in Atlantis, not at 12 o'cl…"]),
            0
        );
        assert_eq!(failed(["no station in Atlantis", "no station…"]), 0);
        assert_eq!(failed(["no station…", "no quota…"]), 1);
    }

    #[test]
    fn what_the_status_says_is_not_said_again() {
        let said = |status, code: Option<&str>, answer: &str| {
            let mut one = call(1, status, answer);
            one.code = code.map(Into::into);
            let failed = Failed::new(vec![one], true).unwrap();
            failed.first.said().unwrap_or_default().to_owned()
        };
        assert_eq!(said(Status::ToolError, None, "tool error: quota"), "quota");
        assert_eq!(said(Status::ToolError, None, "tool error"), "");
        assert_eq!(
            said(Status::Error, Some("-32602"), "error -32602 Unknown tool"),
            "Unknown tool"
        );
        assert_eq!(said(Status::Error, Some("-32603"), "error -32603"), "");
    }
}
