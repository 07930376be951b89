//! The server said that a list had changed, and the host did not ask for it.

use super::facts::Facts;
use super::{Cause, Certainty, Kind, named, words};

pub(super) const KIND: Kind = Kind::new("list-change-ignored", find);

fn find(facts: &Facts) -> Option<Cause> {
    let group = facts.found(named::LIST_CHANGED_IGNORED)?;
    let first = group.first.first()?;
    let sentence = format!(
        "the server said {} that a list had changed, and the host did not list it again: {}",
        words::times_found(group),
        first.detail
    );
    let cause = Cause::new(KIND.id, Certainty::Likely, sentence).advise(
        "The host goes on with the old list: reload the server there after a change, or have all \
         tools there from the start.",
    );
    Some(cause.shown(words::findings(group)))
}
