//! The logs of Claude Desktop, `mcp.log` and `mcp-server-NAME.log`:
//!
//! ```text
//! 2026-03-10T15:18:27.783Z [weather] [info] Message from client: {"method":"initialize",…} { metadata: undefined }
//! 2026-03-10T15:18:28.119Z [weather] [info] Server transport closed { metadata: undefined }
//! a line of the server's stderr
//! ```
//!
//! Older ones have the level before the name. A session begins where the server is started; the
//! lines of several servers may stand in one file. Objects that the host prints over several lines
//! for people are passed over.

use super::{About, Entry, LogReader, What, time_of_text};
use mcpreel_trace::event::{Closer, EventKind};
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::json::Document;
use std::collections::HashMap;

const MESSAGES: [(&str, StreamId); 2] = [
    ("Message from client: ", StreamId::C2S),
    ("Message from server: ", StreamId::S2C),
];

/// The beginning of the host's line when it starts a server.
const BEGINS: &str = "Initializing server";

/// The end of a line of the host that has no metadata.
const NO_METADATA: &str = " { metadata: undefined }";

const METADATA: &str = " { metadata: ";

/// Whether `line` is of such a log.
pub(super) fn is_line(line: &[u8]) -> bool {
    HostLine::read(line).is_some()
}

#[derive(Debug, Default)]
pub(super) struct Claude {
    /// The sessions that have begun, by the name of the server.
    begun: HashMap<String, Ends>,
    /// The server of the last line that named one.
    last: String,
    wall_ns: Option<u64>,
    /// Whether the last line opened an object whose lines follow.
    in_object: bool,
}

impl LogReader for Claude {
    fn line(&mut self, line: &[u8], visit: &mut dyn FnMut(Entry<'_>)) {
        let Some(host) = HostLine::read(line) else {
            return self.foreign_line(line, visit);
        };
        self.in_object = host.text.trim_end().ends_with('{');
        if host.name.is_empty() {
            return self.visit(What::Nothing("it names no server"), visit);
        }
        self.wall_ns = host.wall_ns.or(self.wall_ns);
        host.name.clone_into(&mut self.last);
        if host.text.starts_with(BEGINS) || !self.begun.contains_key(&self.last) {
            self.begun.insert(self.last.clone(), Ends::default());
            let name = self.last.clone();
            let about = About {
                name,
                ..About::default()
            };
            self.visit(What::Begin(about), visit);
        }
        let message = MESSAGES
            .iter()
            .find_map(|(before, stream)| Some((host.text.strip_prefix(before)?, *stream)));
        let Some((text, stream)) = message else {
            return self.remark(&host, visit);
        };
        let bytes = json(text).as_bytes();
        // Something was taken out of the middle: `...[14696 chars truncated]...`.
        let is_shortened = memchr::memmem::find(bytes, b" chars truncated]").is_some();
        if is_shortened || Document::parse(bytes).is_err() {
            let message = "the log does not hold this message whole".to_owned();
            self.visit(What::Event(EventKind::Shortened { stream, message }), visit);
        }
        self.stream_line(stream, bytes, visit);
    }
}

impl Claude {
    fn visit(&self, what: What<'_>, visit: &mut dyn FnMut(Entry<'_>)) {
        visit(Entry {
            session: &self.last,
            wall_ns: self.wall_ns,
            what,
        });
    }

    fn stream_line(&self, stream: StreamId, bytes: &[u8], visit: &mut dyn FnMut(Entry<'_>)) {
        let line = What::Line {
            stream,
            bytes,
            is_guess: false,
        };
        self.visit(line, visit);
    }

    /// Takes in a line of the host's own words.
    fn remark(&mut self, host: &HostLine<'_>, visit: &mut dyn FnMut(Entry<'_>)) {
        let message = host.text.split(METADATA).next().unwrap_or(host.text);
        let (level, message) = (host.level.to_owned(), message.trim_end().to_owned());
        let ends = self.begun.get_mut(&self.last);
        let end = ends.and_then(|ends| ends.event_of(&message));
        let log = EventKind::HostLog { level, message };
        for kind in [Some(log), end].into_iter().flatten() {
            self.visit(What::Event(kind), visit);
        }
    }

    /// A line that the host did not begin: of the server's stderr, or the rest of an object, which
    /// ends with a brace at the margin.
    fn foreign_line(&mut self, line: &[u8], visit: &mut dyn FnMut(Entry<'_>)) {
        if self.in_object {
            self.in_object = !line.starts_with(b"}");
        } else if self.begun.is_empty() {
            let why = "it comes before the first line of the log's own";
            self.visit(What::Nothing(why), visit);
        } else {
            self.stream_line(StreamId::STDERR, line, visit);
        }
    }
}

/// The steps of a session's end so far. The host says more than once that something was closed;
/// an event tells it once.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    host: bool,
    server: bool,
    exited: bool,
}

impl Ends {
    /// The event for a line about the end, if the line says something new.
    fn event_of(&mut self, text: &str) -> Option<EventKind> {
        let by = Closer::Writer;
        let says = |what: &str| text.starts_with(what);
        let is_exit = says("Server transport closed unexpectedly");
        let (is_told, kind) = if is_exit || text.contains("process exiting early") {
            let exit = EventKind::Exit {
                code: None,
                signal: None,
                max_rss_bytes: 0,
                user_ns: 0,
                system_ns: 0,
            };
            (&mut self.exited, exit)
        } else if says("Server transport closed") || says("Server disconnected") {
            let stream = StreamId::S2C;
            (&mut self.server, EventKind::Eof { stream, by })
        } else if says("Shutting down server") || says("Client transport closed") {
            // A side that closes after the other has closed only cleans up.
            self.host |= self.server;
            let stream = StreamId::C2S;
            (&mut self.host, EventKind::Eof { stream, by })
        } else {
            let failed = EventKind::SpawnFailed {
                exit_code: spawn_failure(text)?,
                message: text.trim().to_owned(),
                searched: None,
            };
            (&mut self.exited, failed)
        };
        (!std::mem::replace(is_told, true)).then_some(kind)
    }
}

/// `spawn npx ENOENT`: the exit code that the recorder would end with.
fn spawn_failure(text: &str) -> Option<u8> {
    let rest = text.strip_prefix("spawn ")?.trim_end();
    let (_, code) = rest.rsplit_once(' ')?;
    let is_upper = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let is_code = code.len() > 3 && code.starts_with('E') && code.bytes().all(is_upper);
    match code {
        "ENOENT" => Some(127),
        "EACCES" | "EPERM" | "ENOEXEC" => Some(126),
        _ => is_code.then_some(125),
    }
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
struct HostLine<'a> {
    wall_ns: Option<u64>,
    name: &'a str,
    level: &'a str,
    text: &'a str,
}

impl<'a> HostLine<'a> {
    fn read(line: &'a [u8]) -> Option<Self> {
        let line = std::str::from_utf8(line).ok()?;
        let (time, rest) = line.split_once(" [")?;
        let wall_ns = Some(time_of_text(time)?);
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
