//! The session logs of mcpsnoop: an object per line, `direction` (`c2s`, `s2c`, `stderr`, `meta`),
//! `ts`, the message in `raw` or the line in `text`. Its numbers (`seq`) tell which lines it lost.

use super::{About, Entry, LogReader, What, time_of_value};
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::json::{Document, Value};
use std::borrow::Cow;
use std::collections::HashMap;

/// Sessions of one file that are told apart.
const MOST_SESSIONS: usize = 1000;

/// Whether `line` is of such a log.
pub(super) fn is_line(line: &[u8]) -> bool {
    let (document, _) = Document::read_prefix(line, usize::MAX);
    document.is_some_and(|document| {
        let keys = ["session_id", "ts", "direction"];
        keys.iter().all(|key| document.root().get(key).is_some())
    })
}

/// The last number of each session.
#[derive(Debug, Default)]
pub(super) struct Mcpsnoop(HashMap<String, u64>);

impl LogReader for Mcpsnoop {
    fn line(&mut self, line: &[u8], visit: &mut dyn FnMut(Entry<'_>)) {
        let Ok(document) = Document::parse(line) else {
            return visit(Entry {
                session: "",
                wall_ns: None,
                what: What::Nothing("it is not JSON"),
            });
        };
        let root = document.root();
        let session = text(root, "session_id");
        let wall_ns = root.get("ts").and_then(time_of_value);
        let mut visit = |what| {
            visit(Entry {
                session: &session,
                wall_ns,
                what,
            });
        };
        let number = root.get("seq").and_then(|seq| seq.number_text());
        let number = number.and_then(|text| text.parse().ok()).unwrap_or(0);
        let has_room = self.0.len() < MOST_SESSIONS;
        match self.0.get_mut(&*session) {
            Some(last) => {
                if let Some(kind) = skipped(*last, number) {
                    visit(What::Event(kind));
                }
                *last = number;
            }
            None if has_room => {
                self.0.insert(session.clone().into_owned(), number);
                visit(What::Begin(about(root)));
            }
            None => {}
        }
        let stream = match &*text(root, "direction") {
            "c2s" => StreamId::C2S,
            "s2c" => StreamId::S2C,
            "stderr" => StreamId::STDERR,
            "meta" => return,
            _ => return visit(What::Nothing("it does not say which way it went")),
        };
        let flag = |key| root.get(key).and_then(|flag| flag.as_bool()) == Some(true);
        if flag("truncated") {
            let message = "mcpsnoop cut it when it wrote it down".to_owned();
            visit(What::Event(EventKind::Shortened { stream, message }));
        }
        let line = text(root, "text");
        let raw = root.get("raw").filter(|raw| !raw.is_null());
        visit(What::Line {
            stream,
            bytes: raw.map_or(line.as_bytes(), |raw| raw.raw()),
            is_guess: false,
        });
        if flag("redacted") {
            let message = "mcpsnoop took secrets out of this message".to_owned();
            visit(What::Event(EventKind::Warning { message }));
        }
    }
}

/// The lines that are missing between two numbers.
fn skipped(last: u64, number: u64) -> Option<EventKind> {
    let lines = number.checked_sub(last)?.checked_sub(1)?;
    let message = match lines {
        0 => return None,
        1 => format!("mcpsnoop has no number {}", last + 1),
        _ => format!("mcpsnoop has no numbers {} to {}", last + 1, number - 1),
    };
    Some(EventKind::Skipped { lines, message })
}

/// The server as a first line describes it: its label, and its command if it is the meta line.
fn about(root: Value<'_>) -> About {
    let is_meta = text(root, "direction") == "meta";
    let meta = root.get("raw").filter(|_| is_meta);
    let command = meta.and_then(|meta| meta.get("command"));
    let words = command.into_iter().flat_map(|command| command.elements());
    let transport = text(root, "transport").into_owned();
    let cwd = meta.and_then(|meta| meta.get("cwd")?.as_str());
    About {
        name: text(root, "server_label").into_owned(),
        argv: words
            .filter_map(|word| word.as_str().map(Cow::into_owned))
            .collect(),
        cwd: cwd.map(Cow::into_owned),
        transport: Some(transport).filter(|transport| !transport.is_empty()),
    }
}

fn text<'d>(root: Value<'d>, key: &str) -> Cow<'d, str> {
    let value = root.get(key).and_then(|value| value.as_str());
    value.unwrap_or_default()
}
