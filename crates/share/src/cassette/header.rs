//! The first line of a cassette: what it is, and of what.

use super::VERSION;
use mcpreel_store::reader::Summary;
use mcpreel_trace::part::SelectionNote;
use mcpreel_wire::json::{Document, Kind, SyntaxError, Value};
use serde::Serialize;
use serde_json::Value as Json;
use std::io::{self, Write};

const OWN: &str = env!("CARGO_PKG_VERSION");

/// Begins the name of what writes cassettes of ours; its version follows.
const OURS: &str = "mcpreel ";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// What wrote it, with its version.
    pub tool: Option<String>,
    pub era: Option<String>,
    /// The version that the two sides agreed on.
    pub protocol: Option<String>,
    pub transport: Option<String>,
    /// The server's command and its arguments.
    pub command: Vec<String>,
    /// What was taken out, where something was: JSON text.
    pub redaction: Option<String>,
    /// How it was asked for, where it is not the whole recording.
    pub selection: Option<SelectionNote>,
    /// What this version does not know: the names, and the JSON text of the values.
    pub more: Vec<(String, String)>,
}

/// Why a file is not read as a cassette.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    #[error("the first line is no JSON: {0}")]
    NotJson(SyntaxError),
    /// The first line does not say which version it is.
    #[error("the first line does not say which version of the format it is (`\"cassette\":1`)")]
    NoVersion,
    #[error(
        "it is a cassette of version {version}{}; this is mcpreel {OWN}, which reads up to version \
         {VERSION}: it needs {}",
        tool.as_ref().map_or_else(String::new, |tool| format!(", written by {tool}")),
        needs.as_deref().unwrap_or("a later version of mcpreel")
    )]
    Newer {
        version: String,
        tool: Option<String>,
        /// What reads it, as far as that is known.
        needs: Option<String>,
    },
    /// The first line is longer than any header.
    #[error("the first line is {bytes} bytes long, which no header is")]
    TooLong { bytes: u64 },
}

impl Header {
    /// The header of a recording, or of what is selected of it.
    pub fn of(summary: &Summary, selection: Option<&SelectionNote>) -> Self {
        let era = match summary.session.eras[..] {
            [] => None,
            [era] => Some(era.as_str()),
            _ => Some("mixed"),
        };
        let session = &summary.session;
        Self {
            tool: Some(format!("{OURS}{}", env!("CARGO_PKG_VERSION"))),
            era: era.map(str::to_owned),
            protocol: session.version().map(str::to_owned),
            transport: Some(summary.transport.clone()),
            command: summary.context.argv.clone(),
            redaction: summary.redaction.as_deref().map(json_of),
            selection: selection.or(summary.context.selection.as_ref()).cloned(),
            more: summary
                .context
                .cassette
                .as_deref()
                .map_or_else(Vec::new, members),
        }
    }

    /// What this version does not know as a JSON object, if there is something.
    pub(super) fn unknown(&self) -> Option<String> {
        if self.more.is_empty() {
            return None;
        }
        let member = |(key, json): &(String, String)| format!("{}:{json}", Json::from(&**key));
        let members: Vec<_> = self.more.iter().map(member).collect();
        Some(format!("{{{}}}", members.join(",")))
    }

    /// The version of mcpreel that wrote it; what else wrote it whole; empty if it does not say.
    pub fn tool_version(&self) -> &str {
        let tool = self.tool.as_deref().unwrap_or_default();
        tool.strip_prefix(OURS).unwrap_or(tool)
    }

    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        write!(out, "{{\"cassette\":{VERSION}")?;
        let texts = [
            ("tool", &self.tool),
            ("era", &self.era),
            ("protocol", &self.protocol),
            ("transport", &self.transport),
        ];
        for (key, text) in texts {
            member(out, key, text.as_ref())?;
        }
        let command = Some(&self.command).filter(|words| !words.is_empty());
        member(out, "command", command)?;
        if let Some(json) = &self.redaction {
            write!(out, ",\"redaction\":{json}")?;
        }
        member(out, "selection", self.selection.as_ref())?;
        for (key, json) in &self.more {
            write!(out, ",{}:{json}", Json::from(&**key))?;
        }
        out.write_all(b"}\n")
    }

    /// What `line` says, and the known keys whose values are none that they may have: these are
    /// kept as unknown ones.
    pub fn parse(line: &[u8]) -> Result<(Self, Vec<String>), HeaderError> {
        let document = Document::parse(line).map_err(HeaderError::NotJson)?;
        let root = document.root();
        let mut header = Self::default();
        let mut odd = Vec::new();
        for (key, value) in root.members() {
            let key = key.as_str().unwrap_or_default();
            match header.take(&key, value) {
                Taken::Yes => {}
                Taken::Unknown => header.keep(&key, value),
                Taken::Odd => {
                    header.keep(&key, value);
                    odd.push(key.into_owned());
                }
            }
        }
        let version = root.get("cassette").ok_or(HeaderError::NoVersion)?;
        header.check(version)?;
        Ok((header, odd))
    }

    fn take(&mut self, key: &str, value: Value<'_>) -> Taken {
        let text = || value.as_str().map(|text| Some(text.into_owned()));
        let is_taken = match key {
            "cassette" => true,
            "tool" => text().map(|text| self.tool = text).is_some(),
            "era" => text().map(|text| self.era = text).is_some(),
            "protocol" => text().map(|text| self.protocol = text).is_some(),
            "transport" => text().map(|text| self.transport = text).is_some(),
            "command" => words(value).map(|words| self.command = words).is_some(),
            "redaction" => {
                self.redaction = Some(value.raw_text().into_owned());
                true
            }
            "selection" => {
                self.selection = serde_json::from_slice(value.raw()).ok();
                self.selection.is_some()
            }
            _ => return Taken::Unknown,
        };
        if is_taken { Taken::Yes } else { Taken::Odd }
    }

    fn keep(&mut self, key: &str, value: Value<'_>) {
        let json = value.raw_text().into_owned();
        self.more.push((key.to_owned(), json));
    }

    fn check(&self, version: Value<'_>) -> Result<(), HeaderError> {
        let number = version.number_text().ok_or(HeaderError::NoVersion)?;
        match number.parse::<u64>() {
            Ok(1..=VERSION) => Ok(()),
            Ok(0) => Err(HeaderError::NoVersion),
            // Whatever it is, it is none of those that are known.
            _ => Err(HeaderError::Newer {
                version: number.to_owned(),
                tool: self.tool.clone(),
                // What claims to be of our own version or an older one is not, or we would read it.
                needs: self
                    .tool
                    .as_ref()
                    .and_then(|tool| match tool.strip_prefix(OURS) {
                        Some(version) if !is_newer(version) => None,
                        Some(version) => Some(format!("mcpreel {version} or newer")),
                        None => Some(tool.clone()),
                    }),
            }),
        }
    }
}

