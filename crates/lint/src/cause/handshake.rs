//! The handshake was not finished.

use super::facts::Facts;
use super::words::OtherId;
use super::{
    Cause, Certainty, Kind, answered_at_exit, content_length, pretty_printed, version, words,
};
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::session::End;
use mcpreel_wire::text::duration;

pub(super) const KIND: Kind = Kind::new("handshake-unfinished", find);

/// Nobody needs longer for the next step of a handshake, unless something is wrong, nanoseconds.
const PATIENCE_NS: u64 = 5_000_000_000;

/// What to do where the host did not wait.
const IMPATIENT: &str = "The host waited for less than the server needs to start, or was closed \
                         itself: try again, and look into its log.";

fn find(facts: &Facts) -> Option<Cause> {
    let told = [
        version::KIND,
        answered_at_exit::KIND,
        pretty_printed::KIND,
        content_length::KIND,
    ];
    let is_told = || told.iter().any(|kind| (kind.find)(facts).is_some());
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
    let cause = cause.shown(words::leaving(facts));
    Some(cause.shown(words::stderr(facts, 2)))
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
    Some(Cause::certain(KIND.id, sentence).advise(
        "It is the host's turn: look into its own log. Some hosts start a server once to see \
         whether it starts at all.",
    ))
}

/// The server did not answer, or refused.
fn unopened(facts: &Facts, last: &Exchange) -> Option<Cause> {
    let until = facts.told_to_end().unwrap_or(facts.now);
    let waited_ns = until.0.saturating_sub(last.t_request.0);
    let other_id = words::other_id(facts, last);
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
                words::call_at(last)
            );
            Cause::new(KIND.id, Certainty::Likely, sentence).advise(IMPATIENT)
        }
        _ => return None,
    };
    let cause = cause.shown_call(last);
    Some(cause.shown(other_id.map(|other| other.evidence)))
}

fn refused(last: &Exchange) -> Cause {
    let sentence = format!(
        "the server refused the handshake: {} was answered with {}",
        words::call_at(last),
        words::answer(last).unwrap_or_default()
    );
    Cause::certain(KIND.id, sentence)
        .advise("Look at what the client sent in it, and at what the server says on stderr.")
}

fn unanswered(last: &Exchange, waited_ns: u64, other_id: Option<&OtherId>) -> Cause {
    let instead = other_id.map_or("", |other| &other.said);
    let sentence = format!(
        "the server never answered {} in {}{instead}",
        words::call_at(last),
        duration(waited_ns)
    );
    Cause::certain(KIND.id, sentence).advise(other_id.map_or(
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
        words::call_at(opened),
        duration(answered.0 - left.0)
    );
    let cause = Cause::new(KIND.id, Certainty::Likely, sentence).advise(IMPATIENT);
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
        words::call_at(opened)
    );
    let cause = Cause::new(KIND.id, Certainty::Likely, sentence).advise(
        "Something in the answer did not suit the client, or it only wanted to see whether the \
         server starts: look at the version and the capabilities in the answer, and into the host's \
         log.",
    );
    Some(cause.shown_call(opened))
}
