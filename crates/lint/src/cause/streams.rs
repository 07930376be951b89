//! Causes in the lines of the streams: lines that are no messages, unfinished and oversized ones,
//! and pipes that nobody reads.

use super::Certainty::{Certain, Likely, Possible};
use super::facts::{Facts, Line};
use super::{AT_ONCE_NS, Cause, Evidence, Place, SECOND_NS, phrases, startup};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{Event, EventKind};
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};
use mcpreel_wire::text::{duration, plural, size};

/// Messages have headers before them, as the Language Server Protocol frames them.
pub(super) fn content_length_framing(facts: &Facts) -> Option<Cause> {
    let group = facts.found("frame-content-length")?;
    let is_header = |line: &&Line| {
        let mut first = group.first.iter();
        first.any(|found| found.frame == Some(line.seq))
    };
    let headers: Vec<_> = facts.misframed.iter().filter(is_header).collect();
    let (writer, reader) = phrases::writer_and_reader(Some(headers.first()?.stream));
    let cause = Cause::new(
        Certain,
        format!(
            "the {writer} puts Content-Length headers before its messages, as language servers do; \
             over stdio MCP has one message per line and no headers, so the {reader} cannot read \
             them"
        ),
        "Write each message as one line that ends with a newline; an SDK of MCP does that, a library \
         for JSON-RPC of language servers does not.",
    );
    Some(cause.shown(headers.into_iter().map(phrases::line)))
}

/// A message was printed over several lines, so that the other side never read it.
pub(super) fn pretty_printed(facts: &Facts) -> Option<Cause> {
    let group = facts.found("frame-embedded-newline")?;
    let first = group.first.first()?;
    let last_line = facts.misframed_line(first.frame);
    let waiting = || {
        facts
            .open
            .exchanges
            .iter()
            .chain(&facts.unanswered.exchanges)
    };
    let left = last_line.is_some_and(|line| facts.host_left_after(line.t, SECOND_NS));
    let is_harm = left || waiting().next().is_some();
    let (writer, reader) = phrases::writer_and_reader(last_line.map(|line| line.stream));
    let more = match group.count {
        0 | 1 => String::new(),
        count => format!("; {} likewise", plural(count - 1, "more message")),
    };
    let sentence = format!(
        "the {writer} prints a message over several lines, so the {reader} cannot read it: {}{more}",
        first.detail
    );
    let line = |seq: Seq, which: &str| Evidence::new(Place::Frame(seq), which);
    let first_line = first
        .related
        .first()
        .map(|seq| line(*seq, "its first line"));
    let advice = "A message is one line: write its JSON without line breaks and indentation, and \
                  flush after its end.";
    let cause = Cause::new(if is_harm { Certain } else { Likely }, sentence, advice)
        .shown(first_line)
        .shown(first.frame.map(|seq| line(seq, "its last line")))
        .shown(waiting().take(2).map(phrases::request));
    Some(cause.shown(phrases::leaving(facts)))
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
    let left_at = |line: &&Line| facts.host_left_after(line.t, AT_ONCE_NS);
    let left = is_open && lines.iter().any(left_at);
    let (certainty, then) = if left {
        (Likely, "the host left at such a line")
    } else if facts.told_to_end().is_some_and(|told| told <= first.t) {
        (Possible, "they came when the server was told to end")
    } else if facts.survived(first.seq) {
        (
            Possible,
            "this host skips them, others close the connection",
        )
    } else {
        (Likely, "hosts skip them or close the connection")
    };
    let then = then.replace("host skip", &format!("{reader} skip"));
    let sentence = format!(
        "the {writer} writes lines that are no messages on {stream}: \"{}\"; {then}",
        phrases::said(first)
    );
    let cause = Cause::new(certainty, sentence, advice).shown(lines.into_iter().map(phrases::line));
    Some(cause.shown(phrases::leaving(facts).filter(|_| left)))
}

/// A line takes no longer, unless its writer has stopped, nanoseconds.
const PATIENCE_NS: u64 = 2 * SECOND_NS;

