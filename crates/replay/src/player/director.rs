//! Decides what is sent when, what is compared with what, and when the replay is over. Pure.
//!
//! This file has the walk through the recorded frames. `send` decides what goes out for a frame of
//! the client, `answers` what a live line means, `questions` what the server asks, `rounds` what is
//! asked again (rounds of input, polls of tasks), `notices` what the server tells, `ending` when it
//! is over, `conclusion` what is left to say then.

use super::calls::{Calls, Skipped, Tally};
use super::conclusion::Witness;
use super::ending::{Ending, Stage, Stop};
use super::player_notices::Notices;
use super::questions::Questions;
use super::rounds::Tasks;
use super::script::{Part, Step, What};
use super::{Options, Order};
use crate::diff::key::{self, Digest};
use crate::diff::{Judge, Report, Trouble};
use crate::rules::Side;
use bytes::Bytes;
use compact_str::CompactString;
use mcpreel_capture::gauge::STALL;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::Value;
use mcpreel_wire::message::Classifier;
use std::time::Duration;

/// Requests that are open at most: each takes memory. A recording in which more were open waits for
/// answers where the recorded client did not.
const MOST_OPEN: usize = 16_384;

/// What the director asks the recording for besides its steps.
pub trait Past {
    /// The bytes of a frame; `None` where they cannot be had.
    fn raw(&mut self, seq: Seq) -> Option<Bytes>;
    /// Whether the recorded client sends this handle, as a whole value or as a word of one, after
    /// the frame `seq`.
    fn sends_after(&mut self, seq: Seq, text: &str) -> bool;
    /// Whether the user wants this exchange.
    fn is_wanted(&mut self, exchange: &Exchange) -> bool;
    /// Whether the user wants only a part of the session. Then the server asks its questions
    /// earlier or later than in the recording, or not at all.
    fn is_part(&self) -> bool {
        false
    }
    /// Whether this frame of the client is not to be sent, whatever it is.
    fn leaves_out(&self, _seq: Seq) -> bool {
        false
    }
    /// Questions of the server in the recording after the exchange of the last one of `known`, as
    /// many as are worth looking ahead; none at the end.
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
    /// The answer to this request.
    Answer(Seq, CompactString),
    Answers(usize),
    /// This question of the server.
    Question(Seq, CompactString),
    /// This notification of the server.
    Notice(Seq, Box<str>),
    /// The server, to read what it was sent.
    Room,
    /// The moment at which the recorded client went on.
    Gap,
    End,
}

#[derive(Debug)]
pub struct Director {
    pub(super) options: Options,
    pub(super) judge: Judge,
    pub(super) ending: Ending,
    pub(super) walk: Walk,
    pub(super) calls: Calls,
    pub(super) questions: Questions,
    pub(super) notices: Notices,
    pub(super) skipped: Skipped,
    pub(super) tasks: Tasks,
    pub(super) tally: Tally,
    pub(super) action: Action,
    pub(super) classifier: Classifier,
    pub(super) began: Moment,
}

/// Where the walk through the recorded frames is.
#[derive(Debug, Default)]
pub(super) struct Walk {
    current: Option<Step>,
    hold: Option<Hold>,
    over: bool,
    /// When the frame before was recorded, and when the walk went on from it.
    before: Option<(Moment, Moment)>,
}

/// Why the walk waits, and until when at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hold {
    pub waits: Waits,
    pub until: Option<Moment>,
}

impl Hold {
    pub fn new(waits: Waits, until: Option<Moment>) -> Self {
        Self { waits, until }
    }
}

impl Walk {
    pub fn is_over(&self) -> bool {
        self.over && self.current.is_none()
    }

    pub fn until(&self) -> Option<Moment> {
        self.hold.as_ref()?.until
    }

    pub fn current(&self) -> Option<&Step> {
        self.current.as_ref()
    }

    /// The time between the frame before and `step` in the recording; zero where its clock went
    /// back.
    fn gap(&self, step: &Step) -> Duration {
        let before = self.before.map_or(Moment(0), |(recorded, _)| recorded);
        step.head.t_first.since(before)
    }
}

impl Director {
    /// A director that has sent nothing yet; it is `now`.
    pub fn new(options: Options, judge: Judge, now: Moment) -> Self {
        Self {
            options,
            judge,
            ending: Ending::default(),
            walk: Walk::default(),
            calls: Calls::default(),
            questions: Questions::default(),
            notices: Notices::default(),
            skipped: Skipped::default(),
            tasks: Tasks::default(),
            tally: Tally::default(),
            action: Action::default(),
            classifier: Classifier::default(),
            began: now,
        }
    }

    /// What is to be done since the last time.
    pub fn take_action(&mut self) -> Action {
        std::mem::take(&mut self.action)
    }

    /// Bytes that are to be sent and were not taken yet.
    pub fn unsent(&self) -> usize {
        self.action.send.len()
    }

    pub fn want(&self) -> Want {
        match self.ending.stage {
            Stage::Over => Want::Nothing,
            Stage::Walking if self.walk.current.is_none() && !self.walk.over => Want::Step,
            _ => Want::Wait(self.next_moment()),
        }
    }

    pub fn waits(&self, now: Moment) -> Waits {
        let is_stuck = |(_, since): (u64, Moment)| now.since(since) >= STALL;
        if self.may_write() && self.ending.unread.is_some_and(is_stuck) {
            return Waits::Room;
        }
        match (self.ending.stage, &self.walk.hold) {
            (Stage::Walking, Some(hold)) => hold.waits.clone(),
            (Stage::Walking, None) => Waits::Nothing,
            (Stage::Settling { .. }, _) => Waits::Answers(self.calls.awaited()),
            _ => Waits::End,
        }
    }

    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    pub fn stopped(&self) -> Option<&Stop> {
        self.ending.stop.as_ref()
    }

