//! Keys of a line that this version does not know: read, kept as an event before what the line
//! says, and written again in the same line.

use super::FaultKind;
use super::fault::quoted;
use super::read::is_known;
use mcpreel_trace::event::{CassetteLine, EventKind};
use mcpreel_wire::json::{Document, Value};
use serde_json::Value as Json;

/// Bytes of them that are kept: an event has room for no more than four times as many, however they
/// are written.
const MOST: usize = 16 * 1024;

/// What a line has that is not known.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// The beginnings of their names, to be told.
    pub names: Vec<String>,
    /// With their values, as members of a JSON object; where they are too long only the first ones.
    members: String,
}

impl Keys {
    pub fn add(&mut self, key: Value<'_>, value: Value<'_>) {
        self.names.push(quoted(&key.as_str().unwrap_or_default()));
        if self.members.len() <= MOST {
            let comma = if self.members.is_empty() { "" } else { "," };
            self.members.push_str(comma);
            self.members.push_str(&key.raw_text());
            self.members.push(':');
            self.members.push_str(&value.raw_text());
        }
    }

    /// The event that keeps them, where they have room in one.
    pub fn event(self, of: CassetteLine) -> Result<EventKind, FaultKind> {
        let json = format!("{{{}}}", self.members);
        if json.len() > MOST {
            return Err(FaultKind::KeysTooLong);
        }
        Ok(EventKind::LineKeys { of, json })
    }
}

/// Keys that an event of a kind may have and that are left out where there is nothing to say.
const OPTIONAL: [(&str, &[&str]); 6] = [
    (
        "start",
        &[
            "parent",
            "read_only_tools",
            "selection",
            "redaction",
            "cassette",
        ],
    ),
    ("signal", &["sender"]),
    ("exit", &["code", "signal"]),
    ("gap", &["reason"]),
    ("behind-exit", &["code", "signal"]),
    ("seen", &["frame"]),
];

/// The beginnings of the names of what stands in `object`, or in what is in it, and is no part of
/// the event that was read from it: those within others as `host.mood`.
pub(super) fn strange(event: &EventKind, object: Value<'_>) -> Vec<String> {
    let Ok(known) = serde_json::to_value(event) else {
        return Vec::new();
    };
    let kind = known.get("kind").and_then(Json::as_str);
    let optional = OPTIONAL.iter().find(|(of, _)| Some(*of) == kind);
    let optional = optional.map_or(&[][..], |(_, keys)| keys);
    let mut names = Vec::new();
    add_strange(&known, object, ("", optional), &mut names);
    names
}

/// Adds those of `value` that are not in `known`, which stands at a place and may have some more.
fn add_strange(
    known: &Json,
    value: Value<'_>,
    (place, optional): (&str, &[&str]),
    names: &mut Vec<String>,
) {
    match known {
        Json::Object(known) => {
            for (key, value) in value.members() {
                let name = key.as_str().unwrap_or_default();
                match known.get(&*name) {
                    Some(known) => {
                        let place = format!("{place}{name}.");
                        add_strange(known, value, (&place, &[]), names);
                    }
                    None if optional.contains(&&*name) => {}
                    None => names.push(format!("{place}{}", quoted(&name))),
                }
            }
        }
        Json::Array(known) => {
            for (known, value) in known.iter().zip(value.elements()) {
                add_strange(known, value, (place, &[]), names);
            }
        }
        _ => {}
    }
}

