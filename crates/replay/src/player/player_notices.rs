//! Notifications of the server, recorded and live, and progress.
//!
//! Notifications are compared as a multiset, without log messages, which are for people, and without
//! progress, which belongs to its call. A recorded notification that came while a call was open, or
//! just after one, is missed if it does not come; one that came by itself is not, because a replay
//! is over sooner than the clock that made it. The order in which they come is chance.

use super::calls::{Call, Calls};
use super::director::{Director, Hold, Waits};
use super::ending::Stop;
use super::script::{Step, What};
use crate::diff::{Class, Remark};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::{FrameHead, Seq};
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::Number;
use mcpreel_wire::mcp::methods::canonical;
use mcpreel_wire::message::{Body, Message, Subject};
use mcpreel_wire::text::{escape, plural};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// Notifications without a counterpart that are remembered on each side; the oldest go first.
const MOST: usize = 1024;

/// A client that lists or reads so soon after a notification has reacted to it.
const REACTION: Duration = Duration::from_millis(100);

/// How long such a reaction waits for the notification.
const PATIENCE: Duration = Duration::from_secs(5);

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const UPDATED: &str = "notifications/resources/updated";

#[derive(Clone, Debug)]
struct Notice {
    method: Box<str>,
    /// What it is about, where the client knows that by its name.
    about: Option<Box<str>>,
    seq: Option<Seq>,
    t: Moment,
    /// Whether it came while, or just after, the client wanted something.
    is_due: bool,
    /// Whether the client did in the replay all that it did before.
    may_come: bool,
    waited_since: Option<Moment>,
}

/// The notifications that have no counterpart yet.
#[derive(Debug, Default)]
pub(super) struct Notices {
    recorded: VecDeque<Notice>,
    live: VecDeque<Notice>,
    /// When a message of the client was recorded last.
    last_activity: Option<Moment>,
    /// Whether one that came by itself was waited for in vain: such a clock may never tick now.
    in_vain: bool,
}

impl Notices {
    /// The walk has come to a notification; `busy`: while a call was open; `is_lost`: the client's
    /// latest request was not sent in the replay.
    pub fn pass(&mut self, head: &FrameHead, message: &Message, busy: bool, is_lost: bool) {
        let t = head.t_last;
        let Some(mut notice) = notice(message, t) else {
            return;
        };
        let soon = |last| t.since(last) <= REACTION;
        notice.seq = Some(head.seq);
        notice.may_come = !is_lost;
        notice.is_due = (busy || self.last_activity.is_some_and(soon)) && notice.may_come;
        pair(notice, &mut self.recorded, &mut self.live);
    }

    pub fn tell(&mut self, message: &Message, now: Moment) {
        if let Some(notice) = notice(message, now) {
            pair(notice, &mut self.live, &mut self.recorded);
        }
    }

    /// The client did something in the recording at `t`.
    pub fn active(&mut self, t: Moment) {
        self.last_activity = Some(t);
    }

    /// Whether a message of the client waits for a notification: because it reacts to it, because
    /// it followed the confirmation of a subscription, or because it ends one.
    pub fn held(&mut self, step: &Step, calls: &Calls, now: Moment) -> Option<Hold> {
        if self.recorded.is_empty() {
            return None;
        }
        let asks = match step.single() {
            Some(What::Asks(exchange)) => Some(&**exchange),
            _ => None,
        };
        let ends_listening = ends_listening(step, calls);
        let in_vain = self.in_vain;
        let is_awaited = |notice: &&mut Notice| {
            let may_come = notice.is_due || (notice.may_come && !in_vain);
            let soon = step.head.t_first.since(notice.t) <= REACTION;
            let is_reaction = soon && asks.is_some_and(|asks| notice.leads_to(asks));
            let is_ended = match asks {
                Some(asks) => &*asks.method == "resources/unsubscribe" && notice.is_update_of(asks),
                None => ends_listening && notice.is_news(),
            };
            may_come && is_reaction
                || notice.is_due && (&*notice.method == ACKNOWLEDGED || is_ended)
        };
        let notice = self.recorded.iter_mut().rev().find(is_awaited)?;
        let until = *notice.waited_since.get_or_insert(now) + PATIENCE;
        self.in_vain |= until <= now && !notice.is_due;
        let waits = Waits::Notice(notice.seq.unwrap_or_default(), notice.method.clone());
        (now < until).then(|| Hold::new(waits, Some(until)))
    }

    /// Whether something is still due.
    pub fn are_due(&self) -> bool {
        self.recorded.iter().any(|notice| notice.is_due)
    }
}

impl Notice {
    fn is_update_of(&self, exchange: &Exchange) -> bool {
        &*self.method == UPDATED && self.about.as_deref() == exchange.name.as_deref()
    }

    /// Whether it is what a client listens for.
    fn is_news(&self) -> bool {
        &*self.method == UPDATED || self.method.ends_with("/list_changed")
    }

