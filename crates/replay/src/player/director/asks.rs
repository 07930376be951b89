//! Recorded questions of the server: those that were not asked again yet.

use super::calls::{Call, Calls};
use super::walk::Hold;
use super::{Scene, Waits};
use crate::key::Digest;
use bytes::Bytes;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::Seq;
use std::collections::VecDeque;
use std::time::Duration;

/// Recorded questions that may wait to be asked. Beyond it the oldest are told as missing.
const MOST: usize = 4096;

/// Questions that are known before the walk comes to them, at least: a live one may come early.
const AHEAD: usize = 64;

/// A question that belongs to no call is waited for twice as long as it took, within these bounds.
const LEAST_GRACE: Duration = Duration::from_secs(1);
const MOST_GRACE: Duration = Duration::from_secs(10);

/// A recorded question that was not answered yet.
#[derive(Debug)]
pub(super) struct Ask {
    pub exchange: Box<Exchange>,
    /// By which words it is known; read when they are needed.
    pub words: Option<Digest>,
    /// Until when the client's next message waits for it; set when the walk comes to it.
    until: Option<Moment>,
    /// The id of the live question that stands for it, JSON text.
    pub live: Option<Box<str>>,
    pub asked: Moment,
    /// The recorded answer and its frame, once it may be given.
    pub answer: Option<(Seq, Bytes)>,
    /// Whether it was asked within a call that is not made: perhaps it is not asked now, or elsewhere.
    pub is_left_out: bool,
}

#[derive(Debug, Default)]
pub(super) struct Asks {
    /// In the order of the recording: those that the walk has come to, and some that come later.
    pub list: VecDeque<Ask>,
    /// The last one that was in the list.
    last: Option<Box<Exchange>>,
    /// Those that the walk has come to, and that the client's next message may wait for.
    held: Vec<ExchangeId>,
    /// Since when a batch waits for the questions that it answers.
    pub batch_since: Option<Moment>,
    /// What the recorded client said of its roots, the latest: a JSON text.
    pub roots: Option<Box<str>>,
    /// Those that are too many to keep.
    given_up: Vec<Ask>,
}

impl Asks {
    /// The walk has come to a question. One that is `unwanted` need not be asked.
    pub fn pass(&mut self, exchange: Exchange, unwanted: bool, gap: Duration, now: Moment) {
        let id = exchange.id;
        self.know(exchange);
        let Some(ask) = self.find(id) else {
            return;
        };
        ask.is_left_out = unwanted;
        if unwanted {
            return;
        }
        ask.until = Some(now + (gap * 2).clamp(LEAST_GRACE, MOST_GRACE));
        if ask.live.is_none() && &*ask.exchange.method != "ping" {
            self.held.push(id);
        }
    }

    /// Takes a question into the list, unless it was there.
    fn know(&mut self, exchange: Exchange) {
        if self
            .last
            .as_ref()
            .is_some_and(|last| exchange.id <= last.id)
        {
            return;
        }
        let exchange = Box::new(exchange);
        self.last = Some(exchange.clone());
        self.list.push_back(Ask {
            exchange,
            words: None,
            until: None,
            live: None,
            asked: Moment(0),
            answer: None,
            is_left_out: false,
        });
        if self.list.len() > MOST {
            self.given_up.extend(self.list.pop_front());
        }
    }

    pub fn find(&mut self, id: ExchangeId) -> Option<&mut Ask> {
        let at = self.list.binary_search_by_key(&id, |ask| ask.exchange.id);
        at.ok().and_then(|at| self.list.get_mut(at))
    }

    pub fn remove(&mut self, id: ExchangeId) -> Option<Ask> {
        let at = self.list.binary_search_by_key(&id, |ask| ask.exchange.id);
        at.ok().and_then(|at| self.list.remove(at))
    }

    /// Why a request or notification of the client cannot be sent yet.
    pub fn held(&mut self, calls: &Calls, now: Moment) -> Option<Hold> {
        while let Some(id) = self.held.first().copied() {
            let hold = self.find(id).and_then(|ask| ask.held(calls, now));
            if hold.is_some() {
                return hold;
            }
            self.held.remove(0);
        }
        None
    }

    /// Whether a question is known, is to be asked, and was not asked yet.
    pub fn is_unmet(&mut self, id: ExchangeId) -> bool {
        let ask = self.find(id);
        ask.is_some_and(|ask| ask.live.is_none() && !ask.is_left_out)
    }

    /// What somebody waits for who waits for a question.
    pub fn waits_for(&mut self, id: ExchangeId) -> Waits {
        self.find(id).map_or(Waits::Nothing, |ask| ask.waits())
    }

    /// The id of the live question, JSON text, that the recorded one `id` stands for.
    pub fn live_id(&mut self, id: ExchangeId) -> Option<Box<str>> {
        self.find(id)?.live.clone()
    }

    /// The questions that came and wait for an answer which the recorded client gave: when each
    /// came, and whether the walk has come to it.
    pub fn open(&self) -> impl Iterator<Item = (ExchangeId, Moment, bool)> {
        let is_open = |ask: &&Ask| ask.live.is_some() && ask.exchange.response.is_some();
        let open = self.list.iter().filter(is_open);
        open.map(|ask| (ask.exchange.id, ask.asked, ask.until.is_some()))
    }

    /// The questions that came and were not answered.
    pub fn unanswered(&self) -> impl Iterator<Item = &Exchange> {
        let unanswered = self.list.iter().filter(|ask| ask.live.is_some());
        unanswered.map(|ask| &*ask.exchange)
    }

    pub fn answered(&mut self, id: ExchangeId) {
        self.remove(id);
    }

    /// The recorded questions that were never asked, as far as the walk has come to them.
    pub fn missing(&mut self) -> Vec<Exchange> {
        let all = self.given_up.drain(..).chain(self.list.drain(..));
        let missing = all.filter(|ask| ask.until.is_some() && ask.live.is_none());
        missing.map(|ask| *ask.exchange).collect()
    }

    /// Knows those that the walk comes to next as well: a live question may come early.
    pub fn look_ahead(&mut self, scene: &mut Scene<'_>) {
        let is_ahead = |ask: &&Ask| ask.until.is_none() && !ask.is_left_out;
        let ahead = self.list.iter().filter(is_ahead);
        if ahead.count() < AHEAD {
            for exchange in scene.past.asked_later(self.last.as_deref()) {
                self.know(exchange);
            }
        }
    }
}

impl Ask {
    fn waits(&self) -> Waits {
        Waits::Question(self.exchange.request.0, self.exchange.method.clone())
    }

    /// Why the client's next message has to wait for it.
    fn held(&self, calls: &Calls, now: Moment) -> Option<Hold> {
        if self.live.is_some() {
            return None;
        }
        let parent = self.exchange.parent.map(|parent| calls.get(parent));
        // It has to come before the answer of its call, which has a deadline of its own.
        if parent.flatten().is_some_and(Call::is_awaited) {
            return Some(Hold::new(self.waits(), None));
        }
        if parent.is_some_and(|parent| parent.is_none()) {
            return None;
        }
        let until = self.until.filter(|until| now < *until)?;
        Some(Hold::new(self.waits(), Some(until)))
    }
}
