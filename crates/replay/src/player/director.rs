//! Decides what is sent when, and when the replay is over. Pure, but for reading the recording.
//!
//! This file has the walk through the recorded frames, the deadlines, and the stages of a replay:
//!
//! ```text
//!  walking ──▶ settling ──▶ closing ─2, 10 s─▶ SIGTERM ──2 s──▶ SIGKILL ──▶ over
//!     │            │           ▲
//!     ├─ hang ─────┴───────────┤
//!     └─ the server ends ─▶ leaving (what it said last is read)
//! ```
//!
//! `requests` decides what goes out for a frame of the client, `answers` what a live line means,
//! `conclusion` what is left to say in the end.

use super::calls::{Calls, Skipped, Tally};
use super::player_notices::Notices;
use super::questions::Questions;
use super::script::{Script, Step, What};
use super::{Options, Order};
use crate::diff::key::{self, Digest};
use crate::diff::{Class, Judge, Occurrence, Remark};
use crate::rules::Side;
use compact_str::CompactString;
use mcpreel_capture::gauge::STALL;
use mcpreel_store::reader::ReadError;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::session::End;
use mcpreel_wire::json::Value;
use mcpreel_wire::message::Classifier;
use mcpreel_wire::text::{escape, plural};
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// Requests that are open at most. A recording in which more were open waits for answers where the
/// recorded client did not.
const MOST_OPEN: usize = 1024;

/// Steps of the walk between two looks at the server.
const STEPS: usize = 256;

/// So many bytes may wait to be written before the walk stops: more would be memory for nothing.
const ROOM: usize = 128 * 1024;

/// Requests that the recorded client got no answer to are waited for so long at the end, and
/// notifications that are due.
const UNANSWERED: Duration = Duration::from_secs(2);
const STILL_DUE: Duration = Duration::from_secs(1);

/// How long a server may take to end once its input is closed, and again after SIGTERM: what
/// official clients grant.
const LEAVING: Duration = Duration::from_secs(2);

/// The same for a server that ended by itself in the recording: worth being sure of, also on a busy
/// machine.
const LEAVING_AS_RECORDED: Duration = Duration::from_secs(10);

/// The end of a process and the end of its output come in any order, one soon after the other.
const BOTH: Duration = Duration::from_millis(500);

/// A server that does not read for so long hangs.
const UNREAD: Duration = Duration::from_secs(10);

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

/// When the director is to be called next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// At once, by [`Director::walk`].
    Now,
    /// When something comes from the server, or at this moment, by [`Director::tick`].
    At(Option<Moment>),
    Never,
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

/// Why a replay has stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The recording was at its end, or what the user wanted of it.
    End,
    /// Work was pending at its deadline.
    Hang,
    /// The server ended, or closed a pipe, with work pending.
    Crash,
    /// The server is of the other era than the recording: why that is likely.
    OtherEra(Box<str>),
    Interrupted(i32),
}

/// How the server ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    pub code: Option<i32>,
    /// The name of the signal that ended it.
    pub signal: Option<Box<str>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// Recorded frames are gone through.
    #[default]
    Walking,
    /// All was sent; what is open is waited for, from then on.
    Settling(Moment),
    /// The server has ended, or closed a pipe; what it said last is read.
    Leaving(Moment),
    /// The server was told to end, by this signal or by the end of its input.
    Closing(Moment, Option<Deadly>),
    Over,
}

/// How far the end has come.
#[derive(Debug, Default)]
pub(super) struct Ending {
    stage: Stage,
    pub stop: Option<Stop>,
    /// When it stopped, and what was waited for then.
    pub stopped: Option<(Moment, Waits)>,
    pub exited: Option<(Ended, Moment)>,
    pub output_ended: bool,
    /// Whether the server was still there when it had failed us: what closed was a pipe.
    pub outlived: bool,
    pub needed: Option<Deadly>,
    /// Bytes that the server does not read, and since when.
    pub unread: Option<(u64, Moment)>,
}

/// Where the walk through the recorded frames is.
#[derive(Debug, Default)]
struct Walk {
    current: Option<Step>,
    hold: Option<Hold>,
    over: bool,
    /// When the frame before was recorded, and when the walk went on from it.
    before: Option<(Moment, Moment)>,
}

/// Why the walk waits, and until when at most.
#[derive(Debug)]
struct Hold {
    waits: Waits,
    until: Option<Moment>,
}

