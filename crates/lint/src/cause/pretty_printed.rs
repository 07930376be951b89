//! A message was printed over several lines, so that the other side never read it.

use super::facts::{Facts, Found, Group, Line};
use super::{Cause, Certainty, Evidence, Kind, Place, named, words};
use mcpreel_trace::frame::{Seq, StreamId};
use mcpreel_wire::text::plural;

pub(super) const KIND: Kind = Kind::new("pretty-printed", find);

/// Whoever closes the connection because of it does so soon, nanoseconds.
const SOON_NS: u64 = 1_000_000_000;

fn find(facts: &Facts) -> Option<Cause> {
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
    let cause = Cause::new(KIND.id, certainty, sentence).advise(
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
    let cause = cause.shown(waiting.take(2).map(words::request));
    Some(cause.shown(words::leaving(facts)))
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
            format!("; {more}{} likewise", words::or_more(found))
        }
    };
    format!(
        "the {writer} prints a message over several lines, so the {other} cannot read it: {}{more}",
        first.detail
    )
}
