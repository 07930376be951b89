//! Input rounds: which retry answers which `input_required` result.

use crate::protocol::message::InputRound;
use crate::trace::clock::Moment;
use crate::trace::exchange::{Exchange, ExchangeId};

/// Rounds that wait for their retry. Without a limit a client that never retries would make us
/// grow; beyond it the oldest round is forgotten and its retry starts a chain of its own.
const WAITING_ROUNDS: usize = 256;

/// Bytes of state and keys that the waiting rounds may hold: a state can be as long as a line.
/// Beyond it the oldest rounds are forgotten; the newest is kept in any case.
const WAITING_BYTES: usize = 1 << 20;

#[derive(Debug)]
struct Round {
    chain: ExchangeId,
    method: Box<str>,
    name: Option<Box<str>>,
    asked: InputRound,
    t: Moment,
}

impl Round {
    fn bytes(&self) -> usize {
        let InputRound { state, keys } = &self.asked;
        let text = [Some(&self.method), self.name.as_ref(), state.as_ref()];
        text.into_iter()
            .flatten()
            .chain(keys)
            .map(|text| text.len())
            .sum()
    }
}

/// What a retry goes on from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Joined {
    /// First exchange of the chain.
    pub(super) chain: ExchangeId,
    /// When the answer that asked for input was complete.
    pub(super) t: Moment,
}

/// The rounds that wait for their retry, oldest first.
#[derive(Debug, Default)]
pub(super) struct Rounds(Vec<Round>);

impl Rounds {
    /// `exchange` was answered by `asked` at `t`.
    pub(super) fn wait(&mut self, exchange: &Exchange, asked: &InputRound, t: Moment) {
        self.0.push(Round {
            chain: exchange.chain.unwrap_or(exchange.id),
            method: exchange.method.clone(),
            name: exchange.name.clone(),
            asked: asked.clone(),
            t,
        });
        let mut bytes: usize = self.0.iter().map(Round::bytes).sum();
        while self.0.len() > 1 && (self.0.len() > WAITING_ROUNDS || bytes > WAITING_BYTES) {
            bytes -= self.0.remove(0).bytes();
        }
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
    fn the_oldest_rounds_are_forgotten_beyond_the_limits() {
        let mut rounds = Rounds::default();
        for id in 0..1000 {
            rounds.wait(&exchange(id), &state(format!("{id}")), Moment(id));
        }
        assert_eq!(rounds.0.len(), WAITING_ROUNDS);
        let newest = rounds.join("tools/call", None, &state("999".to_owned()));
        assert_eq!(newest.map(|joined| joined.chain), Some(ExchangeId(999)));
        rounds.wait(
            &exchange(2000),
            &state("x".repeat(WAITING_BYTES)),
            Moment(0),
        );
        assert_eq!(rounds.0.len(), 1);
        assert_eq!(rounds.0[0].chain, ExchangeId(2000));
    }
}
