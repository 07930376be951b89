//! The two sides do not come together: versions, and handshakes that are not finished.

use super::Certainty::{Certain, Likely, Possible};
use super::facts::Facts;
use super::{
    AT_ONCE_NS, Cause, SECOND_NS, addresses, phrases, refusals, requests, startup, streams,
};
use crate::quote;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::http::HttpExchange;
use mcpreel_trace::session::End;
use mcpreel_wire::message::Era;
use mcpreel_wire::text::duration;

/// Nobody needs longer for the next step of a handshake unless something is wrong, nor to leave
/// after a version that does not suit, nanoseconds.
const PATIENCE_NS: u64 = 5 * SECOND_NS;

/// The two sides speak different versions, or different eras, of the protocol.
pub(super) fn version_mismatch(facts: &Facts) -> Option<Cause> {
    let cause = version_refused(facts)
        .or_else(|| probe_failed(facts))
        .or_else(|| handshake_missed(facts))
        .or_else(|| left_at_version(facts))?;
    Some(cause.shown(phrases::leaving(facts)))
}

/// `initialize`, or the probe, was answered with an error about the version.
fn version_refused(facts: &Facts) -> Option<Cause> {
    let is_refusal = |exchange: &&Exchange| {
        let said = exchange.summary.to_ascii_lowercase();
        let code = exchange.code.as_deref();
        exchange.status == Status::Error && (code == Some("-32022") || said.contains("version"))
    };
    let exchange = facts.opening.iter().rev().find(is_refusal)?;
    if facts.opened().is_some() || facts.is_by_bridge(exchange) {
        return None;
    }
    let asked = facts.session.version_asked.as_deref().unwrap_or("unknown");
    let sentence = format!(
        "the server refused version {} of the protocol in answer to {}: {}",
        quote::text(asked),
        phrases::call_at(exchange),
        phrases::answer(exchange)
    );
    let advice = "Update the older side, or let the client offer a version that the error names.";
    Some(Cause::new(Certain, sentence, advice).shown_call(exchange))
}

/// The probe for the newer era failed, and nobody tried the older one.
fn probe_failed(facts: &Facts) -> Option<Cause> {
    let probe = facts.opening.last()?;
    let mut opening = facts.opening.iter();
    let is_probe = opening.all(|one| &*one.method == "server/discover");
    if !is_probe || facts.opened().is_some() || facts.went_on {
        return None;
    }
    let waited = facts.since(probe.t_request);
    let (how, certainty) = match probe.status {
        Status::Error => {
            let answer = phrases::answer(probe);
            (format!("was answered with {answer}"), Certain)
        }
        Status::Open | Status::Unanswered | Status::Cancelled if waited > PATIENCE_NS => {
            (format!("had no answer for {}", duration(waited)), Likely)
        }
        _ => return None,
    };
    // Some clients probe with a process of its own and go on with another.
    let (then, certainty) = match facts.host_left() {
        Some(_) => ("left", Possible),
        None => ("did not fall back to `initialize`", certainty),
    };
    let sentence = format!(
        "the client probed with {} for the protocol without a handshake: this {how}, and the client {then}",
        phrases::call_at(probe)
    );
    let advice = if probe.http > 0 {
        OF_ONE_VERSION
    } else {
        "Let the client fall back to `initialize` after an error and after silence. Some clients \
         probe with a separate process: then another recording began right after."
    };
    Some(Cause::new(certainty, sentence, advice).shown_call(probe))
}

const OF_ONE_VERSION: &str = "Update the server, or let the client fall back to `initialize`: it may be set to one \
                              version (TypeScript SDK: `pin` in `versionNegotiation`; Python SDK: `mode`).";

/// A client of the era without a handshake asks a server that wants one, which serves nothing.
fn handshake_missed(facts: &Facts) -> Option<Cause> {
    let version = facts.session.version_asked.as_deref()?;
    let is_modern = facts.session.eras == [Era::Modern];
    if !is_modern || !facts.opening.is_empty() || facts.https.last_served > 0 {
        return None;
    }
    let call = facts.failed.first()?.first();
    let is_refused = |one: &HttpExchange| one.id == call.http && one.status == Some(400);
    let said = call.answered().unwrap_or_default().to_ascii_lowercase();
    let wants_handshake = ["session", "initialize"]
        .iter()
        .any(|word| said.contains(word));
    if !wants_handshake || !facts.https.refused.iter().any(is_refused) {
        return None;
    }
    let sentence = format!(
        "the client speaks version {} of the protocol, which has no handshake, and the server wants one: {} was \
         answered with {}",
        quote::text(version),
        phrases::call_at(call),
        phrases::answer(call)
    );
    Some(Cause::new(Certain, sentence, OF_ONE_VERSION).shown_call(call))
}

/// The server named another version, and the client left.
fn left_at_version(facts: &Facts) -> Option<Cause> {
    let asked = facts.session.version_asked.as_deref()?;
    let agreed = facts.session.version_agreed.as_deref()?;
    let initialize = facts.opened().filter(|one| &*one.method == "initialize")?;
    let left = facts.host_left_after(initialize.t_response_last?, PATIENCE_NS);
    if asked == agreed || facts.went_on || !left {
        return None;
    }
    let sentence = format!(
        "the client asked for version {}, the server answered with {}, and the client left",
        quote::text(asked),
        quote::text(agreed)
    );
    let advice = "The client does not speak that version: update the older side. A server should agree to \
                  the version asked for if it can.";
    Some(Cause::new(Likely, sentence, advice).shown_call(initialize))
}

/// The advice where the host did not wait.
const IMPATIENT: &str = "The host's timeout is short, or the host was closed: try again, and read its log. \
                         With messages piped in by hand, keep the pipe open: `(cat FILE; sleep 5) |`.";

