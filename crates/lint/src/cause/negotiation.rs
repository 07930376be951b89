//! The two sides do not come together: versions, and handshakes that are not finished.

use super::facts::Facts;
use super::phrases::{self, OtherId};
use super::{Cause, Certainty, named, shutdown, streams};
use crate::quote;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::session::End;
use mcpreel_wire::text::duration;

/// Who does not like a version leaves soon after it was told, nanoseconds.
const SOON_NS: u64 = 5_000_000_000;

/// The two sides speak different versions, or different eras, of the protocol.
pub(super) fn version_mismatch(facts: &Facts) -> Option<Cause> {
    version_refused(facts)
        .or_else(|| probe_failed(facts))
        .or_else(|| left(facts))
        .or_else(|| mixed(facts))
}

/// `initialize`, or the probe, was answered with an error about the version.
fn version_refused(facts: &Facts) -> Option<Cause> {
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
        phrases::call_at(exchange),
        phrases::answer(exchange).unwrap_or_default()
    );
    let cause = Cause::certain(sentence).advise(
        "Bring the older of the two sides up to date, or let the client offer a version that the \
         server names in its error.",
    );
    Some(cause.shown_call(exchange).shown(phrases::leaving(facts)))
}

/// The probe for the newer era failed, and nobody tried the older one. Some clients probe with a
/// process of its own and go on with another: whoever left may have done so.
fn probe_failed(facts: &Facts) -> Option<Cause> {
    let tried = facts.openings("initialize").next().is_some();
    let probe = facts.openings("server/discover").last()?;
    if tried || facts.opened().is_some() || facts.went_on() {
        return None;
    }
    let (how, certainty) = probe_end(facts, probe)?;
    let (then, certainty, advice) = match facts.host_left() {
        Some(_) => ("left", Certainty::Possible, ELSEWHERE),
        None => ("did not fall back to `initialize`", certainty, FALL_BACK),
    };
    let sentence = format!(
        "the client asked with {} whether the server speaks the newer era, which {how}, and it {then}",
        phrases::call_at(probe)
    );
    let cause = Cause::new(certainty, sentence).advise(advice);
    Some(cause.shown_call(probe).shown(phrases::leaving(facts)))
}

/// What to do where the client stayed.
const FALL_BACK: &str = "The server knows the older era only: let the client fall back to \
                         `initialize` at any error and after silence, or bring the server up to date.";

const ELSEWHERE: &str = "Look for a recording of the same server that began right after: some \
                         clients ask in a process of its own and go on in another. If there is \
                         none, the client did not fall back to `initialize`, as it should at any \
                         error and after silence.";

