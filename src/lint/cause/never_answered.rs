//! The server never answered a request.

use super::facts::Facts;
use super::{Cause, Certainty, Kind, words};
use crate::protocol::message::Direction;
use crate::text::{duration, plural};
use crate::trace::exchange::{Exchange, Status};

pub(super) const KIND: Kind = Kind::new("never-answered", find);

/// What is waited for less is under way, nanoseconds.
const PATIENCE_NS: u64 = 2_000_000_000;

/// What is waited for longer is not merely slow, nanoseconds.
const TOO_LONG: u64 = 30_000_000_000;

fn find(facts: &Facts) -> Option<Cause> {
    // The answers may stand in what was not read.
    if facts.is_short {
        return None;
    }
    let until = facts.told_to_end().unwrap_or(facts.now);
    let waited = |exchange: &Exchange| until.0.saturating_sub(exchange.t_request.0);
    let open = facts.open.asked(Direction::ClientToServer);
    let open = open.chain(facts.unanswered.asked(Direction::ClientToServer));
    // What was open when somebody ended the server: it did not end by itself.
    let lost = facts.lost.asked(Direction::ClientToServer);
    let open = open.chain(lost.filter(|_| facts.was_told_to_end()));
    // The handshake has a cause of its own, and a call that asks the client waits for that.
    let asks = |call: &Exchange| {
        let samples = [&facts.open, &facts.unanswered];
        let children = samples.map(|sample| sample.asked(Direction::ServerToClient));
        children
            .into_iter()
            .flatten()
            .any(|child| child.parent == Some(call.id))
    };
    let is_opening = |call: &Exchange| matches!(&*call.method, "initialize" | "server/discover");
    let old: Vec<_> = open
        .filter(|call| waited(call) > PATIENCE_NS && !is_opening(call) && !asks(call))
        .collect();
    let oldest = old.iter().max_by_key(|call| waited(call))?;
    let more = match old.len() - 1 {
        0 => String::new(),
        more => format!(", nor {}", plural(more as u64, "other request")),
    };
    let verb = if oldest.status == Status::Open {
        "has not answered"
    } else {
        "never answered"
    };
    let other_id = words::other_id(facts, oldest);
    let instead = other_id.as_ref().map_or("", |other| &other.said);
    let sentence = format!(
        "the server {verb} {} in {}{more}{instead}",
        words::call_at(oldest),
        duration(waited(oldest))
    );
    let certainty = if waited(oldest) > TOO_LONG {
        Certainty::Certain
    } else {
        Certainty::Likely
    };
    let advice = other_id.as_ref().map_or(
        "Look what the server does with this request: a tool that waits for something itself, an \
         exception that nobody catches, or a handler that forgets to answer.",
        |other| other.advice,
    );
    let cause = Cause::new(KIND.id, certainty, sentence).advise(advice);
    let cause = cause.shown(old.iter().take(3).map(|call| words::request(call)));
    let cause = cause.shown(other_id.map(|other| other.evidence));
    let cause = cause.shown(words::leaving(facts));
    Some(cause.shown(words::stderr(facts, 2)))
}
