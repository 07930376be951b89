//! Causes in single calls: no answer, a late one, a failure.

use super::Certainty::{self, Certain, Likely, Possible};
use super::facts::{Alike, Cancelled, Facts, Failed, Found, Line};
use super::{AT_ONCE_NS, Cause, Evidence, Place, SECOND_NS, ending, negotiation, network, phrases};
use crate::{process::is_handshake, quote};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::{Exchange, PROBE, Status};
use mcpreel_trace::frame::StreamId;
use mcpreel_trace::session::End;
use mcpreel_wire::mcp::methods::{self, Way};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{cut, duration, escape, plural};
use std::cmp::Reverse;
use std::fmt::Write as _;

/// Calls that do work, and are not about the connection.
const CALLS: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];

/// The requests of one side that had no answer for longer than `patience_ns` at `until`; none where
/// the answers may stand in what was not read.
fn silent(facts: &Facts, asked: Direction, until: Moment, patience_ns: u64) -> Vec<&Exchange> {
    let is_old = |one: &&Exchange| {
        one.direction == asked
            && one.status != Status::Late
            && one.unanswered_ns(until) > Some(patience_ns)
            && !facts.is_short
            && !facts.may_be_hidden(one)
    };
    // What a person calls off is not missed.
    let is_missed = |one: &&Cancelled| {
        asked == Direction::ClientToServer && one.exchange.status != Status::UserCancelled
    };
    let cancelled = facts.cancelled.iter().filter(is_missed);
    let all = cancelled.map(|one| &one.exchange);
    all.chain(facts.without_answer()).filter(is_old).collect()
}

/// A client that means to answer has done so by then, nanoseconds; people may take longer.
const CLIENT_PATIENCE_NS: u64 = 5 * SECOND_NS;

/// The server asked its client something and had no answer.
pub(super) fn client_never_answered(facts: &Facts) -> Option<Cause> {
    let until = facts.host_left().unwrap_or(facts.now);
    let mut old = silent(facts, Direction::ServerToClient, until, CLIENT_PATIENCE_NS);
    // A server that sends back whatever it is sent asks for what no client has.
    old.retain(|one| {
        methods::find(&one.method)
            .is_none_or(|known| known.uses().any(|usage| usage.way == Way::ToClient))
    });
    let first = *old.first()?;
    let mut calls = facts.without_answer();
    let held_up = calls.find(|call| Some(call.id) == first.parent);
    let waits = held_up.map_or_else(String::new, |call| {
        format!("; {} waits for it", phrases::call_at(call))
    });
    let asks_person = ["elicitation/create", "sampling/createMessage"].contains(&&*first.method);
    let may_come = asks_person && facts.is_live;
    let cause = Cause::new(
        if may_come { Likely } else { Certain },
        format!(
            "the client never answered the server's {} in {}{waits}",
            phrases::call_at(first),
            duration(until.ns_since(first.t_request))
        ),
        "Look for an open dialog in the host, where a person has to answer. Let the server time out and \
         return an error.",
    );
    let shown = old.into_iter().take(3).chain(held_up);
    Some(cause.shown(shown.map(phrases::request)))
}

