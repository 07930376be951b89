//! The client gave up waiting for an answer.

use super::facts::{Facts, GivenUp};
use super::{Cause, Certainty, Evidence, Kind, Place, words};
use crate::lint::quote;
use crate::protocol::message::Direction;
use crate::text::{duration, plural};
use crate::trace::exchange::Exchange;

pub(super) const KIND: Kind = Kind::new("client-gave-up", find);

/// Limits that clients come with, seconds.
const USUAL: [u64; 13] = [5, 10, 15, 20, 30, 45, 60, 90, 100, 120, 180, 300, 600];

/// A clock that is this close to a usual limit has it, thousandths of it.
const CLOSE: u64 = 15;

const SECOND_NS: u64 = 1_000_000_000;

/// People cancel sooner.
const PATIENCE_NS: u64 = 5 * SECOND_NS;

fn find(facts: &Facts) -> Option<Cause> {
    let by_client = |one: &&GivenUp| one.exchange.direction == Direction::ClientToServer;
    let judged = facts.given_up.iter().filter(by_client);
    let judged = judged.filter_map(|one| Some((one, waited(one)?, certainty(one)?)));
    let (given_up, waited, certainty) = judged.max_by_key(|(_, _, certainty)| *certainty)?;
    let exchange = &given_up.exchange;
    let (progress, advice) = progress(given_up);
    let sentence = format!(
        "the server had not answered {} for {} when the client gave it up{progress}",
        words::call_at(exchange),
        duration(waited)
    );
    let cause = Cause::new(KIND.id, certainty, sentence).advise(advice);
    let cause = cause
        .shown([words::request(exchange)])
        .shown(cancellation(given_up));
    Some(cause.shown(words::response(exchange)))
}

/// Nanoseconds until it was cancelled.
fn waited(given_up: &GivenUp) -> Option<u64> {
    let t = given_up.t?;
    Some(t.0.saturating_sub(given_up.exchange.t_request.0))
}

/// How sure it is that a limit, not a person, cancelled it; `None` if it looks like a person.
pub(super) fn certainty(given_up: &GivenUp) -> Option<Certainty> {
    let said = given_up.said.to_ascii_lowercase();
    if ["timed out", "timeout", "-32001"]
        .iter()
        .any(|word| said.contains(word))
    {
        return Some(Certainty::Certain);
    }
    let waited = waited(given_up)?;
    let is_close =
        |limit: &u64| waited.abs_diff(limit * SECOND_NS) <= limit * SECOND_NS / 1000 * CLOSE;
    if USUAL.iter().any(is_close) {
        return Some(Certainty::Likely);
    }
    (waited > PATIENCE_NS).then_some(Certainty::Likely)
}

/// What progress had to do with it.
fn progress(given_up: &GivenUp) -> (String, &'static str) {
    let exchange: &Exchange = &given_up.exchange;
    let count = exchange.progress_count;
    match (given_up.has_token, count) {
        (false, _) => (
            "; the client had sent no progressToken, so that no progress could have kept it waiting"
                .into(),
            "Look what the server does with this call. Raise the client's limit for this call, let it ask for progress, or make the tool \
             answer at once and do its work in the background.",
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

/// Where it was cancelled.
pub(super) fn cancellation(given_up: &GivenUp) -> Option<Evidence> {
    let seq = given_up.exchange.cancelled?;
    Some(Evidence {
        place: Place::Frame(seq),
        text: format!("the client said: {}", quote::text(&given_up.said)),
    })
}
