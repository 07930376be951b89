//! All that is derived from a recording, in one pass over its frames and events.

use super::Linter;
use super::family::Context;
use super::finding::Finding;
use super::known::Known;
use super::seen::Seen;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::{Changes, Correlator, MessageRecord, Observation};
use mcpreel_trace::event::{Event, EventKind};
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::{FrameHead, StreamId};
use mcpreel_trace::session::Session;
use mcpreel_wire::json::Value;
use mcpreel_wire::message::Content;

/// What one transaction has to write.
#[derive(Debug, Default)]
pub struct Derived {
    pub messages: Vec<MessageRecord>,
    /// Exchanges that are new or changed, each once, as they stand now, by id.
    pub exchanges: Vec<Exchange>,
    pub findings: Vec<Finding>,
}

/// Correlator, session and linter, fed in the right order.
#[derive(Default)]
pub struct Analysis {
    correlator: Correlator,
    session: Session,
    known: Known,
    linter: Linter,
    changes: Changes,
    findings: Vec<Finding>,
    /// What was observed of that which was open at the end.
    ended: Vec<Observation>,
    /// The streams of whose next line only a part is on record.
    shortened: Vec<StreamId>,
    now: Moment,
}

impl Analysis {
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether only a part of the next line of `stream` is on record: then its content is that of
    /// [`classify_cut`](mcpreel_wire::message::classify_cut), and it has no value. An answer
    /// holds for one line.
    pub fn is_shortened(&mut self, stream: StreamId) -> bool {
        let at = self.shortened.iter().position(|it| *it == stream);
        at.map(|at| self.shortened.swap_remove(at)).is_some()
    }

    /// Takes the next frame in, of any stream. `raw` is the whole frame or, of a very long one, at
    /// least the beginning; for a stream without protocol messages `content` is the default.
    /// `root` is the JSON value of the frame, where all of it was read.
    pub fn frame(
        &mut self,
        head: &FrameHead,
        raw: &[u8],
        content: &Content,
        root: Option<Value<'_>>,
    ) {
        self.now = self.now.max(head.t_last);
        self.correlator.frame(head, content, &mut self.changes);
        self.session.frame(head, content);
        if head.stream.messages().is_none() {
            let now = at(self.now, &self.session, &self.known, &self.correlator);
            self.linter.stderr(head, raw, &now, &mut self.findings);
            return;
        }
        let messages = self.changes.latest_messages();
        for (message, record) in content.messages.iter().zip(messages) {
            self.known.learn(head, message, record);
        }
        let seen = Seen {
            head,
            raw,
            content,
            root,
            messages,
            observations: self.changes.observations(),
            session: &self.session,
            known: &self.known,
            correlator: &self.correlator,
        };
        self.linter.frame(&seen, &mut self.findings);
        for (message, record) in content.messages.iter().zip(messages) {
            self.known.forget(message, record);
        }
    }

    pub fn event(&mut self, event: &Event) {
        self.now = self.now.max(event.t);
        if let EventKind::Shortened { stream, .. } = event.kind
            && !self.shortened.contains(&stream)
        {
            self.shortened.push(stream);
        }
        self.correlator.event(event, &mut self.changes);
        self.session.event(event);
        let now = at(self.now, &self.session, &self.known, &self.correlator);
        self.linter.event(event, &now, &mut self.findings);
    }

    /// The recording is over, what is open is open no longer. Hands at most `limit` exchanges over
    /// at once, and returns whether there may be more.
    pub fn close(&mut self, limit: usize) -> bool {
        let is_more = self.correlator.finish(limit, &mut self.changes);
        self.ended.extend_from_slice(self.changes.observations());
        is_more
    }

    /// The recording is over: nothing is open any longer.
    pub fn finish(&mut self) {
        self.close(usize::MAX);
        self.session.finish();
        let now = at(self.now, &self.session, &self.known, &self.correlator);
        self.linter.finish(&self.ended, &now, &mut self.findings);
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

    /// Bytes that what was derived since takes in memory, about.
    pub fn pending_bytes(&self) -> usize {
        // A detail is one line, what is quoted in it is cut.
        self.changes.bytes() + self.findings.len() * 2 * size_of::<Finding>()
    }

    /// Who spoke, and in which phase they are.
    pub fn session(&self) -> &Session {
        &self.session
    }
}

fn at<'a>(
    now: Moment,
    session: &'a Session,
    known: &'a Known,
    correlator: &'a Correlator,
) -> Context<'a> {
    Context {
        now,
        session,
        known,
        correlator,
    }
}
