//! Statistics that grow exchange by exchange.

use super::Peak;
use super::latency::Gathered;
use super::{Row, Slow, Stats};
use crate::exchange::{Exchange, Status};
use compact_str::CompactString;
use mcpreel_wire::message::Direction;
use std::collections::BTreeMap;

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
