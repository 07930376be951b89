//! What is only odd, and what is said where nothing is wrong or nothing can be said.

use super::facts::{Facts, Found, Group};
use super::{Cause, Certainty, Evidence, Place, named, phrases};
use crate::{Severity, quote, rule};
use mcpreel_trace::event::EventKind;
use mcpreel_trace::session::End;
use mcpreel_wire::text::{duration, plural, size};

/// A tool's definition makes hosts drop the tool, or all of them.
pub(super) fn bad_schema_hides_tools(facts: &Facts) -> Option<Cause> {
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
        phrases::or_more(group),
        first.detail
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
    let group = facts.found(named::LIST_CHANGED_IGNORED)?;
    let first = group.first.first()?;
    let sentence = format!(
        "the server said {} that a list had changed, and the host did not list it again: {}",
        phrases::times_found(group),
        first.detail
    );
    let cause = Cause::new(Certainty::Likely, sentence).advise(
        "The host goes on with the old list: reload the server there after a change, or have all \
         tools there from the start.",
    );
    Some(cause.shown(phrases::findings(group)))
}

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

/// A side breaks the protocol in a way that no other cause explains.
pub(super) fn protocol_broken(facts: &Facts) -> Option<Cause> {
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
    let cause = Cause::new(Certainty::Possible, sentence)
        .advise(fix.unwrap_or("The findings of the recording name each place."));
    let shown = broken
        .iter()
        .map(|(group, found)| phrases::finding(&group.rule, found));
    let others = broken
        .iter()
        .flat_map(|(group, _)| phrases::findings(group));
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

/// The recording does not show enough.
pub(super) fn cannot_say(facts: &Facts) -> Option<Cause> {
    let why = why(facts)?;
    let counts = &facts.counts;
    let looked = format!(
        "{}, {}, {}, {}",
        plural(counts.frames, "frame"),
        plural(counts.exchanges, "request"),
        plural(counts.findings, "finding"),
        plural(facts.events.len() as u64, "event")
    );
    let sentence = format!("cannot say what is wrong, if anything is: {why}; looked at {looked}");
    let advice = if facts.context.selection.is_some() {
        "Look at the recording that it was made from, or ask whoever made it for all of it."
    } else if facts.is_short {
        "Its recorder still writes, or was killed, or this is a copy of a part: the rest stands in a \
         spool beside the original. `--dir` with the folder of that lets mcpreel complete it."
    } else {
        "Record the session again to its end, with whatever goes wrong in it."
    };
    let cause = Cause::new(Certainty::Possible, sentence).advise(advice);
    let gap = (counts.gap_bytes > 0).then(|| {
        let text = format!("{} are not on record", size(counts.gap_bytes));
        Evidence::new(Place::Session, text)
    });
    let cause = cause.shown(gap).shown(complaints(facts));
    Some(cause.shown(phrases::stderr(facts, 3)))
}

/// What the host's own log complains of last, where the recording was made from one.
fn complaints(facts: &Facts) -> Vec<Evidence> {
    let complains = |kind: &EventKind| matches!(kind, EventKind::HostLog { level, .. } if ["warn", "error"].contains(&&**level));
    let all: Vec<_> = facts.events_that(complains).collect();
    let last = all.iter().skip(all.len().saturating_sub(3));
    let evidence = last.filter_map(|event| match &event.kind {
        EventKind::HostLog { message, .. } => {
            let (after, t) = (event.after_seq, event.t);
            let text = format!("the host's log: {}", phrases::noted(message));
            Some(Evidence::new(Place::Event { after, t }, text))
        }
        _ => None,
    });
    evidence.collect()
}

fn why(facts: &Facts) -> Option<&'static str> {
    match facts.end() {
        _ if facts.context.selection.is_some() => Some("only a part of the session is in it"),
        _ if facts.is_partial() => Some("a part of the session is not on record"),
        Some(End::Unknown) if !facts.ended_somehow() => {
            Some("the recording ends before the server did")
        }
        _ if facts.is_short => Some("the recording stops in the middle of the session"),
        _ if facts.counts.messages > 0 => None,
        None => Some("there are no messages yet"),
        Some(_) => Some("there are no messages"),
    }
}

const SLOW: usize = 2;

const READ: &str = "See whether a finding fits what you have noticed. ";

/// The Python SDK up to 1.x gives up so, and sends its next request.
const GIVEN_UP: &str = "Some clients give up a slow call without telling the server: see whether \
                        this host waits for less than what took long here. ";

/// Nothing is wrong.
#[expect(
    clippy::unnecessary_wraps,
    reason = "it is asked like every other kind of cause"
)]
pub(super) fn nothing_wrong(facts: &Facts) -> Option<Cause> {
    let ended = match facts.end() {
        None => "the session goes on".to_owned(),
        Some(end @ (End::Exited { code: 0 } | End::Killed { .. })) => match facts.host_left() {
            Some(_) => format!("the server {} after the host had left", phrases::ended(end)),
            None => format!("the server {}", phrases::ended(end)),
        },
        Some(end) => format!("the server {}", phrases::ended(end)),
    };
    let worst = worst(facts);
    let remarks = worst.map_or_else(String::new, |worst| remarks(facts, worst));
    let answered = answered(facts);
    let sentence = format!("nothing wrong was found{remarks}: {answered}, none failed; {ended}");
    let (read, slow) = (worst.map(|_| READ), slow(facts));
    let given_up = slow.first().map(|_| GIVEN_UP);
    let advice = [read, given_up].into_iter().flatten().collect::<String>();
    let cause = Cause::new(Certainty::Likely, sentence).advise(format!(
        "{advice}If something is wrong all the same, it is not between these two: look at what the \
         host does with the answers, or note when it happened and look at that moment."
    ));
    let cause = cause.shown(worst.map(|(group, found)| phrases::finding(&group.rule, found)));
    let others = slow
        .into_iter()
        .filter(|slow| worst.is_none_or(|(_, worst)| !std::ptr::eq(worst, *slow)));
    let cause = cause.shown(others.map(|found| phrases::finding(named::REQUEST_SLOW, found)));
    let cause = cause.shown(handshake(facts)).shown(phrases::leaving(facts));
    Some(cause.shown(phrases::end_of(facts)))
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
