//! What a line of the server means: an answer, a question of its own, or a notification.
//!
//! A recorded answer to a question goes out at its place in the walk. Where the walk waits for the
//! server, the server may wait for the answer: then it goes out after a second.
//!
//! Where the live server asks for a round of input as it did then, under whatever keys, the recorded
//! retry answers it. Where it asks for something else, the user's policy for questions decides.
//!
//! The recorded client polled its tasks at its own pace; a replay polls them one right after the
//! other. Where the recorded answer was that the task is over, or needs input, and the live task is
//! not as far, the poll is repeated at the pace that the server wants, under ids of its own.

use super::Policy;
use super::calls::{Call, Chain, was_answered};
use super::director::{Director, Stop};
use super::requests::about;
use super::script::Step;
use crate::bind::{Role, Round};
use crate::diff::key::Digest;
use crate::diff::{Class, Half, Occurrence, Remark};
use crate::lines::Line;
use crate::rules::Side;
use bytes::Bytes;
use mcpreel_store::reader::ReadError;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::status_of;
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::{Document, Value, quoted};
use mcpreel_wire::mcp::TaskStatus;
use mcpreel_wire::message::{
    Body, Era, Lines, Message, Outcome, Request, Response, Subject, classify_outline,
};
use mcpreel_wire::text::escape;
use std::cell::OnceCell;
use std::time::Duration;

/// Bytes of a line that is no message that are kept to be shown.
const SHOWN: usize = 200;

/// How long a question stays unanswered while the walk waits for the server.
const UNANSWERED: Duration = Duration::from_secs(1);

/// The time between two polls, where the server does not say it or wants it otherwise.
const PACE: Duration = Duration::from_secs(1);
const FASTEST: Duration = Duration::from_millis(50);
const SLOWEST: Duration = Duration::from_secs(5);

/// A repeated poll has this time to be answered.
const POLL: Duration = Duration::from_secs(10);

/// What a line is, and whom it concerns.
impl Director<'_> {
    /// Takes a line of the server, with its terminator, and goes on.
    pub fn arrive(&mut self, line: Line<'_>, now: Moment) -> Result<(), ReadError> {
        self.now = now;
        match line {
            Line::Whole(line) => {
                let mut classifier = std::mem::take(&mut self.classifier);
                let (content, root) = classifier.read(line, Lines::OfProgress);
                for message in &content.messages {
                    let text = line.get(message.span.clone()).unwrap_or(line);
                    let value = root
                        .filter(|_| content.batch)
                        .map_or(root, |root| root.index(message.part as usize));
                    self.message(message, text, value);
                }
                if content.messages.is_empty() {
                    self.noise(line);
                }
                classifier.give_back();
                self.classifier = classifier;
            }
            Line::TooLong(outline) => {
                let content = classify_outline(outline);
                for message in &content.messages {
                    self.message(message, outline, None);
                }
                if content.messages.is_empty() {
                    self.noise(outline);
                }
            }
        }
        self.walk(now)
    }

    /// Takes a message; there is no value if its line was too long to be held.
    fn message(&mut self, message: &Message, text: &[u8], value: Option<Value<'_>>) {
        match &message.body {
            Body::Response(response) => {
                let id = response.id.as_ref().filter(|id| !id.is_null());
                let call = id.and_then(|id| self.calls.by_id(id));
                match call.and_then(|call| self.calls.close(call)) {
                    Some(call) => self.answered(call, response, text, value),
                    None => self.stray(response.id.as_ref()),
                }
            }
            Body::Request(request) => match value {
                Some(value) => self.asked(request, value),
                None => self.stray(Some(&request.id)),
            },
            Body::Notification(notification) => {
                if let Subject::Progress {
                    token: Some(token), ..
                } = &notification.subject
                {
                    self.calls.progressed(token);
                }
                self.notices.tell(message);
            }
            Body::Invalid => self.noise(text),
        }
    }

    /// Counts a line that is no message.
    fn noise(&mut self, line: &[u8]) {
        self.tally.noise[1] += 1;
        let line = line.trim_ascii_end();
        let shown = || line[..line.len().min(SHOWN)].into();
        self.tally.first_noise.get_or_insert_with(shown);
    }

    /// Counts an answer to nothing that is open.
    fn stray(&mut self, id: Option<&RequestId>) {
        self.tally.strays[1] += 1;
        let first = self.tally.first_stray.take();
        self.tally.first_stray = first.or_else(|| Some(id?.json().into()));
    }
}

