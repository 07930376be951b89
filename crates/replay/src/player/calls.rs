//! The requests that wait for their answers, those that were not sent, and the counts of both.

use crate::bind::{Bound, Round};
use compact_str::CompactString;
use foldhash::HashMap;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::id::RequestId;
use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

/// No answer is given up sooner than this, nor sooner than so many times what it took in the
/// recording.
const PATIENCE: Duration = Duration::from_secs(10);
const TIMES: u32 = 10;

/// Refused calls, and requests that were given up, that are kept.
const MOST_KEPT: usize = 100;

#[derive(Debug)]
pub(super) struct Call {
    pub exchange: Box<Exchange>,
    pub id: RequestId,
    pub sent: Moment,
    /// When its answer is given up; `None`: nothing waits for it.
    pub deadline: Option<Moment>,
    pub cancelled: bool,
    /// Rounds of input that were answered and are not on record.
    pub more_rounds: u32,
    pub polls: Polls,
    pub token: Option<RequestId>,
    pub progress: Progress,
}

/// Polls of a task that are not on record.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Polls {
    pub count: u32,
    /// After this nothing more is asked; set by the first poll.
    pub until: Option<Moment>,
}

/// The live progress of a call.
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
    /// The oldest open call of each id.
    by_id: HashMap<RequestId, ExchangeId>,
    /// Open calls whose id an older open call has as well.
    sharing: usize,
    earliest: Option<Moment>,
    awaited: usize,
}

impl Calls {
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

    /// When the answer of `exchange`, which took `recorded`, is given up if it is sent `now` and
    /// all has to be over at `end`.
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

    /// The newest open call within which the server may ask something.
    pub fn newest(&self) -> Option<ExchangeId> {
        let mut calls = self.open.values().rev();
        let asks = |call: &&Call| !call.exchange.is_listen() && &*call.exchange.method != "ping";
        calls.find(asks).map(|call| call.exchange.id)
    }

