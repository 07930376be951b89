//! Causes in single calls: no answer, a late one, a failure.

use super::facts::{Alike, Cancelled, Facts, Failed};
use super::{Cause, Certainty, Evidence, Place, named, negotiation, phrases, shutdown};
use crate::{process, quote};
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_wire::mcp::methods::{self, Way};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{cut, duration, escape, plural};

/// A client that means to answer has done so by then, nanoseconds: but for people, who are asked.
const CLIENT_PATIENCE_NS: u64 = 5_000_000_000;

/// What to do where a person is asked.
const ASKS_PERSON: &str = "A person may have to answer: look for a dialogue of the host. A server \
                           should give up after a while and say so.";

/// What to do where the client itself is asked.
const ASKS_CLIENT: &str = "The client declares what it does not serve, or is stuck: a server should \
                           give up after a while, and do without it where the client did not \
                           declare it.";

/// The server asked its client something and had no answer.
pub(super) fn client_never_answered(facts: &Facts) -> Option<Cause> {
    // The answer may stand in what was not read.
    if facts.is_short {
        return None;
    }
    let until = facts.host_left().unwrap_or(facts.now);
    let waited = |exchange: &Exchange| until.0.saturating_sub(exchange.t_request.0);
    let is_old = |one: &&Exchange| {
        one.direction == Direction::ServerToClient
            && is_for_clients(one)
            && waited(one) > CLIENT_PATIENCE_NS
            && !facts.may_be_hidden(one)
    };
    let old: Vec<_> = facts.without_answer().filter(is_old).collect();
    let first = *old.first()?;
    let mut calls = facts.without_answer();
    let held = calls.find(|call| Some(call.id) == first.parent);
    let held_up = held.map_or_else(String::new, |call| {
        format!("; {} waits for it", phrases::call_at(call))
    });
    let sentence = format!(
        "the client never answered the server's {} in {}{held_up}",
        phrases::call_at(first),
        duration(waited(first))
    );
    let (certainty, advice) = match asks_person(first) {
        true if facts.is_live => (Certainty::Likely, ASKS_PERSON),
        true => (Certainty::Certain, ASKS_PERSON),
        false => (Certainty::Certain, ASKS_CLIENT),
    };
    let cause = Cause::new(certainty, sentence).advise(advice);
    let cause = cause.shown(old.iter().take(3).map(|one| phrases::request(one)));
    Some(cause.shown(held.map(phrases::request)))
}

/// Whether clients answer such requests: a server that sends back whatever it is sent asks for
/// what no client has.
fn is_for_clients(exchange: &Exchange) -> bool {
    let known = methods::find(&exchange.method);
    known.is_none_or(|known| known.uses().any(|usage| usage.way == Way::ToClient))
}

/// Whether a person may have to answer it.
fn asks_person(exchange: &Exchange) -> bool {
    matches!(
        &*exchange.method,
        "elicitation/create" | "sampling/createMessage"
    )
}

/// What is waited for less is under way, nanoseconds.
const PATIENCE_NS: u64 = 2_000_000_000;

/// What is waited for longer is not merely slow, nanoseconds.
const TOO_LONG_NS: u64 = 30_000_000_000;

/// The server never answered a request.
pub(super) fn never_answered(facts: &Facts) -> Option<Cause> {
    // The answers may stand in what was not read.
    if facts.is_short {
        return None;
    }
    let old = old(facts);
    let oldest = *old.iter().max_by_key(|call| waited(facts, call))?;
    let waited_ns = waited(facts, oldest);
    let instead = Instead::of(facts, oldest);
    let sentence = silence(oldest, waited_ns, old.len() - 1, &instead.said);
    let certainty = if waited_ns > TOO_LONG_NS {
        Certainty::Certain
    } else {
        Certainty::Likely
    };
    let cause = Cause::new(certainty, sentence).advise(instead.advice);
    let cause = cause.shown(old.iter().take(3).map(|call| phrases::request(call)));
    let cause = cause.shown(instead.evidence);
    let cause = cause.shown(phrases::leaving(facts));
    Some(cause.shown(phrases::stderr(facts, 2)))
}

/// What the server did in place of an answer, as far as that is on record.
struct Instead {
    said: String,
    advice: &'static str,
    evidence: Option<Evidence>,
}

