//! Notifications of the server, recorded and live.
//!
//! They are compared as a multiset, without log messages, which are for people, and without progress
//! and the status of tasks, which go by the clock. A recorded
//! notification that came while a call was open, or just after one, is due: it is missed if it does
//! not come. One that came by itself is not, because a replay is over sooner than the clock that made
//! it. The order in which they come is chance.

use super::script::{Step, What};
use compact_str::CompactString;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::{FrameHead, Seq};
use mcpreel_wire::mcp::methods::canonical;
use mcpreel_wire::message::{Notification, Subject};
use std::collections::VecDeque;
use std::time::Duration;

/// Notifications without a counterpart that are remembered on each side.
const MOST: usize = 1024;

/// A message that comes so soon after another one was caused by it.
const REACTION: Duration = Duration::from_millis(100);

/// How long a message of the client waits for a notification.
const PATIENCE: Duration = Duration::from_secs(5);

/// The method of a notification, and the resource or the like that it names.
type Told = (CompactString, Option<CompactString>);

/// A recorded notification that has not come.
#[derive(Clone, Debug)]
pub(super) struct Notice {
    pub told: Told,
    pub seq: Seq,
    /// When it was recorded, and when the walk came to it.
    t: [Moment; 2],
    pub is_due: bool,
    /// Whether the client did in the replay all that it had done before it.
    may_come: bool,
}

/// The notifications that have no counterpart yet.
#[derive(Debug, Default)]
pub(super) struct Notices {
    pub recorded: VecDeque<Notice>,
    pub live: VecDeque<Told>,
    /// When a message of the client was recorded last.
    pub last_activity: Option<Moment>,
    /// Whether one was waited for in vain: then none is waited for any more.
    in_vain: bool,
}

impl Notices {
    /// The walk has come to a notification. `busy`: a call was open; `may_come`: the client's latest
    /// request was sent in the replay.
    pub fn pass(
        &mut self,
        head: &FrameHead,
        message: &Notification,
        (busy, may_come): (bool, bool),
        now: Moment,
    ) {
        let Some(told) = compared(message) else {
            return;
        };
        if let Some(at) = self.live.iter().position(|it| *it == told) {
            self.live.remove(at);
            return;
        }
        let soon = |last| head.t_last.since(last) <= REACTION;
        self.recorded.push_back(Notice {
            told,
            seq: head.seq,
            t: [head.t_last, now],
            is_due: may_come && (busy || self.last_activity.is_some_and(soon)),
            may_come,
        });
        self.recorded.truncate(MOST);
    }

    /// The server has said this.
    pub fn tell(&mut self, message: &Notification) {
        let Some(told) = compared(message) else {
            return;
        };
        if let Some(at) = self.recorded.iter().position(|it| it.told == told) {
            self.recorded.remove(at);
        } else if self.live.len() < MOST {
            self.live.push_back(told);
        }
    }

    /// The notification that a message of the client waits for, and until when: one that is due, or
    /// one to which the client may have reacted, because it listed or read something at once.
    pub fn held(&mut self, message: &Step, now: Moment) -> Option<(&Notice, Moment)> {
        if self.in_vain {
            return None;
        }
        let looks = match &message.what {
            What::Asks(it) => it.method.ends_with("/list") || it.method == "resources/read",
            _ => false,
        };
        let is_awaited = |it: &&Notice| {
            it.is_due || looks && it.may_come && message.head.t_first.since(it.t[0]) <= REACTION
        };
        let notice = self.recorded.iter().find(is_awaited)?;
        let until = notice.t[1] + PATIENCE;
        self.in_vain = until <= now;
        (now < until).then_some((notice, until))
    }

    /// Whether something is still due.
    pub fn are_due(&self) -> bool {
        self.recorded.iter().any(|notice| notice.is_due)
    }
}

/// What is compared of a notification; of most that have ids of the server's own, not these.
fn compared(message: &Notification) -> Option<Told> {
    let method = canonical(&message.method);
    let about = match &message.subject {
        Subject::Progress { .. } | Subject::Log { .. } | Subject::Task { .. } => return None,
        Subject::Other { name } if method != "notifications/elicitation/complete" => name.clone(),
        Subject::Cancelled { .. } | Subject::Other { .. } => None,
    };
    Some((method.into(), about))
}
