//! The stages of a replay: deadlines, and the end of the server.
//!
//! | stage | ends when | what comes then |
//! |---|---|---|
//! | walking | the recording is at its end | settling |
//! | settling | every answer is there that is waited for | closing |
//! | walking, settling | the server ends, or closes a pipe | leaving |
//! | walking, settling | a deadline has come: a hang | closing |
//! | leaving | process and output have ended, or after 500 ms | closing |
//! | each of these | the user stops it, or the server is of the other era | closing |
//! | closing: the server's input is closed | after 2 s, or 10 s if it ended by itself then | SIGTERM |
//! | closing: SIGTERM was sent | after 2 s, or when the user stops it again | SIGKILL |
//! | closing | process and output have ended | over |

use super::director::{Deadly, Director};
use crate::diff::Trouble;
use mcpreel_capture::gauge::STALL;
use mcpreel_store::reader::ReadError;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::session::End;
use mcpreel_wire::text::plural;
use std::time::Duration;

/// Requests that the recorded client got no answer to are waited for as long as that client waited: so
/// long at the end at least, and no longer than the second.
const UNANSWERED: Duration = Duration::from_secs(2);
const MOST_UNANSWERED: Duration = Duration::from_mins(1);

/// Notifications that are due are waited for so long at the end.
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

/// When the director is to be called next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// At once, by [`Director::walk`].
    Now,
    /// When something comes from the server, or at this moment, by [`Director::tick`].
    At(Option<Moment>),
    Never,
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
    /// The first request was refused: nothing else can be played. Why, escaped.
    Refused(Trouble, String),
    Interrupted(i32),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    #[default]
    Walking,
    /// All was sent, at this moment.
    Settling(Moment),
    /// Something of the server has ended; its last words are read until then.
    Leaving(Moment),
    /// The server was told to end, by this signal or by the end of its input; it has until then.
    Closing(Option<Deadly>, Moment),
    Over,
}

/// How far the end has come.
#[derive(Debug, Default)]
pub(super) struct Ending {
    pub stage: Stage,
    pub stop: Option<Stop>,
    /// When it stopped, and what was waited for then.
    pub stopped: (Moment, Option<String>),
    pub exited: Option<(End, Moment)>,
    pub output_ended: bool,
    /// Whether the server was still there when it had failed us: what closed was a pipe.
    pub outlived: bool,
    pub needed: Option<Deadly>,
    /// Bytes that the server does not read, and since when.
    pub unread: Option<(u64, Moment)>,
}

