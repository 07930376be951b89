//! Questions of the server: which recorded one a live one stands for, and what it is answered.
//!
//! The recorded answer goes out once the walk has come to it. Where the walk waits for the server, the
//! server may wait for that answer: then it goes out after a second. What the recorded client was not
//! asked is answered as the user's policy says.

use super::Policy;
use super::calls::{Call, Calls, lacks};
use super::director::Director;
use crate::bind::{About, Role};
use crate::diff::{Class, Occurrence, Outcome};
use crate::rules::Side;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_wire::json::{Document, Value};
use mcpreel_wire::message::Request;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// Recorded questions that a live one may stand for: it may come earlier than in the recording.
const AHEAD: usize = 256;

/// A question that belongs to no call is waited for twice as long as it took, within these bounds.
const LEAST_GRACE: Duration = Duration::from_secs(1);
const MOST_GRACE: Duration = Duration::from_secs(10);

/// How long a question stays unanswered while the walk waits for the server.
const UNANSWERED: Duration = Duration::from_secs(1);

/// A recorded question that was not answered yet.
#[derive(Debug)]
pub(super) struct Question {
    pub exchange: Box<Exchange>,
    /// Until when the client's next message waits for it; set when the walk comes to it.
    until: Option<Moment>,
    /// The live question that stands for it: its id, JSON text, and when it came.
    live: Option<(Box<str>, Moment)>,
    /// Whether its recorded answer may go out.
    may_answer: bool,
    /// Whether its call is not made: it may not be asked now, or elsewhere.
    is_left_out: bool,
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
            until: None,
            live: None,
            may_answer: false,
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

    /// The question that has to come before a request or notification of the client, and until when
    /// at most it is waited for.
    pub fn held(&mut self, calls: &Calls, now: Moment) -> Option<(&Exchange, Option<Moment>)> {
        while let Some(id) = self.held.front() {
            let question = self.open.get(id).filter(|question| question.live.is_none());
            let parent = question.and_then(|it| it.exchange.parent);
            let until = question.and_then(|it| it.until);
            match parent.map(|parent| calls.0.get(&parent)) {
                // It has to come before the answer of its call, which has a deadline of its own.
                Some(Some(call)) if call.is_awaited() => return Some((&question?.exchange, None)),
                Some(None) => {}
                _ if until.is_some_and(|until| now < until) => {
                    return Some((&question?.exchange, until));
                }
                _ => {}
            }
            self.held.pop_front();
        }
        None
    }

    /// The questions that came and were not answered.
    pub fn unanswered(&self) -> impl Iterator<Item = &Question> {
        self.open.values().filter(|it| it.live.is_some())
    }

    /// The recorded questions that the walk has come to and that were never asked.
    pub fn missing(&self, calls: &Calls, is_part: bool) -> Vec<Exchange> {
        let may_come = |it: &Question| match it.exchange.parent {
            Some(parent) => calls.0.get(&parent).is_some_and(Call::is_awaited),
            // A question of no call may belong to what was left out.
            None => is_part,
        };
        let missing = self.open.values();
        let missing = missing.filter(|it| it.until.is_some() && it.live.is_none() && !may_come(it));
        missing.map(|it| (*it.exchange).clone()).collect()
    }
}

