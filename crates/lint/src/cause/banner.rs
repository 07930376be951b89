//! Something was printed on stdout before the first message.

use super::facts::{Facts, Line};
use super::{Cause, Certainty, Kind, died_at_start, named, words};
use crate::process::launchers;
use mcpreel_trace::frame::StreamId;

pub(super) const KIND: Kind = Kind::new("banner-before-first-message", find);

fn find(facts: &Facts) -> Option<Cause> {
    let banner: Vec<_> = early(facts).collect();
    let first = banner.iter().find(|line| !line.text().is_empty())?;
    // Who died at once left it no time to do harm, and who goes on lives with it.
    let is_harmless =
        (died_at_start::KIND.find)(facts).is_some() || facts.went_on() && facts.survived(first.seq);
    let certainty = if is_harmless {
        Certainty::Possible
    } else {
        Certainty::Likely
    };
    let sentence = format!(
        "the server printed \"{}\" on stdout before its first message; stdout carries nothing but \
         messages, and strict clients give up at such a line",
        words::said(first)
    );
    let advice = match launchers::launcher(first.text()) {
        Some(launcher) => format!(
            "It looks like {launcher}: start the server's program itself in the host's \
             configuration, or silence the launcher."
        ),
        None => "Print it on stderr, or not at all; look for it in what starts the server too."
            .to_owned(),
    };
    let cause = Cause::new(KIND.id, certainty, sentence).advise(advice);
    let cause = cause.shown(banner.into_iter().map(words::line));
    let found = facts.found(named::NOISE_BEFORE_FIRST_MESSAGE);
    Some(cause.shown(found.into_iter().flat_map(words::findings)))
}

/// What stands on stdout before the first message.
fn early(facts: &Facts) -> impl Iterator<Item = &Line> {
    facts.noise.iter().filter(|line| is_early(facts, line))
}

/// Whether a line that is no message stands on stdout before the first message.
pub(super) fn is_early(facts: &Facts, line: &Line) -> bool {
    line.stream == StreamId::S2C && facts.first_said.is_none_or(|said| line.seq < said)
}