/// The answer to a call came, with an id that the client cannot match.
pub(super) fn other_id(facts: &Facts, call: &Exchange) -> Option<Cause> {
    let is_alone = |line: &&Line| {
        let is_open = |one: &&Exchange| {
            let is_asked = one.direction == call.direction && one.request.0 < line.seq;
            is_asked && one.response.is_none() && one.cancelled.is_none_or(|seq| seq > line.seq)
        };
        let open = facts.unmet().filter(is_open).map(|one| one.id);
        line.stream == StreamId::S2C && open.eq([call.id])
    };
    let find = |rule, is_meant: &dyn Fn(&&Found) -> bool| {
        let found = facts.found(rule)?.first.iter().find(is_meant)?;
        Some((crate::rule(rule)?, found))
    };
    let by_type = find("response-id-type-changed", &|found| {
        found.exchange == Some(call.id)
    });
    // An id that nobody used was meant for a call that was alone.
    let stray = facts.strays.iter().find(is_alone).map(|line| line.seq);
    let by_place = |found: &&Found| stray.is_some() && found.frame == stray;
    let certainty = if by_type.is_some() { Certain } else { Likely };
    let (rule, found) = by_type.or_else(|| find("response-unknown-id", &by_place))?;
    let sentence = format!(
        "the server answered {}, but with an id that the client cannot match{}: {} in place of {}",
        phrases::call_at(call),
        phrases::at(found.frame),
        found.detail,
        quote::text(call.rpc_id.json())
    );
    let cause = Cause::new(certainty, sentence, rule.fix).shown([phrases::request(call)]);
    let cause = cause.shown([phrases::finding(rule.id, found)]);
    Some(cause.shown(phrases::leaving(facts)))
}

/// A younger request is under way, nanoseconds.
const PATIENCE_NS: u64 = 2 * SECOND_NS;

/// An older request is not merely slow, nanoseconds.
const TOO_LONG_NS: u64 = 30 * SECOND_NS;

/// The requests that were open when the host killed the server, where the server had stopped
/// answering: several, with no answer after the oldest of them. Those of a host that does not wait
/// for answers are none.
fn abandoned(facts: &Facts, until: Moment) -> Vec<&Exchange> {
    let open = silent(facts, Direction::ClientToServer, until, 0);
    let is_hung = open.first().is_some_and(|oldest| {
        let is_later = |one: &Exchange| one.t_response_last > Some(oldest.t_request);
        until.ns_since(oldest.t_request) > AT_ONCE_NS && !facts.last_answered.iter().any(is_later)
    });
    if is_hung && open.len() > 1 {
        open
    } else {
        Vec::new()
    }
}

/// The calls that the server missed to answer, `until` it could. The handshake has a cause of its own, a call
/// that asks the client waits for that, and a server that somebody ended did not end by itself.
fn missed(facts: &Facts, until: Moment, is_killed: bool) -> Vec<&Exchange> {
    let mut missed = silent(facts, Direction::ClientToServer, until, PATIENCE_NS);
    if is_killed && let open @ [_, ..] = &abandoned(facts, until)[..] {
        missed = open.to_vec();
    }
    // The server would not have answered either if nobody had cancelled.
    let hangs = missed.len() > 1 || facts.found("shutdown-eof-ignored").is_some();
    let is_vain = hangs && client_gave_up(facts).is_none();
    let is_at_work = |call: &Exchange| {
        call.progress_count > 0 || call.cancelled.is_some_and(|seq| facts.survived(seq))
    };
    missed.retain(|call| {
        let mut others = facts.without_answer();
        !is_handshake(call)
            && (call.status != Status::Lost || facts.told_to_end().is_some())
            && (call.status != Status::Cancelled || is_vain && !is_at_work(call))
            && !others.any(|one| one.parent == Some(call.id))
    });
    missed
}

/// The call before `oldest` on which a server that does one thing after the other was at work, so that no
/// time was left for `oldest`.
fn at_work_on<'f>(facts: &'f Facts, oldest: &Exchange, until: Moment) -> Option<&'f Exchange> {
    let until_end = |one: &&Exchange| {
        let done = one.t_response_last.unwrap_or_default();
        one.id < oldest.id && done > oldest.t_request && until.ns_since(done) < PATIENCE_NS
    };
    let busy = facts.last_answered.iter().rfind(until_end)?;
    let mut answered = facts.last_answered.iter();
    answered.all(|it| it.id <= busy.id).then_some(busy)
}

