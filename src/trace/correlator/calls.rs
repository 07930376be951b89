//! The calls that are open, and those that are remembered for what may still come for them.

use super::waiting::Waiting;
use crate::protocol::id::{IdKey, RequestId};
use crate::protocol::message::Direction;
use crate::trace::clock::Moment;
use crate::trace::exchange::{Exchange, ExchangeId, Status};
use std::collections::{BTreeSet, HashMap, VecDeque};

/// Calls that are remembered after their end. Without it a second answer, an id used again or
/// late progress would all look as if their call had never been; without a limit a long session
/// would be kept in memory. Beyond it they do look so.
pub const HISTORY: usize = 2048;

/// Bytes of text that the history may hold: ids and names can be as long as a line, and a few
/// thousand such lines would not fit into memory. Beyond it the oldest calls are forgotten.
pub const HISTORY_BYTES: usize = 2 << 20;

/// Tasks without an outcome that are remembered although other calls ended since. Beyond it the
/// oldest keeps the status `task` whatever comes for it.
pub const UNFINISHED_TASKS: usize = 2048;

/// Why a call is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// It has no answer and was not cancelled.
    Open,
    /// It was answered by a task whose outcome is not known.
    Unfinished,
    /// It is over, for all one knows.
    Settled,
}

/// An exchange and what pairing needs beside it.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) exchange: Exchange,
    pub(super) kept: Kept,
    /// Its `_meta.progressToken`.
    pub(super) token: Option<RequestId>,
    /// When its cancel came, and which way that went.
    pub(super) cancel: Option<(Moment, Direction)>,
    /// The waits for its client.
    pub(super) waiting: Waiting,
    /// Nanoseconds from the answer that asked for input to this retry.
    pub(super) round_wait_ns: u64,
    /// Whether its parent waits for it.
    pub(super) awaited: bool,
}

/// The calls with one id of one sender.
#[derive(Debug, Default)]
struct Uses {
    /// Without an answer, oldest first; also those that were cancelled.
    unanswered: VecDeque<ExchangeId>,
    /// The latest with an answer, while it is remembered.
    answered: Option<ExchangeId>,
}

impl Uses {
    fn no_longer_unanswered(&mut self, id: ExchangeId) {
        if let Some(at) = self.unanswered.iter().position(|open| *open == id) {
            self.unanswered.remove(at);
        }
    }
}

impl Call {
    /// A wait for the client has begun, has ended, or (at its own end) is cut off.
    pub(super) fn waits(&mut self, change: impl FnOnce(&mut Waiting)) {
        change(&mut self.waiting);
        self.exchange.waited_ns = self.round_wait_ns + self.waiting.total_ns();
    }

    /// Bytes of the texts that keep it and its indices in memory; its id and token are there
    /// twice, each as text and as key.
    fn text_bytes(&self) -> usize {
        let exchange = &self.exchange;
        let length = |text: &Option<Box<str>>| text.as_deref().map_or(0, str::len);
        let token = self.token.as_ref().map_or(0, |token| token.json().len());
        exchange.method.len()
            + exchange.summary.len()
            + 4 * (exchange.rpc_id.json().len() + token)
            + length(&exchange.name)
            + length(&exchange.code)
            + 2 * length(&exchange.task)
            + length(&exchange.progress)
    }
}

/// Calls of both directions with their indices.
#[derive(Debug, Default)]
pub(super) struct Calls {
    last: u64,
    by_exchange: HashMap<ExchangeId, Call>,
    ids: [HashMap<RequestId, Uses>; 2],
    tokens: [HashMap<RequestId, ExchangeId>; 2],
    tasks: [HashMap<Box<str>, ExchangeId>; 2],
    callers: BTreeSet<ExchangeId>,
    unfinished: BTreeSet<ExchangeId>,
    /// With the bytes of text of each.
    settled: VecDeque<(ExchangeId, usize)>,
    settled_bytes: usize,
}

fn side(direction: Direction) -> usize {
    match direction {
        Direction::ClientToServer => 0,
        Direction::ServerToClient => 1,
    }
}

/// Whether requests of the server can belong to this one: a call of the client that does work.
fn is_caller(exchange: &Exchange) -> bool {
    exchange.direction == Direction::ClientToServer
        && &*exchange.method != "ping"
        && !exchange.is_listen()
}

impl Calls {
    /// The number of the next exchange.
    pub(super) fn next_id(&mut self) -> ExchangeId {
        self.last += 1;
        ExchangeId(self.last)
    }

    pub(super) fn get(&self, id: ExchangeId) -> Option<&Call> {
        self.by_exchange.get(&id)
    }

    pub(super) fn get_mut(&mut self, id: ExchangeId) -> Option<&mut Call> {
        self.by_exchange.get_mut(&id)
    }

    /// Takes a new call in.
    pub(super) fn open(&mut self, call: Call) {
        let (id, side) = (call.exchange.id, side(call.exchange.direction));
        let uses = self.ids[side]
            .entry(call.exchange.rpc_id.clone())
            .or_default();
        uses.unanswered.push_back(id);
        if let Some(token) = &call.token {
            self.tokens[side].insert(token.clone(), id);
        }
        if is_caller(&call.exchange) {
            self.callers.insert(id);
        }
        self.by_exchange.insert(id, call);
    }

    /// The oldest unanswered call with this id, cancelled or not.
    pub(super) fn unanswered(&self, direction: Direction, id: &RequestId) -> Option<ExchangeId> {
        let uses = self.ids[side(direction)].get(id)?;
        uses.unanswered.front().copied()
    }

    /// The oldest call with this id that is neither answered nor cancelled.
    pub(super) fn in_flight(&self, direction: Direction, id: &RequestId) -> Option<ExchangeId> {
        let uses = self.ids[side(direction)].get(id)?;
        let is_open =
            |id: &&ExchangeId| self.by_exchange.get(id).is_some_and(|c| c.cancel.is_none());
        uses.unanswered.iter().find(is_open).copied()
    }