/// How a probe ended that was not answered with a result, and how sure that is its end.
fn probe_end(facts: &Facts, probe: &Exchange) -> Option<(String, Certainty)> {
    match probe.status {
        Status::Error => {
            let answer = phrases::answer(probe).unwrap_or_default();
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
    let cause = Cause::new(Certainty::Likely, sentence).advise(
        "The client does not speak that version: bring the older of the two up to date. A server \
         should answer with the version that was asked for if it knows it.",
    );
    Some(cause.shown_call(initialize).shown(phrases::leaving(facts)))
}

/// Requests of one era went to a server that serves the other.
fn mixed(facts: &Facts) -> Option<Cause> {
    let group = facts.found(named::ERA_MIXED)?;
    if facts.failed.is_empty() {
        return None;
    }
    let sentence = "requests of both eras of the protocol were sent on one connection, and some of \
                    them failed";
    let cause = Cause::new(Certainty::Possible, sentence).advise(
        "A server may decide for one era at the first request: let the client keep to the era that \
         was agreed on.",
    );
    Some(cause.shown(phrases::findings(group)))
}

/// Nobody needs longer for the next step of a handshake, unless something is wrong, nanoseconds.
const PATIENCE_NS: u64 = 5_000_000_000;

/// What to do where the host did not wait.
const IMPATIENT: &str = "The host waited for less than the server needs to start, or was closed \
                         itself: try again, and look into its log.";

/// The handshake was not finished.
pub(super) fn handshake_unfinished(facts: &Facts) -> Option<Cause> {
    let is_told = || {
        version_mismatch(facts)
            .or_else(|| shutdown::answered_at_exit(facts))
            .or_else(|| streams::pretty_printed(facts))
            .or_else(|| streams::content_length_framing(facts))
            .is_some()
    };
    if matches!(facts.end(), Some(End::NotStarted { .. })) || is_told() {
        return None;
    }
    let cause = match facts.opening.last() {
        None => silent_host(facts)?,
        Some(_) if facts.went_on() => return None,
        Some(last) => match facts.opened() {
            Some(opened) => too_late(facts, opened).or_else(|| unconfirmed(facts, opened))?,
            None => unopened(facts, last)?,
        },
    };
    let cause = cause.shown(phrases::leaving(facts));
    Some(cause.shown(phrases::stderr(facts, 2)))
}

fn silent_host(facts: &Facts) -> Option<Cause> {
    let spawned = facts.session.spawned?;
    let is_silent = facts.session.first_byte.c2s.is_none() && facts.counts.exchanges == 0;
    // A server that died has its own cause, and who has just been started has said nothing yet.
    let is_over = facts.host_left().is_some();
    if !is_silent || !(is_over || facts.is_live && facts.since(spawned) > PATIENCE_NS) {
        return None;
    }
    let until = facts.host_left().unwrap_or(facts.now);
    let waited = duration(until.0.saturating_sub(spawned.0));
    let sentence = if is_over {
        format!("the host started the server, sent nothing in {waited} and then left")
    } else {
        format!("the host started the server and has sent nothing in {waited}")
    };
    Some(Cause::certain(sentence).advise(
        "It is the host's turn: look into its own log. Some hosts start a server once to see \
         whether it starts at all.",
    ))
}

/// The server did not answer, or refused.
fn unopened(facts: &Facts, last: &Exchange) -> Option<Cause> {
    let until = facts.told_to_end().unwrap_or(facts.now);
    let waited_ns = until.0.saturating_sub(last.t_request.0);
    let other_id = phrases::other_id(facts, last);
    let cause = match last.status {
        Status::Open | Status::Unanswered | Status::Cancelled if facts.may_be_hidden(last) => {
            return None;
        }
        // Whoever was told to go did not go by itself.
        Status::Lost if !facts.was_told_to_end() => return None,
        Status::Error => refused(last),
        Status::Open | Status::Unanswered | Status::Cancelled | Status::Lost
            if waited_ns > PATIENCE_NS && !facts.is_short =>
        {
            unanswered(last, waited_ns, other_id.as_ref())
        }
        Status::Unanswered | Status::Cancelled | Status::Lost if facts.was_told_to_end() => {
            let sentence = format!(
                "the host left {} after it had sent {}, before there was an answer",
                duration(waited_ns),
                phrases::call_at(last)
            );
            Cause::new(Certainty::Likely, sentence).advise(IMPATIENT)
        }
        _ => return None,
    };
    let cause = cause.shown_call(last);
    Some(cause.shown(other_id.map(|other| other.evidence)))
}

fn refused(last: &Exchange) -> Cause {
    let sentence = format!(
        "the server refused the handshake: {} was answered with {}",
        phrases::call_at(last),
        phrases::answer(last).unwrap_or_default()
    );
    Cause::certain(sentence)
        .advise("Look at what the client sent in it, and at what the server says on stderr.")
}

fn unanswered(last: &Exchange, waited_ns: u64, other_id: Option<&OtherId>) -> Cause {
    let instead = other_id.map_or("", |other| &other.said);
    let sentence = format!(
        "the server never answered {} in {}{instead}",
        phrases::call_at(last),
        duration(waited_ns)
    );
    Cause::certain(sentence).advise(other_id.map_or(
        "The server runs but does not answer: look whether it reads its stdin, buffers its stdout \
         without flushing it, or is still busy starting.",
        |other| other.advice,
    ))
}

/// The host did not wait for the answer.
fn too_late(facts: &Facts, opened: &Exchange) -> Option<Cause> {
    let (left, answered) = (facts.host_left()?, opened.t_response_last?);
    if left >= answered {
        return None;
    }
    let sentence = format!(
        "the host left {} after it had sent {}; the answer came {} later",
        duration(left.0.saturating_sub(opened.t_request.0)),
        phrases::call_at(opened),
        duration(answered.0 - left.0)
    );
    let cause = Cause::new(Certainty::Likely, sentence).advise(IMPATIENT);
    Some(cause.shown_call(opened))
}

/// The client did not go on after the answer.
fn unconfirmed(facts: &Facts, opened: &Exchange) -> Option<Cause> {
    let answered = opened.t_response_last?;
    let is_modern = &*opened.method != "initialize";
    let waited = facts.since(answered);
    if is_modern
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
    let cause = Cause::new(Certainty::Likely, sentence).advise(
        "Something in the answer did not suit the client, or it only wanted to see whether the \
         server starts: look at the version and the capabilities in the answer, and into the host's \
         log.",
    );
    Some(cause.shown_call(opened))
}
