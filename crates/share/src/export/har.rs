//! HTTP as an archive that browsers and proxies read: HAR 1.2.
//!
//! An entry is a request of HTTP with its response, by the moment of the request: the request as the
//! server got it, with the headers that the proxy added or changed, and the response as the server sent
//! it. Bodies are as they were decoded: whole ones as they are, streams of events as their events, each
//! with its fields in one order. What HAR has no place for begins with an underscore: the number in the
//! recording, the connection, the conversation, and how the response ended.

use super::{Export, ExportError, Written, all_rows, without_nulls};
use crate::phrases::when;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcpreel_capture::net::upstream::Upstream;
use mcpreel_store::reader::Recording;
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::{Envelope, FrameHead, Seq};
use mcpreel_trace::http::{End, HttpExchange, Timing};
use mcpreel_wire::http::head::known_status;
use mcpreel_wire::http::{Head, Part};
use mcpreel_wire::message::Direction;
use serde_json::{Value, json};
use std::io::Write;
use std::time::Duration;

/// HTTP exchanges that are read at once.
const PAGE: u32 = 200;

/// Frames of one exchange that are written: a stream of a day has many.
const FRAMES: u32 = 10_000;

/// Writes the HTTP of a recording; one that has none is an error.
pub fn write(export: Export<'_, impl Write>) -> Result<Written, ExportError> {
    let Export {
        excerpt,
        out,
        progress,
    } = export;
    let recording = excerpt.recording;
    if recording.https(0, 1)?.is_empty() {
        return Err(ExportError::NoHttp);
    }
    let summary = recording.summary()?;
    let creator = json!({"name": "mcpreel", "version": env!("CARGO_PKG_VERSION")});
    write!(
        out,
        "{{\"log\":{{\"version\":\"1.2\",\"creator\":{creator},\"entries\":["
    )?;
    let mut written = Written::default();
    let url = summary.context.url.unwrap_or_default();
    let mut made = recording.connections_made()?;
    for http in all_rows(0, |after| recording.https(*after, PAGE), |http| http.id) {
        let http = http?;
        // The first exchange of a connection is the one that it was made for.
        let timing = http.timing(made.remove(&http.connection).as_ref());
        progress(http.request)?;
        let frames = recording.carried(http.id, FRAMES)?;
        // A selected message brings all of the exchange that carries it.
        if !frames.iter().any(|frame| excerpt.has(frame.seq)) {
            written.left_out += 1;
            continue;
        }
        let comma = if written.exchanges == 0 { "" } else { "," };
        let entry = entry(recording, (&http, timing, &frames), (&url, summary.wall_ns))?;
        write!(out, "{comma}\n{entry}")?;
        written.exchanges += 1;
    }
    writeln!(out, "\n]}}}}")?;
    Ok(written)
}

fn entry(
    recording: &Recording,
    (http, timing, frames): (&HttpExchange, Timing, &[FrameHead]),
    (url, wall_ns): (&str, u64),
) -> Result<Value, ExportError> {
    let head = |seq: Seq| Ok::<_, ExportError>(Head::parse(&recording.raw(seq)?));
    let request = head(http.request)?;
    let response = http.response.map(head).transpose()?.flatten();
    let mut bodies = [Vec::new(), Vec::new()];
    for frame in frames {
        let way = usize::from(frame.stream.messages() == Some(Direction::ServerToClient));
        let raw = recording.raw(frame.seq)?;
        if frame.carried.part == Part::Event {
            let envelope = recording.envelope(frame.seq)?.unwrap_or_default();
            fields(&mut bodies[way], &envelope);
        }
        content(&mut bodies[way], frame, &raw);
    }
    let [sent, received] = bodies;
    let edits = recording.edits(http)?;
    let ms = |ns: u64| Duration::from_nanos(ns).as_secs_f64() * 1e3;
    let all: u64 = timing.parts().map(|(_, ns)| ns).sum();
    // In an archive the connection includes TLS.
    let connect = timing
        .connect
        .map(|tcp| tcp + timing.tls.unwrap_or_default());
    let optional = |ns: Option<u64>| ns.map_or(-1.0, ms);
    let always = |ns: Option<u64>| ms(ns.unwrap_or_default());
    Ok(without_nulls(json!({
        "startedDateTime": when::rfc3339(wall_ns + http.t_request.0),
        "time": ms(all),
        "request": request_json(http, (request.as_ref(), &edits), url, &sent),
        "response": response_json(http, response.as_ref(), &received),
        "cache": {},
        "timings": {
            "dns": optional(timing.name),
            "connect": optional(connect),
            "ssl": optional(timing.tls),
            "send": always(timing.send),
            "wait": always(timing.wait),
            "receive": always(timing.stream),
        },
        "connection": http.connection.to_string(),
        "_number": http.id,
        "_conversation": Some(http.conversation).filter(|number| *number > 0),
        "_ended": http.ended.map(End::as_str),
    })))
}

