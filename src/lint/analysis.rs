//! All that is derived from a recording, in one pass over its frames and events.

use super::Linter;
use super::rule::{Finding, Findings, Seen};
use crate::protocol::message::Content;
use crate::trace::correlator::{Changes, Correlator, MessageRecord};
use crate::trace::event::Event;
use crate::trace::exchange::Exchange;
use crate::trace::frame::FrameHead;
use crate::trace::session::Session;

/// What one transaction has to write.
#[derive(Debug, Default)]
pub struct Derived {
    /// New messages, in order.
    pub messages: Vec<MessageRecord>,
    /// Exchanges that are new or changed, each once, as they stand now, by id.
    pub exchanges: Vec<Exchange>,
    /// New findings, in order.
    pub findings: Vec<Finding>,
}

/// Correlator, session and linter, fed in the right order.
#[derive(Default)]
pub struct Analysis {
    correlator: Correlator,
    session: Session,
    linter: Linter,
    changes: Changes,
    findings: Findings,
}

impl Analysis {
    /// For the start of a recording.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next frame in, of any stream. `raw` is the whole frame or, of a very long one, at
    /// least the beginning; for a stream without protocol messages `content` is the default.
    pub fn frame(&mut self, head: &FrameHead, raw: &[u8], content: &Content) {
        self.correlator.frame(head, content, &mut self.changes);
        self.session.frame(head, content);
        let seen = Seen {
            head,
            raw,
            content,
            messages: self.changes.latest_messages(),
            observations: self.changes.observations(),
            session: &self.session,
        };
        self.linter.frame(&seen, &mut self.findings);
    }

    /// Takes the next event in.
    pub fn event(&mut self, event: &Event) {
        self.correlator.event(event, &mut self.changes);
        self.session.event(event);
        self.linter.event(event, &self.session, &mut self.findings);
    }

    /// The recording is over: nothing is open any longer.
    pub fn finish(&mut self) {
        self.correlator.finish(&mut self.changes);
        self.session.finish();
        self.linter.finish(
            self.changes.observations(),
            &self.session,
            &mut self.findings,
        );
    }

    /// Everything derived since the last call.
    pub fn take(&mut self) -> Derived {
        let batch = self.changes.take();
        Derived {
            messages: batch.messages,
            exchanges: batch.exchanges,
            findings: std::mem::take(&mut self.findings),
        }
    }

    /// Who spoke, and in which phase they are.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }
}
