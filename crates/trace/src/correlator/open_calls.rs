//! The calls that are open, and those that are remembered for what may still come for them.

use crate::clock::Moment;
use crate::exchange::{Exchange, ExchangeId, Status};
use compact_str::CompactString;
use foldhash::HashMap;
use mcpreel_wire::id::{IdKind, RequestId};
use mcpreel_wire::message::Direction;
use std::collections::{BTreeSet, VecDeque};

/// Bytes that calls without an answer, and tasks without an outcome, may hold: room for some four
/// thousand. A client that is never answered must not make us grow; beyond it the oldest of them is
/// given up, and that is told.
pub const HELD_BYTES: usize = 3 << 20;

/// Calls that are remembered after their end. Without it a second answer, an id used again or
/// late progress would all look as if their call had never been; without a limit a long session
/// would be kept in memory. Beyond it they do look so.
pub const HISTORY: usize = 2048;

/// Bytes that the history may hold: ids and names can be long. Beyond it the oldest calls are
/// forgotten.
pub const HISTORY_BYTES: usize = 2 << 20;

/// Bytes that the indices, and the rules that remember open requests, take for a call besides its
/// texts, about.
const INDEX_BYTES: usize = 512;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// Neither answered nor cancelled.
    Open,
    /// Answered by a task whose outcome is not known.
    Unfinished,
    Settled,
}

/// An exchange and what pairing needs beside it.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) exchange: Exchange,
    pub(super) kept: Kept,
    pub(super) token: Option<RequestId>,
    /// When its cancel came, and which way that went.
    pub(super) cancel: Option<(Moment, Direction)>,
    pub(super) waiting: Waiting,
    /// Whether its parent waits for it.
    pub(super) awaited: bool,
    pub(super) bytes: usize,
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
    /// Whether it was unanswered up to now.
    fn no_longer_unanswered(&mut self, id: ExchangeId) -> bool {
        let at = self.unanswered.iter().position(|open| *open == id);
        at.and_then(|at| self.unanswered.remove(at)).is_some()
    }
}

impl Call {
    /// A wait for the client has begun, has ended, or (at its own end) is cut off.
    pub(super) fn waits(&mut self, change: impl FnOnce(&mut Waiting)) {
        change(&mut self.waiting);
        self.exchange.waited_ns = self.waiting.total_ns;
    }

    /// Bytes that it and its indices take in memory, about.
    fn bytes_now(&self) -> usize {
        let task = self.exchange.task.as_deref().map_or(0, str::len);
        let token = self.token.as_ref().map_or(0, RequestId::bytes);
        INDEX_BYTES + self.exchange.bytes() + token + task
    }
}

/// Calls of both directions with their indices.
#[derive(Debug, Default)]
pub(super) struct Calls {
    last: u64,
    by_exchange: HashMap<ExchangeId, Box<Call>>,
    ids: [HashMap<RequestId, Uses>; 2],
    tokens: [HashMap<RequestId, ExchangeId>; 2],
    tasks: [HashMap<CompactString, ExchangeId>; 2],
    /// What is not settled, oldest first.
    held: BTreeSet<ExchangeId>,
    held_bytes: usize,
    /// In the order in which they ended.
    settled: VecDeque<ExchangeId>,
    settled_bytes: usize,
    /// Whether a call was forgotten that had no answer: whatever comes for no call may be for it.
    pub(super) has_forgotten: bool,
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
    /// The last number that was given to an exchange, by these calls or by others of the recording.
    pub(super) fn last(&mut self) -> &mut u64 {
        &mut self.last
    }

    /// The number of the next exchange.
    pub(super) fn next_id(&mut self) -> ExchangeId {
        self.last += 1;
        ExchangeId(self.last)
    }

    pub(super) fn get(&self, id: ExchangeId) -> Option<&Call> {
        self.by_exchange.get(&id).map(|call| &**call)
    }

    pub(super) fn get_mut(&mut self, id: ExchangeId) -> Option<&mut Call> {
        self.by_exchange.get_mut(&id).map(|call| &mut **call)
    }

    pub(super) fn open(&mut self, mut call: Call) {
        call.bytes = call.bytes_now();
        self.held_bytes += call.bytes;
        let (id, side) = (call.exchange.id, side(call.exchange.direction));
        let uses = self.ids[side]
            .entry(call.exchange.rpc_id.clone())
            .or_default();
        uses.unanswered.push_back(id);
        if let Some(token) = &call.token {
            self.tokens[side].insert(token.clone(), id);
        }
        self.held.insert(id);
        self.by_exchange.insert(id, Box::new(call));
    }

