//! Causes in single calls: no answer, a late one, a failure.

use super::Certainty::{self, Certain, Likely, Possible};
use super::facts::{Cancelled, Facts};
use super::failed_calls::{Alike, Failed};
use super::{AT_ONCE_NS, Cause, Evidence, Place, SECOND_NS, negotiation, phrases, server_end};
use crate::{process, quote};
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_wire::mcp::methods::{self, Way};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{cut, duration, escape, plural};

/// A client that means to answer has done so by then, nanoseconds; people may take longer.
const CLIENT_PATIENCE_NS: u64 = 5 * SECOND_NS;

/// The server asked its client something and had no answer.
pub(super) fn client_never_answered(facts: &Facts) -> Option<Cause> {
    // The answer may stand in what was not read.
    if facts.is_short {
        return None;
    }
    let until = facts.host_left().unwrap_or(facts.now);
    // A server that sends back whatever it is sent asks for what no client has.
    let is_for_clients = |exchange: &Exchange| {
        let known = methods::find(&exchange.method);
        known.is_none_or(|known| known.uses().any(|usage| usage.way == Way::ToClient))
    };
    let is_old = |one: &&Exchange| {
        one.direction == Direction::ServerToClient
            && is_for_clients(one)
            && until.ns_since(one.t_request) > CLIENT_PATIENCE_NS
            && !facts.may_be_hidden(one)
    };
    let old: Vec<_> = facts.without_answer().filter(is_old).take(3).collect();
    let first = *old.first()?;
    let held_up = facts
        .without_answer()
        .find(|call| Some(call.id) == first.parent);
    let waits = held_up.map_or_else(String::new, |call| {
        format!("; {} waits for it", phrases::call_at(call))
    });
    let asks_person = ["elicitation/create", "sampling/createMessage"].contains(&&*first.method);
    let cause = Cause::new(
        if asks_person && facts.is_live {
            Likely
        } else {
            Certain
        },
        format!(
            "the client never answered the server's {} in {}{waits}",
            phrases::call_at(first),
            duration(until.ns_since(first.t_request))
        ),
        "A person may have to answer: look for a dialogue of the host. Else the client declares what \
         it does not serve, or is stuck: a server should give up after a while and say so.",
    );
    Some(cause.shown(old.into_iter().chain(held_up).map(phrases::request)))
}

/// A younger request is under way, nanoseconds.
const PATIENCE_NS: u64 = 2 * SECOND_NS;

/// An older request is not merely slow, nanoseconds.
const TOO_LONG_NS: u64 = 30 * SECOND_NS;

/// The server never answered a request.
pub(super) fn never_answered(facts: &Facts) -> Option<Cause> {
    // The answers may stand in what was not read.
    if facts.is_short {
        return None;
    }
    let told = facts.told_to_end();
    let until = told.unwrap_or(facts.now);
    let is_asked = |call: &Exchange| {
        let mut open = facts
            .open
            .exchanges
            .iter()
            .chain(&facts.unanswered.exchanges);
        open.any(|one| one.direction == Direction::ServerToClient && one.parent == Some(call.id))
    };
    // The handshake has a cause of its own, a call that asks the client waits for that, and a server
    // that somebody ended did not end by itself.
    let is_meant = |call: &&Exchange| {
        call.direction == Direction::ClientToServer
            && until.ns_since(call.t_request) > PATIENCE_NS
            && !["initialize", "server/discover"].contains(&&*call.method)
            && (call.status != Status::Lost || told.is_some())
            && !is_asked(call)
            && !facts.may_be_hidden(call)
    };
    let old: Vec<_> = facts.without_answer().filter(is_meant).collect();
    let oldest = *old.iter().min_by_key(|call| (call.t_request, call.id))?;
    let waited_ns = until.ns_since(oldest.t_request);
    let busy = busy_with(facts, oldest);
    let (instead, evidence) = match (phrases::other_id(facts, oldest), busy) {
        (Some((said, evidence)), _) => (said, Some(evidence)),
        (None, Some(busy)) => (
            format!(": it was at work on {}", phrases::call_at(busy)),
            phrases::response(busy),
        ),
        (None, None) => (String::new(), None),
    };
    let others = match old.len() as u64 - 1 {
        0 => String::new(),
        others => format!(", nor {}", plural(others, "other request")),
    };
    let verb = match oldest.status {
        Status::Open => "has not answered",
        _ => "never answered",
    };
    let cause = Cause::new(
        if waited_ns > TOO_LONG_NS {
            Certain
        } else {
            Likely
        },
        format!(
            "the server {verb} {} in {}{others}{instead}",
            phrases::call_at(oldest),
            duration(waited_ns)
        ),
        "Look what the server does with this request: a tool that waits for something itself, an \
         exception that nobody catches, a handler that forgets to answer or sends another id. A \
         server that does one thing after the other keeps the rest waiting: let long work run beside \
         other calls.",
    );
    let cause = cause
        .shown(old.iter().take(3).map(|call| phrases::request(call)))
        .shown(evidence)
        .shown(phrases::leaving(facts));
    Some(cause.shown(phrases::stderr(facts, 2)))
}