    /// Whether a client that hears this makes such a request.
    fn leads_to(&self, exchange: &Exchange) -> bool {
        let method = &*exchange.method;
        match &*self.method {
            "notifications/tools/list_changed" => method == "tools/list",
            "notifications/prompts/list_changed" => method == "prompts/list",
            "notifications/resources/list_changed" => {
                matches!(method, "resources/list" | "resources/templates/list")
            }
            UPDATED => method == "resources/read" && self.is_update_of(exchange),
            _ => false,
        }
    }
}

/// Whether the client cancels an open request by which it listens.
fn ends_listening(step: &Step, calls: &Calls) -> bool {
    let Some(What::Tells(message)) = step.single() else {
        return false;
    };
    let Body::Notification(notification) = &message.body else {
        return false;
    };
    let Subject::Cancelled {
        request_id: Some(id),
    } = &notification.subject
    else {
        return false;
    };
    let mut listening = calls.all().filter(|call| call.exchange.is_listen());
    listening.any(|call| call.exchange.rpc_id == *id)
}

/// Takes the counterpart of `notice` out of the other side's, or adds `notice` to its own.
fn pair(notice: Notice, own: &mut VecDeque<Notice>, others: &mut VecDeque<Notice>) {
    let is_like = |other: &Notice| other.method == notice.method && other.about == notice.about;
    if let Some(at) = others.iter().position(is_like) {
        others.remove(at);
        return;
    }
    own.push_back(notice);
    if own.len() > MOST {
        own.pop_front();
    }
}

/// The notification that a message is which came at `t`; `None` if it is not compared.
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
    })
}

impl Director {
    /// Tells which notifications have no counterpart.
    pub(super) fn conclude_notices(&mut self) {
        let mut counts: BTreeMap<(Box<str>, Class), (u64, Option<Seq>)> = BTreeMap::new();
        // The recording was not gone through to its end otherwise.
        let is_whole = self.ending.stop == Some(Stop::End);
        let missed = self.notices.recorded.drain(..).filter(|_| is_whole);
        let missed = missed.map(|notice| {
            if notice.is_due {
                (notice, Class::Changed)
            } else {
                (notice, Class::Noise)
            }
        });
        let more = self.notices.live.drain(..);
        for (notice, class) in missed.chain(more.map(|notice| (notice, Class::Added))) {
            let count = counts.entry((notice.method, class)).or_default();
            count.0 += 1;
            count.1 = count.1.or(notice.seq);
        }
        for ((method, class), (count, seq)) in counts {
            let what = match class {
                Class::Added => "came in addition",
                _ => "did not come",
            };
            let text = format!("{} {what}, {}", escape(&method), plural(count, "time"));
            self.say(class, text, seq);
        }
    }

    /// The server has told progress of a call. Progress of nothing is not judged.
    pub(super) fn progressed(
        &mut self,
        token: &RequestId,
        value: Option<&str>,
        total: Option<&str>,
    ) {
        let Some(call) = self.calls.by_token(token) else {
            return;
        };
        let progress = &mut call.progress;
        progress.count += 1;
        if let Some(value) = value {
            let last = progress.last.as_ref();
            let before = last.and_then(|(last, _)| Number::parse(last));
            let number = Number::parse(value);
            progress.fell |= number.zip(before).is_some_and(|(now, before)| now < before);
            progress.last = Some((value.into(), total.map(Into::into)));
        }
    }

    /// Compares whether there was progress, whether it went back, and whether it came to its end.
    /// How often it was told, and how far each time, is a matter of the clock.
    pub(super) fn compare_progress(&mut self, call: &Call) {
        let (exchange, progress) = (&call.exchange, &call.progress);
        let finished = progress.last.as_ref().is_none_or(|(value, total)| {
            let total = total.as_deref().and_then(Number::parse);
            total.is_none_or(|total| Number::parse(value) == Some(total))
        });
        let text = match (exchange.progress_count, progress.count) {
            (1.., 0) => "progress was told in the recording, and is not now",
            _ if progress.fell => "progress goes back",
            (1.., _) if !finished && came_to_an_end(exchange.progress.as_deref()) => {
                "progress does not come to its end"
            }
            _ => return,
        };
        self.judge.remark(Remark {
            left: Some(exchange.request.0),
            right: None,
            method: escape(&exchange.method).into(),
            name: exchange.name.as_deref().map(|name| escape(name).into()),
            class: Class::Changed,
            text: text.into(),
            trouble: None,
        });
    }
}

/// Whether the last progress on record (`100/100 done`) was all of it.
fn came_to_an_end(progress: Option<&str>) -> bool {
    let words = progress.and_then(|text| text.split(' ').next());
    let parts = words.and_then(|words| words.split_once('/'));
    parts.is_some_and(|(value, total)| {
        Number::parse(value).is_some() && Number::parse(value) == Number::parse(total)
    })
}
