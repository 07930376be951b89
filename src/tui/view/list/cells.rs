//! What stands in the columns of a row, escaped and not yet cut.

use super::rules;
use crate::protocol::message::Direction;
use crate::text::{duration, escape, escape_bytes};
use crate::trace::clock::Moment;
use crate::trace::correlator::MessageKind;
use crate::trace::exchange::{Exchange, Status};
use crate::trace::frame::StreamId;
use crate::trace::item::{Item, What};
use crate::tui::app::rules::{Paint, Rule};
use crate::tui::theme::{Glyph, Look, Role};
use crate::words;
use std::borrow::Cow;

/// What stands in the columns of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells<'a> {
    /// The colour of the row.
    pub paint: Paint,
    /// Which way it went.
    pub arrow: Option<Glyph>,
    /// The method, or what it is instead.
    pub method: Cow<'a, str>,
    /// What it is about.
    pub what: String,
    /// What it is at just now: still there when the words before are cut.
    pub aside: String,
    /// Whether the end of it says as much as the beginning.
    pub is_uri: bool,
    /// Bytes.
    pub size: Option<u64>,
    /// From request to answer, nanoseconds; while it is open until now.
    pub latency_ns: Option<u64>,
    /// The sign and the word of the status.
    pub status: Option<(Glyph, Role, &'static str)>,
}

impl<'a> Cells<'a> {
    /// Those of `item` at the moment `now`.
    #[must_use]
    pub fn of(item: &'a Item, run: u32, now: Moment, look: &Look, rules: &[Rule]) -> Self {
        let mut cells = Self {
            paint: rules::paint(item, rules),
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
            } => {
                cells.what = about(&record.summary, record.method.as_deref());
                cells.size = Some(head.size);
                if record.kind == MessageKind::Response {
                    let exchange = exchange.as_deref();
                    cells.latency_ns = exchange.and_then(Exchange::latency_ns);
                    cells.status = Some(
                        exchange.map_or((Glyph::Warning, Role::Warn, "orphan"), |exchange| {
                            status(exchange)
                        }),
                    );
                }
                if record.kind == MessageKind::Other {
                    cells.method = Cow::Borrowed("no JSON-RPC");
                }
            }
            What::Line { head, preview } => {
                cells.size = Some(head.size);
                cells.what = escape_bytes(trimmed(preview)).to_string();
                cells.is_uri = false;
                cells.method = Cow::Borrowed(if head.stream == StreamId::STDERR {
                    "stderr"
                } else {
                    "no JSON-RPC"
                });
            }
            What::Event(event) => {
                cells.what = words::event(&event.kind);
                cells.method = Cow::Borrowed("event");
            }
        }
        if run > 1 {
            let times = look.glyph(Glyph::Times);
            cells.what = format!("{times}{run}  {}", cells.what);
        }
        cells
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
#[must_use]
pub fn arrow(direction: Direction) -> Glyph {
    match direction {
        Direction::ClientToServer => Glyph::ToServer,
        Direction::ServerToClient => Glyph::ToClient,
    }
}

/// The sign, colour and word of the status of an exchange.
#[must_use]
pub fn status(exchange: &Exchange) -> (Glyph, Role, &'static str) {
    let (glyph, role) = match exchange.status {
        _ if exchange.has_failed() => (Glyph::Failed, Role::Bad),
        Status::Ok => (Glyph::Ok, Role::Good),
        Status::Open | Status::Listening | Status::Task => (Glyph::Running, Role::Open),
        Status::InputRequired => (Glyph::Diamond, Role::Open),
        // What remains are cancelled ones, and probes that were refused.
        _ => (Glyph::Warning, Role::Warn),
    };
    (glyph, role, exchange.status.as_str())
}
