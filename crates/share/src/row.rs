//! A row of a recording, as lists and pages show it: made once from what is stored,
//! laid out by whoever shows it.
//!
//! ```text
//!    #      SINCE   LATENCY  STATUS      WHAT
//! 1187  12:04.318    842 ms  tool-error  → tools/call search_docs {q:"rust"}
//! ```

use crate::phrases::{self, phrases_network};
use mcpreel_lint::Severity;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::{MessageKind, MessageRecord};
use mcpreel_trace::event::Event;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};
use mcpreel_trace::http::HttpExchange;
use mcpreel_trace::item::{FindingNote, Item, ItemKind, What};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{duration, escape, escape_bytes};
use std::borrow::Cow;
use std::fmt::Write as _;

#[derive(Clone, Debug)]
pub struct RowView<'r> {
    pub kind: ItemKind,
    /// The frame: of an exchange that of its request, of an event the last one before it.
    pub seq: Seq,
    pub t: Moment,
    pub direction: Option<Direction>,
    pub method: Option<&'r str>,
    /// The tool, prompt or URI.
    pub name: Option<&'r str>,
    /// The line that sums it up. Text off the wire is not escaped; see [`Self::what`].
    pub summary: Cow<'r, str>,
    /// Bytes on the wire; of an exchange those of both messages.
    pub size: Option<u64>,
    pub latency_ns: Option<u64>,
    /// The status of an exchange; of anything else what it is.
    pub status: &'static str,
    pub tone: Tone,
    /// The worst of the findings on it.
    pub finding: Option<Severity>,
    pub exchange: Option<&'r Exchange>,
    /// The conversation that it belongs to, from 1; 0: none.
    pub conversation: u32,
}

/// The urgency of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    /// Beside the calls: notifications, stderr, events.
    Faint,
    /// Neither over nor failed.
    Open,
    Warn,
    Bad,
}

impl Tone {
    /// The tone of an exchange.
    pub fn of(exchange: &Exchange) -> Self {
        match exchange.status {
            _ if exchange.has_failed() => Self::Bad,
            Status::Ok | Status::Probe => Self::Plain,
            Status::Open | Status::Listening | Status::Task | Status::InputRequired => Self::Open,
            _ => Self::Warn,
        }
    }
}

impl<'r> RowView<'r> {
    pub fn of_item(item: &'r Item) -> Self {
        let row = match &item.what {
            What::Exchange(exchange) => Self::of_exchange(exchange),
            What::Message {
                record,
                head,
                exchange,
            } => Self {
                size: Some(head.size),
                ..Self::of_message(record, head.t_last, exchange.as_deref())
            },
            What::Http(http) => Self::of_http(http),
            What::Line { head, preview } => Self::of_line(head, preview),
            What::Event(event) => Self::of_event(event),
        };
        Self {
            finding: worst(&item.findings),
            ..row
        }
    }

    pub fn of_exchange(exchange: &'r Exchange) -> Self {
        Self {
            kind: ItemKind::Request,
            seq: exchange.request.0,
            t: exchange.t_request,
            direction: Some(exchange.direction),
            method: Some(&exchange.method),
            name: exchange.name.as_deref(),
            summary: Cow::Borrowed(&exchange.summary),
            size: Some(exchange.request_size + exchange.response_size),
            latency_ns: exchange.latency_ns(),
            status: exchange.status.as_str(),
            tone: Tone::of(exchange),
            finding: None,
            exchange: Some(exchange),
            conversation: exchange.conversation,
        }
    }

    /// A message that was complete at `t`, and the exchange that it belongs to.
    pub fn of_message(
        record: &'r MessageRecord,
        t: Moment,
        exchange: Option<&'r Exchange>,
    ) -> Self {
        let of_exchange = exchange.filter(|_| record.kind == MessageKind::Response);
        let (kind, status, tone) = match record.kind {
            MessageKind::Request => (ItemKind::Request, "request", Tone::Faint),
            MessageKind::Response => (ItemKind::Response, "orphan", Tone::Warn),
            MessageKind::Notification => (ItemKind::Notification, "notification", Tone::Faint),
            MessageKind::Other => (ItemKind::Other, "no message", Tone::Warn),
        };
        Self {
            kind,
            seq: record.frame,
            t,
            direction: Some(record.direction),
            method: record.method.as_deref(),
            name: record.name.as_deref(),
            summary: Cow::Borrowed(&record.summary),
            size: None,
            latency_ns: of_exchange.and_then(Exchange::latency_ns),
            status: of_exchange.map_or(status, |exchange| exchange.status.as_str()),
            tone: of_exchange.map_or(tone, Tone::of),
            finding: None,
            exchange: None,
            conversation: record.conversation,
        }
    }

