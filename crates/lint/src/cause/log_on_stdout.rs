//! Lines that are no messages on a stream that carries nothing but messages.

use super::facts::{Facts, Line};
use super::{Cause, Certainty, Kind, banner, words};
use mcpreel_trace::frame::StreamId;

pub(super) const KIND: Kind = Kind::new("log-on-stdout", find);

/// Who closes the connection because of a line does so at once, nanoseconds.
const AT_ONCE_NS: u64 = 500_000_000;

fn find(facts: &Facts) -> Option<Cause> {
    let is_meant = |line: &&Line| !banner::is_early(facts, line) && !line.text().is_empty();
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
        words::said(first)
    );
    let advice = match first.stream {
        StreamId::C2S => "Whatever writes into the server's input has to leave it to the client.",
        _ => {
            "Let the server log on stderr: a `print` or `console.log` that was left in, or a \
              library that logs on stdout, is the usual place."
        }
    };
    let cause = Cause::new(KIND.id, certainty, sentence).advise(advice);
    let cause = cause.shown(lines.into_iter().map(words::line));
    Some(cause.shown(words::leaving(facts).filter(|_| left)))
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