    /// The call to give up next, where more is held than there is room for: the oldest.
    pub(super) fn too_much(&self) -> Option<ExchangeId> {
        let is_too_much = self.held_bytes > HELD_BYTES;
        self.held.first().copied().filter(|_| is_too_much)
    }

    fn uses(&self, direction: Direction, id: &RequestId) -> Option<&Uses> {
        self.ids[side(direction)].get(id)
    }

    /// The unanswered call with this id, cancelled or not: the one whose HTTP exchange is `http`, else
    /// the oldest.
    pub(super) fn unanswered(
        &self,
        direction: Direction,
        id: &RequestId,
        http: u32,
    ) -> Option<ExchangeId> {
        let uses = self.uses(direction, id)?;
        let is_its_own =
            |id: &&ExchangeId| self.get(**id).is_some_and(|it| it.exchange.http == http);
        let own = uses.unanswered.iter().find(is_its_own);
        own.or(uses.unanswered.front()).copied()
    }

    /// The calls that are open and came in the HTTP exchange `http`.
    pub(super) fn open_in(&self, http: u32) -> Vec<ExchangeId> {
        self.open_that(|it| it.http == http)
    }

    /// All open calls of the client.
    pub(super) fn open_of_client(&self) -> Vec<ExchangeId> {
        self.open_that(|it| it.direction == Direction::ClientToServer)
    }

    fn open_that(&self, is_meant: impl Fn(&Exchange) -> bool) -> Vec<ExchangeId> {
        let held = self.held.iter().copied();
        let is_open = |it: &Call| it.kept == Kept::Open && is_meant(&it.exchange);
        held.filter(|id| self.get(*id).is_some_and(is_open))
            .collect()
    }

    /// The oldest call with this id that is neither answered nor cancelled.
    pub(super) fn in_flight(&self, direction: Direction, id: &RequestId) -> Option<ExchangeId> {
        let uses = self.uses(direction, id)?;
        let is_open =
            |id: &&ExchangeId| self.by_exchange.get(id).is_some_and(|c| c.cancel.is_none());
        uses.unanswered.iter().find(is_open).copied()
    }

    /// The latest call with this id that is not answered, cancelled or not.
    pub(super) fn last_unanswered(&self, way: Direction, id: &RequestId) -> Option<ExchangeId> {
        self.uses(way, id)?.unanswered.back().copied()
    }

    /// The latest remembered call with this id, whatever became of it.
    pub(super) fn any(&self, direction: Direction, id: &RequestId) -> Option<ExchangeId> {
        let uses = self.uses(direction, id)?;
        uses.unanswered.back().copied().max(uses.answered)
    }

    /// The latest remembered call with this id that was answered.
    pub(super) fn answered(&self, direction: Direction, id: &RequestId) -> Option<ExchangeId> {
        self.uses(direction, id)?.answered
    }

    /// An open call whose id differs from `id` in nothing but its JSON type.
    pub(super) fn other_type(&self, direction: Direction, id: &RequestId) -> Option<ExchangeId> {
        let is_number = |id: &RequestId| matches!(id.kind(), IdKind::Integer | IdKind::Fraction);
        let other = match id.kind() {
            IdKind::Integer | IdKind::Fraction => RequestId::string(id.json()),
            IdKind::String => RequestId::from_json(id.form()).filter(is_number)?,
            IdKind::Null | IdKind::Other => return None,
        };
        self.unanswered(direction, &other, 0)
    }

    /// The newest call that gave this progress token.
    pub(super) fn by_token(&self, direction: Direction, token: &RequestId) -> Option<ExchangeId> {
        self.tokens[side(direction)].get(token).copied()
    }

    /// The call that was answered by this task.
    pub(super) fn by_task(&self, direction: Direction, task: &str) -> Option<ExchangeId> {
        self.tasks[side(direction)].get(task).copied()
    }

