//! Messages of the server that went to stderr, where no client reads them.

use super::rules::STDERR_JSONRPC;
use crate::digest;
use crate::finding::{Finding, Findings};
use crate::rpc::describe;
use crate::seen::Seen;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::FrameHead;
use mcpreel_wire::mcp::methods::{self, Way};
use mcpreel_wire::message::{Body, Message, Problem, classify};
use memchr::memmem;
use std::collections::VecDeque;

/// Responses on the protocol streams, and lines on stderr, that are remembered: a server that
/// writes one response to both only logs its traffic. Without a limit all would be kept.
const REMEMBERED: usize = 64;

/// How long a response on stderr may be ahead of its twin on stdout.
const AHEAD_NS: u64 = 1_000_000_000;

#[derive(Debug, Default)]
pub(super) struct Stderr {
    /// Ids of the latest responses on the protocol streams, by hash.
    answered: VecDeque<u64>,
    /// Lines on stderr that are told unless the server turns out to log its traffic.
    held: VecDeque<Held>,
    /// Whether the server writes its traffic to stderr as well as to stdout.
    logs_traffic: bool,
}

#[derive(Debug)]
struct Held {
    id: Option<u64>,
    t: Moment,
    finding: Finding,
}

impl Stderr {
    pub(super) fn line(&mut self, head: &FrameHead, raw: &[u8], findings: &mut Findings) {
        let whole = raw.len() as u64 == head.size;
        if self.logs_traffic || !whole || !raw.starts_with(b"{") {
            return;
        }
        if memmem::find(raw, b"\"jsonrpc\"").is_none() {
            return;
        }
        let content = classify(raw);
        let Some(message) = content.messages.first().filter(|it| is_of_server(it)) else {
            return;
        };
        let id = response_id(message);
        if id.is_some_and(|id| self.answered.contains(&id)) {
            return self.is_a_log();
        }
        if self.held.len() == REMEMBERED {
            findings.extend(self.held.pop_front().map(|held| held.finding));
        }
        self.held.push_back(Held {
            id,
            t: head.t_last,
            finding: STDERR_JSONRPC.at(head.seq, describe(message, false)),
        });
    }

    /// Looks whether what was on stderr comes on a protocol stream after all.
    pub(super) fn frame(&mut self, seen: &Seen<'_>) {
        if self.logs_traffic {
            return;
        }
        for id in seen.content.messages.iter().filter_map(response_id) {
            if self.held.iter().any(|held| held.id == Some(id)) {
                return self.is_a_log();
            }
            if self.answered.len() == REMEMBERED {
                self.answered.pop_front();
            }
            self.answered.push_back(id);
        }
    }

    /// Tells what was held long enough at `now`.
    pub(super) fn passed(&mut self, now: Moment, findings: &mut Findings) {
        let is_due = |held: &mut Held| held.t.0 + AHEAD_NS <= now.0;
        while let Some(held) = self.held.pop_front_if(is_due) {
            findings.push(held.finding);
        }
    }

    /// Tells what is still held: nothing more comes.
    pub(super) fn finish(&mut self, findings: &mut Findings) {
        findings.extend(self.held.drain(..).map(|held| held.finding));
    }

    fn is_a_log(&mut self) {
        self.logs_traffic = true;
        self.held.clear();
        self.answered.clear();
    }
}

fn response_id(message: &Message) -> Option<u64> {
    let Body::Response(response) = &message.body else {
        return None;
    };
    Some(digest::of(response.id.as_ref()?))
}

/// Whether it is a message that only a server sends: a server may log what it receives.
fn is_of_server(message: &Message) -> bool {
    let method = match &message.body {
        Body::Response(_) => return !message.problems.contains(&Problem::Version),
        Body::Request(request) => &request.method,
        Body::Notification(notification) => &notification.method,
        Body::Invalid => return false,
    };
    let known = methods::find(method);
    known.is_some_and(|known| known.uses().all(|usage| usage.way == Way::ToClient))
}
