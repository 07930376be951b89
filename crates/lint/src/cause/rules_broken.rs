//! A side breaks the protocol in a way that no other cause explains.

use super::facts::{Facts, Found, Group};
use super::{Cause, Certainty, Kind, named, words};
use crate::{Severity, quote, rule};

pub(super) const KIND: Kind = Kind::new("protocol-broken", find);

/// Rules whose findings are errors that other causes tell, each in its own words.
const TOLD: [&str; 11] = [
    named::FRAME_CONTENT_LENGTH,
    named::FRAME_EMBEDDED_NEWLINE,
    named::FRAME_NOT_JSON,
    named::FRAME_NOT_OBJECT,
    named::FRAME_TRUNCATED,
    named::PROCESS_DIED_IN_FLIGHT,
    named::PROCESS_NOT_STARTED,
    named::PROCESS_STDOUT_CLOSED_EARLY,
    named::RPC_UNCLASSIFIABLE,
    named::TOOL_INPUT_SCHEMA_INVALID,
    named::TOOL_SCHEMA_HIDES_TOOLS,
];

fn find(facts: &Facts) -> Option<Cause> {
    // Of a line that is no message every rule about messages has something to say.
    let is_noise = |found: &Found| facts.noise.iter().any(|line| Some(line.seq) == found.frame);
    let tells = |found: &&Found| found.severity == Severity::Error && !is_noise(found);
    let is_told = |group: &&Group| TOLD.contains(&&*group.rule);
    let groups = facts.findings.iter().filter(|group| !is_told(group));
    let broken = groups.filter_map(|group| Some((group, group.first.iter().find(tells)?)));
    let mut broken: Vec<_> = broken.collect();
    broken.sort_by_key(|(_, found)| found.frame.map_or(u64::MAX, |seq| seq.0));
    let &(group, first) = broken.first()?;
    let more = match broken.len() - 1 {
        0 => String::new(),
        1 => "; another rule was broken too".to_owned(),
        more => format!("; {more} other rules were broken too"),
    };
    let summary =
        rule(&group.rule).map_or_else(|| quote::text(&group.rule), |rule| rule.summary.to_owned());
    let sentence = format!(
        "the protocol was broken{}: {summary}: {} ({}){more}",
        place(first),
        first.detail,
        quote::text(&group.rule)
    );
    let fix = rule(&group.rule)
        .map(|rule| rule.fix)
        .filter(|fix| !fix.is_empty());
    let cause = Cause::new(KIND.id, Certainty::Possible, sentence)
        .advise(fix.unwrap_or("The findings of the recording name each place."));
    let shown = broken
        .iter()
        .map(|(group, found)| words::finding(&group.rule, found));
    let others = broken.iter().flat_map(|(group, _)| words::findings(group));
    Some(cause.shown(shown.chain(others)))
}

/// ` in #5 at result.content[0].type`; of a finding about the session as a whole the first frame
/// that it is about.
fn place(found: &Found) -> String {
    let frame = found.frame.or(found.related.first().copied());
    let frame = frame.map_or_else(String::new, |seq| format!(" in #{}", seq.0));
    let path = found.path.as_deref();
    let path = path.map_or_else(String::new, |path| format!(" at {}", quote::text(path)));
    format!("{frame}{path}")
}
