//! Which recorded request a live one stands for, and what it gets.

use super::client::{self, Phase};
use super::play::{Answer, Live, Then};
use super::rounds::Retry;
use super::{Action, Ended, Server, own};
use crate::mock::faults::{self, Effect};
use crate::mock::index::Outcome;
use crate::mock::matcher::{Match, Reason, Tier};
use crate::mock::nearest::Near;
use crate::mock::reel::{Reel, Said};
use crate::mock::wanted::{Texts, Wanted};
use mcpreel_trace::clock::Moment;
use mcpreel_wire::json::{Value, follow};
use mcpreel_wire::mcp::keys;
use mcpreel_wire::message::{Era, Message, Request};
use std::time::Duration;

/// A live request that is being answered.
#[derive(Clone, Copy)]
pub struct Serving<'a> {
    pub message: &'a [u8],
    /// Whether it was read as a whole.
    pub is_read: bool,
    pub params: Option<Value<'a>>,
    pub batch: Option<u64>,
    /// How much later than otherwise its answer comes.
    pub delay: Duration,
}

impl<R: Reel> Server<R> {
    pub(super) fn request(
        &mut self,
        request: &Request,
        message: &Message,
        mut serving: Serving<'_>,
        now: Moment,
    ) {
        self.tally.requests += 1;
        if !request.id.is_allowed() {
            let text = "the id of a request is a string or a number";
            return self.invalid(text, serving.batch);
        }
        if let Some((code, why)) = self.unable(serving) {
            let error = own::error(Some(&request.id), &code.to_string(), why, None);
            return self.respond(Said::own(error), serving.batch);
        }
        let live = live(request, message, serving.params);
        let wanted = Wanted::new(
            &request.method,
            request.name.as_deref(),
            serving.params,
            &self.options.rules,
        );
        if &*request.method == "initialize" {
            self.client
                .initializes(request.identity.as_deref(), serving.message);
        } else if live.modern {
            self.client.phase = Phase::Ready;
        }
        match self.fault(&wanted, &live, serving, now) {
            Some(Effect::Delay(delay)) => {
                self.tally.faults += 1;
                serving.delay = delay;
            }
            None => {}
            Some(effect) => return self.fail(effect, &wanted, live, serving, now),
        }
        if let Some(refusal) = self.refusal(&wanted, &live, request, message) {
            return self.play_own(live, refusal, (serving.delay, serving.batch), now);
        }
        match self.found(&wanted, request) {
            Found::Entry(entry, repeats) => {
                self.serve((entry, repeats), &wanted, live, None, serving, now);
            }
            Found::Own(answer) => {
                self.play_own(live, answer, (serving.delay, serving.batch), now);
            }
            Found::Nothing(reason) => self.miss(&wanted, live, reason, serving, now),
        }
    }

    /// Why a request is not even looked at.
    fn unable(&self, serving: Serving<'_>) -> Option<(i64, &'static str)> {
        if !serving.is_read {
            Some((own::INVALID_REQUEST, "Invalid Request: nested too deeply"))
        } else if self.is_full() {
            Some((own::INTERNAL_ERROR, "too many requests are open"))
        } else {
            None
        }
    }

    /// The fault that is meant for a request.
    fn fault(
        &self,
        wanted: &Wanted,
        live: &Live,
        serving: Serving<'_>,
        now: Moment,
    ) -> Option<Effect> {
        let asked = faults::Asked {
            method: &wanted.method,
            name: wanted.name.as_deref(),
            id: &live.id,
            era: if live.modern {
                Era::Modern
            } else {
                Era::Legacy
            },
            bytes: serving.message,
            in_batch: serving.batch.is_some(),
            now,
        };
        let mut faults = self.options.faults.iter();
        let fault = faults.find(|fault| fault.fits(&asked))?;
        Some(fault.effect.clone())
    }

    /// A request goes wrong on purpose. What it stands for counts as used: it was asked for.
    fn fail(
        &mut self,
        effect: Effect,
        wanted: &Wanted,
        live: Live,
        serving: Serving<'_>,
        now: Moment,
    ) {
        self.tally.faults += 1;
        if let Ok(Match { entry, .. }) = self.matched(wanted) {
            self.take_entry(entry);
        }
        match effect {
            Effect::Error { code, message } => {
                let error = own::error(Some(&live.id), &code, &message, None);
                self.play_own(live, error, (Duration::ZERO, serving.batch), now);
            }
            Effect::Crash => self.act(Action::End(Ended::Crash)),
            Effect::Drop | Effect::Delay(_) => self.say_nothing(serving.batch),
        }
    }

