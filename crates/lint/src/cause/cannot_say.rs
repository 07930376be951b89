//! The recording does not show enough.

use super::facts::Facts;
use super::{Cause, Certainty, Evidence, Kind, Place, words};
use mcpreel_trace::event::EventKind;
use mcpreel_trace::session::End;
use mcpreel_wire::text::{plural, size};

pub(super) const KIND: Kind = Kind::new("cannot-say", find);

fn find(facts: &Facts) -> Option<Cause> {
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
    let cause = Cause::new(KIND.id, Certainty::Possible, sentence).advise(advice);
    let gap = (counts.gap_bytes > 0).then(|| {
        let text = format!("{} are not on record", size(counts.gap_bytes));
        Evidence::new(Place::Session, text)
    });
    let cause = cause.shown(gap).shown(complaints(facts));
    Some(cause.shown(words::stderr(facts, 3)))
}

/// What the host's own log complains of last, where the recording was made from one.
fn complaints(facts: &Facts) -> Vec<Evidence> {
    let complains = |kind: &EventKind| matches!(kind, EventKind::HostLog { level, .. } if ["warn", "error"].contains(&&**level));
    let all: Vec<_> = facts.events_that(complains).collect();
    let last = all.iter().skip(all.len().saturating_sub(3));
    let evidence = last.filter_map(|event| match &event.kind {
        EventKind::HostLog { message, .. } => {
            let (after, t) = (event.after_seq, event.t);
            let text = format!("the host's log: {}", words::noted(message));
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
