//! Causes in the lines of the streams: frames that are none, logs, unfinished and oversized lines.

use super::Certainty::{Certain, Likely, Possible};
use super::facts::{Facts, Line};
use super::{AT_ONCE_NS, Cause, Evidence, Place, SECOND_NS, phrases, startup};
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};
use mcpreel_wire::text::{duration, plural, size};

/// Messages have headers before them, as the Language Server Protocol frames them.
pub(super) fn content_length_framing(facts: &Facts) -> Option<Cause> {
    let group = facts.found("frame-content-length")?;
    let is_header = |line: &&Line| {
        group
            .first
            .iter()
            .any(|found| found.frame == Some(line.seq))
    };
    let headers = || facts.misframed.iter().filter(is_header);
    let (writer, reader) = phrases::writer_and_reader(Some(headers().next()?.stream));
    let sentence = format!(
        "the {writer} puts Content-Length headers before its messages, as language servers do; over \
         stdio MCP has one message per line and no headers, so the {reader} cannot read them"
    );
    let cause = Cause::new(Certain, sentence).advise(format!(
        "Let the {writer} write each message as one line that ends with a newline; an SDK of MCP \
         does that, a library for JSON-RPC of language servers does not."
    ));
    Some(cause.shown(headers().map(phrases::line)))
}

/// A message was printed over several lines, so that the other side never read it.
pub(super) fn pretty_printed(facts: &Facts) -> Option<Cause> {
    let group = facts.found("frame-embedded-newline")?;
    let first = group.first.first()?;
    let last_line = facts.misframed_line(first.frame);
    let waiting: Vec<_> = [&facts.open, &facts.unanswered]
        .into_iter()
        .flat_map(|sample| &sample.exchanges)
        .take(2)
        .collect();
    let left = last_line.is_some_and(|line| facts.host_left_after(line.t, SECOND_NS));
    let certainty = if left || !waiting.is_empty() {
        Certain
    } else {
        Likely
    };
    let (writer, reader) = phrases::writer_and_reader(last_line.map(|line| line.stream));
    let more = match group.count {
        0 | 1 => String::new(),
        count => {
            let more = plural(count - 1, "more message");
            format!("; {more}{} likewise", phrases::or_more(group))
        }
    };
    let sentence = format!(
        "the {writer} prints a message over several lines, so the {reader} cannot read it: {}{more}",
        first.detail
    );
    let line = |seq: Seq, which: &str| Evidence::new(Place::Frame(seq), which);
    let cause = Cause::new(certainty, sentence)
        .advise(
            "A message is one line: write its JSON without line breaks and indentation, and flush \
             after its end.",
        )
        .shown(
            first
                .related
                .first()
                .map(|seq| line(*seq, "its first line")),
        )
        .shown(first.frame.map(|seq| line(seq, "its last line")))
        .shown(waiting.into_iter().map(phrases::request))
        .shown(phrases::leaving(facts));
    Some(cause)
}

/// Lines that are no messages stand on a stream that carries nothing but messages.
pub(super) fn log_on_stdout(facts: &Facts) -> Option<Cause> {
    let is_meant = |line: &&Line| !startup::is_early(facts, line) && !line.text().is_empty();
    let lines: Vec<_> = facts.noise.iter().filter(is_meant).collect();
    let first = *lines.first()?;
    let (writer, reader) = phrases::writer_and_reader(Some(first.stream));
    let (stream, advice) = if first.stream == StreamId::C2S {
        let advice = "Whatever writes into the server's input has to leave it to the client.";
        ("the server's stdin", advice)
    } else {
        let advice = "Let the server log on stderr: a `print` or `console.log` that was left in, or \
                      a library that logs on stdout, is the usual place.";
        ("stdout", advice)
    };
    // A host that leaves with a call open has not come to its end.
    let is_open = !facts.unanswered.exchanges.is_empty() || !facts.lost.exchanges.is_empty();
    let left = is_open
        && lines
            .iter()
            .any(|line| facts.host_left_after(line.t, AT_ONCE_NS));
    let (certainty, then) = if left {
        (Likely, "the host left at such a line".to_owned())
    } else if facts.told_to_end().is_some_and(|told| told <= first.t) {
        (
            Possible,
            "they came when the server was told to end".to_owned(),
        )
    } else if facts.survived(first.seq) {
        (
            Possible,
            format!("this {reader} skips them, others close the connection"),
        )
    } else {
        (
            Likely,
            format!("the {reader} skips them or closes the connection"),
        )
    };
    let sentence = format!(
        "the {writer} writes lines that are no messages on {stream}: \"{}\"; {then}",
        phrases::said(first)
    );
    let cause = Cause::new(certainty, sentence)
        .advise(advice)
        .shown(lines.into_iter().map(phrases::line))
        .shown(phrases::leaving(facts).filter(|_| left));
    Some(cause)
}

