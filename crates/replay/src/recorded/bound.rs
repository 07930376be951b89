//! Values that rules bind: what the server chose differs from session to session, and so does every
//! message that says it again. Likewise the keys under which it asks for input.
//!
//! The values at the place of a rule in the answers of both sides are a pair. From then on the left
//! side is compared as if it had said the other one of the pair, in requests and in answers, as a
//! replay sends and expects it.

use super::held::{Held, about};
use super::message::Message;
use super::rounds::Rounds;
use crate::bind::Binder;
use crate::compare::Half;
use crate::judge::Judge;
use crate::rewrite::Rewrites;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_wire::json::Document;
use std::borrow::Cow;

/// The pairs that were found so far.
#[derive(Debug, Default)]
pub struct Bound {
    binder: Binder,
    rounds: Rounds,
    /// Paths of the left side that stand for others on the right.
    rewrites: Rewrites,
}

impl Bound {
    /// What `judge` knows beforehand; its rules say where others are found.
    pub(super) fn by(judge: &Judge) -> Self {
        let mut binder = Binder::default();
        binder.bind_by(judge.rules());
        for (then, now) in &judge.options().pairs {
            binder.stands_for(then, now);
        }
        Self {
            binder,
            rounds: Rounds::default(),
            rewrites: judge.options().rewrites.clone(),
        }
    }

    /// Whether the answer of an exchange has values that are bound, or asks for input.
    pub(super) fn wants(&self, exchange: &Exchange) -> bool {
        exchange.status == Status::InputRequired || self.binder.binds_from(about(exchange))
    }

    /// Finds the pairs in the answers of two exchanges that stand for each other, and makes what
    /// the left one says what it would say on the right side.
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
        match self.rounds.as_now(exchange, half, &bound) {
            Some(renamed) => Cow::Owned(renamed),
            None => bound,
        }
    }

    /// Finds the pairs in the answers of two exchanges.
    pub(super) fn pair(&mut self, [left, right]: [&Held; 2]) {
        let answers = [left, right].map(|held| held.response.as_ref());
        let [then, now] = answers.map(|answer| Document::parse(answer?.whole()?).ok());
        if let (Some(then), Some(now)) = (then, now) {
            let answers = [then.root(), now.root()];
            let exchange = &left.exchange;
            self.binder
                .learn_bound(about(exchange), answers[0], answers[1]);
            self.rounds.learn(exchange, answers, &self.rewrites);
        }
    }
}

/// Changes the bytes of a message that was read as a whole.
fn rewrite(message: Option<&mut Message>, as_now: impl FnOnce(&[u8]) -> Cow<'_, [u8]>) {
    let Some(message) = message else { return };
    let Some(Cow::Owned(changed)) = message.whole().map(as_now) else {
        return;
    };
    message.original.bytes = changed;
}