/// The state of a replay.
pub struct Director<'r> {
    pub(super) options: Options,
    pub(super) judge: Judge,
    pub(super) script: Script<'r>,
    pub(super) ending: Ending,
    walk: Walk,
    pub(super) calls: Calls,
    pub(super) questions: Questions,
    pub(super) notices: Notices,
    pub(super) skipped: Skipped,
    /// When the recorded client spoke of each task for the first time.
    pub(super) tasks: HashMap<Box<str>, Moment>,
    /// When which poll of a task is repeated.
    pub(super) polls: BTreeMap<ExchangeId, Moment>,
    /// The latest roots of the recorded client, JSON text.
    pub(super) roots: Option<Box<str>>,
    pub(super) tally: Tally,
    pub(super) action: Action,
    pub(super) classifier: Classifier,
    began: Moment,
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
            tasks: HashMap::new(),
            polls: BTreeMap::new(),
            roots: None,
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

    pub fn next(&self) -> Next {
        let ending = &self.ending;
        let exited = ending.exited.as_ref().map(|(_, t)| *t + BOTH);
        let own = match ending.stage {
            Stage::Over => return Next::Never,
            Stage::Walking if self.may_step() => return Next::Now,
            Stage::Walking => self.walk.hold.as_ref().and_then(|hold| hold.until),
            Stage::Settling(since) => Some(self.settle_until(since)),
            Stage::Leaving(since) => Some(since + BOTH),
            Stage::Closing(since, by) => exited.or(Some(since + self.grace(by))),
        };
        let waiting = if self.may_write() {
            let polls = self.polls.values().min().copied();
            [
                self.calls.deadline(),
                self.end(),
                self.unread_until(),
                polls,
            ]
        } else {
            [exited, None, None, None]
        };
        Next::At(own.into_iter().chain(waiting.into_iter().flatten()).min())
    }

    pub fn waits(&self, now: Moment) -> Waits {
        let is_stuck = |(_, since): (u64, Moment)| now.since(since) >= STALL;
        if self.may_write() && self.ending.unread.is_some_and(is_stuck) {
            return Waits::Room;
        }
        match (self.ending.stage, &self.walk.hold) {
            (Stage::Walking, Some(hold)) => hold.waits.clone(),
            (Stage::Walking, None) => Waits::Nothing,
            (Stage::Settling(_), _) => Waits::Answers(self.calls.awaited().count()),
            _ => Waits::End,
        }
    }

    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The number of requests of the client in the recording.
    pub fn requests(&self) -> Result<u64, ReadError> {
        self.script.requests()
    }

    /// Whether only a part of the recording is played.
    pub fn is_part(&self) -> bool {
        self.script.is_part()
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
            seq: Some(exchange.request.0),
            method: &exchange.method,
            name: exchange.name.as_deref(),
            request: None,
            response,
            size: None,
            status: exchange.status,
            latency_ns: exchange.latency_ns(),
            wall_ns: self.recorded_wall(exchange.t_request),
        }
    }

    /// Tells a difference that belongs to no exchange.
    pub(super) fn say(&mut self, class: Class, text: String, left: Option<Seq>) {
        self.judge.remark(Remark {
            left,
            right: None,
            method: "".into(),
            name: None,
            class,
            text: text.into(),
            trouble: None,
        });
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
            if let Some(mut hold) = self.hold(&step) {
                self.walk.current = Some(step);
                if hold.waits != Waits::Gap {
                    let answers = self.answer_questions();
                    hold.until = hold.until.into_iter().chain(answers).min();
                }
                self.walk.hold = Some(hold);
                break;
            }
            self.walk.hold = None;
            let gap = self.gap(&step);
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
    fn may_step(&self) -> bool {
        let has_room = self.action.send.len() < ROOM && self.ending.unread.is_none();
        has_room && self.walk.current.is_none() && !self.walk.over
    }

    fn is_at_the_end(&self) -> bool {
        self.walk.over && self.walk.current.is_none()
    }

    /// Why a frame has to wait.
    fn hold(&mut self, step: &Step) -> Option<Hold> {
        if step.is_from_server() {
            let What::Answers(id) = step.what else {
                return None;
            };
            let call = self.calls.get(id).filter(|call| call.is_awaited())?;
            let exchange = &call.exchange;
            let waits = Waits::Answer(exchange.request.0, exchange.method.clone());
            return Some(Hold { waits, until: None });
        }
        let is_answer = matches!(step.what, What::Answers(_));
        // A frame that is not sent waits for nothing.
        if !step.is_from_client() || is_answer || self.script.leaves_out(step.head.seq) {
            return None;
        }
        if let Some((exchange, until)) = self.questions.held(&self.calls, self.now) {
            let waits = Waits::Question(exchange.request.0, exchange.method.clone());
            return Some(Hold { waits, until });
        }
        let awaited = self.calls.awaited().count();
        let is_serial = self.options.order == Order::Serial;
        if is_serial && awaited > 0 || self.calls.len() >= MOST_OPEN {
            let waits = Waits::Answers(awaited);
            return Some(Hold { waits, until: None });
        }
        if let Some((notice, until)) = self.notices.held(step, self.now) {
            let waits = Waits::Notice(notice.seq.unwrap_or_default(), notice.method.clone());
            let until = Some(until);
            return Some(Hold { waits, until });
        }
        self.hold_gap(step)
    }

    fn hold_gap(&self, step: &Step) -> Option<Hold> {
        let Order::Timed { speed, max_gap } = self.options.order else {
            return None;
        };
        let (_, passed) = self.walk.before?;
        let gap = self.gap(step).min(max_gap);
        let gap = gap.div_f64(speed.max(f64::MIN_POSITIVE));
        let until = passed + gap.min(max_gap * 1000);
        (self.now < until).then_some(Hold {
            waits: Waits::Gap,
            until: Some(until),
        })
    }

    /// The time between the frame before and `step` in the recording; zero where its clock went
    /// back.
    fn gap(&self, step: &Step) -> Duration {
        let before = self.walk.before.map_or(Moment(0), |(recorded, _)| recorded);
        step.head.t_first.since(before)
    }

    /// Does what a frame wants, which came so long after the one before.
    fn pass(&mut self, step: Step, gap: Duration) {
        if step.is_from_client() {
            match step.what {
                What::Answers(id) => self.pass_answer(id, step),
                _ => self.send(step),
            }
        } else if step.is_from_server() {
            match &step.what {
                What::Asks(exchange) => {
                    let parent = exchange.parent;
                    let unwanted = parent.is_some_and(|id| self.skipped.exchanges.contains(&id));
                    self.questions.pass(exchange.id, unwanted, gap, self.now);
                }
                What::Tells(message) => {
                    let cause = (self.calls.len() > 0, !self.skipped.latest);
                    self.notices.pass(&step.head, message, cause, self.now);
                }
                What::Stray => self.tally.strays[0] += 1,
                What::Noise => self.tally.noise[0] += 1,
                What::Answers(_) | What::Batch(_) => {}
            }
        }
    }
}

