//! What is known of a recording when its cause is looked for: bounded, whatever its length.

use crate::protocol::message::Direction;
use crate::trace::clock::Moment;
use crate::trace::event::{Event, EventKind, ProcessContext};
use crate::trace::exchange::{Exchange, Status};
use crate::trace::frame::{FrameHead, Seq, StreamId, Unfinished};
use crate::trace::session::{End, Session, Side};

/// What is known of a recording.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// Who asked for what, where.
    pub context: ProcessContext,
    /// Who spoke, what they agreed on, how it ended.
    pub session: Session,
    /// Whether somebody still records.
    pub is_live: bool,
    /// Now, of a live recording; else when the last thing on record happened.
    pub now: Moment,
    /// How much there is.
    pub counts: Counts,
    /// The first and the last events, in order.
    pub events: Vec<Event>,
    /// The first requests that begin a session: `initialize` and `server/discover`.
    pub opening: Vec<Exchange>,
    /// Whether the client said `initialized`, among the first messages.
    pub confirmed: bool,
    /// The first message of the server, among the first messages.
    pub first_said: Option<Seq>,
    /// The last answer with a result, among the last exchanges.
    pub last_answer: Option<Seq>,
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
    /// Answers with an error, and tools that failed.
    pub failed: Vec<Failed>,
    /// Requests that were cancelled.
    pub given_up: Vec<GivenUp>,
    /// Calls that were never answered, each with the same call that came later.
    pub again: Vec<(Exchange, Exchange)>,
    /// What the rules found.
    pub findings: Vec<Group>,
    /// The first lines on the streams of the protocol that are no messages.
    pub noise: Vec<Line>,
    /// The last lines of stderr, in order.
    pub last_words: Vec<Line>,
    /// Lines whose ends have not come yet.
    pub unfinished: Vec<Unfinished>,
    /// Very long frames of the server: those that rules point at, and those at the end.
    pub long: Vec<FrameHead>,
}

/// How much is on record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames.
    pub frames: u64,
    /// Messages.
    pub messages: u64,
    /// Exchanges.
    pub exchanges: u64,
    /// Exchanges that failed.
    pub failed: u64,
    /// Findings.
    pub findings: u64,
    /// Bytes that were forwarded but are not on record.
    pub gap_bytes: u64,
    /// Bytes of stderr.
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

    /// Those that one side asked.
    pub fn asked(&self, direction: Direction) -> impl Iterator<Item = &Exchange> {
        let all = self.exchanges.iter();
        all.filter(move |exchange| exchange.direction == direction)
    }
}

/// Calls of one method and name that failed.
#[derive(Clone, Debug)]
pub struct Failed {
    /// The first.
    pub exchange: Exchange,
    /// The requests of them, [`Self::COUNTED`] at most.
    pub requests: Vec<Seq>,
    /// Whether these are all.
    pub is_all: bool,
}

impl Failed {
    /// Requests that are named; a tool may fail a million times.
    pub const COUNTED: u64 = 100;
}

/// A request that was cancelled.
#[derive(Clone, Debug)]
pub struct GivenUp {
    /// It.
    pub exchange: Exchange,
    /// When it was cancelled.
    pub t: Option<Moment>,
    /// The cancellation in one line.
    pub said: Box<str>,
    /// Whether the request had a `progressToken`.
    pub has_token: bool,
    /// The next call with the same method, name and arguments.
    pub again: Option<Exchange>,
}

/// Findings of one rule.
#[derive(Clone, Debug)]
pub struct Group {
    /// The rule.
    pub rule: Box<str>,
    /// How many, [`Self::COUNTED`] at most.
    pub count: u64,
    /// Whether these are all.
    pub is_all: bool,
    /// The first few.
    pub first: Vec<Found>,
}

impl Group {
    /// Findings that are counted; a rule may find a million.
    pub const COUNTED: u64 = 1000;
}

/// A finding.
#[derive(Clone, Debug)]
pub struct Found {
    /// Whether it is an error.
    pub is_error: bool,
    /// The frame that it points at.
    pub frame: Option<Seq>,
    /// What was found, escaped.
    pub detail: Box<str>,
}

/// A line without a message.
#[derive(Clone, Debug)]
pub struct Line {
    /// Where it is.
    pub seq: Seq,
    /// On which stream.
    pub stream: StreamId,
    /// When it was complete.
    pub t: Moment,
    /// Its beginning.
    pub bytes: Box<[u8]>,
}

impl Line {
    /// Bytes of a line that are looked at.
    pub const LOOKED_AT: u32 = 512;

    /// What stands in it, without its end.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        self.bytes.trim_ascii_end()
    }
}

impl Facts {
    /// How it ended.
    #[must_use]
    pub fn end(&self) -> Option<&End> {
        self.session.phase.end()
    }

    /// The findings of a rule, if there are any.
    #[must_use]
    pub fn found(&self, rule: &str) -> Option<&Group> {
        self.findings.iter().find(|group| &*group.rule == rule)
    }

    /// Nanoseconds since `t`.
    #[must_use]
    pub fn since(&self, t: Moment) -> u64 {
        self.now.0.saturating_sub(t.0)
    }

