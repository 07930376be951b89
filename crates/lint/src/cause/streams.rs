//! Causes in the lines of the streams after the first message: lines that are no messages, unfinished
//! and oversized ones, and pipes that nobody reads. What a server prints before is in `startup.rs`.

use super::Certainty::{Certain, Likely, Possible};
use super::facts::{Facts, Line};
use super::{AT_ONCE_NS, Cause, Evidence, Place, SECOND_NS, phrases, startup};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::{FrameHead, Seq, StreamId, Unfinished};
use mcpreel_trace::session::Side;
use mcpreel_wire::text::{duration, size};

/// Messages have headers before them, as the Language Server Protocol frames them.
pub(super) fn content_length_framing(facts: &Facts) -> Option<Cause> {
    let found = &facts.found("frame-content-length")?.first;
    let headers = facts.misframed.iter();
    let mut headers = headers.filter(|line| found.iter().any(|one| one.frame == Some(line.seq)));
    let first = headers.next()?;
    let (writer, reader) = phrases::writer_and_reader(Some(first.stream));
    let cause = Cause::new(
        Certain,
        format!(
            "the {writer} puts Content-Length headers before its messages, as language servers do; MCP over stdio has \
             none, so the {reader} cannot read any message, even if it looks answered here"
        ),
        "Write each message as one line: use an MCP SDK, not a JSON-RPC library for language servers.",
    );
    Some(cause.shown([first].into_iter().chain(headers).map(phrases::line)))
}

/// A message was printed over several lines, so that the other side never read it.
pub(super) fn pretty_printed(facts: &Facts) -> Option<Cause> {
    let group = facts.found("frame-embedded-newline")?;
    let first = group.first.first()?;
    let last_line = facts.misframed_line(first.frame);
    let left = last_line.is_some_and(|line| facts.host_left_after(line.t, SECOND_NS));
    let is_harm = left || facts.without_answer().next().is_some();
    let (writer, reader) = phrases::writer_and_reader(last_line.map(|line| line.stream));
    let sentence = format!(
        "the {writer} prints a message over several lines, so the {reader} cannot read it: {}",
        first.detail
    );
    let line = |seq: &Seq, which: &str| Evidence::new(Place::Frame(*seq), which);
    let advice = "Write each message as one line, without indentation, and flush after it.";
    let cause = Cause::new(if is_harm { Certain } else { Likely }, sentence, advice)
        .shown(first.related.first().map(|seq| line(seq, "its first line")))
        .shown(first.frame.as_ref().map(|seq| line(seq, "its last line")))
        .shown(facts.without_answer().take(2).map(phrases::request));
    Some(cause.shown(phrases::leaving(facts)))
}

/// Lines that are no messages stand on a stream that carries nothing but messages.
pub(super) fn log_on_stdout(facts: &Facts) -> Option<Cause> {
    let is_meant = |line: &&Line| !startup::is_early(facts, line) && !line.text().is_empty();
    let lines: Vec<_> = facts.logged().filter(is_meant).collect();
    let first = *lines.first()?;
    let (writer, reader) = phrases::writer_and_reader(Some(first.stream));
    let (stream, advice) = if first.stream == StreamId::C2S {
        let advice = "Let nothing but the client write to the server's stdin.";
        ("the server's stdin", advice)
    } else {
        let advice = "Log on stderr: look for a left-over `print` or `console.log`, or a library that logs on stdout.";
        ("stdout", advice)
    };
    // A host that leaves with a call open has not come to its end.
    let left_at = |line: &&Line| facts.host_left_after(line.t, AT_ONCE_NS);
    let left = facts.without_answer().next().is_some() && lines.iter().any(left_at);
    let (certainty, then) = if left {
        (Likely, "the host left after such a line".to_owned())
    } else if facts.told_to_end().is_some_and(|told| told <= first.t) {
        let then = "they came while the server was ending";
        (Possible, then.to_owned())
    } else if facts.survived(first.seq) {
        let then = format!("this {reader} skips them, others close the connection");
        (Possible, then)
    } else {
        let then = format!("{reader}s skip them or close the connection");
        (Likely, then)
    };
    let sentence = format!(
        "the {writer} writes lines that are no messages on {stream}: \"{}\"; {then}",
        phrases::said(first)
    );
    let cause = Cause::new(certainty, sentence, startup::advice_on(first, advice));
    let cause = cause.shown(lines.into_iter().map(phrases::line));
    Some(cause.shown(phrases::leaving(facts).filter(|_| left)))
}

