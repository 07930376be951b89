//! Notifications that a `subscriptions/listen` request must have asked for, and lists that vary
//! without one.

use crate::capability::is_within;
use crate::{Finding, Findings, Part, Revisions, Severity, quote, section};
use mcpreel_trace::bounded::{BoundedMap, digest};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::brief;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::Value;
use mcpreel_wire::mcp::keys;
use mcpreel_wire::message::{Body, Direction, Subject};

rules! {
    ACK_MISSING = error("subscription-ack-missing",
        "a notification on a subscription that is not acknowledged yet")
        .why("The client does not know yet what it will be told, and may drop what comes before the acknowledgement.")
        .fix("Let the server send `notifications/subscriptions/acknowledged` first.")
        .of(section::SUBSCRIPTIONS)
        .only(Revisions::MODERN)
        .of_absence();

    ID_MISSING = error("subscription-id-missing",
        "a notification that does not say which subscription it belongs to")
        .why("All subscriptions share one pipe, so a client cannot tell for whom it is and drops it.")
        .fix("Let the server put the id of the `subscriptions/listen` request into `_meta` of the notification.")
        .of(section::SUBSCRIPTIONS)
        .only(Revisions::MODERN);

    NOT_REQUESTED = error("subscription-not-requested",
        "a notification that its subscription has not asked for")
        .why("The client is not prepared for it, and the server spends its time on what nobody wants.")
        .fix("Let the server send only what the `notifications` of the listen request name.")
        .of(section::SUBSCRIPTIONS)
        .only(Revisions::MODERN)
        .milder_where(Severity::Warning, "it tells of a resource, and the subscription names others")
        .of_absence();

    UNKNOWN = error("subscription-unknown", "a notification on a subscription that is not open")
        .why("No request of the client has this id, or it is over, so the notification reaches nobody.")
        .fix("Let the server use the id of the `subscriptions/listen` request as it stands there, and stop when that has ended.")
        .of(section::SUBSCRIPTIONS)
        .only(Revisions::MODERN)
        .of_absence();

    VARIES = warning("list-varies", "the same request for a list gives another list")
        .why("Clients cannot keep what they have listed, and models are given another prompt each time.")
        .fix("Let the server give lists in an order that does not change, and announce what does change.")
        .of(section::TOOLS)
        .only(Revisions::MODERN)
        .milder_where(Severity::Note, "nothing but the order differs, and what is listed is no tools");
}

/// Subscriptions that are remembered. Beyond it nothing is said about those that are not known.
const STREAMS: usize = 128;

/// A cancel and a notification may cross on the way, for this many nanoseconds.
const GRACE_NS: u64 = 1_000_000_000;

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";

/// The subscriptions of the client.
#[derive(Debug, Default)]
pub(super) struct Streams {
    streams: BoundedMap<RequestId, Stream, STREAMS>,
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

// What a `subscriptions/listen` request asks for.

/// Resources of one subscription that are remembered. One with more of them is not judged by them.
const URIS: usize = 256;

/// Bytes of the resources of one subscription that are remembered: they can be as long as a line.
const TEXT: usize = 8 << 10;

#[derive(Debug)]
pub(super) enum Filter {
    Any,
    Only {
        lists: Vec<&'static str>,
        uris: Vec<Box<str>>,
    },
}

/// The members that ask for changes of lists, and the notifications that tell of them.
pub(super) const LISTS: [(&str, &str); 3] = [
    ("toolsListChanged", "notifications/tools/list_changed"),
    ("promptsListChanged", "notifications/prompts/list_changed"),
    (
        "resourcesListChanged",
        "notifications/resources/list_changed",
    ),
];

pub(super) const UPDATED: &str = "notifications/resources/updated";

impl Filter {
    pub(super) fn of(filter: Option<Value<'_>>) -> Self {
        let Some(filter) = filter else {
            return Self::Any;
        };
        let asks = |name: &str| {
            filter
                .get(name)
                .is_some_and(|it| it.as_bool() == Some(true))
        };
        let lists = LISTS.iter().filter(|(member, _)| asks(member));
        let uris = filter.get("resourceSubscriptions");
        let too_much =
            |uris: &Value<'_>| uris.raw().len() > TEXT || uris.elements().nth(URIS).is_some();
        if uris.as_ref().is_some_and(too_much) {
            return Self::Any;
        }
        let uris = uris.into_iter().flat_map(|uris| uris.elements());
        Self::Only {
            lists: lists.map(|(_, method)| *method).collect(),
            uris: uris.filter_map(|uri| Some(uri.as_str()?.into())).collect(),
        }
    }
}

// Whether a list stays the same as long as nobody says that it has changed.
//
// The same request has the same method and params, but for what tells one request from another.
// Its order may not vary at all. Its content may: that is told only where the client listens for
// changes, and nothing is heard of one for a while.

/// Pages, and requests for them, that are remembered. Beyond it the oldest are no longer compared.
const PAGES: usize = 256;

/// How long after a changed list its notification may come, nanoseconds.
const NOTICE_NS: u64 = 1_000_000_000;

#[derive(Debug)]
struct List {
    method: &'static str,
    /// The member of the result that is the list.
    member: &'static str,
    /// The notification that says that it has changed.
    changed: &'static str,
}

const WATCHED: [List; 4] = [
    List {
        method: "tools/list",
        member: "tools",
        changed: "notifications/tools/list_changed",
    },
    List {
        method: "prompts/list",
        member: "prompts",
        changed: "notifications/prompts/list_changed",
    },
    List {
        method: "resources/list",
        member: "resources",
        changed: "notifications/resources/list_changed",
    },
    List {
        method: "resources/templates/list",
        member: "resourceTemplates",
        changed: "notifications/resources/list_changed",
    },
];

#[derive(Debug)]
pub(super) struct Lists {
    asked: BoundedMap<ExchangeId, u64, PAGES>,
    pages: BoundedMap<u64, Page, PAGES>,
    /// How often each list was said to have changed.
    changes: [u64; WATCHED.len()],
    /// A list with another content, and when it came: nobody has said yet that it has changed.
    unannounced: [Option<(Moment, Finding)>; WATCHED.len()],
}

#[derive(Clone, Copy, Debug)]
struct Page {
    frame: Seq,
    changes: u64,
    ordered: u64,
    unordered: u64,
}

impl Default for Lists {
    fn default() -> Self {
        Self {
            asked: BoundedMap::default(),
            pages: BoundedMap::default(),
            changes: [0; WATCHED.len()],
            unannounced: [const { None }; WATCHED.len()],
        }
    }
}

fn position(method: &str) -> Option<usize> {
    WATCHED.iter().position(|list| list.method == method)
}

/// Whether it lists something, in pages.
pub(super) fn is_list(method: &str) -> bool {
    position(method).is_some()
}

impl Lists {
    pub(super) fn asked(&mut self, part: &Part<'_>) {
        let is_list = part.method().is_some_and(is_list);
        if is_list
            && part.value.is_some()
            && let Some(exchange) = part.exchange()
        {
            self.asked.insert(exchange, key(part));
        }
    }

