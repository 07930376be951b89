//! One exchange: what was asked, what came of it, and what happened meanwhile.

use super::code::{code, fenced, frame};
use crate::phrases;
use crate::phrases::story::{Row, Tone};
use mcpreel_store::indexer::COLLECT_LIMIT;
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::session::End;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::layout::each_line;
use mcpreel_wire::text::{Limits, duration, pad_end, plural, since, size};
use std::fmt::Write as _;

/// How much of a message stands in a report: what its reader wants to see of it.
const BODY: Limits = Limits {
    lines: 60,
    line: 400,
};

/// Bytes of a message that are looked at for that.
const LOOKED_AT: u64 = 64 * 1024;

/// Rows of what happened meanwhile.
const MEANWHILE: usize = 40;

/// `` `tools/call search`: error after 41.2 ms ``
pub(super) fn title(exchange: &Exchange) -> String {
    let name = exchange.name.as_deref();
    let what = name.map_or_else(
        || exchange.method.to_string(),
        |name| format!("{} {name}", exchange.method),
    );
    let mut title = format!("{}: {}", code(&what), exchange.status.as_str());
    if let Some(ns) = exchange.latency_ns() {
        let _ = write!(title, " after {}", duration(ns));
    }
    title
}

/// Adds the exchange, without a heading; `end` is that of the session.
pub(super) fn write(
    recording: &Recording,
    exchange: &Exchange,
    end: Option<&End>,
    text: &mut String,
) -> Result<(), ReadError> {
    facts(exchange, end, text);
    let (seq, part) = exchange.request;
    let asked = body(recording, seq, part, exchange.request_size)?;
    let _ = write!(text, "\nRequest {}, {asked}", frame(seq.0));
    match exchange.response {
        Some((seq, part)) => {
            let answer = body(recording, seq, part, exchange.response_size)?;
            let _ = write!(text, "\nAnswer {}, {answer}", frame(seq.0));
        }
        None if exchange.status == Status::Open => text.push_str("\nThere is no answer yet.\n"),
        None => text.push_str("\nThere is no answer on record.\n"),
    }
    meanwhile(recording, exchange, text)
}

fn facts(exchange: &Exchange, end: Option<&End>, text: &mut String) {
    let asked_by = match exchange.direction {
        Direction::ClientToServer => "the client",
        Direction::ServerToClient => "the server",
    };
    let id = code(exchange.rpc_id.json());
    let at = since(exchange.t_request.0);
    let _ = writeln!(text, "- asked by {asked_by} at {at}, id {id}");
    let status = exchange.status;
    if !matches!(status, Status::Ok) {
        let _ = writeln!(text, "- {}: {}", status.as_str(), status.help());
    }
    if let Some(error) = exchange.code.as_deref() {
        let _ = writeln!(text, "- error code {}", code(error));
    }
    if let Some(why) = phrases::lost(exchange, end) {
        let _ = writeln!(text, "- {}", code(&why));
    }
    if exchange.waited_ns > 0 {
        let waited = duration(exchange.waited_ns);
        let _ = writeln!(text, "- the server waited {waited} for its client");
    }
    if exchange.progress_count > 0 {
        let count = plural(exchange.progress_count, "progress notification");
        let last = code(exchange.progress.as_deref().unwrap_or_default());
        let _ = writeln!(text, "- {count}, the last one: {last}");
    }
}

/// The size of a message, and below it what it says, as far as there is room.
fn body(recording: &Recording, seq: Seq, part: u32, bytes: u64) -> Result<String, ReadError> {
    let message = match bytes {
        ..=COLLECT_LIMIT => recording.message_bytes(seq, part)?,
        _ => None,
    };
    // Of one that is too long to hold the beginning of its frame.
    let whole = message
        .as_ref()
        .map_or(bytes, |message| message.len() as u64);
    let mut raw = match message {
        Some(message) => message,
        None => recording.piece(seq, 0..LOOKED_AT)?,
    };
    raw.truncate(usize::try_from(LOOKED_AT).unwrap_or(usize::MAX));
    let mut lines = String::new();
    let left_out = each_line(&raw, BODY, &mut |line| {
        lines.push_str(line);
        lines.push('\n');
    });
    let left_out = left_out as u64 + whole.saturating_sub(raw.len() as u64);
    let language = if left_out == 0 { "json" } else { "text" };
    let mut text = format!("{}:\n\n{}", size(bytes), fenced(language, &lines));
    if left_out > 0 {
        let _ = writeln!(text, "({} of it not shown)", size(left_out));
    }
    Ok(text)
}

/// What happened from the request to the answer, where that is more than these.
fn meanwhile(
    recording: &Recording,
    exchange: &Exchange,
    text: &mut String,
) -> Result<(), ReadError> {
    let Some(story) = recording.story(exchange.id)? else {
        return Ok(());
    };
    let told = phrases::story::Told::new(story);
    let rows: Vec<_> = told
        .rows
        .iter()
        .filter(|row| row.tone != Tone::Own)
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    let mut lines = String::new();
    for row in rows.iter().take(MEANWHILE) {
        let _ = writeln!(lines, "{}", line(row));
    }
    let left_out = told.left_out + rows.len().saturating_sub(MEANWHILE) as u64;
    if left_out > 0 {
        let _ = writeln!(lines, "… {left_out} more");
    }
    let _ = write!(text, "\nMeanwhile:\n\n{}", fenced("text", &lines));
    Ok(())
}

fn line(row: &Row) -> String {
    let arrow = match row.direction {
        Some(Direction::ClientToServer) => "->",
        Some(Direction::ServerToClient) => "<-",
        None => "  ",
    };
    let word = pad_end(row.word, 12);
    format!("{:>9}  {arrow} {word}  {}", since(row.t.0), row.text)
}
