//! A request opens an exchange.

use super::open_calls::{Call, Kept, Waiting};
use super::{At, Correlator, MessageKind, MessageRecord, Observed};
use crate::exchange::{Exchange, ExchangeId, Status};
use mcpreel_wire::message::{Direction, Era, Request};

/// Whether a request is about a task: `tasks/get` and the like, whose name is the task's id.
pub(super) fn is_about_task(method: &str) -> bool {
    method.starts_with("tasks/")
}

impl Correlator {
    pub(super) fn request(&mut self, at: At<'_>, request: &Request) -> MessageRecord {
        // Modern requests say their version in `_meta`.
        let identity = at.message.meta.identity.as_ref();
        let era = match identity.and_then(|identity| identity.protocol_version.as_ref()) {
            Some(_) => Era::Modern,
            None => Era::Legacy,
        };
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
        record.exchange = self.sent_again(at, request);
        if !request.id.is_null() && record.exchange.is_none() {
            self.observe_reuse(at, request, era);
            record.exchange = Some(self.open(at, request, &record));
        }
        record
    }

    fn observe_reuse(&mut self, at: At<'_>, request: &Request, era: Era) {
        // Clients that look alike share a conversation of the modern era, and each counts for itself.
        let may_be_anothers = era == Era::Modern && at.head.carried.http > 0;
        let earlier = self.calls.any(at.direction, &request.id);
        if let Some(earlier) = earlier.filter(|_| !may_be_anothers) {
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
        let (name, t_request) = (request.name.as_deref(), at.head.t_last);
        let retry = request.retry.as_ref();
        let joined = retry.and_then(|retry| self.rounds.join(&request.method, name, retry));
        let waited_ns = joined.map_or(0, |(_, asked)| t_request.ns_since(asked));
        let parent = self.parent(at, &request.method);
        let mut awaited = false;
        // A call that has its answer already waits no more.
        if let Some(call) = parent.and_then(|id| self.calls.get_mut(id))
            && call.kept == Kept::Open
        {
            call.waiting.begin(t_request);
            awaited = true;
        }
        let mut exchange = Exchange {
            id: self.calls.next_id(),
            name: name.map(Into::into),
            era: record.era,
            request: (at.head.seq, at.message.part),
            t_request,
            waited_ns,
            parent,
            chain: joined.map(|(chain, _)| chain),
            task: record.task.clone(),
            conversation: self.conversation,
            http: at.head.carried.http,
            request_size: at.head.size,
            summary: record.summary.clone(),
            ..Exchange::begun(at.direction, request.id.clone(), &request.method)
        };
        if exchange.is_listen() {
            exchange.status = Status::Listening;
        }
        self.changes.touch(&exchange);
        let id = exchange.id;
        self.calls.open(Call {
            exchange,
            kept: Kept::Open,
            token: record.token.clone(),
            cancel: None,
            waiting: Waiting::after(waited_ns),
            awaited,
            bytes: 0,
        });
        id
    }

    /// The call of the client that waits for the answer to a request of the server: the creator of
    /// the related task, else the newest that is open.
    fn parent(&self, at: At<'_>, method: &str) -> Option<ExchangeId> {
        let from_client = at.direction == Direction::ClientToServer;
        if from_client || method == "ping" || is_about_task(method) {
            return None;
        }
        let task = at.message.meta.related_task.as_deref();
        task.and_then(|task| self.calls.by_task(Direction::ClientToServer, task))
            .or_else(|| self.calls.callers().next())
    }
}
