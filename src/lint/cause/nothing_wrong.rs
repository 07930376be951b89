//! Nothing is wrong.

use super::facts::{Facts, Found, Group};
use super::{Cause, Certainty, Evidence, Kind, Place, words};
use crate::lint::{Severity, quote};
use crate::text::{duration, plural};
use crate::trace::session::End;

pub(super) const KIND: Kind = Kind::new("nothing-wrong", find);

#[expect(
    clippy::unnecessary_wraps,
    reason = "it is asked like every other kind of cause"
)]
fn find(facts: &Facts) -> Option<Cause> {
    let (open, left) = (facts.open.count, facts.unanswered.count + facts.lost.count);
    let answered = facts.counts.exchanges.saturating_sub(open + left);
    let open = match (open, left) {
        (0, 0) => String::new(),
        (0, left) => format!(", {left} open at the end"),
        (open, _) => format!(", {open} under way"),
    };
    let ended = match facts.end() {
        None => "the session goes on".to_owned(),
        Some(end @ (End::Exited { code: 0 } | End::Killed { .. })) => match facts.host_left() {
            Some(_) => format!("the server {} after the host had left", words::ended(end)),
            None => format!("the server {}", words::ended(end)),
        },
        Some(end) => format!("the server {}", words::ended(end)),
    };
    let worst = worst(facts);
    let remarks = worst.map_or_else(String::new, |worst| remarks(facts, worst));
    let sentence = format!(
        "nothing wrong was found{remarks}: {answered} of {} answered{open}, none failed; {ended}",
        plural(facts.counts.exchanges, "request")
    );
    let advice = if worst.is_some() {
        "See whether a finding fits what you have noticed. "
    } else {
        ""
    };
    let cause = Cause::new(KIND.id, Certainty::Likely, sentence).advise(format!(
        "{advice}If something is wrong all the same, it is not between these two: look at what the \
         host does with the answers, or note when it happened and look at that moment."
    ));
    let cause = cause.shown(worst.map(|(group, found)| words::finding(&group.rule, found)));
    let cause = cause.shown(handshake(facts)).shown(words::leaving(facts));
    Some(cause.shown(words::end_of(facts)))
}

/// The first of the worst findings among those that are known.
fn worst(facts: &Facts) -> Option<(&Group, &Found)> {
    let groups = facts.findings.iter();
    let all = groups.flat_map(|group| group.first.iter().map(move |found| (group, found)));
    all.min_by_key(|(_, found)| {
        let place = found.frame.map_or(u64::MAX, |seq| seq.0);
        (Severity::Error as u8 - found.severity as u8, place)
    })
}

/// `, though mcpreel lint has 3 findings, the worst a warning (tool-duplicate-name, #5)`
fn remarks(facts: &Facts, (group, found): (&Group, &Found)) -> String {
    let count = facts.counts.findings;
    let word = found.severity.as_str();
    let a = if found.severity == Severity::Error {
        "an"
    } else {
        "a"
    };
    let worst = if count == 1 { "" } else { "the worst " };
    let count = plural(count, "finding");
    let place = found
        .frame
        .map_or_else(String::new, |seq| format!(", #{}", seq.0));
    let rule = quote::text(&group.rule);
    format!(", though `mcpreel lint` has {count}, {worst}{a} {word} ({rule}{place})")
}

fn handshake(facts: &Facts) -> Option<Evidence> {
    let opened = facts.opened()?;
    let version = facts
        .session
        .version()
        .map_or("no version", |version| version);
    let took = facts
        .session
        .handshake_ns
        .map_or_else(String::new, |ns| format!(" in {}", duration(ns)));
    Some(Evidence {
        place: Place::Frame(opened.request.0),
        text: format!("the two agreed on {}{took}", quote::text(version)),
    })
}
