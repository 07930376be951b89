//! The logs of Claude Desktop, `mcp.log` and `mcp-server-NAME.log`:
//!
//! ```text
//! 2026-03-10T15:18:27.783Z [weather] [info] Message from client: {"method":"initialize",…} { metadata: undefined }
//! 2026-03-10T15:18:28.119Z [weather] [info] Server transport closed { metadata: undefined }
//! a line of the server's stderr
//! ```
//!
//! Older ones have the level before the name. A session begins where the server is started; the
//! lines of several servers may stand in one file.

use super::{About, Lines, Said, What, when};
use crate::protocol::json::Document;
use crate::trace::event::{Closer, EventKind};
use crate::trace::frame::StreamId;
use std::collections::HashSet;

/// What stands before a message.
const MESSAGES: [(&str, StreamId); 2] = [
    ("Message from client: ", StreamId::C2S),
    ("Message from server: ", StreamId::S2C),
];

/// What the host says when it starts a server.
const BEGINS: &str = "Initializing server";

/// What it says when the server has closed its side without being asked to.
const CLOSED: &str = "Server transport closed unexpectedly";

/// What stands after whatever there is nothing more to say of.
const NO_METADATA: &str = " { metadata: undefined }";

/// Whether `line` is of such a log.
pub(super) fn is_line(line: &[u8]) -> bool {
    Entry::read(line).is_some()
}

/// Reads such a log.
#[derive(Debug, Default)]
pub(super) struct Claude {
    /// The sessions that have begun, by the name of the server.
    begun: HashSet<String>,
    /// The server of the last line that named one.
    last: String,
    /// When that was.
    wall_ns: Option<u64>,
    /// Whether the last line opened an object whose lines follow.
    is_within: bool,
}

impl Lines for Claude {
    fn line(&mut self, line: &[u8], tell: &mut dyn FnMut(Said<'_>)) {
        let Some(entry) = Entry::read(line) else {
            return self.other(line, tell);
        };
        self.wall_ns = entry.wall_ns.or(self.wall_ns);
        entry.name.clone_into(&mut self.last);
        self.is_within = entry.text.trim_end().ends_with('{');
        let begins = entry.text.starts_with(BEGINS);
        if self.begun.insert(self.last.clone()) || begins {
            let name = self.last.clone();
            self.say(
                What::Begin(About {
                    name,
                    ..About::default()
                }),
                tell,
            );
        }
        self.entry(&entry, tell);
    }
}

impl Claude {
    fn say(&self, what: What<'_>, tell: &mut dyn FnMut(Said<'_>)) {
        tell(Said {
            session: &self.last,
            wall_ns: self.wall_ns,
            what,
        });
    }

    fn entry(&self, entry: &Entry<'_>, tell: &mut dyn FnMut(Said<'_>)) {
        let message = MESSAGES
            .iter()
            .find_map(|(before, stream)| Some((entry.text.strip_prefix(before)?, *stream)));
        let Some((message, stream)) = message else {
            let message = entry.text.strip_suffix(NO_METADATA).unwrap_or(entry.text);
            let (level, message) = (entry.level.to_owned(), message.trim_end().to_owned());
            let happened = happened(&message);
            self.say(What::Event(EventKind::HostLog { level, message }), tell);
            if let Some(happened) = happened {
                self.say(What::Event(happened), tell);
            }
            return;
        };
        let bytes = json(message).as_bytes();
        let is_guess = false;
        self.say(
            What::Line {
                stream,
                bytes,
                is_guess,
            },
            tell,
        );
        if Document::parse(bytes).is_err() {
            let message = "the log does not hold this message whole".to_owned();
            self.say(What::Event(EventKind::Warning { message }), tell);
        }
    }

    /// A line that the host did not begin: of the server's stderr, or the rest of an object.
    fn other(&mut self, line: &[u8], tell: &mut dyn FnMut(Said<'_>)) {
        if self.is_within {
            // The object ends at the margin, with what the host's own format leaves behind it.
            self.is_within = !line.starts_with(b"}");
        } else if self.begun.is_empty() {
            let nothing = What::Nothing("it comes before the first line of the log's own");
            self.say(nothing, tell);
        } else {
            let (stream, is_guess) = (StreamId::STDERR, false);
            self.say(
                What::Line {
                    stream,
                    bytes: line,
                    is_guess,
                },
                tell,
            );
        }
    }
}

/// What the host tells of the process, as the recorder would have put it on record.
fn happened(message: &str) -> Option<EventKind> {
    if message.starts_with(CLOSED) {
        let (stream, by) = (StreamId::S2C, Closer::Writer);
        return Some(EventKind::Eof { stream, by });
    }
    let (_, failed) = message.split_once("spawn ").filter(|(before, _)| {
        // At the beginning, or behind the words `Error: `.
        before.is_empty() || before.ends_with(": ")
    })?;
    let codes = [
        (" ENOENT", 127, "not found"),
        (" EACCES", 126, "not executable"),
    ];
    let (program, exit_code, why) = codes.into_iter().find_map(|(code, exit_code, why)| {
        let (program, _) = failed.split_once(code)?;
        Some((program, exit_code, why))
    })?;
    let message = format!("{program}: {why}, says the host's log");
    Some(EventKind::SpawnFailed { exit_code, message })
}

/// The message that `text` begins with; all of it where it begins with none.
fn json(text: &str) -> &str {
    let text = text.strip_suffix(NO_METADATA).unwrap_or(text).trim();
    let mut texts = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
    match texts.next() {
        Some(Ok(_)) => &text[..texts.byte_offset()],
        _ => text,
    }
}

/// A line as the host begins them.
struct Entry<'a> {
    wall_ns: Option<u64>,
    name: &'a str,
    level: &'a str,
    text: &'a str,
}

impl<'a> Entry<'a> {
    fn read(line: &'a [u8]) -> Option<Self> {
        let line = std::str::from_utf8(line).ok()?;
        let (time, rest) = line.split_once(" [")?;
        let wall_ns = Some(when::of_text(time)?);
        let (first, rest) = rest.split_once("] ")?;
        let is_level = |word: &str| ["debug", "info", "warn", "error", "log"].contains(&word);
        let (second, text) = match rest.strip_prefix('[') {
            Some(rest) => rest.split_once("] ").or(rest.split_once(']'))?,
            None => ("", rest),
        };
        let (name, level) = match (is_level(first), is_level(second)) {
            (_, true) => (first, second),
            (true, false) => (second, first),
            (false, false) => return None,
        };
        Some(Self {
            wall_ns,
            name,
            level,
            text,
        })
    }
}
