//! Input rounds: which retry answers which `input_required` result.

use crate::protocol::message::InputRound;
use crate::trace::clock::Moment;
use crate::trace::exchange::{Exchange, ExchangeId};

/// Rounds that wait for their retry. Without a limit a client that never retries would make us
/// grow; beyond it the oldest round is forgotten and its retry starts a chain of its own.
const WAITING_ROUNDS: usize = 256;

#[derive(Debug)]
struct Round {
    chain: ExchangeId,
    method: Box<str>,
    name: Option<Box<str>>,
    asked: InputRound,
    t: Moment,
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
        if self.0.len() == WAITING_ROUNDS {
            self.0.remove(0);
        }
        self.0.push(Round {
            chain: exchange.chain.unwrap_or(exchange.id),
            method: exchange.method.clone(),
            name: exchange.name.clone(),
            asked: asked.clone(),
            t,
        });
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
