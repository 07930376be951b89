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

mod latency;

use super::clock::Moment;
use super::exchange::{Exchange, Status};
use super::frame::Seq;
use compact_str::CompactString;
use latency::Gathered;
pub use latency::{Bucket, Buckets, Latency};
use mcpreel_wire::message::Direction;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

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

// Statistics that grow exchange by exchange.

/// Rows of one table. A server may be called by a new name each time; what has no row any more is
/// counted.
const ROWS: usize = 5_000;

/// The slowest calls that are named.
const SLOWEST: usize = 10;

#[derive(Clone, Debug, Default)]
pub struct Collector {
    methods: BTreeMap<(Direction, CompactString), Line>,
    tools: BTreeMap<CompactString, Line>,
    total: Line,
    slowest: Vec<Slow>,
    peak: Peak,
    server_ns: u64,
    unmeasured: u64,
    rest: u64,
}

#[derive(Clone, Debug, Default)]
struct Line {
    row: Row,
    latencies: Gathered,
}

/// The latency of an exchange, if it has a place in a distribution.
fn measured_ns(exchange: &Exchange) -> Option<u64> {
    let is_measured = matches!(
        exchange.status,
        Status::Ok | Status::ToolError | Status::Error | Status::InputRequired | Status::Task
    );
    exchange.latency_ns().filter(|_| is_measured)
}

impl Collector {
    /// Takes in the next exchange, in the order of the requests.
    pub fn add(&mut self, exchange: &Exchange) {
        let end = match exchange.status {
            Status::Cancelled | Status::GivenUp => {
                Some(exchange.t_response.unwrap_or(exchange.t_request))
            }
            _ => exchange.t_response,
        };
        if is_call(exchange) {
            self.peak.add(exchange.t_request, end);
        }
        self.count(exchange);
    }

    pub fn stats(&self) -> Stats {
        let rows = |lines: &mut dyn Iterator<Item = &Line>| lines.map(Line::row).collect();
        Stats {
            methods: rows(&mut self.methods.values()),
            tools: rows(&mut self.tools.values()),
            total: Row {
                direction: Direction::ClientToServer.as_str(),
                method: "".into(),
                ..self.total.row()
            },
            slowest: self.slowest.clone(),
            most_open: self.peak.most(),
            server_ns: self.server_ns,
            unmeasured: self.unmeasured,
            rest: self.rest,
        }
    }

    fn count(&mut self, exchange: &Exchange) {
        let method = (exchange.direction, exchange.method.clone());
        match line_of(&mut self.methods, method, ROWS) {
            Some(line) => line.add(exchange, None),
            None => self.rest += 1,
        }
        if exchange.direction == Direction::ServerToClient {
            return;
        }
        self.total.add(exchange, None);
        if let Some(ns) = measured_ns(exchange) {
            self.server_ns = self
                .server_ns
                .saturating_add(exchange.own_ns().unwrap_or(ns));
            self.slow(exchange, ns);
        } else if is_call(exchange) && exchange.status != Status::GivenUp {
            self.unmeasured += 1;
        }
        if &*exchange.method == "tools/call" {
            let name = exchange.name.clone().unwrap_or_default();
            match line_of(&mut self.tools, name.clone(), ROWS) {
                Some(line) => line.add(exchange, Some(name)),
                None => self.rest += 1,
            }
        }
    }

    fn slow(&mut self, exchange: &Exchange, ns: u64) {
        let at = self.slowest.partition_point(|slow| slow.latency_ns >= ns);
        if at >= SLOWEST {
            return;
        }
        self.slowest.truncate(SLOWEST - 1);
        let slow = Slow {
            seq: exchange.request.0,
            latency_ns: ns,
            method: exchange.method.clone(),
            name: exchange.name.clone(),
        };
        self.slowest.insert(at, slow);
    }
}

/// Whether it is a call of the client that is to be answered.
fn is_call(exchange: &Exchange) -> bool {
    exchange.direction == Direction::ClientToServer && !exchange.is_listen()
}

/// The line of `key`, unless there are too many already.
fn line_of<K: Ord>(lines: &mut BTreeMap<K, Line>, key: K, most: usize) -> Option<&mut Line> {
    if lines.len() >= most && !lines.contains_key(&key) {
        return None;
    }
    Some(lines.entry(key).or_default())
}

impl Line {
    fn row(&self) -> Row {
        Row {
            latency: self.latencies.latency(),
            buckets: self.latencies.buckets.clone(),
            ..self.row.clone()
        }
    }

    fn add(&mut self, exchange: &Exchange, name: Option<CompactString>) {
        let row = &mut self.row;
        if row.count == 0 {
            row.direction = exchange.direction.as_str();
            row.method.clone_from(&exchange.method);
            row.name = name;
        }
        row.count += 1;
        row.failed += u64::from(exchange.has_failed());
        row.cancelled += u64::from(matches!(exchange.status, Status::Cancelled | Status::Late));
        row.given_up += u64::from(exchange.status == Status::GivenUp);
        row.waited_ns = row.waited_ns.saturating_add(exchange.waited_ns);
        row.request_bytes = row.request_bytes.saturating_add(exchange.request_size);
        row.response_bytes = row.response_bytes.saturating_add(exchange.response_size);
        if let Some(ns) = measured_ns(exchange) {
            self.latencies.add(ns);
        }
    }
}

#[cfg(test)]
mod stats_tests;