/// The server never answered a request.
pub(super) fn never_answered(facts: &Facts) -> Option<Cause> {
    let mut later = facts.unmet().filter(|call| !is_handshake(call));
    if let Some(cause) = later.find_map(|call| other_id(facts, call)) {
        return Some(cause);
    }
    let killed = facts.killed_after_host_left();
    let until = killed.map_or_else(|| facts.could_answer_until(), |(t, _)| t);
    let missed = missed(facts, until, killed.is_some());
    let oldest = *missed.iter().min_by_key(|call| (call.t_request, call.id))?;
    let waited_ns = oldest.unanswered_ns(until)?;
    let is_too_long = waited_ns > TOO_LONG_NS;
    // Whoever ends the proxy ends the waiting.
    if facts.proxy_was_ended() && !is_too_long {
        return None;
    }
    let never = match oldest.status {
        Status::Open => "has not answered",
        _ => "never answered",
    };
    let (call, waited) = (phrases::call_at(oldest), duration(waited_ns));
    let mut sentence = format!("the server {never} {call} in {waited}");
    sentence += &phrases::if_any(missed.len() as u64 - 1, |others| {
        format!(", nor {}", plural(others, "other request"))
    });
    if let Some(left) = facts.host_left().filter(|left| *left < until) {
        // A call that was read after the host had left has waited no longer than it is there.
        let ago = duration(until.ns_since(left).min(waited_ns));
        _ = write!(sentence, ", {ago} of that{}", phrases::after_host(facts));
    }
    let busy = at_work_on(facts, oldest, until);
    if let Some(call) = busy {
        _ = write!(sentence, "; it was at work on {}", phrases::call_at(call));
    }
    if let Some((_, signal)) = killed {
        _ = write!(sentence, "; it was ended by {}", quote::text(signal));
    }
    let goes_on = facts.last_answered.iter().any(|one| one.id > oldest.id);
    let advice = if busy.is_some() {
        "The server does one thing after the other: let long work run beside other calls."
    } else if missed.len() > 1 && !goes_on {
        "The server stopped answering altogether: find what blocks it, for example a deadlock, or a \
         call that holds up the loop which reads stdin."
    } else {
        "Look for a tool that waits, an uncaught exception, or a handler that never answers."
    };
    let certainty = if is_too_long { Certain } else { Likely };
    let cause = Cause::new(certainty, sentence, advice)
        .shown(missed.iter().take(3).map(|call| phrases::request(call)))
        .shown(busy.and_then(phrases::response))
        .shown(phrases::leaving(facts));
    Some(cause.shown(phrases::stderr(facts, Some(oldest.t_request), 2)))
}

/// The shortest limit that clients come with is 5 s; people cancel sooner, nanoseconds.
const IMPATIENCE_NS: u64 = 4_900_000_000;

/// The client gave up waiting for an answer.
pub(super) fn client_gave_up(facts: &Facts) -> Option<Cause> {
    let cancelled = facts.cancelled.iter();
    let judged = cancelled.filter(|one| one.exchange.direction == Direction::ClientToServer);
    let judged = judged.filter(|one| other_id(facts, &one.exchange).is_none());
    let judged = judged.filter_map(|one| Some((one, one.waited_ns()?, timed_out(one)?)));
    let others = judged.clone().count().saturating_sub(1) as u64;
    let (cancelled, waited, certainty) =
        judged.min_by_key(|(.., certainty)| Reverse(*certainty))?;
    let exchange = &cancelled.exchange;
    let progress = match (cancelled.has_token, exchange.progress_count) {
        (false, _) => "; the client had sent no progressToken".to_owned(),
        (true, 0) => "; it had sent a progressToken, but the server sent no progress".to_owned(),
        (true, n) => format!(" although {} had come", plural(n, "progress notification")),
    };
    let more = phrases::if_any(others, |others| {
        format!("; {} timed out too", plural(others, "other call"))
    });
    let (call, waited) = (phrases::call_at(exchange), duration(waited));
    let sentence = format!(
        "the server had not answered {call} after {waited} when the client gave up{progress}{more}"
    );
    let cause = Cause::new(
        certainty,
        sentence,
        "Raise the client's timeout, let progress notifications reset it (the client sends a \
         progressToken), or let the tool answer at once and work in the background.",
    );
    Some(shown_cancelled(cause, cancelled))
}

