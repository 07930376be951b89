//! A tool's definition makes hosts drop the tool, or all of them.

use super::facts::Facts;
use super::{Cause, Certainty, Kind, named, words};
use mcpreel_wire::text::plural;

pub(super) const KIND: Kind = Kind::new("bad-schema-hides-tools", find);

fn find(facts: &Facts) -> Option<Cause> {
    // What hides tools is mostly no valid schema either: a definition counts once.
    let group = facts
        .found(named::TOOL_SCHEMA_HIDES_TOOLS)
        .or_else(|| facts.found(named::TOOL_INPUT_SCHEMA_INVALID))?;
    let first = group.first.first()?;
    let (certainty, then) = if facts.called_tools {
        (Certainty::Possible, "")
    } else {
        (Certainty::Likely, "; no tool was ever called")
    };
    let sentence = format!(
        "{}{} in the list of tools can make hosts drop all tools: {}{then}",
        plural(group.count, "definition"),
        words::or_more(group),
        first.detail
    );
    let cause = Cause::new(KIND.id, certainty, sentence).advise(
        "Give every tool an inputSchema that is an object with \"type\": \"object\" at its root, \
         without oneOf, anyOf or allOf there, and nothing that refers outside; keep names to letters, \
         digits, \"_\", \".\" and \"-\".",
    );
    Some(cause.shown(words::findings(group)))
}
