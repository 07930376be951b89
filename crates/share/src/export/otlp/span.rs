//! Spans as JSON, and the lines of a file that they stand on: spans of the client and of the server,
//! each under its resource.

use super::Times;
use super::attributes::{Attributes, cut};
use super::ids::{Context, Here, SpanId, hex};
use crate::export::WriteError;
use mcpreel_store::reader::Summary;
use mcpreel_trace::session::Peer;
use mcpreel_wire::message::Direction;
use serde_json::{Value, json};
use std::io::{self, Write};

const INTERNAL: u8 = 1;
const CLIENT: u8 = 3;
const ERROR: u8 = 2;

#[derive(Debug)]
pub(super) struct Span {
    /// Whether nobody asked for it.
    pub is_internal: bool,
    pub name: String,
    pub id: SpanId,
    pub context: Context,
    /// Nanoseconds since the Unix epoch, if it is known when that was.
    pub start: Option<u64>,
    pub end: Option<u64>,
    pub attributes: Attributes,
    pub events: Vec<Value>,
    /// Events that there was no room for.
    pub dropped: u64,
    pub links: Vec<Value>,
    pub failure: Option<Failure>,
}

#[derive(Debug)]
pub(super) struct Failure {
    pub kind: String,
    pub message: String,
}

/// Something that happened during a span.
pub(super) fn event(name: &str, wall_ns: Option<u64>, attributes: &Attributes) -> Value {
    without_nulls(json!({
        "timeUnixNano": wall_ns.map(|ns| ns.to_string()),
        "name": name,
        "attributes": attributes,
    }))
}

/// A span that another has to do with.
pub(super) fn link(span: &Here) -> Value {
    json!({"traceId": hex(&span.trace), "spanId": hex(&span.span)})
}

impl Span {
    fn json(&self) -> Value {
        let dropped = u32::try_from(self.dropped).unwrap_or(u32::MAX);
        let status = self.failure.as_ref().map_or_else(
            || json!({}),
            |failure| match cut(&failure.message) {
                message if message.is_empty() => json!({"code": ERROR}),
                message => json!({"code": ERROR, "message": message}),
            },
        );
        without_nulls(json!({
            "traceId": hex(&self.context.trace),
            "spanId": hex(&self.id),
            "parentSpanId": self.context.parent.map(|parent| hex(&parent)),
            "name": cut(&self.name),
            "kind": if self.is_internal { INTERNAL } else { CLIENT },
            "startTimeUnixNano": self.start.map(|ns| ns.to_string()),
            "endTimeUnixNano": self.end.map(|ns| ns.to_string()),
            "attributes": self.attributes,
            "events": (!self.events.is_empty()).then_some(&self.events),
            "droppedEventsCount": (dropped > 0).then_some(dropped),
            "links": (!self.links.is_empty()).then_some(&self.links),
            "status": status,
        }))
    }
}

fn without_nulls(mut value: Value) -> Value {
    if let Value::Object(members) = &mut value {
        members.retain(|_, value| !value.is_null());
    }
    value
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

impl<'w, W: Write> Lines<'w, W> {
    pub fn new(summary: &Summary, times: Times, out: &'w mut W) -> Self {
        let side = |mut resource: Attributes| {
            resource.some("mcpreel.time", times.note());
            Batch::new(&resource)
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
    fn new(resource: &Attributes) -> Self {
        let scope = format!(
            "{{\"name\":\"mcpreel\",\"version\":\"{}\"}}",
            env!("CARGO_PKG_VERSION")
        );
        let resource = json!({"attributes": resource});
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
        serde_json::to_writer(&mut self.spans, &span.json()).map_err(io::Error::from)?;
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