/// The certainty that a limit cancelled the request; `None` if it looks like a person.
fn timed_out(cancelled: &Cancelled) -> Option<Certainty> {
    if cancelled.exchange.status == Status::UserCancelled {
        return None;
    }
    let said = cancelled.said.to_ascii_lowercase();
    let mut words = ["timed out", "timeout", "-32001"].iter();
    if words.any(|word| said.contains(word)) {
        return Some(Certain);
    }
    (cancelled.waited_ns()? > IMPATIENCE_NS).then_some(Likely)
}

/// Shows a request, its cancellation and what came of it.
fn shown_cancelled(cause: Cause, cancelled: &Cancelled) -> Cause {
    let exchange = &cancelled.exchange;
    let text = format!("the client said: {}", quote::text(&cancelled.said));
    let cancellation = exchange.cancelled.map(Place::Frame);
    cause
        .shown([phrases::request(exchange)])
        .shown(cancellation.map(|place| Evidence::new(place, text)))
        .shown(phrases::response(exchange))
}

/// A call was made again after it had not been answered in time: the tool may have run twice.
pub(super) fn executed_twice(facts: &Facts) -> Option<Cause> {
    let cancel_of = |first: &Exchange| {
        let mut cancelled = facts.cancelled.iter();
        cancelled.find(|one| one.exchange.id == first.id)
    };
    // A person who has cancelled a call knows why it is made again.
    let is_meant = |first: &Exchange| first.status == Status::UserCancelled;
    let pairs = facts.again.iter().filter(|(first, _)| !is_meant(first));
    // One that was answered after all has run for sure; the second if it was answered.
    let (first, again) = pairs.min_by_key(|(first, _)| first.status != Status::Late)?;
    let after = match cancel_of(first) {
        Some(cancelled) if timed_out(cancelled) != Some(Certain) => "its cancel",
        _ => "a timeout",
    };
    let (certainty, did) = match (first.status, again.response) {
        (Status::Late, Some(_)) => (Certain, "the tool ran twice"),
        (Status::Late, None) | (_, Some(_)) => (Likely, "the tool may have run twice"),
        (_, None) => (Possible, "the tool may have run twice"),
    };
    let cause = Cause::new(
        certainty,
        format!(
            "{} was called again with the same arguments (#{}) after {after}: {did}",
            phrases::call_at(first),
            again.request.0.0
        ),
        "Check for effects that happened twice. Make the tool safe to repeat, for example with a key \
         from the caller, or raise the client's timeout.",
    );
    Some(cause.shown_call(first).shown_call(again))
}

/// An answer that was under way already crosses the cancellation, nanoseconds.
const CROSSING_NS: u64 = SECOND_NS / 10;

/// The server answered after the client had cancelled.
pub(super) fn late_answer(facts: &Facts) -> Option<Cause> {
    let cancelled = facts.cancelled.iter();
    let cancelled = cancelled.filter(|one| one.exchange.response.is_some());
    let cancelled = cancelled.map(|one| (&one.exchange, one.exchange.t_cancelled, Some(one)));
    // A probe is given up without a word.
    let opening = facts.opening.windows(2);
    let probes = opening.filter(|pair| &*pair[0].method == PROBE);
    let probes = probes.map(|pair| (&pair[0], Some(pair[1].t_request), None));
    let late = cancelled
        .chain(probes)
        .filter_map(|(exchange, given_up, cancelled)| {
            let lag = exchange.t_response?.ns_since(given_up?);
            let left = facts.host_left_after(exchange.t_response_last?, AT_ONCE_NS);
            let is_late = lag > CROSSING_NS && (left || cancelled.is_some());
            is_late.then_some((left, lag, exchange, cancelled))
        });
    let (left, lag, exchange, cancelled) = late.max_by_key(|(left, lag, ..)| (*left, *lag))?;
    if ending::answered_at_exit(facts).is_some() {
        return None;
    }
    let did = match cancelled {
        Some(_) => "cancelled it",
        None => "gone on without it",
    };
    let (certainty, then) = if left {
        (Likely, ", and the host left when it came")
    } else {
        let then = "; some clients close the connection when a late answer comes";
        (Possible, then)
    };
    let sentence = format!(
        "the server answered {} {} after the client had {did}{then}",
        phrases::call_at(exchange),
        duration(lag)
    );
    let advice = "Let the server stop the work and send no answer once the cancellation has come.";
    let cause = Cause::new(certainty, sentence, advice);
    let cause = match cancelled {
        Some(cancelled) => shown_cancelled(cause, cancelled),
        None => cause.shown_call(exchange),
    };
    Some(cause.shown(phrases::leaving(facts).filter(|_| left)))
}

