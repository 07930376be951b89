//! The start event in a cassette: who asked for what, where, without what stands in the header and
//! without what is of one session only.

use super::header::Header;
use mcpreel_trace::event::{EventKind, ProcessContext};
use serde_json::{Map, Value};

/// What another session of the same command would have otherwise, or what the header says.
const LEFT_OUT: [&str; 12] = [
    "recording",
    "origin",
    "parent",
    "played",
    "wall_ns",
    "transport",
    "argv",
    "pid",
    "mcpreel",
    "selection",
    "redaction",
    "cassette",
];

pub(super) fn json(context: &ProcessContext) -> serde_json::Result<String> {
    let mut event = Map::new();
    event.insert("kind".into(), "start".into());
    if let Value::Object(fields) = serde_json::to_value(context)? {
        event.extend(
            fields
                .into_iter()
                .filter(|(key, _)| !LEFT_OUT.contains(&&**key)),
        );
    }
    if let Some(Value::Object(host)) = event.get_mut("host") {
        host.retain(|key, value| key != "pid" && !is_nothing(value));
    }
    event.retain(|_, value| !is_nothing(value));
    serde_json::to_string(&event)
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// What `header` and the start event, where there is one, know of the process. What they do not
/// know is empty; whoever makes a recording of it gives it an id.
pub(super) fn context(header: &Header, event: Option<EventKind>) -> ProcessContext {
    let known = match event {
        Some(EventKind::Start(context)) => *context,
        _ => ProcessContext::default(),
    };
    ProcessContext {
        recording: String::new(),
        origin: "import".to_owned(),
        parent: None,
        played: None,
        // Of another session it would be another one, and a date of the file is none of it.
        wall_ns: 0,
        transport: header
            .transport
            .clone()
            .unwrap_or_else(|| "stdio".to_owned()),
        argv: header.command.clone(),
        pid: 0,
        mcpreel: header.tool_version().to_owned(),
        selection: header.selection.clone(),
        redaction: header.redaction.clone(),
        cassette: header.unknown(),
        ..known
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_trace::event::ProcessName;

    #[test]
    fn what_is_known_of_the_process_comes_back_without_what_is_of_one_session() {
        let live = ProcessContext {
            recording: "7f3a9c21".into(),
            name: "weather".into(),
            origin: "live".into(),
            parent: Some("00000001".into()),
            played: Some("/home/ada/told.jsonl".into()),
            wall_ns: 5,
            transport: "stdio".into(),
            argv: vec!["srv".into()],
            executable: Some("/bin/srv".into()),
            cwd: Some("/home/ada".into()),
            path: Some("/bin".into()),
            env_names: vec!["HOME".into()],
            pid: 77,
            host: ProcessName {
                pid: 78,
                name: "editor".into(),
                command: vec!["editor".into(), "-x".into()],
            },
            mcpreel: "0.1.0".into(),
            slow_ns: Some(9),
            read_only_tools: vec!["look".into()],
            selection: None,
            redaction: None,
            cassette: None,
        };
        let text = json(&live).unwrap();
        assert_eq!(
            text,
            r#"{"kind":"start","name":"weather","executable":"/bin/srv","cwd":"/home/ada","path":"/bin","env_names":["HOME"],"host":{"name":"editor","command":["editor","-x"]},"slow_ns":9,"read_only_tools":["look"]}"#
        );
        let header = Header {
            command: vec!["srv".into()],
            tool: Some("mcpreel 0.1.0".into()),
            ..Header::default()
        };
        let mut expected = ProcessContext {
            recording: String::new(),
            origin: "import".into(),
            parent: None,
            played: None,
            wall_ns: 0,
            pid: 0,
            ..live
        };
        expected.host.pid = 0;
        let event = serde_json::from_str(&text).unwrap();
        assert_eq!(context(&header, Some(event)), expected);
    }

    #[test]
    fn nothing_is_made_up() {
        let context = context(&Header::default(), None);
        assert_eq!((&*context.name, &*context.mcpreel), ("", ""));
        assert_eq!((context.cwd, context.slow_ns), (None, None));
        assert_eq!(context.host, ProcessName::default());
        assert_eq!(
            json(&ProcessContext::default()).unwrap(),
            r#"{"kind":"start"}"#
        );
    }
}
