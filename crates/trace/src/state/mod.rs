//! The state of a session at a moment: versions, lists, subscriptions, open calls.
//!
//! A fold over frames, events and exchanges up to that moment. Not every frame is needed: those
//! of [`State::request_methods`] (with their answers) and [`State::notification_methods`], the first ones (who spoke) and the last requests (what a
//! client of the modern era can do) are enough, so that a moment late in a long recording costs
//! no more than an early one. Texts are kept as on the wire and have to be escaped.

use super::event::Event;
use super::exchange::{Exchange, Status};
use super::frame::{FrameHead, Seq};
use super::session::Session;
use compact_str::CompactString;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::{Document, Value};
use mcpreel_wire::mcp::methods::{self, LISTS, List};
use mcpreel_wire::mcp::{Revision, capabilities};
use mcpreel_wire::message::{Body, Content, Direction, Outcome, Request};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Requests that are remembered until their answer: a client that is never answered must not make
/// us grow.
const REMEMBERED: usize = 1024;

/// Methods, beside those about lists, without which the state is not known.
const REQUESTS: [&str; 5] = [
    "initialize",
    "server/discover",
    "resources/subscribe",
    "resources/unsubscribe",
    "logging/setLevel",
];
const NOTIFICATIONS: [&str; 2] = ["notifications/initialized", "initialized"];

#[derive(Clone, Debug, Default)]
pub struct State {
    /// Phase, names, versions, capabilities.
    pub session: Session,
    /// The lists that were answered, by the member of the result: `tools`, `resourceTemplates`.
    pub lists: BTreeMap<&'static str, Listed>,
    /// URIs that the client had subscribed to, with the request that did.
    pub subscriptions: BTreeMap<CompactString, Seq>,
    /// The level from which on the client wanted log messages, with the request that said so.
    pub log_level: Option<(CompactString, Seq)>,
    /// Requests without an answer, in order.
    pub open: Vec<Exchange>,
    /// Answers that were too long to be read for this: what they listed is not known.
    pub unread: Vec<Seq>,
    used: BTreeSet<(&'static str, bool)>,
    pending: VecDeque<Pending>,
}

/// A request whose answer will change the state.
#[derive(Clone, Debug)]
struct Pending {
    direction: Direction,
    id: RequestId,
    seq: Seq,
    asked: Asked,
}

#[derive(Clone, Debug)]
enum Asked {
    List { list: &'static List, further: bool },
    Subscribe(CompactString),
    Unsubscribe(CompactString),
    LogLevel(CompactString),
}

impl State {
    /// The methods of requests that have to be taken in with their answers.
    pub fn request_methods() -> Vec<&'static str> {
        let lists = LISTS.iter().map(|list| list.method);
        REQUESTS.into_iter().chain(lists).collect()
    }

    /// The methods of notifications that have to be taken in.
    pub fn notification_methods() -> Vec<&'static str> {
        let lists = LISTS.iter().map(|list| list.changed);
        NOTIFICATIONS.into_iter().chain(lists).collect()
    }

    /// Takes in the next frame, `raw` as classified; `None` where it was too long to be held.
    pub fn frame(&mut self, head: &FrameHead, content: &Content, raw: Option<&[u8]>) {
        self.session.frame(head, content);
        let Some(direction) = head.stream.messages() else {
            return;
        };
        for message in &content.messages {
            let text = raw.and_then(|raw| raw.get(message.span.clone()));
            match &message.body {
                Body::Request(request) => {
                    self.uses(&request.method, direction);
                    self.request(head.seq, direction, request, text);
                }
                Body::Notification(notification) => {
                    self.uses(&notification.method, direction);
                    self.notification(head.seq, &notification.method);
                }
                Body::Response(response) => {
                    let asked = (direction.reverse(), response.id.as_ref());
                    let is_asked = |it: &Pending| (it.direction, Some(&it.id)) == asked;
                    let at = self.pending.iter().position(is_asked);
                    let pending = at.and_then(|at| self.pending.remove(at));
                    let failed = matches!(response.outcome, Outcome::Error { .. });
                    if let Some(pending) = pending.filter(|_| !failed) {
                        self.response(head.seq, pending, text);
                    }
                }
                Body::Invalid => {}
            }
        }
    }

    pub fn event(&mut self, event: &Event) {
        self.session.event(event);
    }

    /// Takes in an exchange as it is known now: it was open if it was asked until `seq`, and
    /// neither answered nor cancelled by then; of one that was given up nobody knows. In order of
    /// the requests.
    pub fn exchange(&mut self, exchange: &Exchange, seq: Seq) {
        let (asked, _) = exchange.request;
        let answered = exchange.response.is_some_and(|(at, _)| at <= seq);
        let cancelled = exchange.cancelled.is_some_and(|at| at <= seq);
        if asked > seq || answered || cancelled || exchange.status == Status::GivenUp {
            return;
        }
        self.open.push(exchange.clone());
    }

    /// Somebody has used this method by then: what it needs counts as used.
    pub fn uses(&mut self, method: &str, direction: Direction) {
        if let Some(method) = methods::find(method) {
            let to_server = direction == Direction::ClientToServer;
            self.used.insert((method.name, to_server));
        }
    }

