//! The two sides speak different versions, or different eras, of the protocol.

use super::facts::Facts;
use super::{Cause, Certainty, Kind, named, words};
use crate::quote;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_wire::text::duration;

pub(super) const KIND: Kind = Kind::new("version-mismatch", find);

/// Who does not like a version leaves soon after it was told, nanoseconds.
const SOON_NS: u64 = 5_000_000_000;

fn find(facts: &Facts) -> Option<Cause> {
    refused(facts)
        .or_else(|| probe_failed(facts))
        .or_else(|| left(facts))
        .or_else(|| mixed(facts))
}

/// `initialize`, or the probe, was answered with an error about the version.
fn refused(facts: &Facts) -> Option<Cause> {
    if facts.opened().is_some() {
        return None;
    }
    let is_refusal = |exchange: &&Exchange| {
        let said = exchange.summary.to_ascii_lowercase();
        let code = exchange.code.as_deref();
        exchange.status == Status::Error && (code == Some("-32022") || said.contains("version"))
    };
    let exchange = facts.opening.iter().rev().find(is_refusal)?;
    let asked = facts.session.version_asked.as_deref().unwrap_or("unknown");
    let sentence = format!(
        "the server refused version {} of the protocol in answer to {}: {}",
        quote::text(asked),
        words::call_at(exchange),
        words::answer(exchange).unwrap_or_default()
    );
    let cause = Cause::certain(KIND.id, sentence).advise(
        "Bring the older of the two sides up to date, or let the client offer a version that the \
         server names in its error.",
    );
    Some(cause.shown_call(exchange).shown(words::leaving(facts)))
}

/// The probe for the newer era failed, and nobody tried the older one. Some clients probe with a
/// process of its own and go on with another: whoever left may have done so.
fn probe_failed(facts: &Facts) -> Option<Cause> {
    let tried = facts.openings("initialize").next().is_some();
    let probe = facts.openings("server/discover").last()?;
    if tried || facts.opened().is_some() || facts.went_on() {
        return None;
    }
    let (how, certainty) = unanswered(facts, probe)?;
    let (then, certainty, advice) = match facts.host_left() {
        Some(_) => ("left", Certainty::Possible, ELSEWHERE),
        None => ("did not fall back to `initialize`", certainty, FALL_BACK),
    };
    let sentence = format!(
        "the client asked with {} whether the server speaks the newer era, which {how}, and it {then}",
        words::call_at(probe)
    );
    let cause = Cause::new(KIND.id, certainty, sentence).advise(advice);
    Some(cause.shown_call(probe).shown(words::leaving(facts)))
}

/// What to do where the client stayed.
const FALL_BACK: &str = "The server knows the older era only: let the client fall back to \
                         `initialize` at any error and after silence, or bring the server up to date.";

const ELSEWHERE: &str = "Look for a recording of the same server that began right after: some \
                         clients ask in a process of its own and go on in another. If there is \
                         none, the client did not fall back to `initialize`, as it should at any \
                         error and after silence.";

/// How a probe ended that was not answered with a result, and how sure that is its end.
fn unanswered(facts: &Facts, probe: &Exchange) -> Option<(String, Certainty)> {
    match probe.status {
        Status::Error => {
            let answer = words::answer(probe).unwrap_or_default();
            Some((format!("was answered with {answer}"), Certainty::Certain))
        }
        Status::Open | Status::Unanswered | Status::Cancelled if waited(facts, probe) > SOON_NS => {
            let waited = duration(waited(facts, probe));
            Some((format!("had no answer for {waited}"), Certainty::Likely))
        }
        _ => None,
    }
}

fn waited(facts: &Facts, probe: &Exchange) -> u64 {
    facts.since(probe.t_request)
}

/// The server named another version, and the client left.
fn left(facts: &Facts) -> Option<Cause> {
    let session = &facts.session;
    let (asked, agreed) = (
        session.version_asked.as_deref()?,
        session.version_agreed.as_deref()?,
    );
    let initialize = facts
        .openings("initialize")
        .find(|one| one.response.is_some())?;
    let told = initialize.t_response_last?;
    if asked == agreed || facts.went_on() || !facts.host_left_after(told, SOON_NS) {
        return None;
    }
    let sentence = format!(
        "the client asked for version {}, the server answered with {}, and the client left",
        quote::text(asked),
        quote::text(agreed)
    );
    let cause = Cause::new(KIND.id, Certainty::Likely, sentence).advise(
        "The client does not speak that version: bring the older of the two up to date. A server \
         should answer with the version that was asked for if it knows it.",
    );
    Some(cause.shown_call(initialize).shown(words::leaving(facts)))
}

/// Requests of one era went to a server that serves the other.
fn mixed(facts: &Facts) -> Option<Cause> {
    let group = facts.found(named::ERA_MIXED)?;
    if facts.failed.is_empty() {
        return None;
    }
    let sentence = "requests of both eras of the protocol were sent on one connection, and some of \
                    them failed";
    let cause = Cause::new(KIND.id, Certainty::Possible, sentence).advise(
        "A server may decide for one era at the first request: let the client keep to the era that \
         was agreed on.",
    );
    Some(cause.shown(words::findings(group)))
}
