//! What goes out for a frame of the client, or why nothing does, and what that means for later
//! frames.

use super::calls::{Call, Chain, lacks, patience};
use super::director::{Director, cancelled};
use super::script::{Step, What};
use super::stages::Stop;
use crate::bind::{About, Role, Round, fresh_id};
use crate::diff::{List, Outcome, Trouble};
use bytes::Bytes;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_wire::id::RequestId;
use mcpreel_wire::mcp::methods::canonical;

/// Why a frame does not go out; `None`: the user does not want it.
type Held = Option<Outcome>;

impl Director<'_> {
    /// Sends a frame of the client, or says why not.
    pub(super) fn send(&mut self, step: Step) {
        self.notices.last_activity = Some(step.head.t_last);
        let bytes = match self.prepare(&step) {
            Ok(bytes) => bytes,
            Err(held) => return self.hold_back(&step, held),
        };
        self.action.send.extend_from_slice(&bytes);
        match step.what {
            What::Asks(exchange) => {
                let id = exchange.rpc_id.clone();
                self.skipped.sent(&id);
                self.tally.sent += 1;
                self.tally.last_method.clone_from(&exchange.method);
                let patience = patience(&exchange, self.options.recorded_close);
                let call = Call {
                    deadline: patience.map(|patience| self.now + patience),
                    cancelled_after: self.script.cancelled_after(&exchange),
                    id: self.as_sent(&id),
                    exchange,
                    sent: self.now,
                    cancelled: false,
                };
                self.calls.0.insert(call.exchange.id, call);
            }
            What::Tells(notification) => {
                self.tally.last_method = canonical(&notification.method).into();
                if let Some(id) = cancelled(&notification) {
                    self.calls.cancel(&self.as_sent(id));
                }
            }
            _ => {}
        }
    }

    /// The bytes that go out for a frame.
    fn prepare(&mut self, step: &Step) -> Result<Vec<u8>, Held> {
        if self.script.leaves_out(step.head.seq) {
            return Err(None);
        }
        let raw = step.raw.as_deref();
        let raw = raw.ok_or_else(|| Some(unreached("it is too long")))?;
        let round;
        let role = match &step.what {
            What::Asks(exchange) => {
                round = self.may_ask(exchange)?;
                Role::Request {
                    method: &exchange.method,
                    name: exchange.name.as_deref(),
                    round: round.as_ref(),
                }
            }
            What::Tells(notification) => match cancelled(notification) {
                // Nothing is cancelled that was not begun, or was answered in time.
                Some(id) if self.skipped.ids.contains(id) => return Err(None),
                _ => Role::Notification(canonical(&notification.method)),
            },
            What::Batch(_) => return Err(Some(unreached("it is a batch"))),
            What::Answers(_) | What::Stray(_) | What::Noise => Role::Notification(""),
        };
        let bytes = self.options.binder.prepare(step.head.seq, raw, role);
        let bytes = bytes.map_err(|fault| Some(lacks(fault)))?.into_owned();
        match self.options.guard.refuses(&bytes) {
            Some(why) => Err(Some(Outcome::Refused(why.into()))),
            None => Ok(bytes),
        }
    }

    /// Whether a request may be sent; the round that it answers, if it is a retry.
    fn may_ask(&mut self, exchange: &Exchange) -> Result<Option<Round>, Held> {
        if !self.script.is_wanted(exchange) {
            return Err(None);
        }
        let tool = exchange.name.as_deref().unwrap_or_default();
        if &*exchange.method == "tools/call"
            && let Some(why) = self.options.guard.refusal(tool)
        {
            return Err(Some(Outcome::Refused(why.into())));
        }
        let Some(first) = exchange.chain.filter(|_| exchange.is_retry()) else {
            return Ok(None);
        };
        Err(Some(match self.skipped.chains.get(&first) {
            Some(Chain::Asks(round)) => return Ok(Some(round.clone())),
            Some(Chain::Complete(_)) => Outcome::NotNeeded,
            Some(Chain::Broken(why)) => unreached(why),
            None => unreached("the request that it repeats"),
        }))
    }

    /// An id of the recorded client as the server knows it.
    pub(super) fn as_sent(&self, id: &RequestId) -> RequestId {
        if self.options.binder.fresh_ids {
            fresh_id(id)
        } else {
            id.clone()
        }
    }

    /// A frame does not go out: what that means for the requests in it.
    fn hold_back(&mut self, step: &Step, held: Held) {
        match (&step.what, held) {
            (What::Asks(exchange), held) => self.hold_back_request(exchange, held),
            (What::Batch(exchanges), held) => {
                for exchange in exchanges {
                    self.hold_back_request(exchange, held.clone());
                }
            }
            (_, Some(Outcome::Refused(why))) => {
                let why = format!("#{}: {why}", step.head.seq.0);
                self.judge.trouble(Trouble::Refused, why.into());
            }
            (_, Some(Outcome::Redacted(names))) => {
                self.judge.lacks(&names, false);
            }
            _ => {}
        }
    }

    fn hold_back_request(&mut self, exchange: &Exchange, held: Held) {
        self.skipped.add(exchange);
        if &*exchange.method == "initialize" {
            // Nothing that comes after it would mean anything.
            self.stop(Stop::End, self.now);
        }
        let answer = exchange.response.and_then(|at| self.script.message(at));
        let answer = answer.as_deref();
        if held == Some(Outcome::NotNeeded) {
            self.tally.not_needed += 1;
            self.bind_to_complete(exchange, answer);
        } else {
            self.forget(exchange, answer);
        }
        let Some(why) = held else {
            self.tally.unwanted += 1;
            return self.judge.unwanted();
        };
        match &why {
            Outcome::Refused(_) => {
                let tool = exchange.name.as_deref().unwrap_or_default();
                let refused = &mut self.tally.refused;
                refused.add(|| (exchange.request.0, tool.into()));
            }
            Outcome::Redacted(names) => self.judge.lacks(names, true),
            _ => {}
        }
        // What was on a page of a list that is gone may be on another page.
        let page = self.listing(exchange);
        let mut left = self.recorded(exchange, answer.filter(|_| page.is_some()));
        left.request = page.as_deref();
        self.judge.missing(&left, why);
    }

    /// Forgets what would have come of a request that is not sent.
    fn forget(&mut self, exchange: &Exchange, answer: Option<&[u8]>) {
        if let Some(first) = exchange.chain {
            let why = "the round of input before it was not gone through";
            let broken = Chain::Broken(why.into());
            self.skipped.chains.insert(first, broken);
        }
        if let (Some(answer), Some(request)) = (answer, self.script.raw(exchange.request.0)) {
            let is_known = |text: &str| memchr::memmem::find(&request, text.as_bytes()).is_some();
            self.options
                .binder
                .lose(About::of(exchange), answer, is_known);
        }
    }

    /// Binds what came of a recorded retry that is not needed to the answer that came at once.
    fn bind_to_complete(&mut self, exchange: &Exchange, then: Option<&[u8]>) {
        let chain = exchange.chain.and_then(|it| self.skipped.chains.get(&it));
        if let (Some(Chain::Complete(now)), Some(then)) = (chain.cloned(), then)
            && exchange.status != Status::InputRequired
        {
            self.learn(exchange, then, &now);
        }
    }

    /// The request for a page of a list, `None` for other requests: it says whether the list begins
    /// anew.
    pub(super) fn listing(&mut self, exchange: &Exchange) -> Option<Bytes> {
        List::of(&exchange.method)?;
        self.script.raw(exchange.request.0)
    }
}

fn unreached(why: &str) -> Outcome {
    Outcome::Unreached(why.into())
}
