//! When the client stopped to listen. News that was on its way then crosses what the client said:
//! whether it comes is chance.

use super::Director;
use super::notices::Notice;
use crate::player::script::{Step, What};
use mcpreel_trace::clock::Moment;
use mcpreel_wire::message::{Body, Subject};
use std::collections::VecDeque;
use std::time::Duration;

/// Ends of subscriptions that are remembered; the oldest go first.
const MOST: usize = 64;

/// How near to the end of a subscription news may have crossed it.
const CROSSING: Duration = Duration::from_millis(100);

/// The subscriptions that were ended, and not begun anew.
#[derive(Debug, Default)]
pub(super) struct Listening {
    ended: VecDeque<Ended>,
}

#[derive(Debug)]
struct Ended {
    /// The one resource; otherwise all that changes.
    resource: Option<Box<str>>,
    at: Moment,
}

impl Listening {
    fn end(&mut self, resource: Option<&str>, at: Moment) {
        self.begin(resource);
        self.ended.push_back(Ended {
            resource: resource.map(Into::into),
            at,
        });
        if self.ended.len() > MOST {
            self.ended.pop_front();
        }
    }

    fn begin(&mut self, resource: Option<&str>) {
        self.ended
            .retain(|ended| ended.resource.as_deref() != resource);
    }

    fn ends_of(&self, notice: &Notice) -> impl Iterator<Item = &Ended> {
        self.ended.iter().filter(|ended| match &ended.resource {
            Some(resource) => notice.is_update_of(resource),
            None => notice.is_news(),
        })
    }

    /// Whether the client of the recording, which has come to `notice`, no longer listened to it.
    pub fn is_over(&self, notice: &Notice) -> bool {
        self.ends_of(notice).next().is_some()
    }

    /// Whether what came now would not have come had the end of its subscription been read a little
    /// sooner.
    pub fn is_crossed(&self, notice: &Notice) -> bool {
        let apart = |at: Moment| notice.t.since(at).max(at.since(notice.t));
        self.ends_of(notice)
            .any(|ended| apart(ended.at) <= CROSSING)
    }
}

impl Director {
    /// Remembers what a frame that goes out now begins or ends to listen to.
    pub(super) fn listen(&mut self, step: &Step, now: Moment) {
        if let Some(left) = self.stops(step) {
            if left == 0 {
                self.notices.listening.end(None, now);
            }
            return;
        }
        let Some(What::Asks(exchange)) = step.single() else {
            return;
        };
        let listening = &mut self.notices.listening;
        match &*exchange.method {
            "resources/unsubscribe" => listening.end(exchange.name.as_deref(), now),
            "resources/subscribe" => listening.begin(exchange.name.as_deref()),
            _ if exchange.is_listen() => listening.begin(None),
            _ => {}
        }
    }

    /// Whether the client cancels a request by which it listens.
    pub(super) fn ends_listening(&self, step: &Step) -> bool {
        self.stops(step).is_some()
    }

    /// By how many requests the client still listens after `step`, if that cancels one of them.
    fn stops(&self, step: &Step) -> Option<usize> {
        let Some(What::Tells(message)) = step.single() else {
            return None;
        };
        let Body::Notification(notification) = &message.body else {
            return None;
        };
        let Subject::Cancelled {
            request_id: Some(id),
        } = &notification.subject
        else {
            return None;
        };
        let calls = self.calls.all();
        let listening = calls.filter(|call| call.exchange.is_listen() && !call.cancelled);
        let (left, ended): (Vec<_>, Vec<_>) =
            listening.partition(|call| call.exchange.rpc_id != *id);
        (!ended.is_empty()).then_some(left.len())
    }
}
