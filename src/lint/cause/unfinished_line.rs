//! A message was begun and its line never ended.

use super::facts::Facts;
use super::{Cause, Evidence, Kind, Place, named, words};
use crate::text::{duration, size};
use crate::trace::frame::StreamId;

pub(super) const KIND: Kind = Kind::new("unfinished-line", find);

/// A line takes no longer, unless its writer has stopped, nanoseconds.
const PATIENCE_NS: u64 = 2_000_000_000;

const ADVICE: &str = "A line ends with a newline: look for a write without one, for output that is \
                      buffered and not flushed, or for a writer that stopped in mid-sentence.";

fn find(facts: &Facts) -> Option<Cause> {
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
        words::writer(line.stream),
        size(line.bytes),
        duration(facts.since(line.since))
    );
    let open = facts.open.exchanges.iter().take(3);
    let cause = Cause::certain(KIND.id, sentence).shown([Evidence {
        place: Place::Session,
        text: format!(
            "{} of an unfinished line on {}",
            size(line.bytes),
            line.stream.as_str()
        ),
    }]);
    Some(cause.shown(open.map(words::request)))
}

/// The stream ended before the line did.
fn over(facts: &Facts) -> Option<Cause> {
    let group = facts.found(named::FRAME_TRUNCATED)?;
    let first = group.first.first()?;
    let place = first
        .frame
        .map_or_else(String::new, |seq| format!(" (#{})", seq.0));
    let sentence = format!("the last line has no end{place}: {}", first.detail);
    let cause = Cause::certain(KIND.id, sentence).shown(words::findings(group));
    let waiting = facts
        .lost
        .exchanges
        .iter()
        .chain(&facts.unanswered.exchanges);
    Some(cause.shown(waiting.take(3).map(words::request)))
}
