//! Causes that rules alone tell, and the answers where nothing is wrong or nothing can be said.

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
    let advice = "Give the root of every inputSchema \"type\": \"object\", no oneOf, anyOf, allOf or outside \
                  reference, and keep names to letters, digits, \"_\", \".\" and \"-\".";
    Some(Cause::new(certainty, sentence, advice).shown(phrases::findings(group)))
}

/// The server said that a list had changed, and the host did not ask for it.
pub(super) fn list_change_ignored(facts: &Facts) -> Option<Cause> {
    let group = facts.found("list-changed-ignored")?;
    let sentence = format!(
        "the server announced {}{} that a list had changed, and the host did not fetch it again: {}",
        phrases::times(group.count),
        phrases::or_more(group),
        group.first.first()?.detail
    );
    let advice =
        "The host keeps the old list: reload the server there, or have all tools from the start.";
    Some(Cause::new(Likely, sentence, advice).shown(phrases::findings(group)))
}

/// Rules whose findings are errors that other causes tell, each in its own words.
pub(super) const TOLD: [&str; 12] = [
    "frame-content-length",
    "frame-embedded-newline",
    "frame-not-json",
    "frame-not-object",
    "frame-truncated",
    "http-no-answer",
    "request-lost",
    "process-not-started",
    "process-stdout-closed-early",
    "rpc-unclassifiable",
    "tool-input-schema-invalid",
    "tool-schema-hides-tools",
];

/// A side breaks the protocol in a way that no other cause explains.
pub(super) fn protocol_broken(facts: &Facts) -> Option<Cause> {
    worst_findings(facts, Severity::Error, "the protocol was broken")
}

/// No call failed, and rules warn all the same.
pub(super) fn only_warnings(facts: &Facts) -> Option<Cause> {
    worst_findings(
        facts,
        Severity::Warning,
        "no call failed, but there is a warning",
    )
}

/// What rules find of this severity, the first finding in a sentence that begins with `what`.
fn worst_findings(facts: &Facts, severity: Severity, what: &str) -> Option<Cause> {
    // Of a line that is no message every rule about messages has something to say.
    let is_noise = |found: &Found| facts.noise.iter().any(|line| Some(line.seq) == found.frame);
    let tells = |found: &&Found| found.severity == severity && !is_noise(found);
    let groups = facts.findings.iter();
    let groups = groups.filter(|group| !TOLD.contains(&&*group.rule));
    let broken = groups.filter_map(|group| Some((group, group.first.iter().find(tells)?)));
    let mut broken: Vec<_> = broken.collect();
    broken.sort_by_key(|(_, found)| found.frame.map_or(u64::MAX, |seq| seq.0));
    let &(group, first) = broken.first()?;
    let more = phrases::if_any(broken.len() as u64 - 1, |more| {
        format!("; {} too", plural(more, "other rule"))
    });
    let known = rule(&group.rule)?;
    let place = first.frame.or(first.related.first().copied());
    let place = place.map_or_else(String::new, |seq| format!(" in #{}", seq.0));
    let sentence = format!(
        "{what}{place}{}: {}: {} ({}){more}",
        phrases::at_path(first),
        known.summary,
        first.detail,
        known.id
    );
    let shown = broken
        .iter()
        .map(|(group, found)| phrases::finding(&group.rule, found));
    Some(Cause::new(Possible, sentence, known.fix).shown(shown))
}

