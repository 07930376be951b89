//! The server answered after the client had cancelled.

use super::facts::{Facts, GivenUp};
use super::{Cause, Certainty, Kind, answered_at_exit, timeout, words};
use crate::text::duration;
use crate::trace::exchange::Status;

pub(super) const KIND: Kind = Kind::new("late-answer", find);

/// An answer that was under way already crosses the cancellation, nanoseconds.
const CROSSING_NS: u64 = 100_000_000;

/// Who closes the connection because of an answer does so at once, nanoseconds.
const AT_ONCE_NS: u64 = 500_000_000;

fn find(facts: &Facts) -> Option<Cause> {
    if (answered_at_exit::KIND.find)(facts).is_some() {
        return None;
    }
    let late = facts
        .given_up
        .iter()
        .filter(|one| one.exchange.status == Status::Late);
    let late = late.filter_map(|one| Some((one, lag(one).filter(|lag| *lag > CROSSING_NS)?)));
    let late: Vec<_> = late.collect();
    let left_after = |one: &GivenUp| {
        let answered = one.exchange.t_response_last;
        answered.is_some_and(|t| facts.host_left_after(t, AT_ONCE_NS))
    };
    let (given_up, lag) = *late
        .iter()
        .max_by_key(|(one, lag)| (left_after(one), *lag))?;
    let exchange = &given_up.exchange;
    let left = left_after(given_up);
    let (certainty, then) = if left {
        (Certainty::Likely, ", and the host left at that answer")
    } else {
        (
            Certainty::Possible,
            "; some clients close the connection at an answer to nothing",
        )
    };
    let sentence = format!(
        "the server answered {} {} after the client had cancelled it{then}",
        words::call_at(exchange),
        duration(lag)
    );
    let cause = Cause::new(KIND.id, certainty, sentence)
        .advise("Let the server stop the work and send no answer once the cancellation has come.");
    let cause = cause.shown([words::request(exchange)]);
    let cause = cause
        .shown(timeout::cancellation(given_up))
        .shown(words::response(exchange));
    Some(cause.shown(words::leaving(facts).filter(|_| left)))
}

/// Nanoseconds from the cancellation to the answer.
fn lag(given_up: &GivenUp) -> Option<u64> {
    let answered = given_up.exchange.t_response?;
    Some(answered.0.saturating_sub(given_up.t?.0))
}
