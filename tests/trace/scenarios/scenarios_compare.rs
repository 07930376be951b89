//! One exchange against what a scenario expects of it, column by column.

use mcpreel_trace::exchange::{Exchange, ExchangeId};
use serde::Deserialize;
use std::fmt::Debug;

const MS: u64 = 1_000_000;

/// What a scenario says of one exchange.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    request: u64,
    response: Option<u64>,
    status: String,
    latency_ms: Option<u64>,
    #[serde(default)]
    waited_ms: u64,
    code: Option<String>,
    parent: Option<u64>,
    chain: Option<u64>,
    cancelled: Option<u64>,
    part: Option<u64>,
    response_part: Option<u64>,
    transfer_ms: Option<u64>,
    own_ms: Option<u64>,
    direction: Option<String>,
    method: Option<String>,
    name: Option<String>,
    id: Option<String>,
    era: Option<String>,
    task: Option<String>,
    progress: Option<String>,
    progress_count: Option<u64>,
    summary: Option<String>,
}

/// Collects the columns that differ.
pub struct Columns {
    exchange: u64,
    differences: Vec<String>,
}

impl Columns {
    /// A line for every column of `found` that is not as expected.
    pub fn of(found: &Exchange, expected: &Expected) -> Vec<String> {
        let mut columns = Self {
            exchange: found.id.0,
            differences: Vec::new(),
        };
        columns.always(found, expected);
        columns.numbers(found, expected);
        columns.texts(found, expected);
        columns.differences
    }

    fn column<T: PartialEq + Debug>(&mut self, name: &str, found: &T, expected: &T) {
        if found != expected {
            let number = self.exchange;
            self.differences.push(format!(
                "exchange {number}: {name} {found:?}, expected {expected:?}"
            ));
        }
    }

    fn always(&mut self, found: &Exchange, expected: &Expected) {
        let number = |id: Option<ExchangeId>| id.map(|id| id.0);
        let response = found.response.map(|(seq, _)| seq.0);
        let cancelled = found.cancelled.map(|seq| seq.0);
        let latency_ms = found.latency_ns().map(|ns| ns / MS);
        self.column("request", &found.request.0.0, &expected.request);
        self.column("response", &response, &expected.response);
        self.column("status", &found.status.as_str(), &&*expected.status);
        self.column("latency_ms", &latency_ms, &expected.latency_ms);
        self.column("waited_ms", &(found.waited_ns / MS), &expected.waited_ms);
        self.column("code", &found.code.as_deref(), &expected.code.as_deref());
        self.column("parent", &number(found.parent), &expected.parent);
        self.column("chain", &number(found.chain), &expected.chain);
        self.column("cancelled", &cancelled, &expected.cancelled);
    }

    fn numbers(&mut self, found: &Exchange, expected: &Expected) {
        let ms = |ns: Option<u64>| ns.map_or(u64::MAX, |ns| ns / MS);
        let response_part = found.response.map_or(u32::MAX, |(_, part)| part);
        let columns = [
            ("part", found.request.1.into(), expected.part),
            (
                "response_part",
                response_part.into(),
                expected.response_part,
            ),
            ("transfer_ms", ms(found.transfer_ns()), expected.transfer_ms),
            ("own_ms", ms(found.own_ns()), expected.own_ms),
            (
                "progress_count",
                found.progress_count,
                expected.progress_count,
            ),
        ];
        for (name, found, expected) in columns {
            if let Some(expected) = expected {
                self.column(name, &found, &expected);
            }
        }
    }

    fn texts(&mut self, found: &Exchange, expected: &Expected) {
        let columns = [
            (
                "direction",
                Some(found.direction.as_str()),
                &expected.direction,
            ),
            ("method", Some(&*found.method), &expected.method),
            ("name", found.name.as_deref(), &expected.name),
            ("id", Some(found.rpc_id.json()), &expected.id),
            ("era", Some(found.era.as_str()), &expected.era),
            ("task", found.task.as_deref(), &expected.task),
            ("progress", found.progress.as_deref(), &expected.progress),
            ("summary", Some(&*found.summary), &expected.summary),
        ];
        for (name, found, expected) in columns {
            if expected.is_some() {
                self.column(name, &found, &expected.as_deref());
            }
        }
    }
}
