//! A request opens an exchange.

use super::open_calls::{Call, Kept, Waiting};
use super::{At, Correlator, MessageKind, MessageRecord, Observed};
use crate::exchange::{Exchange, ExchangeId, Status};
use mcpreel_wire::message::{Direction, Era, Message, Request};

/// Modern requests say their version in `_meta`.
fn era_of(message: &Message) -> Era {
    match &message.meta.identity {
        Some(identity) if identity.protocol_version.is_some() => Era::Modern,
        _ => Era::Legacy,
    }
}

/// Whether a request is about a task: `tasks/get` and the like, whose name is the task's id.
pub(super) fn is_about_task(method: &str) -> bool {
    method.starts_with("tasks/")
}

/// Whether a call of the client can wait for the answer to this request of the server.
fn asks_client(direction: Direction, method: &str) -> bool {
    direction == Direction::ServerToClient && method != "ping" && !is_about_task(method)
}

impl Correlator {
    pub(super) fn request(&mut self, at: At<'_>, request: &Request) -> MessageRecord {
        let era = era_of(at.message);
        if at.direction == Direction::ClientToServer {
            self.era = era;
        }
        let mut record = at.record(MessageKind::Request, era);
        record.method = Some(request.method.clone());
        record.rpc_id = Some(request.id.clone());
        record.name.clone_from(&request.name);
        record.token.clone_from(&at.message.meta.progress_token);
        if is_about_task(&request.method) {
            record.task.clone_from(&request.name);
        }
        if !request.id.is_null() {
            self.observe_reuse(at, request, era);
            record.exchange = Some(self.open(at, request, &record));
        }
        record
    }

    fn observe_reuse(&mut self, at: At<'_>, request: &Request, era: Era) {
        if let Some(earlier) = self.calls.any(at.direction, &request.id) {
            let in_flight = self.calls.in_flight(at.direction, &request.id).is_some();
            let kind = Observed::IdReused { in_flight, era };
            self.changes
                .observe(at.observation(kind, Some(earlier), request.id.json()));
        }
        if let Some(token) = &at.message.meta.progress_token
            && let Some(earlier) = self.calls.by_token(at.direction, token)
            && self.calls.get(earlier).map(|call| call.kept) == Some(Kept::Open)
        {
            let kind = Observed::ProgressTokenReused;
            self.changes
                .observe(at.observation(kind, Some(earlier), token.json()));
        }
    }

    fn open(&mut self, at: At<'_>, request: &Request, record: &MessageRecord) -> ExchangeId {
        let name = request.name.as_deref();
        let retry = request.retry.as_ref();
        let joined = retry.and_then(|retry| self.rounds.join(&request.method, name, retry));
        let mut exchange = self.new_exchange(at, request, record);
        exchange.chain = joined.map(|(chain, _)| chain);
        let round_wait_ns = joined.map_or(0, |(_, asked)| exchange.t_request.ns_since(asked));
        exchange.waited_ns = round_wait_ns;
        let (id, parent) = (exchange.id, exchange.parent);
        let awaited = self.begin_wait(at, parent);
        self.changes.touch(&exchange);
        self.calls.open(Call {
            exchange,
            kept: Kept::Open,
            token: record.token.clone(),
            cancel: None,
            waiting: Waiting::default(),
            round_wait_ns,
            awaited,
            bytes: 0,
        });
        id
    }

    fn new_exchange(&mut self, at: At<'_>, request: &Request, record: &MessageRecord) -> Exchange {
        let asks = asks_client(at.direction, &request.method);
        let parent = self.parent(at.message).filter(|_| asks);
        let mut exchange = Exchange {
            id: self.calls.next_id(),
            name: request.name.as_deref().map(Into::into),
            era: record.era,
            request: (at.head.seq, at.message.part),
            t_request: at.head.t_last,
            parent,
            task: record.task.clone(),
            request_size: at.head.size,
            summary: record.summary.clone(),
            ..Exchange::begun(at.direction, request.id.clone(), &request.method)
        };
        if exchange.is_listen() {
            exchange.status = Status::Listening;
        }
        exchange
    }

    /// The call of the client that a request of the server belongs to: the creator of the related
    /// task, else the newest that is open.
    fn parent(&self, message: &Message) -> Option<ExchangeId> {
        let task = message.meta.related_task.as_deref();
        task.and_then(|task| self.calls.by_task(Direction::ClientToServer, task))
            .or_else(|| self.calls.callers().next())
    }

    /// Whether the parent waits from now on; one that has its answer already waits no more.
    fn begin_wait(&mut self, at: At<'_>, parent: Option<ExchangeId>) -> bool {
        match parent.and_then(|id| self.calls.get_mut(id)) {
            Some(call) if call.kept == Kept::Open => {
                call.waiting.begin(at.head.t_last);
                true
            }
            _ => false,
        }
    }
}
