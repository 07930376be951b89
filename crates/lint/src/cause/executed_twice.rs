//! A call was made again after it had not been answered in time: the tool may have run twice.

use super::facts::{Cancelled, Facts};
use super::{Cause, Certainty, Kind, named, timeout, words};
use crate::process;
use mcpreel_trace::exchange::{Exchange, Status};

pub(super) const KIND: Kind = Kind::new("executed-twice", find);

fn find(facts: &Facts) -> Option<Cause> {
    let mut pairs = repeated(facts);
    // One that was answered after all has run for sure.
    pairs.sort_by_key(|(first, _)| first.status != Status::Late);
    let &(first, again) = pairs.first()?;
    // Of the first it is known that it ran, of the second if it was answered.
    let ran = first.status == Status::Late && again.response.is_some();
    let (certainty, did) = if ran {
        (Certainty::Certain, "the tool ran twice")
    } else {
        (Certainty::Likely, "the tool may have run twice")
    };
    let sentence = format!(
        "{} was made again with the same arguments (#{}) after it had not been answered in time: \
         {did}",
        words::call_at(first),
        again.request.0.0
    );
    let cause = Cause::new(KIND.id, certainty, sentence).advise(
        "Look whether what it does was done twice. Make the tool safe to repeat, for example with a \
         key that the caller sends; let the client wait longer, or not repeat it by itself.",
    );
    let cause = cause.shown_call(first).shown_call(again);
    let found = facts.found(named::REPEATED_AFTER_TIMEOUT);
    Some(cause.shown(found.into_iter().flat_map(words::findings)))
}

/// Calls of tools that were not answered in time, each with the same call that came later.
fn repeated(facts: &Facts) -> Vec<(&Exchange, &Exchange)> {
    // Who cancels and asks again at once has changed their mind.
    let is_late = |one: &&Cancelled| one.exchange.status == Status::Late;
    let timed_out = |one: &&Cancelled| is_late(one) || timeout::certainty(one).is_some();
    let cancelled = facts.cancelled.iter().filter(timed_out);
    let cancelled = cancelled.filter_map(|one| Some((&one.exchange, one.again.as_ref()?)));
    let waited =
        |first: &Exchange, again: &Exchange| again.t_request.0.saturating_sub(first.t_request.0);
    let silent = facts.again.iter().map(|(first, again)| (first, again));
    let silent = silent.filter(|(first, again)| process::is_abandoned(waited(first, again)));
    let is_call = |(first, _): &(&Exchange, &Exchange)| &*first.method == "tools/call";
    cancelled.chain(silent).filter(is_call).collect()
}
