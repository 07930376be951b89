//! Sessions in the logs of other programs: a file per format.
//!
//! * `mcpsnoop`: JSON Lines with an envelope around each message;
//! * `claude`: the `mcp*.log` files of Claude Desktop, lines of text with messages in them;
//! * `jsonl`: JSON Lines of messages, bare or in an object that says when and which way.
//!
//! The beginning of a file tells its format: [`Format::of`]. A line that means nothing is named with
//! its number and passed over; nothing in a file can make reading fail. What a log does not say (how
//! a line ended, the process, the time within a thousandth of a second) stays unknown.

mod claude;
mod jsonl;
mod mcpsnoop;

use chrono::{DateTime, NaiveDateTime, NaiveTime, Timelike as _};
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::json::{Kind, Value};

/// A longer line is passed over.
pub const MAX_LINE: usize = 64 * 1024 * 1024;

/// Bytes of a file that are looked at to tell its format.
pub const LOOKED_AT: usize = 64 * 1024;

/// Lines of the beginning that are looked at: a log may begin in the middle of something.
const LINES_LOOKED_AT: usize = 50;

/// Times from here on are wall clocks: the year 2001. Smaller ones count from somewhere else.
pub const DATED_NS: u64 = 1_000_000_000_000_000_000;

/// The mark that some programs write before a text in UTF-8. The first line begins after it.
pub const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Mcpsnoop,
    Claude,
    Jsonl,
}

impl Format {
    /// The format of a file that begins with `beginning`; `None` if it is unknown.
    pub fn of(beginning: &[u8]) -> Option<Self> {
        let text = beginning.strip_prefix(BYTE_ORDER_MARK);
        let lines = text.unwrap_or(beginning).split(|byte| *byte == b'\n');
        let lines = lines
            .map(<[u8]>::trim_ascii)
            .filter(|line| !line.is_empty());
        lines.take(LINES_LOOKED_AT).find_map(|line| {
            if mcpsnoop::is_line(line) {
                Some(Self::Mcpsnoop)
            } else if claude::is_line(line) {
                Some(Self::Claude)
            } else {
                jsonl::is_line(line).then_some(Self::Jsonl)
            }
        })
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mcpsnoop => "a session log of mcpsnoop",
            Self::Claude => "a log of Claude Desktop",
            Self::Jsonl => "messages, one per line",
        }
    }

    pub fn reader(self) -> Box<dyn LogReader> {
        match self {
            Self::Mcpsnoop => Box::new(mcpsnoop::Mcpsnoop::default()),
            Self::Claude => Box::new(claude::Claude::default()),
            Self::Jsonl => Box::new(jsonl::Jsonl::default()),
        }
    }
}

/// Reads the lines of a log, one after the other.
pub trait LogReader {
    /// Gives what `line` says to `visit`; the line comes without its terminator.
    fn line(&mut self, line: &[u8], visit: &mut dyn FnMut(Entry<'_>));
}

#[derive(Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The session, in the file's own words; empty where it does not tell them apart.
    pub session: &'a str,
    /// Wall clock, nanoseconds since the Unix epoch, or, if less than [`DATED_NS`], since a moment
    /// that the file does not tell; `None` where the line has no time.
    pub wall_ns: Option<u64>,
    pub what: What<'a>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum What<'a> {
    /// A session begins; one of that name before it is over.
    Begin(About),
    /// A line on a stream, without its terminator.
    Line {
        stream: StreamId,
        bytes: &'a [u8],
        /// Whether its direction is a guess.
        is_guess: bool,
    },
    Event(EventKind),
    /// A line that means nothing: why.
    Nothing(&'static str),
}

/// The beginning of a session, as a log tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    pub name: String,
    pub argv: Vec<String>,
    pub cwd: Option<String>,
    /// The transport, where it is not stdio.
    pub transport: Option<String>,
}

/// The wall clock that a text shows, nanoseconds since the Unix epoch: RFC 3339, the same with a
/// space in the middle, with a comma before the fraction, or without an offset, which is taken for
/// UTC. A time of day counts from midnight.
fn time_of_text(text: &str) -> Option<u64> {
    let text = text.trim().replacen(',', ".", 1);
    let naive = |form| NaiveDateTime::parse_from_str(&text, form).ok();
    let exact = DateTime::parse_from_rfc3339(&text).map(|time| time.to_utc());
    let time = exact.ok().or_else(|| {
        let naive = naive("%Y-%m-%dT%H:%M:%S%.f").or_else(|| naive("%Y-%m-%d %H:%M:%S%.f"));
        naive.map(|time| time.and_utc())
    });
    if let Some(time) = time {
        return u64::try_from(time.timestamp_nanos_opt()?).ok();
    }
    match NaiveTime::parse_from_str(&text, "%H:%M:%S%.f") {
        Ok(time) => {
            let seconds = u64::from(time.num_seconds_from_midnight());
            Some(seconds * 1_000_000_000 + u64::from(time.nanosecond()))
        }
        Err(_) => time_of_number(&text),
    }
}

/// The time that a JSON value is: a text or a number.
fn time_of_value(value: Value<'_>) -> Option<u64> {
    if value.kind() == Kind::String {
        return time_of_text(&value.as_str()?);
    }
    time_of_number(value.number_text()?)
}

/// A number of seconds, or of thousandths, millionths or billionths of them, whichever lies between
/// 2001 and 2128; to the microsecond. A small number with a fraction counts seconds from somewhere;
/// a small one without may count anything, and is no time.
fn time_of_number(text: &str) -> Option<u64> {
    let number: f64 = text.parse().ok()?;
    let in_us = [1e6, 1e3, 1.0, 1e-3].into_iter().map(|unit| number * unit);
    let dated = in_us.into_iter().find(|us| (1e15..5e15).contains(us));
    let is_small = (0.0..1e8).contains(&number) && text.contains('.');
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it lies between the bounds"
    )]
    let us = dated.or(is_small.then_some(number * 1e6))?.round() as u64;
    Some(us * 1000)
}

#[cfg(test)]
mod import_tests;
