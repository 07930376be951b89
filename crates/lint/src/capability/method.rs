//! The side and the revision that a method belongs to.

use super::rules::{DIRECTION, NOT_IN_VERSION, UNKNOWN};
use crate::finding::Findings;
use crate::known::Handshake;
use crate::quote;
use crate::remembered::Remembered;
use crate::seen::Part;
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::mcp::capabilities::Declared;
use mcpreel_wire::mcp::methods::{self, Method, Use};
use mcpreel_wire::message::{Body, Direction, Era};
use std::sync::Arc;

/// Unknown methods that have been reported, each once. Without a limit a peer that makes up names
/// would make us grow; beyond it an old one is reported again.
const REPORTED: usize = 256;

#[derive(Debug)]
pub(super) struct Methods {
    unknown: Remembered<Arc<str>, ()>,
}

impl Default for Methods {
    fn default() -> Self {
        Self {
            unknown: Remembered::new(REPORTED),
        }
    }
}

impl Methods {
    pub(super) fn sent(&mut self, part: &Part<'_>, findings: &mut Findings) {
        let Some(name) = part.method() else {
            return;
        };
        // A server of the modern era asks nothing at all, which `modern-server-request` tells.
        let is_of_server = part.direction() == Direction::ServerToClient;
        let is_request = matches!(part.message.body, Body::Request(_));
        if is_request && is_of_server && part.seen.known.is_modern() {
            return;
        }
        let Some(method) = methods::find(name) else {
            return self.unknown(part, name, findings);
        };
        let (revision, other) = revisions(part);
        let possible = [Some(revision), other].into_iter().flatten();
        let mut uses = possible.filter_map(|one| method.used_in(one));
        match uses.next() {
            None if other.is_none() => not_in_version(part, method, revision, findings),
            None => {}
            Some(first) => {
                let allows = |usage: &Use| usage.way.allows(part.direction());
                if !allows(first) && !uses.any(allows) {
                    let detail = format!("{} from the {}", method.name, sender(part.direction()));
                    findings.push(part.at(&DIRECTION, detail).path("method"));
                }
            }
        }
    }

    fn unknown(&mut self, part: &Part<'_>, name: &str, findings: &mut Findings) {
        if self.unknown.is_first(name.into()) && !is_extended(part) {
            findings.push(part.at(&UNKNOWN, quote::text(name)).path("method"));
        }
    }
}

fn sender(direction: Direction) -> &'static str {
    match direction {
        Direction::ClientToServer => "client",
        Direction::ServerToClient => "server",
    }
}

/// The revision by which it is meant, and another by which it can be: of a notification that
/// belongs to no request that is not known, where both eras are spoken on one connection.
fn revisions(part: &Part<'_>) -> (Revision, Option<Revision>) {
    let is_loose = matches!(part.message.body, Body::Notification(_)) && part.asked().is_none();
    let known = part.seen.known;
    if is_loose && known.handshake != Handshake::None && part.seen.session.eras.len() > 1 {
        return (known.legacy(), Some(Revision::V2026_07_28));
    }
    (part.revision(), None)
}

fn not_in_version(part: &Part<'_>, method: &Method, revision: Revision, findings: &mut Findings) {
    // Before the handshake nobody has agreed on a revision, and a handshake is never modern.
    let is_agreed = revision.era() == Era::Modern || part.seen.known.agreed().is_some();
    if !is_agreed || method.name == "initialize" {
        return;
    }
    let has_it = |one: &Revision| method.used_in(*one).is_some();
    let having: Vec<_> = Revision::ALL.into_iter().filter(has_it).collect();
    let (Some(from), Some(to)) = (having.first(), having.last()) else {
        return;
    };
    let span = if from == to {
        format!("only {from}")
    } else {
        format!("{from} to {to}")
    };
    let detail = format!("{} under {revision}; {span} has it", method.name);
    findings.push(part.at(&NOT_IN_VERSION, detail).path("method"));
}

/// Whether a side has declared something that may define methods of its own.
fn is_extended(part: &Part<'_>) -> bool {
    let client = part.client_capabilities();
    let server = part.server_capabilities();
    client.has_unknown_extensions() || server.is_some_and(Declared::has_unknown_extensions)
}
