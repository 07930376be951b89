//! What is asked again: rounds of input, and tasks that are polled until they are over.
//!
//! Where the live server asks for input as it did then, under whatever keys, the recorded retry
//! answers it. Where it asks for more, or did not ask then, the user's policy for questions of the
//! server decides. A round that asks nothing and wants its state back always gets that.
//!
//! The recorded client polled its tasks at its own pace; a replay polls them one right after the
//! other. Where the recorded answer was that the task is over, or needs input, and the live task is
//! still at work, the poll is repeated at the pace that the server wants until the task has come as
//! far. Additional polls and rounds have ids of their own.

use super::Policy;
use super::answers::message_at;
use super::calls::{Call, Calls, Chain, was_answered};
use super::director::{Director, Scene};
use super::questions::{stub, unexpected};
use crate::bind::{Outgoing, Role, Round, Unexpected};
use crate::diff::Class;
use crate::rules::Side;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::{Document, Value, quoted};
use mcpreel_wire::mcp::TaskStatus;
use mcpreel_wire::text::escape;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// Rounds of a call that are answered though the recording has none there: a server that is content
/// with nothing may ask for ever.
const MOST_ROUNDS: u32 = 8;

/// The time between two polls, where the server does not say it or wants it otherwise.
const PACE: Duration = Duration::from_secs(1);
const FASTEST: Duration = Duration::from_millis(50);
const SLOWEST: Duration = Duration::from_secs(5);

/// A poll has at least this time to be answered.
const PATIENCE: Duration = Duration::from_secs(10);

