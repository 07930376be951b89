//! The server asked its client something and had no answer.

use super::facts::Facts;
use super::{Cause, Certainty, Kind, words};
use mcpreel_trace::exchange::Exchange;
use mcpreel_wire::mcp::methods::{self, Way};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::duration;

pub(super) const KIND: Kind = Kind::new("client-never-answered", find);

/// A client that means to answer has done so by then, nanoseconds: but for people, who are asked.
const PATIENCE_NS: u64 = 5_000_000_000;

/// What to do where a person is asked.
const ASKS_PERSON: &str = "A person may have to answer: look for a dialogue of the host. A server \
                           should give up after a while and say so.";

/// What to do where the client itself is asked.
const ASKS_CLIENT: &str = "The client declares what it does not serve, or is stuck: a server should \
                           give up after a while, and do without it where the client did not \
                           declare it.";

fn find(facts: &Facts) -> Option<Cause> {
    // The answer may stand in what was not read.
    if facts.is_short {
        return None;
    }
    let until = facts.host_left().unwrap_or(facts.now);
    let waited = |exchange: &Exchange| until.0.saturating_sub(exchange.t_request.0);
    let is_old = |one: &&Exchange| {
        one.direction == Direction::ServerToClient
            && is_for_clients(one)
            && waited(one) > PATIENCE_NS
            && !facts.may_be_hidden(one)
    };
    let old: Vec<_> = facts.without_answer().filter(is_old).collect();
    let first = *old.first()?;
    let mut calls = facts.without_answer();
    let held = calls.find(|call| Some(call.id) == first.parent);
    let held_up = held.map_or_else(String::new, |call| {
        format!("; {} waits for it", words::call_at(call))
    });
    let sentence = format!(
        "the client never answered the server's {} in {}{held_up}",
        words::call_at(first),
        duration(waited(first))
    );
    let (certainty, advice) = match asks_person(first) {
        true if facts.is_live => (Certainty::Likely, ASKS_PERSON),
        true => (Certainty::Certain, ASKS_PERSON),
        false => (Certainty::Certain, ASKS_CLIENT),
    };
    let cause = Cause::new(KIND.id, certainty, sentence).advise(advice);
    let cause = cause.shown(old.iter().take(3).map(|one| words::request(one)));
    Some(cause.shown(held.map(words::request)))
}

/// Whether clients answer such requests: a server that sends back whatever it is sent asks for
/// what no client has.
fn is_for_clients(exchange: &Exchange) -> bool {
    let known = methods::find(&exchange.method);
    known.is_none_or(|known| known.uses().any(|usage| usage.way == Way::ToClient))
}

/// Whether a person may have to answer it.
fn asks_person(exchange: &Exchange) -> bool {
    matches!(
        &*exchange.method,
        "elicitation/create" | "sampling/createMessage"
    )
}