impl Instead {
    fn of(facts: &Facts, call: &Exchange) -> Self {
        if let Some(other) = phrases::other_id(facts, call) {
            return Self {
                said: other.said,
                advice: other.advice,
                evidence: Some(other.evidence),
            };
        }
        if let Some(busy) = busy_with(facts, call) {
            return Self {
                said: format!(": it was at work on {}", phrases::call_at(busy)),
                advice: "A server that does one thing after the other keeps all that comes \
                         meanwhile waiting: look why that call takes so long, or let long work run \
                         beside other calls, as a task or in a thread of its own.",
                evidence: phrases::response(busy),
            };
        }
        Self {
            said: String::new(),
            advice: "Look what the server does with this request: a tool that waits for something \
                     itself, an exception that nobody catches, or a handler that forgets to answer.",
            evidence: None,
        }
    }
}

/// The call that kept the server from this one: it came before, was answered so late that there
/// was no time left, and nothing that came after it was answered any sooner.
fn busy_with<'f>(facts: &'f Facts, call: &Exchange) -> Option<&'f Exchange> {
    let ended = facts.told_to_end()?;
    let answered = facts.last_answered.iter();
    let mut answered =
        answered.filter(|one| one.direction == Direction::ClientToServer && one.id < call.id);
    let busy = answered.next_back()?;
    let done = busy.t_response_last?;
    let overtook = |one: &Exchange| one.id > busy.id && one.t_response > Some(call.t_request);
    let is_late = done > call.t_request && ended.0.saturating_sub(done.0) < PATIENCE_NS;
    (is_late && !facts.last_answered.iter().any(overtook)).then_some(busy)
}

/// `the server never answered search (#4) in 40.0 s, nor 2 other requests`
fn silence(oldest: &Exchange, waited_ns: u64, others: usize, instead: &str) -> String {
    let others = match others {
        0 => String::new(),
        others => format!(", nor {}", plural(others as u64, "other request")),
    };
    let verb = match oldest.status {
        Status::Open => "has not answered",
        _ => "never answered",
    };
    format!(
        "the server {verb} {} in {}{others}{instead}",
        phrases::call_at(oldest),
        duration(waited_ns)
    )
}

/// Nanoseconds from a request to the end, if somebody brought it about, else to now.
fn waited(facts: &Facts, call: &Exchange) -> u64 {
    let until = facts.told_to_end().unwrap_or(facts.now);
    until.0.saturating_sub(call.t_request.0)
}

/// The requests of the client that have been waited for too long.
fn old(facts: &Facts) -> Vec<&Exchange> {
    let open = facts.open.asked(Direction::ClientToServer);
    let open = open.chain(facts.unanswered.asked(Direction::ClientToServer));
    // What was open when somebody ended the server: it did not end by itself.
    let lost = facts.lost.asked(Direction::ClientToServer);
    let open = open.chain(lost.filter(|_| facts.was_told_to_end()));
    // The handshake has a cause of its own, and a call that asks the client waits for that.
    let asks = |call: &Exchange| {
        let samples = [&facts.open, &facts.unanswered];
        let children = samples.map(|sample| sample.asked(Direction::ServerToClient));
        children
            .into_iter()
            .flatten()
            .any(|child| child.parent == Some(call.id))
    };
    let is_opening = |call: &Exchange| matches!(&*call.method, "initialize" | "server/discover");
    open.filter(|call| waited(facts, call) > PATIENCE_NS && !is_opening(call) && !asks(call))
        .filter(|call| !facts.may_be_hidden(call))
        .collect()
}

/// Limits that clients come with, seconds.
const USUAL: [u64; 13] = [5, 10, 15, 20, 30, 45, 60, 90, 100, 120, 180, 300, 600];

/// A clock that is this close to a usual limit has it, thousandths of it.
const CLOSE: u64 = 15;

const SECOND_NS: u64 = 1_000_000_000;

const IMPATIENCE_NS: u64 = 5 * SECOND_NS;

