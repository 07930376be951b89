//! Pairing of requests with responses.
//!
//! ```text
//!  frames, events ──▶ Correlator ──▶ Changes ──take()──▶ messages, exchanges (a transaction)
//!                                       └─ observations ─▶ lint
//! ```
//!
//! * Key: the direction of the request and its id, with JSON type, by exact value. The first
//!   unanswered request with the key takes the response; another response is a duplicate, one
//!   that fits nothing an orphan: messages without an exchange, and observations.
//! * Both directions are paired in the same way; batches part by part.
//! * What belongs to a call is attached to it: progress by token, the cancel, log messages where
//!   just one call of the client is open (or the related task is named), notifications of a listen
//!   stream, status notifications of a task, and the server's own requests (`parent`).
//! * A task's creator keeps the times of the answer that named the task, and takes the status of
//!   its outcome: from a terminal status in `tasks/get`, `tasks/cancel` or a status notification
//!   (`completed` is ok, `failed` an error, `cancelled` cancelled), and from the answer to
//!   `tasks/result`, which knows best.
//! * Input rounds: see `input_rounds`. The time between the answer that asked for input and the retry
//!   is counted in the `waited_ns` of the retry, and `chain` is the first exchange of the chain,
//!   also on that one.
//! * Probes: see `probes`. Their status changes when the fallback has worked.
//! * Memory holds [`HELD_BYTES`] of what is open, at most [`HISTORY`] calls that ended, and a bounded
//!   number of rounds. What is open beyond that is given up, the oldest first: nobody
//!   knows what becomes of it, which is observed, and what still comes for it is told from what fits
//!   nothing. All of that follows from the frames and events alone, so that whoever derives them
//!   anew, in whatever pieces, gives up the same.

mod carried;
mod input_rounds;
mod notification;
mod open_calls;
mod probes;
mod request;
mod response;

use super::clock::Moment;
use super::event::{Closer, Event, EventKind};
use super::exchange::{Exchange, ExchangeId, Status};
use super::frame::{FrameHead, Seq, StreamId};
pub use carried::NO_ANSWER;
use compact_str::CompactString;
use input_rounds::Rounds;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::message::{Body, Content, Direction, Era, Message};
use open_calls::{Calls, Kept};
pub use open_calls::{HELD_BYTES, HISTORY, HISTORY_BYTES};
use probes::Probes;
pub use probes::may_be_of_probe;
pub use response::status_of;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Pairs the messages of one recording, in the order of its frames and events.
#[derive(Debug, Default)]
pub struct Correlator {
    pub(crate) changes: Changes,
    calls: Calls,
    rounds: Rounds,
    probes: Probes,
    ending: Ending,
    /// Era of the client's latest request.
    era: Era,
    now: Moment,
    /// Whether no moment means anything: then nobody knows when an answer came.
    is_untimed: bool,
    /// The conversation whose messages it pairs; 0 over stdio.
    conversation: u32,
}

#[derive(Clone, Copy)]
struct At<'a> {
    head: &'a FrameHead,
    conversation: u32,
    direction: Direction,
    message: &'a Message,
}

impl At<'_> {
    fn record(&self, kind: MessageKind, era: Era) -> MessageRecord {
        let meta = &self.message.meta;
        MessageRecord {
            frame: self.head.seq,
            part: self.message.part,
            direction: self.direction,
            kind,
            era,
            method: None,
            rpc_id: None,
            name: None,
            summary: self.message.summary.as_str().into(),
            exchange: None,
            code: None,
            token: None,
            trace_id: meta.trace_id.clone(),
            task: meta.related_task.clone(),
            subscription: meta.subscription.clone(),
            conversation: self.conversation,
            http: self.head.carried.http,
        }
    }

    fn observation(
        &self,
        kind: Observed,
        exchange: Option<ExchangeId>,
        subject: &str,
    ) -> Observation {
        Observation {
            frame: self.head.seq,
            exchange,
            direction: self.direction,
            kind,
            subject: subject.into(),
        }
    }
}

impl Correlator {
    /// Pairs the messages of one conversation.
    pub fn of_conversation(conversation: u32) -> Self {
        Self {
            conversation,
            ..Self::default()
        }
    }

    pub fn frame(&mut self, head: &FrameHead, content: &Content) {
        self.changes.begin();
        self.now = self.now.max(head.t_last);
        let Some(direction) = head.stream.messages() else {
            return;
        };
        for message in &content.messages {
            let at = At {
                head,
                conversation: self.conversation,
                direction,
                message,
            };
            let record = match &message.body {
                Body::Request(request) => self.request(at, request),
                Body::Response(response) => self.response(at, response),
                Body::Notification(notification) => self.notification(at, notification),
                Body::Invalid => at.record(MessageKind::Other, self.era),
            };
            self.changes.message(record);
            while let Some(id) = self.calls.too_much() {
                self.give_up(id);
            }
        }
    }

