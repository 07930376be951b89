//! What a reader passes over: it stands in the file, and becomes no part of a recording.

use super::{Entry, Fault, FaultKind, ReadError, Reader, start};
use mcpreel_trace::event::EventKind;
use mcpreel_wire::json::{Document, Path, Value};
use std::collections::BTreeSet;
use std::io::{Read, Seek};

/// Lines that are told apart; of a file with more of them, all that follow count as passed over.
const MOST: usize = 100_000;

/// Keys of the header that nobody reads, or that say nothing of the session.
const HEADER: [&str; 3] = ["cassette", "era", "protocol"];

/// Keys of a line that are numbers, or derived.
const LINE: [&str; 10] = [
    "cassette", "n", "t", "t0", "d", "k", "m", "re", "in", "seen",
];

/// The lines of a cassette that are passed over, as a whole or in part.
#[derive(Debug, Default)]
pub struct Passed {
    lines: BTreeSet<u64>,
    from: Option<u64>,
}

impl Passed {
    /// Reads `file`, which stands at its beginning.
    pub fn of(file: impl Read + Seek) -> Result<Self, ReadError> {
        let mut passed = Self::default();
        let mut reader = Reader::new(file)?;
        while reader.next(&mut |entry| {
            if let Entry::Fault(fault) = entry {
                passed.fault(&fault);
            }
            Ok::<_, ReadError>(())
        })? {}
        Ok(passed)
    }

    fn fault(&mut self, fault: &Fault) {
        let is_full = self.lines.len() >= MOST;
        match &fault.kind {
            FaultKind::Another => self.from = self.from.or(Some(fault.line)),
            // Not all of what stands there is kept.
            FaultKind::Start | FaultKind::Event | FaultKind::Bodies | FaultKind::KeysTooLong => {}
            kind if kind.is_loss() => {}
            _ => return,
        }
        if is_full {
            self.from = self.from.or(Some(fault.line));
        } else {
            self.lines.insert(fault.line);
        }
    }

    /// What of the line with this number is passed over.
    pub fn line(&self, number: u64, line: &[u8]) -> PassedLine {
        let is_whole = self.from.is_some_and(|from| number >= from) || self.lines.contains(&number);
        match Document::parse(line) {
            Ok(document) if !is_whole && !has_twins(document.root()) => {
                PassedLine::read(number, document.root())
            }
            _ => PassedLine::Whole,
        }
    }
}

#[derive(Debug)]
pub enum PassedLine {
    Whole,
    /// Of the header what says nothing of the session.
    Header,
    /// Of a frame all but its bytes and what nobody knows.
    Frame,
    /// Of an event likewise all but what is kept of it, as JSON.
    Event(Option<String>),
}

impl PassedLine {
    fn read(number: u64, line: Value<'_>) -> Self {
        let is = |kind: &str| line.get("k").is_some_and(|k| k.is_str(kind));
        if number == 1 {
            Self::Header
        } else if is("event") || is("end") {
            let event = line.get("event").filter(|_| is("event"));
            let event = event.and_then(|event| serde_json::from_slice(event.raw()).ok());
            Self::Event(event.and_then(|event| kept(&event)))
        } else {
            Self::Frame
        }
    }

    /// Whether what stands at this path is passed over.
    pub fn has(&self, path: &str) -> bool {
        let key = path.split(['.', '[']).next().unwrap_or_default();
        if key.is_empty() {
            return true;
        }
        let is_body = matches!(key, "raw" | "b64" | "text");
        match self {
            Self::Whole => true,
            Self::Header => HEADER.contains(&key),
            Self::Frame => key == "event" || LINE.contains(&key),
            Self::Event(kept) if key == "event" => !is_in(kept.as_deref(), &path[key.len()..]),
            Self::Event(_) => is_body || LINE.contains(&key),
        }
    }
}

fn kept(event: &EventKind) -> Option<String> {
    match event {
        EventKind::Start(context) => start::json(context).ok(),
        event => serde_json::to_string(event).ok(),
    }
}

/// Whether there is something at this path.
fn is_in(json: Option<&str>, path: &str) -> bool {
    let path = path.trim_start_matches('.').parse::<Path>();
    let document = json.and_then(|json| Document::parse(json.as_bytes()).ok());
    let (Ok(path), Some(document)) = (path, document) else {
        return false;
    };
    path.first(document.root()).is_some()
}

/// Whether two members have the same name: one of them counts.
fn has_twins(line: Value<'_>) -> bool {
    let mut names = BTreeSet::new();
    let mut keys = line.members().map(|(key, _)| key.str_bytes().into_owned());
    keys.any(|key| !names.insert(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn what_becomes_a_part_of_a_recording_is_not_passed_over() {
        let lines = [
            r#"{"cassette":1,"tool":"x","selection":{"query":"q"},"later":1}"#,
            r#"{"t":0,"k":"event","event":{"kind":"start","name":"x","argv":["y"],"new":1}}"#,
            r#"{"n":1,"t":0,"d":"c2s","k":"hologram","raw":{"a":1},"x":"y"}"#,
            r#"{"k":"hologram","x":"y"}"#,
            "no JSON",
            r#"{"t":0,"k":"event","event":{"kind":"warning","message":"x","new":{"y":1}},"raw":1}"#,
            r#"{"n":2,"t":0,"d":"c2s","k":"req","raw":{"a":1},"raw":{"a":2}}"#,
            r#"{"t":1,"k":"end","later":1}"#,
            "after it",
            r#"{"cassette":1}"#,
            r#"{"n":1,"t":0,"d":"c2s","k":"req","raw":{"a":1}}"#,
        ];
        let passed = Passed::of(Cursor::new(lines.join("\n") + "\n")).unwrap();
        for (number, path, expected) in [
            (1, "selection.query", false),
            (1, "tool", false),
            (1, "later", false),
            (2, "event.name", false),
            (2, "event.argv[0]", true),
            (2, "event.new", true),
            (3, "raw.a", false),
            (3, "x", false),
            (3, "k", true),
            (4, "x", true),
            (5, "", true),
            (6, "event.message", false),
            (6, "event.new.y", true),
            (6, "raw", true),
            (7, "raw.a", true),
            (8, "later", false),
            (9, "", true),
            (10, "cassette", true),
            (11, "raw.a", true),
        ] {
            let line = passed.line(
                number,
                lines[usize::try_from(number).unwrap() - 1].as_bytes(),
            );
            assert_eq!(line.has(path), expected, "{number}: {path}");
        }
    }

    #[test]
    fn lines_that_cannot_be_told_apart_any_more_are_passed_over() {
        let mut passed = Passed::default();
        let kind = FaultKind::NotObject;
        for line in 2..=MOST as u64 + 2 {
            let kind = kind.clone();
            passed.fault(&Fault { line, kind });
        }
        assert_eq!(passed.lines.len(), MOST);
        let frame = br#"{"d":"c2s","k":"req","raw":{}}"#;
        assert!(passed.line(u64::MAX, frame).has("raw"));
    }
}
