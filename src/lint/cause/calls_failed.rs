//! Calls that were answered with an error.

use super::facts::{Facts, Failed};
use super::{Cause, Certainty, Kind, words};
use crate::text::plural;
use crate::trace::exchange::Status;

pub(super) const KIND: Kind = Kind::new("calls-failed", find);

fn find(facts: &Facts) -> Option<Cause> {
    let failed = facts.failed.iter().filter(|one| !is_leaving(one, facts));
    let (called, beside): (Vec<_>, Vec<_>) = failed.partition(|one| is_call(one));
    let mut all = called.iter().chain(&beside);
    let (first, others) = (*all.next()?, all);
    // A ping that is refused, or a list that nobody has: who goes on does without.
    let does_without = !is_call(first) && facts.survived(first.exchange.request.0);
    let certainty = if does_without {
        Certainty::Possible
    } else {
        Certainty::Certain
    };
    let cause = Cause::new(KIND.id, certainty, sentence(first)).advise(advice(first));
    let cause = cause.shown([words::request(&first.exchange)]);
    let cause = cause.shown(words::response(&first.exchange));
    Some(cause.shown(others.map(|failed| words::request(&failed.exchange))))
}

/// Whether somebody wanted something of the server, not of the connection.
fn is_call(failed: &Failed) -> bool {
    matches!(
        &*failed.exchange.method,
        "tools/call" | "prompts/get" | "resources/read"
    )
}

/// Whether it is what listens to changes, and was ended because the host had left.
fn is_leaving(failed: &Failed, facts: &Facts) -> bool {
    let exchange = &failed.exchange;
    let left = facts.host_left();
    &*exchange.method == "subscriptions/listen"
        && left.is_some_and(|left| exchange.t_response_last.is_some_and(|t| t >= left))
}

/// `search_docs failed twice: quota exceeded (tool-error, #1187, #1201)`
fn sentence(failed: &Failed) -> String {
    let exchange = &failed.exchange;
    let times = match failed.requests.len() {
        times if !failed.is_all => format!(" {} or more", plural(times as u64, "time")),
        0 | 1 => String::new(),
        times => format!(" {}", words::times(times as u64)),
    };
    let answer = words::answer(exchange).map_or_else(String::new, |answer| format!(": {answer}"));
    let requests = match failed.requests.as_slice() {
        [] => &[exchange.request.0],
        requests => requests,
    };
    format!(
        "{} failed{times}{answer} ({}, {})",
        words::call(exchange),
        exchange.status.as_str(),
        words::places(requests)
    )
}

fn advice(failed: &Failed) -> &'static str {
    match (failed.exchange.status, failed.exchange.code.as_deref()) {
        (Status::ToolError, _) => {
            "The tool itself says what is wrong; the connection is fine. Its arguments and its own \
             log are where to look."
        }
        (_, Some("-32601")) if &*failed.exchange.method == "ping" => {
            "Every server has to answer a ping: let it answer with an empty result."
        }
        (_, Some("-32601")) => {
            "The server does not know this method: the client should ask only for what the server \
             declared among its capabilities."
        }
        (_, Some("-32602")) => not_taken(&failed.exchange.method),
        (_, Some("-32603")) => {
            "The server failed while it worked on it, or did not like the params: compare them with \
             what it says, and look at its stderr at that moment."
        }
        _ => "Look at the request beside its answer, and at stderr at that moment.",
    }
}

/// What params are compared with.
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
