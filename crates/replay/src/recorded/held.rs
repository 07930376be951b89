//! An exchange and its messages, read.

use super::message::Message;
use crate::bind::About;
use crate::judge::{Occurrence, Progress};
use mcpreel_trace::exchange::Exchange;
use mcpreel_wire::message::Direction;

pub(super) struct Held {
    pub exchange: Exchange,
    pub request: Option<Message>,
    pub response: Option<Message>,
    pub progress: Progress,
    pub wall_ns: u64,
    /// Values that are redacted here and are as they were on the other side.
    pub redacted: u64,
}

impl Held {
    pub(super) fn direction(&self) -> Direction {
        self.exchange.direction
    }

    pub(super) fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    pub(super) fn bytes(&self) -> u64 {
        let (request, response) = (self.exchange.request_size, self.exchange.response_size);
        request.saturating_add(response)
    }

    /// How many values are redacted here and are as they were on the other side.
    pub(super) fn redacted(&self) -> u64 {
        self.redacted
    }

    pub(super) fn occurrence(&self) -> Occurrence<'_> {
        let exchange = &self.exchange;
        Occurrence {
            seq: Some(exchange.request.0),
            method: &exchange.method,
            name: exchange.name.as_deref(),
            request: self.request.as_ref().map(Message::bytes),
            response: self.response.as_ref().map(Message::bytes),
            outline: self.response.as_ref().and_then(|message| message.outline),
            status: exchange.status,
            latency_ns: exchange.latency_ns(),
            wall_ns: Some(self.wall_ns.saturating_add(exchange.t_request.0)),
            progress: Some(&self.progress),
        }
    }
}

/// What the values of an exchange belong to.
pub(super) fn about(exchange: &Exchange) -> About<'_> {
    About {
        seq: exchange.request.0,
        method: &exchange.method,
        name: exchange.name.as_deref(),
    }
}
