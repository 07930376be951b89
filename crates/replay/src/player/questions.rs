//! Questions of the server: which recorded question a live one stands for, and what it gets, and
//! when.
//!
//! A recorded answer goes out at its place in the walk. Where the walk waits for the server, the
//! server may wait for the answer: then it goes out after a second.

use super::Policy;
use super::answers::{message_at, recorded};
use super::calls::{Call, Calls};
use super::director::{Director, Hold, Scene, Waits};
use super::script::Step;
use super::send::redacted;
use crate::bind::{About, Fault, Outgoing, Role};
use crate::diff::key::Digest;
use crate::diff::{Class, Occurrence};
use crate::rules::Side;
use bytes::Bytes;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Document, Value};
use mcpreel_wire::message::Request;
use std::collections::VecDeque;
use std::time::Duration;

/// Questions that are known before the walk comes to them, at least: a live one may come early.
const AHEAD: usize = 64;

/// How long a question stays unanswered while the walk waits for the server.
const PATIENCE: Duration = Duration::from_secs(1);

/// A question that belongs to no call is waited for twice as long as it took, within these bounds.
const LEAST_GRACE: Duration = Duration::from_secs(1);
const MOST_GRACE: Duration = Duration::from_secs(10);

/// A recorded question that was not answered yet.
#[derive(Debug)]
struct Question {
    exchange: Box<Exchange>,
    /// By which words it is known; read when they are needed.
    words: Option<Digest>,
    /// Until when the client's next message waits for it; set when the walk comes to it.
    until: Option<Moment>,
    /// The id of the live question that stands for it, JSON text.
    live: Option<Box<str>>,
    asked: Moment,
    /// The recorded answer and its frame, once it may be given.
    answer: Option<(Seq, Bytes)>,
    /// Whether its call is not made: it may not be asked now, or elsewhere.
    is_left_out: bool,
}

#[derive(Debug, Default)]
pub(super) struct Questions {
    /// In recorded order: those that the walk has come to, and some that come later.
    list: VecDeque<Question>,
    /// The last one that was in the list.
    last: Option<Box<Exchange>>,
    /// Those that the walk has come to and that the client's next message may wait for.
    held: VecDeque<ExchangeId>,
    /// The latest roots of the recorded client, JSON text.
    roots: Option<Box<str>>,
}

impl Questions {
    /// The walk has come to a question. One that is `unwanted` need not be asked.
    pub fn pass(&mut self, exchange: Exchange, unwanted: bool, gap: Duration, now: Moment) {
        let id = exchange.id;
        self.know(exchange);
        let Some(question) = self.find(id) else {
            return;
        };
        question.is_left_out = unwanted;
        if unwanted {
            return;
        }
        question.until = Some(now + (gap * 2).clamp(LEAST_GRACE, MOST_GRACE));
        if question.live.is_none() && &*question.exchange.method != "ping" {
            self.held.push_back(id);
        }
    }

    /// Takes a question into the list, unless it was there.
    fn know(&mut self, exchange: Exchange) {
        let last = self.last.as_ref();
        if last.is_some_and(|last| exchange.id <= last.id) {
            return;
        }
        let exchange = Box::new(exchange);
        self.last = Some(exchange.clone());
        self.list.push_back(Question {
            exchange,
            words: None,
            until: None,
            live: None,
            asked: Moment(0),
            answer: None,
            is_left_out: false,
        });
    }

    fn find(&mut self, id: ExchangeId) -> Option<&mut Question> {
        let at = self.list.binary_search_by_key(&id, |it| it.exchange.id);
        self.list.get_mut(at.ok()?)
    }

    /// A question was answered, or its answer is not sent.
    pub fn answered(&mut self, id: ExchangeId) {
        if let Ok(at) = self.list.binary_search_by_key(&id, |it| it.exchange.id) {
            self.list.remove(at);
        }
    }

    /// Why a request or notification of the client cannot be sent yet.
    pub fn held(&mut self, calls: &Calls, now: Moment) -> Option<Hold> {
        while let Some(id) = self.held.front().copied() {
            let hold = self.find(id).and_then(|question| question.held(calls, now));
            if hold.is_some() {
                return hold;
            }
            self.held.pop_front();
        }
        None
    }

    /// The id of the live question, JSON text, that the recorded one `id` stands for.
    pub fn live_id(&mut self, id: ExchangeId) -> Option<Box<str>> {
        self.find(id)?.live.clone()
    }

    /// The questions that came and were not answered.
    pub fn unanswered(&self) -> impl Iterator<Item = &Exchange> {
        let unanswered = self.list.iter().filter(|it| it.live.is_some());
        unanswered.map(|it| &*it.exchange)
    }

    /// The recorded questions that the walk has come to and that were never asked.
    pub fn missing(&mut self) -> Vec<Exchange> {
        let all = self.list.drain(..);
        let missing = all.filter(|it| it.until.is_some() && it.live.is_none());
        missing.map(|it| *it.exchange).collect()
    }