    fn request(&mut self, seq: Seq, direction: Direction, request: &Request, text: Option<&[u8]>) {
        let name = || request.name.clone().unwrap_or_default();
        let asked = match (&*request.method, methods::list_of(&request.method)) {
            (_, Some(list)) => Asked::List {
                list,
                further: param(text, "cursor").is_some(),
            },
            ("resources/subscribe", _) => Asked::Subscribe(name()),
            ("resources/unsubscribe", _) => Asked::Unsubscribe(name()),
            ("logging/setLevel", _) => Asked::LogLevel(param(text, "level").unwrap_or_default()),
            _ => return,
        };
        if self.pending.len() == REMEMBERED {
            self.pending.pop_front();
        }
        self.pending.push_back(Pending {
            direction,
            id: request.id.clone(),
            seq,
            asked,
        });
    }

    fn notification(&mut self, seq: Seq, method: &str) {
        for list in LISTS.iter().filter(|list| list.changed == method) {
            if let Some(listed) = self.lists.get_mut(list.member) {
                listed.stale_since.get_or_insert(seq);
            }
        }
    }

    fn response(&mut self, seq: Seq, pending: Pending, text: Option<&[u8]>) {
        match pending.asked {
            Asked::Subscribe(uri) => {
                self.subscriptions.insert(uri, pending.seq);
            }
            Asked::Unsubscribe(uri) => {
                self.subscriptions.remove(&uri);
            }
            Asked::LogLevel(level) => self.log_level = Some((level, pending.seq)),
            Asked::List { list, further } => {
                let document = text.and_then(|text| Document::parse(text).ok());
                let Some(document) = document else {
                    self.unread.push(seq);
                    return;
                };
                if let Some(result) = document.root().get("result") {
                    let listed = self.lists.entry(list.member).or_default();
                    listed.answer(list, pending.seq, seq, further, result);
                }
            }
        }
    }
}

/// A string among the params of a message.
fn param(text: Option<&[u8]>, name: &str) -> Option<CompactString> {
    let document = Document::parse(text?).ok()?;
    let value: Value<'_> = document.root().get("params")?.get(name)?;
    value.as_str().map(Into::into)
}

// What was declared, and what of it was used.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Declared {
    ByClient,
    ByServer,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapabilityUse {
    /// The path of members that declares it: `resources.subscribe`. Not yet escaped.
    pub path: String,
    pub declared: bool,
    /// Whether a method that needs it was used.
    pub used: bool,
}

impl State {
    /// The capabilities that a side had declared, and those that were used, by path.
    pub fn capabilities(&self, by: Declared) -> Vec<CapabilityUse> {
        let peer = match by {
            Declared::ByClient => &self.session.client,
            Declared::ByServer => &self.session.server,
        };
        let declared = capabilities::Declared::read(peer.capabilities.as_deref());
        let used = used(self, by);
        let paths: BTreeSet<&str> = declared.iter().chain(used.iter().copied()).collect();
        let of = |path: &str| CapabilityUse {
            declared: declared.has(path),
            used: used.contains(path),
            path: path.to_owned(),
        };
        paths.into_iter().map(of).collect()
    }
}

/// The capabilities that the used methods need of the side that offers them: of requests the one that
/// receives them, of notifications the one that sends them, unless it is the other one's to
/// declare.
fn used(state: &State, by: Declared) -> BTreeSet<&'static str> {
    let version = state.session.version().and_then(Revision::judging);
    let mut used = BTreeSet::new();
    for &(name, to_server) in &state.used {
        let Some(method) = methods::find(name) else {
            continue;
        };
        let usage = match version {
            Some(version) => method.used_in(version),
            None => method.uses().next(),
        };
        let Some(path) = usage.and_then(|usage| usage.capability) else {
            continue;
        };
        let offered_by_server = (method.kind == methods::Kind::Request) == to_server;
        let by_server = by == Declared::ByServer;
        let is_its_own = path.starts_with("tasks") || capabilities::is_of_client(path) != by_server;
        if offered_by_server == by_server && is_its_own {
            // Who uses a part uses the whole.
            used.extend(path.match_indices('.').map(|(at, _)| &path[..at]));
            used.insert(path);
        }
    }
    used
}

// What a side had been told that there is.

/// Names that are kept of a list: a hostile one could hold a million.
const KEPT: usize = 10_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// Names or URIs in the order of the answers.
    pub names: Vec<CompactString>,
    /// The number of elements; more than names where there were very many.
    pub count: usize,
    pub answered: Option<Seq>,
    /// The first notification since then that it had changed.
    pub stale_since: Option<Seq>,
    /// Whether the last answer said that there is more.
    pub more: bool,
}

impl Listed {
    /// The frame `answered` says what there is, to the request `asked`: a further page, or anew.
    /// An answer to a request from before the change may not know of it.
    fn answer(&mut self, list: &List, asked: Seq, answered: Seq, further: bool, result: Value<'_>) {
        if !further {
            self.names.clear();
            self.count = 0;
            self.stale_since = self.stale_since.filter(|changed| *changed > asked);
        }
        for element in result.get(list.member).iter().flat_map(Value::elements) {
            self.count += 1;
            if self.names.len() < KEPT {
                let name = element.get(list.element).and_then(|name| name.as_str());
                self.names.push(name.unwrap_or_default().into());
            }
        }
        self.answered = Some(answered);
        self.more = result.get("nextCursor").is_some_and(|next| !next.is_null());
    }
}

#[cfg(test)]
mod state_tests;
