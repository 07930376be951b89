//! Deadlines, the end of the server, the end of everything.
//!
//! ```text
//!  walking ──▶ settling ──▶ closing ─2, 10 s─▶ SIGTERM ──2 s──▶ SIGKILL ──▶ over
//!     │            │           ▲
//!     ├─ hang ─────┴───────────┤
//!     └─ the server ends ─▶ leaving (what it said last is read)
//! ```

use super::director::{Deadly, Director, Scene, Waits};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::session::End;
use std::time::Duration;

/// Requests that the recorded client got no answer to are waited for so long at the end.
const UNANSWERED: Duration = Duration::from_secs(2);

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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    pub code: Option<i32>,
    /// The name of the signal that ended it.
    pub signal: Option<Box<str>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// Recorded frames are gone through.
    #[default]
    Walking,
    /// All was sent; what is open is waited for.
    Settling {
        since: Moment,
    },
    /// The server has ended, or closed a pipe; what it said last is read.
    Leaving {
        since: Moment,
    },
    Closing {
        since: Moment,
    },
    Signalled {
        by: Deadly,
        since: Moment,
    },
    Over,
}

#[derive(Debug, Default)]
pub(super) struct Ending {
    pub stage: Stage,
    pub stop: Option<Stop>,
    /// When it stopped, and what was waited for then.
    pub stopped: Option<(Moment, Waits)>,
    pub exited: Option<(Ended, Moment)>,
    pub output_ended: bool,
    pub input_refused: bool,
    /// Whether it was still there when it had failed us: what closed was a pipe.
    pub outlived: bool,
    pub needed: Option<Deadly>,
    /// Bytes that the server does not read, and since when.
    pub unread: Option<(u64, Moment)>,
}

impl Director {
    pub(super) fn is_walking(&self) -> bool {
        self.ending.stage == Stage::Walking
    }

    /// Whether the server can still be written to.
    pub(super) fn may_write(&self) -> bool {
        matches!(self.ending.stage, Stage::Walking | Stage::Settling { .. })
    }

    pub fn tick(&mut self, scene: &mut Scene<'_>) {
        let now = scene.now;
        if self.may_write() {
            self.send_polls(scene);
        }
        if self.may_write() && (self.is_at_the_end(now) || self.calls.is_overdue(now)) {
            return self.stop(Stop::Hang, now);
        }
        match self.ending.stage {
            Stage::Walking => self.go(scene),
            Stage::Settling { .. } => self.settle(now),
            Stage::Leaving { since } => self.left(since, now),
            Stage::Closing { since } => self.end_by(Deadly::Term, since + self.leaving(), now),
            Stage::Signalled {
                by: Deadly::Term,
                since,
            } => self.end_by(Deadly::Kill, since + LEAVING, now),
            Stage::Signalled { since, .. } if since + LEAVING <= now => {
                self.ending.stage = Stage::Over;
            }
            Stage::Signalled { .. } | Stage::Over => {}
        }
        self.gone(now);
    }

    /// When to look again, if nothing comes.
    pub(super) fn next_moment(&self) -> Option<Moment> {
        let ending = &self.ending;
        let own = match ending.stage {
            Stage::Walking => self.walk.until(),
            Stage::Settling { since } => Some(self.settle_until(since)),
            Stage::Leaving { since } => Some(since + BOTH),
            Stage::Closing { since } => Some(since + self.leaving()),
            Stage::Signalled { since, .. } => Some(since + LEAVING),
            Stage::Over => None,
        };
        let gone = ending.exited.as_ref().map(|(_, t)| *t + BOTH);
        let waiting = if self.may_write() {
            let unread = ending.unread.map(|(_, since)| since + UNREAD);
            [self.calls.earliest(), self.end(), unread, self.tasks.due()]
        } else {
            [gone, None, None, None]
        };
        own.into_iter().chain(waiting.into_iter().flatten()).min()
    }

    /// Whether all of it takes too long, or the server does not read: no answer helps then.
    fn is_at_the_end(&self, now: Moment) -> bool {
        let unread = self.ending.unread.map(|(_, since)| since + UNREAD);
        let ends = [self.end(), unread];
        ends.into_iter().flatten().any(|at| at <= now)
    }

    pub(super) fn end(&self) -> Option<Moment> {
        self.options.timeout.map(|timeout| self.began + timeout)
    }