/// The client gave up waiting for an answer.
pub(super) fn client_gave_up(facts: &Facts) -> Option<Cause> {
    let by_client = |one: &&Cancelled| one.exchange.direction == Direction::ClientToServer;
    let judged = facts.cancelled.iter().filter(by_client);
    let judged = judged.filter_map(|one| Some((one, waited_until_cancel(one)?, certainty(one)?)));
    let (cancelled, waited, certainty) = judged.max_by_key(|(_, _, certainty)| *certainty)?;
    let exchange = &cancelled.exchange;
    let (progress, advice) = progress(cancelled);
    let sentence = format!(
        "the server had not answered {} for {} when the client gave it up{progress}",
        phrases::call_at(exchange),
        duration(waited)
    );
    let cause = Cause::new(certainty, sentence).advise(advice);
    let cause = cause
        .shown([phrases::request(exchange)])
        .shown(cancellation(cancelled));
    Some(cause.shown(phrases::response(exchange)))
}

/// Nanoseconds until it was cancelled.
fn waited_until_cancel(cancelled: &Cancelled) -> Option<u64> {
    let t = cancelled.t?;
    Some(t.0.saturating_sub(cancelled.exchange.t_request.0))
}

/// How sure it is that a limit, not a person, cancelled it; `None` if it looks like a person.
pub(super) fn certainty(cancelled: &Cancelled) -> Option<Certainty> {
    let said = cancelled.said.to_ascii_lowercase();
    if ["timed out", "timeout", "-32001"]
        .iter()
        .any(|word| said.contains(word))
    {
        return Some(Certainty::Certain);
    }
    let waited = waited_until_cancel(cancelled)?;
    let is_close =
        |limit: &u64| waited.abs_diff(limit * SECOND_NS) <= limit * SECOND_NS / 1000 * CLOSE;
    if USUAL.iter().any(is_close) {
        return Some(Certainty::Likely);
    }
    (waited > IMPATIENCE_NS).then_some(Certainty::Likely)
}

/// What progress had to do with it, and what to do.
fn progress(cancelled: &Cancelled) -> (String, &'static str) {
    match (cancelled.has_token, cancelled.exchange.progress_count) {
        (false, _) => (
            "; the client had sent no progressToken, so that no progress could have kept it waiting"
                .into(),
            "Look what the server does with this call. Raise the client's limit for this call, let \
             it ask for progress, or make the tool answer at once and do its work in the background.",
        ),
        (true, 0) => (
            "; it had sent a progressToken, but the server sent no progress".into(),
            "Let the tool report its progress: many clients wait on while it comes; else raise the \
             client's limit.",
        ),
        (true, count) => (
            format!(
                " although {} had come",
                plural(count, "progress notification")
            ),
            "The client's limit does not start anew with progress: raise it, or let the client \
             reset it on progress.",
        ),
    }
}

pub(super) fn cancellation(cancelled: &Cancelled) -> Option<Evidence> {
    let seq = cancelled.exchange.cancelled?;
    let text = format!("the client said: {}", quote::text(&cancelled.said));
    Some(Evidence::new(Place::Frame(seq), text))
}

/// A call was made again after it had not been answered in time: the tool may have run twice.
pub(super) fn executed_twice(facts: &Facts) -> Option<Cause> {
    let mut pairs = repeated(facts);
    // One that was answered after all has run for sure.
    pairs.sort_by_key(|(first, _)| first.status != Status::Late);
    let &(first, again) = pairs.first()?;
    // Of the first it is known that it ran, of the second if it was answered.
    let ran = first.status == Status::Late && again.response.is_some();
    let (certainty, did) = if ran {
        (Certainty::Certain, "the tool ran twice")
    } else {
        (Certainty::Likely, "the tool may have run twice")
    };
    let sentence = format!(
        "{} was made again with the same arguments (#{}) after it had not been answered in time: \
         {did}",
        phrases::call_at(first),
        again.request.0.0
    );
    let cause = Cause::new(certainty, sentence).advise(
        "Look whether what it does was done twice. Make the tool safe to repeat, for example with a \
         key that the caller sends; let the client wait longer, or not repeat it by itself.",
    );
    let cause = cause.shown_call(first).shown_call(again);
    let found = facts.found(named::REPEATED_AFTER_TIMEOUT);
    Some(cause.shown(found.into_iter().flat_map(phrases::findings)))
}

