//! The two lines that say what a cassette is a recording of: the header and the start event.
//! Neither has anything that would differ if the same command were recorded again: no date, no id,
//! no process number.

use super::VERSION;
use mcpreel_store::reader::Summary;
use mcpreel_trace::event::{EventKind, ProcessContext, SelectionNote};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::io::{self, Write};

const OWN: &str = env!("CARGO_PKG_VERSION");

/// The name in `tool` of cassettes that mcpreel wrote; its version follows.
const OURS: &str = "mcpreel ";

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Header {
    cassette: u64,
    /// The program that wrote it, with its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub era: Option<String>,
    /// The version that the two sides agreed on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
    /// The server's command and its arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The number of replacements, if secrets were looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redaction: Option<Value>,
    /// The selection, of a part of a recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selection: Option<SelectionNote>,
}

/// Why a file is not read as a cassette.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    #[error("the first line is no header: {0}")]
    Malformed(String),
    #[error("the first line does not say which version of the format it is (`\"cassette\":1`)")]
    NoVersion,
    #[error(
        "it is a cassette of version {version}; this is mcpreel {OWN}, which reads up to version \
         {VERSION}: it needs {needs}"
    )]
    Newer {
        version: String,
        /// The program that reads it, as far as that is known.
        needs: String,
    },
}

impl Header {
    /// The header of a recording, or of what is selected of it.
    pub fn of(summary: &Summary, selection: Option<&SelectionNote>) -> Self {
        let session = &summary.session;
        let era = match session.eras[..] {
            [] => None,
            [era] => Some(era.as_str()),
            _ => Some("mixed"),
        };
        let redaction = summary.redaction.as_deref();
        Self {
            cassette: VERSION,
            tool: Some(format!("{OURS}{OWN}")),
            era: era.map(str::to_owned),
            protocol: session.version().map(str::to_owned),
            transport: Some(summary.transport.clone()),
            command: summary.context.argv.clone(),
            redaction: redaction
                .map(|note| serde_json::from_str(note).unwrap_or_else(|_| note.into())),
            selection: selection.or(summary.context.selection.as_ref()).cloned(),
        }
    }

    pub(super) fn parse(line: &[u8]) -> Result<Self, HeaderError> {
        let malformed = |error| HeaderError::Malformed(reason(&error));
        let members: Map<String, Value> = serde_json::from_slice(line).map_err(malformed)?;
        let version = members
            .get("cassette")
            .filter(|version| version.is_number());
        match version.map(Value::as_u64) {
            Some(Some(1..=VERSION)) => {
                serde_json::from_value(Value::Object(members)).map_err(malformed)
            }
            None | Some(Some(0)) => Err(HeaderError::NoVersion),
            Some(_) => {
                let tool = members.get("tool").and_then(Value::as_str);
                Err(HeaderError::Newer {
                    version: version.map(Value::to_string).unwrap_or_default(),
                    needs: tool.map_or("a later version of mcpreel".to_owned(), |tool| {
                        format!("{tool} or newer")
                    }),
                })
            }
        }
    }

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        out.write_all(b"\n")
    }

    /// The process context of this header and the start event. It has no id yet.
    pub(super) fn context(&self, start: Option<ProcessContext>) -> ProcessContext {
        let tool = self.tool.as_deref().unwrap_or_default();
        ProcessContext {
            recording: String::new(),
            origin: "import".to_owned(),
            parent: None,
            other_side: None,
            played: None,
            wall_ns: 0,
            transport: self.transport.clone().unwrap_or_else(|| "stdio".to_owned()),
            argv: self.command.clone(),
            recorder_pid: 0,
            mcpreel: tool.strip_prefix(OURS).unwrap_or(tool).to_owned(),
            selection: self.selection.clone(),
            redaction: self.redaction.as_ref().map(Value::to_string),
            ..start.unwrap_or_default()
        }
    }
}

/// The fault of a line, without the line number of serde.
pub(super) fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((what, _)) => format!("{what} at column {}", error.column()),
        None => text,
    }
}

/// Fields of the start event that are those of one session, or stand in the header.
const LEFT_OUT: [&str; 12] = [
    "recording",
    "origin",
    "parent",
    "other_side",
    "played",
    "wall_ns",
    "transport",
    "argv",
    "recorder_pid",
    "mcpreel",
    "selection",
    "redaction",
];

/// The start event as JSON.
pub(super) fn start_event(context: &ProcessContext) -> serde_json::Result<String> {
    let mut event = serde_json::to_value(EventKind::Start(Box::new(context.clone())))?;
    if let Value::Object(fields) = &mut event {
        fields.retain(|key, _| !LEFT_OUT.contains(&&**key));
        if let Some(Value::Object(host)) = fields.get_mut("host") {
            host.retain(|key, value| key != "pid" && !is_empty(value));
        }
        fields.retain(|_, value| !is_empty(value));
    }
    serde_json::to_string(&event)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_trace::event::ProcessName;

    fn read(line: &str) -> Result<Header, HeaderError> {
        Header::parse(line.as_bytes())
    }

    #[test]
    fn a_newer_one_says_what_it_needs() {
        let said = |line| read(line).unwrap_err().to_string();
        let newer = said(r#"{"cassette":2,"tool":"mcpreel 0.9.1"}"#);
        assert!(
            newer.ends_with("it needs mcpreel 0.9.1 or newer"),
            "{newer}"
        );
        assert!(said(r#"{"cassette":1e99}"#).ends_with("it needs a later version of mcpreel"));
        for line in [r#"{"cassette":"1"}"#, r#"{"cassette":0}"#, "{}"] {
            assert_eq!(read(line), Err(HeaderError::NoVersion), "{line}");
        }
    }

    #[test]
    fn the_start_event_has_nothing_that_differs_between_two_sessions() {
        let live = ProcessContext {
            recording: "7f3a9c21".into(),
            name: "weather".into(),
            origin: "live".into(),
            wall_ns: 5,
            argv: vec!["srv".into()],
            cwd: Some("/home/ada".into()),
            recorder_pid: 77,
            host: ProcessName {
                pid: 78,
                name: "editor".into(),
                command: vec!["editor".into(), "-x".into()],
            },
            mcpreel: "0.1.0".into(),
            slow_ns: Some(9),
            read_only_tools: vec!["look".into()],
            ..ProcessContext::default()
        };
        let text = start_event(&live).unwrap();
        assert_eq!(
            text,
            r#"{"kind":"start","name":"weather","cwd":"/home/ada","host":{"name":"editor","command":["editor","-x"]},"slow_ns":9,"read_only_tools":["look"]}"#
        );
        let header = Header {
            command: vec!["srv".into()],
            tool: Some("mcpreel 0.1.0".into()),
            ..Header::default()
        };
        let Ok(EventKind::Start(start)) = serde_json::from_str(&text) else {
            panic!("{text}");
        };
        let mut expected = ProcessContext {
            recording: String::new(),
            origin: "import".into(),
            transport: "stdio".into(),
            wall_ns: 0,
            recorder_pid: 0,
            ..live
        };
        expected.host.pid = 0;
        assert_eq!(header.context(Some(*start)), expected);
        let empty = start_event(&ProcessContext::default()).unwrap();
        assert_eq!(empty, r#"{"kind":"start"}"#);
    }
}
