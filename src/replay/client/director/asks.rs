//! What the server asks: recorded questions, live ones, and which stands for which.

use super::calls::{Call, Calls};
use super::settle::message_at;
use super::walk::Hold;
use super::{Director, Scene, Waits};
use crate::protocol::json::{Document, Value};
use crate::protocol::message::Request;
use crate::replay::bind::{About, Fault, Outgoing, Role};
use crate::replay::client::options::Policy;
use crate::replay::judge::{Missing, Occurrence, Skip};
use crate::replay::key::Digest;
use crate::replay::rules::Side;
use crate::replay::script::Step;
use crate::trace::clock::Moment;
use crate::trace::exchange::{Exchange, ExchangeId};
use std::collections::VecDeque;
use std::sync::Arc;
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
struct Ask {
    exchange: Box<Exchange>,
    /// By which words it is known; read when they are needed.
    words: Option<Digest>,
    /// Until when the client's next message waits for it; set when the walk comes to it.
    until: Option<Moment>,
    /// The id of the live question that stands for it, JSON text.
    live: Option<Box<str>>,
    /// The frame of the recorded answer, once the walk has come to it.
    answer: Option<Step>,
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Asks {
    /// In the order of the recording: those that the walk has come to, and some that come later.
    list: VecDeque<Ask>,
    /// The last one that was in the list.
    last: Option<Box<Exchange>>,
    /// Those that the walk has come to, and that the client's next message may wait for.
    held: Vec<ExchangeId>,
    /// Since when a batch waits for the questions that it answers.
    pub batch_since: Option<Moment>,
    /// Those that are too many to keep.
    given_up: Vec<Ask>,
}

impl Asks {
    /// The walk has come to a question. One that is `unwanted` will not be asked.
    pub fn pass(&mut self, exchange: Exchange, unwanted: bool, gap: Duration, now: Moment) {
        let id = exchange.id;
        self.know(exchange);
        if unwanted {
            self.remove(id);
        }
        let Some(ask) = self.find(id) else {
            return;
        };
        ask.until = Some(now + (gap * 2).clamp(LEAST_GRACE, MOST_GRACE));
        if ask.live.is_none() && &*ask.exchange.method != "ping" {
            self.held.push(id);
        }
    }

    /// Takes a question into the list, unless it was there.
    fn know(&mut self, exchange: Exchange) {
        if self.last.as_ref().is_some_and(|last| exchange.id <= last.id) {
            return;
        }
        let exchange = Box::new(exchange);
        self.last = Some(exchange.clone());
        self.list.push_back(Ask {
            exchange,
            words: None,
            until: None,
            live: None,
            answer: None,
        });
        if self.list.len() > MOST {
            self.given_up.extend(self.list.pop_front());
        }
    }

    fn find(&mut self, id: ExchangeId) -> Option<&mut Ask> {
        let at = self.list.binary_search_by_key(&id, |ask| ask.exchange.id);
        at.ok().and_then(|at| self.list.get_mut(at))
    }