    /// Knows some of those that the walk comes to next as well: a live question may come early.
    fn look_ahead(&mut self, scene: &mut Scene<'_>) {
        let is_ahead = |it: &&Question| it.until.is_none() && !it.is_left_out;
        if self.list.iter().filter(is_ahead).count() < AHEAD {
            for exchange in scene.past.asked_later(self.last.as_deref()) {
                self.know(exchange);
            }
        }
    }
}

impl Question {
    /// Why the client's next message has to wait for it.
    fn held(&self, calls: &Calls, now: Moment) -> Option<Hold> {
        if self.live.is_some() {
            return None;
        }
        let waits = || Waits::Question(self.exchange.request.0, self.exchange.method.clone());
        match self.exchange.parent.map(|parent| calls.get(parent)) {
            // It has to come before the answer of its call, which has a deadline of its own.
            Some(Some(call)) if Call::is_awaited(call) => Some(Hold::new(waits(), None)),
            Some(None) => None,
            _ => {
                let until = self.until.filter(|until| now < *until)?;
                Some(Hold::new(waits(), Some(until)))
            }
        }
    }
}

impl Director {
    /// The walk has come to the recorded answer to a question.
    pub(super) fn pass_answer(&mut self, id: ExchangeId, step: &Step, scene: &mut Scene<'_>) {
        let raw = step.raw.as_deref().unwrap_or_default();
        // A question of a call that is not made may never be asked; then the answer is read again.
        if let Some(question) = self.questions.find(id)
            && (!question.is_left_out || question.live.is_some())
        {
            let answer = (step.head.seq, Bytes::copy_from_slice(raw));
            self.keep_answer(id, answer);
            self.send_answer(id, scene);
        }
    }

    fn keep_answer(&mut self, id: ExchangeId, answer: (Seq, Bytes)) {
        let Some(question) = self.questions.find(id) else {
            return;
        };
        let is_roots = &*question.exchange.method == "roots/list";
        let roots = is_roots.then(|| result_of(&answer.1)).flatten();
        question.answer = Some(answer);
        self.questions.roots = roots.or(self.questions.roots.take());
    }

    /// Sends the recorded answer to a question, if both are there.
    fn send_answer(&mut self, id: ExchangeId, scene: &mut Scene<'_>) {
        let ready = |it: &mut Question| it.live.clone().zip(it.answer.clone());
        let Some((live_id, (seq, raw))) = self.questions.find(id).and_then(ready) else {
            return;
        };
        let exchange = match self.questions.find(id) {
            Some(question) => question.exchange.clone(),
            None => return,
        };
        self.questions.answered(id);
        let part = Outgoing {
            part: 0,
            role: Role::Answer(&live_id),
        };
        match self.options.binder.prepare(seq, &raw, &[part]) {
            Ok(bytes) if !bytes.is_empty() => {
                self.action.send.extend_from_slice(&bytes);
                self.tally.asked += 1;
                self.tally.last_method = exchange.method;
            }
            prepared => {
                if let Err(Fault::Redacted(names)) = prepared {
                    self.tally.lack(&names);
                    let left = recorded(&exchange, None, None);
                    self.judge.missing(&left, redacted(&names));
                }
                self.reply_error(&live_id, "the recorded answer cannot be given");
                self.go(scene);
            }
        }
    }

    /// The server asks something.
    pub(super) fn asked(&mut self, request: &Request, message: Value<'_>, scene: &mut Scene<'_>) {
        if request.id.is_null() {
            return;
        }
        // Of a long id the request itself remembers less.
        let live_id = message.get("id").map(|id| id.raw_text().into());
        let live_id: Box<str> = live_id.unwrap_or_else(|| request.id.json().into());
        let id = self.stands_for(message, scene);
        let Some(question) = id.and_then(|id| self.questions.find(id)) else {
            return self.asked_unexpectedly(request, &live_id, message);
        };
        question.live = Some(live_id);
        question.asked = scene.now;
        let is_left_out = question.is_left_out;
        let (id, seq) = (question.exchange.id, question.exchange.request.0);
        let method = question.exchange.method.clone();
        if let Some(raw) = scene.past.raw(seq)
            && let Ok(then) = Document::parse(&raw)
        {
            let about = About {
                seq,
                method: &method,
                name: None,
            };
            let (past, binder) = (&mut scene.past, &mut self.options.binder);
            binder.learn(about, then.root(), message, &mut |text| {
                past.sends_after(seq, text)
            });
        }
        // In a part of a session the walk may never come to the recorded answer.
        if is_left_out || scene.past.is_part() {
            self.look_up(id, scene);
        }
        self.send_answer(id, scene);
    }

    /// Looks up the recorded answer to a question to which the walk has not come.
    fn look_up(&mut self, id: ExchangeId, scene: &mut Scene<'_>) {
        let unknown = self.questions.find(id).filter(|it| it.answer.is_none());
        let Some((seq, part)) = unknown.and_then(|it| it.exchange.response) else {
            return;
        };
        let frame = scene.past.raw(seq).unwrap_or_default();
        let mut answer = message_at(&frame, part).unwrap_or_default().to_vec();
        if !answer.is_empty() && !answer.ends_with(b"\n") {
            answer.push(b'\n');
        }
        self.keep_answer(id, (seq, answer.into()));
    }

