//! The session logs of mcpsnoop: an object per line, `direction` (`c2s`, `s2c`, `stderr`, `meta`),
//! `ts`, the message in `raw` or the line in `text`.

use super::{About, Lines, Said, What, when};
use crate::protocol::json::{Document, Value};
use crate::trace::event::EventKind;
use crate::trace::frame::StreamId;
use std::borrow::Cow;
use std::collections::HashSet;

/// Sessions of one file that are told apart.
const MOST_SESSIONS: usize = 1000;

/// Whether `line` is of such a log.
pub(super) fn is_line(line: &[u8]) -> bool {
    let (document, _) = Document::read_prefix(line, usize::MAX);
    document.is_some_and(|document| {
        let root = document.root();
        ["session_id", "ts", "direction"]
            .iter()
            .all(|key| root.get(key).is_some())
    })
}

/// Reads such a log.
#[derive(Debug, Default)]
pub(super) struct Snoop {
    begun: HashSet<String>,
}

impl Lines for Snoop {
    fn line(&mut self, line: &[u8], tell: &mut dyn FnMut(Said<'_>)) {
        let nothing = |why| Said {
            session: "",
            wall_ns: None,
            what: What::Nothing(why),
        };
        let Ok(document) = Document::parse(line) else {
            return tell(nothing("it is no JSON"));
        };
        let root = document.root();
        let session = text(root, "session_id");
        let wall_ns = root.get("ts").and_then(when::of_value);
        let mut say = |what| {
            tell(Said {
                session: &session,
                wall_ns,
                what,
            });
        };
        if self.begun.len() < MOST_SESSIONS && self.begun.insert(session.to_string()) {
            say(What::Begin(about(root)));
        }
        let stream = match &*text(root, "direction") {
            "c2s" => StreamId::C2S,
            "s2c" => StreamId::S2C,
            "stderr" => StreamId::STDERR,
            "meta" => return,
            _ => return say(What::Nothing("it does not say which way it went")),
        };
        let bytes = match root.get("raw").filter(|raw| !raw.is_null()) {
            Some(raw) => Cow::Borrowed(raw.raw()),
            None => Cow::Owned(text(root, "text").into_owned().into_bytes()),
        };
        say(What::Line {
            stream,
            bytes: &bytes,
            is_guess: false,
        });
        let flag = |key| root.get(key).and_then(|flag| flag.as_bool()) == Some(true);
        for (key, what) in [
            (
                "truncated",
                "mcpsnoop cut this message when it wrote it down",
            ),
            ("redacted", "mcpsnoop took secrets out of this message"),
        ] {
            if flag(key) {
                let message = what.to_owned();
                say(What::Event(EventKind::Warning { message }));
            }
        }
    }
}

/// What an envelope says of the server: its label, and what started it if it is the first one.
fn about(root: Value<'_>) -> About {
    let meta = root
        .get("raw")
        .filter(|_| text(root, "direction") == "meta");
    let command = meta.and_then(|meta| meta.get("command"));
    let words = command.into_iter().flat_map(|command| command.elements());
    let transport = text(root, "transport").into_owned();
    About {
        name: text(root, "server_label").into_owned(),
        argv: words
            .filter_map(|word| word.as_str().map(Cow::into_owned))
            .collect(),
        cwd: meta
            .and_then(|meta| meta.get("cwd"))
            .and_then(|cwd| cwd.as_str())
            .map(Cow::into_owned),
        transport: Some(transport).filter(|transport| !transport.is_empty()),
    }
}

fn text<'d>(root: Value<'d>, key: &str) -> Cow<'d, str> {
    let value = root.get(key).and_then(|value| value.as_str());
    value.unwrap_or_default()
}