impl Director {
    /// Remembers what a recorded round of input means for its retry. Returns the recorded answer under
    /// the keys that its questions have now, where both sides ask for input.
    pub(super) fn go_round(
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
            Status::InputRequired => self.round(then, now),
            Status::Ok | Status::ToolError | Status::Task => (Chain::Complete(now.into()), None),
            _ => {
                let why = "the server answered the request with an error";
                (Chain::Broken(why.into()), None)
            }
        };
        if let Some(first) = exchange.chain {
            self.skipped.set_chain(first, chain);
        }
        renamed
    }

    fn round(&mut self, then: &[u8], now: &[u8]) -> (Chain, Option<Vec<u8>>) {
        let broken = |why: &str| Chain::Broken(why.into());
        let (Ok(was), Ok(now)) = (Document::parse(then), Document::parse(now)) else {
            return (broken("the server's answer cannot be read"), None);
        };
        let (Some(was), Some(now)) = (was.root().get("result"), now.root().get("result")) else {
            return (broken("the server's answer has no result"), None);
        };
        let left = |request: Value<'_>| self.words(request, Side::Left, None);
        let right = |request: Value<'_>| self.words(request, Side::Right, None);
        let mut round = Round::new(was, now, [&left, &right]);
        let renamed = round.as_now(was, then).into_owned();
        let chain = match self.stub_round(&mut round) {
            Ok(()) => Chain::Asks(round),
            Err(question) => {
                self.tell_unanswered(&question, now);
                let method = escape(&question.method);
                let why = format!("an answer to {method}, which the server asks for now");
                Chain::Broken(why.into())
            }
        };
        (chain, Some(renamed))
    }

    /// Answers the questions of a round that are not on record with stubs, as far as the user wants
    /// that; returns the first one that cannot be answered.
    fn stub_round(&mut self, round: &mut Round) -> Result<(), Unexpected> {
        let unexpected = std::mem::take(&mut round.unexpected);
        self.tally.unexpected += unexpected.len() as u64;
        for question in unexpected {
            match (self.options.asked, stub(&question.method)) {
                (Policy::Stub, Some(result)) => round.give(&question.key, result),
                _ => return Err(question),
            }
        }
        Ok(())
    }

    /// Tells that a question in `result` has no answer, which ends the chain.
    fn tell_unanswered(&mut self, question: &Unexpected, result: Value<'_>) {
        let asked = result.get("inputRequests");
        if let Some(request) = asked.and_then(|asked| asked.get(&question.key)) {
            let question = unexpected(&question.method, None, request);
            self.judge.question(&question, Class::Changed);
        }
    }

    /// Answers a round of input that is not on record, as far as possible; then the answer to the call
    /// is still to come. Returns the call otherwise.
    pub(super) fn one_more_round(
        &mut self,
        mut call: Call,
        status: Status,
        answer: &[u8],
        scene: &mut Scene<'_>,
    ) -> Option<Call> {
        let is_more = status == Status::InputRequired
            && call.exchange.status != Status::InputRequired
            && was_answered(&call.exchange);
        if !is_more || call.more_rounds >= MOST_ROUNDS || !self.may_write() {
            return Some(call);
        }
        let document = Document::parse(answer).ok();
        let result = document.as_ref().and_then(|it| it.root().get("result"));
        let Some(result) = result else {
            return Some(call);
        };
        let (request, part) = call.exchange.request;
        let id = format!("round-{}.{part}.{}", request.0, call.more_rounds + 1);
        let id = quoted(&id);
        let mut round = Round::more(result, &id);
        if self.stub_round(&mut round).is_err() || !self.send_again(&call.exchange, &round, scene) {
            return Some(call);
        }
        self.tell_round(&call.exchange, result);
        call.id = RequestId::from_json(&id).unwrap_or(call.id);
        call.more_rounds += 1;
        call.sent = scene.now;
        let recorded = self.tasks.took(&call.exchange);
        call.deadline = Calls::deadline(&call.exchange, recorded, scene.now, self.end());
        self.calls.open(call);
        None
    }

    /// Sends a request once more, as the retry of this round. Returns whether that was possible.
    fn send_again(&mut self, exchange: &Exchange, round: &Round, scene: &mut Scene<'_>) -> bool {
        let (seq, part) = exchange.request;
        let frame = scene.past.raw(seq).unwrap_or_default();
        let Some(message) = message_at(&frame, part) else {
            return false;
        };
        let outgoing = Outgoing {
            part: 0,
            role: Role::Request {
                method: &exchange.method,
                name: exchange.name.as_deref(),
                round: Some(round),
            },
        };
        let Ok(line) = self.options.binder.prepare(seq, message, &[outgoing]) else {
            return false;
        };
        if line.is_empty() || self.options.guard.refuses(&line).is_some() {
            return false;
        }
        self.action.send.extend_from_slice(line.trim_ascii_end());
        self.action.send.push(b'\n');
        self.tally.last_method.clone_from(&exchange.method);
        true
    }

    /// Tells of a round that was answered and is not on record.
    fn tell_round(&mut self, exchange: &Exchange, result: Value<'_>) {
        let asked = result.get("inputRequests");
        let mut any = false;
        for (_, request) in asked.into_iter().flat_map(|asked| asked.members()) {
            any = true;
            let method = request.get("method").and_then(|method| method.as_str());
            let method = method.unwrap_or_default();
            self.judge.more(&unexpected(&method, None, request));
        }
        if !any {
            let text = "asks for the request once more, with its state".to_owned();
            self.say(Class::Added, text, Some(exchange.request.0));
        }
    }

    /// Binds what came of a recorded retry that is not needed to the answer that came at once.
    pub(super) fn bind_to_complete(&mut self, exchange: &Exchange, scene: &mut Scene<'_>) {
        let chain = exchange.chain.and_then(|first| self.skipped.chain(first));
        let Some(Chain::Complete(now)) = chain.cloned() else {
            return;
        };
        let Some((seq, part)) = exchange.response else {
            return;
        };
        if exchange.status != Status::InputRequired
            && let Some(frame) = scene.past.raw(seq)
            && let Some(then) = message_at(&frame, part)
        {
            self.learn(exchange, then, (&now, None), scene);
        }
    }
}

/// The recorded tasks, and the polls that are to be repeated.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    known: HashMap<Box<str>, Known>,
    /// When which poll is repeated.
    due: BTreeMap<ExchangeId, Moment>,
}

/// A recorded task.
#[derive(Debug)]
struct Known {
    /// When the client spoke of it for the first time.
    since: Moment,
    /// Whether the client has given it input, which it may take a while to notice.
    is_updated: bool,
}

