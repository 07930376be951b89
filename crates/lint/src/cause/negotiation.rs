//! The two sides do not come together: versions, and handshakes that are not finished.

use super::Certainty::{Certain, Likely, Possible};
use super::facts::Facts;
use super::{Cause, SECOND_NS, phrases, shutdown, streams};
use crate::quote;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::session::End;
use mcpreel_wire::text::duration;

/// Nobody needs longer for the next step of a handshake unless something is wrong, nor to leave
/// after a version that does not suit, nanoseconds.
const PATIENCE_NS: u64 = 5 * SECOND_NS;

/// The two sides speak different versions, or different eras, of the protocol.
pub(super) fn version_mismatch(facts: &Facts) -> Option<Cause> {
    version_refused(facts)
        .or_else(|| probe_failed(facts))
        .or_else(|| left_at_version(facts))
        .or_else(|| mixed_eras(facts))
}

/// `initialize`, or the probe, was answered with an error about the version.
fn version_refused(facts: &Facts) -> Option<Cause> {
    let is_refusal = |exchange: &&Exchange| {
        let said = exchange.summary.to_ascii_lowercase();
        let code = exchange.code.as_deref();
        exchange.status == Status::Error && (code == Some("-32022") || said.contains("version"))
    };
    let exchange = facts.opening.iter().rev().find(is_refusal)?;
    if facts.opened().is_some() {
        return None;
    }
    let asked = facts.session.version_asked.as_deref().unwrap_or("unknown");
    let sentence = format!(
        "the server refused version {} of the protocol in answer to {}: {}",
        quote::text(asked),
        phrases::call_at(exchange),
        phrases::answer(exchange)
    );
    let cause = Cause::new(Certain, sentence)
        .advise(
            "Bring the older of the two sides up to date, or let the client offer a version that \
             the server names in its error.",
        )
        .shown_call(exchange)
        .shown(phrases::leaving(facts));
    Some(cause)
}

/// The probe for the newer era failed, and nobody tried the older one.
fn probe_failed(facts: &Facts) -> Option<Cause> {
    let tried = facts.openings("initialize").next().is_some();
    let probe = facts.openings("server/discover").last()?;
    if tried || facts.opened().is_some() || facts.went_on() {
        return None;
    }
    let waited = facts.since(probe.t_request);
    let (how, certainty) = match probe.status {
        Status::Error => (
            format!("was answered with {}", phrases::answer(probe)),
            Certain,
        ),
        Status::Open | Status::Unanswered | Status::Cancelled if waited > PATIENCE_NS => {
            (format!("had no answer for {}", duration(waited)), Likely)
        }
        _ => return None,
    };
    // Some clients probe with a process of its own and go on with another.
    let (then, certainty, advice) = match facts.host_left() {
        Some(_) => (
            "left",
            Possible,
            "Look for a recording of the same server that began right after: some clients ask in a \
             process of its own and go on in another. If there is none, the client did not fall \
             back to `initialize`, as it should at any error and after silence.",
        ),
        None => (
            "did not fall back to `initialize`",
            certainty,
            "The server knows the older era only: let the client fall back to `initialize` at any \
             error and after silence, or bring the server up to date.",
        ),
    };
    let sentence = format!(
        "the client asked with {} whether the server speaks the newer era, which {how}, and it {then}",
        phrases::call_at(probe)
    );
    let cause = Cause::new(certainty, sentence).advise(advice);
    Some(cause.shown_call(probe).shown(phrases::leaving(facts)))
}

/// The server named another version, and the client left.
fn left_at_version(facts: &Facts) -> Option<Cause> {
    let asked = facts.session.version_asked.as_deref()?;
    let agreed = facts.session.version_agreed.as_deref()?;
    let initialize = facts
        .openings("initialize")
        .find(|one| one.response.is_some())?;
    let left = facts.host_left_after(initialize.t_response_last?, PATIENCE_NS);
    if asked == agreed || facts.went_on() || !left {
        return None;
    }
    let sentence = format!(
        "the client asked for version {}, the server answered with {}, and the client left",
        quote::text(asked),
        quote::text(agreed)
    );
    let cause = Cause::new(Likely, sentence).advise(
        "The client does not speak that version: bring the older of the two up to date. A server \
         should answer with the version that was asked for if it knows it.",
    );
    Some(cause.shown_call(initialize).shown(phrases::leaving(facts)))
}

/// Requests of one era went to a server that serves the other.
fn mixed_eras(facts: &Facts) -> Option<Cause> {
    let group = facts
        .found("era-mixed")
        .filter(|_| !facts.failed.is_empty())?;
    let sentence = "requests of both eras of the protocol were sent on one connection, and some of \
                    them failed";
    let cause = Cause::new(Possible, sentence).advise(
        "A server may decide for one era at the first request: let the client keep to the era that \
         was agreed on.",
    );
    Some(cause.shown(phrases::findings(group)))
}

/// The advice where the host did not wait.
const IMPATIENT: &str = "The host waited for less than the server needs to start, or was closed \
                         itself: try again, and look into its log.";

