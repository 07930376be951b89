//! What goes out for a frame of the client, or why nothing does, and what that means for later
//! frames.

use super::answers::{about, message_at, recorded};
use super::calls::{Call, Calls, Chain, Polls, Progress};
use super::director::{Director, Scene};
use super::ending::Stop;
use super::script::{Part, Step, What};
use crate::bind::{Fault, Outgoing, Role, Round, fresh_id};
use crate::diff::{List, Missing, Skip, Trouble};
use bytes::Bytes;
use mcpreel_trace::exchange::Exchange;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::Document;
use mcpreel_wire::mcp::keys::PROGRESS_TOKEN;
use mcpreel_wire::mcp::methods::canonical;
use mcpreel_wire::message::{Body, Message, Subject};
use mcpreel_wire::text::escape;
use memchr::memmem::Finder;
use std::sync::LazyLock;

/// Built once: to build it takes as long as to search a message.
static TOKEN: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(PROGRESS_TOKEN));

/// Why a frame does not go out.
enum Held {
    Unwanted,
    Why(Missing),
    Fault(Fault),
}

impl Held {
    fn unreached(why: &str) -> Self {
        Self::Why(Missing::Skipped(Skip::Unreached(why.into())))
    }
}

impl Director {
    /// Sends a frame of the client, or says why not.
    pub(super) fn send(&mut self, step: Step, scene: &mut Scene<'_>) {
        self.notices.active(step.head.t_last);
        let prepared = if scene.past.leaves_out(step.head.seq) {
            Err(Held::Unwanted)
        } else {
            self.prepare(&step, scene)
        };
        match prepared {
            Ok(()) => self.sent(step, scene),
            Err(held) => self.hold_back(&step, &held, scene),
        }
    }

    /// Puts what goes out for a frame into the output.
    fn prepare(&mut self, step: &Step, scene: &mut Scene<'_>) -> Result<(), Held> {
        let raw = step.raw.as_deref();
        let raw = raw.ok_or_else(|| Held::unreached("it is too long"))?;
        let parts = step.parts.iter();
        let allowed: Result<Vec<_>, _> = parts.map(|part| self.allowed(part, scene)).collect();
        let allowed = allowed?;
        let outgoing = step.parts.iter().zip(&allowed);
        let outgoing: Vec<_> = outgoing
            .map(|(part, allowed)| Outgoing {
                part: part.part,
                role: match (&part.what, allowed) {
                    (What::Asks(exchange), allowed) => Role::Request {
                        method: &exchange.method,
                        name: exchange.name.as_deref(),
                        round: match allowed {
                            Allowed::Retry(round) => Some(round),
                            _ => None,
                        },
                    },
                    (What::Tells(message), _) => Role::Notification(method_of(message)),
                    (_, Allowed::Answer(live_id)) => Role::Answer(live_id),
                    _ => Role::Notification(""),
                },
            })
            .collect();
        let binder = &mut self.options.binder;
        let bytes = binder.prepare(step.head.seq, raw, &outgoing);
        let bytes = bytes.map_err(Held::Fault)?;
        if let Some(why) = self.options.guard.refuses(&bytes) {
            return Err(Held::Why(Missing::Refused(why.into())));
        }
        self.action.send.extend_from_slice(&bytes);
        Ok(())
    }

    /// Whether a message may be sent, and as what.
    fn allowed(&mut self, part: &Part, scene: &mut Scene<'_>) -> Result<Allowed, Held> {
        match &part.what {
            What::Asks(exchange) => {
                let round = self.may_ask(exchange, scene)?;
                Ok(round.map_or(Allowed::Plain, Allowed::Retry))
            }
            // Nothing is cancelled that was not begun.
            What::Tells(message) => match cancelled(message) {
                Some(id) if self.skipped.has_id(id) => Err(Held::Unwanted),
                _ => Ok(Allowed::Plain),
            },
            // What was not asked cannot be answered.
            What::Answers(id) => {
                let live = self.questions.live_id(*id).ok_or(Held::Unwanted)?;
                Ok(Allowed::Answer(live))
            }
            What::Other => Ok(Allowed::Plain),
        }
    }

