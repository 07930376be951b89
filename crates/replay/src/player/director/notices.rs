//! What the server tells: notifications, then and now, as a multiset.
//!
//! Progress and log messages are not among them: progress belongs to its call, log messages are
//! for people, and compared only where a user wants that. Of the rest each live one stands for a
//! recorded one of the same words, whichever came first, of the same subscription if there is one;
//! whether those of a subscription keep their order is told (`order`). What is left over at the end is told: a
//! recorded one that came while a call was open, or just after one, is missed; one that came by
//! itself is not, because a replay is over sooner than the clock that made it, and one that crossed
//! the end of its subscription is not either.
//!
//! A client that reacted to one waits for it, whenever it came. One that came by itself may have come
//! by a clock, and never come now: after one such wait in vain there is no other.

use super::listening::Listening;
use super::order::{Orders, Place};
use super::walk::Hold;
use super::{Director, Waits};
use crate::bind::fresh_id;
use crate::player::script::{Step, What};
use crate::rules::Side;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::{FrameHead, Seq};
use mcpreel_wire::mcp::methods::canonical;
use mcpreel_wire::message::{Body, Message, Subject};
use std::collections::VecDeque;
use std::time::Duration;

/// Notifications without a counterpart that are remembered on each side; the oldest go first, and
/// are counted.
const MOST: usize = 1024;

/// A client that lists or reads so soon after a notification has reacted to it.
const REACTION: Duration = Duration::from_millis(100);

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

const UPDATED: &str = "notifications/resources/updated";

/// How long such a reaction waits for the notification.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Notice {
    pub method: Box<str>,
    /// What it is about, where the client knows it by that name.
    pub about: Option<Box<str>>,
    pub seq: Option<Seq>,
    pub t: Moment,
    /// Whether it came while, or just after, the client wanted something.
    pub is_due: bool,
    /// Whether the client did all that it did before, and still listened.
    may_come: bool,
    waited_since: Option<Moment>,
    /// Which of its subscription it is, where it names one.
    pub place: Option<Place>,
}

/// Those that have no counterpart yet.
#[derive(Debug, Default)]
pub(super) struct Notices {
    pub recorded: VecDeque<Notice>,
    pub live: VecDeque<Notice>,
    /// Those that were too many to keep, recorded and live.
    pub dropped: [u64; 2],
    pub listening: Listening,
    pub orders: Orders,
    /// Whether the ids of the client, by which subscriptions are known, are made anew.
    fresh_ids: bool,
    /// When an answer or a message of the client was recorded last.
    last_activity: Option<Moment>,
    /// Whether one that came by itself was waited for, and did not come.
    in_vain: bool,
}

impl Notices {
    /// None yet; `fresh_ids`: the ids of the client are made anew.
    pub fn new(fresh_ids: bool) -> Self {
        Self {
            fresh_ids,
            ..Self::default()
        }
    }

    /// The walk has come to a notification; `busy`: while a call was open; `lost`: what the client
    /// did last before it was not done now.
    pub fn pass(&mut self, head: &FrameHead, message: &Message, busy: bool, lost: bool) {
        let t = head.t_last;
        let soon = self
            .last_activity
            .is_some_and(|last| t.since(last) <= REACTION);
        let Some(mut notice) = notice(message, t) else {
            return;
        };
        notice.seq = Some(head.seq);
        notice.place = self.place(message, Side::Left);
        notice.may_come = !lost && !self.listening.is_over(&notice);
        notice.is_due = (busy || soon) && notice.may_come;
        if let Some(live) = take_like(&notice, &mut self.live) {
            self.orders.pair(&notice, &live);
            return;
        }
        self.recorded.push_back(notice);
        if self.recorded.len() > MOST {
            self.recorded.pop_front();
            self.dropped[0] += 1;
        }
    }

    /// Something of the client's doing was recorded at `t`.
    pub fn active(&mut self, t: Moment) {
        self.last_activity = Some(t);
    }

    pub fn tell(&mut self, message: &Message, now: Moment) {
        let Some(mut notice) = notice(message, now) else {
            return;
        };
        notice.place = self.place(message, Side::Right);
        if let Some(recorded) = take_like(&notice, &mut self.recorded) {
            self.orders.pair(&recorded, &notice);
            return;
        }
        self.live.push_back(notice);
        if self.live.len() > MOST {
            self.live.pop_front();
            self.dropped[1] += 1;
        }
    }

    /// Which of its subscription a notification is. The recorded one is known by the id that it has now.
    fn place(&mut self, message: &Message, side: Side) -> Option<Place> {
        let subscription = message.meta.subscription.as_ref()?;
        if self.fresh_ids && side == Side::Left {
            self.orders.place(&fresh_id(subscription), side)
        } else {
            self.orders.place(subscription, side)
        }
    }

