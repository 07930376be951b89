//! A side breaks the protocol in a way that no other cause explains.

use super::facts::{Facts, Found, Group};
use super::{Cause, Certainty, Kind, named, words};
use crate::lint::{quote, rule};
use crate::text::plural;

pub(super) const KIND: Kind = Kind::new("protocol-broken", find);

/// Rules whose findings are errors that other causes tell, each in its own words.
const TOLD: [&str; 8] = [
    named::FRAME_NOT_JSON,
    named::FRAME_NOT_OBJECT,
    named::FRAME_TRUNCATED,
    named::PROCESS_DIED_IN_FLIGHT,
    named::PROCESS_NOT_STARTED,
    named::PROCESS_STDOUT_CLOSED_EARLY,
    named::RPC_UNCLASSIFIABLE,
    named::TOOL_INPUT_SCHEMA_INVALID,
];

fn find(facts: &Facts) -> Option<Cause> {
    // Of a line that is no message every rule about messages has something to say.
    let is_noise = |found: &Found| facts.noise.iter().any(|line| Some(line.seq) == found.frame);
    let tells = |found: &Found| found.is_error && !is_noise(found);
    let is_error = |group: &&Group| group.first.iter().any(tells);
    let is_told = |group: &&Group| TOLD.contains(&&*group.rule);
    let groups = facts
        .findings
        .iter()
        .filter(|group| is_error(group) && !is_told(group));
    let mut groups: Vec<_> = groups.collect();
    groups.sort_by_key(|group| group.first.first().and_then(|found| found.frame));
    let group = groups.first()?;
    let first = group.first.iter().find(|found| tells(found))?;
    let place = first
        .frame
        .map_or_else(String::new, |seq| format!(", #{}", seq.0));
    let more = match groups.len() - 1 {
        0 => String::new(),
        more => format!("; {} too", plural(more as u64, "other rule")),
    };
    let summary =
        rule(&group.rule).map_or_else(|| quote::text(&group.rule), |rule| rule.summary.to_owned());
    let sentence = format!(
        "the protocol was broken: {summary}: {} ({}{place}){more}",
        first.detail,
        quote::text(&group.rule)
    );
    let fix = rule(&group.rule)
        .map(|rule| rule.fix)
        .filter(|fix| !fix.is_empty());
    let cause = Cause::new(KIND.id, Certainty::Possible, sentence)
        .advise(fix.unwrap_or("The findings of the recording name each place."));
    Some(cause.shown(groups.into_iter().flat_map(words::findings)))
}
