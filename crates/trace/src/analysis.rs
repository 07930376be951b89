//! The fold over a recording: its frames and events in order go in, messages, exchanges and the
//! session come out. Indexing, rules and everything else that follows a session build on it.

use crate::clock::Moment;
use crate::correlator::{Batch, Correlator, MessageRecord, Observation};
use crate::event::{Event, EventKind};
use crate::frame::{FrameHead, StreamId};
use crate::http::HttpExchange;
use crate::session::Session;
use mcpreel_wire::message::Content;

/// Correlator and session, fed in the right order.
#[derive(Debug, Default)]
pub struct Analysis {
    correlator: Correlator,
    session: Session,
    /// What the correlator observed about exchanges that were open at the end.
    ended: Vec<Observation>,
    /// Streams of whose next line only a part is on record.
    shortened: Vec<StreamId>,
    now: Moment,
}

impl Analysis {
    /// The fold over one conversation of a recording that has several.
    pub fn of_conversation(conversation: u32) -> Self {
        Self {
            correlator: Correlator::of_conversation(conversation),
            ..Self::default()
        }
    }

    /// The last number that an exchange of the recording has, over all conversations.
    pub fn last_exchange(&mut self) -> &mut u64 {
        self.correlator.last_exchange()
    }

    /// `http`, the HTTP exchange of `head`, was answered with an error status.
    pub fn http_refused(&mut self, head: &FrameHead, http: &HttpExchange) {
        self.correlator.refused(head, http);
    }

    /// The client of these requests, which were all refused, has reached the server over another
    /// transport.
    pub fn fell_back(&mut self) {
        self.correlator.fell_back();
    }

    /// The response of an HTTP exchange goes on with an earlier stream of events.
    pub fn http_resumed(&mut self) {
        self.correlator.resumed();
    }

    /// The response of an HTTP exchange is over, whether or not it held all answers.
    pub fn http_over(&mut self, http: &HttpExchange) {
        self.correlator.response_over(http);
        let observed = self.correlator.changes.observations();
        self.ended.extend_from_slice(observed);
    }

    /// Whether only a part of the next line of `stream` is on record: then its content is that of
    /// [`classify_cut`](mcpreel_wire::message::classify_cut), and it has no value. An answer
    /// holds for one line.
    pub fn is_shortened(&mut self, stream: StreamId) -> bool {
        let at = self.shortened.iter().position(|it| *it == stream);
        at.map(|at| self.shortened.swap_remove(at)).is_some()
    }

    /// Takes in the next frame, of any stream; for one without protocol messages `content` is the
    /// default.
    pub fn frame(&mut self, head: &FrameHead, content: &Content) {
        self.now = self.now.max(head.t_last);
        self.correlator.frame(head, content);
        self.session.frame(head, content);
    }

    pub fn event(&mut self, event: &Event) {
        self.now = self.now.max(event.t);
        if let EventKind::Shortened { stream, .. } = event.kind
            && !self.shortened.contains(&stream)
        {
            self.shortened.push(stream);
        }
        self.correlator.event(event);
        self.session.event(event);
    }

    /// The recording is over: ends at most `limit` open exchanges, and returns whether there may
    /// be more.
    pub fn close(&mut self, limit: usize) -> bool {
        let is_more = self.correlator.finish(limit);
        self.ended
            .extend_from_slice(self.correlator.changes.observations());
        is_more
    }

    /// The recording is over: nothing is open any longer.
    pub fn finish(&mut self) {
        self.close(usize::MAX);
        self.session.finish();
    }

    /// Messages and exchanges derived since the last call.
    pub fn take(&mut self) -> Batch {
        self.correlator.changes.take()
    }

    /// About how many bytes [`Self::take`] would hand over.
    pub fn pending_bytes(&self) -> usize {
        self.correlator.changes.bytes()
    }

    /// The time of the latest frame or event.
    pub fn now(&self) -> Moment {
        self.now
    }

    /// The two sides of the session, and its phase.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The exchanges as they stand.
    pub fn correlator(&self) -> &Correlator {
        &self.correlator
    }

    /// The messages of the latest frame.
    pub fn latest_messages(&self) -> &[MessageRecord] {
        self.correlator.changes.latest_messages()
    }

    /// What the correlator observed in the latest frame or event.
    pub fn observations(&self) -> &[Observation] {
        self.correlator.changes.observations()
    }

    /// What the correlator observed when the recording was over.
    pub fn ended(&self) -> &[Observation] {
        &self.ended
    }
}