    pub fn event(&mut self, event: &Event) {
        self.changes.begin();
        self.now = self.now.max(event.t);
        self.is_untimed |= matches!(event.kind, EventKind::Untimed { .. });
        self.ending.event(event);
    }

    /// The recording is over: what is open becomes lost or unanswered. Listen streams stay
    /// listening, cancelled requests cancelled, tasks without an outcome tasks. At most `limit`
    /// exchanges are handed over at once; whether there may be more.
    pub fn finish(&mut self, limit: usize) -> bool {
        self.changes.begin();
        let open = self.calls.first_open(limit);
        for &id in &open {
            self.end(id);
        }
        open.len() == limit
    }

    fn end(&mut self, id: ExchangeId) {
        let now = self.now;
        self.calls.end(id);
        let Some(call) = self.calls.get_mut(id) else {
            return;
        };
        call.waits(|waiting| waiting.close(now));
        let exchange = &mut call.exchange;
        let (status, observed) = match exchange.status {
            Status::Open => self.ending.fate(exchange),
            // The stream that would have brought the answer broke, and nobody came back for the rest.
            Status::Lost => (Status::Lost, Some(Observed::Lost)),
            _ => return,
        };
        exchange.status = status;
        // The client answers nothing once it has left: until then it was waited for.
        if exchange.direction == Direction::ServerToClient && status != Status::AfterEof {
            let left = self.ending.client_left;
            exchange.t_response_last = exchange.t_response_last.or(left);
        }
        if let Some(kind) = observed {
            self.changes.observe(Observation::of(exchange, kind));
        }
        self.changes.touch(exchange);
    }

    /// The last number that an exchange of the recording has.
    pub(crate) fn last_exchange(&mut self) -> &mut u64 {
        self.calls.last()
    }

    /// An exchange as it stands now, while it is open and as long as it is remembered.
    pub fn exchange(&self, id: ExchangeId) -> Option<&Exchange> {
        Some(&self.calls.get(id)?.exchange)
    }

    /// Whether a call of the client waits for an answer of the client just now.
    pub fn is_waiting(&self, id: ExchangeId) -> bool {
        let call = self.calls.get(id);
        call.is_some_and(|call| call.waiting.is_under_way())
    }

    /// Nobody waits for the answer to a call any longer, or for the outcome of its task: there is no
    /// room for it.
    fn give_up(&mut self, id: ExchangeId) {
        let now = self.now;
        let Some(call) = self.calls.get_mut(id) else {
            return;
        };
        let kind = if call.kept == Kept::Unfinished {
            Observed::TaskGivenUp
        } else {
            call.waits(|waiting| waiting.close(now));
            Observed::RequestGivenUp
        };
        let exchange = &mut call.exchange;
        if exchange.status == Status::Open {
            exchange.status = Status::GivenUp;
            self.changes.touch(exchange);
        }
        self.changes.observe(Observation::of(exchange, kind));
        self.end_wait(id, now);
        self.calls.forget(id);
    }

    /// The parent of a call, if any, no longer waits for it.
    fn end_wait(&mut self, child: ExchangeId, t: Moment) {
        let parent = match self.calls.get_mut(child) {
            Some(call) if call.awaited => {
                call.awaited = false;
                call.exchange.parent
            }
            _ => None,
        };
        if let Some(parent) = parent.and_then(|id| self.calls.get_mut(id)) {
            parent.waits(|waiting| waiting.end(t));
            self.changes.touch(&parent.exchange);
        }
    }
}

// Who ended before its time: what tells `lost` from `unanswered`.

/// The end of both sides, as far as events tell it.
///
/// A side has ended when it closed the stream that it writes, or (the server) when its process
/// ended. The other side had closed that side's input before, or it had not: then whatever was
/// still asked of it is lost. A server that ends by a signal or with a non-zero code loses it in
/// any case. Without any such event (a recording that was recovered) nothing is lost.
#[derive(Clone, Copy, Debug, Default)]
struct Ending {
    client: Side,
    server: Side,
    client_left: Option<Moment>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Side {
    wrote_all: bool,
    lost: bool,
}

impl Ending {
    fn event(&mut self, event: &Event) {
        let (client, server) = (&mut self.client, &mut self.server);
        match &event.kind {
            EventKind::Eof {
                stream: StreamId::C2S,
                by: Closer::Writer,
            } => {
                client.lost |= !server.wrote_all;
                client.wrote_all = true;
                self.client_left.get_or_insert(event.t);
            }
            EventKind::Eof {
                stream: StreamId::S2C,
                by: Closer::Writer,
            } => {
                server.lost |= !client.wrote_all;
                server.wrote_all = true;
            }
            EventKind::Exit { code, signal, .. } => {
                let failed = signal.is_some() || code.is_some_and(|code| code != 0);
                server.lost |= failed || !client.wrote_all;
                server.wrote_all = true;
            }
            EventKind::SpawnFailed { .. } => server.lost = true,
            _ => {}
        }
    }