impl Director<'_> {
    /// Time has passed.
    pub fn tick(&mut self, now: Moment) -> Result<(), ReadError> {
        self.now = now;
        if self.may_write() && self.deadlines().any(|at| at <= now) {
            self.stop(Stop::Hang, now);
            return Ok(());
        }
        match self.ending.stage {
            Stage::Walking | Stage::Settling(_) => self.walk(now)?,
            Stage::Leaving(_) => self.stop_once_server_left(),
            Stage::Closing(by, until) if until <= now && self.ending.exited.is_none() => match by {
                None => self.signal(Deadly::Term),
                Some(Deadly::Term) => self.signal(Deadly::Kill),
                Some(Deadly::Kill) => self.ending.stage = Stage::Over,
            },
            Stage::Closing(..) | Stage::Over => {}
        }
        self.let_go();
        Ok(())
    }

    pub fn next(&self) -> Next {
        let own = match self.ending.stage {
            Stage::Over => return Next::Never,
            Stage::Walking if self.may_step() => return Next::Now,
            Stage::Walking => self.walk.hold.as_ref().and_then(|hold| hold.until),
            Stage::Settling(_) if self.calls.due().next().is_some() => None,
            Stage::Settling(since) => Some(self.settle_until(since)),
            Stage::Leaving(until) => Some(until),
            Stage::Closing(_, until) => match &self.ending.exited {
                Some((_, exited)) => Some(*exited + BOTH),
                None => Some(until),
            },
        };
        let deadlines = self.deadlines().filter(|_| self.may_write());
        Next::At(own.into_iter().chain(deadlines).min())
    }

    /// What of the server is waited for, escaped; `None` where it is nothing.
    pub fn waits(&self, now: Moment) -> Option<String> {
        let is_stuck = |(_, since): (u64, Moment)| now.since(since) >= STALL;
        if self.may_write() && self.ending.unread.is_some_and(is_stuck) {
            return Some("the server to read".to_owned());
        }
        match self.ending.stage {
            Stage::Walking => self.walk.hold.as_ref()?.waits.clone(),
            Stage::Settling(_) => Some(plural(self.calls.open().count() as u64, "answer")),
            _ => Some("the server to end".to_owned()),
        }
    }

    /// Whether the server can still be written to.
    pub(super) fn may_write(&self) -> bool {
        matches!(self.ending.stage, Stage::Walking | Stage::Settling(_))
    }

    fn deadlines(&self) -> impl Iterator<Item = Moment> {
        let unread = self.ending.unread.map(|(_, since)| since + UNREAD);
        // What may stay away at the end hangs nobody.
        let is_pending = self.ending.stage == Stage::Walking || self.calls.due().next().is_some();
        let end = self.time_up().filter(|_| is_pending);
        let answer = self.calls.due().filter_map(|call| call.deadline).min();
        let deadlines = [end, unread, answer];
        deadlines.into_iter().flatten()
    }

    fn time_up(&self) -> Option<Moment> {
        Some(self.began + self.options.timeout?)
    }

    /// Until when at most something is waited for that has no deadline of its own.
    fn settle_until(&self, since: Moment) -> Moment {
        let closed = self.options.recorded_close.map(|closed| closed.t);
        let unanswered = self.calls.open().filter(|call| !call.is_due()).map(|call| {
            let waited = closed.map_or(Duration::ZERO, |at| at.since(call.exchange.t_request));
            (call.sent + waited.min(MOST_UNANSWERED)).max(since + UNANSWERED)
        });
        let notices = self.notices.are_due().then(|| since + STILL_DUE);
        let until = unanswered.max().or(notices).unwrap_or(since);
        self.time_up().map_or(until, |end| until.min(end))
    }

    /// Looks whether what is waited for at the end is there.
    pub(super) fn settle(&mut self) {
        if let Stage::Settling(since) = self.ending.stage
            && self.calls.due().next().is_none()
            && self.settle_until(since) <= self.now
        {
            self.stop(Stop::End, self.now);
        }
    }

    /// Stops, for this reason unless there was one before, and lets the server go.
    pub fn stop(&mut self, why: Stop, now: Moment) {
        self.now = now;
        let again = self.ending.stop.is_some();
        let in_a_hurry = again && matches!(why, Stop::Interrupted(_));
        if !again {
            self.ending.stopped = (now, self.waits(now));
            self.ending.stop = Some(why);
        }
        match self.ending.stage {
            Stage::Walking | Stage::Settling(_) | Stage::Leaving(_) => {
                self.action.close = true;
                // A shell says by a code above 128 that a signal ended it.
                let end = self.options.recorded_end.as_ref();
                let by_itself = matches!(end, Some(End::Exited { code }) if *code <= 128)
                    && self.ending.stop == Some(Stop::End);
                let grace = [LEAVING, LEAVING_AS_RECORDED][usize::from(by_itself)];
                self.ending.stage = Stage::Closing(None, now + grace);
            }
            Stage::Closing(..) if in_a_hurry => self.signal(Deadly::Kill),
            Stage::Closing(..) | Stage::Over => {}
        }
        self.let_go();
    }

    fn signal(&mut self, by: Deadly) {
        self.action.signal = Some(by);
        self.ending.needed = self.ending.needed.max(Some(by));
        self.ending.stage = Stage::Closing(Some(by), self.now + LEAVING);
    }

    pub fn exited(&mut self, ended: End, now: Moment) {
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
            self.ending.stage = Stage::Leaving(now + BOTH);
        }
        self.stop_once_server_left();
        self.let_go();
    }

    /// Stops as soon as the server has left as a whole, or has had the time to.
    fn stop_once_server_left(&mut self) {
        let both = self.ending.exited.is_some() && self.ending.output_ended;
        if let Stage::Leaving(until) = self.ending.stage
            && (both || until <= self.now)
        {
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
