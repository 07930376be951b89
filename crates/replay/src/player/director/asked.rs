//! What the server asks: which recorded question a live one stands for, and what it gets, and when.
//!
//! A recorded answer goes out at its place. Where the server asks sooner than it did then and goes no
//! further without the answer, while the walk waits for the server, that place never comes: then it
//! goes out at once. And before it is said that a server hangs which still waits for answers, it
//! gets them.

use super::asks::Ask;
use super::settle::message_at;
use super::sides::unexpected;
use super::{Director, Scene};
use crate::bind::{About, Fault, Outgoing, Role};
use crate::compare::Class;
use crate::judge::{Missing, Occurrence, Skip};
use crate::key::Digest;
use crate::player::options::Policy;
use crate::player::script::Step;
use crate::rules::Side;
use bytes::Bytes;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_wire::json::{Document, Value};
use mcpreel_wire::message::Request;
use mcpreel_wire::text::escape;
use std::borrow::Cow;
use std::time::Duration;

/// A question that comes just before an answer may have been told after it: the answer comes within
/// this time, and nothing is out of order.
const CROSSING: Duration = Duration::from_millis(100);

impl Director {
    /// The walk has come to the recorded answer to a question.
    pub(super) fn answer_ask(&mut self, id: ExchangeId, step: &Step, scene: &mut Scene<'_>) {
        if let Some(ask) = self.asks.find(id) {
            // What may never be asked is read again if it is.
            if !ask.is_left_out || ask.live.is_some() {
                let answer = Bytes::copy_from_slice(step.raw.as_deref().unwrap_or_default());
                ask.answer = Some((step.head.seq, answer));
            }
            let is_roots = &*ask.exchange.method == "roots/list";
            if let Some(result) = step.raw.as_deref().filter(|_| is_roots).and_then(result_of) {
                self.asks.roots = Some(result);
            }
            self.send_answer(id, scene);
        }
    }

    /// Sends the recorded answer to a question, if both are there.
    fn send_answer(&mut self, id: ExchangeId, scene: &mut Scene<'_>) {
        let ready = |ask: &mut Ask| ask.live.clone().zip(ask.answer.clone());
        let Some((live_id, (seq, raw))) = self.asks.find(id).and_then(ready) else {
            return;
        };
        let Some(ask) = self.asks.remove(id) else {
            return;
        };
        let part = Outgoing {
            part: 0,
            role: Role::Answer(&live_id),
        };
        match self.options.binder.prepare(seq, &raw, &[part]) {
            Ok(bytes) if !bytes.is_empty() => {
                self.action.send.extend_from_slice(&bytes);
                self.tally.asked += 1;
                self.tally.last_method = ask.exchange.method;
            }
            prepared => {
                if let Err(Fault::Redacted(names)) = prepared {
                    self.tally.lack(&names);
                    let names = names.iter().map(|name| escape(name).into());
                    let why = Missing::Skipped(Skip::Redacted(names.collect()));
                    self.judge.missing(&recorded_ask(&ask.exchange, None), why);
                }
                self.reply_error(&live_id, "the recorded answer cannot be given");
                self.go(scene);
            }
        }
    }

    pub(super) fn asked(&mut self, request: &Request, message: Value<'_>, scene: &mut Scene<'_>) {
        if request.id.is_null() {
            return;
        }
        let Some(id) = self.stands_for(message, scene) else {
            return self.asked_unexpectedly(request, message);
        };
        let Some(ask) = self.asks.find(id) else {
            return;
        };
        ask.live = Some(id_text(request, message).into());
        ask.asked = scene.now;
        let (seq, method) = (ask.exchange.request.0, ask.exchange.method.clone());
        if let Some(raw) = scene.past.raw(seq) {
            let about = About {
                seq,
                method: &method,
                name: None,
            };
            self.learn_from(about, &raw, message, scene);
        }
        self.answer_at_once(id, scene);
        self.send_answer(id, scene);
    }

    /// Where only a part of the session is played, the walk may never come to the recorded answer, or
    /// wait for something that waits for it.
    fn answer_at_once(&mut self, id: ExchangeId, scene: &mut Scene<'_>) {
        let is_part = scene.past.is_part();
        let ask = self.asks.find(id);
        if ask.is_some_and(|ask| is_part || ask.is_left_out) {
            self.look_up(id, scene);
        }
    }

