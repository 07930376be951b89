//! Calls that were answered with an error.

use super::facts::{Facts, Failed};
use super::{Cause, Kind, words};
use crate::text::plural;
use crate::trace::exchange::Status;

pub(super) const KIND: Kind = Kind::new("calls-failed", find);

fn find(facts: &Facts) -> Option<Cause> {
    let first = facts.failed.first()?;
    let others = facts.failed.iter().skip(1);
    let cause = Cause::certain(KIND.id, sentence(first)).advise(advice(first));
    let cause = cause.shown([words::request(&first.exchange)]);
    let cause = cause.shown(words::response(&first.exchange));
    Some(cause.shown(others.map(|failed| words::request(&failed.exchange))))
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
        (_, Some("-32601")) => {
            "The server does not know this method: the client should ask only for what the server \
             declared among its capabilities."
        }
        (_, Some("-32602")) => {
            "The server does not take these params: compare them with the tool's inputSchema, and \
             its name with the list of tools."
        }
        (_, Some("-32603")) => {
            "The server failed while it worked on it: its stderr at that moment says more."
        }
        _ => "Look at the request beside its answer, and at stderr at that moment.",
    }
}