    /// When the host closed its side, if it was the first to do so.
    #[must_use]
    pub fn host_left(&self) -> Option<Moment> {
        let closed = self.session.closed_first?;
        (closed.by == Side::Host).then_some(closed.t)
    }

    /// Whether the host closed its side within `patience` nanoseconds after `t`, as somebody does
    /// who does not like what came.
    #[must_use]
    pub fn host_left_after(&self, t: Moment, patience: u64) -> bool {
        self.host_left()
            .is_some_and(|left| left >= t && left.0 - t.0 <= patience)
    }

    /// When somebody told the server to end: its input was closed, or a signal came.
    #[must_use]
    pub fn told_to_end(&self) -> Option<Moment> {
        let is_signal = |event: &&Event| matches!(event.kind, EventKind::Signal { .. });
        let signal = self.events.iter().find(is_signal).map(|event| event.t);
        self.host_left().into_iter().chain(signal).min()
    }

    /// Whether somebody told it.
    #[must_use]
    pub fn was_told_to_end(&self) -> bool {
        self.told_to_end().is_some()
    }

    /// Whether a request of the client other than those that begin a session was answered, or at
    /// least asked.
    #[must_use]
    pub fn went_on(&self) -> bool {
        let openings = self.opening.len() as u64;
        self.confirmed || self.counts.exchanges > openings
    }

    /// Whether requests were still answered after `seq`: whatever it is, both sides live with it.
    #[must_use]
    pub fn survived(&self, seq: Seq) -> bool {
        self.last_answer.is_some_and(|last| last > seq)
    }

    /// The exchanges that began a session with this method.
    pub fn openings(&self, method: &'static str) -> impl Iterator<Item = &Exchange> {
        let all = self.opening.iter();
        all.filter(move |exchange| &*exchange.method == method)
    }

    /// The answer to `initialize` or `server/discover` that was a result.
    #[must_use]
    pub fn opened(&self) -> Option<&Exchange> {
        let is_answered = |exchange: &&Exchange| {
            matches!(exchange.status, Status::Ok | Status::Late) && exchange.response.is_some()
        };
        self.opening.iter().find(is_answered)
    }

    /// The events of some kinds.
    pub fn events_that(&self, is: fn(&EventKind) -> bool) -> impl Iterator<Item = &Event> {
        self.events.iter().filter(move |event| is(&event.kind))
    }

    /// The lines of stderr that were said together at the last, the latest first; none if that
    /// was long before the end.
    pub fn last_said(&self) -> impl Iterator<Item = &Line> + Clone {
        let last = self.last_words.last().map_or(Moment(0), |line| line.t);
        let is_old = self.end().is_some() && self.since(last) > LONG_BEFORE_NS;
        let together = move |line: &&Line| {
            !is_old && !line.text().is_empty() && last.0 - line.t.0.min(last.0) <= TOGETHER_NS
        };
        self.last_words.iter().rev().filter(together)
    }

    /// The one of them that says most: the last that names an error, else the last.
    #[must_use]
    pub fn telling(&self) -> Option<&Line> {
        let mut said = self.last_said();
        let telling = |line: &&Line| names_error(line.text());
        said.clone().find(telling).or_else(|| said.next())
    }
}

/// Lines of stderr that are no further apart belong together, nanoseconds.
const TOGETHER_NS: u64 = 5_000_000_000;

/// What was said longer before the end has nothing to do with it, nanoseconds.
const LONG_BEFORE_NS: u64 = 10_000_000_000;

/// Words in lines that say what went wrong. Lines that begin with a space are places of a stack.
const ERRORS: [&[u8]; 9] = [
    b"error",
    b"exception",
    b"panic",
    b"fatal",
    b"cannot",
    b"not found",
    b"denied",
    b"failed",
    b"no such",
];

fn names_error(line: &[u8]) -> bool {
    let line = line.to_ascii_lowercase();
    let holds = |word: &[u8]| line.windows(word.len()).any(|part| part == word);
    !line.first().is_none_or(u8::is_ascii_whitespace) && ERRORS.iter().any(|word| holds(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn telling(lines: &[&str]) -> String {
        let line = |text: &&str| Line {
            seq: Seq(1),
            stream: StreamId::STDERR,
            t: Moment(0),
            bytes: text.as_bytes().into(),
        };
        let facts = Facts {
            last_words: lines.iter().map(line).collect(),
            ..Facts::default()
        };
        let line = facts.telling().map(|line| line.text().to_vec());
        String::from_utf8(line.unwrap_or_default()).unwrap()
    }

    #[test]
    fn of_the_last_words_the_one_that_names_an_error_is_told() {
        let node = [
            "Error: Cannot find module '/srv/index.js'",
            "    at Module._resolve (node:internal:1:1) error",
            "",
            "Node.js v22.1.0",
            "",
        ];
        assert_eq!(telling(&node), node[0]);
        assert_eq!(telling(&["starting", "bye\n", " "]), "bye");
        assert_eq!(telling(&[]), "");
    }
}
