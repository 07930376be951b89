//! Calls that were answered with an error.

use super::facts::Facts;
use super::failed::{Alike, Failed};
use super::{Cause, Certainty, Kind, handshake, version, words};
use mcpreel_trace::exchange::Status;
use mcpreel_wire::text::{cut, escape, plural};

pub(super) const KIND: Kind = Kind::new("calls-failed", find);

/// Answers that a sentence tells apart.
const TOLD_APART: usize = 3;

/// Columns of each of several answers.
const EACH: usize = 100;

fn find(facts: &Facts) -> Option<Cause> {
    // A handshake that failed has a cause of its own.
    let is_told = || {
        [version::KIND, handshake::KIND]
            .iter()
            .any(|kind| (kind.find)(facts).is_some())
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
    let sentence = sentence(first) + &others_too(others.clone());
    let cause = Cause::new(KIND.id, certainty, sentence).advise(advice(&first.first));
    let ways = first.ways().take(TOLD_APART);
    let cause = ways.fold(cause, |cause, alike| cause.shown_call(&alike.exchange));
    Some(cause.shown(others.map(|failed| words::request(&failed.first.exchange))))
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
fn sentence(failed: &Failed) -> String {
    let times = match failed.count() {
        times if !failed.is_all => format!(" {} or more", plural(times, "time")),
        0 | 1 => String::new(),
        times => format!(" {}", words::times(times)),
    };
    let call = words::call(&failed.first.exchange);
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
        1 => words::call_at(&failed.first.exchange),
        times => format!(
            "{} ({})",
            words::call(&failed.first.exchange),
            words::times(times)
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
    format!("{status}{code}, {}", words::places(&alike.requests))
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