    /// All recorded frames were gone through.
    pub(super) fn settle_down(&mut self, now: Moment) {
        self.ending.stage = Stage::Settling { since: now };
        self.settled(now, now);
    }

    /// Until when at most something is waited for that has no deadline of its own.
    fn settle_until(&self, since: Moment) -> Moment {
        let unanswered = self
            .calls
            .all()
            .any(|call| !call.is_awaited() && !call.cancelled && !call.exchange.is_listen());
        if unanswered {
            since + UNANSWERED
        } else if self.notices.are_due() {
            since + STILL_DUE
        } else {
            since
        }
    }

    /// Looks whether what is waited for at the end is there.
    pub(super) fn settle(&mut self, now: Moment) {
        if let Stage::Settling { since } = self.ending.stage {
            self.settled(since, now);
        }
    }

    fn settled(&mut self, since: Moment, now: Moment) {
        if self.calls.awaited() == 0 && self.settle_until(since) <= now {
            self.stop(Stop::End, now);
        }
    }

    /// Stops, for this reason unless there was one before, and lets the server go.
    pub fn stop(&mut self, why: Stop, now: Moment) {
        let again = self.ending.stop.is_some();
        let interrupted = matches!(why, Stop::Interrupted(_));
        if !again {
            self.ending.stopped = Some((now, self.waits(now)));
        }
        self.ending.stop.get_or_insert(why);
        match self.ending.stage {
            Stage::Walking | Stage::Settling { .. } | Stage::Leaving { .. } => {
                self.action.close = true;
                self.ending.stage = Stage::Closing { since: now };
            }
            // Somebody is in a hurry.
            Stage::Closing { .. } | Stage::Signalled { .. } if again && interrupted => {
                self.signal(Deadly::Kill, now);
            }
            _ => {}
        }
        self.gone(now);
    }

    /// How long the server may take once its input is closed.
    fn leaving(&self) -> Duration {
        // A shell says by a code above 128 that a signal ended it.
        let end = self.options.recorded_end.as_ref();
        let ended_by_itself = matches!(end, Some(End::Exited { code }) if *code <= 128);
        if ended_by_itself && self.ending.stop == Some(Stop::End) {
            LEAVING_AS_RECORDED
        } else {
            LEAVING
        }
    }

    fn end_by(&mut self, by: Deadly, at: Moment, now: Moment) {
        if at <= now && self.ending.exited.is_none() {
            self.signal(by, now);
        }
    }

    fn signal(&mut self, by: Deadly, now: Moment) {
        self.action.signal = Some(by);
        self.ending.needed = self.ending.needed.max(Some(by));
        self.ending.stage = Stage::Signalled { by, since: now };
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
        self.ending.input_refused = true;
        if self.is_walking() {
            self.leave(now);
        }
    }

    /// So many bytes were not taken by the server when it was last looked at.
    pub fn unread(&mut self, bytes: u64, now: Moment) {
        let since = self.ending.unread.map_or(now, |(_, since)| since);
        self.ending.unread = (bytes > 0).then_some((bytes, since));
    }

    fn leave(&mut self, now: Moment) {
        if self.may_write() {
            self.ending.stage = Stage::Leaving { since: now };
        }
        if let Stage::Leaving { since } = self.ending.stage {
            self.left(since, now);
        }
        self.gone(now);
    }

    /// Whether the server was needed when it left.
    fn left(&mut self, since: Moment, now: Moment) {
        let both = self.ending.exited.is_some() && self.ending.output_ended;
        if !both && now < since + BOTH {
            return;
        }
        let pending = !self.walk.is_over() || self.calls.awaited() > 0;
        self.ending.outlived = self.ending.exited.is_none();
        self.stop(if pending { Stop::Crash } else { Stop::End }, now);
    }

    /// It is over as soon as the server has gone, and nothing of what it said is left.
    fn gone(&mut self, now: Moment) {
        let letting_go = matches!(
            self.ending.stage,
            Stage::Closing { .. } | Stage::Signalled { .. }
        );
        if let (true, Some((_, exited))) = (letting_go, &self.ending.exited)
            && (self.ending.output_ended || *exited + BOTH <= now)
        {
            self.ending.stage = Stage::Over;
        }
    }
}