/// Whether a version of ours is a later one than this.
fn is_newer(version: &str) -> bool {
    let numbers = |version: &str| {
        let numbers = version.split('.').map(|number| number.parse::<u64>().ok());
        numbers.collect::<Option<Vec<_>>>()
    };
    numbers(version) > numbers(OWN)
}

enum Taken {
    Yes,
    Unknown,
    Odd,
}

fn words(value: Value<'_>) -> Option<Vec<String>> {
    let words = value
        .elements()
        .map(|word| Some(word.as_str()?.into_owned()));
    (value.kind() == Kind::Array).then(|| words.collect())?
}

fn member(out: &mut impl Write, key: &str, value: Option<&impl Serialize>) -> io::Result<()> {
    let Some(value) = value else {
        return Ok(());
    };
    write!(out, ",\"{key}\":")?;
    Ok(serde_json::to_writer(out, value)?)
}

/// A note on redaction as JSON, which it is unless somebody else wrote it.
fn json_of(note: &str) -> String {
    if Document::parse(note.as_bytes()).is_ok() && !note.contains(['\n', '\r']) {
        return note.to_owned();
    }
    Json::from(note).to_string()
}

fn members(object: &str) -> Vec<(String, String)> {
    let Ok(document) = Document::parse(object.as_bytes()) else {
        return Vec::new();
    };
    let members = document.root().members();
    let owned = members.map(|(key, value)| {
        let key = key.as_str().unwrap_or_default().into_owned();
        (key, value.raw_text().into_owned())
    });
    owned.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<(Header, Vec<String>), HeaderError> {
        Header::parse(line.as_bytes())
    }

    fn written(header: &Header) -> String {
        let mut line = Vec::new();
        header.write(&mut line).unwrap();
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn a_header_comes_back_as_it_was_written_with_what_nobody_knows() {
        let line = concat!(
            r#"{"cassette":1,"tool":"mcpreel 0.1.0","era":"legacy","protocol":"2025-11-25","#,
            r#""transport":"stdio","command":["srv","-x"],"redaction":{"rules":3,"hits":7},"#,
            r#""selection":{"query":"is:failed","to":9},"later":[1,2.50,"\u00e9"]}"#,
            "\n"
        );
        let (header, odd) = read(line).unwrap();
        assert_eq!(written(&header), line);
        assert_eq!(odd, [""; 0]);
        assert_eq!(header.tool_version(), "0.1.0");
        assert_eq!(header.more[0].1, r#"[1,2.50,"\u00e9"]"#);
        let unknown = header.unknown().unwrap();
        assert_eq!(unknown, r#"{"later":[1,2.50,"\u00e9"]}"#);
        assert_eq!(members(&unknown), header.more);
        assert_eq!(Header::default().unknown(), None);
    }

    #[test]
    fn little_is_enough_and_what_is_odd_is_kept_and_told() {
        assert_eq!(read(r#"{"cassette":1}"#).unwrap().0, Header::default());
        let (header, odd) = read(r#"{"cassette":1,"command":"srv","era":7}"#).unwrap();
        assert_eq!(odd, ["command", "era"]);
        assert_eq!(header.command, [""; 0]);
        assert!(written(&header).contains(r#"1,"command":"srv","era":7"#));
    }

    #[test]
    fn a_newer_one_says_what_it_needs() {
        let said = |line| read(line).unwrap_err().to_string();
        assert_eq!(
            said(r#"{"cassette":2,"tool":"mcpreel 0.9.1"}"#),
            format!(
                "it is a cassette of version 2, written by mcpreel 0.9.1; this is mcpreel {OWN}, \
                 which reads up to version 1: it needs mcpreel 0.9.1 or newer"
            )
        );
        // Once it was said to need the very version that could not read it.
        for old in [OWN, "0.0.1", "of old"] {
            let line = format!(r#"{{"cassette":2,"tool":"mcpreel {old}"}}"#);
            let said = read(&line).unwrap_err().to_string();
            assert!(said.ends_with("it needs a later version of mcpreel"));
        }
        assert!(said(r#"{"cassette":1.5}"#).ends_with("it needs a later version of mcpreel"));
        assert!(said(r#"{"cassette":1e99,"tool":"else 3"}"#).ends_with("it needs else 3"));
        for line in [r#"{"cassette":"1"}"#, r#"{"cassette":0}"#, "{}", "[]", "7"] {
            assert_eq!(read(line), Err(HeaderError::NoVersion), "{line}");
        }
        assert!(matches!(read("{"), Err(HeaderError::NotJson(_))));
    }
}
