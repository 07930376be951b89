//! Notifications that a `subscriptions/listen` request must have asked for, and lists that vary
//! without one.

use crate::{Context, Finding, Part, quote, section};
use mcpreel_trace::bounded::{BoundedMap, digest};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::Value;
use mcpreel_wire::mcp::methods::{LISTS, List};
use mcpreel_wire::message::{Body, Direction, Subject};

rules! {
    ACK_MISSING = error("subscription-ack-missing").of_modern(section::SUBSCRIPTIONS).of_absence()
        .finds("a notification on a subscription that is not acknowledged yet")
        .why("The client does not know yet what it will be told, and may drop what comes before the acknowledgement.")
        .fix("Let the server send `notifications/subscriptions/acknowledged` first.");

    ID_MISSING = error("subscription-id-missing").of_modern(section::SUBSCRIPTIONS)
        .finds("a notification that does not say which subscription it belongs to")
        .why("Several subscriptions may share one stream, so a client cannot tell for whom it is and drops it.")
        .fix("Let the server put the id of the `subscriptions/listen` request into `_meta` of the notification.");

    NOT_REQUESTED = error("subscription-not-requested").of_modern(section::SUBSCRIPTIONS)
        .of_absence()
        .finds("a notification that its subscription has not asked for")
        .why("The client is not prepared for it, and the server does work in vain.")
        .fix("Let the server send only what the `notifications` of the listen request name.");

    UNKNOWN = error("subscription-unknown").of_modern(section::SUBSCRIPTIONS).of_absence()
        .finds("a notification on a subscription that is not open")
        .why("No request of the client has this id, or it is over, so no subscription gets the notification.")
        .fix("Let the server use the id of the `subscriptions/listen` request as it stands there, and stop when that has ended.");

    VARIES = warning("list-varies").of_modern(section::TOOLS)
        .finds("the same request for a list gives another list")
        .why("Clients cannot keep what they have listed, and models are given another prompt each time.")
        .fix("Let the server give lists in an order that does not change, and announce what does change.");
}

/// Subscriptions that are remembered. Beyond it nothing is said about those that are not known.
const STREAMS: usize = 128;

/// A cancel and a notification may cross on the way, for this many nanoseconds.
const GRACE_NS: u64 = 1_000_000_000;

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const UPDATED: &str = "notifications/resources/updated";

/// The subscriptions of the client.
#[derive(Debug, Default)]
pub(super) struct Streams(BoundedMap<RequestId, Stream, STREAMS>);

#[derive(Debug)]
struct Stream {
    frame: Seq,
    filter: Option<Filter>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Asked,
    Acknowledged,
    Cancelled(Moment),
    Over,
}

/// The filter of a subscription: notifications about lists, and whether it names resources.
#[derive(Debug)]
struct Filter {
    lists: Vec<&'static str>,
    names_resources: bool,
}

impl Filter {
    fn of(filter: Value<'_>) -> Self {
        let asks = |list: &&List| {
            let asked = filter.get(list.filter);
            asked.is_some_and(|it| it.as_bool() == Some(true))
        };
        let uris = filter.get("resourceSubscriptions");
        Self {
            lists: LISTS.iter().filter(asks).map(|list| list.changed).collect(),
            names_resources: uris.is_some_and(|uris| uris.index(0).is_some()),
        }
    }
}

impl Streams {
    /// A request of the client by the modern revision.
    pub(super) fn asked(&mut self, part: &Part<'_>) {
        if let Body::Request(request) = &part.message.body
            && &*request.method == "subscriptions/listen"
        {
            let stream = Stream {
                frame: part.seen.head.seq,
                filter: part.param("notifications").map(Filter::of),
                state: State::Asked,
            };
            self.0.insert(request.id.clone(), stream);
        }
    }

    /// An answer to a modern request: with it a subscription is over.
    pub(super) fn answered(&mut self, part: &Part<'_>) {
        if part.method() == Some("subscriptions/listen")
            && let Some(id) = &part.record.rpc_id
        {
            self.end(id, State::Over);
        }
    }

    /// A notification: it may end a subscription.
    pub(super) fn cancelled(&mut self, part: &Part<'_>) {
        if let Body::Notification(notification) = &part.message.body
            && let Subject::Cancelled { request_id, .. } = &notification.subject
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
        if let Some(stream) = self.0.get_mut(id) {
            stream.state = state;
        }
    }

    /// Whether the client is told when `changed` would have to be said.
    fn announce(&self, changed: &str) -> bool {
        self.0.iter().any(|(_, stream)| {
            let filter = stream.filter.as_ref();
            let is_told = filter.is_some_and(|filter| filter.lists.contains(&changed));
            is_told && stream.state == State::Acknowledged
        })
    }