    /// The open calls of the client that are no ping and no listen stream, newest first.
    pub(super) fn callers(&self) -> impl Iterator<Item = ExchangeId> {
        let newest_first = self.held.iter().rev().copied();
        newest_first.filter(|id| {
            let call = self.by_exchange.get(id);
            call.is_some_and(|call| call.kept == Kept::Open && is_caller(&call.exchange))
        })
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
                self.recount(id, Kept::Unfinished);
            }
            _ => self.settle(id),
        }
    }

    /// The call is over: it is remembered as long as the history reaches.
    pub(super) fn settle(&mut self, id: ExchangeId) {
        if self.held.remove(&id) {
            self.recount(id, Kept::Settled);
            self.settled.push_back(id);
        }
        while (self.settled.len() > HISTORY || self.settled_bytes > HISTORY_BYTES)
            && let Some(oldest) = self.settled.pop_front()
        {
            self.forget(oldest);
        }
    }

    /// The oldest calls that have no answer and were not cancelled, in order, `limit` at most.
    pub(super) fn first_open(&self, limit: usize) -> Vec<ExchangeId> {
        let is_open = |id: &&ExchangeId| self.get(**id).is_some_and(|it| it.kept == Kept::Open);
        let open = self.held.iter().filter(is_open);
        open.take(limit).copied().collect()
    }

    /// The recording is over: the call is open no longer, whatever it is remembered as.
    pub(super) fn end(&mut self, id: ExchangeId) {
        self.held.remove(&id);
    }

    /// Bytes that are counted of what is open.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.held_bytes
    }

    /// The number of entries in memory, over all indices.
    #[cfg(test)]
    pub(super) fn entries(&self) -> usize {
        let ids = self.ids.iter().map(HashMap::len);
        let tokens = self.tokens.iter().map(HashMap::len);
        let tasks = self.tasks.iter().map(HashMap::len);
        let sets = [self.by_exchange.len(), self.held.len(), self.settled.len()];
        ids.chain(tokens).chain(tasks).chain(sets).sum()
    }

    /// The bytes that calls of this kind hold.
    fn bytes_of(&mut self, kept: Kept) -> &mut usize {
        match kept {
            Kept::Open | Kept::Unfinished => &mut self.held_bytes,
            Kept::Settled => &mut self.settled_bytes,
        }
    }

    /// From now on the call is kept as `kept`; it may have grown.
    fn recount(&mut self, id: ExchangeId, kept: Kept) {
        let Some(call) = self.by_exchange.get_mut(&id) else {
            return;
        };
        let before = std::mem::replace(&mut call.kept, kept);
        let bytes = call.bytes_now();
        let bytes_before = std::mem::replace(&mut call.bytes, bytes);
        *self.bytes_of(before) -= bytes_before;
        *self.bytes_of(kept) += bytes;
    }

    /// Forgets the call as if it had never been, but for that it had no answer.
    pub(super) fn forget(&mut self, id: ExchangeId) {
        let Some(call) = self.by_exchange.remove(&id) else {
            return;
        };
        *self.bytes_of(call.kept) -= call.bytes;
        self.held.remove(&id);
        let side = side(call.exchange.direction);
        let rpc_id = &call.exchange.rpc_id;
        if let Some(uses) = self.ids[side].get_mut(rpc_id) {
            self.has_forgotten |= uses.no_longer_unanswered(id);
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

// How long a call waited for its client: the union of overlapping waits.

/// Waits of one call, counted once where they overlap.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waiting {
    pending: u32,
    since: Moment,
    total_ns: u64,
}

impl Waiting {
    /// Of a retry, which was waited for already.
    pub(super) fn after(total_ns: u64) -> Self {
        Self {
            total_ns,
            ..Self::default()
        }
    }

    /// The call begins to wait for one more answer of the client.
    pub(super) fn begin(&mut self, t: Moment) {
        if self.pending == 0 {
            self.since = t;
        }
        self.pending += 1;
    }

    /// Counts down: one of these answers came, or nobody waits for it any longer.
    pub(super) fn end(&mut self, t: Moment) {
        match self.pending {
            0 | 1 => self.close(t),
            _ => self.pending -= 1,
        }
    }

    /// The call itself is over, whatever is still waited for.
    pub(super) fn close(&mut self, t: Moment) {
        if self.pending > 0 {
            self.total_ns += t.0.saturating_sub(self.since.0);
            self.pending = 0;
        }
    }

    /// Whether an answer is waited for.
    pub(super) fn is_under_way(self) -> bool {
        self.pending > 0
    }
}

#[cfg(test)]
mod waiting_tests {
    use super::*;

    #[test]
    fn overlapping_waits_count_once() {
        let mut waiting = Waiting::default();
        waiting.begin(Moment(10));
        waiting.begin(Moment(20));
        waiting.end(Moment(30));
        waiting.end(Moment(50));
        waiting.begin(Moment(70));
        waiting.end(Moment(75));
        assert_eq!(waiting.total_ns, 45);
    }
}