    /// The latest remembered call with this id, whatever became of it.
    pub(super) fn any(&self, direction: Direction, id: &RequestId) -> Option<ExchangeId> {
        let uses = self.ids[side(direction)].get(id)?;
        uses.unanswered.back().copied().max(uses.answered)
    }

    /// The latest remembered call with this id that was answered.
    pub(super) fn answered(&self, direction: Direction, id: &RequestId) -> Option<ExchangeId> {
        self.ids[side(direction)].get(id)?.answered
    }

    /// An open call whose id differs from `id` in nothing but its JSON type.
    pub(super) fn other_type(&self, direction: Direction, id: &RequestId) -> Option<ExchangeId> {
        let other = match id.key() {
            IdKey::Number(_) => RequestId::new(id.json(), IdKey::String(id.json().into())),
            IdKey::String(text) => RequestId::from_json(text)
                .filter(|number| matches!(number.key(), IdKey::Number(_)))?,
            IdKey::Null | IdKey::Other(_) => return None,
        };
        self.unanswered(direction, &other)
    }

    /// The newest call that gave this progress token.
    pub(super) fn by_token(&self, direction: Direction, token: &RequestId) -> Option<ExchangeId> {
        self.tokens[side(direction)].get(token).copied()
    }

    /// The call that was answered by this task.
    pub(super) fn by_task(&self, direction: Direction, task: &str) -> Option<ExchangeId> {
        self.tasks[side(direction)].get(task).copied()
    }

    /// The newest open call of the client that is no ping and no listen stream.
    pub(super) fn newest_caller(&self) -> Option<ExchangeId> {
        self.callers.last().copied()
    }

    /// The one open call of the client that is no ping and no listen stream, if it is just one.
    pub(super) fn only_caller(&self) -> Option<ExchangeId> {
        (self.callers.len() == 1)
            .then(|| self.newest_caller())
            .flatten()
    }

    /// An answer came: its id is free, the call is remembered.
    pub(super) fn answer(&mut self, id: ExchangeId) {
        let Some(call) = self.by_exchange.get(&id) else {
            return;
        };
        let direction = side(call.exchange.direction);
        if let Some(uses) = self.ids[direction].get_mut(&call.exchange.rpc_id) {
            uses.no_longer_unanswered(id);
            uses.answered = uses.answered.max(Some(id));
        }
        match (&call.exchange.task, call.exchange.status) {
            (Some(task), Status::Task) => {
                self.tasks[direction].insert(task.clone(), id);
                self.callers.remove(&id);
                self.keep_unfinished(id);
            }
            _ => self.settle(id),
        }
    }

    /// The call is over: it is remembered as long as the history reaches.
    pub(super) fn settle(&mut self, id: ExchangeId) {
        self.callers.remove(&id);
        self.unfinished.remove(&id);
        let Some(call) = self.by_exchange.get_mut(&id) else {
            return;
        };
        if call.kept != Kept::Settled {
            call.kept = Kept::Settled;
            let bytes = call.text_bytes();
            self.settled.push_back((id, bytes));
            self.settled_bytes += bytes;
        }
        while (self.settled.len() > HISTORY || self.settled_bytes > HISTORY_BYTES)
            && let Some((oldest, bytes)) = self.settled.pop_front()
        {
            self.settled_bytes -= bytes;
            self.forget(oldest);
        }
    }

    /// The calls that have no answer and were not cancelled, in order.
    pub(super) fn all_open(&self) -> Vec<ExchangeId> {
        let mut open: Vec<_> = self
            .by_exchange
            .values()
            .filter(|call| call.kept == Kept::Open)
            .map(|call| call.exchange.id)
            .collect();
        open.sort_unstable();
        open
    }

    /// How many entries are in memory, over all indices.
    #[cfg(test)]
    pub(super) fn entries(&self) -> usize {
        let indices = [&self.ids[0], &self.ids[1]].map(HashMap::len);
        let tokens = [&self.tokens[0], &self.tokens[1]].map(HashMap::len);
        let tasks = [&self.tasks[0], &self.tasks[1]].map(HashMap::len);
        let sets = [
            self.by_exchange.len(),
            self.callers.len(),
            self.unfinished.len(),
            self.settled.len(),
        ];
        let all = [indices, tokens, tasks];
        all.iter().flatten().chain(&sets).sum()
    }

    fn keep_unfinished(&mut self, id: ExchangeId) {
        if let Some(call) = self.by_exchange.get_mut(&id) {
            call.kept = Kept::Unfinished;
        }
        self.unfinished.insert(id);
        if self.unfinished.len() > UNFINISHED_TASKS
            && let Some(oldest) = self.unfinished.first().copied()
        {
            self.settle(oldest);
        }
    }

    fn forget(&mut self, id: ExchangeId) {
        let Some(call) = self.by_exchange.remove(&id) else {
            return;
        };
        let side = side(call.exchange.direction);
        let rpc_id = &call.exchange.rpc_id;
        if let Some(uses) = self.ids[side].get_mut(rpc_id) {
            uses.no_longer_unanswered(id);
            uses.answered = uses.answered.filter(|answered| *answered != id);
            if uses.unanswered.is_empty() && uses.answered.is_none() {
                self.ids[side].remove(rpc_id);
            }
        }
        if let Some(token) = &call.token
            && self.tokens[side].get(token) == Some(&id)
        {
            self.tokens[side].remove(token);
        }
        if let Some(task) = &call.exchange.task
            && self.tasks[side].get(task) == Some(&id)
        {
            self.tasks[side].remove(task);
        }
    }
}
