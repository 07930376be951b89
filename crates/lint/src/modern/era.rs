//! Messages that the modern era has no place for, and both eras on one process.

use crate::finding::Findings;
use crate::known::Handshake;
use crate::quote;
use crate::rule::{Revisions, Rule};
use crate::section;
use crate::seen::Part;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::message::Era;

pub(super) static SERVER_REQUEST: Rule = Rule::error(
    "modern-server-request",
    "the server sends a request on a modern connection",
)
.why("Modern clients do not answer requests, so the server waits for ever.")
.fix("Let the server ask by a result with `resultType` `input_required`, which the client answers by its retry.")
.of(section::MODERN_STDIO)
.only(Revisions::MODERN);

pub(super) static CLIENT_RESPONSE: Rule = Rule::error(
    "modern-client-response",
    "the client sends a response on a modern connection",
)
.why("Modern servers ask nothing of their client, and may take a response for broken input.")
.fix("Let the client send requests and notifications only, and give what it was asked for in its retry.")
.of(section::MODERN_STDIO)
.only(Revisions::MODERN);

pub(super) static MIXED: Rule = Rule::note(
    "era-mixed",
    "a handshake and modern requests on one process",
)
.why("Only servers of both eras serve both at once, others refuse one or the other.")
.fix("Nothing has to be done where the server allows it; else let the client keep to one era.")
.of(section::VERSIONING);

pub(super) fn server_request(part: &Part<'_>, findings: &mut Findings) {
    if part.seen.known.is_modern() {
        let method = part.method().unwrap_or_default();
        findings.push(part.at(&SERVER_REQUEST, quote::text(method)));
    }
}

pub(super) fn client_response(part: &Part<'_>, findings: &mut Findings) {
    if part.seen.known.is_modern() {
        let id = part.record.rpc_id.as_ref().map_or("none", |id| id.json());
        let detail = format!("id {}", quote::text(id));
        findings.push(part.at(&CLIENT_RESPONSE, detail));
    }
}

/// Whether both eras were met. A probe that is followed by the handshake is not yet both, nor is
/// a modern request that was refused.
#[derive(Debug, Default)]
pub(super) struct Eras {
    served: Option<Seq>,
    is_told: bool,
}

impl Eras {
    pub(super) fn asked(&mut self, part: &Part<'_>, findings: &mut Findings) {
        let handshake = match (part.era(), part.seen.known.handshake) {
            (Era::Modern, Handshake::Answered(_) | Handshake::Done) => Some(None),
            (Era::Legacy, Handshake::Asked(frame)) if frame == part.seen.head.seq => {
                self.served.map(Some)
            }
            _ => None,
        };
        if let Some(earlier) = handshake
            && !self.is_told
        {
            self.is_told = true;
            let detail = match earlier {
                None => "a modern request after the handshake",
                Some(_) => "a handshake after modern requests",
            };
            let mut finding = part.at(&MIXED, detail);
            finding.related.extend(earlier);
            findings.push(finding);
        }
    }

    /// A modern request was answered with a result.
    pub(super) fn served(&mut self, part: &Part<'_>) {
        if part.method() != Some("server/discover") {
            self.served.get_or_insert(part.seen.head.seq);
        }
    }
}