impl Tasks {
    /// How long an exchange took in the recording. A poll counts as long as its task was at work: a
    /// replay polls sooner.
    pub fn took(&mut self, exchange: &Exchange) -> Duration {
        let known = self.known(exchange);
        let since = known.map_or(exchange.t_request, |known| known.since);
        let until = exchange.latency_ns().and(exchange.t_response);
        until.map_or(Duration::ZERO, |until| until.since(since))
    }

    /// The task that a request is about.
    fn known(&mut self, exchange: &Exchange) -> Option<&Known> {
        let about = exchange.method.strip_prefix("tasks/")?;
        let id = exchange.name.as_deref()?;
        let known = self.known.entry(id.into()).or_insert(Known {
            since: exchange.t_request,
            is_updated: false,
        });
        known.is_updated |= about == "update";
        Some(known)
    }

    /// When the next poll is due.
    pub fn due(&self) -> Option<Moment> {
        self.due.values().min().copied()
    }
}

impl Director {
    /// Repeats the poll of a task that has not come as far as in the recording. Returns the call
    /// otherwise.
    pub(super) fn one_more_poll(
        &mut self,
        mut call: Call,
        answer: &[u8],
        scene: &mut Scene<'_>,
    ) -> Option<Call> {
        let is_poll = &*call.exchange.method == "tasks/get" && was_answered(&call.exchange);
        if !is_poll || !self.may_write() || !self.is_behind(&call.exchange, answer, scene) {
            return Some(call);
        }
        let at = scene.now + pace(answer);
        let until = call.polls.until.or(call.deadline);
        if until.is_none_or(|until| until < at) {
            return Some(call);
        }
        let (request, part) = call.exchange.request;
        let count = call.polls.count + 1;
        let id = quoted(&format!("poll-{}.{part}.{count}", request.0));
        call.polls.count = count;
        call.polls.until = until;
        call.id = RequestId::from_json(&id).unwrap_or(call.id);
        call.sent = at;
        let own = at + PATIENCE;
        call.deadline = Some(self.end().map_or(own, |end| end.min(own)));
        self.tasks.due.insert(call.exchange.id, at);
        self.calls.open(call);
        None
    }

    /// Whether a task was over or needed input in the recording, and is still at work.
    fn is_behind(&mut self, exchange: &Exchange, answer: &[u8], scene: &mut Scene<'_>) -> bool {
        let Some(now) = status(answer).filter(|now| !now.is_over()) else {
            return false;
        };
        let frame = exchange.response.and_then(|(seq, _)| scene.past.raw(seq));
        let part = exchange.response.map_or(0, |(_, part)| part);
        let then = frame.as_deref().and_then(|frame| message_at(frame, part));
        let Some(then) = then.and_then(status) else {
            return false;
        };
        match now {
            TaskStatus::Working => then != TaskStatus::Working,
            _ => then.is_over() && self.tasks.known(exchange).is_some_and(|it| it.is_updated),
        }
    }

    pub(super) fn send_polls(&mut self, scene: &mut Scene<'_>) {
        let is_due = |_: &ExchangeId, at: &mut Moment| *at <= scene.now;
        let due: Vec<_> = self.tasks.due.extract_if(.., is_due).collect();
        for (id, _) in due {
            let Some(call) = self.calls.get(id) else {
                continue;
            };
            let round = Round::again(call.id.json());
            let exchange = call.exchange.clone();
            if !self.send_again(&exchange, &round, scene) && self.calls.close(id).is_some() {
                self.tally.uncompared += 1;
            }
        }
    }
}

fn status(answer: &[u8]) -> Option<TaskStatus> {
    let document = Document::parse(answer).ok()?;
    TaskStatus::of(document.root().get("result")?)
}

/// The pace that the server wants, within reason.
fn pace(answer: &[u8]) -> Duration {
    let document = Document::parse(answer).ok();
    let result = document.as_ref().and_then(|it| it.root().get("result"));
    // The core of 2025-11-25 has the one, the extension the other.
    let members = ["pollInterval", "pollIntervalMs"];
    let mut told = members
        .iter()
        .filter_map(|name| result?.get(name)?.number());
    let ms = told.find_map(|number| u64::try_from(number.to_i64()?).ok());
    ms.map_or(PACE, Duration::from_millis)
        .clamp(FASTEST, SLOWEST)
}
