//! The server took long to be ready.

use super::facts::Facts;
use super::{Cause, Certainty, Evidence, Kind, Place, answered_at_exit};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::Status;
use mcpreel_wire::text::duration;

pub(super) const KIND: Kind = Kind::new("slow-start", find);

/// From here on a start is slow, nanoseconds; the shortest limits of hosts are near.
const SLOW_NS: u64 = 5_000_000_000;

/// From here on many hosts have given up, nanoseconds.
const TOO_SLOW_NS: u64 = 10_000_000_000;

fn find(facts: &Facts) -> Option<Cause> {
    let spawned = facts.session.spawned?;
    let opened = facts.opened()?;
    let ready = opened.t_response_last?;
    let took_ns = ready.0.saturating_sub(spawned.0);
    // A host that began late is not the server's slowness.
    let own_ns = opened
        .t_response
        .map_or(0, |t| t.0.saturating_sub(opened.t_request.0));
    let is_slow = took_ns >= SLOW_NS && own_ns >= SLOW_NS / 2;
    if !is_slow || (answered_at_exit::KIND.find)(facts).is_some() {
        return None;
    }
    let left = facts.host_left().is_some_and(|left| left < ready);
    let (certainty, then) = match took_ns {
        _ if opened.status == Status::Late || left => {
            (Certainty::Certain, ", when the client had given up")
        }
        TOO_SLOW_NS.. => (Certainty::Likely, ""),
        _ => (Certainty::Possible, ""),
    };
    let steps = steps(facts, spawned);
    let sentence = format!(
        "the server was ready {} after its start{then}: {}",
        duration(took_ns),
        steps.join(", ")
    );
    let cause = Cause::new(KIND.id, certainty, sentence).advise(
        "Launchers that fetch packages first (npx, uvx, docker) are the usual reason: install the \
         server and start its program itself, or raise the host's limit for starting.",
    );
    let first = steps.into_iter().next();
    let first = first.map(|step| Evidence::new(Place::Session, step));
    Some(cause.shown_call(opened).shown(first))
}

/// What came when after the start.
fn steps(facts: &Facts, spawned: Moment) -> Vec<String> {
    let first = facts.session.first_byte;
    let at = |what: &str, t: Option<Moment>| {
        t.map(|t| format!("{what} after {}", duration(t.0.saturating_sub(spawned.0))))
    };
    let handshake = facts.session.handshake_ns;
    let handshake = handshake.map(|ns| format!("the handshake took {}", duration(ns)));
    let steps = [
        at("first line on stderr", first.stderr),
        at("first byte on stdout", first.s2c),
        handshake,
    ];
    steps.into_iter().flatten().collect()
}
