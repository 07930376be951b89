//! Causes that are only odd, and the answers where nothing is wrong or nothing can be said.

use super::Certainty::{Likely, Possible};
use super::facts::{Facts, Found, Group};
use super::{Cause, Evidence, Place, phrases};
use crate::{Severity, quote, rule};
use mcpreel_trace::event::{Event, EventKind};
use mcpreel_trace::session::End;
use mcpreel_wire::text::{duration, plural, size};

/// A tool's definition makes hosts drop the tool, or all of them.
pub(super) fn bad_schema_hides_tools(facts: &Facts) -> Option<Cause> {
    // What hides tools is mostly no valid schema either: a definition counts once.
    let group = facts
        .found("tool-schema-hides-tools")
        .or_else(|| facts.found("tool-input-schema-invalid"))?;
    let (certainty, then) = if facts.called_tools {
        (Possible, "")
    } else {
        (Likely, "; no tool was ever called")
    };
    let sentence = format!(
        "{}{} in the list of tools can make hosts drop all tools: {}{then}",
        plural(group.count, "definition"),
        phrases::or_more(group),
        group.first.first()?.detail
    );
    let cause = Cause::new(certainty, sentence).advise(
        "Give every tool an inputSchema that is an object with \"type\": \"object\" at its root, \
         without oneOf, anyOf or allOf there, and nothing that refers outside; keep names to letters, \
         digits, \"_\", \".\" and \"-\".",
    );
    Some(cause.shown(phrases::findings(group)))
}

/// The server said that a list had changed, and the host did not ask for it.
pub(super) fn list_change_ignored(facts: &Facts) -> Option<Cause> {
    let group = facts.found("list-changed-ignored")?;
    let sentence = format!(
        "the server said {}{} that a list had changed, and the host did not list it again: {}",
        phrases::times(group.count),
        phrases::or_more(group),
        group.first.first()?.detail
    );
    let cause = Cause::new(Likely, sentence).advise(
        "The host goes on with the old list: reload the server there after a change, or have all \
         tools there from the start.",
    );
    Some(cause.shown(phrases::findings(group)))
}

/// Rules whose findings are errors that other causes tell, each in its own words.
const TOLD: [&str; 11] = [
    "frame-content-length",
    "frame-embedded-newline",
    "frame-not-json",
    "frame-not-object",
    "frame-truncated",
    "process-died-in-flight",
    "process-not-started",
    "process-stdout-closed-early",
    "rpc-unclassifiable",
    "tool-input-schema-invalid",
    "tool-schema-hides-tools",
];

/// A side breaks the protocol in a way that no other cause explains.
pub(super) fn protocol_broken(facts: &Facts) -> Option<Cause> {
    // Of a line that is no message every rule about messages has something to say.
    let is_noise = |found: &Found| facts.noise.iter().any(|line| Some(line.seq) == found.frame);
    let tells = |found: &&Found| found.severity == Severity::Error && !is_noise(found);
    let groups = facts.findings.iter();
    let groups = groups.filter(|group| !TOLD.contains(&&*group.rule));
    let broken = groups.filter_map(|group| Some((group, group.first.iter().find(tells)?)));
    let mut broken: Vec<_> = broken.collect();
    broken.sort_by_key(|(_, found)| found.frame.map_or(u64::MAX, |seq| seq.0));
    let &(group, first) = broken.first()?;
    let more = match broken.len() - 1 {
        0 => String::new(),
        1 => "; another rule was broken too".to_owned(),
        more => format!("; {more} other rules were broken too"),
    };
    let (id, known) = (quote::text(&group.rule), rule(&group.rule));
    let place = first.frame.or(first.related.first().copied());
    let place = place.map_or_else(String::new, |seq| format!(" in #{}", seq.0));
    let sentence = format!(
        "the protocol was broken{place}{}: {}: {} ({id}){more}",
        phrases::at_path(first),
        known.map_or(&*id, |rule| rule.summary),
        first.detail
    );
    let fix = known.map_or("The findings of the recording name each place.", |rule| {
        rule.fix
    });
    let shown = broken
        .iter()
        .map(|(group, found)| phrases::finding(&group.rule, found));
    let others = broken
        .iter()
        .flat_map(|(group, _)| phrases::findings(group));
    Some(
        Cause::new(Possible, sentence)
            .advise(fix)
            .shown(shown.chain(others)),
    )
}

