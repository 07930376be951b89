//! An answer longer than clients take.

use super::facts::Facts;
use super::{Cause, Certainty, Evidence, Kind, Place, words};
use mcpreel_trace::frame::{FrameHead, StreamId};
use mcpreel_wire::text::size;

pub(super) const KIND: Kind = Kind::new("oversized-answer", find);

/// Above it the TypeScript SDK closes the connection.
const CLOSED_ABOVE: u64 = 10 * 1024 * 1024;

/// Above it the Rust SDK drops the line.
const DROPPED_ABOVE: u64 = 16 * 1024 * 1024;

/// Who closes the connection because of a line does so soon, nanoseconds.
const SOON_NS: u64 = 1_000_000_000;

fn find(facts: &Facts) -> Option<Cause> {
    let is_over = |head: &&FrameHead| head.stream == StreamId::S2C && head.size > CLOSED_ABOVE;
    let longest = facts
        .long
        .iter()
        .filter(is_over)
        .max_by_key(|head| (facts.host_left_after(head.t_last, SOON_NS), head.size))?;
    let left = facts.host_left_after(longest.t_last, SOON_NS);
    let (certainty, then) = if left {
        (Certainty::Likely, ", and the host left right after it")
    } else {
        (Certainty::Possible, "")
    };
    let limits = if longest.size > DROPPED_ABOVE {
        "the TypeScript SDK closes the connection above 10 MiB, the Rust SDK drops a line above 16 MiB"
    } else {
        "the TypeScript SDK closes the connection above 10 MiB"
    };
    let sentence = format!(
        "the server sent a message of {} in one line (#{}){then}; {limits}",
        size(longest.size),
        longest.seq.0
    );
    let cause = Cause::new(KIND.id, certainty, sentence).advise(
        "Let the tool answer less: pages, a filter, or a link to a resource that is read in parts.",
    );
    let line = format!("a line of {}", size(longest.size));
    let cause = cause.shown([Evidence::new(Place::Frame(longest.seq), line)]);
    Some(cause.shown(words::leaving(facts).filter(|_| left)))
}
