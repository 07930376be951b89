//! A request with its response and all that belongs to it.

use super::clock::Moment;
use super::frame::Seq;
use compact_str::CompactString;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::message::{Direction, Era};
use std::sync::Arc;

/// The number of an exchange in its recording, from 1, in the order of the requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExchangeId(pub u64);

/// A request with its response and all that belongs to it.
#[derive(Clone, Debug)]
pub struct Exchange {
    pub id: ExchangeId,
    pub direction: Direction,
    pub method: CompactString,
    /// Tool or prompt name, resource URI, task id.
    pub name: Option<CompactString>,
    pub rpc_id: RequestId,
    pub era: Era,
    /// The request's frame, and its place in a batch.
    pub request: (Seq, u32),
    /// The response's frame, and its place in a batch.
    pub response: Option<(Seq, u32)>,
    pub t_request: Moment,
    /// When the response's first byte came.
    pub t_response: Option<Moment>,
    /// When the response was complete; of a call that is lost, when what would have carried it broke, if
    /// that is known.
    pub t_response_last: Option<Moment>,
    /// Nanoseconds in which the server waited for its client: within the latency, for answers to
    /// the requests that it sent meanwhile (overlapping waits count once); for the retry of an
    /// input round, from the answer that asked for input to this retry, which lies before its
    /// latency.
    pub waited_ns: u64,
    pub status: Status,
    /// Error code as on the wire, JSON text.
    pub code: Option<CompactString>,
    /// The exchange in which the other side asked this, for example the call that needs sampling.
    pub parent: Option<ExchangeId>,
    /// First exchange of the chain of input rounds that this one belongs to.
    pub chain: Option<ExchangeId>,
    /// Task that answered it, or that it is about.
    pub task: Option<CompactString>,
    pub cancelled: Option<Seq>,
    pub t_cancelled: Option<Moment>,
    /// Progress notifications that came for it.
    pub progress_count: u64,
    /// The last of them, for example `40/100 indexing`.
    pub progress: Option<CompactString>,
    /// The conversation that it belongs to, from 1; 0 over stdio.
    pub conversation: u32,
    /// The HTTP exchange that carried its request; 0 where none did.
    pub http: u32,
    /// Size of the request's frame, bytes.
    pub request_size: u64,
    /// Size of the response's frame, bytes.
    pub response_size: u64,
    /// A summary for people on one line, not yet escaped; made of those of its messages, as far as they have
    /// one.
    pub summary: Arc<str>,
}

impl Exchange {
    /// Nanoseconds from the request's last byte to the response's first; none for listen streams.
    pub fn latency_ns(&self) -> Option<u64> {
        let response = self.t_response?;
        (!self.is_listen()).then(|| response.0.saturating_sub(self.t_request.0))
    }

    /// Nanoseconds for which somebody waited in vain: until the cancel, until what would have carried the
    /// response broke or was closed, or until `end`, which is the end of the recording or now, if it is known. None where
    /// an answer came before that or is not waited for.
    pub fn unanswered_ns(&self, end: impl Into<Option<Moment>>) -> Option<u64> {
        let until = match self.status {
            Status::Cancelled | Status::UserCancelled | Status::Late => self.t_cancelled?,
            Status::Lost | Status::Unanswered => self.t_response_last.or(end.into())?,
            Status::Open => end.into()?,
            _ => return None,
        };
        (!self.is_listen()).then(|| until.ns_since(self.t_request))
    }

    /// Nanoseconds from the response's first byte to its last.
    pub fn transfer_ns(&self) -> Option<u64> {
        Some(self.t_response_last?.0.saturating_sub(self.t_response?.0))
    }

    /// Whether it is the retry of an input round: then [`Self::waited_ns`] lies before its latency.
    pub fn is_retry(&self) -> bool {
        self.chain.is_some_and(|first| first != self.id)
    }

    /// The part of the latency that the answering side is to be blamed for: without the time in
    /// which it waited for answers of the other side.
    pub fn own_ns(&self) -> Option<u64> {
        let ns = self.latency_ns()?;
        Some(ns.saturating_sub(self.waited_inside_ns()))
    }

    /// The same for one that is open, as far as it has come at `now`; a wait that goes on counts.
    pub fn own_ns_until(&self, now: Moment) -> u64 {
        let ns = now.0.saturating_sub(self.t_request.0);
        ns.saturating_sub(self.waited_inside_ns())
    }

    /// The part of [`Self::waited_ns`] that lies within the latency.
    pub fn waited_inside_ns(&self) -> u64 {
        if self.is_retry() { 0 } else { self.waited_ns }
    }

    /// The exchange as it stood when `until` was the last frame: without what came later. Of its
    /// progress, which is not known for every moment, nothing is left while it was open.
    pub fn at(mut self, until: Seq) -> Self {
        self.cancelled = self.cancelled.filter(|&seq| seq <= until);
        self.t_cancelled = self.t_cancelled.filter(|_| self.cancelled.is_some());
        if self.response.is_some_and(|(seq, _)| seq <= until) {
            return self;
        }
        self.summary = self.asked().into();
        self.response = None;
        self.t_response = None;
        self.t_response_last = None;
        self.response_size = 0;
        self.waited_ns = 0;
        self.code = None;
        self.progress_count = 0;
        self.progress = None;
        self.status = match self.cancelled {
            // When it was given up nobody knows: it is never said to be open.
            _ if self.status == Status::GivenUp => Status::GivenUp,
            Some(_) if self.status == Status::UserCancelled => Status::UserCancelled,
            Some(_) => Status::Cancelled,
            None if self.is_listen() => Status::Listening,
            None => Status::Open,
        };
        self
    }