const UNFINISHED: &str = "A line ends with a newline: look for a write without one, for output that \
                          is buffered and not flushed, or for a writer that stopped in mid-sentence.";

/// A message was begun and its line never ended.
pub(super) fn unfinished_line(facts: &Facts) -> Option<Cause> {
    // Messages behind headers have no ends.
    if content_length_framing(facts).is_some() {
        return None;
    }
    unfinished_live(facts).or_else(|| unfinished_at_end(facts))
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
    let text = format!("{bytes} of an unfinished line of the {writer}");
    let cause =
        Cause::new(Certain, sentence, UNFINISHED).shown([Evidence::new(Place::Session, text)]);
    let open = facts.open.exchanges.iter().take(3);
    Some(cause.shown(open.map(phrases::request)))
}

/// The stream ended before the line did.
fn unfinished_at_end(facts: &Facts) -> Option<Cause> {
    let group = facts.found("frame-truncated")?;
    let first = group.first.first()?;
    let line = facts.misframed_line(first.frame);
    let (writer, _) = phrases::writer_and_reader(line.map(|line| line.stream));
    let (place, detail) = (phrases::at(first.frame), &first.detail);
    let sentence = format!("the {writer} never ended its last line{place}: {detail}");
    // What is written when the host has left is read by nobody.
    let left = facts.host_left();
    let is_for_nobody = line.is_some_and(|line| left.is_some_and(|left| left < line.t));
    let certainty = if is_for_nobody { Possible } else { Certain };
    let waiting = facts
        .lost
        .exchanges
        .iter()
        .chain(&facts.unanswered.exchanges);
    let cause = Cause::new(certainty, sentence, UNFINISHED).shown(phrases::findings(group));
    Some(cause.shown(waiting.take(3).map(phrases::request)))
}

/// Above it the TypeScript SDK closes the connection.
const CLOSED_ABOVE: u64 = 10 << 20;

/// An answer is longer than clients take.
pub(super) fn oversized_answer(facts: &Facts) -> Option<Cause> {
    let left_at = |head: &FrameHead| facts.host_left_after(head.t_last, SECOND_NS);
    let is_over = |head: &&FrameHead| head.stream == StreamId::S2C && head.size > CLOSED_ABOVE;
    let over = facts.long.iter().filter(is_over);
    let longest = over.max_by_key(|head| (left_at(head), head.size))?;
    let (certainty, then) = if left_at(longest) {
        (Likely, ", and the host left right after it")
    } else {
        (Possible, "")
    };
    let (bytes, Seq(seq)) = (size(longest.size), longest.seq);
    let sentence = format!(
        "the server sent a message of {bytes} in one line (#{seq}){then}; the TypeScript SDK closes \
         the connection above 10 MiB, the Rust SDK drops a line above 16 MiB"
    );
    let advice = "Let the tool answer less: pages, a filter, or a link to a resource that is read \
                  in parts.";
    let line = Evidence::new(Place::Frame(longest.seq), format!("a line of {bytes}"));
    let cause = Cause::new(certainty, sentence, advice).shown([line]);
    Some(cause.shown(phrases::leaving(facts).filter(|_| certainty == Likely)))
}

/// Waits for a reader that are shorter altogether are those of a busy machine, nanoseconds.
const BUSY_NS: u64 = SECOND_NS;

/// The size of a pipe on Linux, bytes: with more on stderr, a host that does not read would block.
const PIPE: u64 = 64 * 1024;

/// The waits of one stream for its reader.
#[derive(Default)]
struct Waits<'f> {
    total_ns: u64,
    bytes: u64,
    /// The beginning of a wait that has not ended.
    open: Option<Moment>,
    ended: Vec<(Moment, Moment)>,
    shown: Vec<&'f Event>,
}