    /// Whether a message of the client is a reaction to a notification that has not come yet, or
    /// comes after the server had confirmed a subscription: before that the server may not see
    /// what the message brings about. Nor does a message go out before it that ends a
    /// subscription, `ends_listening` or of one resource: it would never come.
    pub fn held(&mut self, step: &Step, ends_listening: bool, now: Moment) -> Option<Hold> {
        let reacts = |notice: &Notice| {
            let Some(What::Asks(exchange)) = step.single() else {
                return false;
            };
            let soon = step.head.t_first.since(notice.t) <= REACTION;
            soon && notice.leads_to(&exchange.method, exchange.name.as_deref())
        };
        let ends = |notice: &Notice| match step.single() {
            Some(What::Asks(exchange)) => {
                &*exchange.method == "resources/unsubscribe"
                    && exchange
                        .name
                        .as_deref()
                        .is_some_and(|it| notice.is_update_of(it))
            }
            _ => ends_listening && notice.is_news(),
        };
        let in_vain = self.in_vain;
        let awaited = |notice: &&mut Notice| {
            let may_come = notice.is_due || (notice.may_come && !in_vain);
            may_come && reacts(notice)
                || notice.is_due && (&*notice.method == ACKNOWLEDGED || ends(notice))
        };
        let notice = self.recorded.iter_mut().rev().find(awaited)?;
        let since = *notice.waited_since.get_or_insert(now);
        let until = since + PATIENCE;
        self.in_vain |= until <= now && !notice.is_due;
        let seq = notice.seq.unwrap_or_default();
        let waits = Waits::Notice(seq, notice.method.clone());
        (now < until).then(|| Hold::new(waits, Some(until)))
    }

    /// Whether something is still due.
    pub fn are_due(&self) -> bool {
        self.recorded.iter().any(|notice| notice.is_due)
    }
}

impl Director {
    /// A log message in a line: one that was recorded there, or that came now. Compared where that
    /// is wanted.
    pub(super) fn log(
        &mut self,
        message: &Message,
        line: &[u8],
        recorded: Option<&FrameHead>,
        now: Moment,
    ) {
        let is_log = match &message.body {
            Body::Notification(it) => matches!(it.subject, Subject::Log { .. }),
            _ => false,
        };
        let text = line.get(message.span.clone()).unwrap_or(line);
        if !is_log || !self.judge.options().strict_logs {
            return;
        }
        let (side, wall_ns) = match recorded {
            Some(head) => (Side::Left, self.recorded_wall(head.t_first)),
            None => (Side::Right, self.options.wall_ns.checked_add(now.0)),
        };
        let logs = &mut self.logs[usize::from(side == Side::Right)];
        let seq = recorded.map(|head| head.seq);
        self.judge.notice(logs, side, seq, text, wall_ns);
    }
}

impl Notice {
    fn is_like(&self, other: &Self) -> bool {
        self.method == other.method && self.about == other.about
    }

    /// Whether it says that this resource has changed.
    pub fn is_update_of(&self, resource: &str) -> bool {
        &*self.method == UPDATED && self.about.as_deref() == Some(resource)
    }

    /// Whether it is what a client listens for.
    pub fn is_news(&self) -> bool {
        &*self.method == UPDATED || self.method.ends_with("/list_changed")
    }

    /// Whether a client that hears this makes such a request.
    fn leads_to(&self, method: &str, name: Option<&str>) -> bool {
        match &*self.method {
            "notifications/tools/list_changed" => method == "tools/list",
            "notifications/prompts/list_changed" => method == "prompts/list",
            "notifications/resources/list_changed" => {
                matches!(method, "resources/list" | "resources/templates/list")
            }
            UPDATED => method == "resources/read" && self.about.as_deref() == name,
            _ => false,
        }
    }
}

/// Takes the first one that says the same as `notice` from the other side's, one of the same
/// subscription before others.
fn take_like(notice: &Notice, others: &mut VecDeque<Notice>) -> Option<Notice> {
    let named = notice.place.as_ref().map(Place::subscription);
    let is_same = |other: &Notice| other.place.as_ref().map(Place::subscription) == named;
    let like = |other: &&Notice| other.is_like(notice);
    let same = others.iter().position(|it| like(&it) && is_same(it));
    let at = same.or_else(|| others.iter().position(|it| like(&it)))?;
    others.remove(at)
}

/// The notification that a message is which came at `t`, unless it is one of those that are not
/// compared here.
fn notice(message: &Message, t: Moment) -> Option<Notice> {
    let Body::Notification(notification) = &message.body else {
        return None;
    };
    let about = match &notification.subject {
        Subject::Progress { .. } | Subject::Log { .. } => return None,
        // The ids are the server's own.
        Subject::Task { status, .. } => status.clone(),
        Subject::Cancelled { .. } => None,
        Subject::Other { .. } if &*notification.method == "notifications/elicitation/complete" => {
            None
        }
        Subject::Other { name } => name.clone(),
    };
    Some(Notice {
        method: canonical(&notification.method).into(),
        about,
        seq: None,
        t,
        is_due: false,
        may_come: false,
        waited_since: None,
        place: None,
    })
}
