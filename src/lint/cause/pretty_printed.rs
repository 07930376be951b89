//! A message was printed over several lines, so that the other side never read it.

use super::facts::Facts;
use super::{Cause, Certainty, Evidence, Kind, Place, named, words};
use crate::text::plural;
use crate::trace::frame::StreamId;

pub(super) const KIND: Kind = Kind::new("pretty-printed", find);

/// Whoever closes the connection because of it does so soon, nanoseconds.
const SOON_NS: u64 = 1_000_000_000;

fn find(facts: &Facts) -> Option<Cause> {
    let found = facts.found(named::FRAME_EMBEDDED_NEWLINE)?;
    let first = found.first.first()?;
    let last_line = facts
        .misframed
        .iter()
        .find(|line| Some(line.seq) == first.frame);
    let is_lost = !facts.unanswered.exchanges.is_empty()
        || !facts.open.exchanges.is_empty()
        || last_line.is_some_and(|line| facts.host_left_after(line.t, SOON_NS));
    let certainty = if is_lost {
        Certainty::Certain
    } else {
        Certainty::Likely
    };
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
    let sentence = format!(
        "the {writer} prints a message over several lines, so the {other} cannot read it: {}{more}",
        first.detail
    );
    let cause = Cause::new(KIND.id, certainty, sentence).advise(
        "A message is one line: write its JSON without line breaks and indentation, and flush after \
         its end.",
    );
    let begins = first.related.first().map(|seq| Evidence {
        place: Place::Frame(*seq),
        text: "its first line".to_owned(),
    });
    let ends = first.frame.map(|seq| Evidence {
        place: Place::Frame(seq),
        text: "its last line".to_owned(),
    });
    let waiting = facts
        .open
        .exchanges
        .iter()
        .chain(&facts.unanswered.exchanges);
    let cause = cause.shown(begins).shown(ends);
    let cause = cause.shown(waiting.take(2).map(words::request));
    Some(cause.shown(words::leaving(facts)))
}
