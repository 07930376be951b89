//! Causes in the lines of the streams: frames that are none, logs, unfinished and oversized lines.

use super::facts::{Facts, Found, Group, Line};
use super::{Cause, Certainty, Evidence, Place, named, phrases, startup};
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};
use mcpreel_wire::text::{duration, plural, size};

/// Messages with headers before them, as the Language Server Protocol frames them.
pub(super) fn content_length_framing(facts: &Facts) -> Option<Cause> {
    let found = facts.found(named::FRAME_CONTENT_LENGTH)?;
    let is_header = |line: &&Line| {
        let mut found = found.first.iter();
        found.any(|found| found.frame == Some(line.seq))
    };
    let headers: Vec<_> = facts.misframed.iter().filter(is_header).collect();
    let (writer, other) = match headers.first()?.stream {
        StreamId::C2S => ("host", "server"),
        _ => ("server", "host"),
    };
    let sentence = format!(
        "the {writer} puts Content-Length headers before its messages, as language servers do; over \
         stdio MCP has one message per line and no headers, so the {other} cannot read them"
    );
    let cause = Cause::certain(sentence).advise(format!(
        "Let the {writer} write each message as one line that ends with a newline; an SDK of MCP \
         does that, a library for JSON-RPC of language servers does not."
    ));
    Some(cause.shown(headers.into_iter().map(phrases::line)))
}

/// Whoever closes the connection because of it does so soon, nanoseconds.
const SOON_NS: u64 = 1_000_000_000;

/// A message was printed over several lines, so that the other side never read it.
pub(super) fn pretty_printed(facts: &Facts) -> Option<Cause> {
    let found = facts.found(named::FRAME_EMBEDDED_NEWLINE)?;
    let first = found.first.first()?;
    let mut lines = facts.misframed.iter();
    let last_line = lines.find(|line| Some(line.seq) == first.frame);
    let waiting = [&facts.open, &facts.unanswered].into_iter();
    let mut waiting = waiting.flat_map(|sample| &sample.exchanges).peekable();
    let is_lost = waiting.peek().is_some()
        || last_line.is_some_and(|line| facts.host_left_after(line.t, SOON_NS));
    let certainty = if is_lost {
        Certainty::Certain
    } else {
        Certainty::Likely
    };
    let sentence = sentence(found, first, last_line);
    let cause = Cause::new(certainty, sentence).advise(
        "A message is one line: write its JSON without line breaks and indentation, and flush after \
         its end.",
    );
    let line = |seq: Seq, which: &str| Evidence::new(Place::Frame(seq), which);
    let begins = first
        .related
        .first()
        .map(|seq| line(*seq, "its first line"));
    let ends = first.frame.map(|seq| line(seq, "its last line"));
    let cause = cause.shown(begins).shown(ends);
    let cause = cause.shown(waiting.take(2).map(phrases::request));
    Some(cause.shown(phrases::leaving(facts)))
}

/// `the server prints a message over several lines, so the host cannot read it: …; 2 more messages
/// likewise`
fn sentence(found: &Group, first: &Found, last_line: Option<&Line>) -> String {
    let (writer, other) = match last_line.map(|line| line.stream) {
        Some(StreamId::C2S) => ("host", "server"),
        _ => ("server", "host"),
    };
    let more = match found.count {
        0 | 1 => String::new(),
        count => {
            let more = plural(count - 1, "more message");
            format!("; {more}{} likewise", phrases::or_more(found))
        }
    };
    format!(
        "the {writer} prints a message over several lines, so the {other} cannot read it: {}{more}",
        first.detail
    )
}

/// Who closes the connection because of a line does so at once, nanoseconds.
const AT_ONCE_NS: u64 = 500_000_000;

/// Lines that are no messages on a stream that carries nothing but messages.
pub(super) fn log_on_stdout(facts: &Facts) -> Option<Cause> {
    let is_meant = |line: &&Line| !startup::is_early(facts, line) && !line.text().is_empty();
    let lines: Vec<_> = facts.noise.iter().filter(is_meant).collect();
    let first = *lines.first()?;
    let (writer, stream, reader) = match first.stream {
        StreamId::C2S => ("host", "the server's stdin", "server"),
        _ => ("server", "stdout", "host"),
    };
    let left = left_at(facts, &lines);
    let (certainty, then) = if left {
        (Certainty::Likely, "the host left at such a line".to_owned())
    } else {
        lived_with(facts, first, reader)
    };
    let sentence = format!(
        "the {writer} writes lines that are no messages on {stream}: \"{}\"; {then}",
        phrases::said(first)
    );
    let advice = match first.stream {
        StreamId::C2S => "Whatever writes into the server's input has to leave it to the client.",
        _ => {
            "Let the server log on stderr: a `print` or `console.log` that was left in, or a \
              library that logs on stdout, is the usual place."
        }
    };
    let cause = Cause::new(certainty, sentence).advise(advice);
    let cause = cause.shown(lines.into_iter().map(phrases::line));
    Some(cause.shown(phrases::leaving(facts).filter(|_| left)))
}