impl<'f> Waits<'f> {
    fn of(facts: &'f Facts, of: StreamId) -> Self {
        let mut waits = Self::default();
        for event in &facts.events {
            match event.kind {
                EventKind::StallBegan { stream, bytes } if stream == of => {
                    waits.bytes = waits.bytes.max(bytes);
                    waits.open = Some(event.t);
                }
                EventKind::StallEnded { stream, lasted_ns } if stream == of => {
                    let began = Moment(event.t.0.saturating_sub(lasted_ns));
                    waits.ended.push((began, event.t));
                    waits.total_ns = waits.total_ns.saturating_add(lasted_ns);
                    waits.open = None;
                }
                _ => continue,
            }
            waits.shown.push(event);
        }
        let open_ns = waits.open.map_or(0, |since| facts.since(since));
        waits.total_ns = waits.total_ns.saturating_add(open_ns);
        waits
    }

    /// Whether a request that was given up, or never answered, was open during a wait.
    fn did_harm(&self, facts: &Facts) -> bool {
        let until = facts.told_to_end().unwrap_or(facts.now);
        let cancelled = facts.cancelled.iter();
        let cancelled = cancelled.map(|one| (one.exchange.t_request, one.t.unwrap_or(until)));
        let silent = facts.without_answer().map(|call| (call.t_request, until));
        let mut harmed = cancelled.chain(silent);
        harmed.any(|(from, to)| {
            self.ended
                .iter()
                .any(|(began, ended)| from <= *ended && *began <= to)
        })
    }
}

/// A pipe was full: somebody did not read, so that the other side had to wait.
pub(super) fn pipe_not_read(facts: &Facts) -> Option<Cause> {
    let streams = [
        (
            StreamId::S2C,
            "the host",
            "the server's stdout",
            "stdout-undrained",
        ),
        (
            StreamId::STDERR,
            "the host",
            "the server's stderr",
            "stderr-undrained",
        ),
        (StreamId::C2S, "the server", "its stdin", "stdin-undrained"),
    ];
    let waits = streams.map(|of| (of, Waits::of(facts, of.0)));
    let is_long = |waits: &Waits<'_>| waits.total_ns >= BUSY_NS || waits.open.is_some();
    let worst = waits.into_iter().filter(|(_, waits)| is_long(waits));
    let ((stream, who, what, rule), waits) =
        worst.max_by_key(|(_, waits)| (waits.open.is_some(), waits.total_ns))?;
    let (bytes, lasted) = (size(waits.bytes), duration(waits.total_ns));
    let how = match waits.open {
        Some(_) if facts.is_live => {
            format!("does not read {what}: {bytes} have waited for {lasted}")
        }
        Some(_) => format!("did not read {what}: {bytes} waited for {lasted}, until the end"),
        None => format!("did not read {what}: {bytes} had to wait for {lasted}"),
    };
    let certainty = match waits.open {
        Some(_) => Certain,
        None if waits.did_harm(facts) => Likely,
        None => Possible,
    };
    let cause = Cause::new(
        certainty,
        format!("{who} {how}; meanwhile the other side hangs in its write"),
        "Whoever does not read is busy or blocked: look what it does at that moment. A host must read \
         stderr or send it elsewhere, or any chatty server hangs; a server must go on reading while \
         a tool runs.",
    );
    let bytes = facts.counts.stderr_bytes;
    let much = (stream == StreamId::STDERR && bytes > PIPE).then(|| {
        let (bytes, pipe) = (size(bytes), size(PIPE));
        let text = format!("{bytes} on stderr altogether; a pipe that nobody reads holds {pipe}");
        Evidence::new(Place::Session, text)
    });
    let findings = facts.found(rule).into_iter().flat_map(phrases::findings);
    let cause = cause.shown(waits.shown.into_iter().map(wait));
    Some(cause.shown(findings).shown(much))
}

fn wait(event: &Event) -> Evidence {
    let text = match event.kind {
        EventKind::StallBegan { bytes, .. } => format!("a write hangs, {} wait", size(bytes)),
        EventKind::StallEnded { lasted_ns, .. } => {
            format!("it goes on after {}", duration(lasted_ns))
        }
        _ => String::new(),
    };
    phrases::event(event, text)
}
