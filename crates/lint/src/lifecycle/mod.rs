//! Rules about the handshake of the legacy era.
//!
//! * who speaks when: this file;
//! * `shape`: what `initialize` and its answer say.
//!
//! What is said before the handshake is judged only where nothing of what the client said is
//! missing on record. A fault that every later message repeats is reported once.

mod rules;
mod shape;

use super::family::Family;
use super::finding::Findings;
use super::known::Handshake;
use super::once::Once;
use super::quote;
use super::rule::Rule;
use super::seen::{Part, Seen};
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::message::{Body, Direction, Era, Problem};

#[derive(Debug, Default)]
pub struct Lifecycle {
    /// Something that the client said is not on record, or could not be read: it may have been
    /// `initialize`.
    is_blind: bool,
    /// The client has said `initialized`, in whatever form.
    is_initialized: bool,
    has_begun: bool,
    once: Once,
    asked: Option<shape::Wish>,
}

impl Family for Lifecycle {
    fn name(&self) -> &'static str {
        "lifecycle"
    }

    fn rules(&self) -> &'static [&'static Rule] {
        static RULES: &[&Rule] = &[
            &rules::NOT_INITIALIZED,
            &rules::BEFORE_ANSWER,
            &rules::INITIALIZED_MISSING,
            &rules::INITIALIZE_TWICE,
            &rules::INITIALIZE_SHAPE,
            &rules::VERSION_UNKNOWN,
            &rules::VERSION_DOWNGRADED,
            &rules::EARLY_SERVER_REQUEST,
            &rules::EARLY_SERVER_NOTIFICATION,
            &rules::CANCEL_INITIALIZE,
        ];
        RULES
    }

    fn frame(&mut self, seen: &Seen<'_>, findings: &mut Findings) {
        let Some(direction) = seen.head.stream.messages() else {
            return;
        };
        if direction == Direction::ClientToServer && seen.known.handshake == Handshake::None {
            self.is_blind |= self.misses_something(seen);
        }
        for part in seen.parts() {
            match (&part.message.body, direction) {
                (Body::Request(_), Direction::ClientToServer) => self.asked(&part, findings),
                (Body::Notification(_), Direction::ClientToServer) => {
                    self.is_initialized |= is_initialized(&part);
                    cancelled(&part, findings);
                }
                (Body::Request(_) | Body::Notification(_), Direction::ServerToClient)
                    if !self.is_initialized =>
                {
                    self.early(&part, findings);
                }
                (Body::Response(_), Direction::ServerToClient) => {
                    shape::answered(&part, self.asked.as_ref(), findings);
                }
                _ => {}
            }
        }
    }
}

fn is_initialized(part: &Part<'_>) -> bool {
    part.method() == Some("notifications/initialized")
}

/// A request that is judged by the handshake: it does not say its version itself.
fn is_legacy(part: &Part<'_>) -> bool {
    part.era() == Era::Legacy && part.revision() < Revision::V2026_07_28
}

/// A cancel of `initialize`, while that is open.
fn cancelled(part: &Part<'_>, findings: &mut Findings) {
    if part.method() == Some("notifications/cancelled")
        && let Some(asked) = part.asked()
        && &*asked.method == "initialize"
    {
        let finding = part.at(
            &rules::CANCEL_INITIALIZE,
            "before the server has answered it",
        );
        findings.push(finding.and(asked.frame));
    }
}

impl Lifecycle {
    /// Whether bytes before this frame are not on record, or it is a line that could not be read.
    fn misses_something(&mut self, seen: &Seen<'_>) -> bool {
        let content = seen.content;
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        let is_blank = content.problems.contains(&Problem::Blank);
        is_first && seen.head.offset > 0 || content.messages.is_empty() && !is_blank
    }

    fn asked(&mut self, part: &Part<'_>, findings: &mut Findings) {
        let method = part.method().unwrap_or_default();
        if method == "initialize" {
            return self.asked_initialize(part, findings);
        }
        self.is_initialized |= is_initialized(part);
        if method == "ping" || !is_legacy(part) {
            return;
        }
        let detail = || quote::text(method);
        match part.seen.known.handshake {
            Handshake::None if !self.is_blind && self.once.is_first(&rules::NOT_INITIALIZED) => {
                findings.push(part.at(&rules::NOT_INITIALIZED, detail()));
            }
            Handshake::Asked(initialize) => {
                let finding = part.at(&rules::BEFORE_ANSWER, detail());
                findings.push(finding.and(initialize));
            }
            Handshake::Answered(answer)
                if !self.is_initialized && self.once.is_first(&rules::INITIALIZED_MISSING) =>
            {
                let finding = part.at(&rules::INITIALIZED_MISSING, detail());
                findings.push(finding.and(answer));
            }
            _ => {}
        }
    }

    fn asked_initialize(&mut self, part: &Part<'_>, findings: &mut Findings) {
        let earlier = match part.seen.known.handshake {
            Handshake::Asked(frame) if frame != part.seen.head.seq => {
                Some("while the first one is open")
            }
            Handshake::Answered(_) | Handshake::Done => Some("after the first one was answered"),
            _ => None,
        };
        if let Some(detail) = earlier {
            findings.push(part.at(&rules::INITIALIZE_TWICE, detail));
        }
        self.asked = shape::asked(part, findings);
    }

    /// A request or notification of the server before the client is ready.
    fn early(&mut self, part: &Part<'_>, findings: &mut Findings) {
        let method = part.method().unwrap_or_default();
        let is_request = matches!(part.message.body, Body::Request(_));
        if !is_legacy(part) || self.is_blind || part.seen.known.handshake == Handshake::Done {
            return;
        }
        if is_request {
            if method != "ping" {
                let finding = part.at(&rules::EARLY_SERVER_REQUEST, quote::text(method));
                findings.push(finding);
            }
        } else if is_of_its_own(part, method)
            && self.once.is_first(&rules::EARLY_SERVER_NOTIFICATION)
        {
            let finding = part.at(&rules::EARLY_SERVER_NOTIFICATION, quote::text(method));
            findings.push(finding);
        }
    }
}

/// A notification that is neither a log message nor about something that the client has asked.
fn is_of_its_own(part: &Part<'_>, method: &str) -> bool {
    method != "notifications/message" && part.exchange().is_none()
}
