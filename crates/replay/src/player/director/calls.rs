//! The requests that wait for their answers.

use foldhash::HashMap;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_wire::id::RequestId;
use std::collections::BTreeMap;
use std::time::Duration;

/// No answer is given up sooner than this.
const PATIENCE: Duration = Duration::from_secs(10);

/// Nor sooner than so many times what it took in the recording.
const TIMES: u32 = 10;

#[derive(Debug)]
pub(super) struct Call {
    pub exchange: Box<Exchange>,
    pub id: RequestId,
    pub sent: Moment,
    /// When its answer is given up; `None`: nobody waits for it.
    pub deadline: Option<Moment>,
    pub cancelled: bool,
    /// How many rounds of input were answered that the recording has not.
    pub more_rounds: u32,
    /// How it was asked once more how far a task has come.
    pub polls: Polls,
    pub token: Option<RequestId>,
    pub progress: Progress,
}

/// Polls of a call that the recording has not.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Polls {
    pub count: u32,
    /// After this no more is asked; set by the first of them.
    pub until: Option<Moment>,
}

/// What was told of a call's progress.
#[derive(Debug, Default)]
pub(super) struct Progress {
    pub count: u64,
    /// The last value, and the total, as on the wire.
    pub last: Option<(Box<str>, Option<Box<str>>)>,
    /// Whether a value was smaller than the one before.
    pub fell: bool,
}

impl Call {
    /// Whether the walk waits for its answer.
    pub fn is_awaited(&self) -> bool {
        self.deadline.is_some() && !self.cancelled
    }
}

/// Whether the recorded client had an answer that it could go on from.
pub(super) fn was_answered(exchange: &Exchange) -> bool {
    let in_time = |seq| exchange.cancelled.is_none_or(|cancelled| seq < cancelled);
    exchange.response.is_some_and(|(seq, _)| in_time(seq))
        && exchange.status != Status::Late
        && !exchange.is_listen()
}

#[derive(Debug, Default)]
pub(super) struct Calls {
    open: BTreeMap<ExchangeId, Call>,
    by_id: HashMap<RequestId, ExchangeId>,
    /// Requests with an id that another one had that was open.
    sharing: usize,
    earliest: Option<Moment>,
    awaited: usize,
}

impl Calls {
    /// A request was sent; nobody waits beyond `end` for its answer.
    pub fn open(&mut self, call: Call) {
        let id = call.exchange.id;
        if self.by_id.contains_key(&call.id) {
            self.sharing += 1;
        } else {
            self.by_id.insert(call.id.clone(), id);
        }
        if let Some(deadline) = call.deadline {
            self.awaited += 1;
            self.earliest = Some(self.earliest.map_or(deadline, |at| at.min(deadline)));
        }
        self.open.insert(id, call);
    }

    /// When the answer of `exchange`, which took so long in the recording, is given up, if it is
    /// sent `now` and all has to be over at `end`.
    pub fn deadline(
        exchange: &Exchange,
        recorded: Duration,
        now: Moment,
        end: Option<Moment>,
    ) -> Option<Moment> {
        if !was_answered(exchange) {
            return None;
        }
        let own = now + recorded.saturating_mul(TIMES).max(PATIENCE);
        Some(end.map_or(own, |end| end.min(own)))
    }

    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// How many answers are waited for.
    pub fn awaited(&self) -> usize {
        self.awaited
    }

    pub fn get(&self, id: ExchangeId) -> Option<&Call> {
        self.open.get(&id)
    }

    pub fn all(&self) -> impl Iterator<Item = &Call> {
        self.open.values()
    }

    /// The oldest open call with this id.
    pub fn by_id(&self, id: &RequestId) -> Option<ExchangeId> {
        self.by_id.get(id).copied()
    }

    /// The open call that gave this progress token.
    pub fn by_token(&mut self, token: &RequestId) -> Option<&mut Call> {
        let mut calls = self.open.values_mut();
        calls.find(|call| call.token.as_ref() == Some(token))
    }

    /// The newest open call that may ask something in return.
    pub fn newest(&self) -> Option<ExchangeId> {
        let mut calls = self.open.values().rev();
        let asks = |call: &&Call| !call.exchange.is_listen() && &*call.exchange.method != "ping";
        calls.find(asks).map(|call| call.exchange.id)
    }

    /// An answer came, or is given up.
    pub fn close(&mut self, id: ExchangeId) -> Option<Call> {
        let call = self.open.remove(&id)?;
        self.awaited -= usize::from(call.is_awaited());
        if self.by_id.get(&call.id) == Some(&id) {
            self.by_id.remove(&call.id);
            self.next_with(&call.id);
        } else {
            self.sharing = self.sharing.saturating_sub(1);
        }
        if self.open.is_empty() {
            self.earliest = None;
        }
        Some(call)
    }

    pub fn cancel(&mut self, id: &RequestId) {
        let call = self.by_id(id).and_then(|id| self.open.get_mut(&id));
        if let Some(call) = call {
            self.awaited -= usize::from(call.is_awaited());
            call.cancelled = true;
        }
    }

    fn next_with(&mut self, id: &RequestId) {
        if self.sharing == 0 {
            return;
        }
        let next = self.open.values().find(|call| call.id == *id);
        if let Some(next) = next {
            self.by_id.insert(id.clone(), next.exchange.id);
            self.sharing -= 1;
        }
    }

    /// What kept the server from answering is gone: nothing is given up sooner than if it was sent
    /// `now`, but for the `end` of all.
    pub fn grant(&mut self, now: Moment, end: Option<Moment>) {
        let granted = end.map_or(now + PATIENCE, |end| end.min(now + PATIENCE));
        for deadline in self
            .open
            .values_mut()
            .filter_map(|call| call.deadline.as_mut())
        {
            *deadline = granted.max(*deadline);
        }
        self.earliest = self.earliest.map(|earliest| granted.max(earliest));
    }

    /// When to look at deadlines next.
    pub fn earliest(&self) -> Option<Moment> {
        self.earliest.filter(|_| self.awaited > 0)
    }

    /// The calls whose answers are overdue.
    pub fn overdue(&mut self, now: Moment) -> Vec<ExchangeId> {
        if self.earliest().is_none_or(|earliest| now < earliest) {
            return Vec::new();
        }
        let awaited = || self.open.values().filter(|call| call.is_awaited());
        self.earliest = awaited().filter_map(|call| call.deadline).min();
        let is_over = |call: &&Call| call.deadline.is_some_and(|deadline| deadline <= now);
        awaited()
            .filter(is_over)
            .map(|call| call.exchange.id)
            .collect()
    }
}