/// The handshake was not finished.
pub(super) fn handshake_unfinished(facts: &Facts) -> Option<Cause> {
    let others: [fn(&Facts) -> Option<Cause>; 6] = [
        addresses::name_refused,
        |facts| requests::late_answer(facts).filter(|cause| cause.certainty > Possible),
        version_mismatch,
        super::ending::answered_at_exit,
        streams::pretty_printed,
        streams::content_length_framing,
    ];
    if matches!(facts.end(), Some(End::NotStarted { .. }))
        || others.iter().any(|other| other(facts).is_some())
    {
        return None;
    }
    let is_open = |one: &Exchange| &*one.method == "initialize" && one.response.is_none();
    let cause = match (facts.opening.last(), facts.opened()) {
        (None, _) => silent_host(facts)?,
        (Some(_), Some(opened)) if !facts.went_on => unconfirmed(facts, opened)?,
        // Some clients go on without an answer: it is missing all the same.
        (Some(last), None) if !facts.went_on || is_open(last) => unopened(facts, last)?,
        _ => return None,
    };
    let cause = cause.shown(phrases::leaving(facts));
    Some(cause.shown(phrases::stderr(facts, None, 2)))
}

fn silent_host(facts: &Facts) -> Option<Cause> {
    let spawned = facts.session.spawned?;
    let is_silent = facts.session.first_byte.c2s.is_none() && facts.counts.exchanges == 0;
    // A server that died has its own cause, and who has just been started has said nothing yet.
    let left = facts.host_left();
    if !is_silent || left.is_none() && !(facts.is_live && facts.since(spawned) > PATIENCE_NS) {
        return None;
    }
    let waited_ns = left.unwrap_or(facts.now).ns_since(spawned);
    let waited = duration(waited_ns);
    let sentence = match left {
        Some(_) if waited_ns < AT_ONCE_NS => {
            "the host closed the server's input at once and sent nothing".to_owned()
        }
        Some(_) => format!("the host started the server, sent nothing in {waited} and then left"),
        None => format!("the host started the server and has sent nothing in {waited}"),
    };
    let advice = "Read the host's log. Some hosts start a server once to see whether it starts.";
    let certainty = match startup::died_at_start(facts) {
        Some(_) => Possible,
        None => Certain,
    };
    Some(Cause::new(certainty, sentence, advice))
}

/// What to look at where the server answered what begins a session with an error.
fn advice_on_refusal(facts: &Facts, call: &Exchange) -> &'static str {
    let mut refused = facts.https.refused.iter();
    match refused.find(|one| one.id == call.http) {
        Some(one) if one.status == Some(406) => refusals::NOT_ACCEPTABLE,
        _ if call.http > 0 => "Check what the client sent, and read the server's log.",
        _ => "Check what the client sent, and read stderr.",
    }
}

/// The server did not answer, or refused.
fn unopened(facts: &Facts, last: &Exchange) -> Option<Cause> {
    let told = facts.told_to_end();
    let since = |t: Moment| t.ns_since(last.t_request);
    let waited_ns = since(facts.could_answer_until());
    let call = phrases::call_at(last);
    // That no server answered is told as such.
    if facts.is_by_bridge(last) {
        return None;
    }
    if last.status == Status::Error {
        let answer = phrases::answer(last);
        let cause = Cause::new(
            Certain,
            format!("the server refused the handshake: {call} was answered with {answer}"),
            advice_on_refusal(facts, last),
        );
        return Some(cause.shown_call(last));
    }
    if let Some(cause) = requests::other_id(facts, last) {
        return Some(cause);
    }
    let is_silent = match last.status {
        Status::Open | Status::Unanswered | Status::Cancelled => !facts.may_be_hidden(last),
        // A server that was told to go did not go by itself.
        Status::Lost => told.is_some(),
        _ => false,
    };
    if is_silent && !facts.is_short && (waited_ns > PATIENCE_NS || facts.survived(last.request.0)) {
        let cause = Cause::new(
            Certain,
            format!(
                "the server never answered {call} in {}",
                duration(waited_ns)
            ),
            if facts.context.url.is_some() {
                "Look at the server's log, and whether it has finished starting."
            } else {
                "Check that the server reads stdin, flushes stdout, and has finished starting."
            },
        );
        return Some(cause.shown_call(last));
    }
    let sentence = format!(
        "the host closed the server's input {} after it had sent {call}, before there was an answer",
        duration(since(told.unwrap_or(facts.now)))
    );
    let is_left = is_silent && told.is_some() && last.status != Status::Open;
    is_left.then(|| Cause::new(Likely, sentence, IMPATIENT).shown_call(last))
}

/// The client did not go on after the answer, or had left before it came.
fn unconfirmed(facts: &Facts, opened: &Exchange) -> Option<Cause> {
    let answered = opened.t_response_last?;
    let left = facts.host_left();
    if let Some(left) = left.filter(|left| *left < answered) {
        let sentence = format!(
            "the host closed the server's input {} after it had sent {}; the answer came {} later",
            duration(left.ns_since(opened.t_request)),
            phrases::call_at(opened),
            duration(answered.ns_since(left))
        );
        return Some(Cause::new(Likely, sentence, IMPATIENT).shown_call(opened));
    }
    if &*opened.method != "initialize"
        || (left.is_none() && facts.since(answered) <= PATIENCE_NS)
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
    let advice = "The client refused the answer, or only tested whether the server starts: check the \
                  version and the capabilities in the answer, and the host's log.";
    Some(Cause::new(Likely, sentence, advice).shown_call(opened))
}