/// The handshake was not finished.
pub(super) fn handshake_unfinished(facts: &Facts) -> Option<Cause> {
    let others = [
        version_mismatch,
        shutdown::answered_at_exit,
        streams::pretty_printed,
        streams::content_length_framing,
    ];
    if matches!(facts.end(), Some(End::NotStarted { .. }))
        || others.iter().any(|other| other(facts).is_some())
    {
        return None;
    }
    let cause = match (facts.opening.last(), facts.opened()) {
        (None, _) => silent_host(facts)?,
        (Some(_), _) if facts.went_on() => return None,
        (Some(_), Some(opened)) => {
            too_late(facts, opened).or_else(|| unconfirmed(facts, opened))?
        }
        (Some(last), None) => unopened(facts, last)?,
    };
    let cause = cause.shown(phrases::leaving(facts));
    Some(cause.shown(phrases::stderr(facts, 2)))
}

fn silent_host(facts: &Facts) -> Option<Cause> {
    let spawned = facts.session.spawned?;
    let is_silent = facts.session.first_byte.c2s.is_none() && facts.counts.exchanges == 0;
    // A server that died has its own cause, and who has just been started has said nothing yet.
    let left = facts.host_left();
    if !is_silent || left.is_none() && !(facts.is_live && facts.since(spawned) > PATIENCE_NS) {
        return None;
    }
    let waited = duration(left.unwrap_or(facts.now).ns_since(spawned));
    let sentence = match left {
        Some(_) => format!("the host started the server, sent nothing in {waited} and then left"),
        None => format!("the host started the server and has sent nothing in {waited}"),
    };
    Some(Cause::new(Certain, sentence).advise(
        "It is the host's turn: look into its own log. Some hosts start a server once to see \
         whether it starts at all.",
    ))
}

/// The server did not answer, or refused.
fn unopened(facts: &Facts, last: &Exchange) -> Option<Cause> {
    use Status::{Cancelled, Error, Lost, Open, Unanswered};
    let waited_ns = facts
        .told_to_end()
        .unwrap_or(facts.now)
        .ns_since(last.t_request);
    let (call, waited) = (phrases::call_at(last), duration(waited_ns));
    let other_id = phrases::other_id(facts, last);
    let cause = match last.status {
        Open | Unanswered | Cancelled if facts.may_be_hidden(last) => return None,
        // A server that was told to go did not go by itself.
        Lost if !facts.was_told_to_end() => return None,
        Error => {
            let answer = phrases::answer(last);
            let sentence =
                format!("the server refused the handshake: {call} was answered with {answer}");
            Cause::new(Certain, sentence).advise(
                "Look at what the client sent in it, and at what the server says on stderr.",
            )
        }
        Open | Unanswered | Cancelled | Lost if waited_ns > PATIENCE_NS && !facts.is_short => {
            let instead = other_id.as_ref().map_or("", |other| &other.said);
            let sentence = format!("the server never answered {call} in {waited}{instead}");
            Cause::new(Certain, sentence).advise(other_id.as_ref().map_or(
                "The server runs but does not answer: look whether it reads its stdin, buffers its \
                 stdout without flushing it, or is still busy starting.",
                |other| other.advice,
            ))
        }
        Unanswered | Cancelled | Lost if facts.was_told_to_end() => {
            let sentence = format!(
                "the host left {waited} after it had sent {call}, before there was an answer"
            );
            Cause::new(Likely, sentence).advise(IMPATIENT)
        }
        _ => return None,
    };
    Some(
        cause
            .shown_call(last)
            .shown(other_id.map(|other| other.evidence)),
    )
}

/// The host did not wait for the answer.
fn too_late(facts: &Facts, opened: &Exchange) -> Option<Cause> {
    let (left, answered) = (facts.host_left()?, opened.t_response_last?);
    let sentence = format!(
        "the host left {} after it had sent {}; the answer came {} later",
        duration(left.ns_since(opened.t_request)),
        phrases::call_at(opened),
        duration(answered.ns_since(left))
    );
    let cause = Cause::new(Likely, sentence).advise(IMPATIENT);
    (left < answered).then(|| cause.shown_call(opened))
}

/// The client did not go on after the answer.
fn unconfirmed(facts: &Facts, opened: &Exchange) -> Option<Cause> {
    let waited = facts.since(opened.t_response_last?);
    if &*opened.method != "initialize"
        || (facts.host_left().is_none() && waited <= PATIENCE_NS)
        || facts.end() == Some(&End::Unknown)
        || facts.is_short
    {
        return None;
    }
    let sentence = format!(
        "the client did not go on after the server had answered {}: it never sent \
         notifications/initialized",
        phrases::call_at(opened)
    );
    let cause = Cause::new(Likely, sentence).advise(
        "Something in the answer did not suit the client, or it only wanted to see whether the \
         server starts: look at the version and the capabilities in the answer, and into the host's \
         log.",
    );
    Some(cause.shown_call(opened))
}
