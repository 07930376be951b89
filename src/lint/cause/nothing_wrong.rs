//! Nothing is wrong.

use super::facts::Facts;
use super::{Cause, Certainty, Evidence, Kind, Place, words};
use crate::lint::quote;
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
    let remarks = match facts.counts.findings {
        0 => String::new(),
        findings => format!("; `mcpreel lint` has {}", plural(findings, "remark")),
    };
    let asked = plural(facts.counts.exchanges, "request");
    let answered = match facts.untracked.count {
        0 => format!("{answered} of {asked} answered{open}"),
        _ => format!("of {asked} not all were followed{open}"),
    };
    let sentence =
        format!("nothing wrong was found: {answered}, none failed; {ended}{remarks}");
    let cause = Cause::new(KIND.id, Certainty::Likely, sentence).advise(
        "If something is wrong all the same, it is not between these two: look at what the host does \
         with the answers, or note when it happened and look at that moment.",
    );
    let cause = cause.shown(handshake(facts)).shown(words::leaving(facts));
    Some(cause.shown(words::end_of(facts)))
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
