//! A tool's schema makes hosts drop the tool, or all of them.

use super::facts::Facts;
use super::{Cause, Certainty, Kind, words};
use crate::text::plural;

pub(super) const KIND: Kind = Kind::new("bad-schema-hides-tools", find);

fn find(facts: &Facts) -> Option<Cause> {
    let rules = ["tool-schema-hides-tools", "tool-input-schema-invalid"];
    let groups: Vec<_> = rules.iter().filter_map(|rule| facts.found(rule)).collect();
    let first = groups.first()?.first.first()?;
    let count: u64 = groups.iter().map(|group| group.count).sum();
    let (certainty, then) = if facts.called_tools {
        (Certainty::Possible, "")
    } else {
        (Certainty::Likely, "; no tool was ever called")
    };
    let sentence = format!(
        "{} in the list of tools can make hosts drop all tools: {}{then}",
        plural(count, "schema fault"),
        first.detail
    );
    let cause = Cause::new(KIND.id, certainty, sentence).advise(
        "Give every tool an inputSchema that is an object with \"type\": \"object\" at its root, \
         without oneOf, anyOf or allOf there, and nothing that refers outside.",
    );
    Some(cause.shown(groups.into_iter().flat_map(words::findings)))
}
