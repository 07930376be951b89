//! Decides what is sent when. Pure, but for reading the recording.
//!
//! The walk goes through the recorded frames in the order of their numbers. Before a frame is passed
//! it may have to wait:
//!
//! | recorded frame | waits for | passing it |
//! |---|---|---|
//! | answer of the server | the live answer | |
//! | cancel of an open request | its answer, for as long as in the recording | sends it if there is none |
//! | request or notification of the client | a question of the server; an answer, if there is to be only one request at a time; a notification that is due; the recorded gap (`--order timed`, and polls of tasks) | sends it |
//! | answer of the client | | sends it once the live question is there |
//! | anything else of the server | | is noted |
//!
//! `requests` decides what goes out for a frame of the client, `answers` what a live line means,
//! `questions` what the server is answered, `stages` when the replay is over, and `conclusion` what is
//! left to say then.

use super::calls::{Call, Calls, Notices, Skipped, Tally, named};
use super::questions::Questions;
use super::script::{Script, Step, What};
use super::stages::{Ending, Stage};
use super::{Options, Order};
use crate::diff::key::{self, Digest};
use crate::diff::{Class, Judge, Occurrence};
use crate::rules::Side;
use mcpreel_store::reader::ReadError;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::Value;
use mcpreel_wire::message::{Classifier, Notification, Subject};
use mcpreel_wire::text::{escape, plural};
use std::time::Duration;

/// Requests that are open at most. A recording in which more were open waits for answers where the
/// recorded client did not.
const MOST_OPEN: usize = 1024;

/// Steps of the walk between two looks at the server.
const STEPS: usize = 256;

/// The walk stops while more bytes wait to be written: they would only cost memory.
const ROOM: usize = 128 * 1024;

/// A poll of a task waits as long as on record, and this long at most.
const POLL: Duration = Duration::from_secs(30);

/// Actions to be done, in this order.
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

/// Where the walk through the recorded frames is.
#[derive(Debug, Default)]
pub(super) struct Walk {
    current: Option<Step>,
    pub hold: Option<Hold>,
    over: bool,
    /// When the frame before was recorded, and when the walk went on from it.
    before: Option<(Moment, Moment)>,
}

/// Why the walk waits, and until when at most.
#[derive(Debug)]
pub(super) struct Hold {
    /// The message of the server for which the walk waits, escaped.
    pub waits: Option<String>,
    pub until: Option<Moment>,
}

/// The state of a replay.
pub struct Director<'r> {
    pub(super) options: Options,
    pub(super) judge: Judge,
    pub(super) script: Script<'r>,
    pub(super) ending: Ending,
    pub(super) walk: Walk,
    pub(super) calls: Calls,
    pub(super) questions: Questions,
    pub(super) notices: Notices,
    pub(super) skipped: Skipped,
    pub(super) tally: Tally,
    pub(super) action: Action,
    pub(super) classifier: Classifier,
    pub(super) began: Moment,
    pub(super) now: Moment,
}

impl<'r> Director<'r> {
    /// A director that has sent nothing yet; it is `now`.
    pub fn new(
        options: Options,
        judge: Judge,
        script: Script<'r>,
        now: Moment,
    ) -> Result<Self, ReadError> {
        Ok(Self {
            options,
            judge,
            ending: Ending::default(),
            walk: Walk::default(),
            calls: Calls::default(),
            questions: Questions::new(script.questions()?),
            notices: Notices::default(),
            skipped: Skipped::default(),
            tally: Tally::default(),
            action: Action::default(),
            classifier: Classifier::default(),
            script,
            began: now,
            now,
        })
    }

    /// Takes the actions since the last call.
    pub fn take_action(&mut self) -> Action {
        std::mem::take(&mut self.action)
    }

    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The number of requests of the client in the recording.
    pub fn requests(&self) -> Result<u64, ReadError> {
        self.script.requests()
    }

    /// The digest by which a request of the server is known.
    pub(super) fn words(&self, request: Value<'_>, side: Side, wall_ns: Option<u64>) -> Digest {
        key::words(request, side, &self.options.binder.rewrites, wall_ns)
    }

    /// A moment of the recording, nanoseconds since the Unix epoch.
    pub(super) fn recorded_wall(&self, t: Moment) -> Option<u64> {
        self.options.recorded_wall_ns.checked_add(t.0)
    }

    /// A recorded exchange as the left side of a comparison.
    pub(super) fn recorded<'a>(
        &self,
        exchange: &'a Exchange,
        response: Option<&'a [u8]>,
    ) -> Occurrence<'a> {
        Occurrence {
            response,
            ..Occurrence::of(exchange, self.options.recorded_wall_ns)
        }
    }

    /// Tells a difference that belongs to no exchange.
    pub(super) fn say(&mut self, class: Class, text: &str, left: Option<Seq>) {
        self.judge.remark(class, [left, None], "", text);
    }
}

