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

use super::ends::{Ends, started, tells_command};
use super::{About, Lines, MAX_LINE, Said, What, when};
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::json::Document;
use std::collections::HashMap;

const MESSAGES: [(&str, StreamId); 2] = [
    ("Message from client: ", StreamId::C2S),
    ("Message from server: ", StreamId::S2C),
];

/// What the host says when it starts a server.
const BEGINS: &str = "Initializing server";

/// What stands after whatever there is nothing more to say of.
const NO_METADATA: &str = " { metadata: undefined }";

/// What stands before whatever more there is to say of a line.
const METADATA: &str = " { metadata: ";

/// Bytes of what the log says of a command that are read.
const MOST_OF_COMMAND: usize = 256 * 1024;

/// Bytes before the end of a mark in which it begins.
const MARK: usize = 40;

/// Whether `line` is of such a log.
pub(super) fn is_line(line: &[u8]) -> bool {
    Entry::read(line).is_some()
}

#[derive(Debug, Default)]
pub(super) struct Claude {
    /// The sessions that have begun, by the name of the server, and how far they have ended.
    begun: HashMap<String, Ends>,
    /// The server of the last line that named one.
    last: String,
    wall_ns: Option<u64>,
    open: Open,
}

/// What the last line opened, whose lines follow.
#[derive(Debug, Default)]
enum Open {
    #[default]
    Nothing,
    Object,
    /// The command of the server, as far as it was read.
    Command(String),
    /// A message that is printed over several lines, as far as it was read.
    Message {
        stream: StreamId,
        text: Vec<u8>,
    },
}

impl Lines for Claude {
    fn line(&mut self, line: &[u8], tell: &mut dyn FnMut(Said<'_>)) {
        let Some(entry) = Entry::read(line) else {
            return self.other(line, tell);
        };
        self.close(tell);
        if entry.name.is_empty() {
            let nothing = What::Nothing("it names no server");
            return self.say(nothing, tell);
        }
        self.wall_ns = entry.wall_ns.or(self.wall_ns);
        entry.name.clone_into(&mut self.last);
        let begins = entry.text.starts_with(BEGINS);
        if begins || !self.begun.contains_key(&self.last) {
            self.begun.insert(self.last.clone(), Ends::default());
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

    fn finish(&mut self, tell: &mut dyn FnMut(Said<'_>)) {
        self.close(tell);
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

    fn entry(&mut self, entry: &Entry<'_>, tell: &mut dyn FnMut(Said<'_>)) {
        let message = MESSAGES
            .iter()
            .find_map(|(before, stream)| Some((entry.text.strip_prefix(before)?, *stream)));
        if let Some((text, stream)) = message {
            let bytes = json(text).as_bytes();
            if goes_on(text, bytes) {
                let text = bytes.to_vec();
                self.open = Open::Message { stream, text };
            } else {
                self.message(stream, bytes, tell);
            }
            return;
        }
        let opens = entry.text.trim_end().ends_with('{');
        if opens && tells_command(entry.text) {
            self.open = Open::Command(entry.text.to_owned());
        } else if opens {
            self.open = Open::Object;
        } else {
            self.started(entry.text, tell);
        }
        let message = entry.text.split(METADATA).next().unwrap_or(entry.text);
        let (level, message) = (entry.level.to_owned(), message.trim_end().to_owned());
        let ends = self.begun.get_mut(&self.last);
        let end = ends.and_then(|ends| ends.of(&message));
        self.say(What::Event(EventKind::HostLog { level, message }), tell);
        if let Some(end) = end {
            self.say(What::Event(end), tell);
        }
    }

    fn message(&self, stream: StreamId, bytes: &[u8], tell: &mut dyn FnMut(Said<'_>)) {
        if is_shortened(bytes) || Document::parse(bytes).is_err() {
            let message = "the log does not hold this message whole".to_owned();
            self.say(What::Event(EventKind::Shortened { stream, message }), tell);
        }
        let is_guess = false;
        self.say(
            What::Line {
                stream,
                bytes,
                is_guess,
            },
            tell,
        );
    }

    /// What the log says of how the server was started.
    fn started(&self, text: &str, tell: &mut dyn FnMut(Said<'_>)) {
        if let Some(about) = started(text) {
            self.say(What::Started(about), tell);
        }
    }

    /// A line that the host did not begin: of the server's stderr, or the rest of an object.
    fn other(&mut self, line: &[u8], tell: &mut dyn FnMut(Said<'_>)) {
        // An object ends at the margin, with what the host's own format leaves behind it.
        let ends = line.starts_with(b"}");
        match &mut self.open {
            Open::Nothing => return self.stderr(line, tell),
            Open::Object => {}
            Open::Command(text) => {
                if text.len() < MOST_OF_COMMAND {
                    text.push_str(&String::from_utf8_lossy(line));
                    text.push('\n');
                }
            }
            Open::Message { text, .. } => {
                let line = line.strip_suffix(NO_METADATA.as_bytes()).unwrap_or(line);
                if text.len() + line.len() < MAX_LINE {
                    text.extend_from_slice(line.trim_ascii());
                }
            }
        }
        if ends {
            self.close(tell);
        }
    }

    fn close(&mut self, tell: &mut dyn FnMut(Said<'_>)) {
        match std::mem::take(&mut self.open) {
            Open::Nothing | Open::Object => {}
            Open::Command(text) => self.started(&text, tell),
            Open::Message { stream, text } => self.message(stream, &text, tell),
        }
    }

    fn stderr(&self, line: &[u8], tell: &mut dyn FnMut(Said<'_>)) {
        if self.begun.is_empty() {
            let nothing = What::Nothing("it comes before the first line of the log's own");
            return self.say(nothing, tell);
        }
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

/// Whether a message that begins with `bytes` is printed over several lines: it opens an object at
/// its very end, and the host has not ended its own line.
fn goes_on(text: &str, bytes: &[u8]) -> bool {
    let is_open = matches!(bytes.trim_ascii_end(), [.., b'{' | b'[' | b',']);
    let begins = matches!(bytes.first(), Some(b'{' | b'['));
    begins && is_open && !text.ends_with(NO_METADATA)
}

/// Whether something was taken out of the middle of a message: `...[14696 chars truncated]...`.
fn is_shortened(bytes: &[u8]) -> bool {
    let places = memchr::memmem::find_iter(bytes, b" truncated]");
    places.into_iter().any(|at| {
        let before = &bytes[at.saturating_sub(MARK)..at];
        let mark = before.iter().rposition(|byte| *byte == b'[');
        let words = mark.and_then(|mark| std::str::from_utf8(&before[mark + 1..]).ok());
        words
            .and_then(|words| words.split_once(' '))
            .is_some_and(|(count, unit)| {
                let is_count = !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
                is_count && ["chars", "characters", "bytes"].contains(&unit)
            })
    })
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