/// The call that kept the server from this one: it came before, was answered so late that there
/// was no time left, and nothing that came after it was answered any sooner.
fn busy_with<'f>(facts: &'f Facts, call: &Exchange) -> Option<&'f Exchange> {
    let ended = facts.told_to_end()?;
    let is_before =
        |one: &&Exchange| one.direction == Direction::ClientToServer && one.id < call.id;
    let busy = facts.last_answered.iter().rfind(is_before)?;
    let done = busy.t_response_last?;
    let overtook = |one: &Exchange| one.id > busy.id && one.t_response > Some(call.t_request);
    let is_late = done > call.t_request && ended.ns_since(done) < PATIENCE_NS;
    (is_late && !facts.last_answered.iter().any(overtook)).then_some(busy)
}

/// The shortest limit that clients come with is 5 s; people cancel sooner, nanoseconds.
const IMPATIENCE_NS: u64 = 4_900_000_000;

/// The client gave up waiting for an answer.
pub(super) fn client_gave_up(facts: &Facts) -> Option<Cause> {
    let by_client = |one: &&Cancelled| one.exchange.direction == Direction::ClientToServer;
    let judged = facts.cancelled.iter().filter(by_client);
    let judged = judged.filter_map(|one| Some((one, waited_until_cancel(one)?, timed_out(one)?)));
    let (cancelled, waited, certainty) = judged.max_by_key(|(_, _, certainty)| *certainty)?;
    let exchange = &cancelled.exchange;
    let progress = match (cancelled.has_token, exchange.progress_count) {
        (false, _) => {
            "; the client had sent no progressToken, so that no progress could have kept \
                       it waiting"
                .to_owned()
        }
        (true, 0) => "; it had sent a progressToken, but the server sent no progress".to_owned(),
        (true, count) => format!(
            " although {} had come",
            plural(count, "progress notification")
        ),
    };
    let cause = Cause::new(
        certainty,
        format!(
            "the server had not answered {} for {} when the client gave it up{progress}",
            phrases::call_at(exchange),
            duration(waited)
        ),
        "Look what the server does with this call. Raise the client's limit; let the client ask for \
         progress, the tool report it, and the limit start anew with it; or make the tool answer at \
         once and do its work in the background.",
    );
    Some(shown_cancelled(cause, cancelled))
}

/// Nanoseconds until the request was cancelled.
fn waited_until_cancel(cancelled: &Cancelled) -> Option<u64> {
    Some(cancelled.t?.ns_since(cancelled.exchange.t_request))
}

/// The certainty that a limit cancelled the request; `None` if it looks like a person.
fn timed_out(cancelled: &Cancelled) -> Option<Certainty> {
    let said = cancelled.said.to_ascii_lowercase();
    let mut words = ["timed out", "timeout", "-32001"].iter();
    if words.any(|word| said.contains(word)) {
        return Some(Certain);
    }
    (waited_until_cancel(cancelled)? > IMPATIENCE_NS).then_some(Likely)
}