/// Whether the host left at one of the lines with a call open: whoever does has not come to its
/// end.
fn left_at(facts: &Facts, lines: &[&Line]) -> bool {
    let is_open = !facts.unanswered.exchanges.is_empty() || !facts.lost.exchanges.is_empty();
    let mut lines = lines.iter();
    is_open && lines.any(|line| facts.host_left_after(line.t, AT_ONCE_NS))
}

/// How sure it is that such lines did harm, and what became of them, where nobody left at one.
fn lived_with(facts: &Facts, first: &Line, reader: &str) -> (Certainty, String) {
    if facts.told_to_end().is_some_and(|told| told <= first.t) {
        let late = "they came when the server was told to end".to_owned();
        (Certainty::Possible, late)
    } else if facts.survived(first.seq) {
        let skips = format!("this {reader} skips them, others close the connection");
        (Certainty::Possible, skips)
    } else {
        let may = format!("the {reader} skips them or closes the connection");
        (Certainty::Likely, may)
    }
}

/// A line takes no longer, unless its writer has stopped, nanoseconds.
const PATIENCE_NS: u64 = 2_000_000_000;

const ADVICE: &str = "A line ends with a newline: look for a write without one, for output that is \
                      buffered and not flushed, or for a writer that stopped in mid-sentence.";

/// A message was begun and its line never ended.
pub(super) fn unfinished_line(facts: &Facts) -> Option<Cause> {
    // Such messages have no ends.
    if content_length_framing(facts).is_some() {
        return None;
    }
    live(facts)
        .or_else(|| over(facts))
        .map(|cause| cause.advise(ADVICE))
}

fn live(facts: &Facts) -> Option<Cause> {
    let is_old = |stream: StreamId, age: u64| stream.messages().is_some() && age > PATIENCE_NS;
    let mut lines = facts.unfinished.iter();
    let line = lines.find(|line| is_old(line.stream, facts.since(line.since)))?;
    let sentence = format!(
        "{} has written {} of a line and not ended it for {}; until it ends nobody can read it",
        phrases::writer(line.stream),
        size(line.bytes),
        duration(facts.since(line.since))
    );
    let open = facts.open.exchanges.iter().take(3);
    let text = format!(
        "{} of an unfinished line on {}",
        size(line.bytes),
        phrases::stream(line.stream)
    );
    let cause = Cause::certain(sentence);
    let cause = cause.shown([Evidence::new(Place::Session, text)]);
    Some(cause.shown(open.map(phrases::request)))
}

/// The stream ended before the line did.
fn over(facts: &Facts) -> Option<Cause> {
    let group = facts.found(named::FRAME_TRUNCATED)?;
    let first = group.first.first()?;
    let place = first
        .frame
        .map_or_else(String::new, |seq| format!(" (#{})", seq.0));
    let mut lines = facts.misframed.iter();
    let line = lines.find(|line| Some(line.seq) == first.frame);
    let writer = line.map_or("the server", |line| phrases::writer(line.stream));
    let sentence = format!(
        "{writer} never ended its last line{place}: {}",
        first.detail
    );
    // What is written when the host has left is read by nobody.
    let is_for_nobody =
        line.is_some_and(|line| facts.host_left().is_some_and(|left| left < line.t));
    let certainty = if is_for_nobody {
        Certainty::Possible
    } else {
        Certainty::Certain
    };
    let cause = Cause::new(certainty, sentence).shown(phrases::findings(group));
    let waiting = facts
        .lost
        .exchanges
        .iter()
        .chain(&facts.unanswered.exchanges);
    Some(cause.shown(waiting.take(3).map(phrases::request)))
}

/// Above it the TypeScript SDK closes the connection.
const CLOSED_ABOVE: u64 = 10 * 1024 * 1024;

/// Above it the Rust SDK drops the line.
const DROPPED_ABOVE: u64 = 16 * 1024 * 1024;

/// An answer longer than clients take.
pub(super) fn oversized_answer(facts: &Facts) -> Option<Cause> {
    let is_over = |head: &&FrameHead| head.stream == StreamId::S2C && head.size > CLOSED_ABOVE;
    let longest = facts
        .long
        .iter()
        .filter(is_over)
        .max_by_key(|head| (facts.host_left_after(head.t_last, SOON_NS), head.size))?;
    let left = facts.host_left_after(longest.t_last, SOON_NS);
    let (certainty, then) = if left {
        (Certainty::Likely, ", and the host left right after it")
    } else {
        (Certainty::Possible, "")
    };
    let limits = if longest.size > DROPPED_ABOVE {
        "the TypeScript SDK closes the connection above 10 MiB, the Rust SDK drops a line above 16 MiB"
    } else {
        "the TypeScript SDK closes the connection above 10 MiB"
    };
    let sentence = format!(
        "the server sent a message of {} in one line (#{}){then}; {limits}",
        size(longest.size),
        longest.seq.0
    );
    let cause = Cause::new(certainty, sentence).advise(
        "Let the tool answer less: pages, a filter, or a link to a resource that is read in parts.",
    );
    let line = format!("a line of {}", size(longest.size));
    let cause = cause.shown([Evidence::new(Place::Frame(longest.seq), line)]);
    Some(cause.shown(phrases::leaving(facts).filter(|_| left)))
}
