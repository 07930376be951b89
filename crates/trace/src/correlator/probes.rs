//! Requests that only find out what a server speaks.
//!
//! A client of the modern era asks a server of the older era in vain, and falls back to `initialize`
//! (2026-07-28, Versioning, "Backward Compatibility"). A client of streamable HTTP does the same with a
//! server of HTTP+SSE (2025-03-26, Transports, "Backwards Compatibility"). Nothing has failed where the
//! fallback works: then the refused requests are probes.

use super::Correlator;
use crate::exchange::{Exchange, ExchangeId, Status};
use mcpreel_wire::message::{Direction, Era};

/// Refused requests that are remembered; clients try once or twice.
const REMEMBERED: usize = 8;

/// Errors that only a server of the modern era gives: it has understood the request.
const MODERN_ERRORS: [&str; 2] = ["-32020", "-32021"];

/// The requests that were refused before any was answered with a result.
#[derive(Debug, Default)]
pub(super) struct Probes {
    refused: Vec<ExchangeId>,
    /// Whether a request was answered with a result: what is refused from then on has failed.
    has_begun: bool,
}

/// Whether a client takes this status as "another transport, or another era": 4xx but for those that are
/// about credentials and load.
pub fn may_be_of_probe(status: u16) -> bool {
    (400..500).contains(&status) && !matches!(status, 401 | 403 | 407 | 408 | 429)
}

impl Correlator {
    /// Whether a request of the client was answered with a result.
    pub fn has_begun(&self) -> bool {
        self.probes.has_begun
    }

    /// HTTP refused the request of the exchange `http` with `status`.
    pub(super) fn refused_by_http(&mut self, http: u32, status: u16) {
        if may_be_of_probe(status) {
            self.calls
                .open_in(http)
                .into_iter()
                .for_each(|id| self.remember(id));
        }
    }

    /// Takes in the answer to a request of the client: a refusal may be a probe; with a result the time of
    /// probes is over.
    pub(super) fn answered(&mut self, id: ExchangeId) {
        let exchange = self.calls.get(id).map(|call| &call.exchange);
        let of_client = |it: &&Exchange| it.direction == Direction::ClientToServer;
        let Some(exchange) = exchange.filter(of_client) else {
            return;
        };
        match exchange.status {
            Status::Error if exchange.era == Era::Modern => self.remember(id),
            Status::Error | Status::Late => {}
            _ => {
                if &*exchange.method == "initialize" {
                    self.were_probes(|probe| probe.era == Era::Modern);
                }
                self.probes = Probes {
                    has_begun: true,
                    refused: Vec::new(),
                };
            }
        }
    }

    fn remember(&mut self, id: ExchangeId) {
        let probes = &mut self.probes;
        let is_room = probes.refused.len() < REMEMBERED && !probes.has_begun;
        if is_room && !probes.refused.contains(&id) {
            probes.refused.push(id);
        }
    }

    /// The client has reached the server over another transport, in another conversation.
    pub(crate) fn fell_back(&mut self) {
        self.changes.begin();
        self.were_probes(|_| true);
    }

    /// The requests that were refused before were probes, as far as `is_probe` agrees.
    fn were_probes(&mut self, is_probe: impl Fn(&Exchange) -> bool) {
        for id in std::mem::take(&mut self.probes.refused) {
            let Some(call) = self.calls.get_mut(id) else {
                continue;
            };
            let exchange = &mut call.exchange;
            let is_refused = matches!(exchange.status, Status::Error | Status::HttpError);
            let code = exchange.code.as_deref().unwrap_or_default();
            if is_refused && !MODERN_ERRORS.contains(&code) && is_probe(exchange) {
                exchange.status = Status::Probe;
                self.changes.touch(exchange);
            }
        }
    }
}
