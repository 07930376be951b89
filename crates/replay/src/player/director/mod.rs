//! Decides what is sent when, what is compared with what, and when it is over. Pure.
//!
//! | file | what it decides |
//! |---|---|
//! | `walk` | what the recorded frames want, one after the other |
//! | `send`, `held` | what goes out for a frame of the client, or why nothing does |
//! | `arrive` | what a live line is, and whom it concerns |
//! | `settle` | what an answer means for what comes later |
//! | `rounds` | what the server wants to know before it answers |
//! | `tasks` | what is asked again, since a task is still at work |
//! | `sides` | the two sides of a comparison |
//! | `calls` | the requests that wait for their answers |
//! | `asks`, `asked` | what the server asks, then and now |
//! | `notices`, `order`, `listening`, `progress` | what the server tells |
//! | `ending` | deadlines, the end of the server, the end of everything |
//! | `conclude`, `leftover` | what is left to be said then |

mod arrive;
mod asked;
mod asks;
mod calls;
mod conclude;
mod ending;
mod held;
mod leftover;
mod listening;
mod notices;
mod order;
mod progress;
mod rounds;
mod send;
mod settle;
mod sides;
mod skipped;
mod tally;
mod tasks;
mod walk;

pub use conclude::Witness;
pub use ending::{Ended, Stop};
pub use tally::{GivenUp, Refusal, Tally};

use super::options::Options;
use crate::judge::{self, Judge};
use crate::key::{self, Digest};
use crate::report::{Report, Trouble};
use crate::rules::Side;
use asks::Asks;
use bytes::Bytes;
use calls::Calls;
use compact_str::CompactString;
use ending::{Ending, Stage};
use mcpreel_capture::gauge::STALL;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::Value;
use mcpreel_wire::message::Classifier;
use notices::Notices;
use progress::Tokens;
use skipped::Skipped;
use tasks::Tasks;
use walk::Walk;

/// What the director asks the recording for besides its steps.
pub trait Past {
    /// The bytes of a frame; `None` where they cannot be had.
    fn raw(&mut self, seq: Seq) -> Option<Bytes>;
    /// Whether the recorded client sends this handle, as a whole value or as a word of one, after the
    /// frame `seq`.
    fn sends_after(&mut self, seq: Seq, text: &str) -> bool;
    /// Whether the user wants this exchange.
    fn is_wanted(&mut self, exchange: &Exchange) -> bool;
    /// Whether the user wants only a part of the session. Then what the server asks comes earlier or
    /// later than in the recording, or not at all.
    fn is_part(&self) -> bool {
        false
    }
    /// Whether this frame of the client is not to be sent, whatever it is.
    fn leaves_out(&self, _seq: Seq) -> bool {
        false
    }
    /// What the server asks in the recording after the exchange of the last one of `known`, as far
    /// as is worth looking ahead, also where nothing more is sent; nothing where there is no more.
    fn asked_later(&mut self, known: Option<&Exchange>) -> Vec<Exchange>;
}

/// A moment, and the recording at hand.
pub struct Scene<'a> {
    pub now: Moment,
    pub past: &'a mut dyn Past,
}

/// What is to be done, in this order.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Action {
    pub send: Vec<u8>,
    pub close: bool,
    pub signal: Option<Deadly>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Deadly {
    Term,
    Kill,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// The next recorded frame, or that there is none.
    Step,
    /// Something from the server, or that it is this moment.
    Wait(Option<Moment>),
    Nothing,
}

/// What is waited for. Texts are as on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Waits {
    Nothing,
    /// For the answer to this request.
    Answer(Seq, CompactString),
    Answers(usize),
    /// For this question of the server.
    Question(Seq, CompactString),
    /// For this notification of the server.
    Notice(Seq, Box<str>),
    Room,
    /// For the moment at which the recorded client went on.
    Gap,
    End,
}

#[derive(Debug)]
pub struct Director {
    options: Options,
    judge: Judge,
    ending: Ending,
    walk: Walk,
    calls: Calls,
    asks: Asks,
    notices: Notices,
    skipped: Skipped,
    tasks: Tasks,
    tokens: Tokens,
    /// Log messages, then and now, where they are compared.
    logs: [judge::Notices; 2],
    tally: Tally,
    action: Action,
    classifier: Classifier,
    began: Moment,
}

impl Director {
    /// Nothing was sent yet; it is `now`.
    pub fn new(options: Options, judge: Judge, now: Moment) -> Self {
        let notices = Notices::new(options.binder.fresh_ids);
        Self {
            options,
            judge,
            ending: Ending::default(),
            walk: Walk::default(),
            calls: Calls::default(),
            asks: Asks::default(),
            notices,
            skipped: Skipped::default(),
            tasks: Tasks::default(),
            tokens: Tokens::default(),
            logs: Default::default(),
            tally: Tally::default(),
            action: Action::default(),
            classifier: Classifier::default(),
            began: now,
        }
    }

    /// What is to be done since this was asked last.
    pub fn take_action(&mut self) -> Action {
        std::mem::take(&mut self.action)
    }

    /// Bytes that are to be sent, not taken yet.
    pub fn unsent(&self) -> usize {
        self.action.send.len()
    }

    pub fn want(&self) -> Want {
        match self.ending.stage {
            Stage::Over => Want::Nothing,
            Stage::Walking if self.walk.wants_step() => Want::Step,
            _ => Want::Wait(self.next_moment()),
        }
    }

    pub fn waits(&self, now: Moment) -> Waits {
        let is_stuck = |(_, since): (u64, Moment)| now.since(since) >= STALL;
        if self.may_write() && self.ending.unread.is_some_and(is_stuck) {
            return Waits::Room;
        }
        match self.ending.stage {
            Stage::Walking => self.walk.waits(),
            Stage::Settling { .. } => Waits::Answers(self.calls.awaited()),
            _ => Waits::End,
        }
    }

    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    pub fn stopped(&self) -> Option<&Stop> {
        self.ending.stop.as_ref()
    }

    /// What came of it; to be asked once it is over.
    pub fn finish(mut self, witness: &Witness) -> (Report, Tally) {
        self.conclude(witness);
        for rule in self.options.binder.fired() {
            self.judge.rules().fired(rule);
        }
        self.tally.bound = self.options.binder.bound();
        self.tally.forgotten = self.options.binder.forgotten();
        (self.judge.finish(), self.tally)
    }

    /// What came of it where there was no server: why, escaped.
    pub fn not_started(mut self, why: Box<str>) -> (Report, Tally) {
        self.judge.trouble(Trouble::Target, why);
        (self.judge.finish(), self.tally)
    }

    /// By which words a request of the server is known.
    fn words(&self, request: Value<'_>, side: Side, wall_ns: Option<u64>) -> Digest {
        key::words(request, side, &self.options.binder.rewrites, wall_ns)
    }

    /// Nanoseconds of a moment of the recording since the Unix epoch.
    fn recorded_wall(&self, t: Moment) -> Option<u64> {
        self.options.recorded_wall_ns.checked_add(t.0)
    }
}
