//! Spans as OTLP/JSON has them, and the lines of a file that they stand on: spans of the client and
//! of the server, each under its resource.

use crate::export::ExportError;
use mcpreel_store::reader::Summary;
use mcpreel_trace::session::Peer;
use mcpreel_wire::message::Direction;
use serde::Serialize;
use serde_json::json;
use std::io::Write;

/// `SPAN_KIND_INTERNAL`: nobody asked for it.
pub(super) const INTERNAL: u8 = 1;
/// `SPAN_KIND_CLIENT`.
pub(super) const CLIENT: u8 = 3;
/// `STATUS_CODE_ERROR`.
const ERROR: u32 = 2;

/// Characters of a text off the wire: there is no end to what an error may say.
const LONGEST: usize = 4096;

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Span {
    pub trace_id: String,
    #[serde(rename = "spanId")]
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_span_id: Option<String>,
    pub name: String,
    pub kind: u8,
    /// Nanoseconds since the Unix epoch, if it is known when that was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_time_unix_nano: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_time_unix_nano: Option<String>,
    pub attributes: Attributes,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
    /// Events that there was no room for.
    #[serde(skip_serializing_if = "is_zero")]
    pub dropped_events_count: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
    pub status: Status,
}

/// A span that another has to do with.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Link {
    pub trace_id: String,
    pub span_id: String,
}

/// Something that happened during a span.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Event {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_unix_nano: Option<String>,
    pub name: String,
    pub attributes: Attributes,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct Status {
    #[serde(skip_serializing_if = "is_zero")]
    code: u32,
    #[serde(skip_serializing_if = "String::is_empty")]
    message: String,
}

impl Status {
    /// The status of a span that failed in this way, if any; the kind is an attribute.
    pub fn of(failure: Option<(String, String)>) -> Self {
        failure.map_or_else(Self::default, |(_, message)| Self {
            code: ERROR,
            message: cut(&message),
        })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Attributes as OTLP/JSON has them: `{"key": …, "value": {"stringValue": …}}`.
#[derive(Debug, Default, Serialize)]
#[serde(transparent)]
pub(super) struct Attributes(Vec<Attribute>);

#[derive(Debug, Serialize)]
struct Attribute {
    key: &'static str,
    value: AnyValue,
}

#[derive(Debug, Serialize)]
enum AnyValue {
    #[serde(rename = "stringValue")]
    Text(String),
    /// Numbers of 64 bits are strings in OTLP/JSON.
    #[serde(rename = "intValue")]
    Int(String),
    #[serde(rename = "arrayValue")]
    Array { values: Vec<AnyValue> },
}

impl Attributes {
    /// A text, cut where it is very long.
    pub fn text(&mut self, key: &'static str, text: &str) {
        self.whole(key, cut(text));
    }

    /// A text of any length.
    pub fn whole(&mut self, key: &'static str, text: String) {
        self.push(key, AnyValue::Text(text));
    }

    pub fn some(&mut self, key: &'static str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(key, text);
        }
    }

    pub fn number(&mut self, key: &'static str, number: u64) {
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        self.push(key, AnyValue::Int(number.to_string()));
    }

    fn push(&mut self, key: &'static str, value: AnyValue) {
        self.0.push(Attribute { key, value });
    }
}

/// The beginning of a text, and that it goes on.
pub(super) fn cut(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(LONGEST);
    format!("{}… ({} bytes more)", &text[..end], text.len() - end)
}

/// Bytes of a line, which whoever reads it holds; a span more may stand on it.
const BYTES: usize = 512 * 1024;

/// Writes spans, so many on a line.
pub(super) struct Lines<'w, W> {
    out: &'w mut W,
    /// The resources, and their spans with commas in between: of the client, and of the server.
    sides: [(Attributes, Vec<u8>); 2],
}

impl<'w, W: Write> Lines<'w, W> {
    pub fn new(summary: &Summary, note: Option<&str>, out: &'w mut W) -> Self {
        let sides = [client(summary), server(summary)].map(|mut resource| {
            resource.some("mcpreel.time", note);
            (resource, Vec::new())
        });
        Self { out, sides }
    }

    /// A span of the side that sends this way.
    pub fn push(&mut self, from: Direction, span: &Span) -> Result<(), ExportError> {
        let (_, spans) = match from {
            Direction::ClientToServer => &mut self.sides[0],
            Direction::ServerToClient => &mut self.sides[1],
        };
        if !spans.is_empty() {
            spans.push(b',');
        }
        serde_json::to_writer(&mut *spans, span).map_err(std::io::Error::from)?;
        if self.sides[0].1.len() + self.sides[1].1.len() >= BYTES {
            self.finish()?;
        }
        Ok(())
    }

    /// Ends the line, if anything stands on it.
    pub fn finish(&mut self) -> Result<(), ExportError> {
        let scope = json!({"name": "mcpreel", "version": env!("CARGO_PKG_VERSION")});
        let mut before = "{\"resourceSpans\":[";
        for (resource, spans) in &mut self.sides {
            if !spans.is_empty() {
                let resource = json!({"attributes": resource});
                write!(
                    self.out,
                    "{before}{{\"resource\":{resource},\"scopeSpans\":[{{\"scope\":{scope},\
                     \"spans\":["
                )?;
                self.out.write_all(spans)?;
                self.out.write_all(b"]}]}")?;
                spans.clear();
                before = ",";
            }
        }
        if before == "," {
            self.out.write_all(b"]}\n")?;
        }
        Ok(())
    }
}

fn client(summary: &Summary) -> Attributes {
    let host = &summary.context.host;
    let name = Some(&*host.name).filter(|name| !name.is_empty());
    let mut attributes = peer(&summary.session.client, name.unwrap_or("mcp-client"));
    if host.pid > 0 {
        attributes.number("process.pid", host.pid.into());
    }
    attributes
}

fn server(summary: &Summary) -> Attributes {
    let mut attributes = peer(&summary.session.server, &summary.name);
    let context = &summary.context;
    attributes.some("process.executable.path", context.executable.as_deref());
    let texts = context.argv.iter().map(|text| AnyValue::Text(cut(text)));
    let values: Vec<_> = texts.collect();
    if !values.is_empty() {
        attributes.push("process.command_args", AnyValue::Array { values });
    }
    attributes
}

fn peer(peer: &Peer, or: &str) -> Attributes {
    let mut attributes = Attributes::default();
    attributes.text("service.name", peer.name.as_deref().unwrap_or(or));
    attributes.some("service.version", peer.version.as_deref());
    attributes
}