    /// What came of the replay, once it is over.
    pub fn finish(mut self, witness: &Witness) -> (Report, Tally) {
        self.conclude(witness);
        for rule in self.options.binder.fired() {
            self.judge.rules().fired(rule);
        }
        self.tally.bound = self.options.binder.bound();
        self.tally.forgotten = self.options.binder.forgotten();
        (self.judge.finish(), self.tally)
    }

    /// What came of a replay whose server could not be started: why, escaped.
    pub fn not_started(mut self, why: Box<str>) -> (Report, Tally) {
        self.judge.trouble(Trouble::Target, why);
        (self.judge.finish(), self.tally)
    }

    /// By which words a request of the server is known.
    pub(super) fn words(&self, request: Value<'_>, side: Side, wall_ns: Option<u64>) -> Digest {
        key::words(request, side, &self.options.binder.rewrites, wall_ns)
    }

    /// A moment of the recording, nanoseconds since the Unix epoch.
    pub(super) fn recorded_wall(&self, t: Moment) -> Option<u64> {
        self.options.recorded_wall_ns.checked_add(t.0)
    }
}

/// The walk.
impl Director {
    /// Offers the next recorded frame; `None`: there is none.
    pub fn offer(&mut self, step: Option<Step>, scene: &mut Scene<'_>) {
        match step {
            Some(step) => self.walk.current = Some(step),
            None => self.walk.over = true,
        }
        self.go(scene);
    }

    pub(super) fn go(&mut self, scene: &mut Scene<'_>) {
        if !self.is_walking() {
            return self.settle(scene.now);
        }
        if let Some(step) = self.walk.current.take() {
            self.walk.hold = self.hold(&step, scene);
            if let Some(hold) = &self.walk.hold {
                let is_for_server = hold.waits != Waits::Gap;
                self.walk.current = Some(step);
                let at = is_for_server
                    .then(|| self.answer_questions(scene))
                    .flatten();
                if let Some(hold) = &mut self.walk.hold {
                    hold.until = hold.until.into_iter().chain(at).min();
                }
            } else {
                let gap = self.walk.gap(&step);
                self.walk.before = Some((step.head.t_last, scene.now));
                self.pass(step, gap, scene);
            }
        }
        if self.walk.is_over() {
            self.settle_down(scene.now);
        }
    }

    fn hold(&mut self, step: &Step, scene: &Scene<'_>) -> Option<Hold> {
        if step.is_from_server() {
            return step.parts.iter().find_map(|part| self.unanswered(part));
        }
        let is_answer = matches!(step.single(), Some(What::Answers(_)));
        // A frame that is not sent waits for nothing.
        if !step.is_from_client() || is_answer || scene.past.leaves_out(step.head.seq) {
            return None;
        }
        self.hold_client(step, scene.now)
    }

    /// Why a request or notification of the client cannot be sent yet.
    fn hold_client(&mut self, step: &Step, now: Moment) -> Option<Hold> {
        if let Some(hold) = self.questions.held(&self.calls, now) {
            return Some(hold);
        }
        let serial = self.options.order == Order::Serial && self.calls.awaited() > 0;
        if serial || self.calls.len() >= MOST_OPEN {
            return Some(Hold::new(Waits::Answers(self.calls.awaited()), None));
        }
        let hold = self.notices.held(step, &self.calls, now);
        hold.or_else(|| self.hold_gap(step, now))
    }

    fn hold_gap(&self, step: &Step, now: Moment) -> Option<Hold> {
        let Order::Timed { speed, max_gap } = self.options.order else {
            return None;
        };
        let (_, passed) = self.walk.before?;
        let gap = self.walk.gap(step).min(max_gap);
        let gap = gap.div_f64(speed.max(f64::MIN_POSITIVE));
        let until = passed + gap.min(max_gap * 1000);
        (now < until).then(|| Hold::new(Waits::Gap, Some(until)))
    }

    /// Whether the walk has to wait for the answer that `part` is.
    fn unanswered(&self, part: &Part) -> Option<Hold> {
        let What::Answers(id) = part.what else {
            return None;
        };
        let call = self.calls.get(id).filter(|call| call.is_awaited())?;
        let exchange = &call.exchange;
        let waits = Waits::Answer(exchange.request.0, exchange.method.clone());
        Some(Hold::new(waits, None))
    }

    /// Does what a frame wants, which came so long after the one before.
    fn pass(&mut self, step: Step, gap: Duration, scene: &mut Scene<'_>) {
        if step.is_from_server() {
            self.pass_server(step, gap, scene);
        } else if let Some(What::Answers(id)) = step.single() {
            self.pass_answer(*id, &step, scene);
        } else if step.is_from_client() {
            self.send(step, scene);
        }
    }

    fn pass_server(&mut self, step: Step, gap: Duration, scene: &Scene<'_>) {
        if step.parts.is_empty() {
            self.tally.noise[0] += 1;
        }
        let busy = self.calls.len() > 0;
        for part in step.parts {
            match part.what {
                What::Asks(exchange) => {
                    let unwanted = exchange.parent.is_some_and(|id| self.skipped.has(id));
                    self.questions.pass(*exchange, unwanted, gap, scene.now);
                }
                What::Tells(message) => {
                    let is_lost = self.skipped.was_latest();
                    self.notices.pass(&step.head, &message, busy, is_lost);
                }
                What::Answers(_) => {}
                What::Other => self.tally.strays[0] += 1,
            }
        }
    }
}