    fn found(&mut self, wanted: &Wanted, request: &Request) -> Found {
        if let Some(retry) = &request.retry {
            match self.retried(wanted, retry) {
                Retry::To(entry, repeats) => return Found::Entry(entry, repeats),
                Retry::Missed(reason) => return Found::Nothing(reason),
                Retry::Unknown => return Found::Own(unknown_state(request)),
                Retry::Fresh => {}
            }
        }
        match self.matched(wanted) {
            Ok(found) => {
                if found.tier == Tier::Normalised {
                    self.taken_for(wanted, found.entry);
                }
                Found::Entry(found.entry, found.repeats)
            }
            Err(_)
                if request
                    .retry
                    .as_ref()
                    .is_some_and(|retry| retry.state.is_some()) =>
            {
                Found::Own(unknown_state(request))
            }
            // Hosts ask this at any time.
            Err(_) if &*wanted.method == "ping" && self.index.legacy => {
                Found::Own(own::empty(&request.id))
            }
            Err(reason) => Found::Nothing(reason),
        }
    }

    fn matched(&mut self, wanted: &Wanted) -> Result<Match, Reason> {
        let (index, reel, rules) = (&self.index, &mut self.reel, &self.options.rules);
        self.matcher.find(index, wanted, |entry, tier| {
            if &*wanted.method == "initialize" {
                return true;
            }
            let said = reel.said(index.entry(entry).request).ok();
            let texts = said.and_then(|said| Texts::of_recorded(&said.message, rules));
            texts.is_some_and(|texts| match tier {
                Tier::Exact => texts.exact == wanted.texts.exact,
                Tier::Normalised => texts.normalised == wanted.texts.normalised,
            })
        })
    }

    pub(super) fn take_entry(&mut self, entry: u32) {
        let out_of_order = self.matcher.take(&self.index, entry);
        if out_of_order {
            self.tally
                .came_out_of_order(self.index.entry(entry).request.seq());
        }
    }

    /// A request gets what the entry got.
    pub(super) fn serve(
        &mut self,
        (entry, repeats): (u32, bool),
        wanted: &Wanted,
        live: Live,
        mark: Option<Near>,
        serving: Serving<'_>,
        now: Moment,
    ) {
        self.take_entry(entry);
        self.tally.served += 1;
        self.tally.repeated += u64::from(repeats);
        let found = *self.index.entry(entry);
        let answer = |place| Answer {
            entry,
            place,
            delay: serving.delay,
            batch: serving.batch,
            mark,
        };
        let then = match (found.outcome, found.response) {
            (Outcome::Answer | Outcome::Input | Outcome::Late, Some(place)) => {
                Then::Answer(answer(place))
            }
            (Outcome::Death, _) => Then::Die,
            _ => {
                self.say_nothing(serving.batch);
                Then::Nothing
            }
        };
        if matches!(then, Then::Answer(_)) {
            self.client.was_served(&wanted.method, serving.params);
        }
        self.play_request((entry, repeats), live, then, now);
    }
}

enum Found {
    /// An entry, and whether it was used before.
    Entry(u32, bool),
    Own(Vec<u8>),
    Nothing(Reason),
}

fn unknown_state(request: &Request) -> Vec<u8> {
    let code = own::INVALID_PARAMS.to_string();
    let message = "this requestState was not given for this request";
    own::error(Some(&request.id), &code, message, None)
}

fn live(request: &Request, message: &Message, params: Option<Value<'_>>) -> Live {
    let identity = message.meta.identity.as_deref();
    let level = params.and_then(|params| follow(params, &["_meta", keys::LOG_LEVEL]));
    Live {
        id: request.id.clone(),
        token: message.meta.progress_token.clone(),
        level: level.and_then(|level| client::level_of(&level.as_str()?)),
        modern: identity.is_some_and(|identity| identity.protocol_version.is_some()),
    }
}