/// Answers that a sentence tells apart.
const TOLD_APART: usize = 3;

/// Columns of each of several answers.
const EACH: usize = 100;

/// Calls were answered with an error.
pub(super) fn calls_failed(facts: &Facts) -> Option<Cause> {
    let is_told = |way: &Alike| way.is_by_bridge || network::has_http_cause(facts, way);
    let is_meant = |failed: &&Failed| match &*failed.first().method {
        _ if failed.ways.iter().all(is_told) => false,
        // A handshake that failed has a cause of its own.
        "initialize" => {
            negotiation::version_mismatch(facts).is_none()
                && negotiation::handshake_unfinished(facts).is_none()
        }
        _ => true,
    };
    // A call is of the server, the rest of the connection.
    let is_call = |failed: &Failed| CALLS.contains(&&*failed.first().method);
    let mut failed: Vec<_> = facts.failed.iter().filter(is_meant).collect();
    failed.sort_by_key(|failed| !is_call(failed));
    let (first, others) = failed.split_first()?;
    let exchange = first.first();
    let advice = match (exchange.status, exchange.code.as_deref()) {
        (Status::ToolError, _) => {
            "The connection is fine, the tool failed: check its arguments and its own log."
        }
        (_, Some("-32601")) => {
            "The server lacks this method: let the client use only what the server has declared."
        }
        (_, Some("-32602")) => {
            "Compare the params with what the server lists: the tool's inputSchema, the prompt's \
             arguments, the resource's URI."
        }
        _ => phrases::advice_for_answer(facts),
    };
    // A ping that is refused, or a list that nobody has: who goes on does without.
    let does_without = !is_call(first) && facts.survived(exchange.request.0);
    let certainty = if does_without { Possible } else { Certain };
    let cause = Cause::new(
        certainty,
        failure(first) + &others_too(others, facts),
        advice,
    );
    let ways = first.ways.iter().take(TOLD_APART);
    let cause = ways.fold(cause, |cause, alike| cause.shown_call(&alike.exchange));
    let cause = cause.shown(phrases::stderr_about(facts, exchange, 3));
    let others = others.iter().map(|failed| failed.first());
    Some(others.fold(cause, Cause::shown_call))
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
        let said = way.said().map(|said| format!(": {}", escape(said)));
        let (said, places) = (said.unwrap_or_default(), places(way));
        return format!("{call} failed{times}{said} ({places})");
    }
    let ways = failed.ways.iter().take(TOLD_APART).map(|alike| {
        let silence = match alike.exchange.response {
            Some(_) => "no reason given",
            None => "no answer",
        };
        let said = escape(alike.said().unwrap_or(silence));
        format!("{} ({})", cut(&said, EACH), places(alike))
    });
    let mut ways: Vec<_> = ways.collect();
    ways.extend((failed.ways.len() > TOLD_APART).then(|| "…".to_owned()));
    format!(
        "{call} failed{times}, with different errors: {}",
        ways.join("; ")
    )
}

/// `tool-error, #1187, #1201`
fn places(alike: &Alike) -> String {
    let status = alike.exchange.status.as_str();
    let code = alike.exchange.code.as_deref();
    let code = code.map_or_else(String::new, |code| format!(" {}", escape(code)));
    let places = alike.requests.iter().map(|seq| format!("#{}", seq.0));
    format!("{status}{code}, {}", phrases::first_few(places))
}