/// Answers.
impl Director<'_> {
    fn answered(&mut self, call: Call, response: &Response, text: &[u8], value: Option<Value<'_>>) {
        let exchange = &call.exchange;
        if call.cancelled {
            self.tally.late += 1;
            return self.tally.give_up(&call, true);
        }
        let Some(value) = value else {
            self.tally.answered += 1;
            self.tally.uncompared += 1;
            return;
        };
        if &*exchange.method == "tools/list"
            && let Some(result) = value.get("result")
        {
            self.options.guard.live_list(result);
        }
        if let Some(why) = self.other_era(exchange, &response.outcome, value) {
            return self.stop(Stop::OtherEra(why.into()), self.now);
        }
        let answer = exchange.response.filter(|_| was_answered(exchange));
        let then = answer.and_then(|at| self.script.message(at));
        if self.is_behind(exchange, then.as_deref(), value)
            && let Some(at) = self.poll_again(&call, value)
        {
            return self.calls.open(Call {
                id: poll_id(&call),
                sent: at,
                deadline: Some(self.end().map_or(at + POLL, |end| end.min(at + POLL))),
                polls: (call.polls.0 + 1, call.polls.1.or(call.deadline)),
                ..call
            });
        }
        let status = status_of(&exchange.method, &response.outcome);
        if !exchange.is_listen() {
            self.compare(&call, status, then, text);
        }
    }

    /// Compares an answer with the recorded one, `then`, and learns from both.
    fn compare(&mut self, call: &Call, status: Status, then: Option<Bytes>, text: &[u8]) {
        let exchange = &*call.exchange;
        self.tally.answered += 1;
        let latency = self.now.since(call.sent).as_nanos();
        let now = Occurrence {
            seq: None,
            status,
            latency_ns: u64::try_from(latency).ok(),
            wall_ns: self.options.wall_ns.checked_add(call.sent.0),
            ..self.recorded(exchange, Some(text))
        };
        let Some(then) = then else {
            if was_answered(exchange) {
                self.tally.uncompared += 1;
            } else {
                let then = self.recorded(exchange, None);
                self.judge.both(&then, &now);
            }
            return;
        };
        self.learn(exchange, &then, text);
        let renamed = self.go_round(exchange, status, &then, text);
        // The recorded answer as it would read now.
        let then = renamed.as_deref().unwrap_or(&then);
        let then = self
            .options
            .binder
            .as_now(about(exchange), Half::Response, then);
        let page = self.listing(exchange);
        let mut then = self.recorded(exchange, Some(&then));
        then.request = page.as_deref();
        self.judge.both(&then, &now);
        if exchange.progress_count > 0 && !call.has_progress {
            self.judge.remark(Remark {
                left: Some(exchange.request.0),
                right: None,
                method: escape(&exchange.method).into(),
                name: exchange.name.as_deref().map(|name| escape(name).into()),
                class: Class::Changed,
                text: "progress was told in the recording, and is not now".into(),
                trouble: None,
            });
        }
    }

    /// Learns the live values that stand for recorded ones.
    pub(super) fn learn(&mut self, exchange: &Exchange, then: &[u8], now: &[u8]) {
        if then == now {
            return;
        }
        if let (Ok(then), Ok(now)) = (Document::parse(then), Document::parse(now)) {
            let request: OnceCell<Option<Bytes>> = OnceCell::new();
            let (script, seq) = (&mut self.script, exchange.request.0);
            let binder = &mut self.options.binder;
            binder.learn(about(exchange), then.root(), now.root(), &mut |text| {
                // What the client said itself was not made up by the server.
                let request = request.get_or_init(|| script.raw(seq));
                let said = |request: &Bytes| memchr::memmem::find(request, text.as_bytes());
                request.as_ref().and_then(said).is_none() && script.sends_after(seq, text)
            });
        }
    }

    /// Why the server is of the other era than the recording, if its first answer shows that.
    fn other_era(
        &self,
        exchange: &Exchange,
        outcome: &Outcome,
        answer: Value<'_>,
    ) -> Option<&'static str> {
        if self.tally.answered > 0 || exchange.status != Status::Ok {
            return None;
        }
        let refused = matches!(outcome, Outcome::Error { .. });
        let result = answer.get("result");
        let has_type = result.is_some_and(|result| result.get("resultType").is_some());
        match exchange.era {
            Era::Legacy if &*exchange.method == "initialize" && refused => Some(
                "the recording begins with initialize, which the server refuses: it may speak the \
                 modern era only",
            ),
            Era::Modern if refused => Some(
                "the recording has no handshake, and the server refuses its first request: it may \
                 speak the legacy era only",
            ),
            Era::Modern if result.is_some() && !has_type => Some(
                "the recording is of the modern era, and the server's first answer has no \
                 resultType: it is of the legacy one",
            ),
            _ => None,
        }
    }
}

