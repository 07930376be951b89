//! Rounds of input: what the server asks for instead of an answer, then and now.
//!
//! Where it asks as it did then, under whatever keys, the recorded retry answers it. Where it asks for
//! more, or where it did not ask then, the user's choice for questions of the server decides. A round
//! that asks nothing and wants its state back gets that in any case.

use super::asked::stub;
use super::calls::{Call, Calls, was_answered};
use super::settle::message_at;
use super::sides::unexpected;
use super::skipped::Chain;
use super::{Director, Scene};
use crate::bind::{Outgoing, Role, Round, Unexpected};
use crate::compare::Class;
use crate::player::options::Policy;
use crate::rules::Side;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::{Document, Value, quoted};
use mcpreel_wire::text::escape;

/// A final answer that is longer is not kept for the retry that it made unnecessary.
const LONGEST_KEPT: usize = 64 * 1024;

/// Rounds of a call that are answered though the recording has none there: a server that is content
/// with nothing may ask for ever.
const MOST_ROUNDS: u32 = 8;

impl Director {
    /// What an input round, then or now, means for the recorded retry. The recorded answer with the
    /// keys that its questions have now, where both ask for input.
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
            Status::Ok | Status::ToolError | Status::Task => {
                let kept = if now.len() <= LONGEST_KEPT { now } else { b"" };
                (Chain::Complete(kept.into()), None)
            }
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

    /// Answers what a round asks that is not on record, as far as the user wants that and a client
    /// can that has nothing to offer; otherwise the first one that it cannot answer.
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

    /// What the server asks in `result` has no answer, so that the rest of the chain has to stay away.
    fn tell_unanswered(&mut self, question: &Unexpected, result: Value<'_>) {
        let asked = result.get("inputRequests");
        if let Some(request) = asked.and_then(|asked| asked.get(&question.key)) {
            let question = unexpected(&question.method, None, request);
            self.judge.question(&question, Class::Changed);
        }
    }

    /// The server may ask for a round of input where the recorded one had none: then it is answered
    /// as far as that can be, and the answer of the call is still to come. The call, where it is not.
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

    /// Sends a request once more, as the retry of this round. Whether that could be done.
    pub(super) fn send_again(
        &mut self,
        exchange: &Exchange,
        round: &Round,
        scene: &mut Scene<'_>,
    ) -> bool {
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

    /// A round was answered that the recording has not.
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

    /// A recorded retry is not needed: what came of it then stands for the answer that came at once.
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
