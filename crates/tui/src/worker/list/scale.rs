//! What is usual for a method: the latency below which 95 of a hundred calls stay, among those
//! that were answered lately.

use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::exchange::ExchangeId;
use std::collections::{HashMap, VecDeque};

/// Exchanges that are looked at to begin with, the newest.
const LATELY: u64 = 20_000;

/// Exchanges that are looked at in one step: some milliseconds of reading.
const PAGE: u32 = 4_000;

/// Latencies that are kept of a method.
const KEPT: usize = 1024;

/// Methods that are told apart; a peer that makes up more gets no bars for them.
const METHODS: usize = 64;

/// Changed exchanges that are looked at after a growth.
const CHANGED: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Scale {
    after: Option<ExchangeId>,
    latencies: HashMap<Box<str>, VecDeque<u64>>,
}

impl Scale {
    /// Looks at the next page of a recording with so many exchanges. Whether that was the last.
    pub fn step(&mut self, recording: &Recording, exchanges: u64) -> Result<bool, ReadError> {
        let first = ExchangeId(exchanges.saturating_sub(LATELY));
        let page = recording.latencies(self.after.unwrap_or(first), PAGE)?;
        let Some(last) = page.last() else {
            return Ok(true);
        };
        self.after = Some(last.id);
        for one in &page {
            self.add(&one.method, one.nanos);
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
                self.add(&exchange.method, exchange.latency_ns());
            }
        }
        Ok(())
    }

    fn add(&mut self, method: &str, latency: Option<u64>) {
        let Some(latency) = latency else {
            return;
        };
        if !self.latencies.contains_key(method) {
            if self.latencies.len() == METHODS {
                return;
            }
            self.latencies.insert(method.into(), VecDeque::new());
        }
        let Some(kept) = self.latencies.get_mut(method) else {
            return;
        };
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
    #[test]
    fn what_is_usual_is_the_95th_percentile_of_what_was_answered_lately() {
        let mut scale = Scale::default();
        assert!(scale.p95().is_empty());
        scale.add("tools/call", None);
        assert!(scale.p95().is_empty());
        for id in 1..=100 {
            scale.add("tools/call", Some(id));
        }
        assert_eq!(scale.p95().get("tools/call"), Some(&95));
        for _ in 0..10_000 {
            scale.add("tools/call", Some(7));
        }
        assert_eq!(scale.p95().get("tools/call"), Some(&7));
    }
}
