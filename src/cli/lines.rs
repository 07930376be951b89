//! One line for an exchange, a frame or an event; the columns are the same wherever they are
//! shown, and what may be long stands last.
//!
//! ```text
//!    #      SINCE   LATENCY  STATUS      WHAT
//! 1187  12:04.318    842 ms  tool-error  → tools/call search_docs {q:"rust"}
//! ```

use super::output::{Ink, Output};
use mcpreel_lint::Severity;
use mcpreel_share::phrases;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};
use mcpreel_trace::session::End;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{cut, cut_middle, duration, escape, pad_end, pad_start, since, size};
use std::fmt::Write as _;

/// The longest word of a status.
const STATUS: usize = 14;
/// `12:04.318`
const SINCE: usize = 9;
/// `3 min 05 s`
const LATENCY: usize = 10;
/// `s2c`, `stderr`
const STREAM: usize = 6;

/// `200 kB`
const SIZE: usize = 7;

/// How wide the numbers of frames are.
#[derive(Clone, Copy, Debug)]
pub struct Width(usize);

impl Width {
    /// Wide enough for frames up to the `last`.
    pub fn up_to(last: u64) -> Self {
        Self(last.to_string().len().max(5))
    }
}

/// The way of a message: from the host to the server, or back.
pub fn arrow(direction: Direction) -> &'static str {
    match direction {
        Direction::ClientToServer => "→",
        Direction::ServerToClient => "←",
    }
}

/// The same for a stream; stderr has its name in the column before.
pub fn stream_arrow(stream: StreamId) -> &'static str {
    stream.messages().map_or("!", arrow)
}

/// A severity in its colour, in a column of its own.
pub fn severity(word: &str, out: &Output) -> String {
    let ink = match Severity::parse(word) {
        Some(Severity::Error) => Ink::Bad,
        Some(Severity::Warning) => Ink::Warn,
        Some(Severity::Note) | None => Ink::Faint,
    };
    out.paint(ink, &pad_end(&escape(word), 7))
}

/// The colour of the status of an exchange.
pub fn status_ink(exchange: &Exchange) -> Ink {
    match exchange.status {
        _ if exchange.has_failed() => Ink::Bad,
        Status::Ok | Status::Listening => Ink::Plain,
        _ => Ink::Warn,
    }
}

/// The heading of lines of exchanges.
pub fn exchange_heading(width: Width, out: &Output) -> String {
    let columns = [
        pad_start("#", width.0),
        pad_start("SINCE", SINCE),
        pad_start("LATENCY", LATENCY),
        pad_end("STATUS", STATUS),
    ];
    out.paint(Ink::Faint, &format!("{}  WHAT", columns.join("  ")))
}

/// An exchange at the moment `t`; `end` is that of the session, which says why one is lost.
pub fn exchange(
    exchange: &Exchange,
    t: Moment,
    end: Option<&End>,
    width: Width,
    out: &Output,
) -> String {
    let status = pad_end(exchange.status.as_str(), STATUS);
    let latency = exchange.latency_ns().map_or_else(String::new, duration);
    let columns = [
        pad_start(&exchange.request.0.0.to_string(), width.0),
        out.paint(Ink::Faint, &pad_start(&since(t.0), SINCE)),
        pad_start(&latency, LATENCY),
        out.paint(status_ink(exchange), &status),
    ];
    let used = width.0 + SINCE + LATENCY + STATUS + 2 * columns.len();
    let what = format!(
        "{} {}",
        arrow(exchange.direction),
        exchange_words(exchange, end)
    );
    // The end of a URI says as much as its beginning.
    let is_uri = exchange
        .name
        .as_deref()
        .is_some_and(|name| name.contains("://"));
    let cut = if is_uri { cut_middle } else { cut };
    format!("{}  {}", columns.join("  "), fit(&what, used, cut, out))
}

