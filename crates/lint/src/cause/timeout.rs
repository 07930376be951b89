//! The client gave up waiting for an answer.

use super::facts::{Cancelled, Facts};
use super::{Cause, Certainty, Evidence, Kind, Place, words};
use crate::quote;
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{duration, plural};

pub(super) const KIND: Kind = Kind::new("client-gave-up", find);

/// Limits that clients come with, seconds.
const USUAL: [u64; 13] = [5, 10, 15, 20, 30, 45, 60, 90, 100, 120, 180, 300, 600];

/// A clock that is this close to a usual limit has it, thousandths of it.
const CLOSE: u64 = 15;

const SECOND_NS: u64 = 1_000_000_000;

const PATIENCE_NS: u64 = 5 * SECOND_NS;

fn find(facts: &Facts) -> Option<Cause> {
    let by_client = |one: &&Cancelled| one.exchange.direction == Direction::ClientToServer;
    let judged = facts.cancelled.iter().filter(by_client);
    let judged = judged.filter_map(|one| Some((one, waited(one)?, certainty(one)?)));
    let (cancelled, waited, certainty) = judged.max_by_key(|(_, _, certainty)| *certainty)?;
    let exchange = &cancelled.exchange;
    let (progress, advice) = progress(cancelled);
    let sentence = format!(
        "the server had not answered {} for {} when the client gave it up{progress}",
        words::call_at(exchange),
        duration(waited)
    );
    let cause = Cause::new(KIND.id, certainty, sentence).advise(advice);
    let cause = cause
        .shown([words::request(exchange)])
        .shown(cancellation(cancelled));
    Some(cause.shown(words::response(exchange)))
}

/// Nanoseconds until it was cancelled.
fn waited(cancelled: &Cancelled) -> Option<u64> {
    let t = cancelled.t?;
    Some(t.0.saturating_sub(cancelled.exchange.t_request.0))
}

/// How sure it is that a limit, not a person, cancelled it; `None` if it looks like a person.
pub(super) fn certainty(cancelled: &Cancelled) -> Option<Certainty> {
    let said = cancelled.said.to_ascii_lowercase();
    if ["timed out", "timeout", "-32001"]
        .iter()
        .any(|word| said.contains(word))
    {
        return Some(Certainty::Certain);
    }
    let waited = waited(cancelled)?;
    let is_close =
        |limit: &u64| waited.abs_diff(limit * SECOND_NS) <= limit * SECOND_NS / 1000 * CLOSE;
    if USUAL.iter().any(is_close) {
        return Some(Certainty::Likely);
    }
    (waited > PATIENCE_NS).then_some(Certainty::Likely)
}

/// What progress had to do with it, and what to do.
fn progress(cancelled: &Cancelled) -> (String, &'static str) {
    match (cancelled.has_token, cancelled.exchange.progress_count) {
        (false, _) => (
            "; the client had sent no progressToken, so that no progress could have kept it waiting"
                .into(),
            "Look what the server does with this call. Raise the client's limit for this call, let \
             it ask for progress, or make the tool answer at once and do its work in the background.",
        ),
        (true, 0) => (
            "; it had sent a progressToken, but the server sent no progress".into(),
            "Let the tool report its progress: many clients wait on while it comes; else raise the \
             client's limit.",
        ),
        (true, count) => (
            format!(
                " although {} had come",
                plural(count, "progress notification")
            ),
            "The client's limit does not start anew with progress: raise it, or let the client \
             reset it on progress.",
        ),
    }
}

pub(super) fn cancellation(cancelled: &Cancelled) -> Option<Evidence> {
    let seq = cancelled.exchange.cancelled?;
    let text = format!("the client said: {}", quote::text(&cancelled.said));
    Some(Evidence::new(Place::Frame(seq), text))
}
