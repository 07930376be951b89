//! Latencies per method and per tool.
//!
//! Counted is every exchange; measured are those that were answered and not cancelled: open,
//! cancelled, late and listening ones have no place in a distribution of latencies. A call that
//! was answered by a task is measured up to that answer.

use super::exchange::{Exchange, Status};
use crate::protocol::message::Direction;
use hdrhistogram::Histogram;
use serde::Serialize;
use std::collections::BTreeMap;

/// Significant digits of the histograms: quantiles are exact to a tenth of a percent.
const DIGITS: u8 = 3;

/// Statistics of one recording.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Stats {
    /// Per direction and method, in this order.
    pub methods: Vec<Row>,
    /// Per tool that the client called, by name.
    pub tools: Vec<Row>,
    /// All exchanges that the client asked for.
    pub total: Row,
}

/// Statistics of one method or tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Row {
    /// `c2s` or `s2c`: the way of the requests.
    pub direction: &'static str,
    /// The method.
    pub method: Box<str>,
    /// The tool, in rows per tool.
    pub name: Option<Box<str>>,
    /// Exchanges.
    pub count: u64,
    /// Of these `error`, `tool-error`, `lost` and `unanswered`.
    pub failed: u64,
    /// Of these cancelled, answered or not.
    pub cancelled: u64,
    /// Latencies, absent if none could be measured.
    pub latency: Option<Latency>,
    /// Nanoseconds in which the server waited for its client.
    pub waited_ns: u64,
    /// Bytes of the requests' frames.
    pub request_bytes: u64,
    /// Bytes of the responses' frames.
    pub response_bytes: u64,
}

/// A distribution of latencies, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Latency {
    /// Exchanges that were measured.
    pub measured: u64,
    /// Median.
    pub p50_ns: u64,
    /// 90 of 100 were not slower.
    pub p90_ns: u64,
    /// 99 of 100 were not slower.
    pub p99_ns: u64,
    /// The slowest, exactly.
    pub max_ns: u64,
}

#[derive(Default)]
struct Gathered {
    row: Row,
    histogram: Option<Histogram<u64>>,
    max_ns: u64,
}

impl Stats {
    /// Statistics of these exchanges.
    #[must_use]
    pub fn collect<'a>(exchanges: impl IntoIterator<Item = &'a Exchange>) -> Self {
        let mut methods: BTreeMap<(Direction, Box<str>), Gathered> = BTreeMap::new();
        let mut tools: BTreeMap<Box<str>, Gathered> = BTreeMap::new();
        let mut total = Gathered::default();
        for exchange in exchanges {
            let method = (exchange.direction, exchange.method.clone());
            methods.entry(method).or_default().add(exchange);
            if exchange.direction == Direction::ClientToServer {
                total.add(exchange);
                if &*exchange.method == "tools/call" {
                    let name = exchange.name.clone().unwrap_or_default();
                    tools.entry(name).or_default().add(exchange);
                }
            }
        }
        let methods = methods
            .into_iter()
            .map(|((direction, method), gathered)| Row {
                direction: direction.as_str(),
                method,
                ..gathered.finish()
            });
        let tools = tools.into_iter().map(|(name, gathered)| Row {
            direction: Direction::ClientToServer.as_str(),
            method: "tools/call".into(),
            name: Some(name),
            ..gathered.finish()
        });
        Self {
            methods: methods.collect(),
            tools: tools.collect(),
            total: Row {
                direction: Direction::ClientToServer.as_str(),
                ..total.finish()
            },
        }
    }
}

/// The latency of an exchange, if it has a place in a distribution.
fn measured_ns(exchange: &Exchange) -> Option<u64> {
    match exchange.status {
        Status::Ok | Status::ToolError | Status::Error | Status::InputRequired | Status::Task => {
            exchange.latency_ns()
        }
        Status::Open
        | Status::Cancelled
        | Status::Late
        | Status::Lost
        | Status::Unanswered
        | Status::Listening => None,
    }
}

impl Gathered {
    fn add(&mut self, exchange: &Exchange) {
        let row = &mut self.row;
        row.count += 1;
        row.failed += u64::from(exchange.status.is_failure());
        row.cancelled += u64::from(matches!(exchange.status, Status::Cancelled | Status::Late));
        row.waited_ns += exchange.waited_ns;
        row.request_bytes += exchange.request_size;
        row.response_bytes += exchange.response_size;
        if let Some(ns) = measured_ns(exchange) {
            self.max_ns = self.max_ns.max(ns);
            if self.histogram.is_none() {
                self.histogram = Histogram::new(DIGITS).ok();
            }
            if let Some(histogram) = &mut self.histogram
                && histogram.record(ns).is_err()
            {
                // It grows by itself up to half the range of u64, some 292 years.
                histogram.saturating_record(ns);
            }
        }
    }

    fn finish(self) -> Row {
        let quantile = |histogram: &Histogram<u64>, quantile: f64| {
            histogram.value_at_quantile(quantile).min(self.max_ns)
        };
        let latency = self.histogram.map(|histogram| Latency {
            measured: histogram.len(),
            p50_ns: quantile(&histogram, 0.5),
            p90_ns: quantile(&histogram, 0.9),
            p99_ns: quantile(&histogram, 0.99),
            max_ns: self.max_ns,
        });
        Row {
            latency,
            ..self.row
        }
    }
}

#[cfg(test)]
mod tests;
