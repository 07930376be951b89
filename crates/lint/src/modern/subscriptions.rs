//! Notifications that a `subscriptions/listen` request must have asked for.

use super::filter::{Filter, LISTS, UPDATED};
use crate::capability::is_within;
use crate::finding::Findings;
use crate::quote;
use crate::remembered::Remembered;
use crate::rule::{Revisions, Rule, Severity};
use crate::section;
use crate::seen::Part;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::brief;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::message::{Body, Direction, Subject};

pub(super) static ACK_MISSING: Rule = Rule::error(
    "subscription-ack-missing",
    "a notification on a subscription that is not acknowledged yet",
)
.why("The client does not know yet what it will be told, and may drop what comes before the acknowledgement.")
.fix("Let the server send `notifications/subscriptions/acknowledged` first.")
.of(section::SUBSCRIPTIONS)
.only(Revisions::MODERN);

pub(super) static ID_MISSING: Rule = Rule::error(
    "subscription-id-missing",
    "a notification that does not say which subscription it belongs to",
)
.why("All subscriptions share one pipe, so a client cannot tell for whom it is and drops it.")
.fix("Let the server put the id of the `subscriptions/listen` request into `_meta` of the notification.")
.of(section::SUBSCRIPTIONS)
.only(Revisions::MODERN);

pub(super) static NOT_REQUESTED: Rule = Rule::error(
    "subscription-not-requested",
    "a notification that its subscription has not asked for",
)
.why("The client is not prepared for it, and the server spends its time on what nobody wants.")
.fix("Let the server send only what the `notifications` of the listen request name.")
.of(section::SUBSCRIPTIONS)
.only(Revisions::MODERN)
.milder_where(
    Severity::Warning,
    "it tells of a resource, and the subscription names others",
);

pub(super) static UNKNOWN: Rule = Rule::error(
    "subscription-unknown",
    "a notification on a subscription that is not open",
)
.why("No request of the client has this id, or it is over, so the notification reaches nobody.")
.fix("Let the server use the id of the `subscriptions/listen` request as it stands there, and stop when that has ended.")
.of(section::SUBSCRIPTIONS)
.only(Revisions::MODERN);

/// Subscriptions that are remembered. Beyond it nothing is said about those that are not known.
const STREAMS: usize = 128;

/// A cancel and a notification may cross on the way, for this many nanoseconds.
const GRACE_NS: u64 = 1_000_000_000;

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// The subscriptions of the client.
#[derive(Debug)]
pub(super) struct Streams {
    streams: Remembered<RequestId, Stream>,
}

impl Default for Streams {
    fn default() -> Self {
        Self {
            streams: Remembered::new(STREAMS),
        }
    }
}

#[derive(Debug)]
struct Stream {
    frame: Seq,
    filter: Filter,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Asked,
    Acknowledged,
    Cancelled(Moment),
    Over,
}

impl Streams {
    /// A request of the client by the modern revision.
    pub(super) fn asked(&mut self, part: &Part<'_>) {
        let Body::Request(request) = &part.message.body else {
            return;
        };
        if &*request.method != "subscriptions/listen" {
            return;
        }
        let stream = Stream {
            frame: part.seen.head.seq,
            filter: Filter::of(part.param("notifications")),
            state: State::Asked,
        };
        self.streams.insert(request.id.clone(), stream);
    }

    /// An answer to a modern request: with it a subscription is over.
    pub(super) fn answered(&mut self, part: &Part<'_>) {
        if part.method() == Some("subscriptions/listen")
            && let Some(id) = &part.record.rpc_id
        {
            self.end(id, State::Over);
        }
    }

    /// A notification of the client: it may end a subscription.
    pub(super) fn cancelled(&mut self, part: &Part<'_>) {
        if let Body::Notification(notification) = &part.message.body
            && let Subject::Cancelled { request_id } = &notification.subject
            && let Some(id) = request_id
        {
            let state = match part.direction() {
                Direction::ClientToServer => State::Cancelled(part.seen.head.t_last),
                Direction::ServerToClient => State::Over,
            };
            self.end(id, state);
        }
    }

