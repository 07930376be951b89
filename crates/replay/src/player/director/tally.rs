//! What was done: counts, and the little that is told one by one.

use super::calls::{Call, was_answered};
use crate::bind::Bound;
use compact_str::CompactString;
use mcpreel_trace::frame::Seq;

/// Refused calls, and requests that were given up, that are kept.
const MOST: usize = 100;

#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub sent: u64,
    /// Requests that were not: not asked for by the user.
    pub unwanted: u64,
    /// Not sent: too long, redacted, needed something that did not come.
    pub skipped: u64,
    /// Not sent: the server answered at once what it had asked for input for.
    pub not_needed: u64,
    /// Not sent: no tool that only reads.
    pub refused: u64,
    pub refusals: Vec<Refusal>,
    /// Placeholders that would have been needed.
    pub unbound: Vec<Box<str>>,
    /// Answers of the server that were put to those of the recording.
    pub answered: u64,
    /// Of those, the ones that are too long, then or now, to be compared.
    pub uncompared: u64,
    /// Answers that came for cancelled requests.
    pub late: u64,
    /// The first requests that the recorded client gave up before it had an answer.
    pub given_up: Vec<GivenUp>,
    /// Requests of the server that were answered as in the recording.
    pub asked: u64,
    /// Requests of the server that were answered otherwise.
    pub unexpected: u64,
    /// How the server ended by itself where that was no good end, and was the same in the recording.
    pub ended_as_then: Option<Box<str>>,
    /// The method of the last message that was sent, as on the wire.
    pub last_method: CompactString,
    /// Lines of the server that are no JSON-RPC: recorded and live.
    pub noise: [u64; 2],
    /// The first such line that came now, as on the wire, cut.
    pub first_noise: Option<Box<[u8]>>,
    /// Answers to nothing that was asked: recorded and live.
    pub strays: [u64; 2],
    /// The id of the first of the live ones, JSON text.
    pub first_stray: Option<Box<str>>,
    /// Recorded lines of the client that broke off and were not sent.
    pub cut: u64,
    /// Handles that were sent in place of recorded ones.
    pub bound: Vec<Bound>,
    /// Values that were forgotten, because there were too many to bind.
    pub forgotten: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub seq: Seq,
    pub tool: Box<str>,
}

/// A request that the recorded client gave up before it had an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenUp {
    pub seq: Seq,
    /// Its tool, prompt or resource, else its method; as on the wire.
    pub what: Box<str>,
    pub is_answered: bool,
}

impl Tally {
    /// What became of a cancelled request. One that was answered in the recording before the cancel
    /// was not given up.
    pub(super) fn give_up(&mut self, call: &Call, is_answered: bool) {
        let exchange = &call.exchange;
        if !was_answered(exchange) && self.given_up.len() < MOST {
            self.given_up.push(GivenUp {
                seq: exchange.request.0,
                what: exchange.name.as_deref().unwrap_or(&exchange.method).into(),
                is_answered,
            });
        }
    }

    pub(super) fn refuse(&mut self, seq: Seq, tool: &str) {
        self.refused += 1;
        if self.refusals.len() < MOST {
            let tool = tool.into();
            self.refusals.push(Refusal { seq, tool });
        }
    }

    pub(super) fn lack(&mut self, placeholders: &[Box<str>]) {
        for name in placeholders {
            if !self.unbound.contains(name) && self.unbound.len() < MOST {
                self.unbound.push(name.clone());
            }
        }
    }
}