    /// A notification of the server: it may say that a list has changed.
    pub(super) fn notification(&mut self, part: &Part<'_>) {
        let Some(method) = part.method().filter(|it| it.ends_with("/list_changed")) else {
            return;
        };
        for (at, list) in WATCHED.iter().enumerate() {
            if list.changed == method {
                self.changes[at] += 1;
                self.unannounced[at] = None;
            }
        }
    }

    pub(super) fn answered(
        &mut self,
        part: &Part<'_>,
        result: Value<'_>,
        streams: &Streams,
        findings: &mut Findings,
    ) {
        let Some(at) = part.method().and_then(position) else {
            return;
        };
        let asked = part.exchange().and_then(|id| self.asked.remove(&id));
        let (Some(key), Some(items)) = (asked, result.get(WATCHED[at].member)) else {
            return;
        };
        let page = Page::of(items, part.seen.head.seq, self.changes[at]);
        let before = self.pages.get(&key).copied();
        self.pages.insert(key, page);
        let Some(before) = before.filter(|before| before.changes == page.changes) else {
            return;
        };
        let differs = |detail: &str| {
            let finding = part.at(&VARIES, detail).and(before.frame);
            finding.path(format!("result.{}", WATCHED[at].member))
        };
        if before.unordered != page.unordered {
            if streams.announce(WATCHED[at].changed) {
                let finding = differs("another content, although no change was announced");
                self.unannounced[at] = Some((part.seen.head.t_last, finding));
            }
        } else if before.ordered != page.ordered {
            // Only of tools the specification asks for an order.
            let severity = [Severity::Note, Severity::Warning][usize::from(at == 0)];
            findings.push(differs("the same content in another order").as_bad_as(severity));
        }
    }

    pub(super) fn passed(&mut self, now: Moment, findings: &mut Findings) {
        for slot in &mut self.unannounced {
            let is_due = |(t, _): &mut (Moment, Finding)| now.0.saturating_sub(t.0) >= NOTICE_NS;
            findings.extend(slot.take_if(is_due).map(|(_, finding)| finding));
        }
    }
}

impl Page {
    fn of(items: Value<'_>, frame: Seq, changes: u64) -> Self {
        let digests = items.elements().map(|item| digest(item.raw()));
        let add = |(ordered, unordered): (u64, u64), item: u64| {
            (digest((ordered, item)), unordered.wrapping_add(item))
        };
        let (ordered, unordered) = digests.fold((0, 0), add);
        Self {
            frame,
            changes,
            ordered,
            unordered,
        }
    }
}

/// What is asked for, without what tells one request from another.
fn key(part: &Part<'_>) -> u64 {
    let mut key = digest(part.method());
    let mut add = |name: Value<'_>, value: Value<'_>| {
        let member = digest((name.str_bytes(), value.raw()));
        key = key.wrapping_add(member);
    };
    let params = part.params().into_iter().flat_map(|it| it.members());
    for (name, value) in params {
        if !name.is_str("_meta") {
            add(name, value);
            continue;
        }
        for (name, value) in value.members() {
            let says_who = [
                keys::CLIENT_CAPABILITIES,
                keys::CLIENT_INFO,
                keys::PROTOCOL_VERSION,
            ];
            if says_who.iter().any(|key| name.is_str(key)) {
                add(name, value);
            }
        }
    }
    key
}