    fn remove(&mut self, id: ExchangeId) -> Option<Ask> {
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

    /// Whether a question is known and was not asked yet.
    pub fn is_unmet(&mut self, id: ExchangeId) -> bool {
        self.find(id).is_some_and(|ask| ask.live.is_none())
    }

    /// What somebody waits for who waits for a question.
    pub fn waits_for(&mut self, id: ExchangeId) -> Waits {
        self.find(id).map_or(Waits::Nothing, |ask| ask.waits())
    }

    /// The id of the live question, JSON text, that the recorded one `id` stands for.
    pub fn live_id(&mut self, id: ExchangeId) -> Option<Box<str>> {
        self.find(id)?.live.clone()
    }

    /// A question has been answered.
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
    fn look_ahead(&mut self, scene: &mut Scene<'_>) {
        let ahead = self.list.iter().filter(|ask| ask.until.is_none());
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

impl Director {
    /// The walk has come to the recorded answer to a question.
    pub(super) fn answer_ask(&mut self, id: ExchangeId, step: &Step, scene: &mut Scene<'_>) {
        if let Some(ask) = self.asks.find(id) {
            ask.answer = Some(step.clone());
            self.send_answer(id, scene);
        }
    }

    /// Sends the recorded answer to a question, if both are there.
    fn send_answer(&mut self, id: ExchangeId, scene: &mut Scene<'_>) {
        let ready = |ask: &mut Ask| ask.live.clone().zip(ask.answer.clone());
        let Some((live_id, step)) = self.asks.find(id).and_then(ready) else {
            return;
        };
        let Some(ask) = self.asks.remove(id) else {
            return;
        };
        let part = Outgoing {
            part: 0,
            role: Role::Answer(&live_id),
        };
        let raw = step.raw.as_deref().unwrap_or_default();
        match self.options.binder.prepare(step.head.seq, raw, &[part]) {
            Ok(bytes) if !bytes.is_empty() => {
                self.action.send.extend_from_slice(&bytes);
                self.tally.asked += 1;
                self.tally.last_method = ask.exchange.method;
            }
            prepared => {
                if let Err(Fault::Redacted(names)) = prepared {
                    self.tally.lack(&names);
                    let why = Missing::Skipped(Skip::Redacted(names.join(", ").into()));
                    self.judge.missing(&recorded_ask(&ask.exchange, None), why);
                }
                self.reply_error(&live_id, "the recorded answer cannot be given");
                self.go(scene);
            }
        }
    }

    /// The server asks something.
    pub(super) fn asked(
        &mut self,
        request: &Request,
        message: Value<'_>,
        scene: &mut Scene<'_>,
    ) {
        if request.id.is_null() {
            return;
        }
        let Some(id) = self.stands_for(message, scene) else {
            return self.asked_unexpectedly(request, message);
        };
        let Some(ask) = self.asks.find(id) else {
            return;
        };
        ask.live = Some(request.id.json().into());
        let (seq, method) = (ask.exchange.request.0, ask.exchange.method.clone());
        if let Some(raw) = scene.past.raw(seq) {
            let about = About {
                seq,
                method: &method,
            };
            self.learn_from(about, &raw, message, scene);
        }
        self.send_answer(id, scene);
    }

    /// The recorded question that a live one stands for: of those of the same words first the ones
    /// of the same call, the earliest of them.
    fn stands_for(&mut self, live: Value<'_>, scene: &mut Scene<'_>) -> Option<ExchangeId> {
        self.asks.look_ahead(scene);
        let wall_ns = self.options.wall_ns.checked_add(scene.now.0);
        let words = self.words(live, Side::Right, wall_ns);
        let parent = self.calls.newest();
        let mut asks = std::mem::take(&mut self.asks.list);
        let mut best = None;
        for ask in asks.iter_mut().filter(|ask| ask.live.is_none()) {
            let same_call = parent.is_some() && ask.exchange.parent == parent;
            if best.is_some() && !same_call {
                continue;
            }
            if self.words_of(ask, scene) == Some(words) {
                best = Some(ask.exchange.id);
                if same_call {
                    break;
                }
            }
        }
        self.asks.list = asks;
        best
    }

    /// By which words a recorded question is known; `None` where it cannot be read.
    fn words_of(&self, ask: &mut Ask, scene: &mut Scene<'_>) -> Option<Digest> {
        if ask.words.is_none() {
            let (seq, part) = ask.exchange.request;
            let raw = scene.past.raw(seq)?;
            let document = Document::parse(message_at(&raw, part)?).ok()?;
            let wall_ns = self.recorded_wall(ask.exchange.t_request);
            ask.words = Some(self.words(document.root(), Side::Left, wall_ns));
        }
        ask.words
    }

    fn learn_from(
        &mut self,
        about: About<'_>,
        then: &Arc<[u8]>,
        now: Value<'_>,
        scene: &mut Scene<'_>,
    ) {
        if let Ok(document) = Document::parse(then) {
            let past = &mut scene.past;
            let binder = &mut self.options.binder;
            binder.learn(about, document.root(), now, &mut |text| {
                past.sends_after(about.seq, text)
            });
        }
    }

    /// The server asks what the recorded client was not asked.
    fn asked_unexpectedly(&mut self, request: &Request, message: Value<'_>) {
        self.tally.unexpected += 1;
        let id = request.id.json();
        // Whether somebody is there is no question that a recording could answer.
        if &*request.method == "ping" {
            return self.reply(id, "result", "{}");
        }
        self.judge.more(&Occurrence {
            seq: None,
            method: &request.method,
            name: request.name.as_deref(),
            request: Some(message.raw()),
            response: None,
            status: crate::trace::exchange::Status::Ok,
            latency_ns: None,
            wall_ns: None,
        });
        match (self.options.asked, stub(&request.method)) {
            (Policy::Stub, Some(result)) => self.reply(id, "result", result),
            _ => self.reply_error(id, "the recorded client was not asked this"),
        }
    }

    fn reply_error(&mut self, id: &str, message: &str) {
        let error = format!(r#"{{"code":-32601,"message":"mcpreel replay: {message}"}}"#);
        self.reply(id, "error", &error);
    }

    fn reply(&mut self, id: &str, member: &str, json: &str) {
        if !self.may_write() {
            return;
        }
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"{member}":{json}}}"#);
        self.action.send.extend_from_slice(line.as_bytes());
        self.action.send.push(b'\n');
    }
}

/// What a client says that has nothing to offer; `None` where it can only refuse.
pub(super) fn stub(method: &str) -> Option<&'static str> {
    match method {
        "roots/list" => Some(r#"{"roots":[]}"#),
        "elicitation/create" => Some(r#"{"action":"cancel"}"#),
        _ => None,
    }
}

/// A recorded question as the left side of a comparison.
pub(super) fn recorded_ask<'a>(exchange: &'a Exchange, wall_ns: Option<u64>) -> Occurrence<'a> {
    super::recorded(exchange, wall_ns, None)
}
