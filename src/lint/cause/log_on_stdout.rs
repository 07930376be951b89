//! Lines that are no messages on a stream that carries nothing but messages.

use super::facts::Facts;
use super::{Cause, Certainty, Kind, words};
use crate::trace::frame::StreamId;

pub(super) const KIND: Kind = Kind::new("log-on-stdout", find);

/// Who closes the connection because of a line does so at once, nanoseconds.
const AT_ONCE_NS: u64 = 500_000_000;

fn find(facts: &Facts) -> Option<Cause> {
    let is_late = |line: &&super::facts::Line| {
        let is_early =
            line.stream == StreamId::S2C && facts.first_said.is_none_or(|said| line.seq < said);
        !is_early && !line.text().is_empty()
    };
    let lines: Vec<_> = facts.noise.iter().filter(is_late).collect();
    let first = lines.first()?;
    // Whoever leaves with a call open has not come to its end.
    let is_open = !facts.unanswered.exchanges.is_empty() || !facts.lost.exchanges.is_empty();
    let left = is_open
        && lines
            .iter()
            .any(|line| facts.host_left_after(line.t, AT_ONCE_NS));
    let (writer, stream, reader) = match first.stream {
        StreamId::C2S => ("host", "the server's stdin", "server"),
        _ => ("server", "stdout", "host"),
    };
    let (certainty, then) = if left {
        (Certainty::Likely, "the host left at such a line".to_owned())
    } else if facts.told_to_end().is_some_and(|told| told <= first.t) {
        let late = "they came when the server was told to end".to_owned();
        (Certainty::Possible, late)
    } else if facts.survived(first.seq) {
        let skips = format!("this {reader} skips them, others close the connection");
        (Certainty::Possible, skips)
    } else {
        let may = format!("the {reader} skips them or closes the connection");
        (Certainty::Likely, may)
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