    /// The status of a request that is still open at the end, and what is observed.
    fn fate(self, asked: &Exchange) -> (Status, Option<Observed>) {
        let direction = asked.direction;
        let answering = match direction {
            Direction::ClientToServer => self.server,
            Direction::ServerToClient => self.client,
        };
        let is_from_server = direction == Direction::ServerToClient;
        if is_from_server && self.client_left.is_some_and(|left| asked.t_request > left) {
            return (Status::AfterEof, None);
        }
        // A server that asked and ended before its time: nobody is to be blamed for the missing
        // answer.
        let is_asker_gone = is_from_server && self.server.lost;
        if answering.lost {
            (Status::Lost, Some(Observed::Lost))
        } else {
            let observed = (!is_asker_gone).then_some(Observed::Unanswered);
            (Status::Unanswered, observed)
        }
    }
}

// What the correlator hands over: message rows, exchanges that changed, and what it noticed.

words! {
    MessageKind {
        Request = "request", "a request";
        Notification = "notification", "a notification";
        Response = "response", "a response";
        Other = "other", "an object that is none of them";
    }
}

/// One message and the exchange that it belongs to.
#[derive(Clone, Debug)]
pub struct MessageRecord {
    pub frame: Seq,
    /// The place in a batch, 0 where there is none.
    pub part: u32,
    pub direction: Direction,
    pub kind: MessageKind,
    /// Era of its request, for a notification that of the exchange it belongs to, else that of
    /// the latest request.
    pub era: Era,
    /// The method; for a response that of its exchange.
    pub method: Option<CompactString>,
    pub rpc_id: Option<RequestId>,
    /// Tool or prompt name, resource URI, task id; for a response that of its exchange.
    pub name: Option<CompactString>,
    /// A summary for people on one line, not yet escaped; empty where the message has none.
    pub summary: Arc<str>,
    /// The exchange that it belongs to: as its request or response, or as progress, log message,
    /// cancel or notification of it.
    pub exchange: Option<ExchangeId>,
    /// Error code as on the wire, JSON text.
    pub code: Option<CompactString>,
    /// Progress token: given by a request, used by a progress notification.
    pub token: Option<RequestId>,
    /// Trace id of `_meta.traceparent`.
    pub trace_id: Option<CompactString>,
    /// The task that it is about or related to.
    pub task: Option<CompactString>,
    /// Id of the `subscriptions/listen` request that it answers.
    pub subscription: Option<RequestId>,
    /// The conversation that it belongs to, from 1; 0 over stdio.
    pub conversation: u32,
    /// The HTTP exchange that carried it; 0 where none did.
    pub http: u32,
}

impl MessageRecord {
    /// Bytes that it takes in memory, about.
    fn bytes(&self) -> usize {
        let own = [&self.method, &self.name, &self.code, &self.task];
        let ids = [&self.rpc_id, &self.token, &self.subscription];
        let texts: usize = own.into_iter().flatten().map(CompactString::len).sum();
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
    pub subject: CompactString,
}

impl Observation {
    /// An observation about a request that shows only by what comes, or does not come, later.
    fn of(exchange: &Exchange, kind: Observed) -> Self {
        Self {
            frame: exchange.request.0,
            exchange: Some(exchange.id),
            direction: exchange.direction,
            kind,
            subject: exchange.rpc_id.json().into(),
        }
    }
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
    /// The response of HTTP to a request came to its end without the answer.
    NotInResponse,
    /// A request without an answer is no longer waited for, because too many are open.
    RequestGivenUp,
    /// A response, a cancel or progress for a request that is no longer waited for, or may be.
    ForGivenUp,
    /// The task that answered a request is no longer followed, because too many have no outcome.
    TaskGivenUp,
    /// The retry of an input round is no longer waited for, because too many are.
    RoundGivenUp,
}

/// The rows that one transaction has to write.
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
    fn is_empty(&self) -> bool {
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

    /// The observations of the last call of the correlator.
    pub fn observations(&self) -> &[Observation] {
        &self.observations
    }

    fn begin(&mut self) {
        self.latest = self.messages.len();
        self.observations.clear();
    }

    fn message(&mut self, record: MessageRecord) {
        self.bytes += record.bytes();
        self.messages.push(record);
    }

    fn touch(&mut self, exchange: &Exchange) {
        self.bytes += exchange.bytes();
        if let Some(before) = self.exchanges.insert(exchange.id, exchange.clone()) {
            self.bytes -= before.bytes();
        }
    }

    fn observe(&mut self, observation: Observation) {
        self.observations.push(observation);
    }
}

#[cfg(test)]
mod correlator_tests;