/// Shows a request, its cancellation and what came of it.
fn shown_cancelled(cause: Cause, cancelled: &Cancelled) -> Cause {
    let exchange = &cancelled.exchange;
    let text = format!("the client said: {}", quote::text(&cancelled.said));
    let cancellation = exchange
        .cancelled
        .map(|seq| Evidence::new(Place::Frame(seq), text));
    cause
        .shown([phrases::request(exchange)])
        .shown(cancellation)
        .shown(phrases::response(exchange))
}

/// A call was made again after it had not been answered in time: the tool may have run twice.
pub(super) fn executed_twice(facts: &Facts) -> Option<Cause> {
    // Who cancels and asks again at once has changed their mind.
    let was_late =
        |one: &&Cancelled| one.exchange.status == Status::Late || timed_out(one).is_some();
    let cancelled = facts.cancelled.iter().filter(was_late);
    let cancelled = cancelled.filter_map(|one| Some((&one.exchange, one.again.as_ref()?)));
    let silent = facts.again.iter().map(|(first, again)| (first, again));
    let silent = silent
        .filter(|(first, again)| process::is_abandoned(again.t_request.ns_since(first.t_request)));
    let is_call = |(first, _): &(&Exchange, &Exchange)| &*first.method == "tools/call";
    let pairs = cancelled.chain(silent).filter(is_call);
    // One that was answered after all has run for sure; the second if it was answered.
    let (first, again) = pairs.min_by_key(|(first, _)| first.status != Status::Late)?;
    let (certainty, did) = match (first.status, again.response) {
        (Status::Late, Some(_)) => (Certain, "the tool ran twice"),
        _ => (Likely, "the tool may have run twice"),
    };
    let cause = Cause::new(
        certainty,
        format!(
            "{} was made again with the same arguments (#{}) after it had not been answered in \
             time: {did}",
            phrases::call_at(first),
            again.request.0.0
        ),
        "Look whether what it does was done twice. Make the tool safe to repeat, for example with a \
         key that the caller sends; let the client wait longer, or not repeat it by itself.",
    );
    Some(cause.shown_call(first).shown_call(again))
}

/// An answer that was under way already crosses the cancellation, nanoseconds.
const CROSSING_NS: u64 = SECOND_NS / 10;

/// The server answered after the client had cancelled.
pub(super) fn late_answer(facts: &Facts) -> Option<Cause> {
    let lag = |one: &Cancelled| {
        let lag = one.exchange.t_response?.ns_since(one.t?);
        (one.exchange.status == Status::Late && lag > CROSSING_NS).then_some(lag)
    };
    let left_at = |one: &Cancelled| {
        let answered = one.exchange.t_response_last;
        answered.is_some_and(|t| facts.host_left_after(t, AT_ONCE_NS))
    };
    let cancelled = facts.cancelled.iter();
    let late = cancelled.filter_map(|one| Some((left_at(one), lag(one)?, one)));
    let (left, lag, cancelled) = late.max_by_key(|(left, lag, _)| (*left, *lag))?;
    if server_end::answered_at_exit(facts).is_some() {
        return None;
    }
    let (certainty, then) = if left {
        (Likely, ", and the host left at that answer")
    } else {
        (
            Possible,
            "; some clients close the connection at an answer to nothing",
        )
    };
    let sentence = format!(
        "the server answered {} {} after the client had cancelled it{then}",
        phrases::call_at(&cancelled.exchange),
        duration(lag)
    );
    let advice = "Let the server stop the work and send no answer once the cancellation has come.";
    let cause = shown_cancelled(Cause::new(certainty, sentence, advice), cancelled);
    Some(cause.shown(phrases::leaving(facts).filter(|_| left)))
}

/// Answers that a sentence tells apart.
const TOLD_APART: usize = 3;

/// Columns of each of several answers.
const EACH: usize = 100;