/// Adds what an event has besides its data. A redacted copy knows only that there was an id, not which.
fn fields(body: &mut Vec<u8>, envelope: &Envelope) {
    let Envelope {
        id, event, retry, ..
    } = envelope;
    let retry = retry.map(|ms| ms.to_string());
    for (name, value) in [("event", event), ("id", id), ("retry", &retry)] {
        let known = value.as_ref().filter(|value| !value.is_empty());
        let line = known.map(|value| format!("{name}: {value}\n"));
        body.extend(line.into_iter().flat_map(String::into_bytes));
    }
}

/// Adds what a frame has of a body.
fn content(body: &mut Vec<u8>, frame: &FrameHead, raw: &[u8]) {
    match frame.carried.part {
        Part::Body => body.extend_from_slice(raw),
        Part::Event => {
            for line in raw.split(|byte| *byte == b'\n') {
                body.extend_from_slice(b"data: ");
                body.extend_from_slice(line);
                body.push(b'\n');
            }
            body.push(b'\n');
        }
        Part::Comment => {
            body.extend_from_slice(raw);
            body.push(b'\n');
        }
        _ => {}
    }
}

fn request_json(
    http: &HttpExchange,
    (head, edits): (Option<&Head>, &[EventKind]),
    url: &str,
    body: &[u8],
) -> Value {
    let origin = Upstream::parse(url).map_or_else(|_| String::new(), |it| it.origin());
    let query = http.target.split_once('?').map_or("", |(_, query)| query);
    let pairs = query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            json!({"name": name, "value": value})
        });
    let kind = head
        .and_then(|head| head.get("content-type"))
        .unwrap_or_default();
    let data = || json!({"mimeType": kind, "text": String::from_utf8_lossy(body)});
    without_nulls(json!({
        "method": &*http.method,
        "url": format!("{origin}{}", http.target),
        "httpVersion": version(head),
        "cookies": [],
        "headers": headers_sent(head, edits),
        "queryString": pairs.collect::<Vec<_>>(),
        "postData": (!body.is_empty()).then(data),
        "headersSize": -1,
        "bodySize": body.len(),
    }))
}

fn response_json(http: &HttpExchange, head: Option<&Head>, body: &[u8]) -> Value {
    let kind = head
        .and_then(|head| head.get("content-type"))
        .unwrap_or_default();
    let text = std::str::from_utf8(body).ok();
    let content = without_nulls(json!({
        "size": body.len(),
        "mimeType": kind,
        "text": text.map_or_else(|| STANDARD.encode(body), str::to_owned),
        "encoding": text.is_none().then_some("base64"),
    }));
    json!({
        // No response: as browsers have it.
        "status": http.status.unwrap_or(0),
        "statusText": http.status.and_then(known_status).unwrap_or_default().1,
        "httpVersion": version(head),
        "cookies": [],
        "headers": headers(head),
        "content": content,
        "redirectURL": head.and_then(|head| head.get("location")).unwrap_or_default(),
        "headersSize": -1,
        "bodySize": -1,
    })
}

fn version(head: Option<&Head>) -> String {
    format!("HTTP/1.{}", head.map_or(1, |head| head.minor))
}

fn headers(head: Option<&Head>) -> Value {
    let headers = head.into_iter().flat_map(Head::headers);
    headers.map(header).collect()
}

fn header((name, value): (&str, &str)) -> Value {
    json!({"name": name, "value": value})
}

/// The headers of a request as the server got it, after the changes of the proxy.
fn headers_sent(head: Option<&Head>, edits: &[EventKind]) -> Value {
    let edits = edits.iter().filter_map(|edit| match edit {
        EventKind::Edited { what, old, new, .. } => Some((&**what, &**old, &**new)),
        _ => None,
    });
    let headers = head.into_iter().flat_map(Head::headers);
    let headers = headers.map(|(name, value)| {
        let mut edits = edits.clone();
        let edit = edits.find(|(what, old, _)| what.eq_ignore_ascii_case(name) && *old == value);
        header((name, edit.map_or(value, |(.., new)| new)))
    });
    let added = edits.clone().filter(|(what, ..)| *what == "header");
    let added = added.filter_map(|(.., line)| Some(header(line.split_once(": ")?)));
    headers.chain(added).collect()
}