/// What was asked, and what else is worth a word: progress, time spent waiting. The code of an
/// error stands in its line already.
fn exchange_words(exchange: &Exchange, end: Option<&End>) -> String {
    let mut words = escape(&exchange.summary).into_owned();
    if let Some(why) = phrases::lost(exchange, end) {
        let _ = write!(words, " → {why}");
    }
    if exchange.waited_ns > 0 {
        let waited = duration(exchange.waited_ns);
        let _ = if exchange.is_retry() {
            write!(words, "  (after {waited} waiting for the client)")
        } else {
            write!(words, "  ({waited} of it waiting for the client)")
        };
    }
    if let (Some(progress), Status::Open) = (&exchange.progress, exchange.status) {
        let _ = write!(words, "  {}", escape(progress));
    }
    words
}

/// The heading of lines of frames.
pub fn frame_heading(width: Width, out: &Output) -> String {
    let columns = [
        pad_start("#", width.0),
        pad_start("SINCE", SINCE),
        pad_end("STREAM", STREAM),
        pad_start("SIZE", SIZE),
    ];
    out.paint(Ink::Faint, &format!("{}  WHAT", columns.join("  ")))
}

/// A frame; `what` is escaped already.
pub fn frame(head: &FrameHead, what: &str, width: Width, out: &Output) -> String {
    let columns = [
        pad_start(&head.seq.0.to_string(), width.0),
        out.paint(Ink::Faint, &pad_start(&since(head.t_last.0), SINCE)),
        pad_end(head.stream.as_str(), STREAM),
        pad_start(&size(head.size), SIZE),
    ];
    let used = width.0 + SINCE + STREAM + SIZE + 2 * columns.len();
    let what = format!("{} {what}", stream_arrow(head.stream));
    format!("{}  {}", columns.join("  "), fit(&what, used, cut, out))
}

/// A line of `tail` that is no exchange: `kind` stands where a status would.
pub fn other(
    (seq, t): (Option<Seq>, Moment),
    (kind, ink): (&str, Ink),
    what: &str,
    width: Width,
    out: &Output,
) -> String {
    let columns = [
        pad_start(
            &seq.map_or_else(String::new, |seq| seq.0.to_string()),
            width.0,
        ),
        out.paint(Ink::Faint, &pad_start(&since(t.0), SINCE)),
        " ".repeat(LATENCY),
        out.paint(ink, &pad_end(kind, STATUS)),
    ];
    let used = width.0 + SINCE + LATENCY + STATUS + 2 * columns.len();
    format!("{}  {}", columns.join("  "), fit(what, used, cut, out))
}

/// An event; `what` is escaped already.
pub fn event(t: Moment, after: Seq, what: &str, width: Width, out: &Output) -> String {
    let columns = [
        pad_start(&after.0.to_string(), width.0),
        out.paint(Ink::Faint, &pad_start(&since(t.0), SINCE)),
    ];
    let used = width.0 + SINCE + 2 * columns.len();
    format!("{}  {}", columns.join("  "), fit(what, used, cut, out))
}

/// The text in what is left of a terminal's line.
fn fit(text: &str, used: usize, cut: fn(&str, usize) -> String, out: &Output) -> String {
    match out.columns() {
        Some(columns) => cut(text, columns.saturating_sub(used)),
        None => text.to_owned(),
    }
}

/// The heading of lines of events.
pub fn event_heading(width: Width, out: &Output) -> String {
    let columns = [pad_start("AFTER", width.0), pad_start("SINCE", SINCE)];
    out.paint(Ink::Faint, &format!("{}  WHAT", columns.join("  ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_trace::exchange::ExchangeId;

    #[test]
    fn a_wait_is_told_as_within_the_call_or_before_its_retry() {
        let call = Exchange {
            waited_ns: 2_100_000_000,
            ..Exchange::begun(
                mcpreel_wire::message::Direction::ClientToServer,
                mcpreel_wire::id::RequestId::from_json("1").expect("it is JSON"),
                "tools/call",
            )
        };
        assert_eq!(
            exchange_words(&call, None),
            "tools/call  (2.1 s of it waiting for the client)"
        );
        let retry = Exchange {
            id: ExchangeId(2),
            chain: Some(ExchangeId(1)),
            ..call
        };
        assert_eq!(
            exchange_words(&retry, None),
            "tools/call  (after 2.1 s waiting for the client)"
        );
    }
}
