//! Input rounds: a retry goes on to the next recorded round of its chain.

use super::Server;
use crate::mock::index::{Index, NONE, Outcome, Place};
use crate::mock::matcher::Reason;
use crate::mock::reel::Reel;
use crate::mock::wanted::Wanted;
use mcpreel_wire::message::{Body, InputRound, Outcome as Came, classify};
use std::collections::VecDeque;

/// What our own `requestState` begins with; behind it stands which round it is of.
const STATE: &str = "mcpreel-mock:";

/// Rounds without a state that wait for their retry; the oldest are forgotten.
const WAITING: usize = 256;

/// Answers without a `requestState` that asked for input.
#[derive(Debug, Default)]
pub struct Rounds(VecDeque<Round>);

#[derive(Debug)]
struct Round {
    entry: u32,
    name: u64,
    keys: Vec<Box<str>>,
}

impl Rounds {
    /// The entry was answered by `message`, which asks for input.
    pub fn wait(&mut self, entry: u32, index: &Index, message: &[u8]) {
        let asked = classify(message).messages.pop();
        let Some(Body::Response(response)) = asked.map(|message| message.body) else {
            return;
        };
        let Came::InputRequired(round) = response.outcome else {
            return;
        };
        if round.state.is_some() {
            return;
        }
        self.0.truncate(WAITING - 1);
        self.0.push_front(Round {
            entry,
            name: index.entry(entry).name,
            keys: round.keys,
        });
    }

    /// The newest round about `name` that asked for just what `keys` bring.
    fn take(&mut self, name: u64, keys: &[Box<str>]) -> Option<u32> {
        let fits = |round: &Round| {
            round.name == name
                && keys.is_empty() == round.keys.is_empty()
                && keys.iter().all(|key| round.keys.contains(key))
        };
        let at = self.0.iter().position(fits)?;
        self.0.remove(at).map(|round| round.entry)
    }
}

/// The state that stands for the one in the answer to the recorded request at `place`.
pub fn state_of(place: Place) -> String {
    format!("{STATE}{place}")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// This entry, and whether it was used before.
    To(u32, bool),
    Missed(Reason),
    /// It has a state that we did not give for this request.
    Unknown,
    /// It goes on from nothing that we said.
    Fresh,
}

impl<R: Reel> Server<R> {
    /// What a request leads to that says that it is a retry.
    pub(super) fn retried(&mut self, wanted: &Wanted, retry: &InputRound) -> Retry {
        let name = wanted.name_digest();
        let before = match retry.state.as_deref() {
            Some(state) => match self.round_of(state) {
                Some(entry) if self.index.entry(entry).name == name => entry,
                Some(_) => return Retry::Unknown,
                None if state.starts_with(STATE) => return Retry::Unknown,
                // The recorded client may have gone on from something that is not on record.
                None => return Retry::Fresh,
            },
            None => match self.rounds.take(name, &retry.keys) {
                Some(entry) => entry,
                None => return Retry::Fresh,
            },
        };
        let next = self.index.entry(before).next;
        if next == NONE {
            return Retry::Missed(Reason::Round);
        }
        let used = self.matcher.is_used(next);
        if used && self.options.once {
            return Retry::Missed(Reason::Used);
        }
        Retry::To(next, used)
    }

    /// The entry whose answer our `state` was in.
    fn round_of(&self, state: &str) -> Option<u32> {
        let place = Place::parse(state.strip_prefix(STATE)?)?;
        let entry = self.index.at(place)?;
        (self.index.entry(entry).outcome == Outcome::Input).then_some(entry)
    }
}
