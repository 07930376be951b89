//! The JSON of a span.

use super::attribute::{Attributes, cut};
use super::ids::{Context, Here, SpanId, hex};
use serde::Serialize;

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
