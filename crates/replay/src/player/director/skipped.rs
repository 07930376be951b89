//! What was not sent, as far as later messages depend on it.

use crate::bind::Round;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_wire::id::RequestId;
use std::collections::{HashMap, HashSet, VecDeque};

/// Things of a kind that are remembered. Beyond it a cancel of a request that was never sent may go
/// out, which servers have to ignore.
const MOST: usize = 65_536;

/// Chains of input that are remembered, the latest: each may hold an answer.
const MOST_CHAINS: usize = 512;

/// What became of a round of input.
#[derive(Clone, Debug)]
pub(super) enum Chain {
    /// The server asks for input again.
    Asks(Round),
    /// It has answered at once: its answer.
    Complete(Box<[u8]>),
    Broken(Box<str>),
}

/// What was not sent, and where chains of input stand.
#[derive(Debug, Default)]
pub(super) struct Skipped {
    exchanges: HashSet<ExchangeId>,
    ids: HashSet<RequestId>,
    chains: HashMap<ExchangeId, Chain>,
    /// Of the chains, the oldest first.
    order: VecDeque<ExchangeId>,
    /// Whether the latest request was not sent.
    latest: bool,
}

impl Skipped {
    pub fn add(&mut self, exchange: &Exchange) {
        self.latest = true;
        if self.exchanges.len() < MOST {
            self.exchanges.insert(exchange.id);
            self.ids.insert(exchange.rpc_id.clone());
        }
    }

    /// A request was sent: its id means it.
    pub fn sent(&mut self, id: &RequestId) {
        self.latest = false;
        if !self.ids.is_empty() {
            self.ids.remove(id);
        }
    }

    /// Whether the request that the walk came to last was not sent.
    pub fn was_latest(&self) -> bool {
        self.latest
    }

    pub fn has(&self, exchange: ExchangeId) -> bool {
        self.exchanges.contains(&exchange)
    }

    pub fn has_id(&self, id: &RequestId) -> bool {
        self.ids.contains(id)
    }

    pub fn chain(&self, first: ExchangeId) -> Option<&Chain> {
        self.chains.get(&first)
    }

    pub fn set_chain(&mut self, first: ExchangeId, chain: Chain) {
        if self.chains.insert(first, chain).is_none() {
            self.order.push_back(first);
        }
        if self.order.len() > MOST_CHAINS
            && let Some(oldest) = self.order.pop_front()
        {
            self.chains.remove(&oldest);
        }
    }
}
