//! The server never answered a request.

use super::facts::Facts;
use super::{Cause, Certainty, Evidence, Kind, words};
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{duration, plural};

pub(super) const KIND: Kind = Kind::new("never-answered", find);

/// What is waited for less is under way, nanoseconds.
const PATIENCE_NS: u64 = 2_000_000_000;

/// What is waited for longer is not merely slow, nanoseconds.
const TOO_LONG_NS: u64 = 30_000_000_000;

fn find(facts: &Facts) -> Option<Cause> {
    // The answers may stand in what was not read.
    if facts.is_short {
        return None;
    }
    let old = old(facts);
    let oldest = *old.iter().max_by_key(|call| waited(facts, call))?;
    let waited_ns = waited(facts, oldest);
    let instead = Instead::of(facts, oldest);
    let sentence = sentence(oldest, waited_ns, old.len() - 1, &instead.said);
    let certainty = if waited_ns > TOO_LONG_NS {
        Certainty::Certain
    } else {
        Certainty::Likely
    };
    let cause = Cause::new(KIND.id, certainty, sentence).advise(instead.advice);
    let cause = cause.shown(old.iter().take(3).map(|call| words::request(call)));
    let cause = cause.shown(instead.evidence);
    let cause = cause.shown(words::leaving(facts));
    Some(cause.shown(words::stderr(facts, 2)))
}

/// What the server did in place of an answer, as far as that is on record.
struct Instead {
    said: String,
    advice: &'static str,
    evidence: Option<Evidence>,
}

impl Instead {
    fn of(facts: &Facts, call: &Exchange) -> Self {
        if let Some(other) = words::other_id(facts, call) {
            return Self {
                said: other.said,
                advice: other.advice,
                evidence: Some(other.evidence),
            };
        }
        if let Some(busy) = busy_with(facts, call) {
            return Self {
                said: format!(": it was at work on {}", words::call_at(busy)),
                advice: "A server that does one thing after the other keeps all that comes \
                         meanwhile waiting: look why that call takes so long, or let long work run \
                         beside other calls, as a task or in a thread of its own.",
                evidence: words::response(busy),
            };
        }
        Self {
            said: String::new(),
            advice: "Look what the server does with this request: a tool that waits for something \
                     itself, an exception that nobody catches, or a handler that forgets to answer.",
            evidence: None,
        }
    }
}

/// The call that kept the server from this one: it came before, was answered so late that there
/// was no time left, and nothing that came after it was answered any sooner.
fn busy_with<'f>(facts: &'f Facts, call: &Exchange) -> Option<&'f Exchange> {
    let ended = facts.told_to_end()?;
    let answered = facts.last_answered.iter();
    let mut answered =
        answered.filter(|one| one.direction == Direction::ClientToServer && one.id < call.id);
    let busy = answered.next_back()?;
    let done = busy.t_response_last?;
    let overtook = |one: &Exchange| one.id > busy.id && one.t_response > Some(call.t_request);
    let is_late = done > call.t_request && ended.0.saturating_sub(done.0) < PATIENCE_NS;
    (is_late && !facts.last_answered.iter().any(overtook)).then_some(busy)
}

/// `the server never answered search (#4) in 40.0 s, nor 2 other requests`
fn sentence(oldest: &Exchange, waited_ns: u64, others: usize, instead: &str) -> String {
    let others = match others {
        0 => String::new(),
        others => format!(", nor {}", plural(others as u64, "other request")),
    };
    let verb = match oldest.status {
        Status::Open => "has not answered",
        _ => "never answered",
    };
    format!(
        "the server {verb} {} in {}{others}{instead}",
        words::call_at(oldest),
        duration(waited_ns)
    )
}

/// Nanoseconds from a request to the end, if somebody brought it about, else to now.
fn waited(facts: &Facts, call: &Exchange) -> u64 {
    let until = facts.told_to_end().unwrap_or(facts.now);
    until.0.saturating_sub(call.t_request.0)
}

/// The requests of the client that have been waited for too long.
fn old(facts: &Facts) -> Vec<&Exchange> {
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
    open.filter(|call| waited(facts, call) > PATIENCE_NS && !is_opening(call) && !asks(call))
        .filter(|call| !facts.may_be_hidden(call))
        .collect()
}
