//! A message was printed over several lines, so that the other side never read it.

use super::facts::{Facts, Line};
use super::{Cause, Certainty, Evidence, Kind, Place, words};

pub(super) const KIND: Kind = Kind::new("pretty-printed", find);

/// Whoever closes the connection because of it does so soon, nanoseconds.
const SOON_NS: u64 = 1_000_000_000;

fn find(facts: &Facts) -> Option<Cause> {
    let found = facts.found("frame-embedded-newline")?;
    let first = found.first.first()?;
    let pieces: Vec<_> = facts.noise.iter().filter(|line| is_piece(line)).collect();
    let last = pieces.last();
    let is_lost = !facts.unanswered.exchanges.is_empty()
        || !facts.open.exchanges.is_empty()
        || last.is_some_and(|line| facts.host_left_after(line.t, SOON_NS));
    let certainty = if is_lost {
        Certainty::Certain
    } else {
        Certainty::Likely
    };
    let sentence = format!(
        "one message was printed over several lines, so that the other side did not read it: {}",
        first.detail
    );
    let cause = Cause::new(KIND.id, certainty, sentence).advise(
        "A message is one line: write its JSON without line breaks and indentation, and flush after \
         its end.",
    );
    let whole = first.frame.map(|seq| Evidence {
        place: Place::Frame(seq),
        text: first.detail.to_string(),
    });
    let cause = cause
        .shown(whole)
        .shown(pieces.into_iter().take(2).map(words::line));
    Some(cause.shown(words::leaving(facts)))
}

/// Whether a line looks like a part of a message that was printed with line breaks.
pub(super) fn is_piece(line: &Line) -> bool {
    let begins = line.text().trim_ascii_start().first();
    begins.is_some_and(|first| br#"{}[]""#.contains(first))
}
