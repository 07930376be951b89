//! Latencies per method and per tool.
//!
//! ```text
//!  Exchange ─▶ Collector ─┬─ rows per direction and method ─┐
//!                         ├─ rows per tool                  ├─▶ Stats
//!                         ├─ the total of the client's calls│
//!                         └─ the slowest, most open at once ┘
//! ```
//!
//! Counted is every exchange; measured are those that were answered and not cancelled: open,
//! cancelled, late and listening ones, and those that were given up, have no place in a
//! distribution of latencies. A call that was answered by a task is measured up to that answer. Up to 2048 latencies quantiles are by
//! nearest rank, then within a tenth of a percent.

mod collector;
mod latency;

use super::clock::Moment;
use super::exchange::Exchange;
use super::frame::Seq;
pub use collector::Collector;
use compact_str::CompactString;
pub use latency::{Bucket, Buckets, Latency};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Per direction and method, in this order.
    pub methods: Vec<Row>,
    /// Per tool that the client called, by name.
    pub tools: Vec<Row>,
    /// All exchanges that the client asked for.
    pub total: Row,
    /// The slowest calls of the client, the slowest first; ten at most.
    pub slowest: Vec<Slow>,
    /// The most calls of the client that were open at once; subscriptions do not count, a call
    /// that was cancelled and not answered, or given up, only while it began.
    pub most_open: u64,
    /// Nanoseconds in which calls waited for the server, all calls together: without the time in
    /// which the server waited for its client, without the [unmeasured](Self::unmeasured), and
    /// without those given up.
    pub server_ns: u64,
    /// Calls of the client without a latency: open, cancelled, or never answered. Subscriptions,
    /// which are not waited for, do not count, nor do those [given up](Row::given_up).
    pub unmeasured: u64,
    /// Exchanges of methods or tools that have no row, because there are too many of these.
    pub rest: u64,
}

/// Statistics of one method or tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// `c2s` or `s2c`: the way of the requests.
    pub direction: &'static str,
    pub method: CompactString,
    pub name: Option<CompactString>,
    pub count: u64,
    /// Exchanges that ended as `error`, `tool-error`, `lost` and `unanswered`.
    pub failed: u64,
    /// Cancelled exchanges, answered or not.
    pub cancelled: u64,
    /// Exchanges that were given up: nobody knows whether they were answered.
    pub given_up: u64,
    /// Latencies, absent if none could be measured.
    pub latency: Option<Latency>,
    pub buckets: Buckets,
    /// Nanoseconds in which the server waited for its client.
    pub waited_ns: u64,
    pub request_bytes: u64,
    /// Bytes of the responses' frames.
    pub response_bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slow {
    pub seq: Seq,
    pub latency_ns: u64,
    pub method: CompactString,
    pub name: Option<CompactString>,
}

impl Stats {
    /// Statistics of these exchanges, which come in the order of their requests.
    pub fn collect<'a>(exchanges: impl IntoIterator<Item = &'a Exchange>) -> Self {
        let mut collector = Collector::default();
        exchanges
            .into_iter()
            .for_each(|exchange| collector.add(exchange));
        collector.stats()
    }
}

impl Row {
    /// Exchanges in a minute, in tenths, of a recording of `span_ns` nanoseconds; none of one that
    /// lasted no time.
    pub fn per_minute_tenths(&self, span_ns: u64) -> Option<u64> {
        let tenths = u128::from(self.count) * 600_000_000_000;
        let rate = tenths.checked_div(u128::from(span_ns))?;
        Some(u64::try_from(rate).unwrap_or(u64::MAX))
    }

    /// Failures in a thousand, to the nearest.
    pub fn failed_permille(&self) -> u64 {
        let count = u128::from(self.count.max(1));
        let permille = (u128::from(self.failed) * 2000 + count) / (count * 2);
        u64::try_from(permille).unwrap_or(1000)
    }
}

// How many calls were open at once.

/// Counts the calls that are open, in the order in which they began.
#[derive(Clone, Debug, Default)]
struct Peak {
    ends: BinaryHeap<Reverse<Moment>>,
    endless: u64,
    most: u64,
}

impl Peak {
    /// A call began at `from` and ended at `to`, or has not ended.
    pub fn add(&mut self, from: Moment, to: Option<Moment>) {
        while self.ends.peek().is_some_and(|Reverse(end)| *end <= from) {
            self.ends.pop();
        }
        match to {
            Some(end) => self.ends.push(Reverse(end)),
            None => self.endless += 1,
        }
        self.most = self.most.max(self.endless + self.ends.len() as u64);
    }

    /// The most that were open at once.
    pub fn most(&self) -> u64 {
        self.most
    }
}

#[cfg(test)]
mod stats_tests;
