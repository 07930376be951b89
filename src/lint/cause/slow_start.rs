//! The server took long to be ready.

use super::facts::Facts;
use super::{Cause, Certainty, Evidence, Kind, Place, answered_at_exit, words};
use crate::text::duration;
use crate::trace::clock::Moment;
use crate::trace::exchange::Status;

pub(super) const KIND: Kind = Kind::new("slow-start", find);

/// From here on a start is slow, nanoseconds; the shortest limits of hosts are near.
const SLOW_NS: u64 = 5_000_000_000;

/// From here on many hosts have given up, nanoseconds.
const TOO_SLOW_NS: u64 = 10_000_000_000;

fn find(facts: &Facts) -> Option<Cause> {
    let spawned = facts.session.spawned?;
    let opened = facts.opened()?;
    let ready = opened.t_response_last?;
    let after = |t: Moment| t.0.saturating_sub(spawned.0);
    // A host that began late is not the server's slowness.
    let own = opened
        .t_response
        .map_or(0, |t| t.0.saturating_sub(opened.t_request.0));
    if after(ready) < SLOW_NS || own < SLOW_NS / 2 {
        return None;
    }
    if (answered_at_exit::KIND.find)(facts).is_some() {
        return None;
    }
    let left = facts.host_left().is_some_and(|left| left < ready);
    let given_up = opened.status == Status::Late || left;
    let certainty = match (given_up, after(ready)) {
        (true, _) => Certainty::Certain,
        (_, TOO_SLOW_NS..) => Certainty::Likely,
        _ => Certainty::Possible,
    };
    let then = if given_up {
        ", when the client had given up"
    } else {
        ""
    };
    let sentence = format!(
        "the server was ready {} after its start{then}: {}",
        duration(after(ready)),
        steps(facts, spawned).join(", ")
    );
    let cause = Cause::new(KIND.id, certainty, sentence).advise(
        "Launchers that fetch packages first (npx, uvx, docker) are the usual reason: install the \
         server and start its program itself, or raise the host's limit for starting.",
    );
    let cause = cause
        .shown([words::request(opened)])
        .shown(words::response(opened));
    Some(
        cause.shown(
            steps(facts, spawned)
                .into_iter()
                .take(1)
                .map(|text| Evidence {
                    place: Place::Session,
                    text,
                }),
        ),
    )
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