/// Deadlines, and the end.
impl Director<'_> {
    /// Whether the server can still be written to.
    pub(super) fn may_write(&self) -> bool {
        matches!(self.ending.stage, Stage::Walking | Stage::Settling(_))
    }

    /// Time has passed.
    pub fn tick(&mut self, now: Moment) -> Result<(), ReadError> {
        self.now = now;
        if self.may_write() {
            self.send_polls();
            let ends = [self.end(), self.unread_until(), self.calls.deadline()];
            if ends.into_iter().flatten().any(|at| at <= now) {
                self.stop(Stop::Hang, now);
                return Ok(());
            }
        }
        match self.ending.stage {
            Stage::Walking | Stage::Settling(_) => self.walk(now)?,
            Stage::Leaving(since) => self.left(since),
            Stage::Closing(since, by) if since + self.grace(by) <= now => match by {
                _ if self.ending.exited.is_some() => {}
                None => self.signal(Deadly::Term),
                Some(Deadly::Term) => self.signal(Deadly::Kill),
                Some(Deadly::Kill) => self.ending.stage = Stage::Over,
            },
            Stage::Closing(..) | Stage::Over => {}
        }
        self.let_go();
        Ok(())
    }

    pub(super) fn end(&self) -> Option<Moment> {
        self.options.timeout.map(|timeout| self.began + timeout)
    }

    fn unread_until(&self) -> Option<Moment> {
        self.ending.unread.map(|(_, since)| since + UNREAD)
    }

    /// Until when at most something is waited for that has no deadline of its own.
    fn settle_until(&self, since: Moment) -> Moment {
        let is_open = |call: &super::calls::Call| {
            !call.is_awaited() && !call.cancelled && !call.exchange.is_listen()
        };
        if self.calls.all().any(is_open) {
            since + UNANSWERED
        } else if self.notices.are_due() {
            since + STILL_DUE
        } else {
            since
        }
    }

    /// Looks whether what is waited for at the end is there.
    fn settle(&mut self) {
        if let Stage::Settling(since) = self.ending.stage
            && self.calls.awaited().next().is_none()
            && self.settle_until(since) <= self.now
        {
            self.stop(Stop::End, self.now);
        }
    }

    /// Stops, for this reason unless there was one before, and lets the server go.
    pub fn stop(&mut self, why: Stop, now: Moment) {
        self.now = now;
        let again = self.ending.stop.is_some();
        let interrupted = matches!(why, Stop::Interrupted(_));
        if !again {
            self.ending.stopped = Some((now, self.waits(now)));
            self.ending.stop = Some(why);
        }
        match self.ending.stage {
            Stage::Walking | Stage::Settling(_) | Stage::Leaving(_) => {
                self.action.close = true;
                self.ending.stage = Stage::Closing(now, None);
            }
            // Somebody is in a hurry.
            Stage::Closing(..) if again && interrupted => self.signal(Deadly::Kill),
            Stage::Closing(..) | Stage::Over => {}
        }
        self.let_go();
    }

    /// The time that the server has to end after its input was closed, or after a signal.
    fn grace(&self, by: Option<Deadly>) -> Duration {
        // A shell says by a code above 128 that a signal ended it.
        let end = self.options.recorded_end.as_ref();
        let ended_by_itself = matches!(end, Some(End::Exited { code }) if *code <= 128);
        if by.is_none() && ended_by_itself && self.ending.stop == Some(Stop::End) {
            LEAVING_AS_RECORDED
        } else {
            LEAVING
        }
    }

    fn signal(&mut self, by: Deadly) {
        self.action.signal = Some(by);
        self.ending.needed = self.ending.needed.max(Some(by));
        self.ending.stage = Stage::Closing(self.now, Some(by));
    }

    pub fn exited(&mut self, ended: Ended, now: Moment) {
        self.ending.exited = Some((ended, now));
        self.leave(now);
    }

    /// The server has closed its output: nothing more will come.
    pub fn output_ended(&mut self, now: Moment) {
        self.ending.output_ended = true;
        self.leave(now);
    }

    /// The server has closed its input.
    pub fn input_refused(&mut self, now: Moment) {
        if self.ending.stage == Stage::Walking {
            self.leave(now);
        }
    }

    /// So many bytes were not taken by the server when it was last looked at.
    pub fn unread(&mut self, bytes: u64, now: Moment) {
        let since = self.ending.unread.map_or(now, |(_, since)| since);
        self.ending.unread = (bytes > 0).then_some((bytes, since));
    }

    fn leave(&mut self, now: Moment) {
        self.now = now;
        if self.may_write() {
            self.ending.stage = Stage::Leaving(now);
        }
        if let Stage::Leaving(since) = self.ending.stage {
            self.left(since);
        }
        self.let_go();
    }

    /// Stops as soon as the server has left as a whole, or has had the time to.
    fn left(&mut self, since: Moment) {
        let both = self.ending.exited.is_some() && self.ending.output_ended;
        if both || since + BOTH <= self.now {
            let pending = !self.is_at_the_end() || self.calls.awaited().next().is_some();
            self.ending.outlived = self.ending.exited.is_none();
            self.stop(if pending { Stop::Crash } else { Stop::End }, self.now);
        }
    }

    /// The replay is over as soon as the server has gone, and nothing of what it said is left.
    fn let_go(&mut self) {
        if let (Stage::Closing(..), Some((_, exited))) = (self.ending.stage, &self.ending.exited)
            && (self.ending.output_ended || *exited + BOTH <= self.now)
        {
            self.ending.stage = Stage::Over;
        }
    }
}

impl Waits {
    /// For what, escaped; `None` where it is not for the server.
    pub(super) fn in_words(&self) -> Option<String> {
        let at = |seq: Seq, method: &str| format!("{} (#{})", escape(method), seq.0);
        match self {
            Self::Nothing | Self::Gap => None,
            Self::Answer(seq, method) => Some(format!("the answer to {}", at(*seq, method))),
            Self::Answers(open) => Some(plural(*open as u64, "answer")),
            Self::Question(seq, method) => Some(format!("the server to ask {}", at(*seq, method))),
            Self::Notice(seq, method) => Some(at(*seq, method)),
            Self::Room => Some("the server to read".to_owned()),
            Self::End => Some("the server to end".to_owned()),
        }
    }
}