    /// Bytes that it takes in memory, about.
    pub fn bytes(&self) -> usize {
        let texts = [&self.code, &self.task, &self.progress];
        let texts: usize = texts.into_iter().flatten().map(CompactString::len).sum();
        let name = self.name.as_ref().map_or(0, CompactString::len);
        let always = self.method.len() + self.summary.len() + self.rpc_id.bytes();
        size_of::<Self>() + always + name + texts
    }

    /// The part of its line that says what was asked.
    pub fn asked(&self) -> &str {
        let parts = self.summary.split_once(" → ");
        parts.map_or(&*self.summary, |(asked, _)| asked)
    }

    /// The part of its line that says what was answered.
    pub fn answered(&self) -> Option<&str> {
        let parts = self.summary.split_once(" → ");
        parts.map(|(_, answered)| answered)
    }

    /// Whether it counts as failed: see [`Status::is_failure_of`].
    pub fn has_failed(&self) -> bool {
        self.status.is_failure_of(&self.method)
    }

    /// Whether it is a `subscriptions/listen` stream, which stays open for as long as it is used.
    pub fn is_listen(&self) -> bool {
        &*self.method == LISTEN
    }

    /// A request that nothing is known about but who asks for what, of the legacy era.
    pub fn begun(direction: Direction, rpc_id: RequestId, method: &str) -> Self {
        Self {
            id: ExchangeId(0),
            direction,
            summary: method.into(),
            method: method.into(),
            name: None,
            rpc_id,
            era: Era::Legacy,
            request: (Seq(0), 0),
            response: None,
            t_request: Moment(0),
            t_response: None,
            t_response_last: None,
            waited_ns: 0,
            status: Status::Open,
            code: None,
            parent: None,
            chain: None,
            task: None,
            cancelled: None,
            t_cancelled: None,
            progress_count: 0,
            progress: None,
            conversation: 0,
            http: 0,
            request_size: 0,
            response_size: 0,
        }
    }
}

#[cfg(test)]
impl Exchange {
    /// An open call of a tool, for tests that need an exchange and say what matters in it.
    pub(crate) fn bare() -> Self {
        let rpc_id = RequestId::from_json("1").expect("it is JSON");
        Self {
            id: ExchangeId(1),
            request: (Seq(1), 0),
            summary: "s".into(),
            ..Self::begun(Direction::ClientToServer, rpc_id, "tools/call")
        }
    }
}

// How an exchange stands or ended.

/// With this method a client asks whether the server speaks the newer era. A server of the older
/// one refuses it, whatever the error, and the client falls back to `initialize`: nothing has
/// failed.
pub const PROBE: &str = "server/discover";

/// With this method a client subscribes to changes; it cancels the request when it has had enough.
const LISTEN: &str = "subscriptions/listen";

words! {
    /// How an exchange stands or ended, by the word used in recordings, output and filters.
    Status {
        Open = "open", "no answer yet, and the recording is live";
        Ok = "ok", "answered with a result";
        ToolError = "tool-error", "answered with a result that has isError";
        Error = "error", "answered with an error";
        InputRequired = "input-required", "the server asked for input first; joined to the retry";
        Task = "task", "answered with a task; joined to its outcome";
        Cancelled = "cancelled", "cancelled, and never answered";
        UserCancelled = "user-cancelled", "cancelled by the user, as the client says; no failure";
        AfterEof = "after-eof", "asked when the client had closed its side, so that no answer could come; no failure";
        Late = "late", "answered after it was cancelled";
        Lost = "lost", "the answering side ended, or the connection broke, before the answer; a live call may still be resumed";
        Unanswered = "unanswered", "the recording ended otherwise before there was an answer";
        Listening = "listening", "a subscription that stays open; it has no latency";
        HttpError = "http-error", "its HTTP response is an error status, or holds no answer";
        Probe = "probe", "refused by a server of an older era or transport; the fallback worked";
        Polled = "polled", "the server closed the stream before it answered, and the client never asked for the rest";
        GivenUp = "given-up", "not followed any longer, because too many were open";
    }
}

impl Status {
    /// Methods of which a status that is a failure of others is none.
    pub const HARMLESS_FOR: [&'static str; 2] = [PROBE, LISTEN];

    /// Whether the status may still change while the recording is live.
    pub fn may_change(self) -> bool {
        matches!(
            self,
            Self::Open
                | Self::Listening
                | Self::Task
                | Self::Cancelled
                | Self::UserCancelled
                | Self::Lost
                | Self::Polled
        )
    }

    /// Whether an exchange of this method counts as failed with it: an error was answered, or there
    /// was no answer for as long as somebody waited. But a [`PROBE`] that is refused or cancelled
    /// says only that the server is of the older era, and no failure is what the user cancelled.
    pub fn is_failure_of(self, method: &str) -> bool {
        match self {
            Self::Error | Self::HttpError => method != PROBE,
            Self::Cancelled | Self::Late => !Self::HARMLESS_FOR.contains(&method),
            Self::ToolError | Self::Lost | Self::Unanswered | Self::Polled => true,
            _ => false,
        }
    }
}