    /// Whether a request may be sent; the round that it answers, if it is a retry.
    fn may_ask(
        &mut self,
        exchange: &Exchange,
        scene: &mut Scene<'_>,
    ) -> Result<Option<Round>, Held> {
        if !scene.past.is_wanted(exchange) {
            return Err(Held::Unwanted);
        }
        let tool = exchange.name.as_deref().unwrap_or_default();
        if &*exchange.method == "tools/call"
            && let Some(why) = self.options.guard.refusal(tool)
        {
            return Err(Held::Why(Missing::Refused(why.into())));
        }
        let Some(first) = exchange.chain.filter(|_| exchange.is_retry()) else {
            return Ok(None);
        };
        match self.skipped.chain(first) {
            Some(Chain::Asks(round)) => Ok(Some(round.clone())),
            Some(Chain::Complete(_)) => Err(Held::Why(Missing::Skipped(Skip::NotNeeded))),
            Some(Chain::Broken(why)) => Err(Held::unreached(why)),
            None => Err(Held::unreached("the request that it repeats")),
        }
    }

    fn sent(&mut self, step: Step, scene: &Scene<'_>) {
        let raw = step.raw.as_deref().unwrap_or_default();
        let has_token = TOKEN.find(raw).is_some();
        for part in step.parts {
            match part.what {
                What::Asks(exchange) => {
                    let token = has_token.then(|| progress_token(raw, part.part)).flatten();
                    self.called(exchange, token, scene);
                }
                What::Tells(message) => self.told(&message),
                What::Answers(id) => self.questions.answered(id),
                What::Other => {}
            }
        }
    }

    fn called(&mut self, exchange: Box<Exchange>, token: Option<RequestId>, scene: &Scene<'_>) {
        let fresh = self.options.binder.fresh_ids;
        let as_sent = |id: RequestId| if fresh { fresh_id(&id) } else { id };
        let id = as_sent(exchange.rpc_id.clone());
        self.skipped.sent(&exchange.rpc_id);
        self.tally.sent += 1;
        self.tally.last_method.clone_from(&exchange.method);
        let recorded = self.tasks.took(&exchange);
        self.calls.open(Call {
            deadline: Calls::deadline(&exchange, recorded, scene.now, self.end()),
            exchange,
            id,
            sent: scene.now,
            cancelled: false,
            more_rounds: 0,
            polls: Polls::default(),
            token: token.map(as_sent),
            progress: Progress::default(),
        });
    }

    fn told(&mut self, message: &Message) {
        self.tally.last_method = method_of(message).into();
        match cancelled(message) {
            Some(id) if self.options.binder.fresh_ids => self.calls.cancel(&fresh_id(id)),
            Some(id) => self.calls.cancel(id),
            None => {}
        }
    }

    /// A frame does not go out: what that means for each message in it.
    fn hold_back(&mut self, step: &Step, held: &Held, scene: &mut Scene<'_>) {
        if let Held::Fault(Fault::Redacted(names)) = held {
            self.tally.lack(names);
            let names: Vec<_> = names.iter().map(|name| escape(name)).collect();
            self.judge.lacks(names.iter().map(|name| &**name));
        }
        let asks = |part: &Part| matches!(part.what, What::Asks(_));
        if let Held::Why(Missing::Refused(why)) = held
            && !step.parts.iter().any(asks)
        {
            let why = format!("#{}: {why}", step.head.seq.0);
            self.judge.trouble(Trouble::Refused, why.into());
        }
        for part in &step.parts {
            match &part.what {
                What::Asks(exchange) => self.hold_back_request(exchange, held, scene),
                What::Answers(id) => self.questions.answered(*id),
                _ => {}
            }
        }
    }

