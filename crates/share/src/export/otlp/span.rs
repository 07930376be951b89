//! Spans as JSON, and the lines of a file that they stand on: spans of the client and of the server,
//! each under its resource.

use super::Times;
use super::attributes::{Attributes, cut};
use super::ids::{Context, Here, SpanId, hex};
use crate::export::{ExportError, without_nulls};
use mcpreel_store::reader::Summary;
use mcpreel_trace::session::Peer;
use mcpreel_wire::message::Direction;
use serde_json::{Value, json};
use std::io::Write;

/// `SPAN_KIND_INTERNAL`: nobody asked for it.
pub(super) const INTERNAL: u8 = 1;
/// `SPAN_KIND_CLIENT`.
pub(super) const CLIENT: u8 = 3;
/// `STATUS_CODE_ERROR`.
const ERROR: u8 = 2;

#[derive(Debug, Default)]
pub(super) struct Span {
    pub kind: u8,
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

impl Failure {
    pub fn new(kind: impl Into<String>, message: impl Into<String>) -> Self {
        let (kind, message) = (kind.into(), message.into());
        Self { kind, message }
    }
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
        let message = self.failure.as_ref().map(|failure| cut(&failure.message));
        let status = without_nulls(json!({
            "code": self.failure.as_ref().map(|_| ERROR),
            "message": message.filter(|message| !message.is_empty()),
        }));
        without_nulls(json!({
            "traceId": hex(&self.context.trace),
            "spanId": hex(&self.id),
            "parentSpanId": self.context.parent.map(|parent| hex(&parent)),
            "name": cut(&self.name),
            "kind": self.kind,
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

/// Bytes of a line, which whoever reads it holds; a span more may stand on it.
const BYTES: usize = 512 * 1024;

/// Writes spans, so many on a line.
pub(super) struct Lines<'w, W> {
    out: &'w mut W,
    /// The resources, and their spans with commas in between: of the client, and of the server.
    sides: [(Attributes, String); 2],
}

impl<'w, W: Write> Lines<'w, W> {
    pub fn new(summary: &Summary, times: Times, out: &'w mut W) -> Self {
        let sides = [client(summary), server(summary)].map(|mut resource| {
            resource.some("mcpreel.time", times.note());
            (resource, String::new())
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
            spans.push(',');
        }
        spans.push_str(&span.json().to_string());
        if self.sides[0].1.len() + self.sides[1].1.len() >= BYTES {
            self.finish()?;
        }
        Ok(())
    }

    /// Ends the line, if anything stands on it.
    pub fn finish(&mut self) -> Result<(), ExportError> {
        let scope = json!({"name": "mcpreel", "version": env!("CARGO_PKG_VERSION")});
        let mut lines = Vec::new();
        for (resource, spans) in &mut self.sides {
            if !spans.is_empty() {
                let resource = json!({"attributes": resource});
                lines.push(format!(
                    "{{\"resource\":{resource},\"scopeSpans\":[{{\"scope\":{scope},\"spans\":\
                     [{spans}]}}]}}"
                ));
                spans.clear();
            }
        }
        if !lines.is_empty() {
            writeln!(self.out, "{{\"resourceSpans\":[{}]}}", lines.join(","))?;
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
    attributes.texts("process.command_args", &context.argv);
    attributes
}

fn peer(peer: &Peer, or: &str) -> Attributes {
    let mut attributes = Attributes::default();
    attributes.text("service.name", peer.name.as_deref().unwrap_or(or));
    attributes.some("service.version", peer.version.as_deref());
    attributes
}
