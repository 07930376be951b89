//! The server answered after the client had cancelled.

use super::facts::{Cancelled, Facts};
use super::{Cause, Certainty, Kind, answered_at_exit, timeout, words};
use mcpreel_trace::exchange::Status;
use mcpreel_wire::text::duration;

pub(super) const KIND: Kind = Kind::new("late-answer", find);

/// An answer that was under way already crosses the cancellation, nanoseconds.
const CROSSING_NS: u64 = 100_000_000;

/// Who closes the connection because of an answer does so at once, nanoseconds.
const AT_ONCE_NS: u64 = 500_000_000;

fn find(facts: &Facts) -> Option<Cause> {
    if (answered_at_exit::KIND.find)(facts).is_some() {
        return None;
    }
    let late = late(facts);
    let (cancelled, lag) = late.max_by_key(|(one, lag)| (left_at(facts, one), *lag))?;
    let exchange = &cancelled.exchange;
    let left = left_at(facts, cancelled);
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
        .shown(timeout::cancellation(cancelled))
        .shown(words::response(exchange));
    Some(cause.shown(words::leaving(facts).filter(|_| left)))
}

/// The requests whose answers came after the cancellation and were not under way, each with the
/// nanoseconds between the two.
fn late(facts: &Facts) -> impl Iterator<Item = (&Cancelled, u64)> {
    let late = facts.cancelled.iter();
    let late = late.filter(|one| one.exchange.status == Status::Late);
    late.filter_map(|one| Some((one, lag(one).filter(|lag| *lag > CROSSING_NS)?)))
}

/// Whether the host left at the answer.
fn left_at(facts: &Facts, one: &Cancelled) -> bool {
    let answered = one.exchange.t_response_last;
    answered.is_some_and(|t| facts.host_left_after(t, AT_ONCE_NS))
}

/// Nanoseconds from the cancellation to the answer.
fn lag(cancelled: &Cancelled) -> Option<u64> {
    let answered = cancelled.exchange.t_response?;
    Some(answered.0.saturating_sub(cancelled.t?.0))
}