/// The recording does not show enough.
pub(super) fn cannot_say(facts: &Facts) -> Option<Cause> {
    let why = match facts.end() {
        _ if facts.context.selection.is_some() => "only a part of the session is in it",
        _ if facts.is_partial() => "a part of the session is not on record",
        Some(End::Unknown) if !facts.ended_somehow() => "the recording ends before the server did",
        _ if facts.is_short => "the recording stops in the middle of the session",
        _ if facts.counts.messages > 0 => return None,
        None => "there are no messages yet",
        Some(_) => "there are no messages",
    };
    let counts = &facts.counts;
    let sentence = format!(
        "cannot say what is wrong, if anything is: {why}; looked at {}, {}, {}, {}",
        plural(counts.frames, "frame"),
        plural(counts.exchanges, "request"),
        plural(counts.findings, "finding"),
        plural(facts.events.len() as u64, "event")
    );
    let advice = if facts.context.selection.is_some() {
        "Look at the recording that it was made from, or ask whoever made it for all of it."
    } else if facts.is_short {
        "Its recorder still writes, or was killed, or this is a copy of a part: the rest stands in a \
         spool beside the original. `--dir` with the folder of that lets mcpreel complete it."
    } else {
        "Record the session again to its end, with whatever goes wrong in it."
    };
    let gap = (counts.gap_bytes > 0).then(|| {
        let text = format!("{} are not on record", size(counts.gap_bytes));
        Evidence::new(Place::Session, text)
    });
    let cause = Cause::new(Possible, sentence)
        .advise(advice)
        .shown(gap)
        .shown(complaints(facts))
        .shown(phrases::stderr(facts, 3));
    Some(cause)
}

/// The last complaints in the host's own log, where the recording was made from one.
fn complaints(facts: &Facts) -> Vec<Evidence> {
    let complaint = |event: &Event| {
        let EventKind::HostLog { level, message, .. } = &event.kind else {
            return None;
        };
        let text = format!("the host's log: {}", phrases::noted(message));
        ["warn", "error"]
            .contains(&&**level)
            .then(|| phrases::event(event, text))
    };
    let all: Vec<_> = facts.events.iter().filter_map(complaint).collect();
    let first = all.len().saturating_sub(3);
    all.into_iter().skip(first).collect()
}

/// Nothing is wrong.
#[expect(
    clippy::unnecessary_wraps,
    reason = "every kind of cause has this type"
)]
pub(super) fn nothing_wrong(facts: &Facts) -> Option<Cause> {
    let ended = match facts.end() {
        None => "the session goes on".to_owned(),
        Some(end @ (End::Exited { code: 0 } | End::Killed { .. }))
            if facts.host_left().is_some() =>
        {
            format!("the server {} after the host had left", phrases::ended(end))
        }
        Some(end) => format!("the server {}", phrases::ended(end)),
    };
    let worst = worst(facts);
    let remarks = worst.map_or_else(String::new, |worst| remarks(facts, worst));
    let answered = answered(facts);
    let sentence = format!("nothing wrong was found{remarks}: {answered}, none failed; {ended}");
    let slow = facts.found("request-slow");
    let read = worst.map(|_| "See whether a finding fits what you have noticed. ");
    // The Python SDK up to 1.x gives up so, and sends its next request.
    let given_up = slow.map(|_| {
        "Some clients give up a slow call without telling the server: see whether this host waits \
         for less than what took long here. "
    });
    let advice = format!(
        "{}{}If something is wrong all the same, it is not between these two: look at what the host \
         does with the answers, or note when it happened and look at that moment.",
        read.unwrap_or_default(),
        given_up.unwrap_or_default()
    );
    let slow = slow
        .into_iter()
        .flat_map(|group| phrases::findings(group).take(2));
    let cause = Cause::new(Likely, sentence)
        .advise(advice)
        .shown(worst.map(|(group, found)| phrases::finding(&group.rule, found)))
        .shown(slow)
        .shown(handshake(facts))
        .shown(phrases::leaving(facts))
        .shown(phrases::end_of(facts));
    Some(cause)
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
        (std::cmp::Reverse(found.severity), place)
    })
}

/// `, though mcpreel lint has 3 findings, the worst a warning (tool-duplicate-name, #5)`
fn remarks(facts: &Facts, (group, found): (&Group, &Found)) -> String {
    let count = facts.counts.findings;
    let word = found.severity.as_str();
    let is_error = found.severity == Severity::Error;
    let a = if is_error { "an" } else { "a" };
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
    let version = facts.session.version().unwrap_or("no version");
    let took = facts.session.handshake_ns;
    let took = took.map_or_else(String::new, |ns| format!(" in {}", duration(ns)));
    let text = format!("the two agreed on {}{took}", quote::text(version));
    Some(Evidence::new(Place::Frame(opened.request.0), text))
}
