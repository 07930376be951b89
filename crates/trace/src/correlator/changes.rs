//! What the correlator hands over: message rows, exchanges that changed, and what it noticed.

use crate::exchange::{Exchange, ExchangeId};
use crate::frame::Seq;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::message::{Direction, Era};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageKind {
    Request,
    Notification,
    Response,
    /// An object that is none of them.
    Other,
}

impl MessageKind {
    /// `request`, `notification`, `response` or `other`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Notification => "notification",
            Self::Response => "response",
            Self::Other => "other",
        }
    }
}

/// One message and the exchange that it belongs to.
#[derive(Clone, Debug)]
pub struct MessageRecord {
    pub frame: Seq,
    /// Its place in a batch, 0 where there is none.
    pub part: u32,
    pub direction: Direction,
    pub kind: MessageKind,
    /// Era of its request, for a notification that of the exchange it belongs to, else that of
    /// the latest request.
    pub era: Era,
    /// Its method; for a response the method of its exchange.
    pub method: Option<Box<str>>,
    pub rpc_id: Option<RequestId>,
    /// Tool or prompt name, resource URI, task id; for a response that of its exchange.
    pub name: Option<Box<str>>,
    /// One line for people, not yet escaped; empty where the message has none.
    pub summary: Box<str>,
    /// The exchange that it belongs to: as its request or response, or as progress, log message,
    /// cancel or notification of it.
    pub exchange: Option<ExchangeId>,
    /// Error code as on the wire, JSON text.
    pub code: Option<Box<str>>,
    /// Progress token: given by a request, used by a progress notification.
    pub token: Option<RequestId>,
    /// Trace id of `_meta.traceparent`.
    pub trace_id: Option<Box<str>>,
    /// The task that it is about or related to.
    pub task: Option<Box<str>>,
    /// Id of the `subscriptions/listen` request that it answers.
    pub subscription: Option<RequestId>,
}

impl MessageRecord {
    /// Bytes that it takes in memory, about.
    fn bytes(&self) -> usize {
        let own = [&self.method, &self.name, &self.code, &self.task];
        let ids = [&self.rpc_id, &self.token, &self.subscription];
        let texts: usize = own.into_iter().flatten().map(|text| text.len()).sum();
        let ids: usize = ids.into_iter().flatten().map(RequestId::bytes).sum();
        size_of::<Self>() + self.summary.len() + texts + ids
    }
}

/// Something about pairing that a rule may want to report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The frame in which it showed; the request's frame for what shows only at the end.
    pub frame: Seq,
    /// The exchange concerned, where there is one.
    pub exchange: Option<ExchangeId>,
    /// The way of the message that showed it.
    pub direction: Direction,
    pub kind: Observed,
    /// The id or token concerned, JSON text as on the wire.
    pub subject: Box<str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observed {
    /// A request has an id that its sender used before.
    IdReused {
        /// Whether the earlier request was still unanswered and not cancelled.
        in_flight: bool,
        /// Era of the request that uses it again.
        era: Era,
    },
    /// A response to an id that is not open and not in the history.
    ResponseUnknown,
    /// A second response to one request.
    ResponseDuplicate,
    /// A response whose id is open only with the other JSON type.
    ResponseIdTypeChanged,
    /// A response to a cancelled request.
    ResponseLate {
        /// Nanoseconds from the cancel to the response's first byte.
        after_ns: u64,
    },
    /// A cancel for an id that its sender never used.
    CancelUnknown,
    /// A cancel for a request that was already answered.
    CancelCompleted,
    /// A cancel for a request of the other side.
    CancelWrongDirection,
    /// Progress for a token that no request gave.
    ProgressUnknownToken,
    /// A token that another open request of the same sender has given.
    ProgressTokenReused,
    /// The recording ended with the request open, and whoever asked was there to the end.
    Unanswered,
    /// The answering side ended before its time.
    Lost,
    /// A request without an answer is no longer waited for, because too many are open.
    RequestGivenUp,
    /// A response, a cancel or progress for a request that is no longer waited for, or may be.
    ForGivenUp,
    /// The task that answered a request is no longer followed, because too many have no outcome.
    TaskGivenUp,
    /// The retry of an input round is no longer waited for, because too many are.
    RoundGivenUp,
}

/// What one transaction has to write.
#[derive(Debug, Default)]
pub struct Batch {
    pub messages: Vec<MessageRecord>,
    /// Exchanges that are new or changed, as they stand now, by id.
    pub exchanges: Vec<Exchange>,
}

/// Collects what changed between two calls of [`Changes::take`]; an exchange that changed often
/// is handed over once.
#[derive(Debug, Default)]
pub struct Changes {
    messages: Vec<MessageRecord>,
    exchanges: BTreeMap<ExchangeId, Exchange>,
    observations: Vec<Observation>,
    latest: usize,
    bytes: usize,
}

impl Changes {
    /// Whether there is nothing to write.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.exchanges.is_empty()
    }

    /// Everything collected since the last call.
    pub fn take(&mut self) -> Batch {
        self.latest = 0;
        self.bytes = 0;
        Batch {
            messages: std::mem::take(&mut self.messages),
            exchanges: std::mem::take(&mut self.exchanges).into_values().collect(),
        }
    }

    /// Bytes that what was collected takes in memory, about.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The messages of the frame that the correlator was given last.
    pub fn latest_messages(&self) -> &[MessageRecord] {
        self.messages.get(self.latest..).unwrap_or_default()
    }

    /// What was observed in the last call of the correlator only.
    pub fn observations(&self) -> &[Observation] {
        &self.observations
    }

    pub(super) fn begin(&mut self) {
        self.latest = self.messages.len();
        self.observations.clear();
    }

    pub(super) fn message(&mut self, record: MessageRecord) {
        self.bytes += record.bytes();
        self.messages.push(record);
    }

    pub(super) fn touch(&mut self, exchange: &Exchange) {
        self.bytes += exchange.bytes();
        if let Some(before) = self.exchanges.insert(exchange.id, exchange.clone()) {
            self.bytes -= before.bytes();
        }
    }

    pub(super) fn observe(&mut self, observation: Observation) {
        self.observations.push(observation);
    }
}