/// Rounds of input.
impl Director<'_> {
    /// Remembers what a recorded round of input means for its retry. Returns the recorded answer
    /// under the keys that its questions have now, where both sides ask for input.
    fn go_round(
        &mut self,
        exchange: &Exchange,
        status: Status,
        then: &[u8],
        now: &[u8],
    ) -> Option<Vec<u8>> {
        if exchange.status != Status::InputRequired {
            return None;
        }
        let (chain, renamed) = match status {
            Status::InputRequired => self.round(then, now)?,
            Status::Ok | Status::ToolError | Status::Task => (Chain::Complete(now.into()), None),
            _ => {
                let why = "the server answered the request with an error";
                (Chain::Broken(why.into()), None)
            }
        };
        if let Some(first) = exchange.chain {
            self.skipped.chains.insert(first, chain);
        }
        renamed
    }

    fn round(&mut self, then: &[u8], now: &[u8]) -> Option<(Chain, Option<Vec<u8>>)> {
        let (was, now) = (Document::parse(then).ok()?, Document::parse(now).ok()?);
        let (was, now) = (was.root().get("result")?, now.root().get("result")?);
        let left = |request: Value<'_>| self.words(request, Side::Left, None);
        let right = |request: Value<'_>| self.words(request, Side::Right, None);
        let mut round = Round::new(was, now, [&left, &right]);
        let renamed = Some(round.as_now(was, then).into_owned());
        let unexpected = std::mem::take(&mut round.unexpected);
        self.tally.unexpected += unexpected.len() as u64;
        for question in unexpected {
            match stub(&question.method) {
                Some(result) if self.options.asked == Policy::Stub => {
                    round.give(&question.key, result);
                }
                _ => {
                    let asked = now.get("inputRequests");
                    if let Some(request) = asked.and_then(|asked| asked.get(&question.key)) {
                        let question = unexpected_question(&question.method, None, request);
                        self.judge.question(&question, Class::Changed);
                    }
                    let method = escape(&question.method);
                    let why = format!("an answer to {method}, which the server asks for now");
                    return Some((Chain::Broken(why.into()), renamed));
                }
            }
        }
        Some((Chain::Asks(round), renamed))
    }
}

