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
    /// The pairs that `judge` knows beforehand; its rules say where more are found.
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

    /// Finds the pairs in the answers of two exchanges that stand for each other, and makes the
    /// left one say what it would say on the right side.
    pub(super) fn apply(&mut self, left: &mut Held, right: &Held, judge: &Judge) {
        let exchange = &left.exchange;
        let request = left
            .request
            .take()
            .map(|then| self.as_now(exchange, Half::Request, &then).into_owned());
        self.pair([left, right]);
        let response = left.response.take().map(|then| {
            self.as_now(&left.exchange, Half::Response, &then)
                .into_owned()
        });
        (left.request, left.response) = (request, response);
        for rule in self.binder.fired() {
            judge.rules().fired(rule);
        }
    }

    /// One half of an exchange of the left side with the values of the right side; borrowed where
    /// nothing changes.
    pub fn as_now<'t>(&self, exchange: &Exchange, half: Half, then: &'t [u8]) -> Cow<'t, [u8]> {
        let bound = self.binder.as_now(About::of(exchange), half, then);
        match self.with_live_keys(exchange, half, &bound) {
            Some(renamed) => Cow::Owned(renamed),
            None => bound,
        }
    }

    /// A request or answer of an input round, under the keys of the right side.
    fn with_live_keys(&self, left: &Exchange, half: Half, then: &[u8]) -> Option<Vec<u8>> {
        let (chain, id) = (left.chain?, left.id);
        let mut before = self.rounds.range((chain, chain)..(chain, id));
        let document = Document::parse(then).ok()?;
        let root = document.root();
        let renamed = match half {
            Half::Request => {
                let responses = root.get("params")?.get("inputResponses");
                before.next_back()?.1.as_now(responses, then)
            }
            Half::Response => {
                let asked = root.get("result")?.get("inputRequests");
                self.rounds.get(&(chain, id))?.as_now(asked, then)
            }
        };
        Some(renamed.into_owned())
    }

    /// Learns from an exchange that is not to be compared itself.
    pub(super) fn learn(&mut self, held: &[Option<Held>; 2]) {
        if let [Some(left), Some(right)] = held {
            self.pair([left, right]);
        }
    }

    /// Finds the pairs in the answers of two exchanges, if a rule binds any or they ask for input.
    fn pair(&mut self, [left, right]: [&Held; 2]) {
        let exchange = &left.exchange;
        let asks = exchange.status == Status::InputRequired;
        if !asks && !self.binder.binds_from(About::of(exchange)) {
            return;
        }
        let answers = [left, right].map(|held| held.response.as_ref());
        let [Some(then), Some(now)] = answers.map(|answer| Document::parse(answer?).ok()) else {
            return;
        };
        let (then, now) = (then.root(), now.root());
        self.binder
            .learn_ruled(About::of(exchange), then, Some(now));
        if let (Some(chain), Some(then), Some(now)) =
            (exchange.chain, then.get("result"), now.get("result"))
            && self.rounds.len() < MOST
        {
            let left = |asked: Value<'_>| key::words(asked, Side::Left, &self.rewrites, None);
            let right = |asked: Value<'_>| key::words(asked, Side::Right, &self.rewrites, None);
            let round = Round::new(then, now, [&left, &right]);
            self.rounds.insert((chain, exchange.id), round);
        }
    }
}