    /// Takes a call out that was answered or is given up.
    pub fn close(&mut self, id: ExchangeId) -> Option<Call> {
        let call = self.open.remove(&id)?;
        self.awaited -= usize::from(call.is_awaited());
        if self.by_id.get(&call.id) == Some(&id) {
            self.by_id.remove(&call.id);
            if self.sharing > 0
                && let Some(next) = self.open.values().find(|next| next.id == call.id)
            {
                self.by_id.insert(call.id.clone(), next.exchange.id);
                self.sharing -= 1;
            }
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

    /// When to look at deadlines next.
    pub fn earliest(&self) -> Option<Moment> {
        self.earliest.filter(|_| self.awaited > 0)
    }

    /// Whether an answer is overdue.
    pub fn is_overdue(&mut self, now: Moment) -> bool {
        if self.earliest().is_none_or(|earliest| now < earliest) {
            return false;
        }
        let awaited = self.open.values().filter(|call| call.is_awaited());
        self.earliest = awaited.filter_map(|call| call.deadline).min();
        self.earliest.is_some_and(|earliest| earliest <= now)
    }
}

/// What became of a round of input.
#[derive(Clone, Debug)]
pub(super) enum Chain {
    /// The server asks for input again.
    Asks(Round),
    /// It has answered at once: its answer.
    Complete(Box<[u8]>),
    /// The chain cannot go on: why.
    Broken(Box<str>),
}

/// Requests that were not sent, and the state of chains of input, as far as later messages depend on
/// them.
#[derive(Debug, Default)]
pub(super) struct Skipped {
    exchanges: HashSet<ExchangeId>,
    ids: HashSet<RequestId>,
    chains: HashMap<ExchangeId, Chain>,
    /// Whether the latest request was not sent.
    latest: bool,
}

impl Skipped {
    pub fn add(&mut self, exchange: &Exchange) {
        self.latest = true;
        self.exchanges.insert(exchange.id);
        self.ids.insert(exchange.rpc_id.clone());
    }

    /// A request was sent: its id means that request from now on.
    pub fn sent(&mut self, id: &RequestId) {
        self.latest = false;
        if !self.ids.is_empty() {
            self.ids.remove(id);
        }
    }

    /// Whether the latest request of the walk was not sent.
    pub fn was_latest(&self) -> bool {
        self.latest
    }

    pub fn has(&self, exchange: ExchangeId) -> bool {
        self.exchanges.contains(&exchange)
    }

    pub fn has_id(&self, id: &RequestId) -> bool {
        self.ids.contains(id)
    }

    /// The state of the chain that begins with `first`.
    pub fn chain(&self, first: ExchangeId) -> Option<&Chain> {
        self.chains.get(&first)
    }

    pub fn set_chain(&mut self, first: ExchangeId, chain: Chain) {
        self.chains.insert(first, chain);
    }
}

/// Counts of what was done, and the little that is told one by one.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub sent: u64,
    /// Requests that the user did not ask for.
    pub unwanted: u64,
    /// Not sent: too long, redacted, or in need of something that did not come.
    pub skipped: u64,
    /// Not sent: the server answered at once where it had asked for input.
    pub not_needed: u64,
    /// Not sent: no tool that only reads.
    pub refused: u64,
    pub refusals: Vec<Refusal>,
    /// Placeholders that would have been needed.
    pub unbound: Vec<Box<str>>,
    /// Answers of the server that were compared with recorded ones.
    pub answered: u64,
    /// Of those, answers that are too long to be compared.
    pub uncompared: u64,
    /// Answers to cancelled requests.
    pub late: u64,
    /// The first requests that the recorded client gave up before it had an answer.
    pub given_up: Vec<GivenUp>,
    /// Requests of the server that were answered as in the recording.
    pub asked: u64,
    /// Requests of the server that were answered otherwise.
    pub unexpected: u64,
    /// How the server ended by itself, badly and as in the recording.
    pub ended_as_then: Option<Box<str>>,
    /// The method of the last message that was sent, as on the wire.
    pub last_method: CompactString,
    /// Lines of the server that are no JSON-RPC: recorded and live.
    pub noise: [u64; 2],
    /// The first live one, as on the wire, cut.
    pub first_noise: Option<Box<[u8]>>,
    /// Answers to nothing that was asked: recorded and live.
    pub strays: [u64; 2],
    /// The id of the first live one, JSON text.
    pub first_stray: Option<Box<str>>,
    /// Handles that were sent in place of recorded ones.
    pub bound: Vec<Bound>,
    /// Values that were forgotten, because there were too many to bind.
    pub forgotten: u64,
}

/// A call that was not sent because its tool may have side effects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub seq: Seq,
    pub tool: Box<str>,
}

/// A request that the recorded client gave up before it had an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenUp {
    pub seq: Seq,
    /// Its tool, prompt or resource, else its method; as on the wire.
    pub what: Box<str>,
    pub is_answered: bool,
}

impl Tally {
    /// Counts a cancelled request. One that was answered in the recording before the cancel was not
    /// given up.
    pub(super) fn give_up(&mut self, call: &Call, is_answered: bool) {
        let exchange = &call.exchange;
        if !was_answered(exchange) && self.given_up.len() < MOST_KEPT {
            self.given_up.push(GivenUp {
                seq: exchange.request.0,
                what: exchange.name.as_deref().unwrap_or(&exchange.method).into(),
                is_answered,
            });
        }
    }

    pub(super) fn refuse(&mut self, seq: Seq, tool: &str) {
        self.refused += 1;
        if self.refusals.len() < MOST_KEPT {
            let tool = tool.into();
            self.refusals.push(Refusal { seq, tool });
        }
    }

    pub(super) fn lack(&mut self, placeholders: &[Box<str>]) {
        for name in placeholders {
            if !self.unbound.contains(name) && self.unbound.len() < MOST_KEPT {
                self.unbound.push(name.clone());
            }
        }
    }
}