    /// A request of HTTP without a message.
    pub fn of_http(http: &'r HttpExchange) -> Self {
        let tone = match http.status {
            None => Tone::Open,
            Some(400..) => Tone::Warn,
            Some(_) => Tone::Faint,
        };
        Self {
            kind: ItemKind::Http,
            seq: http.request,
            t: http.t_request,
            direction: Some(Direction::ClientToServer),
            method: Some(&http.method),
            latency_ns: http.waited_ns(),
            status: phrases_network::status(http),
            tone,
            conversation: http.conversation,
            ..Self::bare(phrases_network::http(http))
        }
    }

    /// A line that is no message, which begins with these bytes.
    pub fn of_line(head: &FrameHead, preview: &[u8]) -> Self {
        let (kind, status, tone) = match head.stream {
            _ if head.carried.http > 0 => (ItemKind::Http, head.carried.part.as_str(), Tone::Faint),
            StreamId::STDERR => (ItemKind::Stderr, "stderr", Tone::Faint),
            _ => (ItemKind::Other, "no message", Tone::Warn),
        };
        Self {
            kind,
            seq: head.seq,
            t: head.t_last,
            direction: head.stream.messages(),
            size: Some(head.size),
            status,
            tone,
            ..Self::bare(match head.carried.http {
                0 => escape_bytes(preview.trim_ascii_end()).into_owned(),
                _ => phrases_network::part(head, preview),
            })
        }
    }

    pub fn of_event(event: &Event) -> Self {
        Self {
            seq: event.after_seq,
            t: event.t,
            ..Self::bare(phrases::event(&event.kind))
        }
    }

    fn bare(summary: String) -> Self {
        Self {
            kind: ItemKind::Event,
            seq: Seq(0),
            t: Moment(0),
            direction: None,
            method: None,
            name: None,
            summary: Cow::Owned(summary),
            size: None,
            latency_ns: None,
            status: "event",
            tone: Tone::Faint,
            finding: None,
            exchange: None,
            conversation: 0,
        }
    }

    /// The way of a message: to the server or back; a sign of its own for stderr and events.
    pub fn arrow(&self) -> &'static str {
        match (self.direction, self.kind) {
            (Some(direction), _) => arrow(direction),
            (None, ItemKind::Event) => "•",
            (None, _) => "!",
        }
    }

    /// The conversation, where it is not the only one: `(2) `.
    pub fn aside(&self) -> String {
        match self.conversation {
            0 | 1 => String::new(),
            conversation => format!("({conversation}) "),
        }
    }

    /// Whether the end of the summary says as much as its beginning: it names a URI.
    pub fn is_uri(&self) -> bool {
        self.name.is_some_and(|name| name.contains("://"))
    }

    /// The summary, escaped, and what else is worth a word: why there is no answer, time spent
    /// waiting, progress. `why` says why calls of the session are lost.
    pub fn what(&self, why: Option<&str>) -> String {
        let mut what = self.aside() + &escape(&self.summary);
        let Some(exchange) = self.exchange else {
            return what;
        };
        if let Some(why) = phrases::lost(exchange, why) {
            let _ = write!(what, " → {why}");
        }
        if exchange.waited_ns > 0 {
            let waited = duration(exchange.waited_ns);
            let _ = if exchange.is_retry() {
                write!(what, "  (after {waited} waiting for the client)")
            } else {
                write!(what, "  ({waited} of it waiting for the client)")
            };
        }
        if let (Some(progress), Status::Open) = (&exchange.progress, exchange.status) {
            let _ = write!(what, "  {}", escape(progress));
        }
        what
    }
}

/// The way of a message: from the host to the server, or back.
pub fn arrow(direction: Direction) -> &'static str {
    match direction {
        Direction::ClientToServer => "→",
        Direction::ServerToClient => "←",
    }
}

fn worst(findings: &[FindingNote]) -> Option<Severity> {
    let severities = findings.iter().map(|note| note.severity.parse().ok());
    severities.max().flatten()
}