/// `; get_tides (#38), search_docs (3 times) failed too; 1 call had no answer`
fn others_too(others: &[&Failed], facts: &Facts) -> String {
    let told = others.iter().map(|failed| match failed.count() {
        1 => phrases::call_at(failed.first()),
        times => format!(
            "{} ({})",
            phrases::call(failed.first()),
            phrases::times(times)
        ),
    });
    let mut told: Vec<_> = told.collect();
    // They may have a cause of their own, and are not to be taken for others.
    let is_silent = |one: &&Exchange| one.has_failed() && one.response.is_none();
    let silent = facts.unmet().filter(is_silent).count() as u64;
    let silent = silent.min(facts.failed_too.count);
    let more = facts.failed_too.count - silent;
    told.extend((more > 0).then(|| plural(more, "other call")));
    let failed = phrases::if_any(told.len() as u64, |_| {
        format!("; {} failed too", told.join(", "))
    });
    let silent = phrases::if_any(silent, |n| format!("; {} had no answer", plural(n, "call")));
    failed + &silent
}

/// A call was cancelled or left without an answer, and no surer cause tells why.
pub(super) fn left_unanswered(facts: &Facts) -> Option<Cause> {
    let is_left = |one: &&Exchange| {
        let is_answered = matches!(one.status, Status::Error | Status::ToolError);
        one.has_failed() && !is_answered && !facts.is_short && !facts.may_be_hidden(one)
    };
    let first = facts.troubled().filter(is_left).min_by_key(|one| one.id)?;
    let mut cancelled = facts.cancelled.iter();
    let cancelled = cancelled.find(|one| one.exchange.id == first.id);
    let when = match cancelled {
        Some(_) => "before it was cancelled",
        None if facts.is_cut_off() => "when the recorder was killed",
        None if facts.host_vanished() => "when the host was gone",
        None if matches!(facts.end(), None | Some(End::Unknown)) => "when the recording ended",
        None => "when the session ended",
    };
    let waited = first.unanswered_ns(Some(facts.now).filter(|_| !facts.is_cut_off()));
    let waited = waited.map_or_else(String::new, |ns| format!(", after {}", duration(ns)));
    let progress = cancelled.map_or(first, |one| &one.exchange).progress_count;
    let progress = phrases::if_any(progress, |n| {
        format!(", though {} came", plural(n, "progress notification"))
    });
    let call = phrases::call_at(first);
    let told = format!("{call} had no answer {when}{waited}{progress}");
    // Where others were answered another cause has counted all.
    let others = match facts.counts.failed.saturating_sub(1) {
        n @ 1.. if facts.failed.is_empty() => format!("; {} failed too", plural(n, "other call")),
        _ => String::new(),
    };
    let advice = match first.direction {
        _ if facts.is_cut_off() => phrases::CUT_OFF,
        Direction::ServerToClient => {
            "Check whether the client answers such requests; it cannot once it has closed its side."
        }
        Direction::ClientToServer
            if first.status == Status::Lost && facts.told_to_end().is_none() =>
        {
            "The server or its connection ended before the answer: read the server's log at that \
             moment."
        }
        Direction::ClientToServer if cancelled.is_none() && facts.proxy_was_ended() => {
            "If the call takes longer than that, let the proxy run until it is answered."
        }
        Direction::ClientToServer if cancelled.is_none() => {
            "Check what the server did with this call, and how long the host waits for answers."
        }
        Direction::ClientToServer => {
            "The user changed their mind, or the client's timeout is short; else check what the \
             server did with this call."
        }
    };
    let cause = Cause::new(Possible, told + &others, advice);
    Some(match cancelled {
        Some(cancelled) => shown_cancelled(cause, cancelled),
        None => cause
            .shown([phrases::request(first)])
            .shown(phrases::leaving(facts)),
    })
}
