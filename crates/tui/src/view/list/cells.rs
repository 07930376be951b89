//! What stands in the columns of a row, escaped and not yet cut.

use crate::theme::{Glyph, Look, Role};
use mcpreel_share::phrases;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::{MessageKind, MessageRecord};
use mcpreel_trace::event::DEFAULT_SLOW_NS;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::frame::{FrameHead, StreamId};
use mcpreel_trace::item::{Item, ItemKind, What};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{duration, escape, escape_bytes};
use std::borrow::Cow;

/// What stands in the columns of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells<'a> {
    pub role: Role,
    pub arrow: Option<Glyph>,
    /// The method, or what it is instead.
    pub method: Cow<'a, str>,
    pub what: String,
    /// What it is at just now: still there when the words before are cut.
    pub aside: String,
    /// Whether the end of it says as much as the beginning.
    pub is_uri: bool,
    pub size: Option<u64>,
    /// From request to answer, nanoseconds; while it is open until now.
    pub latency_ns: Option<u64>,
    /// The sign and the word of the status.
    pub status: Option<(Glyph, Role, &'static str)>,
}

impl<'a> Cells<'a> {
    /// Those of `item` at the moment `now`.
    pub fn of(item: &'a Item, run: u32, now: Moment, look: &Look) -> Self {
        let mut cells = Self {
            role: role(item),
            arrow: item.direction().map(arrow),
            method: item
                .method()
                .map_or(Cow::Borrowed(""), |method| escape(short(method))),
            what: String::new(),
            aside: String::new(),
            is_uri: item.name().is_some_and(|name| name.contains("://")),
            size: None,
            latency_ns: None,
            status: None,
        };
        match &item.what {
            What::Exchange(exchange) => cells.exchange(exchange, now, look),
            What::Message {
                record,
                head,
                exchange,
            } => cells.message(record, head.size, exchange.as_deref()),
            What::Line { head, preview } => cells.line(head, preview),
            What::Event(event) => {
                cells.what = phrases::event(&event.kind);
                cells.method = Cow::Borrowed("event");
            }
        }
        if run > 1 {
            let times = look.glyph(Glyph::Times);
            cells.what = format!("{times}{run}  {}", cells.what);
        }
        cells
    }

    fn message(&mut self, record: &MessageRecord, size: u64, exchange: Option<&Exchange>) {
        self.what = about(&record.summary, record.method.as_deref());
        self.size = Some(size);
        if record.kind == MessageKind::Response {
            self.latency_ns = exchange.and_then(Exchange::latency_ns);
            let orphan = (Glyph::Warning, Role::Warn, "orphan");
            self.status = Some(exchange.map_or(orphan, status));
        }
        if record.kind == MessageKind::Other {
            self.method = Cow::Borrowed("no JSON-RPC");
        }
    }

    fn line(&mut self, head: &FrameHead, preview: &[u8]) {
        self.size = Some(head.size);
        self.what = escape_bytes(trimmed(preview)).to_string();
        self.is_uri = false;
        self.method = Cow::Borrowed(if head.stream == StreamId::STDERR {
            "stderr"
        } else {
            "no JSON-RPC"
        });
    }

    fn exchange(&mut self, exchange: &Exchange, now: Moment, look: &Look) {
        self.what = about(&exchange.summary, Some(&exchange.method));
        self.size = Some(exchange.request_size + exchange.response_size);
        self.status = Some(status(exchange));
        let is_open = matches!(exchange.status, Status::Open);
        let open_ns = u64::try_from(now.since(exchange.t_request).as_nanos()).unwrap_or(u64::MAX);
        self.latency_ns = exchange.latency_ns().or(is_open.then_some(open_ns));
        if exchange.waited_ns > 0 {
            let waited = duration(exchange.waited_ns);
            let when = if exchange.is_retry() { "after " } else { "" };
            let aside = ["  (", when, &waited, " waiting for the client)"];
            self.what.extend(aside);
        }
        if let (Some(progress), true) = (&exchange.progress, is_open) {
            let child = look.glyph(Glyph::Child);
            self.aside = format!("{child} {}", escape(progress));
        }
    }
}

/// The colour of a row.
fn role(item: &Item) -> Role {
    let is_slow = |exchange: &Exchange| exchange.latency_ns() > Some(DEFAULT_SLOW_NS);
    match (item.kind(), item.exchange()) {
        (_, Some(exchange)) if exchange.has_failed() => Role::Bad,
        (_, Some(exchange)) if exchange.status == Status::Open => Role::Open,
        (_, Some(exchange)) if is_slow(exchange) => Role::Warn,
        (ItemKind::Request, _) if item.direction() == Some(Direction::ServerToClient) => {
            Role::FromServer
        }
        (ItemKind::Request | ItemKind::Response, _) => Role::Text,
        (ItemKind::Notification, _) => Role::Notification,
        (ItemKind::Stderr, _) => Role::Stderr,
        (ItemKind::Event, _) => Role::Event,
        (ItemKind::Other, _) => Role::Warn,
    }
}

/// A line for people without the method, which has a column of its own, and without the arrow
/// before an outcome with nothing in front.
fn about(summary: &str, method: Option<&str>) -> String {
    let strip = |method| summary.strip_prefix(method);
    let rest = method.and_then(|method| strip(method).or_else(|| strip(short(method))));
    let rest = rest.unwrap_or(summary).trim_start();
    escape(rest.strip_prefix("→ ").unwrap_or(rest)).into_owned()
}

/// `message` says enough: that it is a notification, its place without an outcome says.
fn short(method: &str) -> &str {
    method.strip_prefix("notifications/").unwrap_or(method)
}

fn trimmed(line: &[u8]) -> &[u8] {
    line.trim_ascii_end()
}

/// The way of a message: from the host to the server, or back.
pub fn arrow(direction: Direction) -> Glyph {
    match direction {
        Direction::ClientToServer => Glyph::ToServer,
        Direction::ServerToClient => Glyph::ToClient,
    }
}

/// The sign, colour and word of the status of an exchange.
pub fn status(exchange: &Exchange) -> (Glyph, Role, &'static str) {
    let (glyph, role) = match exchange.status {
        _ if exchange.has_failed() => (Glyph::Failed, Role::Bad),
        Status::Ok => (Glyph::Ok, Role::Good),
        Status::Open | Status::Listening | Status::Task => (Glyph::Running, Role::Open),
        Status::InputRequired => (Glyph::Diamond, Role::Open),
        // What remains are cancelled ones, those given up, and probes that were refused.
        _ => (Glyph::Warning, Role::Warn),
    };
    (glyph, role, exchange.status.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given_up_is_neither_open_nor_failed() {
        let exchange = Exchange {
            status: Status::GivenUp,
            ..Exchange::begun(
                mcpreel_wire::message::Direction::ClientToServer,
                mcpreel_wire::id::RequestId::from_json("1").expect("it is JSON"),
                "tools/call",
            )
        };
        let sign = (Glyph::Warning, Role::Warn, "given-up");
        assert_eq!(status(&exchange), sign);
    }
}
