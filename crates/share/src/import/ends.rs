//! What Claude Desktop says of the beginning and the end of a server.
//!
//! It says more than once that something was closed; what follows from a close is told once.

use super::About;
use super::inspected::list;
use mcpreel_trace::event::{Closer, EventKind};
use mcpreel_trace::frame::StreamId;

/// How far one session has come to its end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ends {
    host: bool,
    server: bool,
    exited: bool,
}

impl Ends {
    /// What a line of the log says of the end, if that is new.
    pub fn of(&mut self, text: &str) -> Option<EventKind> {
        let says = |what: &str| text.starts_with(what);
        if says("Server transport closed unexpectedly") || text.contains("process exiting early") {
            return self.exit();
        }
        if says("Server transport closed") || says("Server disconnected") {
            return first(&mut self.server).then_some(closed(StreamId::S2C));
        }
        if says("Shutting down server") || says("Client transport closed") {
            // Whoever closes after the other has closed only cleans up.
            let is_first = !self.server && first(&mut self.host);
            return is_first.then_some(closed(StreamId::C2S));
        }
        let exit_code = not_spawned(text)?;
        let message = text.trim().to_owned();
        first(&mut self.exited).then_some(EventKind::SpawnFailed { exit_code, message })
    }

    fn exit(&mut self) -> Option<EventKind> {
        first(&mut self.exited).then_some(EventKind::Exit {
            code: None,
            signal: None,
            max_rss_bytes: 0,
            user_ns: 0,
            system_ns: 0,
        })
    }
}

fn first(is_told: &mut bool) -> bool {
    !std::mem::replace(is_told, true)
}

fn closed(stream: StreamId) -> EventKind {
    let by = Closer::Writer;
    EventKind::Eof { stream, by }
}

/// `spawn npx ENOENT`: the exit code that the recorder would end with.
fn not_spawned(text: &str) -> Option<u8> {
    let rest = text.strip_prefix("spawn ")?.trim_end();
    let (_, code) = rest.rsplit_once(' ')?;
    let is_code = code.len() > 3
        && code
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    match code {
        "ENOENT" => Some(127),
        "EACCES" | "EPERM" | "ENOEXEC" => Some(126),
        _ => (is_code && code.starts_with('E')).then_some(125),
    }
}

/// What stands before the command of a server.
const COMMAND: &str = "Using MCP server command: ";

/// What stands between it and its arguments.
const ARGUMENTS: [&str; 3] = [" with args and path: ", " with args: ", " with path: "];

/// Whether a line tells the command; its arguments may follow on lines of their own.
pub(super) fn tells_command(text: &str) -> bool {
    text.starts_with(COMMAND)
}

/// The command, with all lines that belong to it; its arguments only where all of them are told.
pub(super) fn started(text: &str) -> Option<About> {
    let rest = text.strip_prefix(COMMAND)?;
    let words = ARGUMENTS.into_iter().find(|words| rest.contains(words))?;
    let (command, object) = rest.split_once(words)?;
    let args = if words.contains("args") {
        list(object, "args")?
    } else {
        Vec::new()
    };
    let paths = list(object, "paths").filter(|paths| !paths.is_empty());
    Some(About {
        argv: std::iter::once(command.trim().to_owned())
            .chain(args)
            .collect(),
        path: paths.map(|paths| paths.join(if command.contains('\\') { ";" } else { ":" })),
        ..About::default()
    })
}
