//! What is usual for a method: the latency below which 95 of a hundred calls stay, among those
//! that were answered lately.

use crate::store::reader::{ReadError, Recording};
use crate::trace::exchange::{Exchange, ExchangeId};
use std::collections::{HashMap, VecDeque};

/// Exchanges that are looked at to begin with, the newest: some ten milliseconds of reading.
const LATELY: u64 = 20_000;

/// Latencies that are kept of a method.
const KEPT: usize = 1024;

/// Methods that are told apart; a peer that makes up more gets no bars for them.
const METHODS: usize = 64;

/// Changed exchanges that are looked at after a growth.
const CHANGED: usize = 64;

/// Latencies by method.
#[derive(Debug, Default)]
pub(super) struct Scale {
    after: Option<ExchangeId>,
    latencies: HashMap<Box<str>, VecDeque<u64>>,
}

impl Scale {
    /// Looks at the next page of a recording with so many exchanges. Whether that was the last.
    pub fn step(&mut self, recording: &Recording, exchanges: u64) -> Result<bool, ReadError> {
        let first = ExchangeId(exchanges.saturating_sub(LATELY));
        let page = recording.exchanges(self.after.unwrap_or(first))?;
        let Some(last) = page.last() else {
            return Ok(true);
        };
        self.after = Some(last.id);
        for exchange in &page {
            self.add(exchange);
        }
        Ok(false)
    }

    /// Looks at exchanges that may have been answered since.
    pub fn changed(&mut self, recording: &Recording, ids: &[ExchangeId]) -> Result<(), ReadError> {
        let Some(after) = self.after else {
            return Ok(());
        };
        let known = ids.iter().filter(|id| **id <= after);
        for id in known.take(CHANGED) {
            if let Some(exchange) = recording.exchange(*id)? {
                self.add(&exchange);
            }
        }
        Ok(())
    }

    fn add(&mut self, exchange: &Exchange) {
        let Some(latency) = exchange.latency_ns() else {
            return;
        };
        let is_known = self.latencies.contains_key(&exchange.method);
        if !is_known && self.latencies.len() == METHODS {
            return;
        }
        let kept = self.latencies.entry(exchange.method.clone()).or_default();
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(latency);
    }

    /// The 95th percentile of each method, nanoseconds.
    pub fn p95(&self) -> HashMap<Box<str>, u64> {
        let percentile = |kept: &VecDeque<u64>| {
            let mut sorted: Vec<_> = kept.iter().copied().collect();
            sorted.sort_unstable();
            let rank = (sorted.len() * 95).div_ceil(100);
            sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0)
        };
        let methods = self.latencies.iter();
        methods
            .map(|(method, kept)| (method.clone(), percentile(kept)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::clock::Moment;

    fn call(id: u64, latency: Option<u64>) -> Exchange {
        Exchange {
            id: ExchangeId(id),
            t_response: latency.map(Moment),
            ..Exchange::bare()
        }
    }

    #[test]
    fn what_is_usual_is_the_95th_percentile_of_what_was_answered_lately() {
        let mut scale = Scale::default();
        assert!(scale.p95().is_empty());
        scale.add(&call(1, None));
        assert!(scale.p95().is_empty());
        for id in 1..=100 {
            scale.add(&call(id, Some(id)));
        }
        assert_eq!(scale.p95().get("tools/call"), Some(&95));
        for id in 0..10_000 {
            scale.add(&call(id, Some(7)));
        }
        assert_eq!(scale.p95().get("tools/call"), Some(&7));
    }
}
