//! Spans as JSON, and the lines of a file that they stand on: spans of the client and of the server,
//! each under its resource.

use super::Times;
use super::attributes::{Attributes, cut};
use super::ids::{Context, Here, SpanId, hex};
use crate::export::WriteError;
use mcpreel_store::reader::Summary;
use mcpreel_trace::session::Peer;
use mcpreel_wire::message::Direction;
use serde::Serialize;
use std::io::{self, Write};

const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;
const ERROR: u8 = 2;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Span {
    trace_id: String,
    #[serde(rename = "spanId")]
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_span_id: Option<String>,
    name: String,
    kind: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_time_unix_nano: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_time_unix_nano: Option<String>,
    attributes: Attributes,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    events: Vec<Event>,
    #[serde(skip_serializing_if = "is_zero")]
    dropped_events_count: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    links: Vec<Link>,
    status: Status,
}

#[derive(Debug)]
pub(super) struct Spanned {
    pub name: String,
    pub span: SpanId,
    pub context: Context,
    /// Nanoseconds since the Unix epoch, if it is known when that was.
    pub start: Option<u64>,
    pub end: Option<u64>,
    pub attributes: Attributes,
    pub events: Vec<Event>,
    /// Events that there was no room for.
    pub dropped: u64,
    pub links: Vec<Link>,
    pub failure: Option<Failure>,
}

#[derive(Debug)]
pub(super) struct Failure {
    pub kind: String,
    pub message: String,
}

/// Something that happened during a span.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Event {
    #[serde(skip_serializing_if = "Option::is_none")]
    time_unix_nano: Option<String>,
    name: String,
    attributes: Attributes,
}

/// A span that another has to do with.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Link {
    trace_id: String,
    span_id: String,
}

#[derive(Debug, Default, Serialize)]
struct Status {
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<u8>,
    #[serde(skip_serializing_if = "String::is_empty")]
    message: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Span {
    pub fn new(of: Spanned) -> Self {
        let status = of.failure.map(|failure| Status {
            code: Some(ERROR),
            message: cut(&failure.message),
        });
        Self {
            trace_id: hex(&of.context.trace),
            id: hex(&of.span),
            parent_span_id: of.context.parent.map(|parent| hex(&parent)),
            name: cut(&of.name),
            kind: CLIENT,
            start_time_unix_nano: of.start.map(|ns| ns.to_string()),
            end_time_unix_nano: of.end.map(|ns| ns.to_string()),
            attributes: of.attributes,
            events: of.events,
            dropped_events_count: u32::try_from(of.dropped).unwrap_or(u32::MAX),
            links: of.links,
            status: status.unwrap_or_default(),
        }
    }

    /// The same, of something that nobody asked for.
    pub fn internal(mut self) -> Self {
        self.kind = INTERNAL;
        self
    }
}

impl Event {
    pub fn new(name: &str, wall_ns: Option<u64>, attributes: Attributes) -> Self {
        Self {
            time_unix_nano: wall_ns.map(|ns| ns.to_string()),
            name: name.to_owned(),
            attributes,
        }
    }
}

impl Link {
    pub fn to(span: &Here) -> Self {
        Self {
            trace_id: hex(&span.trace),
            span_id: hex(&span.span),
        }
    }
}

/// Spans of a line: whoever reads it holds it.
const SPANS: usize = 1000;

/// Bytes of a line; a span more may stand on it.
const BYTES: usize = 1 << 20;

/// Writes spans, so many on a line.
pub(super) struct Lines<'w, W> {
    out: &'w mut W,
    client: Batch,
    server: Batch,
}

struct Batch {
    head: String,
    spans: Vec<u8>,
    count: usize,
}

#[derive(Serialize)]
struct Resource {
    attributes: Attributes,
}

impl<'w, W: Write> Lines<'w, W> {
    pub fn new(summary: &Summary, times: Times, out: &'w mut W) -> Self {
        let side = |mut resource: Attributes| {
            resource.some("mcpreel.time", times.note());
            Batch::new(resource)
        };
        Self {
            out,
            client: side(client(summary)),
            server: side(server(summary)),
        }
    }

    /// A span of the side that sends this way.
    pub fn push(&mut self, from: Direction, span: &Span) -> Result<(), WriteError> {
        let batch = match from {
            Direction::ClientToServer => &mut self.client,
            Direction::ServerToClient => &mut self.server,
        };
        batch.push(span)?;
        let count = self.client.count + self.server.count;
        let bytes = self.client.spans.len() + self.server.spans.len();
        if count >= SPANS || bytes >= BYTES {
            self.finish()?;
        }
        Ok(())
    }

    /// Ends the line, if anything stands on it.
    pub fn finish(&mut self) -> Result<(), WriteError> {
        let mut before: &[u8] = b"{\"resourceSpans\":[";
        for batch in [&mut self.client, &mut self.server] {
            if batch.count > 0 {
                self.out.write_all(before)?;
                batch.write(self.out)?;
                before = b",";
            }
        }
        if before == b"," {
            self.out.write_all(b"]}\n")?;
        }
        Ok(())
    }
}

impl Batch {
    fn new(resource: Attributes) -> Self {
        let scope = format!(
            "{{\"name\":\"mcpreel\",\"version\":\"{}\"}}",
            env!("CARGO_PKG_VERSION")
        );
        let resource = Resource {
            attributes: resource,
        };
        let resource = serde_json::to_string(&resource);
        debug_assert!(resource.is_ok(), "it is made of texts and numbers");
        let resource = resource.unwrap_or_else(|_| "{}".to_owned());
        Self {
            head: format!(
                "{{\"resource\":{resource},\"scopeSpans\":[{{\"scope\":{scope},\"spans\":["
            ),
            spans: Vec::new(),
            count: 0,
        }
    }

    fn push(&mut self, span: &Span) -> Result<(), WriteError> {
        if self.count > 0 {
            self.spans.push(b',');
        }
        serde_json::to_writer(&mut self.spans, span).map_err(io::Error::from)?;
        self.count += 1;
        Ok(())
    }

    fn write(&mut self, out: &mut impl Write) -> Result<(), WriteError> {
        out.write_all(self.head.as_bytes())?;
        out.write_all(&self.spans)?;
        out.write_all(b"]}]}")?;
        self.spans.clear();
        self.count = 0;
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
    attributes.texts("process.command_args", &context.argv);
    attributes
}

fn peer(peer: &Peer, or: &str) -> Attributes {
    let mut attributes = Attributes::default();
    attributes.text("service.name", peer.name.as_deref().unwrap_or(or));
    attributes.some("service.version", peer.version.as_deref());
    attributes
}
