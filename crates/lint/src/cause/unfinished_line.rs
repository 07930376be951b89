//! A message was begun and its line never ended.

use super::facts::Facts;
use super::{Cause, Certainty, Evidence, Kind, Place, content_length, named, words};
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::text::{duration, size};

pub(super) const KIND: Kind = Kind::new("unfinished-line", find);

/// A line takes no longer, unless its writer has stopped, nanoseconds.
const PATIENCE_NS: u64 = 2_000_000_000;

const ADVICE: &str = "A line ends with a newline: look for a write without one, for output that is \
                      buffered and not flushed, or for a writer that stopped in mid-sentence.";

fn find(facts: &Facts) -> Option<Cause> {
    // Such messages have no ends.
    if (content_length::KIND.find)(facts).is_some() {
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
        words::writer(line.stream),
        size(line.bytes),
        duration(facts.since(line.since))
    );
    let open = facts.open.exchanges.iter().take(3);
    let text = format!(
        "{} of an unfinished line on {}",
        size(line.bytes),
        words::stream(line.stream)
    );
    let cause = Cause::certain(KIND.id, sentence);
    let cause = cause.shown([Evidence::new(Place::Session, text)]);
    Some(cause.shown(open.map(words::request)))
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
    let writer = line.map_or("the server", |line| words::writer(line.stream));
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
    let cause = Cause::new(KIND.id, certainty, sentence).shown(words::findings(group));
    let waiting = facts
        .lost
        .exchanges
        .iter()
        .chain(&facts.unanswered.exchanges);
    Some(cause.shown(waiting.take(3).map(words::request)))
}