/// The recording does not show enough.
pub(super) fn cannot_say(facts: &Facts) -> Option<Cause> {
    let why = match facts.end() {
        _ if facts.context.selection.is_some() => "only a part of the session is in it",
        _ if facts.is_partial() => "a part of the session is not on record",
        _ if facts.counts.failed > before_login(facts) => {
            "something failed, and nothing on record says why"
        }
        Some(End::Unknown) if facts.is_cut_off() => "the recorder was killed in the session",
        // A server behind a URL lives on when nobody records it.
        Some(End::Unknown) if !facts.ended_somehow() && facts.context.url.is_none() => {
            "the recording ends before the server did"
        }
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
    let advice = if facts.is_cut_off() {
        phrases::CUT_OFF
    } else if facts.is_short {
        "The recorder still writes, was killed, or this is a copy: the rest is in the spool beside the \
         original. `--dir` with its folder lets mcpreel complete it."
    } else {
        "Look at the original recording, or record the failing session again to its end."
    };
    let gap = (counts.gap_bytes > 0).then(|| {
        let text = format!("{} are not on record", size(counts.gap_bytes));
        Evidence::new(Place::Session, text)
    });
    let cause = Cause::new(Possible, sentence, advice).shown(gap);
    let cause = cause.shown(complaints(facts));
    Some(cause.shown(phrases::stderr(facts, None, 3)))
}

/// The last complaints in the host's own log, where the recording was made from one.
fn complaints(facts: &Facts) -> Vec<Evidence> {
    let complaint = |event: &Event| match &event.kind {
        EventKind::HostLog { level, message, .. } if ["warn", "error"].contains(&&**level) => {
            let text = format!("the host's log: {}", phrases::noted(message));
            Some(phrases::event(event, text))
        }
        _ => None,
    };
    let complaints = facts.events.iter().rev().filter_map(complaint);
    let mut last: Vec<_> = complaints.take(3).collect();
    last.reverse();
    last
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "every kind of cause has this type"
)]
pub(super) fn nothing_wrong(facts: &Facts) -> Option<Cause> {
    let after = phrases::after_host(facts);
    let ended = match (facts.end(), facts.host_left()) {
        (None, None) => "the session goes on".to_owned(),
        (None, Some(left)) => format!("the server goes on {}{after}", duration(facts.since(left))),
        (Some(End::Unknown), _) if facts.context.url.is_some() => "the proxy was ended".to_owned(),
        (Some(end), _) => format!("{} {}{after}", phrases::server(facts), phrases::ended(end)),
    };
    let worst = worst(facts);
    let notes = phrases::if_any(facts.counts.findings, |count| {
        format!("; rules have {}", plural(count, "note"))
    });
    let answered = answered(facts);
    // The Python SDK up to 1.x gives up a slow call so, and sends its next request.
    let advice = "If there is a problem all the same, look at the findings and the slow calls: the \
                  host may have given one up. Then check what the host does with the answers.";
    let slow = facts.found("request-slow").into_iter();
    let slow = slow.flat_map(|group| phrases::findings(group).take(2));
    let failed = match before_login(facts) {
        0 => "none failed".to_owned(),
        n => format!("{n} of them with 401 before the client got a token, none failed after that"),
    };
    let sentence = format!("nothing wrong was found: {answered}, {failed}; {ended}{notes}");
    let cause = Cause::new(Likely, sentence, advice)
        .shown(worst.map(|(group, found)| phrases::finding(&group.rule, found)))
        .shown(slow)
        .shown(handshake(facts))
        .shown(phrases::leaving(facts));
    Some(cause.shown(phrases::end_of(facts)))
}

/// How many requests failed because they had no token, or one that had expired, before others were served.
fn before_login(facts: &Facts) -> u64 {
    let refused = facts.https.refused.iter();
    let before = refused.filter(|one| {
        one.status == Some(401) && one.has_messages && one.id < facts.https.last_served
    });
    before.count() as u64
}

/// `14 of 15 requests answered, 1 open at the end`
fn answered(facts: &Facts) -> String {
    let (open, left) = (facts.open.count, facts.unanswered.count + facts.lost.count);
    let answered = facts.counts.exchanges.saturating_sub(open + left);
    let open = match (facts.open.exchanges.first(), left) {
        (None, 0) => String::new(),
        (None, left) => format!(", {left} open at the end"),
        (Some(first), _) => {
            let (call, age) = (phrases::call_at(first), facts.since(first.t_request));
            format!(", {open} in flight: {call} for {}", duration(age))
        }
    };
    let asked = plural(facts.counts.exchanges, "request");
    let by_user = facts.cancelled_by_user;
    let answered = answered.saturating_sub(by_user);
    let open = phrases::if_any(by_user, |n| format!(", {n} cancelled by the user")) + &open;
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

fn handshake(facts: &Facts) -> Option<Evidence> {
    let opened = facts.opened()?;
    let version = facts.session.version().unwrap_or("no version");
    let text = format!("protocol version {}", quote::text(version));
    Some(Evidence::new(Place::Frame(opened.request.0), text))
}
