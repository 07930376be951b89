//! Tasks that are asked about until they are done.
//!
//! The recorded client asked again and again how far a task had come, at its own pace; in a replay
//! the same questions come one right after the other. Where the recorded answer was that the task
//! is over, or needs input, and it is still at work now, it is asked about again, at the pace that
//! the server wants, until it has come as far: what the client does next follows from that. The
//! questions that are asked in addition have ids of their own.

use super::calls::{Call, was_answered};
use super::settle::message_at;
use super::{Director, Scene};
use crate::bind::Round;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::{Document, quoted};
use mcpreel_wire::mcp::TaskStatus;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// Tasks that are remembered. How long a later one took is not known then, and it is given up
/// sooner.
const MOST: usize = 65_536;

/// How long is waited between two questions, where the server does not say it or wants it otherwise.
const PACE: Duration = Duration::from_secs(1);
const FASTEST: Duration = Duration::from_millis(50);
const SLOWEST: Duration = Duration::from_secs(5);

/// A question has this time at least to be answered.
const PATIENCE: Duration = Duration::from_secs(10);

/// The recorded tasks, and the questions that are to be asked again.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    known: HashMap<Box<str>, Known>,
    /// When which question is asked again.
    due: BTreeMap<ExchangeId, Moment>,
}

/// What the recorded client has said of a task.
#[derive(Debug)]
struct Known {
    /// When it spoke of it for the first time.
    since: Moment,
    /// Whether it has given the task input, of which that may take a while to take notice.
    is_updated: bool,
}

impl Tasks {
    /// How long an exchange took in the recording. What is done about a task took as long as the
    /// task: a replay asks for the end of it sooner.
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
        if self.known.len() < MOST && !self.known.contains_key(id) {
            let since = exchange.t_request;
            let is_updated = false;
            self.known.insert(id.into(), Known { since, is_updated });
        }
        let known = self.known.get_mut(id)?;
        known.is_updated |= about == "update";
        Some(known)
    }

    /// When something is asked again next.
    pub fn due(&self) -> Option<Moment> {
        self.due.values().min().copied()
    }
}

impl Director {
    /// Asks again how far a task has come that has not come as far as it had in the recording. The
    /// call, where that is not so.
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

    /// Whether a task was over or needed input in the recording, and is still at work now.
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

/// How far the task has come that an answer is about.
fn status(answer: &[u8]) -> Option<TaskStatus> {
    let document = Document::parse(answer).ok()?;
    TaskStatus::of(document.root().get("result")?)
}

/// How long the server wants to be left alone, within reason.
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