/// Calls of tools that were not answered in time, each with the same call that came later.
fn repeated(facts: &Facts) -> Vec<(&Exchange, &Exchange)> {
    // Who cancels and asks again at once has changed their mind.
    let is_late = |one: &&Cancelled| one.exchange.status == Status::Late;
    let timed_out = |one: &&Cancelled| is_late(one) || certainty(one).is_some();
    let cancelled = facts.cancelled.iter().filter(timed_out);
    let cancelled = cancelled.filter_map(|one| Some((&one.exchange, one.again.as_ref()?)));
    let waited =
        |first: &Exchange, again: &Exchange| again.t_request.0.saturating_sub(first.t_request.0);
    let silent = facts.again.iter().map(|(first, again)| (first, again));
    let silent = silent.filter(|(first, again)| process::is_abandoned(waited(first, again)));
    let is_call = |(first, _): &(&Exchange, &Exchange)| &*first.method == "tools/call";
    cancelled.chain(silent).filter(is_call).collect()
}

/// An answer that was under way already crosses the cancellation, nanoseconds.
const CROSSING_NS: u64 = 100_000_000;

/// Who closes the connection because of an answer does so at once, nanoseconds.
const AT_ONCE_NS: u64 = 500_000_000;

/// The server answered after the client had cancelled.
pub(super) fn late_answer(facts: &Facts) -> Option<Cause> {
    if shutdown::answered_at_exit(facts).is_some() {
        return None;
    }
    let late = late(facts);
    let (cancelled, lag) = late.max_by_key(|(one, lag)| (left_at(facts, one), *lag))?;
    let exchange = &cancelled.exchange;
    let left = left_at(facts, cancelled);
    let (certainty, then) = if left {
        (Certainty::Likely, ", and the host left at that answer")
    } else {
        (
            Certainty::Possible,
            "; some clients close the connection at an answer to nothing",
        )
    };
    let sentence = format!(
        "the server answered {} {} after the client had cancelled it{then}",
        phrases::call_at(exchange),
        duration(lag)
    );
    let cause = Cause::new(certainty, sentence)
        .advise("Let the server stop the work and send no answer once the cancellation has come.");
    let cause = cause.shown([phrases::request(exchange)]);
    let cause = cause
        .shown(cancellation(cancelled))
        .shown(phrases::response(exchange));
    Some(cause.shown(phrases::leaving(facts).filter(|_| left)))
}

/// The requests whose answers came after the cancellation and were not under way, each with the
/// nanoseconds between the two.
fn late(facts: &Facts) -> impl Iterator<Item = (&Cancelled, u64)> {
    let late = facts.cancelled.iter();
    let late = late.filter(|one| one.exchange.status == Status::Late);
    late.filter_map(|one| Some((one, lag(one).filter(|lag| *lag > CROSSING_NS)?)))
}

/// Whether the host left at the answer.
fn left_at(facts: &Facts, one: &Cancelled) -> bool {
    let answered = one.exchange.t_response_last;
    answered.is_some_and(|t| facts.host_left_after(t, AT_ONCE_NS))
}

/// Nanoseconds from the cancellation to the answer.
fn lag(cancelled: &Cancelled) -> Option<u64> {
    let answered = cancelled.exchange.t_response?;
    Some(answered.0.saturating_sub(cancelled.t?.0))
}

/// Answers that a sentence tells apart.
const TOLD_APART: usize = 3;

/// Columns of each of several answers.
const EACH: usize = 100;

/// Calls that were answered with an error.
pub(super) fn calls_failed(facts: &Facts) -> Option<Cause> {
    // A handshake that failed has a cause of its own.
    let is_told = || {
        negotiation::version_mismatch(facts).is_some()
            || negotiation::handshake_unfinished(facts).is_some()
    };
    let is_handshake = |failed: &&Failed| &*failed.first.exchange.method == "initialize";
    let told = facts
        .failed
        .iter()
        .filter(|one| !(is_leaving(one, facts) || is_handshake(one) && is_told()));
    let (called, beside): (Vec<_>, Vec<_>) = told.partition(|one| is_call(one));
    let mut all = called.iter().chain(&beside);
    let (first, others) = (*all.next()?, all);
    // A ping that is refused, or a list that nobody has: who goes on does without.
    let does_without = !is_call(first) && facts.survived(first.first.exchange.request.0);
    let certainty = if does_without {
        Certainty::Possible
    } else {
        Certainty::Certain
    };
    let sentence = failure(first) + &others_too(others.clone());
    let cause = Cause::new(certainty, sentence).advise(advice(&first.first));
    let ways = first.ways().take(TOLD_APART);
    let cause = ways.fold(cause, |cause, alike| cause.shown_call(&alike.exchange));
    Some(cause.shown(others.map(|failed| phrases::request(&failed.first.exchange))))
}