impl Director<'_> {
    /// The walk has come to the recorded answer to a question.
    pub(super) fn pass_answer(&mut self, id: ExchangeId) {
        if let Some(question) = self.questions.open.get_mut(&id) {
            question.may_answer = true;
            self.answer(id);
        }
    }

    /// While the walk waits for the server: answers what the server has asked a while ago, wherever
    /// the recorded answer stands. Returns when to look again.
    pub(super) fn answer_late(&mut self) -> Option<Moment> {
        let open = (self.questions.unanswered()).filter(|it| it.exchange.response.is_some());
        let open = open.filter_map(|it| Some((it.exchange.id, it.live.as_ref()?.1 + UNANSWERED)));
        let (due, later): (Vec<_>, Vec<_>) = open.partition(|(_, at)| *at <= self.now);
        for (id, _) in due {
            self.pass_answer(id);
        }
        later.into_iter().map(|(_, at)| at).min()
    }

    /// Sends the recorded answer to a question, if it was asked and may be answered.
    fn answer(&mut self, id: ExchangeId) {
        let open = &mut self.questions.open;
        let question = open.get(&id);
        if !question.is_some_and(|it| it.live.is_some() && it.may_answer) {
            return;
        }
        let Some(question) = open.remove(&id) else {
            return;
        };
        let (Some((live_id, _)), Some(at)) = (question.live, question.exchange.response) else {
            return;
        };
        let answer = self.script.message(at).unwrap_or_default();
        let role = Role::Answer(&live_id);
        match self.options.binder.prepare(at.0, &answer, role) {
            Ok(bytes) if !bytes.is_empty() => {
                self.action.send.extend_from_slice(&bytes);
                if !bytes.ends_with(b"\n") {
                    self.action.send.push(b'\n');
                }
                self.tally.asked += 1;
                self.tally.last_method = question.exchange.method;
            }
            prepared => {
                if let Err(fault) = prepared {
                    let why = lacks(fault);
                    if let Outcome::Redacted(names) = &why {
                        self.judge.lacks(names, false);
                    }
                    let left = self.recorded(&question.exchange, None);
                    self.judge.missing(&left, why);
                }
                self.reply_error(&live_id, "the recorded answer cannot be given");
            }
        }
    }

    /// The server asks something.
    pub(super) fn asked(&mut self, request: &Request, message: Value<'_>) {
        if request.id.is_null() {
            return;
        }
        // Of a long id the request itself remembers less.
        let live_id = message.get("id").map(|id| id.raw_text().into());
        let live_id: Box<str> = live_id.unwrap_or_else(|| request.id.json().into());
        let id = self.stands_for(message);
        let Some(question) = id.and_then(|id| self.questions.open.get_mut(&id)) else {
            return self.asked_unexpectedly(request, &live_id, message);
        };
        question.live = Some((live_id, self.now));
        // In a part of a session the walk may never come to the recorded answer.
        question.may_answer |= question.is_left_out || self.script.is_part();
        let exchange = question.exchange.clone();
        let then = self.script.message(exchange.request);
        if let Some(Ok(then)) = then.as_deref().map(Document::parse) {
            let (script, binder) = (&mut self.script, &mut self.options.binder);
            binder.learn(About::of(&exchange), then.root(), message, &mut |text| {
                script.sends_after(exchange.request.0, text)
            });
        }
        let left = self.recorded(&exchange, None);
        self.judge.note_equal(&left);
        self.answer(exchange.id);
    }

    /// The recorded question that a live one stands for: of those in the same words first those of
    /// the same call, last those of calls that are not made, of these the earliest.
    fn stands_for(&mut self, live: Value<'_>) -> Option<ExchangeId> {
        let wall_ns = self.options.wall_ns.checked_add(self.now.0);
        let words = self.words(live, Side::Right, wall_ns);
        let parent = self.calls.newest();
        let open = self.questions.open.values();
        let unasked = open.filter(|it| it.live.is_none()).take(AHEAD);
        let mut alike: Vec<_> = unasked
            .map(|it| {
                let is_same_call = parent.is_some() && it.exchange.parent == parent;
                let rank = (!is_same_call, !is_same_call && it.is_left_out);
                (
                    rank,
                    it.exchange.id,
                    it.exchange.request,
                    it.exchange.t_request,
                )
            })
            .collect();
        alike.sort_unstable();
        let asked = alike.into_iter().find(|(_, _, at, t)| {
            let message = self.script.message(*at);
            let document = message.as_deref().map(Document::parse);
            let then = document.and_then(Result::ok);
            let wall_ns = self.recorded_wall(*t);
            then.is_some_and(|then| self.words(then.root(), Side::Left, wall_ns) == words)
        });
        asked.map(|(_, id, ..)| id)
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
        self.unexpected_question(&request.method, request.name.as_deref(), message, class);
        match stub(&request.method).filter(|_| self.options.asked == Policy::Stub) {
            Some(result) => self.reply(id, "result", result),
            None => self.reply_error(id, "the recorded client was not asked this"),
        }
    }

    /// Tells of a question that the recorded client was not asked.
    pub(super) fn unexpected_question(
        &mut self,
        method: &str,
        name: Option<&str>,
        question: Value<'_>,
        class: Class,
    ) {
        let live = Occurrence {
            seq: None,
            method,
            name,
            request: Some(question.raw()),
            response: None,
            size: None,
            status: Status::Ok,
            latency_ns: None,
            cancelled_after_ns: None,
            wall_ns: None,
        };
        self.judge.question(&live, class);
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

/// The answer of a client that has nothing to offer; `None` where it can only refuse.
fn stub(method: &str) -> Option<&'static str> {
    match method {
        "roots/list" => Some(r#"{"roots":[]}"#),
        "elicitation/create" => Some(r#"{"action":"cancel"}"#),
        _ => None,
    }
}
