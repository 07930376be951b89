//! A request with its response and all that belongs to it.

use super::clock::Moment;
use super::frame::Seq;
use crate::protocol::id::RequestId;
use crate::protocol::message::{Direction, Era};

/// The number of an exchange in its recording, from 1, in the order of the requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExchangeId(pub u64);

/// With this method a client asks whether the server speaks the newer era. A server of the older
/// one refuses it, whatever the error, and the client falls back to `initialize`: nothing has
/// failed.
pub const PROBE: &str = "server/discover";

/// How an exchange stands or ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// No answer yet, the recording is live.
    Open,
    /// A result.
    Ok,
    /// A result with `isError`.
    ToolError,
    /// A JSON-RPC error.
    Error,
    /// The server asked for input; the retry is the next exchange of the chain.
    InputRequired,
    /// Answered by a task whose outcome is not known yet.
    Task,
    /// Cancelled and never answered.
    Cancelled,
    /// Answered after it had been cancelled.
    Late,
    /// The answering side ended while its input was still open, or by a signal or non-zero code.
    Lost,
    /// The recording ended otherwise with it open.
    Unanswered,
    /// An open `subscriptions/listen`; it has no latency.
    Listening,
}

impl Status {
    /// All statuses, in the order of the documentation.
    pub const ALL: [Self; 11] = [
        Self::Open,
        Self::Ok,
        Self::ToolError,
        Self::Error,
        Self::InputRequired,
        Self::Task,
        Self::Cancelled,
        Self::Late,
        Self::Lost,
        Self::Unanswered,
        Self::Listening,
    ];

    /// The word used in recordings, output and filters.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Ok => "ok",
            Self::ToolError => "tool-error",
            Self::Error => "error",
            Self::InputRequired => "input-required",
            Self::Task => "task",
            Self::Cancelled => "cancelled",
            Self::Late => "late",
            Self::Lost => "lost",
            Self::Unanswered => "unanswered",
            Self::Listening => "listening",
        }
    }

    /// What it means, one line.
    #[must_use]
    pub fn help(self) -> &'static str {
        match self {
            Self::Open => "no answer yet, and the recording is live",
            Self::Ok => "answered with a result",
            Self::ToolError => "answered with a result that has isError",
            Self::Error => "answered with an error",
            Self::InputRequired => "the server asked for input first; joined to the retry",
            Self::Task => "answered with a task; joined to its outcome",
            Self::Cancelled => "cancelled, and never answered",
            Self::Late => "answered after it was cancelled",
            Self::Lost => "the answering side ended, or went wrong, before it answered",
            Self::Unanswered => "the recording ended otherwise before there was an answer",
            Self::Listening => "a subscription that stays open; it has no latency",
        }
    }

    /// The status that [`Self::as_str`] writes so.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// Whether an exchange of this method counts as failed with it: `error`, `tool-error`, `lost`,
    /// `unanswered`. But a [`PROBE`] that is refused says only that the server is of the older era.
    #[must_use]
    pub fn is_failure_of(self, method: &str) -> bool {
        match self {
            Self::Error => method != PROBE,
            Self::ToolError | Self::Lost | Self::Unanswered => true,
            _ => false,
        }
    }
}

/// A request with its response and all that belongs to it.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Its number.
    pub id: ExchangeId,
    /// The way of the request.
    pub direction: Direction,
    /// The request's method.
    pub method: Box<str>,
    /// Tool or prompt name, resource URI, task id.
    pub name: Option<Box<str>>,
    /// The request's id.
    pub rpc_id: RequestId,
    /// Era of the request.
    pub era: Era,
    /// The request's frame, and its place in a batch.
    pub request: (Seq, u32),
    /// The response's frame, and its place in a batch.
    pub response: Option<(Seq, u32)>,
    /// When the request was complete.
    pub t_request: Moment,
    /// When the response's first byte came.
    pub t_response: Option<Moment>,
    /// When the response was complete.
    pub t_response_last: Option<Moment>,
    /// Nanoseconds in which the server waited for its client: within the latency, for answers to
    /// the requests that it sent meanwhile (overlapping waits count once); for the retry of an
    /// input round, from the answer that asked for input to this retry, which lies before its
    /// latency.
    pub waited_ns: u64,
    /// How it stands.
    pub status: Status,
    /// Error code as on the wire, JSON text.
    pub code: Option<Box<str>>,
    /// The exchange in which the other side asked this, for example the call that needs sampling.
    pub parent: Option<ExchangeId>,
    /// First exchange of the chain of input rounds that this one belongs to.
    pub chain: Option<ExchangeId>,
    /// Task that answered it, or that it is about.
    pub task: Option<Box<str>>,
    /// Where it was cancelled.
    pub cancelled: Option<Seq>,
    /// Progress notifications that came for it.
    pub progress_count: u64,
    /// The last of them, for example `40/100 indexing`.
    pub progress: Option<Box<str>>,
    /// Size of the request's frame, bytes.
    pub request_size: u64,
    /// Size of the response's frame, bytes.
    pub response_size: u64,
    /// One line for people, not yet escaped; made of those of its messages, as far as they have
    /// one.
    pub summary: Box<str>,
}

