//! The recorded questions of the server: which were asked again, and which answers are at hand.

use super::calls::{Call, Calls};
use crate::diff::key::Digest;
use bytes::Bytes;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::Seq;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// Recorded questions that a live one may stand for: it may come earlier than in the recording.
const AHEAD: usize = 256;

/// A question that belongs to no call is waited for twice as long as it took, within these bounds.
const LEAST_GRACE: Duration = Duration::from_secs(1);
const MOST_GRACE: Duration = Duration::from_secs(10);

/// A recorded question that was not answered yet.
#[derive(Debug)]
pub(super) struct Question {
    pub exchange: Box<Exchange>,
    /// The digest of its words; read when needed.
    pub words: Option<Digest>,
    /// Until when the client's next message waits for it; set when the walk comes to it.
    until: Option<Moment>,
    /// The live question that stands for it: its id, JSON text, and when it came.
    pub live: Option<(Box<str>, Moment)>,
    /// The recorded answer and its frame, once it may be given.
    pub answer: Option<(Seq, Bytes)>,
    /// Whether its call is not made: it may not be asked now, or elsewhere.
    pub is_left_out: bool,
}

#[derive(Debug, Default)]
pub(super) struct Questions {
    open: BTreeMap<ExchangeId, Question>,
    /// Those that the walk has come to and that the client's next message may wait for.
    held: VecDeque<ExchangeId>,
}

impl Questions {
    pub fn new(exchanges: Vec<Exchange>) -> Self {
        let question = |exchange: Exchange| Question {
            exchange: Box::new(exchange),
            words: None,
            until: None,
            live: None,
            answer: None,
            is_left_out: false,
        };
        let all = exchanges.into_iter().map(question);
        Self {
            open: all.map(|it| (it.exchange.id, it)).collect(),
            held: VecDeque::new(),
        }
    }

    /// The walk has come to a question, which came so long after the frame before it. One that is
    /// `unwanted` need not be asked.
    pub fn pass(&mut self, id: ExchangeId, unwanted: bool, gap: Duration, now: Moment) {
        let Some(question) = self.open.get_mut(&id) else {
            return;
        };
        question.is_left_out = unwanted;
        if !unwanted {
            question.until = Some(now + (gap * 2).clamp(LEAST_GRACE, MOST_GRACE));
            if question.live.is_none() && &*question.exchange.method != "ping" {
                self.held.push_back(id);
            }
        }
    }

    pub fn get(&mut self, id: ExchangeId) -> Option<&mut Question> {
        self.open.get_mut(&id)
    }

    /// Takes a question out that is answered, or whose answer is not sent.
    pub fn close(&mut self, id: ExchangeId) -> Option<Question> {
        self.open.remove(&id)
    }

    /// The question that has to come before a request or notification of the client, and until when
    /// at most it is waited for.
    pub fn held(&mut self, calls: &Calls, now: Moment) -> Option<(&Exchange, Option<Moment>)> {
        while let Some(id) = self.held.front() {
            let question = self.open.get(id);
            if let Some(until) = question.and_then(|it| it.held(calls, now)) {
                return Some((&question?.exchange, until));
            }
            self.held.pop_front();
        }
        None
    }

    /// The next questions that were not asked yet.
    pub fn unasked(&self) -> Vec<ExchangeId> {
        let unasked = self.open.values().filter(|it| it.live.is_none());
        unasked.map(|it| it.exchange.id).take(AHEAD).collect()
    }

    /// The questions that came and were not answered.
    pub fn unanswered(&self) -> impl Iterator<Item = &Question> {
        self.open.values().filter(|it| it.live.is_some())
    }

    /// The recorded questions that the walk has come to and that were never asked.
    pub fn missing(&self) -> impl Iterator<Item = &Exchange> {
        let missing = self.open.values();
        let missing = missing.filter(|it| it.until.is_some() && it.live.is_none());
        missing.map(|it| &*it.exchange)
    }
}

impl Question {
    /// Whether the client's next message has to wait for it; and until when, if there is an end.
    #[expect(
        clippy::option_option,
        reason = "no wait, and a wait without an end, are two things"
    )]
    fn held(&self, calls: &Calls, now: Moment) -> Option<Option<Moment>> {
        if self.live.is_some() {
            return None;
        }
        match self.exchange.parent.map(|parent| calls.get(parent)) {
            // It has to come before the answer of its call, which has a deadline of its own.
            Some(Some(call)) if Call::is_awaited(call) => Some(None),
            Some(None) => None,
            _ => self.until.filter(|until| now < *until).map(Some),
        }
    }
}