/// Whether somebody wanted something of the server, not of the connection.
fn is_call(failed: &Failed) -> bool {
    matches!(
        &*failed.first.exchange.method,
        "tools/call" | "prompts/get" | "resources/read"
    )
}

/// Whether it is what listens to changes, and was ended because the host had left.
fn is_leaving(failed: &Failed, facts: &Facts) -> bool {
    let exchange = &failed.first.exchange;
    let left = facts.host_left();
    &*exchange.method == "subscriptions/listen"
        && left.is_some_and(|left| exchange.t_response_last.is_some_and(|t| t >= left))
}

/// `search_docs failed twice: quota exceeded (tool-error, #1187, #1201)`, or, where not the same was
/// answered, `search_docs failed twice, differently: no index (…); quota exceeded (…)`
fn failure(failed: &Failed) -> String {
    let times = match failed.count() {
        times if !failed.is_all => format!(" {} or more", plural(times, "time")),
        0 | 1 => String::new(),
        times => format!(" {}", phrases::times(times)),
    };
    let call = phrases::call(&failed.first.exchange);
    if failed.others.is_empty() {
        let said = failed.first.said();
        let said = said.map_or_else(String::new, |said| format!(": {}", escape(said)));
        return format!("{call} failed{times}{said} ({})", places(&failed.first));
    }
    let mut ways: Vec<_> = failed.ways().take(TOLD_APART).map(way).collect();
    let more = (1 + failed.others.len()).saturating_sub(TOLD_APART);
    if more > 0 {
        ways.push(format!("and in {}", plural(more as u64, "other way")));
    }
    format!("{call} failed{times}, differently: {}", ways.join("; "))
}

/// `; get_tides (#38), search_docs (3 times) failed too`
fn others_too<'f>(others: impl Iterator<Item = &'f &'f Failed>) -> String {
    let told = others.map(|failed| match failed.count() {
        1 => phrases::call_at(&failed.first.exchange),
        times => format!(
            "{} ({})",
            phrases::call(&failed.first.exchange),
            phrases::times(times)
        ),
    });
    let told: Vec<_> = told.collect();
    if told.is_empty() {
        return String::new();
    }
    format!("; {} failed too", told.join(", "))
}

/// `quota exceeded (tool-error, #1187, #1201)`, `no answer (lost, #1203)`
fn way(alike: &Alike) -> String {
    let is_silent = alike.exchange.response.is_none();
    let silence = if is_silent {
        "no answer"
    } else {
        "no reason told"
    };
    let said = alike.said().unwrap_or(silence);
    format!("{} ({})", cut(&escape(said), EACH), places(alike))
}

fn places(alike: &Alike) -> String {
    let status = alike.exchange.status.as_str();
    let code = alike.exchange.code.as_deref();
    let code = code.map_or_else(String::new, |code| format!(" {}", escape(code)));
    format!("{status}{code}, {}", phrases::places(&alike.requests))
}

fn advice(alike: &Alike) -> &'static str {
    match (alike.exchange.status, alike.exchange.code.as_deref()) {
        (Status::ToolError, _) => {
            "The tool itself says what is wrong; the connection is fine. Its arguments and its own \
             log are where to look."
        }
        (_, Some("-32601")) if &*alike.exchange.method == "ping" => {
            "Every server has to answer a ping: let it answer with an empty result."
        }
        (_, Some("-32601")) => {
            "The server does not know this method: the client should ask only for what the server \
             declared among its capabilities."
        }
        (_, Some("-32602")) => not_taken(&alike.exchange.method),
        (_, Some("-32603")) => {
            "The server failed while it worked on it, or did not like the params: compare them with \
             what it says, and look at its stderr at that moment."
        }
        _ => "Look at the request beside its answer, and at stderr at that moment.",
    }
}

fn not_taken(method: &str) -> &'static str {
    match method {
        "tools/call" => {
            "The server does not take these params: compare them with the tool's inputSchema, and \
             its name with the list of tools."
        }
        "prompts/get" => {
            "The server does not take these params: compare them with the arguments of the prompt, \
             and its name with the list of prompts."
        }
        "resources/read" => {
            "The server does not take these params: look whether the resource is there, and whether \
             its URI is in a list or fits a template of the server."
        }
        _ => "The server does not take these params: compare them with what it says is wrong.",
    }
}