/// The walk.
impl Director<'_> {
    /// Goes through recorded frames as far as their order and the server allow.
    pub fn walk(&mut self, now: Moment) -> Result<(), ReadError> {
        self.now = now;
        for _ in 0..STEPS {
            if self.ending.stage != Stage::Walking {
                break;
            }
            if self.may_step() {
                self.walk.current = self.script.next_step()?;
                self.walk.over = self.walk.current.is_none();
            }
            let Some(step) = self.walk.current.take() else {
                break;
            };
            let gap = self.gap(&step);
            if let Some(mut hold) = self.hold(&step, gap) {
                self.walk.current = Some(step);
                if hold.waits.is_some() {
                    let answers = self.answer_late();
                    hold.until = hold.until.into_iter().chain(answers).min();
                }
                self.walk.hold = Some(hold);
                break;
            }
            self.walk.hold = None;
            self.walk.before = Some((step.head.t_last, now));
            self.pass(step, gap);
        }
        if self.ending.stage == Stage::Walking && self.is_at_the_end() {
            self.ending.stage = Stage::Settling(now);
        }
        self.settle();
        Ok(())
    }

    /// Whether the walk can go on from where it is.
    pub(super) fn may_step(&self) -> bool {
        let has_room = self.action.send.len() < ROOM && self.ending.unread.is_none();
        has_room && self.walk.current.is_none() && !self.walk.over
    }

    pub(super) fn is_at_the_end(&self) -> bool {
        self.walk.over && self.walk.current.is_none()
    }

    /// The time between the frame before and `step` in the recording; zero where its clock went
    /// back.
    fn gap(&self, step: &Step) -> Duration {
        let before = self.walk.before.map_or(Moment(0), |(recorded, _)| recorded);
        step.head.t_first.since(before)
    }

    /// Why `step` has to wait, if it has to; `gap` is its recorded distance from the frame before.
    fn hold(&mut self, step: &Step, gap: Duration) -> Option<Hold> {
        let hold = |waits: String, until| {
            let waits = Some(waits);
            Some(Hold { waits, until })
        };
        if let What::Answers(id) = step.what {
            let call = self.calls.0.get(&id).filter(|call| call.is_awaited());
            let call = call.filter(|_| step.is_from_server())?;
            return hold(format!("the answer to {}", named(&call.exchange)), None);
        }
        // A frame that is not sent waits for nothing.
        if !step.is_from_client() || self.script.leaves_out(step.head.seq) {
            return None;
        }
        if let Some((exchange, until)) = self.questions.held(&self.calls, self.now) {
            return hold(format!("the server to ask {}", named(exchange)), until);
        }
        if let What::Tells(message) = &step.what
            && let Some((call, after)) = cancelled(message).and_then(|id| self.given_up(id))
            && self.now < call.sent + after
            && self.questions.unanswered().next().is_none()
        {
            let waits = format!("the answer to {}", named(&call.exchange));
            return hold(waits, Some(call.sent + after));
        }
        let awaited = self.calls.awaited().count();
        let is_serial = self.options.order == Order::Serial;
        if is_serial && awaited > 0 || self.calls.0.len() >= MOST_OPEN {
            return hold(plural(awaited as u64, "answer"), None);
        }
        if let Some((notice, until)) = self.notices.held(step, self.now) {
            let (method, seq) = (escape(&notice.told.0), notice.seq.0);
            return hold(format!("{method} (#{seq})"), Some(until));
        }
        let is_poll = matches!(&step.what, What::Asks(it) if it.method == "tasks/get");
        let gap = match self.options.order {
            Order::Timed { speed, max_gap } => {
                let gap = gap.min(max_gap).div_f64(speed.max(f64::MIN_POSITIVE));
                gap.min(max_gap * 1000)
            }
            Order::Causal | Order::Serial if is_poll => gap.min(POLL),
            Order::Causal | Order::Serial => return None,
        };
        let until = self.walk.before?.1 + gap;
        (self.now < until).then_some(Hold {
            waits: None,
            until: Some(until),
        })
    }

    /// The open call with this id of the recorded client, and how long that waited for its answer.
    fn given_up(&self, id: &RequestId) -> Option<(&Call, Duration)> {
        let call = self.calls.0.get(&self.calls.by_id(&self.as_sent(id))?)?;
        Some(call)
            .filter(|call| !call.cancelled)
            .zip(call.cancelled_after)
    }

    /// Does what a frame wants, which came so long after the one before.
    fn pass(&mut self, step: Step, gap: Duration) {
        match step.what {
            What::Answers(id) if step.is_from_client() => self.pass_answer(id),
            _ if step.is_from_client() => self.send(step),
            _ if !step.is_from_server() => {}
            What::Asks(exchange) => {
                let parent = exchange.parent;
                let unwanted = parent.is_some_and(|id| self.skipped.exchanges.contains(&id));
                self.questions.pass(exchange.id, unwanted, gap, self.now);
            }
            What::Tells(message) => {
                let cause = (!self.calls.0.is_empty(), !self.skipped.latest);
                self.notices.pass(&step.head, &message, cause, self.now);
            }
            What::Stray(_) => self.tally.strays[0] += 1,
            What::Noise => self.tally.noise[0] += 1,
            What::Answers(_) | What::Batch(_) => {}
        }
    }
}

/// The id of the request that a notification cancels.
pub(super) fn cancelled(notification: &Notification) -> Option<&RequestId> {
    match &notification.subject {
        Subject::Cancelled { request_id, .. } => request_id.as_ref(),
        _ => None,
    }
}