    /// While the walk waits for the server: answers what the server has asked a while ago, wherever
    /// the recorded answer stands. Returns when to look again.
    pub(super) fn answer_questions(&mut self, scene: &mut Scene<'_>) -> Option<Moment> {
        let questions = self.questions.list.iter();
        let open = questions.filter(|it| it.live.is_some() && it.exchange.response.is_some());
        let open: Vec<_> = open
            .map(|it| (it.exchange.id, it.asked + PATIENCE))
            .collect();
        let (due, later): (Vec<_>, Vec<_>) = open.into_iter().partition(|(_, at)| *at <= scene.now);
        for (id, _) in due {
            self.look_up(id, scene);
            self.send_answer(id, scene);
        }
        later.into_iter().map(|(_, at)| at).min()
    }

    /// The recorded question that a live one stands for: of those in the same words first those of
    /// the same call, last those of calls that are not made, of these the earliest.
    fn stands_for(&mut self, live: Value<'_>, scene: &mut Scene<'_>) -> Option<ExchangeId> {
        self.questions.look_ahead(scene);
        let wall_ns = self.options.wall_ns.checked_add(scene.now.0);
        let words = self.words(live, Side::Right, wall_ns);
        let parent = self.calls.newest();
        let mut list = std::mem::take(&mut self.questions.list);
        let alike = list.iter_mut().filter(|it| it.live.is_none());
        let alike = alike.filter_map(|question| {
            let is_same_call = parent.is_some() && question.exchange.parent == parent;
            let rank = (!is_same_call, !is_same_call && question.is_left_out);
            let is_alike = self.words_of(question, scene) == Some(words);
            is_alike.then_some((rank, question.exchange.id))
        });
        let best = alike.min_by_key(|(rank, _)| *rank);
        self.questions.list = list;
        best.map(|(_, id)| id)
    }

    /// By which words a recorded question is known; `None` where it cannot be read.
    fn words_of(&self, question: &mut Question, scene: &mut Scene<'_>) -> Option<Digest> {
        if question.words.is_none() {
            let (seq, part) = question.exchange.request;
            let raw = scene.past.raw(seq)?;
            let document = Document::parse(message_at(&raw, part)?).ok()?;
            let wall_ns = self.recorded_wall(question.exchange.t_request);
            question.words = Some(self.words(document.root(), Side::Left, wall_ns));
        }
        question.words
    }

    /// The server asks what the recorded client was not asked.
    fn asked_unexpectedly(&mut self, request: &Request, id: &str, message: Value<'_>) {
        self.tally.unexpected += 1;
        // A recording cannot say whether somebody is there.
        if &*request.method == "ping" {
            return self.reply(id, "result", "{}");
        }
        let class = match self.options.asked {
            Policy::Fail => Class::Changed,
            Policy::Stub => Class::Added,
        };
        let name = request.name.as_deref();
        let question = unexpected(&request.method, name, message);
        self.judge.question(&question, class);
        let roots = self.questions.roots.clone();
        let roots = roots.filter(|_| &*request.method == "roots/list");
        let stub = roots.as_deref().or(stub(&request.method));
        match stub.filter(|_| self.options.asked == Policy::Stub) {
            Some(result) => self.reply(id, "result", result),
            None => self.reply_error(id, "the recorded client was not asked this"),
        }
    }

    fn reply_error(&mut self, id: &str, message: &str) {
        let error = format!(r#"{{"code":-32601,"message":"mcpreel replay: {message}"}}"#);
        self.reply(id, "error", &error);
    }

    fn reply(&mut self, id: &str, member: &str, json: &str) {
        if self.may_write() {
            let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"{member}\":{json}}}\n");
            self.action.send.extend_from_slice(line.as_bytes());
        }
    }
}

/// The result of an answer, JSON text.
fn result_of(answer: &[u8]) -> Option<Box<str>> {
    let document = Document::parse(answer).ok()?;
    let result = document.root().get("result")?;
    Some(result.raw_text().into())
}

/// The answer of a client that has nothing to offer; `None` where it can only refuse.
pub(super) fn stub(method: &str) -> Option<&'static str> {
    match method {
        "roots/list" => Some(r#"{"roots":[]}"#),
        "elicitation/create" => Some(r#"{"action":"cancel"}"#),
        _ => None,
    }
}

/// A question that the recorded client was not asked, as a side of a comparison.
pub(super) fn unexpected<'a>(
    method: &'a str,
    name: Option<&'a str>,
    question: Value<'a>,
) -> Occurrence<'a> {
    Occurrence {
        seq: None,
        method,
        name,
        request: Some(question.raw()),
        response: None,
        outline: None,
        status: Status::Ok,
        latency_ns: None,
        wall_ns: None,
    }
}