/// The members of `json` as they stand in a line, if that is an object with none but unknown ones
/// and has no more than `room` bytes.
pub(super) fn members(json: &str, room: usize) -> Option<&str> {
    let is_line = json.len() <= room && !json.contains(['\n', '\r']);
    let document = Document::parse(json.as_bytes()).ok().filter(|_| is_line)?;
    let mut members = document.root().members();
    let unknown = |key: Value<'_>| !key.as_str().is_some_and(|key| is_known(&key));
    let inner = json.trim().strip_prefix('{')?.strip_suffix('}')?;
    (members.all(|(key, _)| unknown(key)) && !inner.trim().is_empty()).then_some(inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_trace::event::ProcessContext;
    use mcpreel_trace::frame::Seq;
    use mcpreel_trace::part::SelectionNote;

    fn keys(line: &str) -> Option<Keys> {
        let document = Document::parse(line.as_bytes()).unwrap();
        let mut keys = Keys::default();
        for (key, value) in document.root().members() {
            if !is_known(&key.as_str().unwrap()) {
                keys.add(key, value);
            }
        }
        (!keys.names.is_empty()).then_some(keys)
    }

    #[test]
    fn what_is_not_known_is_kept_as_it_stands() {
        let line = r#"{"n":1,"who":"ada","raw":{"who":1},"x":[1, 2.50,"\u00e9"]}"#;
        let unknown = keys(line).unwrap();
        assert_eq!(unknown.names, ["who", "x"]);
        let event = unknown.event(CassetteLine::Frame).unwrap();
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
        assert!(keys(r#"{"n":1,"seen":2}"#).is_none());
    }

    #[test]
    fn what_an_event_never_has_is_strange_in_it_and_what_it_may_have_is_not() {
        let found = |text: &str| {
            let document = Document::parse(text.as_bytes()).unwrap();
            let event: EventKind = serde_json::from_str(text).unwrap();
            strange(&event, document.root())
        };
        let exit = r#""max_rss_bytes":1,"user_ns":2,"system_ns":3"#;
        let odd = format!(r#"{{"kind":"exit","code":null,"sig\u006eal":"X","why":1,{exit}}}"#);
        assert_eq!(found(&odd), ["why"]);
        assert_eq!(found(&format!(r#"{{"kind":"exit",{exit}}}"#)), [""; 0]);
        let start = r#"{"kind":"start","name":"a","parent":"1","cassette":null,"who":"me"}"#;
        assert_eq!(found(start), ["who"]);
        let gap = r#"{"kind":"gap","stream":0,"offset":1,"bytes":2,"reason":null}"#;
        assert_eq!(found(gap), [""; 0]);
        let signal = r#"{"kind":"signal","signal":"SIGTERM","sender":null,"passed":"once"}"#;
        assert_eq!(found(signal), [""; 0]);
        let behind = r#"{"kind":"behind-exit","code":null,"signal":null,"passed":1}"#;
        assert_eq!(found(behind), [""; 0]);
    }

    #[test]
    fn what_stands_within_an_event_is_strange_as_well() {
        let found = |text: &str| {
            let document = Document::parse(text.as_bytes()).unwrap();
            let event: EventKind = serde_json::from_str(text).unwrap();
            strange(&event, document.root())
        };
        let host = r#""host":{"pid":1,"name":"a","mood":{"deep":1},"command":["x"]}"#;
        let start = format!(r#"{{"kind":"start","why":1,{host}}}"#);
        assert_eq!(found(&start), ["why", "host.mood"]);
        let processes = r#"[{"pid":1,"name":"a","command":[]},{"pid":2,"mood":1}]"#;
        let survivors = format!(r#"{{"kind":"survivors","processes":{processes}}}"#);
        assert_eq!(found(&survivors), ["processes.mood"]);
    }

    /// An event of each kind with as little as it may have.
    const BAREST: [&str; 22] = [
        r#"{"kind":"start"}"#,
        r#"{"kind":"spawned","pid":1}"#,
        r#"{"kind":"spawn-failed","exit_code":1,"message":""}"#,
        r#"{"kind":"eof","stream":0,"by":"writer"}"#,
        r#"{"kind":"stall-began","stream":0,"bytes":1}"#,
        r#"{"kind":"stall-ended","stream":0,"lasted_ns":1}"#,
        r#"{"kind":"undelivered","stream":0,"bytes":1}"#,
        r#"{"kind":"signal","signal":"","passed":"once"}"#,
        r#"{"kind":"exit"}"#,
        r#"{"kind":"survivors","processes":[]}"#,
        r#"{"kind":"gap","stream":0,"offset":1,"bytes":1}"#,
        r#"{"kind":"warning","message":""}"#,
        r#"{"kind":"shortened","stream":0,"message":""}"#,
        r#"{"kind":"untimed","message":""}"#,
        r#"{"kind":"skipped","lines":1,"message":""}"#,
        r#"{"kind":"host-log","level":"","message":""}"#,
        r#"{"kind":"behind-spawned","pid":1,"argv":[]}"#,
        r#"{"kind":"behind-failed","message":""}"#,
        r#"{"kind":"behind-exit","passed":1}"#,
        r#"{"kind":"line-keys","of":"frame","json":""}"#,
        r#"{"kind":"seen"}"#,
        r#"{"kind":"recovered","frames":1}"#,
    ];

    /// The event with all that it may have. A field that is new must be looked at here.
    fn fullest(event: EventKind) -> EventKind {
        let text = || Some("x".to_owned());
        match event {
            EventKind::Start(context) => EventKind::Start(Box::new(ProcessContext {
                parent: text(),
                read_only_tools: vec!["x".to_owned()],
                selection: Some(SelectionNote::default()),
                redaction: text(),
                cassette: text(),
                ..*context
            })),
            EventKind::Signal { signal, passed, .. } => EventKind::Signal {
                signal,
                sender: Some(1),
                passed,
            },
            EventKind::Exit {
                code: _,
                signal: _,
                max_rss_bytes,
                user_ns,
                system_ns,
            } => EventKind::Exit {
                code: Some(1),
                signal: text(),
                max_rss_bytes,
                user_ns,
                system_ns,
            },
            EventKind::Gap {
                stream,
                offset,
                bytes,
                reason: _,
            } => EventKind::Gap {
                stream,
                offset,
                bytes,
                reason: text(),
            },
            EventKind::BehindExit {
                code: _,
                signal: _,
                passed,
            } => EventKind::BehindExit {
                code: Some(1),
                signal: text(),
                passed,
            },
            EventKind::Seen { frame: _ } => EventKind::Seen {
                frame: Some(Seq(1)),
            },
            EventKind::Spawned { pid: _ }
            | EventKind::SpawnFailed {
                exit_code: _,
                message: _,
            }
            | EventKind::Eof { stream: _, by: _ }
            | EventKind::StallBegan {
                stream: _,
                bytes: _,
            }
            | EventKind::StallEnded {
                stream: _,
                lasted_ns: _,
            }
            | EventKind::Undelivered {
                stream: _,
                bytes: _,
            }
            | EventKind::Survivors { processes: _ }
            | EventKind::Warning { message: _ }
            | EventKind::Shortened {
                stream: _,
                message: _,
            }
            | EventKind::Untimed { message: _ }
            | EventKind::Skipped {
                lines: _,
                message: _,
            }
            | EventKind::HostLog {
                level: _,
                message: _,
            }
            | EventKind::BehindSpawned { pid: _, argv: _ }
            | EventKind::BehindFailed { message: _ }
            | EventKind::LineKeys { of: _, json: _ }
            | EventKind::Recovered { frames: _ } => event,
        }
    }

    #[test]
    fn what_an_event_leaves_out_is_listed_for_each_kind() {
        let names = |event: &EventKind| {
            let Ok(Json::Object(members)) = serde_json::to_value(event) else {
                panic!("an event is an object");
            };
            members.keys().cloned().collect::<Vec<_>>()
        };
        let mut kinds = Vec::new();
        for barest in BAREST {
            let event: EventKind = serde_json::from_str(barest).unwrap();
            let kind = serde_json::to_value(&event).unwrap()["kind"].clone();
            let kind = kind.as_str().unwrap().to_owned();
            let known = names(&event);
            let mut more = names(&fullest(event));
            more.retain(|name| !known.contains(name));
            let listed = OPTIONAL.iter().find(|(of, _)| *of == kind);
            assert_eq!(listed.map_or(&[][..], |(_, keys)| keys), more, "{kind}");
            kinds.push(kind);
        }
        let all = serde_json::from_str::<EventKind>(r#"{"kind":"?"}"#)
            .unwrap_err()
            .to_string();
        let all = all.split('`').skip(3).step_by(2);
        assert!(all.eq(&kinds), "{kinds:?}");
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