    pub(super) fn notification(&mut self, part: &Part<'_>) {
        let method = part.method().unwrap_or_default();
        if method == "notifications/cancelled" {
            return self.cancelled(part);
        }
        let Some(id) = &part.message.meta.subscription else {
            let is_of_stream = method == ACKNOWLEDGED || method == UPDATED || is_change(method);
            if is_of_stream && part.seen.known.is_modern() && part.value.is_some() {
                part.tell(&ID_MISSING, method);
            }
            return;
        };
        let (shown, shown_id) = (quote::text(method), quote::text(id.json()));
        let detail = format!("{shown}, subscription {shown_id}");
        let Some(stream) = self.0.get_mut(id) else {
            if !self.0.has_forgotten() {
                part.tell(&UNKNOWN, format!("{shown}: no subscription {shown_id}"));
            }
            return;
        };
        match stream.state {
            State::Asked if method == ACKNOWLEDGED => stream.state = State::Acknowledged,
            State::Asked => part.push(part.at(&ACK_MISSING, detail).and(stream.frame)),
            State::Acknowledged => {}
            State::Cancelled(t) if part.seen.head.t_last.ns_since(t) < GRACE_NS => return,
            State::Cancelled(_) | State::Over => {
                let detail = format!("{detail}, which is over");
                return part.push(part.at(&UNKNOWN, detail).and(stream.frame));
            }
        }
        stream.requested(part, method);
    }
}

/// Whether a notification says that a list has changed.
fn is_change(method: &str) -> bool {
    LISTS
        .iter()
        .any(|list| list.changed == method && !list.filter.is_empty())
}

impl Stream {
    /// Tells where the notification was not asked for.
    fn requested(&self, part: &Part<'_>, method: &str) {
        let Some(filter) = &self.filter else {
            return;
        };
        let not_requested = |detail: String| part.at(&NOT_REQUESTED, detail).and(self.frame);
        let is_unwanted = is_change(method) && !filter.lists.contains(&method);
        if is_unwanted || method == "notifications/message" {
            part.push(not_requested(method.to_owned()));
        }
        // Only the server can tell whether a resource is a part of one that was asked for.
        if method == UPDATED && !filter.names_resources {
            part.push(not_requested(method.to_owned()).path("params.uri"));
        }
    }
}

// Whether a list stays the same as long as nobody says that it has changed.
//
// Its order may not vary at all. Its content may: that is told only where the client listens for
// changes.

/// Pages that are remembered. Beyond it the oldest are no longer compared.
const PAGES: usize = 256;

/// How long after a changed list its notification may come, nanoseconds.
const NOTICE_NS: u64 = 1_000_000_000;

#[derive(Debug, Default)]
pub(super) struct Lists {
    /// By the digest of the request.
    pages: BoundedMap<u64, Page, PAGES>,
    /// The latest notification of each kind that a list has changed.
    changes: BoundedMap<Box<str>, Seq, 4>,
    /// Changed lists, and when they came, by the notification that has not come yet.
    unannounced: BoundedMap<Box<str>, (Moment, Finding), 4>,
}

#[derive(Clone, Copy, Debug)]
struct Page {
    frame: Seq,
    ordered: u64,
    unordered: u64,
}

impl Lists {
    /// A notification of the server: it may say that a list has changed.
    pub(super) fn notification(&mut self, part: &Part<'_>) {
        if let Some(method) = part.method().filter(|method| is_change(method)) {
            self.changes.insert(method.into(), part.seen.head.seq);
            self.unannounced.remove(method);
        }
    }

    /// Reports changed lists that were not announced in time, or not until the end.
    pub(super) fn passed(&mut self, context: &Context<'_>, is_over: bool) {
        let is_due = |t: Moment| is_over || context.now.ns_since(t) >= NOTICE_NS;
        for list in &LISTS {
            let waiting = self.unannounced.get(list.changed);
            if waiting.is_some_and(|(t, _)| is_due(*t))
                && let Some((_, finding)) = self.unannounced.remove(list.changed)
            {
                context.findings.push(finding);
            }
        }
    }

    pub(super) fn answered(&mut self, part: &Part<'_>, result: Value<'_>, streams: &Streams) {
        let Some(asked) = part.request().and_then(|asked| asked.list) else {
            return;
        };
        let list = asked.list;
        let Some(items) = result.get(list.member).filter(|_| is_change(list.changed)) else {
            return;
        };
        let page = Page::of(items, part.seen.head.seq);
        let before = self.pages.get(&asked.page()).copied();
        self.pages.insert(asked.page(), page);
        let change = self.changes.get(list.changed).copied();
        let Some(before) = before.filter(|before| change.is_none_or(|seq| seq < before.frame))
        else {
            return;
        };
        let differs = |detail: &str| {
            let finding = part.at(&VARIES, detail).and(before.frame);
            finding.path(format!("result.{}", list.member))
        };
        if before.unordered != page.unordered {
            if streams.announce(list.changed) && !self.unannounced.contains(list.changed) {
                let finding = differs("another content, although no change was announced");
                let waiting = (part.seen.head.t_last, finding);
                self.unannounced.insert(list.changed.into(), waiting);
            }
        } else if before.ordered != page.ordered && list.member == "tools" {
            // Only of tools the specification asks for an order.
            part.push(differs("the same content in another order"));
        }
    }
}

impl Page {
    fn of(items: Value<'_>, frame: Seq) -> Self {
        let digests = items.elements().map(|item| digest(item.raw()));
        let add = |(ordered, unordered): (u64, u64), item: u64| {
            (digest((ordered, item)), unordered.wrapping_add(item))
        };
        let (ordered, unordered) = digests.fold((0, 0), add);
        Self {
            frame,
            ordered,
            unordered,
        }
    }
}
