//! JSON Lines of messages: bare, or in an object that says when it was and which way it went.
//!
//! ```text
//! {"jsonrpc":"2.0","id":1,"method":"tools/list"}
//! {"timestamp":"2026-03-10T15:18:27Z","direction":"client->server","message":{"jsonrpc":"2.0",…}}
//! ```
//!
//! One that is printed over several lines, from a bracket at the margin to the other, is joined.

use super::sides::Sides;
use super::{About, Lines, Said, What, when};
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::json::{Document, Kind, Value};
use mcpreel_wire::message::Direction;
use std::borrow::Cow;

/// Where the message stands in such an object.
const MESSAGE: [&str; 9] = [
    "message", "msg", "raw", "frame", "payload", "data", "body", "json", "content",
];

const TIME: [&str; 8] = [
    "timestamp",
    "@timestamp",
    "ts",
    "time",
    "t",
    "date",
    "datetime",
    "at",
];

/// Bytes of lines that are joined.
const MOST_JOINED: usize = 16 * 1024 * 1024;

/// Characters that are shown of a time that could not be read.
const SHOWN: usize = 60;

const WAY: [&str; 7] = ["direction", "dir", "d", "from", "source", "sender", "side"];

/// Whether `line` is of such a file.
pub(super) fn is_line(line: &[u8]) -> bool {
    let (document, _) = Document::read_prefix(line, usize::MAX);
    document.is_some_and(|document| Wrapped::read(document.root()).is_some())
}

#[derive(Debug, Default)]
pub(super) struct Messages {
    has_begun: bool,
    sides: Sides,
    /// The lines of a value that is printed over several, as far as it was read.
    open: Vec<u8>,
}

impl Lines for Messages {
    fn line(&mut self, line: &[u8], tell: &mut dyn FnMut(Said<'_>)) {
        if self.open.is_empty() && !is_opening(line) {
            return self.value(line, tell);
        }
        // The next one begins before this one has ended.
        if !self.open.is_empty() && (line.starts_with(b"{") || self.open.len() > MOST_JOINED) {
            self.finish(tell);
            return self.line(line, tell);
        }
        // No text goes on over the end of a line, and white space between values means nothing.
        self.open.extend_from_slice(line.trim_ascii());
        if matches!(line.first(), Some(b'}' | b']')) {
            let text = std::mem::take(&mut self.open);
            self.value(&text, tell);
        }
    }

    fn finish(&mut self, tell: &mut dyn FnMut(Said<'_>)) {
        if !std::mem::take(&mut self.open).is_empty() {
            tell(Said {
                session: "",
                wall_ns: None,
                what: What::Nothing("an object over several lines ends before it, unfinished"),
            });
        }
    }
}

/// Whether a line is the first of a value that is printed over several.
fn is_opening(line: &[u8]) -> bool {
    matches!(line.trim_ascii_end(), b"{" | b"[")
}

impl Messages {
    /// A line with a value, or lines that are one.
    fn value(&mut self, line: &[u8], tell: &mut dyn FnMut(Said<'_>)) {
        let document = Document::parse(line);
        let wrapped = document.as_ref().map(|it| Wrapped::read(it.root()));
        let mut unread = None;
        let (wall_ns, what) = match &wrapped {
            Ok(Some(wrapped)) => {
                unread.clone_from(&wrapped.unread);
                (wrapped.wall_ns, self.message(wrapped))
            }
            Ok(None) => (None, What::Nothing("it holds no JSON-RPC message")),
            Err(_) => (None, What::Nothing("it is no JSON")),
        };
        let mut say = |what| {
            let session = "";
            tell(Said {
                session,
                wall_ns,
                what,
            });
        };
        if !self.has_begun && wrapped.is_ok() {
            self.has_begun = true;
            say(What::Begin(About::default()));
        }
        if let Some(time) = unread {
            say(What::Unread(time));
        }
        say(what);
    }

    fn message<'a>(&mut self, wrapped: &'a Wrapped<'_>) -> What<'a> {
        let bytes = &*wrapped.message;
        let (direction, is_guess) = match wrapped.direction {
            Some(direction) => {
                self.sides.told(bytes, direction);
                (direction, false)
            }
            None => self.sides.of(bytes),
        };
        let stream = match direction {
            Direction::ClientToServer => StreamId::C2S,
            Direction::ServerToClient => StreamId::S2C,
        };
        What::Line {
            stream,
            bytes,
            is_guess,
        }
    }
}

/// A message and what stands around it.
struct Wrapped<'d> {
    message: Cow<'d, [u8]>,
    wall_ns: Option<u64>,
    /// The time that stands there, if it could not be read.
    unread: Option<String>,
    direction: Option<Direction>,
}

impl<'d> Wrapped<'d> {
    fn read(root: Value<'d>) -> Option<Self> {
        let bare = |message| Self {
            message,
            wall_ns: None,
            unread: None,
            direction: None,
        };
        if is_message(root) {
            return Some(bare(Cow::Borrowed(root.raw())));
        }
        let message = MESSAGE.iter().find_map(|key| message(root.get(key)?))?;
        let time = first(root, &TIME).filter(|time| !time.is_null());
        let wall_ns = time.and_then(when::of_value);
        let unread = time.filter(|_| wall_ns.is_none());
        Some(Self {
            wall_ns,
            unread: unread.map(|time| time.raw_text().chars().take(SHOWN).collect()),
            direction: first(root, &WAY).and_then(|way| direction(&way.as_str()?)),
            ..bare(message)
        })
    }
}

fn first<'d>(root: Value<'d>, keys: &[&str]) -> Option<Value<'d>> {
    keys.iter().find_map(|key| root.get(key))
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
    let first = (value.kind() == Kind::Array).then(|| value.elements().next());
    let object = first.map_or(Some(value), |first| first);
    object.is_some_and(|object| {
        let has = |key| object.get(key).is_some();
        has("jsonrpc") || (has("id") && (has("method") || has("result") || has("error")))
    })
}

/// Which way, from the words in which logs say it.
fn direction(text: &str) -> Option<Direction> {
    use Direction::{ClientToServer, ServerToClient};
    let text = text.to_lowercase();
    let text = text
        .trim_start_matches("from")
        .trim_start_matches([' ', '_', '-']);
    let by_client = ["c2s", "stdin"].contains(&text)
        || ["client", "host", "to_server", "to-server", "to server"]
            .iter()
            .any(|word| text.starts_with(word));
    let by_server = ["s2c", "stdout"].contains(&text)
        || ["server", "to_client", "to-client", "to client"]
            .iter()
            .any(|word| text.starts_with(word));
    match (by_client, by_server) {
        (true, false) => Some(ClientToServer),
        (false, true) => Some(ServerToClient),
        _ => None,
    }
}
