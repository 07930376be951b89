//! Input rounds: which retry answers which `input_required` result.

use crate::clock::Moment;
use crate::exchange::{Exchange, ExchangeId};
use crate::frame::Seq;
use compact_str::CompactString;
use mcpreel_wire::message::InputRound;

/// Rounds that wait for their retry. Without a limit a client that never retries would make us
/// grow; beyond it the oldest is given up and its retry starts a chain of its own.
const WAITING_ROUNDS: usize = 256;

/// Keys of a round that are remembered: an answer can ask for thousands of inputs.
const KEYS: usize = 16;

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

/// The rounds that wait for their retry, oldest first.
#[derive(Debug, Default)]
pub(super) struct Rounds(Vec<Round>);

impl Rounds {
    /// `exchange` was answered by `asked` at `t`. Returns the round that is given up for it: the
    /// frame of its request, and its chain.
    pub(super) fn wait(
        &mut self,
        exchange: &Exchange,
        asked: &InputRound,
        t: Moment,
    ) -> Option<(Seq, ExchangeId)> {
        self.0.push(Round {
            chain: exchange.chain.unwrap_or(exchange.id),
            frame: exchange.request.0,
            method: exchange.method.clone(),
            name: exchange.name.clone(),
            asked: InputRound {
                state: asked.state.clone(),
                keys: asked.keys.iter().take(KEYS).cloned().collect(),
            },
            t,
        });
        let is_too_much = self.0.len() > WAITING_ROUNDS;
        let given_up = is_too_much.then(|| self.0.remove(0));
        given_up.map(|round| (round.frame, round.chain))
    }

    /// The round that a retry answers: the newest with an equal `requestState`, rather one of the
    /// same method and name; else the newest of the same method and name whose keys fit. Returns
    /// its chain, and when the answer that asked for input was complete.
    pub(super) fn join(
        &mut self,
        method: &str,
        name: Option<&str>,
        retry: &InputRound,
    ) -> Option<(ExchangeId, Moment)> {
        let same_call = |round: &Round| &*round.method == method && round.name.as_deref() == name;
        let same_state = |round: &Round| retry.state.is_some() && round.asked.state == retry.state;
        let fits = |round: &Round| same_call(round) && fits(&retry.keys, &round.asked.keys);
        let newest = |wanted: &dyn Fn(&Round) -> bool| self.0.iter().rposition(wanted);
        let at = newest(&|round| same_state(round) && same_call(round))
            .or_else(|| newest(&same_state))
            .or_else(|| newest(&fits))?;
        let round = self.0.remove(at);
        Some((round.chain, round.t))
    }
}

/// Whether the keys of a retry answer the keys that were asked for: some of them and no others,
/// or none where none was asked.
fn fits(given: &[CompactString], asked: &[CompactString]) -> bool {
    let is_cut = asked.len() == KEYS;
    given.is_empty() == asked.is_empty() && given.iter().all(|key| is_cut || asked.contains(key))
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
        assert_eq!(newest.map(|(chain, _)| chain), Some(ExchangeId(999)));
    }
}