    /// Looks up the recorded answer to a question to which the walk has not come.
    fn look_up(&mut self, id: ExchangeId, scene: &mut Scene<'_>) {
        let Some(ask) = self.asks.find(id).filter(|ask| ask.answer.is_none()) else {
            return;
        };
        let Some((seq, part)) = ask.exchange.response else {
            return;
        };
        let is_roots = &*ask.exchange.method == "roots/list";
        let frame = scene.past.raw(seq).unwrap_or_default();
        let mut answer = message_at(&frame, part).unwrap_or_default().to_vec();
        if !answer.is_empty() && !answer.ends_with(b"\n") {
            answer.push(b'\n');
        }
        if let Some(result) = result_of(&answer).filter(|_| is_roots) {
            self.asks.roots = Some(result);
        }
        if let Some(ask) = self.asks.find(id) {
            ask.answer = Some((seq, answer.into()));
        }
    }

    /// While the walk waits for an answer: answers what the server has asked sooner than it did then.
    /// When to look again, if something was asked just now.
    pub(super) fn answer_early(&mut self, scene: &mut Scene<'_>) -> Option<Moment> {
        let early = self.asks.open().filter(|(_, _, is_reached)| !is_reached);
        let early: Vec<_> = early.map(|(id, asked, _)| (id, asked + CROSSING)).collect();
        let mut later = None;
        for (id, at) in early {
            if at <= scene.now {
                self.look_up(id, scene);
                self.send_answer(id, scene);
            } else {
                later = Some(later.map_or(at, |other: Moment| other.min(at)));
            }
        }
        later
    }

    /// Before the server is said to hang: answers all that it waits for, wherever that was answered
    /// then. Whether there was something.
    pub(super) fn answer_at_last(&mut self, scene: &mut Scene<'_>) -> bool {
        let open: Vec<_> = self.asks.open().map(|(id, ..)| id).collect();
        for id in &open {
            self.look_up(*id, scene);
            self.send_answer(*id, scene);
        }
        !open.is_empty()
    }

    /// The recorded question that a live one stands for: of those of the same words first the ones
    /// of the same call, last those of calls that are not made, the earliest of them.
    fn stands_for(&mut self, live: Value<'_>, scene: &mut Scene<'_>) -> Option<ExchangeId> {
        self.asks.look_ahead(scene);
        let wall_ns = self.options.wall_ns.checked_add(scene.now.0);
        let words = self.words(live, Side::Right, wall_ns);
        let parent = self.calls.newest();
        let mut asks = std::mem::take(&mut self.asks.list);
        let mut best: Option<(u8, ExchangeId)> = None;
        for ask in asks.iter_mut().filter(|ask| ask.live.is_none()) {
            let is_same_call = parent.is_some() && ask.exchange.parent == parent;
            let rank = match (is_same_call, ask.is_left_out) {
                (true, _) => 0,
                (false, false) => 1,
                (false, true) => 2,
            };
            if best.is_some_and(|(known, _)| known <= rank) {
                continue;
            }
            if self.words_of(ask, scene) == Some(words) {
                best = Some((rank, ask.exchange.id));
            }
        }
        self.asks.list = asks;
        best.map(|(_, id)| id)
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
        then: &Bytes,
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
        let id = &*id_text(request, message);
        // Whether somebody is there is no question that a recording could answer.
        if &*request.method == "ping" {
            return self.reply(id, "result", "{}");
        }
        let name = request.name.as_deref();
        let class = match self.options.asked {
            Policy::Fail => Class::Changed,
            Policy::Stub => Class::Added,
        };
        self.judge
            .question(&unexpected(&request.method, name, message), class);
        let roots = self
            .asks
            .roots
            .clone()
            .filter(|_| &*request.method == "roots/list");
        match (
            self.options.asked,
            roots.as_deref().or(stub(&request.method)),
        ) {
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

/// The id of a request as on the wire; of a long one the request itself remembers less.
fn id_text<'m>(request: &'m Request, message: Value<'m>) -> Cow<'m, str> {
    let id = message.get("id").map(|id| id.raw_text());
    id.unwrap_or(Cow::Borrowed(request.id.json()))
}

/// The result of an answer, as JSON text.
fn result_of(answer: &[u8]) -> Option<Box<str>> {
    let document = Document::parse(answer).ok()?;
    let result = document.root().get("result")?;
    Some(result.raw_text().into())
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
pub(super) fn recorded_ask(exchange: &Exchange, wall_ns: Option<u64>) -> Occurrence<'_> {
    super::sides::recorded(exchange, wall_ns, None)
}
