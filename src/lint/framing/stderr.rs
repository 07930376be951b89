//! Messages of the server that went to stderr, where no client reads them.

use super::rules::STDERR_JSONRPC;
use crate::lint::finding::Findings;
use crate::lint::rpc::describe;
use crate::lint::seen::Seen;
use crate::protocol::mcp::methods::{self, Way};
use crate::protocol::message::{Body, Message, Problem, classify};
use crate::trace::frame::FrameHead;
use memchr::memmem;
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Responses whose twin on the other stream is waited for or remembered: a server that writes one
/// response to both only logs its traffic. Without a limit every response would be kept.
const REMEMBERED: usize = 64;

/// What was seen on stderr.
#[derive(Debug, Default)]
pub(super) struct Stderr {
    /// Ids of the latest responses on the protocol streams, by hash.
    answered: VecDeque<u64>,
    /// Ids of responses on stderr, by hash.
    awaited: Vec<u64>,
    /// Whether the server writes its traffic to stderr as well as to stdout.
    logs_traffic: bool,
}

impl Stderr {
    /// Looks at a line on stderr.
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
        if let Some(id) = response_id(message) {
            self.logs_traffic = self.answered.contains(&id);
            if self.logs_traffic {
                return;
            }
            if self.awaited.len() < REMEMBERED {
                self.awaited.push(id);
            }
        }
        findings.push(STDERR_JSONRPC.at(head.seq, describe(message, false)));
    }

    /// Looks whether what was on stderr comes on a protocol stream after all.
    pub(super) fn frame(&mut self, seen: &Seen<'_>) {
        for id in seen.content.messages.iter().filter_map(response_id) {
            self.logs_traffic |= self.awaited.contains(&id);
            if self.answered.len() == REMEMBERED {
                self.answered.pop_front();
            }
            self.answered.push_back(id);
        }
    }
}

/// The id of a response, by hash.
fn response_id(message: &Message) -> Option<u64> {
    let Body::Response(response) = &message.body else {
        return None;
    };
    let mut hasher = DefaultHasher::new();
    response.id.as_ref()?.hash(&mut hasher);
    Some(hasher.finish())
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
