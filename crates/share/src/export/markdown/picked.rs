//! Which exchanges a report tells: those that were selected, else those that show what went wrong.

use crate::export::{Excerpt, WriteError};
use mcpreel_lint::cause::{Cause, Facts};
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::Seq;
use std::collections::{BTreeMap, BTreeSet};

/// Exchanges that are told in full.
const TOLD: usize = 6;

/// Exchanges that are told where nothing went wrong: the last ones.
const LAST: u64 = 3;

/// Exchanges of a batch that are looked at.
const OF_FRAME: usize = 4;

/// Frames that are drawn before a request, and after what became of it.
const NEAR: u64 = 3;

/// Requests of the other side meanwhile that are drawn.
const CHILDREN: usize = 4;

#[derive(Debug, Default)]
pub(super) struct Picked {
    /// In the order of their requests.
    pub exchanges: Vec<Exchange>,
    pub left_out: u64,
    /// What shows the cause, wherever it is.
    evidence: BTreeSet<Seq>,
}

#[derive(Debug, Default)]
pub(super) struct Around {
    pub frames: BTreeSet<Seq>,
    pub last: Seq,
}

impl Picked {
    /// Of a selection the first ones that are selected; else those that `causes` point at, those
    /// that failed, or the last ones.
    pub fn of(
        excerpt: &Excerpt<'_>,
        (facts, causes): (&Facts, &[Cause]),
        progress: &mut dyn FnMut(Seq),
    ) -> Result<Self, WriteError> {
        if excerpt.is_cut() {
            return Self::selected(excerpt, progress);
        }
        let mut found = Found {
            recording: excerpt.recording,
            exchanges: BTreeMap::new(),
        };
        let evidence = causes.iter().flat_map(|cause| &cause.evidence);
        let places: Vec<_> = evidence.filter_map(|one| one.place.frame()).collect();
        for seq in &places {
            found.frame(*seq)?;
        }
        for failed in &facts.failed {
            found.add(failed.first.exchange.clone());
        }
        let samples = [&facts.lost, &facts.unanswered, &facts.open];
        let samples = samples.iter().flat_map(|sample| &sample.exchanges);
        samples.for_each(|exchange| found.add(exchange.clone()));
        if found.exchanges.is_empty() {
            found.last(excerpt.last)?;
        }
        let exchanges: Vec<_> = found.exchanges.into_values().collect();
        let all = facts.counts.exchanges;
        let left_out = all.saturating_sub(exchanges.len() as u64);
        Ok(Self {
            exchanges,
            left_out,
            evidence: places.into_iter().collect(),
        })
    }

    fn selected(excerpt: &Excerpt<'_>, progress: &mut dyn FnMut(Seq)) -> Result<Self, WriteError> {
        let mut picked = Self::default();
        let mut ids = Vec::new();
        let mut more = 0;
        let others = excerpt.exchanges(&mut |exchange| {
            progress(exchange.request.0);
            if ids.len() < TOLD {
                ids.push(exchange.id);
            } else {
                more += 1;
            }
            Ok::<_, ReadError>(())
        })?;
        picked.left_out = others + more;
        for id in ids {
            picked.exchanges.extend(excerpt.recording.exchange(id)?);
        }
        Ok(picked)
    }

    /// The frames to be drawn: what belongs to them, and a few before and after, of what is
    /// selected.
    pub fn around(&self, excerpt: &Excerpt<'_>) -> Result<Around, ReadError> {
        let (recording, last) = (excerpt.recording, excerpt.last);
        let mut frames = self.evidence.clone();
        for exchange in &self.exchanges {
            let (from, _) = exchange.request;
            let to = exchange.response.map_or(from, |(seq, _)| seq);
            let before = from.0.saturating_sub(NEAR).max(1)..=from.0;
            let after = to.0..=to.0.saturating_add(NEAR);
            frames.extend(before.chain(after).map(Seq));
            frames.extend(exchange.cancelled);
            let children = recording.children(exchange.id)?;
            for id in children.into_iter().take(CHILDREN) {
                let child = recording.light_exchanges_of(&[id], None)?;
                frames.extend(child.iter().map(|child| child.request.0));
                let answers = child.iter().filter_map(|child| child.response);
                frames.extend(answers.map(|(seq, _)| seq));
            }
        }
        frames.retain(|seq| seq.0 > 0 && excerpt.has(*seq));
        Ok(Around { frames, last })
    }
}

/// Exchanges as they are found, so many of them.
struct Found<'r> {
    recording: &'r Recording,
    exchanges: BTreeMap<ExchangeId, Exchange>,
}

impl Found<'_> {
    fn add(&mut self, exchange: Exchange) {
        if self.exchanges.len() < TOLD {
            self.exchanges.insert(exchange.id, exchange);
        }
    }

    fn frame(&mut self, seq: Seq) -> Result<(), ReadError> {
        if self.exchanges.len() < TOLD {
            let found = self.recording.exchanges_of_frame(seq)?;
            found
                .into_iter()
                .take(OF_FRAME)
                .for_each(|exchange| self.add(exchange));
        }
        Ok(())
    }

    fn last(&mut self, last: Seq) -> Result<(), ReadError> {
        let last = self.recording.exchange_before(last)?;
        for id in last.0.saturating_sub(LAST) + 1..=last.0 {
            let exchange = self.recording.exchange(ExchangeId(id))?;
            if let Some(exchange) = exchange {
                self.add(exchange);
            }
        }
        Ok(())
    }
}