    fn end(&mut self, id: &RequestId, state: State) {
        if let Some(stream) = self.streams.get_mut(id) {
            stream.state = state;
        }
    }

    /// Whether the client is told when `changed` would have to be said.
    pub(super) fn announce(&self, changed: &str) -> bool {
        let mut open = self.streams.iter().map(|(_, stream)| stream);
        open.any(|stream| {
            let is_told = match &stream.filter {
                Filter::Any => false,
                Filter::Only { lists, .. } => lists.contains(&changed),
            };
            is_told && stream.state == State::Acknowledged
        })
    }

    pub(super) fn notification(&mut self, part: &Part<'_>, findings: &mut Findings) {
        let method = part.method().unwrap_or_default();
        if method == "notifications/cancelled" {
            return self.cancelled(part);
        }
        let Some(id) = &part.message.meta.subscription else {
            if is_of_stream(method) && part.seen.known.is_modern() && part.value.is_some() {
                findings.push(part.at(&ID_MISSING, method));
            }
            return;
        };
        if let Some(stream) = self.streams.get_mut(id) {
            if stream.is_open(part, method, id, findings) {
                stream.requested(part, method, findings);
            }
        } else if !self.streams.has_forgotten() {
            let (method, id) = (quote::text(method), quote::text(id.json()));
            findings.push(part.at(&UNKNOWN, format!("{method}: no subscription {id}")));
        }
    }
}

/// Whether the method is one that belongs to a subscription.
fn is_of_stream(method: &str) -> bool {
    let mut lists = LISTS.iter();
    method == ACKNOWLEDGED || method == UPDATED || lists.any(|(_, known)| *known == method)
}

impl Stream {
    /// Whether notifications may come on it; the first one acknowledges it.
    fn is_open(
        &mut self,
        part: &Part<'_>,
        method: &str,
        id: &RequestId,
        findings: &mut Findings,
    ) -> bool {
        let detail = || {
            format!(
                "{}, subscription {}",
                quote::text(method),
                quote::text(id.json())
            )
        };
        match self.state {
            State::Asked if method == ACKNOWLEDGED => self.state = State::Acknowledged,
            State::Asked => findings.push(part.at(&ACK_MISSING, detail()).and(self.frame)),
            State::Acknowledged => {}
            State::Cancelled(t) if part.seen.head.t_last.0.saturating_sub(t.0) < GRACE_NS => {
                return false;
            }
            State::Cancelled(_) | State::Over => {
                let detail = format!("{}, which is over", detail());
                findings.push(part.at(&UNKNOWN, detail).and(self.frame));
                return false;
            }
        }
        true
    }

    /// Whether the notification was asked for.
    fn requested(&self, part: &Part<'_>, method: &str, findings: &mut Findings) {
        let Filter::Only { lists, uris } = &self.filter else {
            return;
        };
        let not_requested = |detail: String| part.at(&NOT_REQUESTED, detail).and(self.frame);
        if method == UPDATED {
            let Body::Notification(notification) = &part.message.body else {
                return;
            };
            let Subject::Other { name: Some(uri) } = &notification.subject else {
                return;
            };
            // Of a URI that is not known whole nobody can tell what it is a part of.
            if brief::is_brief(uri) || uris.iter().any(|known| is_within(uri, known)) {
                return;
            }
            // What is a part of what, only the server can tell.
            let severity = if uris.is_empty() {
                Severity::Error
            } else {
                Severity::Warning
            };
            let finding = not_requested(format!("{method} of {}", quote::text(uri)));
            findings.push(finding.path("params.uri").as_bad_as(severity));
        } else if method == "notifications/message"
            || LISTS.iter().any(|(_, known)| *known == method) && !lists.contains(&method)
        {
            findings.push(not_requested(method.to_owned()));
        }
    }
}
