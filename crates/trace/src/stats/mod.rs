//! Latencies per method and per tool.
//!
//! ```text
//!  Exchange ─▶ Collector ─┬─ rows per direction and method ─┐
//!                         ├─ rows per tool                  ├─▶ Stats
//!                         ├─ the total of the client's calls│
//!                         └─ the slowest, most open at once ┘
//! ```
//!
//! Every exchange is counted. Measured are those that were answered and not cancelled: how long the
//! others (open, cancelled, late, listening, given up) were waited for in vain is told beside the
//! distribution. A call that was answered by a task is measured up to that answer. Up to 2048
//! latencies quantiles are by nearest rank, then within a tenth of a percent.

mod latency;

use super::clock::Moment;
use super::exchange::{Exchange, Status};
use super::frame::Seq;
use compact_str::CompactString;
use latency::Gathered;
pub use latency::{Bucket, Buckets, Latency};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::count;
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
    /// which are not waited for, do not count, nor do probes and those [given up](Row::given_up).
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
    /// Exchanges that [have failed](Exchange::has_failed).
    pub failed: u64,
    /// Cancelled exchanges, answered or not.
    pub cancelled: u64,
    /// Exchanges that were given up: nobody knows whether they were answered.
    pub given_up: u64,
    /// The longest time that somebody waited [in vain](Exchange::unanswered_ns), nanoseconds.
    pub unanswered_ns: Option<u64>,
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

impl Row {
    /// Exchanges in a minute, in tenths, of a recording of `span_ns` nanoseconds; none of one that
    /// lasted no time.
    pub fn per_minute_tenths(&self, span_ns: u64) -> Option<u64> {
        let tenths = u128::from(self.count) * 600_000_000_000;
        let rate = tenths.checked_div(u128::from(span_ns))?;
        Some(u64::try_from(rate).unwrap_or(u64::MAX))
    }

    /// The longest time that somebody waited, nanoseconds, and whether there was an answer.
    pub fn max_ns(&self) -> Option<(u64, bool)> {
        let answered = self.latency.map(|latency| (latency.max_ns, true));
        answered.max(self.unanswered_ns.map(|ns| (ns, false)))
    }

    /// `3 (40 %)`: how many failed and which share that is; empty where none did.
    pub fn failed_in_words(&self) -> String {
        if self.failed == 0 {
            return String::new();
        }
        let (failed, all) = (u128::from(self.failed), u128::from(self.count.max(1)));
        let share = match (failed * 200 + all) / (all * 2) {
            _ if failed * 100 < all => "< 1".to_owned(),
            // One that did not fail is not lost in rounding.
            share if failed < all => share.min(99).to_string(),
            share => share.to_string(),
        };
        format!("{} ({share} %)", count(self.failed))
    }

    /// The latencies, where they are enough for percentiles.
    pub fn percentiles(&self) -> Option<&Latency> {
        let latency = self.latency.as_ref();
        latency.filter(|latency| latency.measured >= ENOUGH)
    }
}

/// Of fewer latencies the greatest says all that percentiles would.
const ENOUGH: u64 = 5;

// Statistics that grow exchange by exchange.

/// Methods and tools that have a row. A server may be called by a new name each time; what has no
/// row any more is counted.
const ROWS: usize = 10_000;

/// The slowest calls that are named.
const SLOWEST: usize = 10;

#[derive(Clone, Debug, Default)]
pub struct Collector {
    /// The end of the recording; of a live one now.
    end: Moment,
    /// By direction, method, and tool; the row of a method has no tool.
    lines: BTreeMap<(Direction, CompactString, Option<CompactString>), Line>,
    total: Line,
    /// Calls that are open, in the order in which they began: when they ended, and how many have
    /// not.
    ends: BinaryHeap<Reverse<Moment>>,
    endless: u64,
    /// All but the rows.
    stats: Stats,
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
    /// Statistics of a recording that ends at `end`; of a live one now.
    pub fn until(end: Moment) -> Self {
        Self {
            end,
            ..Self::default()
        }
    }

    /// Takes in the next exchange, in the order of the requests.
    pub fn add(&mut self, exchange: &Exchange) {
        let key = (exchange.direction, exchange.method.clone(), None);
        self.count(key, exchange);
        if exchange.direction == Direction::ServerToClient {
            return;
        }
        self.total.add(exchange, self.end);
        if &*exchange.method == "tools/call" {
            let name = exchange.name.clone().unwrap_or_default();
            let key = (exchange.direction, exchange.method.clone(), Some(name));
            self.count(key, exchange);
        }
        // A call of the client that is to be answered.
        let is_call = !exchange.is_listen();
        if is_call {
            self.open(exchange);
        }
        if let Some(ns) = measured_ns(exchange) {
            let own_ns = exchange.own_ns().unwrap_or(ns);
            self.stats.server_ns = self.stats.server_ns.saturating_add(own_ns);
            self.slow(exchange, ns);
        } else if is_call && !matches!(exchange.status, Status::GivenUp | Status::Probe) {
            self.stats.unmeasured += 1;
        }
    }

    pub fn stats(&self) -> Stats {
        let mut stats = self.stats.clone();
        for ((direction, method, name), line) in &self.lines {
            let rows = match name {
                Some(_) => &mut stats.tools,
                None => &mut stats.methods,
            };
            rows.push(Row {
                direction: direction.as_str(),
                method: method.clone(),
                name: name.clone(),
                ..line.row()
            });
        }
        stats.total = Row {
            direction: Direction::ClientToServer.as_str(),
            ..self.total.row()
        };
        stats
    }

    fn count(
        &mut self,
        key: (Direction, CompactString, Option<CompactString>),
        exchange: &Exchange,
    ) {
        if self.lines.len() < ROWS || self.lines.contains_key(&key) {
            let line = self.lines.entry(key).or_default();
            line.add(exchange, self.end);
        } else {
            self.stats.rest += 1;
        }
    }

    /// Counts the calls that are open while this one is.
    fn open(&mut self, exchange: &Exchange) {
        let from = exchange.t_request;
        while self.ends.peek().is_some_and(|Reverse(end)| *end <= from) {
            self.ends.pop();
        }
        let is_short = matches!(
            exchange.status,
            Status::Cancelled | Status::UserCancelled | Status::GivenUp
        );
        match exchange.t_response.or(is_short.then_some(from)) {
            Some(end) => self.ends.push(Reverse(end)),
            None => self.endless += 1,
        }
        let open = self.endless + self.ends.len() as u64;
        self.stats.most_open = self.stats.most_open.max(open);
    }

    fn slow(&mut self, exchange: &Exchange, ns: u64) {
        let slowest = &mut self.stats.slowest;
        let at = slowest.partition_point(|slow| slow.latency_ns >= ns);
        if at < SLOWEST {
            slowest.truncate(SLOWEST - 1);
            let slow = Slow {
                seq: exchange.request.0,
                latency_ns: ns,
                method: exchange.method.clone(),
                name: exchange.name.clone(),
            };
            slowest.insert(at, slow);
        }
    }
}

impl Line {
    fn row(&self) -> Row {
        Row {
            latency: self.latencies.latency(),
            buckets: self.latencies.buckets.clone(),
            ..self.row.clone()
        }
    }

    fn add(&mut self, exchange: &Exchange, end: Moment) {
        let row = &mut self.row;
        row.unanswered_ns = row.unanswered_ns.max(exchange.unanswered_ns(end));
        row.count += 1;
        row.failed += u64::from(exchange.has_failed());
        row.cancelled += u64::from(matches!(
            exchange.status,
            Status::Cancelled | Status::UserCancelled | Status::Late
        ));
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
