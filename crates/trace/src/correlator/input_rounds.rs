//! Input rounds: which retry answers which `input_required` result.

use crate::clock::Moment;
use crate::exchange::{Exchange, ExchangeId};
use crate::frame::Seq;
use compact_str::CompactString;
use mcpreel_wire::message::InputRound;

/// Rounds that wait for their retry. Without a limit a client that never retries would make us
/// grow; beyond it the oldest is given up and its retry starts a chain of its own.
const WAITING_ROUNDS: usize = 256;

/// Bytes that the waiting rounds may hold: an answer can ask for thousands of inputs. Beyond it the
/// oldest are given up.
const WAITING_BYTES: usize = 1 << 20;

/// Bytes that a text takes besides its own.
const TEXT_BYTES: usize = 32;

#[derive(Debug)]
struct Round {
    chain: ExchangeId,
    /// The frame of the request that was answered.
    frame: Seq,
    method: CompactString,
    name: Option<CompactString>,
    asked: InputRound,
    t: Moment,
}

impl Round {
    /// Bytes that it takes in memory, about.
    fn bytes(&self) -> usize {
        let InputRound { state, keys } = &self.asked;
        let own = [Some(&self.method), self.name.as_ref()]
            .into_iter()
            .flatten();
        let texts = state.iter().chain(keys).map(|text| &**text);
        let texts = texts.chain(own.map(|text| &**text));
        let texts: usize = texts.map(|text| TEXT_BYTES + text.len()).sum();
        size_of::<Self>() + texts
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Joined {
    pub(super) chain: ExchangeId,
    /// When the answer that asked for input was complete.
    pub(super) t: Moment,
}

/// The rounds that wait for their retry, oldest first.
#[derive(Debug, Default)]
pub(super) struct Rounds(Vec<Round>);

impl Rounds {
    /// `exchange` was answered by `asked` at `t`. Returns the rounds that are given up for it: the
    /// frames of their requests, and their chains.
    pub(super) fn wait(
        &mut self,
        exchange: &Exchange,
        asked: &InputRound,
        t: Moment,
    ) -> Vec<(Seq, ExchangeId)> {
        self.0.push(Round {
            chain: exchange.chain.unwrap_or(exchange.id),
            frame: exchange.request.0,
            method: exchange.method.clone(),
            name: exchange.name.clone(),
            asked: asked.clone(),
            t,
        });
        let mut bytes: usize = self.0.iter().map(Round::bytes).sum();
        let mut given_up = Vec::new();
        while !self.0.is_empty() && (self.0.len() > WAITING_ROUNDS || bytes > WAITING_BYTES) {
            let oldest = self.0.remove(0);
            bytes -= oldest.bytes();
            given_up.push((oldest.frame, oldest.chain));
        }
        given_up
    }

    /// The round that a retry answers: the newest with an equal `requestState`, rather one of the
    /// same method and name; else the newest of the same method and name whose keys fit.
    pub(super) fn join(
        &mut self,
        method: &str,
        name: Option<&str>,
        retry: &InputRound,
    ) -> Option<Joined> {
        let same_call = |round: &Round| &*round.method == method && round.name.as_deref() == name;
        let same_state = |round: &Round| retry.state.is_some() && round.asked.state == retry.state;
        let at = self
            .0
            .iter()
            .rposition(|round| same_state(round) && same_call(round))
            .or_else(|| self.0.iter().rposition(same_state))
            .or_else(|| {
                self.0
                    .iter()
                    .rposition(|round| same_call(round) && fits(&retry.keys, &round.asked.keys))
            })?;
        let round = self.0.remove(at);
        Some(Joined {
            chain: round.chain,
            t: round.t,
        })
    }
}

/// Whether the keys of a retry answer the keys that were asked for: some of them and no others,
/// or none where none was asked.
fn fits(given: &[Box<str>], asked: &[Box<str>]) -> bool {
    given.is_empty() == asked.is_empty() && given.iter().all(|key| asked.contains(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exchange(id: u64) -> Exchange {
        Exchange {
            id: ExchangeId(id),
            ..Exchange::bare()
        }
    }

    fn state(text: String) -> InputRound {
        InputRound {
            state: Some(text.into()),
            keys: Vec::new(),
        }
    }

    #[test]
    fn the_oldest_rounds_are_given_up_beyond_the_limits() {
        let mut rounds = Rounds::default();
        let mut given_up = Vec::new();
        for id in 0..1000 {
            given_up.extend(rounds.wait(&exchange(id), &state(format!("{id}")), Moment(id)));
        }
        assert_eq!(rounds.0.len(), WAITING_ROUNDS);
        assert_eq!(given_up.len(), 1000 - WAITING_ROUNDS);
        assert_eq!(given_up[0], (Seq(1), ExchangeId(0)));
        let newest = rounds.join("tools/call", None, &state("999".to_owned()));
        assert_eq!(newest.map(|joined| joined.chain), Some(ExchangeId(999)));
    }
}
