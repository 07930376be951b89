//! JSON Lines of messages: bare, or in an object that says when it was and which way it went.
//!
//! ```text
//! {"jsonrpc":"2.0","id":1,"method":"tools/list"}
//! {"timestamp":"2026-03-10T15:18:27Z","direction":"client->server","message":{"jsonrpc":"2.0",…}}
//! ```

use super::{About, Entry, LogReader, What, time_of_value};
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::{Document, Kind, Value};
use mcpreel_wire::mcp::methods::{self, Method, Way};
use mcpreel_wire::message::{Body, Direction, Message, Subject, classify};
use std::borrow::Cow;
use std::collections::HashMap;

const MESSAGE_KEYS: [&str; 9] = [
    "message", "msg", "raw", "frame", "payload", "data", "body", "json", "content",
];

const TIME_KEYS: [&str; 6] = ["timestamp", "@timestamp", "ts", "time", "date", "datetime"];

const DIRECTION_KEYS: [&str; 7] = ["direction", "dir", "d", "from", "source", "sender", "side"];

/// Requests whose side is remembered; an answer to an older one is taken for the server's.
const MOST_OPEN: usize = 10_000;

/// Whether `line` is of such a file.
pub(super) fn is_line(line: &[u8]) -> bool {
    let (document, _) = Document::read_prefix(line, usize::MAX);
    document.is_some_and(|document| Wrapped::read(document.root()).is_some())
}

#[derive(Debug, Default)]
pub(super) struct Jsonl {
    has_begun: bool,
    /// The side that sent each request; its answer goes the other way.
    asked: HashMap<RequestId, Direction>,
}

impl LogReader for Jsonl {
    fn line(&mut self, line: &[u8], visit: &mut dyn FnMut(Entry<'_>)) {
        let document = Document::parse(line);
        let wrapped = document.as_ref().map(|it| Wrapped::read(it.root()));
        let wall_ns = wrapped.iter().flatten().find_map(|wrapped| wrapped.wall_ns);
        let mut visit = |what| {
            visit(Entry {
                session: "",
                wall_ns,
                what,
            });
        };
        if !self.has_begun && wrapped.is_ok() {
            self.has_begun = true;
            visit(What::Begin(About::default()));
        }
        match &wrapped {
            Ok(Some(wrapped)) => visit(self.message(wrapped)),
            Ok(None) => visit(What::Nothing("it is not a JSON-RPC message")),
            Err(_) => visit(What::Nothing("it is not JSON")),
        }
    }
}

impl Jsonl {
    fn message<'a>(&mut self, wrapped: &'a Wrapped<'_>) -> What<'a> {
        let bytes = &*wrapped.message;
        let messages = classify(bytes).messages;
        let (direction, is_guess) = match (wrapped.direction, messages.first()) {
            (Some(direction), _) => (direction, false),
            (None, Some(first)) => self.direction_of(first),
            (None, None) => (Direction::ServerToClient, true),
        };
        for message in &messages {
            if let Body::Request(request) = &message.body
                && self.asked.len() < MOST_OPEN
            {
                self.asked.insert(request.id.clone(), direction);
            }
        }
        What::Line {
            stream: match direction {
                Direction::ClientToServer => StreamId::C2S,
                Direction::ServerToClient => StreamId::S2C,
            },
            bytes,
            is_guess,
        }
    }

    /// The direction of a message whose log does not say it, and whether that is a guess.
    fn direction_of(&mut self, message: &Message) -> (Direction, bool) {
        use Direction::{ClientToServer, ServerToClient};
        match &message.body {
            Body::Request(request) => direction_of_method(&request.method, ClientToServer),
            Body::Response(response) => {
                let asked = response.id.as_ref().and_then(|id| self.asked.remove(id));
                asked.map_or((ServerToClient, true), |asked| (asked.reverse(), false))
            }
            Body::Notification(notification) => {
                let asked = match &notification.subject {
                    Subject::Cancelled { request_id, .. } => request_id.as_ref(),
                    _ => None,
                };
                let asked = asked.and_then(|id| self.asked.get(id)).copied();
                asked.map_or_else(
                    || direction_of_method(&notification.method, ServerToClient),
                    |asked| (asked, false),
                )
            }
            Body::Invalid => (ServerToClient, true),
        }
    }
}

/// By who may send the method, else as it is `usual`.
fn direction_of_method(method: &str, usual: Direction) -> (Direction, bool) {
    let uses = methods::find(method).into_iter().flat_map(Method::uses);
    let mut ways: Vec<_> = uses.map(|usage| usage.way).collect();
    ways.dedup();
    match ways[..] {
        [Way::ToServer] => (Direction::ClientToServer, false),
        [Way::ToClient] => (Direction::ServerToClient, false),
        _ => (usual, true),
    }
}

/// A message and what stands around it.
#[derive(Default)]
struct Wrapped<'d> {
    message: Cow<'d, [u8]>,
    wall_ns: Option<u64>,
    direction: Option<Direction>,
}

impl<'d> Wrapped<'d> {
    fn read(root: Value<'d>) -> Option<Self> {
        if is_message(root) {
            return Some(Self {
                message: Cow::Borrowed(root.raw()),
                ..Self::default()
            });
        }
        let message = MESSAGE_KEYS
            .iter()
            .find_map(|key| message(root.get(key)?))?;
        let first = |keys: &[&str]| keys.iter().find_map(|key| root.get(key));
        let time = first(&TIME_KEYS).filter(|time| !time.is_null());
        Some(Self {
            message,
            wall_ns: time.and_then(time_of_value),
            direction: first(&DIRECTION_KEYS).and_then(|way| direction(&way.as_str()?)),
        })
    }
}

/// The message that `value` is, or that stands in it as a text.
fn message(value: Value<'_>) -> Option<Cow<'_, [u8]>> {
    if is_message(value) {
        return Some(Cow::Borrowed(value.raw()));
    }
    let text = value.as_str()?;
    let is_one = Document::parse(text.as_bytes()).is_ok_and(|inner| is_message(inner.root()));
    is_one.then(|| Cow::Owned(text.trim().as_bytes().to_vec()))
}

/// Whether it looks like JSON-RPC: an object of it, or a batch of them.
fn is_message(value: Value<'_>) -> bool {
    let object = match value.kind() {
        Kind::Array => value.elements().next(),
        _ => Some(value),
    };
    object.is_some_and(|object| {
        let has = |key| object.get(key).is_some();
        has("jsonrpc") || (has("id") && (has("method") || has("result") || has("error")))
    })
}

/// The direction, in the words that logs have for it: `client->server`, `from_host`, `stdin`.
fn direction(text: &str) -> Option<Direction> {
    let text = text.to_lowercase().replace(['_', '-'], " ");
    let text = text.trim_start_matches("from").trim_start();
    let begins = |words: &[&str]| words.iter().any(|word| text.starts_with(word));
    if begins(&["c2s", "stdin", "client", "host", "to server"]) {
        return Some(Direction::ClientToServer);
    }
    let is_to_client = begins(&["s2c", "stdout", "server", "to client"]);
    is_to_client.then_some(Direction::ServerToClient)
}
