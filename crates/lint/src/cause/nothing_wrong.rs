//! Nothing is wrong.

use super::facts::{Facts, Found, Group};
use super::{Cause, Certainty, Evidence, Kind, Place, named, words};
use crate::{Severity, quote};
use mcpreel_trace::session::End;
use mcpreel_wire::text::{duration, plural};

pub(super) const KIND: Kind = Kind::new("nothing-wrong", find);

const SLOW: usize = 2;

const READ: &str = "See whether a finding fits what you have noticed. ";

/// The Python SDK up to 1.x gives up so, and sends its next request.
const GIVEN_UP: &str = "Some clients give up a slow call without telling the server: see whether \
                        this host waits for less than what took long here. ";

#[expect(
    clippy::unnecessary_wraps,
    reason = "it is asked like every other kind of cause"
)]
fn find(facts: &Facts) -> Option<Cause> {
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
    let answered = answered(facts);
    let sentence = format!("nothing wrong was found{remarks}: {answered}, none failed; {ended}");
    let (read, slow) = (worst.map(|_| READ), slow(facts));
    let given_up = slow.first().map(|_| GIVEN_UP);
    let advice = [read, given_up].into_iter().flatten().collect::<String>();
    let cause = Cause::new(KIND.id, Certainty::Likely, sentence).advise(format!(
        "{advice}If something is wrong all the same, it is not between these two: look at what the \
         host does with the answers, or note when it happened and look at that moment."
    ));
    let cause = cause.shown(worst.map(|(group, found)| words::finding(&group.rule, found)));
    let others = slow
        .into_iter()
        .filter(|slow| worst.is_none_or(|(_, worst)| !std::ptr::eq(worst, *slow)));
    let cause = cause.shown(others.map(|found| words::finding(named::REQUEST_SLOW, found)));
    let cause = cause.shown(handshake(facts)).shown(words::leaving(facts));
    Some(cause.shown(words::end_of(facts)))
}

/// The first answers that took long.
fn slow(facts: &Facts) -> Vec<&Found> {
    let group = facts.found(named::REQUEST_SLOW);
    group.map_or_else(Vec::new, |group| group.first.iter().take(SLOW).collect())
}

/// `14 of 15 requests answered, 1 open at the end`
fn answered(facts: &Facts) -> String {
    let (open, left) = (facts.open.count, facts.unanswered.count + facts.lost.count);
    let answered = facts.counts.exchanges.saturating_sub(open + left);
    let open = match (open, left) {
        (0, 0) => String::new(),
        (0, left) => format!(", {left} open at the end"),
        (open, _) => format!(", {open} under way"),
    };
    let asked = plural(facts.counts.exchanges, "request");
    match facts.untracked.count {
        0 => format!("{answered} of {asked} answered{open}"),
        _ => format!("of {asked} not all were followed{open}"),
    }
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
    let text = format!("the two agreed on {}{took}", quote::text(version));
    Some(Evidence::new(Place::Frame(opened.request.0), text))
}