impl Exchange {
    /// Nanoseconds from the request's last byte to the response's first; none for listen streams.
    #[must_use]
    pub fn latency_ns(&self) -> Option<u64> {
        let response = self.t_response?;
        (!self.is_listen()).then(|| response.0.saturating_sub(self.t_request.0))
    }

    /// Nanoseconds from the response's first byte to its last.
    #[must_use]
    pub fn transfer_ns(&self) -> Option<u64> {
        Some(self.t_response_last?.0.saturating_sub(self.t_response?.0))
    }

    /// Whether it is the retry of an input round: then [`Self::waited_ns`] lies before its latency.
    #[must_use]
    pub fn is_retry(&self) -> bool {
        self.chain.is_some_and(|first| first != self.id)
    }

    /// The part of the latency that the answering side is to be blamed for: without the time in
    /// which it waited for answers of the other side.
    #[must_use]
    pub fn own_ns(&self) -> Option<u64> {
        let ns = self.latency_ns()?;
        Some(ns.saturating_sub(self.waited_inside_ns()))
    }

    /// The same for one that is open, as far as it has come at `now`; a wait that goes on counts.
    #[must_use]
    pub fn own_ns_until(&self, now: Moment) -> u64 {
        let ns = now.0.saturating_sub(self.t_request.0);
        ns.saturating_sub(self.waited_inside_ns())
    }

    /// The part of [`Self::waited_ns`] that lies within the latency.
    #[must_use]
    pub fn waited_inside_ns(&self) -> u64 {
        if self.is_retry() { 0 } else { self.waited_ns }
    }

    /// The exchange as it stood when `until` was the last frame: without what came later. Of its
    /// progress, which is not known for every moment, nothing is left while it was open.
    #[must_use]
    pub fn at(mut self, until: Seq) -> Self {
        self.cancelled = self.cancelled.filter(|&seq| seq <= until);
        if self.response.is_some_and(|(seq, _)| seq <= until) {
            return self;
        }
        self.response = None;
        self.t_response = None;
        self.t_response_last = None;
        self.response_size = 0;
        self.waited_ns = 0;
        self.code = None;
        self.progress_count = 0;
        self.progress = None;
        self.status = match self.cancelled {
            Some(_) => Status::Cancelled,
            None if self.is_listen() => Status::Listening,
            None => Status::Open,
        };
        self
    }

    /// Bytes that it takes in memory, about.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let texts = [&self.name, &self.code, &self.task, &self.progress];
        let texts: usize = texts.into_iter().flatten().map(|text| text.len()).sum();
        let always = self.method.len() + self.summary.len() + self.rpc_id.bytes();
        size_of::<Self>() + always + texts
    }

    /// The part of its line that says what was asked.
    #[must_use]
    pub fn asked(&self) -> &str {
        let parts = self.summary.split_once(" → ");
        parts.map_or(&*self.summary, |(asked, _)| asked)
    }

    /// The part of its line that says what was answered.
    #[must_use]
    pub fn answered(&self) -> Option<&str> {
        let parts = self.summary.split_once(" → ");
        parts.map(|(_, answered)| answered)
    }

    /// Whether it counts as failed: see [`Status::is_failure_of`].
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.status.is_failure_of(&self.method)
    }

    /// Whether it is a `subscriptions/listen` stream, which stays open for as long as it is used.
    #[must_use]
    pub fn is_listen(&self) -> bool {
        &*self.method == "subscriptions/listen"
    }
}

#[cfg(test)]
impl Exchange {
    /// An open call of a tool, for tests that need an exchange and say what matters in it.
    pub(crate) fn bare() -> Self {
        Self {
            id: ExchangeId(1),
            direction: Direction::ClientToServer,
            method: "tools/call".into(),
            name: None,
            rpc_id: RequestId::from_json("1").expect("it is JSON"),
            era: Era::Legacy,
            request: (Seq(1), 0),
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
            progress_count: 0,
            progress: None,
            request_size: 0,
            response_size: 0,
            summary: "s".into(),
        }
    }
}
