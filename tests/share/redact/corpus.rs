//! The corpus: secrets that are planted, and what only looks like one.
//!
//! A case is told in rows: where something stands, and what. Whatever writes redacted traffic is
//! run over the same cases: [`Case::session`] tells one as a session, [`all`] gives them all.

use mcpreel_trace::event::{EventKind, ProcessContext};
use mcpreel_trace::frame::StreamId;
use serde::Deserialize;
use std::path::Path;

/// Taken out of every row: with it, nobody takes the corpus for a leak.
const BREAK: char = '¦';

#[derive(Clone, Debug, Deserialize)]
pub struct Case {
    pub name: String,
    pub rows: Vec<(String, String)>,
    /// Nothing of these may be left.
    #[serde(default)]
    pub secrets: Vec<String>,
}

#[derive(Deserialize)]
struct File {
    case: Vec<Case>,
}

/// What is told in a case.
#[derive(Clone, Debug, Default)]
pub struct Session {
    pub context: ProcessContext,
    pub frames: Vec<(StreamId, Vec<u8>)>,
    pub events: Vec<EventKind>,
}

/// The cases of a folder: `planted` or `alike`.
pub fn all(folder: &str) -> Vec<Case> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/share/redact")
        .join(folder);
    let files = std::fs::read_dir(dir).expect("the folder can be listed");
    let mut files: Vec<_> = files
        .map(|file| file.expect("it is there").path())
        .collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file)
            .expect("it is text")
            .replace(BREAK, "");
        let read: File =
            toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        cases.extend(read.case);
    }
    cases
}

impl Case {
    /// What the rows tell.
    pub fn session(&self) -> Session {
        let mut session = Session::default();
        self.tell(&mut session);
        session
    }

    /// Adds what the rows tell to a session.
    pub fn tell(&self, session: &mut Session) {
        for (place, text) in &self.rows {
            let context = &mut session.context;
            let stream = match place.as_str() {
                "argv" => {
                    context.argv.push(text.clone());
                    continue;
                }
                "host" => {
                    context.host.command.push(text.clone());
                    continue;
                }
                "cwd" => {
                    context.cwd = Some(join(context.cwd.as_deref(), text));
                    continue;
                }
                "path" => {
                    context.path = Some(join(context.path.as_deref(), text));
                    continue;
                }
                "executable" => {
                    context.executable = Some(join(context.executable.as_deref(), text));
                    continue;
                }
                "name" => {
                    context.name = join(Some(&context.name), text);
                    continue;
                }
                "event" => {
                    let event = serde_json::from_str(text).expect("it is an event");
                    session.events.push(event);
                    continue;
                }
                "c2s" => StreamId::C2S,
                "s2c" => StreamId::S2C,
                "stderr" => StreamId::STDERR,
                other => panic!("{}: where is {other}?", self.name),
            };
            let line = format!("{text}\n").into_bytes();
            session.frames.push((stream, line));
        }
    }
}

fn join(before: Option<&str>, text: &str) -> String {
    match before.filter(|before| !before.is_empty()) {
        Some(before) => format!("{before}:{text}"),
        None => text.to_owned(),
    }
}