/// A line takes no longer, unless its writer has stopped, nanoseconds.
const PATIENCE_NS: u64 = 2 * SECOND_NS;

/// A message was begun and its line never ended.
pub(super) fn unfinished_line(facts: &Facts) -> Option<Cause> {
    // Messages behind headers have no ends.
    if content_length_framing(facts).is_some() {
        return None;
    }
    let is_stuck = |line: &&Unfinished| {
        line.stream.messages().is_some() && facts.since(line.since) > PATIENCE_NS
    };
    let (certainty, sentence, shown) = if let Some(line) = facts.unfinished.iter().find(is_stuck) {
        let (writer, _) = phrases::writer_and_reader(Some(line.stream));
        let (bytes, since) = (size(line.bytes), duration(facts.since(line.since)));
        let sentence = format!(
            "the {writer} has written {bytes} of a line and not ended it for {since}; it cannot be read before it ends"
        );
        let text = format!("{bytes} of an unfinished line of the {writer}");
        (Certain, sentence, vec![Evidence::new(Place::Session, text)])
    } else {
        // The stream ended before the line did.
        let group = facts.found("frame-truncated")?;
        let first = group.first.first()?;
        let line = facts.misframed_line(first.frame);
        let (writer, _) = phrases::writer_and_reader(line.map(|line| line.stream));
        let (place, detail) = (phrases::at(first.frame), &first.detail);
        // What is written when the host has left is read by nobody.
        let left = facts.host_left().zip(line);
        let is_for_nobody = left.is_some_and(|(left, line)| left < line.t);
        let certainty = if is_for_nobody { Possible } else { Certain };
        let sentence = format!("the {writer} never ended its last line{place}: {detail}");
        (certainty, sentence, phrases::findings(group).collect())
    };
    let advice =
        "Look for a write without a newline, output that is not flushed, or a writer that stopped.";
    let cause = Cause::new(certainty, sentence, advice).shown(shown);
    Some(cause.shown(facts.without_answer().take(3).map(phrases::request)))
}

/// Above it the TypeScript SDK closes the connection.
const CLOSED_ABOVE: u64 = 10 << 20;

/// A request is longer than servers take.
pub(super) fn oversized_request(facts: &Facts) -> Option<Cause> {
    let advice = "Let the client send less: a path or a URI instead of the content, or parts.";
    let cause = oversized(facts, (StreamId::C2S, Side::Server), advice)?;
    Some(cause.shown(phrases::end_of(facts)))
}

/// An answer is longer than clients take.
pub(super) fn oversized_answer(facts: &Facts) -> Option<Cause> {
    let advice = "Let the tool answer less: pages, a filter, or a link to a resource.";
    oversized(facts, (StreamId::S2C, Side::Host), advice)
}

/// A line is longer than who reads the stream takes.
fn oversized(facts: &Facts, of: (StreamId, Side), advice: &'static str) -> Option<Cause> {
    let ((stream, side), closed) = (of, facts.session.closed_first);
    let (writer, reader) = phrases::writer_and_reader(Some(stream));
    let over = facts.long.iter();
    let over = over.filter(|head| head.stream == stream && head.size > CLOSED_ABOVE);
    // Some do not even wait for its end.
    let left = |head: &FrameHead| {
        let until = Moment(head.t_last.0 + SECOND_NS);
        closed.is_some_and(|it| it.by == side && (head.t_first..=until).contains(&it.t))
    };
    let over = over.map(|head| (left(head), head));
    let (left, longest) = over.max_by_key(|(left, head)| (*left, head.size))?;
    let (certainty, then) = if left {
        (Likely, format!(", and the {reader} left right after it"))
    } else {
        (Possible, String::new())
    };
    let (bytes, Seq(seq)) = (size(longest.size), longest.seq);
    let sentence = format!(
        "the {writer} sent a message of {bytes} in one line (#{seq}){then}; the TypeScript SDK \
         closes the connection above 10 MiB, the Rust SDK drops a line above 16 MiB"
    );
    let line = Evidence::new(Place::Frame(longest.seq), format!("a line of {bytes}"));
    let cause = Cause::new(certainty, sentence, advice).shown([line]);
    Some(cause.shown(phrases::leaving(facts).filter(|_| left)))
}

