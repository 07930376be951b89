//! Keys of a line that this version does not know: read, kept as an event before what the line
//! says, and written again in the same line.

use super::FaultKind;
use super::fault::quoted;
use crate::protocol::json::{Document, Value};
use crate::trace::event::{CassetteLine, EventKind};

/// The keys that are known, those that are derived among them.
const KNOWN: [&str; 14] = [
    "cassette", "n", "t", "t0", "d", "k", "m", "re", "in", "seen", "raw", "b64", "text", "event",
];

/// Bytes of them that are kept: an event has room for no more than four times as many, however they
/// are written.
const MOST: usize = 16 * 1024;

/// What a line has that is not known.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// The beginnings of their names, to be told.
    pub names: Vec<String>,
    /// With their values, as a JSON object; `None`: they are too long.
    json: Option<String>,
}

impl Keys {
    /// Those of the object `line`; `None` where there are none.
    pub fn of(line: Value<'_>) -> Option<Self> {
        let (mut names, mut json) = (Vec::new(), String::new());
        for (key, value) in line.members() {
            let name = key.as_str().unwrap_or_default();
            if KNOWN.contains(&&*name) {
                continue;
            }
            names.push(quoted(&name));
            if json.len() <= MOST {
                json.push(if json.is_empty() { '{' } else { ',' });
                json.push_str(&key.raw_text());
                json.push(':');
                json.push_str(&value.raw_text());
            }
        }
        json.push('}');
        let json = (json.len() <= MOST).then_some(json);
        (!names.is_empty()).then_some(Self { names, json })
    }

    /// The event that keeps them, where they have room in one.
    pub fn event(self, of: CassetteLine) -> Result<EventKind, FaultKind> {
        let json = self.json.ok_or(FaultKind::KeysTooLong)?;
        Ok(EventKind::LineKeys { of, json })
    }
}

/// The members of `json` as they stand in a line, if that is an object with none but unknown ones
/// and has no more than `room` bytes.
pub(super) fn members(json: &str, room: usize) -> Option<&str> {
    let is_line = json.len() <= room && !json.contains(['\n', '\r']);
    let document = Document::parse(json.as_bytes()).ok().filter(|_| is_line)?;
    let mut members = document.root().members();
    let unknown = |key: Value<'_>| !key.as_str().is_some_and(|key| KNOWN.contains(&&*key));
    let inner = json.trim().strip_prefix('{')?.strip_suffix('}')?;
    (members.all(|(key, _)| unknown(key)) && !inner.trim().is_empty()).then_some(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(line: &str) -> Option<Keys> {
        Keys::of(Document::parse(line.as_bytes()).unwrap().root())
    }

    #[test]
    fn what_is_not_known_is_kept_as_it_stands() {
        let line = r#"{"n":1,"who":"ada","raw":{"who":1},"x":[1, 2.50,"\u00e9"]}"#;
        let keys = keys(line).unwrap();
        assert_eq!(keys.names, ["who", "x"]);
        let event = keys.event(CassetteLine::Frame).unwrap();
        let json = r#"{"who":"ada","x":[1, 2.50,"\u00e9"]}"#;
        let of = CassetteLine::Frame;
        assert_eq!(
            event,
            EventKind::LineKeys {
                of,
                json: json.into()
            }
        );
        assert_eq!(members(json, MOST), Some(&json[1..json.len() - 1]));
        assert!(super::Keys::of(Document::parse(br#"{"n":1,"seen":2}"#).unwrap().root()).is_none());
    }

    #[test]
    fn too_much_is_told_and_an_event_takes_whatever_is_kept() {
        let of = CassetteLine::Event;
        let long = |len: usize| format!(r#"{{"x":"{}"}}"#, "\\".repeat(len / 2 * 2));
        let event = |len| keys(&long(len)).unwrap().event(of);
        assert_eq!(event(MOST), Err(FaultKind::KeysTooLong));
        let kept = event(MOST - 10).unwrap();
        let written = serde_json::to_vec(&kept).unwrap();
        // A record of a journal holds so much.
        assert!(written.len() < 64 * 1024);
    }

    #[test]
    fn what_would_be_another_line_is_none() {
        for json in [
            "",
            "{}",
            "[1]",
            "7",
            "{\"raw\":1}",
            "{\"x\":\r1}",
            "{\"x\":1",
        ] {
            assert_eq!(members(json, MOST), None, "{json}");
        }
        assert_eq!(members("{\"x\":1}", 6), None);
    }
}
