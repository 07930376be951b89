//! Frames, exchanges, messages, events and findings as JSON objects: absent values are null, ids and
//! codes are as on the wire.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcpreel_store::reader::FindingRow;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::MessageRecord;
use mcpreel_trace::event::Event;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::{FrameHead, StreamId};
use mcpreel_wire::message::Direction;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// A row with its type in front.
#[derive(Serialize)]
pub struct Typed<T> {
    pub r#type: &'static str,
    #[serde(flatten)]
    pub row: T,
}

/// A frame with its exact bytes.
#[derive(Debug, Serialize)]
pub struct FrameJson<'a> {
    seq: u64,
    stream: &'static str,
    direction: Option<&'static str>,
    t_first_ns: u64,
    t_last_ns: u64,
    size: u64,
    #[serde(flatten)]
    bytes: Bytes<'a>,
}

/// Text where the bytes are UTF-8.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum Bytes<'a> {
    Text(&'a str),
    Base64(String),
}

impl<'a> FrameJson<'a> {
    pub fn new(head: &FrameHead, raw: &'a [u8]) -> Self {
        Self {
            seq: head.seq.0,
            stream: head.stream.as_str(),
            direction: head.stream.messages().map(Direction::as_str),
            t_first_ns: head.t_first.0,
            t_last_ns: head.t_last.0,
            size: head.size,
            bytes: std::str::from_utf8(raw)
                .map_or_else(|_| Bytes::Base64(STANDARD.encode(raw)), Bytes::Text),
        }
    }
}

/// A request with its response.
#[derive(Debug, Serialize)]
pub struct ExchangeJson<'a> {
    direction: &'static str,
    method: &'a str,
    name: Option<&'a str>,
    id: Box<RawValue>,
    request: u64,
    response: Option<u64>,
    t_request_ns: u64,
    t_response_ns: Option<u64>,
    latency_ns: Option<u64>,
    waited_ns: u64,
    status: &'static str,
    code: Option<Box<RawValue>>,
    era: &'static str,
    summary: &'a str,
}

impl<'a> From<&'a Exchange> for ExchangeJson<'a> {
    fn from(exchange: &'a Exchange) -> Self {
        Self {
            direction: exchange.direction.as_str(),
            method: &exchange.method,
            name: exchange.name.as_deref(),
            id: as_on_the_wire(exchange.rpc_id.json()),
            request: exchange.request.0.0,
            response: exchange.response.map(|(seq, _)| seq.0),
            t_request_ns: exchange.t_request.0,
            t_response_ns: exchange.t_response.map(|t| t.0),
            latency_ns: exchange.latency_ns(),
            waited_ns: exchange.waited_ns,
            status: exchange.status.as_str(),
            code: exchange.code.as_deref().map(as_on_the_wire),
            era: exchange.era.as_str(),
            summary: &exchange.summary,
        }
    }
}

/// JSON text as it is; what is no JSON after all (only a damaged recording has it), as a string.
fn as_on_the_wire(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned())
        .or_else(|_| serde_json::value::to_raw_value(json))
        .expect("a string is a JSON value")
}

/// A message that is neither the request nor the response of an exchange.
#[derive(Debug, Serialize)]
pub struct MessageJson<'a> {
    seq: u64,
    direction: &'static str,
    t_ns: u64,
    method: Option<&'a str>,
    name: Option<&'a str>,
    id: Option<Box<RawValue>>,
    summary: &'a str,
}

impl<'a> MessageJson<'a> {
    /// `t` is when the message was complete.
    pub fn new(record: &'a MessageRecord, t: Moment) -> Self {
        Self {
            seq: record.frame.0,
            direction: record.direction.as_str(),
            t_ns: t.0,
            method: record.method.as_deref(),
            name: record.name.as_deref(),
            id: record.rpc_id.as_ref().map(|id| as_on_the_wire(id.json())),
            summary: &record.summary,
        }
    }
}

/// An event, its details behind the time.
pub fn event_json(event: &Event) -> Value {
    let place = json!({"t_ns": event.t.0, "after_seq": event.after_seq.0});
    let mut line = joined(place, serde_json::to_value(&event.kind).unwrap_or_default());
    // Streams have numbers on record and names in the output, as in frames.
    if let Some(stream) = line.get_mut("stream") {
        let number = stream
            .as_u64()
            .and_then(|number| u16::try_from(number).ok());
        *stream = number.map_or(Value::Null, |number| StreamId(number).as_str().into());
    }
    null_what_is_unknown(&mut line);
    line
}

/// The members of one object, then those of another.
pub fn joined(mut one: Value, other: Value) -> Value {
    if let (Some(members), Value::Object(more)) = (one.as_object_mut(), other) {
        members.extend(more);
    }
    one
}

/// Turns facts about a process that are unknown, 0 or empty on record, into `null`.
pub fn null_what_is_unknown(context: &mut Value) {
    for place in ["/pid", "/host/pid", "/host/name", "/mcpreel", "/wall_ns"] {
        if let Some(value) = context.pointer_mut(place)
            && (*value == json!(0) || *value == json!(""))
        {
            *value = Value::Null;
        }
    }
}

/// A finding; `request` is the seq of the request of its exchange.
pub fn finding_json(finding: &FindingRow, request: Option<u64>) -> Value {
    let mut line = json!({
        "rule": finding.rule,
        "severity": finding.severity,
        "frame": finding.frame.map(|seq| seq.0),
        "request": request,
        "path": finding.path,
        "message": finding.detail,
    });
    if !finding.related.is_empty() {
        line["related"] = finding.related.iter().map(|seq| seq.0).collect();
    }
    line
}

/// A note on redaction as JSON; what is none is text.
pub fn redaction(note: Option<&str>) -> Option<Value> {
    note.map(|note| serde_json::from_str(note).unwrap_or_else(|_| note.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_wire::id::RequestId;

    fn line(value: &impl Serialize) -> String {
        serde_json::to_string(value).expect("it is JSON")
    }

    #[test]
    fn an_exchange_keeps_the_text_of_its_id_and_code() {
        let id = RequestId::from_json("9007199254740993.0").expect("it is JSON");
        let exchange = Exchange {
            code: Some("\"E_QUOTA\"".into()),
            ..Exchange::begun(Direction::ClientToServer, id, "tools/call")
        };
        let line = line(&ExchangeJson::from(&exchange));
        assert!(line.contains(r#""id":9007199254740993.0,"#), "{line}");
        assert!(line.contains(r#""code":"E_QUOTA","#), "{line}");
    }
}