/// Waits for a reader that are shorter altogether are those of a busy machine, nanoseconds.
const BUSY_NS: u64 = SECOND_NS;

/// The waits of one stream for its reader.
#[derive(Default)]
struct Waits {
    total_ns: u64,
    bytes: u64,
    /// When each of them began and ended; of the last one perhaps not yet.
    spans: Vec<(Moment, Moment)>,
    is_open: bool,
    shown: Vec<Evidence>,
}

impl Waits {
    fn of(facts: &Facts, of: StreamId) -> Self {
        let mut waits = Self::default();
        let mut began = None;
        for event in &facts.events {
            let text = match event.kind {
                EventKind::StallBegan { stream, bytes } if stream == of => {
                    waits.bytes = waits.bytes.max(bytes);
                    began = Some(event.t);
                    format!("a write to {} hangs, {} wait", of.as_str(), size(bytes))
                }
                EventKind::StallEnded { stream, lasted_ns } if stream == of => {
                    began = None;
                    let since = Moment(event.t.0.saturating_sub(lasted_ns));
                    waits.spans.push((since, event.t));
                    format!("{} goes on after {}", of.as_str(), duration(lasted_ns))
                }
                _ => continue,
            };
            waits.shown.push(phrases::event(event, text));
        }
        waits.is_open = began.is_some();
        waits.spans.extend(began.map(|began| (began, facts.now)));
        let spans = waits.spans.iter();
        waits.total_ns = spans.map(|(began, ended)| ended.ns_since(*began)).sum();
        waits
    }

    /// Whether a request that was given up, or never answered, was open during a wait.
    fn did_harm(&self, facts: &Facts) -> bool {
        let until = facts.told_to_end().unwrap_or(facts.now);
        let overlaps = |from, to| {
            let mut spans = self.spans.iter();
            spans.any(|(began, ended)| from <= *ended && *began <= to)
        };
        facts
            .unmet()
            .any(|one| overlaps(one.t_request, one.t_cancelled.unwrap_or(until)))
    }
}

/// A pipe was full: somebody did not read, so that the other side had to wait.
pub(super) fn pipe_not_read(facts: &Facts) -> Option<Cause> {
    let streams = [
        (StreamId::S2C, "host", "the server's stdout"),
        (StreamId::STDERR, "host", "the server's stderr"),
        (StreamId::C2S, "server", "its stdin"),
    ];
    let waits = streams.map(|of| (of, Waits::of(facts, of.0)));
    let long = waits
        .into_iter()
        .filter(|(_, it)| it.is_open || it.total_ns >= BUSY_NS);
    let worst = long.max_by_key(|(_, waits)| (waits.is_open, waits.total_ns));
    let ((stream, who, what), waits) = worst?;
    let (bytes, lasted) = (size(waits.bytes), duration(waits.total_ns));
    let how = match (waits.is_open, facts.is_live) {
        (true, true) => format!("does not read {what}: {bytes} have waited for {lasted}"),
        (true, false) => format!("did not read {what}: {bytes} waited for {lasted}, until the end"),
        (false, _) => format!("did not read {what}: {bytes} had to wait for {lasted}"),
    };
    let certainty = match waits.did_harm(facts) {
        _ if waits.is_open => Certain,
        true => Likely,
        false => Possible,
    };
    let cause = Cause::new(
        certainty,
        format!("the {who} {how}; the other side hangs in its write until then"),
        "Find what blocks the side that does not read. A host must read stderr or redirect it; a server \
         must read stdin while a tool runs.",
    );
    let rule = match stream {
        StreamId::S2C => "stdout-undrained",
        StreamId::STDERR => "stderr-undrained",
        _ => "stdin-undrained",
    };
    let findings = facts.found(rule).into_iter().flat_map(phrases::findings);
    Some(cause.shown(waits.shown).shown(findings))
}