/// Calls were answered with an error.
pub(super) fn calls_failed(facts: &Facts) -> Option<Cause> {
    // A handshake that failed has a cause of its own.
    let has_own_cause = |failed: &Failed| {
        &*failed.first().method == "initialize"
            && (negotiation::version_mismatch(facts).is_some()
                || negotiation::handshake_unfinished(facts).is_some())
    };
    // What listens to changes ends when the host leaves.
    let is_leaving = |failed: &Failed| {
        let (exchange, left) = (failed.first(), facts.host_left());
        &*exchange.method == "subscriptions/listen"
            && left.is_some_and(|left| exchange.t_response_last >= Some(left))
    };
    let failed = facts.failed.iter();
    let mut failed: Vec<_> = failed
        .filter(|it| !is_leaving(it) && !has_own_cause(it))
        .collect();
    // A call is of the server, the rest of the connection.
    let is_call = |failed: &Failed| {
        ["tools/call", "prompts/get", "resources/read"].contains(&&*failed.first().method)
    };
    failed.sort_by_key(|failed| !is_call(failed));
    let (first, others) = failed.split_first()?;
    // A ping that is refused, or a list that nobody has: who goes on does without.
    let does_without = !is_call(first) && facts.survived(first.first().request.0);
    let advice = match (first.first().status, first.first().code.as_deref()) {
        (Status::ToolError, _) => {
            "The tool itself says what is wrong; the connection is fine. Its arguments and its own \
             log are where to look."
        }
        (_, Some("-32601")) => {
            "The server does not know this method: the client should ask only for what the server \
             declared among its capabilities. Only a ping has to be answered by every server."
        }
        (_, Some("-32602")) => {
            "The server does not take these params: compare them with what it has listed (the tool's \
             inputSchema, the prompt's arguments, the resource's URI), and with what it says is \
             wrong."
        }
        _ => "Look at the request beside its answer, and at stderr at that moment.",
    };
    let certainty = if does_without { Possible } else { Certain };
    let cause = Cause::new(certainty, failure(first) + &others_too(others), advice);
    let ways = first.ways.iter().take(TOLD_APART);
    let cause = ways.fold(cause, |cause, alike| cause.shown_call(&alike.exchange));
    Some(cause.shown(others.iter().map(|failed| phrases::request(failed.first()))))
}

/// `search_docs failed twice: quota exceeded (tool-error, #1187, #1201)`, or, where not the same was
/// answered, `search_docs failed twice, differently: no index (…); quota exceeded (…)`
fn failure(failed: &Failed) -> String {
    let times = match failed.count() {
        times if !failed.is_all => format!(" {} or more", plural(times, "time")),
        0 | 1 => String::new(),
        times => format!(" {}", phrases::times(times)),
    };
    let call = phrases::call(failed.first());
    if let [way] = &failed.ways[..] {
        let said = way
            .said()
            .map_or_else(String::new, |said| format!(": {}", escape(said)));
        return format!("{call} failed{times}{said} ({})", places(way));
    }
    let way = |alike: &Alike| {
        let silence = match alike.exchange.response {
            Some(_) => "no reason told",
            None => "no answer",
        };
        let said = escape(alike.said().unwrap_or(silence));
        format!("{} ({})", cut(&said, EACH), places(alike))
    };
    let mut ways: Vec<_> = failed.ways.iter().take(TOLD_APART).map(way).collect();
    let more = failed.ways.len().saturating_sub(TOLD_APART);
    if more > 0 {
        ways.push(format!("and in {}", plural(more as u64, "other way")));
    }
    format!("{call} failed{times}, differently: {}", ways.join("; "))
}

/// `tool-error, #1187, #1201`
fn places(alike: &Alike) -> String {
    let status = alike.exchange.status.as_str();
    let code = alike.exchange.code.as_deref();
    let code = code.map_or_else(String::new, |code| format!(" {}", escape(code)));
    let places = alike.requests.iter().map(|seq| format!("#{}", seq.0));
    format!("{status}{code}, {}", phrases::first_few(places))
}

/// `; get_tides (#38), search_docs (3 times) failed too`
fn others_too(others: &[&Failed]) -> String {
    let one = |failed: &&Failed| match (phrases::call(failed.first()), failed.count()) {
        (_, 1) => phrases::call_at(failed.first()),
        (call, times) => format!("{call} ({})", phrases::times(times)),
    };
    let told: Vec<_> = others.iter().map(one).collect();
    match told[..] {
        [] => String::new(),
        _ => format!("; {} failed too", told.join(", ")),
    }
}