    fn hold_back_request(&mut self, exchange: &Exchange, held: &Held, scene: &mut Scene<'_>) {
        let why = match held {
            Held::Unwanted => None,
            Held::Why(missing) => Some(missing.clone()),
            Held::Fault(Fault::Redacted(names)) => Some(redacted(names)),
            Held::Fault(Fault::Unreached(what)) => {
                Some(Missing::Skipped(Skip::Unreached(what.clone())))
            }
        };
        match &why {
            None => {
                self.tally.unwanted += 1;
                self.judge.unwanted();
            }
            Some(Missing::Refused(_)) => {
                let tool = exchange.name.as_deref().unwrap_or_default();
                self.tally.refuse(exchange.request.0, tool);
            }
            Some(Missing::Skipped(Skip::NotNeeded)) => self.tally.not_needed += 1,
            Some(_) => self.tally.skipped += 1,
        }
        self.skip(exchange, why.as_ref(), scene);
        if &*exchange.method == "initialize" {
            // Nothing that comes after it would mean anything.
            self.stop(Stop::End, scene.now);
        }
        if let Some(why) = why {
            let wall_ns = self.recorded_wall(exchange.t_request);
            // What was on a page of a list that is gone may be on another page.
            let page = listing(exchange, scene);
            let answer = exchange.response.filter(|_| page.is_some());
            let answer = answer.and_then(|(seq, part)| Some((scene.past.raw(seq)?, part)));
            let answer = answer
                .as_ref()
                .and_then(|(raw, part)| message_at(raw, *part));
            let mut left = recorded(exchange, wall_ns, answer);
            left.request = page.as_deref();
            self.judge.missing(&left, why);
        }
    }

    /// Forgets what would have come of a request that is not sent.
    fn skip(&mut self, exchange: &Exchange, why: Option<&Missing>, scene: &mut Scene<'_>) {
        self.skipped.add(exchange);
        if why == Some(&Missing::Skipped(Skip::NotNeeded)) {
            return self.bind_to_complete(exchange, scene);
        }
        if let Some(first) = exchange.chain {
            let why = "the round of input before it was not gone through";
            self.skipped.set_chain(first, Chain::Broken(why.into()));
        }
        let Some((seq, part)) = exchange.response else {
            return;
        };
        let request = scene.past.raw(exchange.request.0);
        if let (Some(request), Some(response)) = (request, scene.past.raw(seq))
            && let Some(response) = message_at(&response, part)
        {
            self.options.binder.lose(about(exchange), response, |text| {
                memchr::memmem::find(&request, text.as_bytes()).is_some()
            });
        }
    }
}

/// As what a message goes out.
enum Allowed {
    Plain,
    /// As the answer to this round of input.
    Retry(Round),
    /// As the answer to the live request with this id.
    Answer(Box<str>),
}

/// A message cannot be sent without values for these placeholders.
pub(super) fn redacted(names: &[Box<str>]) -> Missing {
    let names = names.iter().map(|name| escape(name).into());
    Missing::Skipped(Skip::Redacted(names.collect()))
}

/// The request for a page of a list, `None` for other requests: it says whether the list begins
/// anew.
pub(super) fn listing(exchange: &Exchange, scene: &mut Scene<'_>) -> Option<Bytes> {
    List::of(&exchange.method)?;
    scene.past.raw(exchange.request.0)
}

fn method_of(message: &Message) -> &str {
    match &message.body {
        Body::Notification(notification) => canonical(&notification.method),
        _ => "",
    }
}

/// The id of the request that a notification cancels.
fn cancelled(message: &Message) -> Option<&RequestId> {
    match &message.body {
        Body::Notification(notification) => match &notification.subject {
            Subject::Cancelled { request_id } => request_id.as_ref(),
            _ => None,
        },
        _ => None,
    }
}

/// The progress token that a request gives.
fn progress_token(raw: &[u8], part: u32) -> Option<RequestId> {
    let document = Document::parse(message_at(raw, part)?).ok()?;
    let params = document.root().get("params")?;
    let token = params.get("_meta")?.get(PROGRESS_TOKEN)?;
    Some(RequestId::from_value(token))
}
