//! The cells of a row, and the columns that there is room for.
//!
//! ```text
//!  ★⚠  1187  12:04.3 → tools/call      search_docs {…}  4.1 kB  ▆▆▆░░░   842 ms  ✗ tool-error
//!  ★⚠  1187  12:04.3 → tools/call      search_docs {…}             842 ms  ✗
//!  ★  1187 → call search_docs {…}   842 ms  ✗
//! ```
//!
//! Words of a row that has neither latency nor status may be longer; they push its size to the end:
//!
//! ```text
//!  ★   1188  12:04.3   stderr         WARN  cache miss for SN90490, asking upstream        54 B
//! ```
//!
//! In this order they give way to what a row is about: size, the word of the status (its sign
//! stays), the bar, the time, the method (shortened to its last part, then gone), the latency.

use crate::theme::{Glyph, Look, Role};
use mcpreel_share::phrases;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::{MessageKind, MessageRecord};
use mcpreel_trace::event::DEFAULT_SLOW_NS;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::frame::{FrameHead, StreamId};
use mcpreel_trace::item::{Item, ItemKind, What};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{duration, escape, escape_bytes, width};
use std::borrow::Cow;

pub(crate) const TIME: usize = 8;
pub(crate) const SIZE: usize = 7;
pub(crate) const BAR: usize = 6;
pub(crate) const LATENCY: usize = 7;
/// `notifications/message` is cut, `elicitation/create` is not.
const METHOD: usize = 18;
/// `elicitation/…`, as in a pane of half a screen.
const METHOD_NARROW: usize = 14;
const METHOD_SHORT: usize = 9;
const STATUS: usize = 16;

/// Columns in which it is still said what a row is about.
const WHAT: usize = 24;

/// The columns that there is room for, and how wide they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    /// Marks, notes and selections; findings.
    pub signs: usize,
    pub seq: usize,
    pub time: usize,
    /// The method; 0 if there is no room.
    pub method: usize,
    /// Whether only the last part of the method is shown.
    pub short: bool,
    pub size: usize,
    pub bar: usize,
    pub latency: usize,
    /// The status: a sign, or a sign and a word.
    pub status: usize,
    /// What is left for what the row is about.
    pub what: usize,
}

impl Columns {
    /// Those that fit into `width` columns, with numbers of up to `digits` digits
    /// and times of `time` columns.
    pub fn fit(width: usize, digits: usize, time: usize) -> Self {
        let mut columns = Self {
            signs: 2,
            seq: digits.max(4),
            time,
            method: METHOD,
            short: false,
            size: SIZE,
            bar: BAR,
            latency: LATENCY,
            status: STATUS,
            what: 0,
        };
        let give_way: [fn(&mut Self); 9] = [
            |columns| columns.size = 0,
            |columns| columns.status = 1,
            |columns| columns.bar = 0,
            |columns| columns.method = METHOD_NARROW,
            |columns| columns.time = 0,
            |columns| (columns.method, columns.short) = (METHOD_SHORT, true),
            |columns| columns.method = 0,
            |columns| columns.latency = 0,
            |columns| columns.signs = 1,
        ];
        // Beside a detail a little less has to do; then the latency and the method are dearer.
        let wanted = [WHAT, WHAT, WHAT, 22, 14, 14, 12, 12, 8];
        for (give_way, wanted) in give_way.into_iter().zip(wanted) {
            if width >= columns.fixed() + wanted {
                break;
            }
            give_way(&mut columns);
        }
        columns.what = width.saturating_sub(columns.fixed());
        columns
    }

    pub fn whole(&self) -> usize {
        self.fixed() + self.what
    }

    /// Columns behind what a row is about.
    pub fn after_what(&self) -> usize {
        let gapped = [self.size, self.bar, self.latency, self.status];
        gapped.iter().map(|width| gap(*width)).sum()
    }

    /// Columns for words that are `wanted` wide: in a row with neither latency nor status those of
    /// both too, but for the `size` with a gap before it.
    pub fn room(&self, size: Option<&str>, is_alone: bool, wanted: usize) -> usize {
        if !is_alone || (wanted <= self.what && size.is_some()) {
            return self.what;
        }
        let size = size.map_or(0, |size| width(size) + 1);
        self.what + self.after_what().saturating_sub(size)
    }

    /// All columns but what is left, with the gaps between.
    fn fixed(&self) -> usize {
        let gapped = [self.time, self.method, self.size, self.bar, self.latency];
        let gaps: usize = gapped.iter().map(|width| gap(*width)).sum();
        // The arrow with its gap, and the gap before the status.
        self.signs + self.seq + 1 + gaps + 2 + self.status + 1
    }
}

/// A column with the gap beside it.
fn gap(width: usize) -> usize {
    if width == 0 { 0 } else { width + 1 }
}

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
    // Progress and log messages belong to a call, and have not failed with it.
    let is_call = matches!(item.kind(), ItemKind::Request | ItemKind::Response);
    match (item.kind(), item.exchange().filter(|_| is_call)) {
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
    fn columns_fill_the_width_and_never_more() {
        for width in 12..300 {
            let columns = Columns::fit(width, 7, TIME);
            assert!(columns.fixed() + columns.what <= width.max(columns.fixed()));
            if width >= 30 {
                assert_eq!(columns.fixed() + columns.what, width, "{columns:?}");
                assert!(columns.what >= 8, "{width}: {columns:?}");
            }
        }
    }

    #[test]
    fn columns_give_way_in_their_order_and_come_back_in_it() {
        let mut before = Columns::fit(200, 4, TIME);
        assert_eq!(
            (before.size, before.status, before.bar),
            (SIZE, STATUS, BAR)
        );
        for width in (20..200).rev() {
            let columns = Columns::fit(width, 4, TIME);
            let gone = |columns: &Columns| {
                [
                    columns.size == 0,
                    columns.status == 1,
                    columns.bar == 0,
                    columns.time == 0,
                    columns.short,
                    columns.method == 0,
                    columns.latency == 0,
                ]
            };
            let (now, then) = (gone(&columns), gone(&before));
            assert!(now.is_sorted_by(|a, b| a >= b), "{width}: {columns:?}");
            assert!(now.iter().zip(then).all(|(now, then)| *now || !then));
            before = columns;
        }
    }

    #[test]
    fn words_with_nothing_behind_them_take_all_that_is_left() {
        for width in 12..300 {
            let columns = Columns::fit(width, 4, TIME);
            let end = columns.what + columns.after_what();
            assert_eq!(columns.room(None, true, 400), end, "{width}");
            assert_eq!(columns.room(Some("54 B"), false, 400), columns.what);
            assert_eq!(columns.room(Some("54 B"), true, columns.what), columns.what);
            if columns.size > 0 {
                assert_eq!(columns.room(Some("54 B"), true, 400), end - 5, "{width}");
            }
        }
    }
}

#[cfg(test)]
mod cells_tests {
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