/// Polls of tasks.
impl Director<'_> {
    /// Whether a task was over or needed input in the recording, and is not as far.
    fn is_behind(&self, exchange: &Exchange, then: Option<&[u8]>, answer: Value<'_>) -> bool {
        if &*exchange.method != "tasks/get" || !self.may_write() {
            return false;
        }
        let status = |message: Value<'_>| TaskStatus::of(message.get("result")?);
        let then = then.and_then(|then| Document::parse(then).ok());
        match then
            .and_then(|then| status(then.root()))
            .zip(status(answer))
        {
            Some((then, TaskStatus::Working)) => then != TaskStatus::Working,
            Some((then, now)) => then.is_over() && !now.is_over(),
            None => false,
        }
    }

    /// When the poll is repeated that got this answer, if there is time for it.
    fn poll_again(&mut self, call: &Call, answer: Value<'_>) -> Option<Moment> {
        let result = answer.get("result")?;
        // The core of 2025-11-25 has the one, the extension the other.
        let names = ["pollInterval", "pollIntervalMs"];
        let told = names.iter().find_map(|name| result.get(name)?.number());
        let ms = told.and_then(|number| u64::try_from(number.to_i64()?).ok());
        let pace = ms.map_or(PACE, Duration::from_millis);
        let at = self.now + pace.clamp(FASTEST, SLOWEST);
        let until = call.polls.1.or(call.deadline)?;
        (at <= until).then(|| {
            self.polls.insert(call.exchange.id, at);
            at
        })
    }

    pub(super) fn send_polls(&mut self) {
        let now = self.now;
        let is_due = |_: &ExchangeId, at: &mut Moment| *at <= now;
        let due: Vec<_> = self.polls.extract_if(.., is_due).collect();
        for (id, _) in due {
            if let Some(call) = self.calls.get(id) {
                let (round, exchange) = (Round::again(call.id.json()), call.exchange.clone());
                if !self.send_again(&exchange, &round) && self.calls.close(id).is_some() {
                    self.tally.uncompared += 1;
                }
            }
        }
    }
}

/// The id of the next poll of a task that is not on record.
fn poll_id(call: &Call) -> RequestId {
    let (seq, part) = call.exchange.request;
    let id = format!("poll-{}.{part}.{}", seq.0, call.polls.0 + 1);
    RequestId::from_json(&quoted(&id)).unwrap_or_else(|| call.id.clone())
}

