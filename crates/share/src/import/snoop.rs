//! The session logs of mcpsnoop: an object per line, `direction` (`c2s`, `s2c`, `stderr`, `meta`),
//! `ts`, the message in `raw` or the line in `text`.
//!
//! Its numbers (`seq`) tell which lines it lost. It notes a message after having passed it on, so an answer may stand before its question; such
//! are put in order, and told.

use super::crossed::{self, Crossed, Next};
use super::{About, Lines, Said, What, when};
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::json::{Document, Value};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

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

#[derive(Debug)]
pub(super) struct Snoop {
    begun: HashSet<String>,
    /// The last number of each session.
    last: HashMap<String, u64>,
    crossed: Crossed<Envelope>,
}

impl Default for Snoop {
    fn default() -> Self {
        Self {
            begun: HashSet::new(),
            last: HashMap::new(),
            crossed: Crossed::new(),
        }
    }
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
        if let Some(skipped) = self.skipped(root, &session) {
            // What is held back comes before what is missing.
            self.crossed.finish(&mut |next| next.tell(&mut *tell));
            tell(Said {
                session: &session,
                wall_ns,
                what: What::Event(skipped),
            });
        }
        let mut say = |what| {
            tell(Said {
                session: &session,
                wall_ns,
                what,
            });
        };
        let stream = match &*text(root, "direction") {
            "c2s" => StreamId::C2S,
            "s2c" => StreamId::S2C,
            "stderr" => StreamId::STDERR,
            "meta" => return,
            _ => return say(What::Nothing("it does not say which way it went")),
        };
        let envelope = Envelope::of(root, &session, wall_ns, stream);
        self.crossed
            .take(envelope, &mut |next| next.tell(&mut *tell));
    }

    fn finish(&mut self, tell: &mut dyn FnMut(Said<'_>)) {
        self.crossed.finish(&mut |next| next.tell(&mut *tell));
    }
}

impl Snoop {
    /// The lines that are missing before this one, by its number.
    fn skipped(&mut self, root: Value<'_>, session: &str) -> Option<EventKind> {
        let number = root.get("seq")?.number_text()?.parse::<u64>().ok()?;
        if self.last.len() >= MOST_SESSIONS && !self.last.contains_key(session) {
            return None;
        }
        let before = self.last.insert(session.to_owned(), number)?;
        let lines = number.checked_sub(before)?.checked_sub(1)?;
        let message = match lines {
            0 => return None,
            1 => format!("mcpsnoop has no number {}", before + 1),
            _ => format!("mcpsnoop has no numbers {} to {}", before + 1, number - 1),
        };
        Some(EventKind::Skipped { lines, message })
    }
}

/// What is around a message or a line.
#[derive(Debug)]
struct Envelope {
    session: Box<str>,
    wall_ns: Option<u64>,
    stream: StreamId,
    bytes: Box<[u8]>,
    is_cut: bool,
    /// What else mcpsnoop did to it, in words.
    done: Vec<&'static str>,
}

impl Envelope {
    fn of(root: Value<'_>, session: &str, wall_ns: Option<u64>, stream: StreamId) -> Self {
        let raw = root.get("raw").filter(|raw| !raw.is_null());
        let flag = |key| root.get(key).and_then(|flag| flag.as_bool()) == Some(true);
        let redacted = "mcpsnoop took secrets out of this message";
        Self {
            session: session.into(),
            wall_ns,
            stream,
            bytes: match raw {
                Some(raw) => raw.raw().into(),
                None => text(root, "text").as_bytes().into(),
            },
            is_cut: flag("truncated"),
            done: flag("redacted").then_some(redacted).into_iter().collect(),
        }
    }
}

impl crossed::Line for Envelope {
    fn session(&self) -> &str {
        &self.session
    }

    fn stream(&self) -> StreamId {
        self.stream
    }

    fn wall_ns(&self) -> Option<u64> {
        self.wall_ns
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Next<Envelope> {
    fn tell(self, tell: &mut dyn FnMut(Said<'_>)) {
        let Envelope {
            session,
            wall_ns,
            stream,
            bytes,
            is_cut,
            mut done,
        } = self.line;
        if self.is_moved {
            done.push("mcpsnoop wrote this answer down before what it answers");
        }
        let mut say = |what| {
            tell(Said {
                session: &session,
                wall_ns,
                what,
            });
        };
        if is_cut {
            let message = "mcpsnoop cut it when it wrote it down".to_owned();
            say(What::Event(EventKind::Shortened { stream, message }));
        }
        say(What::Line {
            stream,
            bytes: &bytes,
            is_guess: false,
        });
        for message in done.into_iter().map(str::to_owned) {
            say(What::Event(EventKind::Warning { message }));
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
        path: None,
        transport: Some(transport).filter(|transport| !transport.is_empty()),
    }
}

fn text<'d>(root: Value<'d>, key: &str) -> Cow<'d, str> {
    let value = root.get(key).and_then(|value| value.as_str());
    value.unwrap_or_default()
}
