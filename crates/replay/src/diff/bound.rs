//! Values that the server chose anew, in two recordings: what rules bind, and the keys under which
//! it asks for input. The left side is compared as if it had said the values of the right one, in
//! requests and in answers, as a replay sends and expects them.

use super::Half;
use super::judge::Judge;
use super::key;
use super::side::Held;
use crate::bind::{About, Binder, Round};
use crate::rewrite::Rewrites;
use crate::rules::Side;
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_wire::json::{Document, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Rounds of input that are remembered. The keys of later ones are compared as they are.
const MOST: usize = 65_536;

/// The pairs of values that were found so far.
#[derive(Debug, Default)]
pub struct Bound {
    binder: Binder,
    /// The rounds of input of the left side, each as the right one has it: by their chains, in
    /// their order.
    rounds: BTreeMap<(ExchangeId, ExchangeId), Round>,
    /// Paths of the left side that stand for others on the right.
    rewrites: Rewrites,
}

impl Bound {
    /// What `judge` knows beforehand; its rules say where more is found.
    pub(super) fn by(judge: &Judge) -> Self {
        let mut binder = Binder::default();
        binder.bind_by(judge.rules());
        for (then, now) in &judge.options().pairs {
            binder.stands_for(then, now);
        }
        Self {
            binder,
            rounds: BTreeMap::new(),
            rewrites: judge.options().rewrites.clone(),
        }
    }

    /// Whether the answer of an exchange has values that are bound, or asks for input.
    pub(super) fn wants(&self, exchange: &Exchange) -> bool {
        exchange.status == Status::InputRequired || self.binder.binds_from(about(exchange))
    }

    /// Finds the pairs in the answers of two exchanges that stand for each other, and makes the
    /// left one say what it would say on the right side.
    pub(super) fn apply(&mut self, left: &mut Held, right: &Held, judge: &Judge) {
        let exchange = &left.exchange;
        rewrite(left.request.as_mut(), |then| {
            self.as_now(exchange, Half::Request, then)
        });
        if self.wants(exchange) {
            self.pair([left, right]);
        }
        let exchange = &left.exchange;
        rewrite(left.response.as_mut(), |then| {
            self.as_now(exchange, Half::Response, then)
        });
        for rule in self.binder.fired() {
            judge.rules().fired(rule);
        }
    }

    /// What one half of an exchange of the left side would say on the right side; borrowed where
    /// that is the same.
    pub fn as_now<'t>(&self, exchange: &Exchange, half: Half, then: &'t [u8]) -> Cow<'t, [u8]> {
        let bound = match half {
            Half::Request => self.binder.request_as_now(about(exchange), then),
            Half::Response => self.binder.as_now(about(exchange), then),
        };
        match self.with_live_keys(exchange, half, &bound) {
            Some(renamed) => Cow::Owned(renamed),
            None => bound,
        }
    }

    /// A request or answer of an input round, under the keys of the right side.
    fn with_live_keys(&self, left: &Exchange, half: Half, then: &[u8]) -> Option<Vec<u8>> {
        let (chain, id) = (left.chain?, left.id);
        let round = match half {
            Half::Request => {
                self.rounds
                    .range((chain, chain)..(chain, id))
                    .next_back()?
                    .1
            }
            Half::Response => self.rounds.get(&(chain, id))?,
        };
        let document = Document::parse(then).ok()?;
        let root = document.root();
        let renamed = match half {
            Half::Request => round.retry_as_now(root, then),
            Half::Response => round.as_now(root.get("result")?, then),
        };
        Some(renamed.into_owned())
    }

    /// Finds the pairs in the answers of two exchanges.
    pub(super) fn pair(&mut self, [left, right]: [&Held; 2]) {
        let answers = [left, right].map(|held| held.response.as_ref());
        let [then, now] = answers.map(|answer| Document::parse(answer?).ok());
        let (Some(then), Some(now)) = (then, now) else {
            return;
        };
        let (then, now) = (then.root(), now.root());
        let exchange = &left.exchange;
        self.binder.learn_bound(about(exchange), then, now);
        let results = then.get("result").zip(now.get("result"));
        if let (Some(chain), Some((then, now))) = (exchange.chain, results)
            && self.rounds.len() < MOST
        {
            let words =
                |side, question: Value<'_>| key::words(question, side, &self.rewrites, None);
            let [left, right] =
                [Side::Left, Side::Right].map(|side| move |q: Value<'_>| words(side, q));
            let round = Round::new(then, now, [&left, &right]);
            self.rounds.insert((chain, exchange.id), round);
        }
    }
}

fn rewrite(message: Option<&mut Vec<u8>>, as_now: impl FnOnce(&[u8]) -> Cow<'_, [u8]>) {
    let Some(message) = message else { return };
    if let Cow::Owned(changed) = as_now(message) {
        *message = changed;
    }
}

/// What the values of an exchange belong to.
fn about(exchange: &Exchange) -> About<'_> {
    About {
        seq: exchange.request.0,
        method: &exchange.method,
        name: exchange.name.as_deref(),
    }
}
