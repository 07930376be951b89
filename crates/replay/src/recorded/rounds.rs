//! Rounds of input: a server may make up the keys under which it asks, and what it asks is known by
//! its words, as in a replay.

use crate::bind::Round;
use crate::compare::Half;
use crate::key;
use crate::rewrite::Rewrites;
use crate::rules::Side;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_wire::json::{Document, Value};
use std::collections::BTreeMap;

/// Rounds that are remembered. The keys of later ones are compared as they are.
const MOST: usize = 65_536;

/// The rounds of the left side, each as the right one has it: by their chains, in their order.
#[derive(Debug, Default)]
pub(super) struct Rounds(BTreeMap<(ExchangeId, ExchangeId), Round>);

impl Rounds {
    /// Learns from the answers to an exchange of the left side and to the one that stands for it.
    pub fn learn(&mut self, left: &Exchange, [then, now]: [Value<'_>; 2], rewrites: &Rewrites) {
        let results = then.get("result").zip(now.get("result"));
        let (Some(chain), Some((then, now))) = (left.chain, results) else {
            return;
        };
        let words = |side| move |question: Value<'_>| key::words(question, side, rewrites, None);
        let round = Round::new(then, now, [&words(Side::Left), &words(Side::Right)]);
        if self.0.len() < MOST {
            self.0.insert((chain, left.id), round);
        }
    }

    /// What one half of an exchange of the left side says under the keys of the right one; `None`
    /// where it says nothing under such keys.
    pub fn as_now(&self, left: &Exchange, half: Half, then: &[u8]) -> Option<Vec<u8>> {
        let (chain, id) = (left.chain?, left.id);
        let round = match half {
            Half::Request => self.0.range((chain, chain)..(chain, id)).next_back()?.1,
            Half::Response => self.0.get(&(chain, id))?,
        };
        let document = Document::parse(then).ok()?;
        let root = document.root();
        let renamed = match half {
            Half::Request => round.retry_as_now(root, then),
            Half::Response => round.as_now(root.get("result")?, then),
        };
        Some(renamed.into_owned())
    }
}