/// A line takes no longer, unless its writer has stopped, nanoseconds.
const PATIENCE_NS: u64 = 2 * SECOND_NS;

/// A message was begun and its line never ended.
pub(super) fn unfinished_line(facts: &Facts) -> Option<Cause> {
    // Messages behind headers have no ends.
    if content_length_framing(facts).is_some() {
        return None;
    }
    let cause = unfinished_live(facts).or_else(|| unfinished_at_end(facts))?;
    Some(cause.advise(
        "A line ends with a newline: look for a write without one, for output that is buffered and \
         not flushed, or for a writer that stopped in mid-sentence.",
    ))
}

fn unfinished_live(facts: &Facts) -> Option<Cause> {
    let mut lines = facts.unfinished.iter();
    let line = lines
        .find(|line| line.stream.messages().is_some() && facts.since(line.since) > PATIENCE_NS)?;
    let (writer, _) = phrases::writer_and_reader(Some(line.stream));
    let (bytes, since) = (size(line.bytes), duration(facts.since(line.since)));
    let sentence = format!(
        "the {writer} has written {bytes} of a line and not ended it for {since}; until it ends \
         nobody can read it"
    );
    let text = format!(
        "{bytes} of an unfinished line on {}",
        phrases::stream(line.stream)
    );
    let cause = Cause::new(Certain, sentence).shown([Evidence::new(Place::Session, text)]);
    let open = facts.open.exchanges.iter().take(3);
    Some(cause.shown(open.map(phrases::request)))
}

/// The stream ended before the line did.
fn unfinished_at_end(facts: &Facts) -> Option<Cause> {
    let group = facts.found("frame-truncated")?;
    let first = group.first.first()?;
    let line = facts.misframed_line(first.frame);
    let (writer, _) = phrases::writer_and_reader(line.map(|line| line.stream));
    let place = phrases::at(first.frame);
    let sentence = format!(
        "the {writer} never ended its last line{place}: {}",
        first.detail
    );
    // What is written when the host has left is read by nobody.
    let left = facts.host_left();
    let is_for_nobody = line.is_some_and(|line| left.is_some_and(|left| left < line.t));
    let waiting = facts
        .lost
        .exchanges
        .iter()
        .chain(&facts.unanswered.exchanges);
    let cause = Cause::new(if is_for_nobody { Possible } else { Certain }, sentence)
        .shown(phrases::findings(group))
        .shown(waiting.take(3).map(|one: &Exchange| phrases::request(one)));
    Some(cause)
}

/// Above it the TypeScript SDK closes the connection.
const CLOSED_ABOVE: u64 = 10 << 20;

/// Above it the Rust SDK drops the line.
const DROPPED_ABOVE: u64 = 16 << 20;

/// An answer is longer than clients take.
pub(super) fn oversized_answer(facts: &Facts) -> Option<Cause> {
    let left_at = |head: &FrameHead| facts.host_left_after(head.t_last, SECOND_NS);
    let is_over = |head: &&FrameHead| head.stream == StreamId::S2C && head.size > CLOSED_ABOVE;
    let over = facts.long.iter().filter(is_over);
    let longest = over.max_by_key(|head| (left_at(head), head.size))?;
    let left = left_at(longest);
    let then = if left {
        ", and the host left right after it"
    } else {
        ""
    };
    let dropped = match longest.size {
        ..=DROPPED_ABOVE => "",
        _ => ", the Rust SDK drops a line above 16 MiB",
    };
    let (bytes, Seq(seq)) = (size(longest.size), longest.seq);
    let sentence = format!(
        "the server sent a message of {bytes} in one line (#{seq}){then}; the TypeScript SDK closes \
         the connection above 10 MiB{dropped}"
    );
    let line = Evidence::new(Place::Frame(longest.seq), format!("a line of {bytes}"));
    let cause = Cause::new(if left { Likely } else { Possible }, sentence)
        .advise(
            "Let the tool answer less: pages, a filter, or a link to a resource that is read in \
             parts.",
        )
        .shown([line])
        .shown(phrases::leaving(facts).filter(|_| left));
    Some(cause)
}
