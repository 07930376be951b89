//! One row of the list, as the page reads it.

use crate::phrases;
use mcpreel_store::reader::{EventRow, MessageRow};
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::{FrameHead, StreamId};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{cut, escape_bytes};
use serde::Serialize;

/// Columns of a text that a row has: the whole of it stands in the frame.
const TEXT: usize = 600;

/// A row of the list. Numbers are nanoseconds and bytes; what is not there is left out. Texts are
/// not escaped but for those of lines and events.
#[derive(Default, Serialize)]
pub(super) struct Row<'a> {
    /// What it is: a word of `kind` in filters.
    k: &'static str,
    /// Its frame, of an exchange that of its request, of an event the last one before it.
    n: u64,
    /// Its place in a batch; of an event its number.
    #[serde(skip_serializing_if = "is_none")]
    p: u64,
    t: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    d: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    m: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// Its line, or the bytes that it begins with.
    text: String,
    /// Bytes: of an exchange those of the request.
    #[serde(skip_serializing_if = "is_none")]
    size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    era: Option<&'static str>,
    /// The number of the exchange that it is or belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    x: Option<u64>,
    /// Whether it is part of its exchange and no row of its own.
    #[serde(skip_serializing_if = "is_false")]
    folded: bool,
    #[serde(flatten)]
    exchange: Option<Answer<'a>>,
}

#[derive(Serialize)]
struct Answer<'a> {
    s: &'static str,
    #[serde(skip_serializing_if = "is_false")]
    failed: bool,
    /// The frame of the response and its place in a batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    re: Option<(u64, u32)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    te: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latency: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    transfer: Option<u64>,
    #[serde(skip_serializing_if = "is_none")]
    waited: u64,
    #[serde(skip_serializing_if = "is_false")]
    retry: bool,
    #[serde(skip_serializing_if = "is_none")]
    ressize: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chain: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<&'a str>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn is_none(number: &u64) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl<'a> Row<'a> {
    pub fn of_exchange(exchange: &'a Exchange) -> Self {
        Self {
            k: "request",
            n: exchange.request.0.0,
            p: exchange.request.1.into(),
            t: exchange.t_request.0,
            d: Some(exchange.direction.as_str()),
            m: Some(short(&exchange.method)),
            name: exchange.name.as_deref().map(short),
            id: Some(short(exchange.rpc_id.json())),
            text: short(&exchange.summary),
            size: exchange.request_size,
            code: exchange.code.as_deref(),
            era: Some(exchange.era.as_str()),
            x: Some(exchange.id.0),
            folded: false,
            exchange: Some(Answer {
                s: exchange.status.as_str(),
                failed: exchange.has_failed(),
                re: exchange.response.map(|(seq, part)| (seq.0, part)),
                te: exchange.t_response.map(|t| t.0),
                latency: exchange.latency_ns(),
                transfer: exchange.transfer_ns(),
                waited: exchange.waited_ns,
                retry: exchange.is_retry(),
                ressize: exchange.response_size,
                parent: exchange.parent.map(|id| id.0),
                chain: exchange.chain.map(|id| id.0),
                task: exchange.task.as_deref(),
                progress: exchange.progress.as_deref(),
            }),
        }
    }

    /// The row of a message, or what a message is to its exchange.
    pub fn of_message(row: &'a MessageRow, head: &FrameHead) -> Self {
        let record = &row.record;
        let method = record.method.as_deref();
        // Log messages stay rows of their own even where the call is known in which they came.
        let is_state = matches!(
            method,
            Some("notifications/progress" | "notifications/cancelled")
        );
        let is_notification = record.kind == MessageKind::Notification;
        Self {
            k: record.kind.as_str(),
            n: record.frame.0,
            p: record.part.into(),
            t: head.t_last.0,
            d: Some(record.direction.as_str()),
            m: method.map(short),
            name: record.name.as_deref().map(short),
            id: record.rpc_id.as_ref().map(|id| short(id.json())),
            text: short(&record.summary),
            size: head.size,
            code: record.code.as_deref(),
            era: Some(record.era.as_str()),
            x: record.exchange.map(|id| id.0),
            folded: record.exchange.is_some() && (is_state || !is_notification),
            exchange: None,
        }
    }
}

impl Row<'static> {
    /// The row of a line that is no message, of which these bytes are the beginning.
    pub fn of_line(head: &FrameHead, preview: &[u8]) -> Self {
        let is_stderr = head.stream == StreamId::STDERR;
        Self {
            k: if is_stderr { "stderr" } else { "other" },
            n: head.seq.0,
            t: head.t_last.0,
            d: head.stream.messages().map(Direction::as_str),
            text: escape_bytes(preview.trim_ascii_end()).into_owned(),
            size: head.size,
            ..Self::default()
        }
    }

    pub fn of_event(row: &EventRow) -> Self {
        Self {
            k: "event",
            n: row.event.after_seq.0,
            p: row.id,
            t: row.event.t.0,
            text: phrases::event(&row.event.kind),
            ..Self::default()
        }
    }
}

fn short(text: &str) -> String {
    cut(text, TEXT)
}