/// Questions of the server.
impl Director<'_> {
    /// The walk has come to the recorded answer to a question.
    pub(super) fn pass_answer(&mut self, id: ExchangeId, step: Step) {
        // A question of a call that is not made may never be asked; then the answer is read again.
        if let Some(question) = self.questions.get(id)
            && (!question.is_left_out || question.live.is_some())
        {
            self.keep_answer(id, (step.head.seq, step.raw.unwrap_or_default()));
            self.send_answer(id);
        }
    }

    fn keep_answer(&mut self, id: ExchangeId, answer: (Seq, Bytes)) {
        if let Some(question) = self.questions.get(id) {
            if &*question.exchange.method == "roots/list"
                && let Ok(document) = Document::parse(&answer.1)
                && let Some(result) = document.root().get("result")
            {
                self.roots = Some(result.raw_text().into());
            }
            question.answer = Some(answer);
        }
    }

    /// Sends the recorded answer to a question, if both are there.
    fn send_answer(&mut self, id: ExchangeId) {
        let is_ready =
            |it: &&mut super::questions::Question| it.live.is_some() && it.answer.is_some();
        if self.questions.get(id).as_ref().is_none_or(|x| !is_ready(x)) {
            return;
        }
        let Some(question) = self.questions.close(id) else {
            return;
        };
        let (Some((live_id, _)), Some((seq, raw))) = (question.live, question.answer) else {
            return;
        };
        match self
            .options
            .binder
            .prepare(seq, &raw, Role::Answer(&live_id))
        {
            Ok(bytes) if !bytes.is_empty() => {
                self.action.send.extend_from_slice(&bytes);
                self.tally.asked += 1;
                self.tally.last_method = question.exchange.method;
            }
            prepared => {
                if let Err(fault) = prepared {
                    let why = self.lacks(fault);
                    let left = self.recorded(&question.exchange, None);
                    self.judge.missing(&left, why);
                }
                self.reply_error(&live_id, "the recorded answer cannot be given");
            }
        }
    }

    /// The server asks something.
    fn asked(&mut self, request: &Request, message: Value<'_>) {
        if request.id.is_null() {
            return;
        }
        // Of a long id the request itself remembers less.
        let live_id = message.get("id").map(|id| id.raw_text().into());
        let live_id: Box<str> = live_id.unwrap_or_else(|| request.id.json().into());
        let id = self.stands_for(message);
        let Some(question) = id.and_then(|id| self.questions.get(id)) else {
            return self.asked_unexpectedly(request, &live_id, message);
        };
        question.live = Some((live_id, self.now));
        let (exchange, is_left_out) = (question.exchange.clone(), question.is_left_out);
        let then = self.script.message(exchange.request);
        if let Some(Ok(then)) = then.as_deref().map(Document::parse) {
            let (script, binder) = (&mut self.script, &mut self.options.binder);
            binder.learn(about(&exchange), then.root(), message, &mut |text| {
                script.sends_after(exchange.request.0, text)
            });
        }
        // In a part of a session the walk may never come to the recorded answer.
        if is_left_out || self.script.is_part() {
            self.look_up(exchange.id);
        }
        self.send_answer(exchange.id);
    }

    /// Looks up the recorded answer to a question to which the walk has not come.
    fn look_up(&mut self, id: ExchangeId) {
        let unknown = self.questions.get(id).filter(|it| it.answer.is_none());
        if let Some(at) = unknown.and_then(|it| it.exchange.response) {
            let mut answer = self.script.message(at).unwrap_or_default();
            if !answer.is_empty() && !answer.ends_with(b"\n") {
                answer = [&*answer, b"\n"].concat().into();
            }
            self.keep_answer(id, (at.0, answer));
        }
    }

    /// While the walk waits for the server: answers what the server has asked a while ago, wherever
    /// the recorded answer stands. Returns when to look again.
    pub(super) fn answer_questions(&mut self) -> Option<Moment> {
        let open = (self.questions.unanswered()).filter(|it| it.exchange.response.is_some());
        let open = open.filter_map(|it| Some((it.exchange.id, it.live.as_ref()?.1 + UNANSWERED)));
        let (due, later): (Vec<_>, Vec<_>) = open.partition(|(_, at)| *at <= self.now);
        for (id, _) in due {
            self.look_up(id);
            self.send_answer(id);
        }
        later.into_iter().map(|(_, at)| at).min()
    }

    /// The recorded question that a live one stands for: of those in the same words first those of
    /// the same call, last those of calls that are not made, of these the earliest.
    fn stands_for(&mut self, live: Value<'_>) -> Option<ExchangeId> {
        let wall_ns = self.options.wall_ns.checked_add(self.now.0);
        let words = self.words(live, Side::Right, wall_ns);
        let parent = self.calls.newest();
        let mut alike = self.questions.unasked();
        alike.retain(|id| self.words_of(*id) == Some(words));
        alike.into_iter().min_by_key(|id| {
            let question = self.questions.get(*id);
            question.map(|question| {
                let is_same_call = parent.is_some() && question.exchange.parent == parent;
                (!is_same_call, !is_same_call && question.is_left_out)
            })
        })
    }

    /// The digest of a recorded question; `None` where it cannot be read.
    fn words_of(&mut self, id: ExchangeId) -> Option<Digest> {
        let question = self.questions.get(id)?;
        if question.words.is_none() {
            let (at, t) = (question.exchange.request, question.exchange.t_request);
            let message = self.script.message(at)?;
            let document = Document::parse(&message).ok()?;
            let words = self.words(document.root(), Side::Left, self.recorded_wall(t));
            self.questions.get(id)?.words = Some(words);
        }
        self.questions.get(id)?.words
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
        let question = unexpected_question(&request.method, request.name.as_deref(), message);
        self.judge.question(&question, class);
        let roots = self.roots.clone();
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

/// The answer of a client that has nothing to offer; `None` where it can only refuse.
fn stub(method: &str) -> Option<&'static str> {
    match method {
        "roots/list" => Some(r#"{"roots":[]}"#),
        "elicitation/create" => Some(r#"{"action":"cancel"}"#),
        _ => None,
    }
}

/// A question that the recorded client was not asked, as a side of a comparison.
fn unexpected_question<'a>(
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
        size: None,
        status: Status::Ok,
        latency_ns: None,
        wall_ns: None,
    }
}
