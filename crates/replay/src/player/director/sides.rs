//! The two sides of a comparison: an exchange as it was recorded, and as it came now.

use crate::judge::Occurrence;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_wire::json::Value;

/// A recorded exchange as the left side of a comparison.
pub(super) fn recorded<'a>(
    exchange: &'a Exchange,
    wall_ns: Option<u64>,
    response: Option<&'a [u8]>,
) -> Occurrence<'a> {
    Occurrence {
        seq: Some(exchange.request.0),
        method: &exchange.method,
        name: exchange.name.as_deref(),
        request: None,
        response,
        outline: None,
        status: exchange.status,
        latency_ns: exchange.latency_ns(),
        wall_ns,
        progress: None,
    }
}

/// What came now, as the right side of it.
pub(super) fn live<'a>(
    exchange: &'a Exchange,
    wall_ns: Option<u64>,
    response: Option<&'a [u8]>,
    status: Status,
    latency_ns: Option<u64>,
) -> Occurrence<'a> {
    Occurrence {
        seq: None,
        method: &exchange.method,
        name: exchange.name.as_deref(),
        request: None,
        response,
        outline: None,
        status,
        latency_ns,
        wall_ns,
        progress: None,
    }
}

/// What the server asks now, and the recorded client was not asked.
pub(super) fn unexpected<'a>(
    method: &'a str,
    name: Option<&'a str>,
    question: Value<'a>,
) -> Occurrence<'a> {
    Occurrence {
        seq: None,
        method,
        name,
        request: Some(question.raw()),
        response: None,
        outline: None,
        status: Status::Ok,
        latency_ns: None,
        wall_ns: None,
        progress: None,
    }
}
