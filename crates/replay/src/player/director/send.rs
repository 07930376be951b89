//! What goes out for a frame of the client, or why nothing does.

use super::calls::{Call, Calls, Polls, Progress};
use super::skipped::Chain;
use super::{Director, Scene};
use crate::bind::{Fault, Outgoing, Role, Round, fresh_id};
use crate::judge::{List, Missing, Skip};
use crate::player::script::{Part, Step, What};
use bytes::Bytes;
use mcpreel_trace::exchange::Exchange;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::Document;
use mcpreel_wire::mcp::keys::PROGRESS_TOKEN;
use mcpreel_wire::mcp::methods::canonical;
use mcpreel_wire::message::{Body, Message, Subject};
use memchr::memmem::Finder;
use std::sync::LazyLock;

/// Built once: to build it takes as long as to search a message.
static TOKEN: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(PROGRESS_TOKEN));

pub(super) enum Held {
    Unwanted,
    Why(Missing),
    Fault(Fault),
}

impl Director {
    /// Sends a frame of the client, or says why not.
    pub(super) fn send(&mut self, step: Step, scene: &mut Scene<'_>) {
        self.notices.active(step.head.t_last);
        self.give_tokens(&step);
        let prepared = if scene.past.leaves_out(step.head.seq) {
            Err(Held::Unwanted)
        } else {
            self.prepared(&step, scene)
        };
        match prepared {
            Ok(()) => {
                self.listen(&step, scene.now);
                self.sent(step, scene);
            }
            Err(held) => self.hold_back(&step, &held, scene),
        }
    }

    /// Puts what goes out for a frame into the output.
    fn prepared(&mut self, step: &Step, scene: &mut Scene<'_>) -> Result<(), Held> {
        let too_long = || Held::Why(Missing::Skipped(Skip::Unreached("it is too long".into())));
        let raw = step.raw.as_deref().ok_or_else(too_long)?;
        let parts = step.parts.iter();
        let allowed: Result<Vec<_>, _> = parts.map(|part| self.allowed(part, scene)).collect();
        let allowed = allowed?;
        let outgoing = step.parts.iter().zip(&allowed);
        let outgoing: Vec<_> = outgoing
            .map(|(part, (round, live_id))| Outgoing {
                part: part.part,
                role: match &part.what {
                    What::Asks(exchange) => Role::Request {
                        method: &exchange.method,
                        name: exchange.name.as_deref(),
                        round: round.as_ref(),
                    },
                    What::Tells(message) => Role::Notification(method_of(message)),
                    _ => live_id
                        .as_deref()
                        .map_or(Role::Notification(""), Role::Answer),
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

    /// Whether a message may be sent; the round that it answers, if it is a retry, and the id of the
    /// request that it answers.
    fn allowed(
        &mut self,
        part: &Part,
        scene: &mut Scene<'_>,
    ) -> Result<(Option<Round>, Option<Box<str>>), Held> {
        match &part.what {
            What::Asks(exchange) => Ok((self.may_ask(exchange, scene)?, None)),
            What::Tells(message) => self.may_tell(message).map(|()| (None, None)),
            // What was not asked cannot be answered.
            What::Answers(id) => {
                let live = self.asks.live_id(*id).ok_or(Held::Unwanted)?;
                Ok((None, Some(live)))
            }
            What::Other => Ok((None, None)),
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
        let unreached = |why: &str| Held::Why(Missing::Skipped(Skip::Unreached(why.into())));
        match self.skipped.chain(first) {
            Some(Chain::Asks(round)) => Ok(Some(round.clone())),
            Some(Chain::Complete(_)) => Err(Held::Why(Missing::Skipped(Skip::NotNeeded))),
            Some(Chain::Broken(why)) => Err(unreached(why)),
            None => Err(unreached("the request that it repeats")),
        }
    }

    /// Whether a notification may be sent: nothing is cancelled that was not begun.
    fn may_tell(&self, message: &Message) -> Result<(), Held> {
        match &message.body {
            Body::Notification(notification) => match &notification.subject {
                Subject::Cancelled {
                    request_id: Some(id),
                } if self.skipped.has_id(id) => Err(Held::Unwanted),
                _ => Ok(()),
            },
            _ => Ok(()),
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
                What::Answers(id) => self.asks.answered(id),
                What::Other => {}
            }
        }
    }

    /// What is told of the requests in a frame is told by these tokens, whether they are sent or not.
    fn give_tokens(&mut self, step: &Step) {
        let raw = step.raw.as_deref().unwrap_or_default();
        if TOKEN.find(raw).is_none() {
            return;
        }
        let asks = |part: &&Part| matches!(part.what, What::Asks(_));
        for part in step.parts.iter().filter(asks) {
            if let Some(token) = progress_token(raw, part.part) {
                if self.options.binder.fresh_ids {
                    self.tokens.give(fresh_id(&token));
                }
                self.tokens.give(token);
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
        let Body::Notification(notification) = &message.body else {
            return;
        };
        self.tally.last_method = (*notification.method).into();
        if let Subject::Cancelled {
            request_id: Some(id),
        } = &notification.subject
        {
            let id = if self.options.binder.fresh_ids {
                fresh_id(id)
            } else {
                id.clone()
            };
            self.calls.cancel(&id);
        }
    }
}

/// The request for a page of a list, `None` for any other one: it says whether the list begins anew.
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

/// The progress token that a request gives.
fn progress_token(raw: &[u8], part: u32) -> Option<RequestId> {
    let document = Document::parse(raw).ok()?;
    let root = document.root();
    let message = if root.is_object() {
        root
    } else {
        root.index(part as usize)?
    };
    let token = message.get("params")?.get("_meta")?.get(PROGRESS_TOKEN)?;
    Some(RequestId::from_value(token))
}
