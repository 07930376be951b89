//! What a line of the host holds, which recorded request a live one stands for, and what it gets.

use super::OnMiss;
use super::client::Phase;
use super::faults::Effect;
use super::index::{Outcome, Trigger};
use super::matcher::{Near, Nearest, Reason, Tier, nearest};
use super::mock_report::{Missed, Subject};
use super::params::{Texts, Wanted, digest};
use super::reel::{Place, Said};
use super::server::{
    Action, Answer, Ended, INTERNAL_ERROR, Live, MOST_OPEN, STATE_PREFIX, Server, Then, error,
};
use crate::lines::Line;
use mcpreel_trace::clock::Moment;
use mcpreel_wire::json::{Value, follow};
use mcpreel_wire::mcp::{keys, methods};
use mcpreel_wire::message::{
    Body, Content, InputRound, Lines, Message, Notification, Problem, Request, Subject as About,
};
use serde_json::json;
use std::collections::VecDeque;
use std::time::Duration;

const PARSE_ERROR: &str = "-32700";
const INVALID_REQUEST: &str = "-32600";
const METHOD_NOT_FOUND: &str = "-32601";
const INVALID_PARAMS: &str = "-32602";

/// The request is not on record: in the range that implementations may use.
const NOT_ON_RECORD: &str = "-32000";

/// A live request that is being answered.
struct Asking<'a> {
    wanted: Wanted,
    live: Live,
    retry: Option<&'a InputRound>,
    now: Moment,
    /// How much later than otherwise the answer comes.
    delay: Duration,
}

/// What a request gets.
enum Found {
    /// What an entry got, and whether that was used before.
    Entry(u32, bool),
    /// An answer of our own.
    Own(Vec<u8>),
    Nothing(Reason),
}

/// Lines.
impl Server {
    /// Takes a line of the host, its end included.
    pub fn line(&mut self, line: Line<'_>, now: Moment) {
        let Line::Whole(line) = line else {
            return self.invalid("the line is longer than is read");
        };
        let mut classifier = std::mem::take(&mut self.classifier);
        let (content, root) = classifier.read(line, Lines::OfProgress);
        self.content(&content, root, line, now);
        classifier.give_back();
        self.classifier = classifier;
    }

    fn content(&mut self, content: &Content, root: Option<Value<'_>>, line: &[u8], now: Moment) {
        let is_parse_error = |problem: &Problem| {
            matches!(problem, Problem::NotJson { .. } | Problem::TooDeep { .. })
        };
        match content.messages.as_slice() {
            _ if content.batch => self.invalid("batches are not served"),
            [message] => match &message.body {
                Body::Request(request) => {
                    let text = line.get(message.span.clone()).unwrap_or_default();
                    self.request(request, message, (text, root), now);
                }
                Body::Notification(notification) => self.notified(notification, now),
                Body::Response(response) => self.answered(response.id.as_ref(), now),
                Body::Invalid => self.invalid("neither a request nor a notification"),
            },
            _ if content.problems.iter().any(is_parse_error) => {
                self.tally.malformed += 1;
                self.write(Said::own(error(None, PARSE_ERROR, "Parse error", None)));
            }
            _ if content.problems.contains(&Problem::Blank) => {}
            _ => self.invalid("no request"),
        }
    }

    fn invalid(&mut self, why: &str) {
        self.tally.malformed += 1;
        let message = format!("Invalid Request: {why}");
        self.write(Said::own(error(None, INVALID_REQUEST, &message, None)));
    }

    fn notified(&mut self, notification: &Notification, now: Moment) {
        if methods::canonical(&notification.method) == "notifications/initialized" {
            self.client.phase = Phase::Ready;
        }
        if let About::Cancelled {
            request_id: Some(id),
        } = &notification.subject
        {
            self.cancel(id);
        }
        let waiting = self.notices.get_mut(&digest(&notification.method, ""));
        if let Some(number) = waiting.and_then(VecDeque::pop_front) {
            let anchor = self.index.notices.get(number as usize);
            let anchor = anchor.map(|notice| notice.place);
            self.play_after(Trigger::Notified(number), None, anchor, now);
        }
    }
}

/// Requests.
impl Server {
    fn request(
        &mut self,
        request: &Request,
        message: &Message,
        (text, root): (&[u8], Option<Value<'_>>),
        now: Moment,
    ) {
        self.tally.requests += 1;
        if !request.id.is_allowed() {
            return self.invalid("the id of a request is a string or a number");
        }
        let refusal = match root {
            None => Some((INVALID_REQUEST, "Invalid Request: nested too deeply")),
            _ if self.plays.len() < MOST_OPEN => None,
            _ => Some((INTERNAL_ERROR, "too many requests are open")),
        };
        if let Some((code, why)) = refusal {
            return self.write(Said::own(error(Some(&request.id), code, why, None)));
        }
        let params = root.and_then(|root| root.get("params"));
        let identity = message.meta.identity.as_deref();
        let level = params.and_then(|params| follow(params, &["_meta", keys::LOG_LEVEL]));
        let (name, rules) = (request.name.as_deref(), &self.options.rules);
        let mut asking = Asking {
            wanted: Wanted::new(&request.method, name, params, rules),
            live: Live {
                id: request.id.clone(),
                token: message.meta.progress_token.clone(),
                wants_log: level.is_some(),
                modern: identity.is_some_and(|identity| identity.protocol_version.is_some()),
            },
            retry: request.retry.as_ref(),
            now,
            delay: Duration::ZERO,
        };
        if &*request.method == "initialize" {
            self.client.initializes(request.identity.as_deref());
        } else if asking.live.modern {
            self.client.phase = Phase::Ready;
        }
        match self.fault(&asking, text) {
            Some(Effect::Delay(delay)) => {
                self.tally.faults += 1;
                asking.delay = delay;
            }
            None => {}
            Some(effect) => return self.fail(effect, &asking),
        }
        match self.found(&asking) {
            Found::Entry(entry, repeats) => self.serve((entry, repeats), asking, None),
            Found::Own(answer) => self.play_own(answer, asking.delay, now),
            Found::Nothing(reason) => self.miss(asking, reason),
        }
    }

    /// The effect of the first fault that fits a request.
    fn fault(&self, asking: &Asking<'_>, bytes: &[u8]) -> Option<Effect> {
        let mut faults = self.options.faults.iter();
        let fault = faults.find(|fault| fault.fits(bytes, asking.now))?;
        Some(fault.effect.clone())
    }

    /// A request goes wrong on purpose. The recorded request that it stands for counts as used.
    fn fail(&mut self, effect: Effect, asking: &Asking<'_>) {
        self.tally.faults += 1;
        if let Ok(found) = self.matcher.find(&self.index, &asking.wanted) {
            self.take_entry(found.entry);
        }
        match effect {
            Effect::Error { code, message } => {
                let error = error(Some(&asking.live.id), &code, &message, None);
                self.play_own(error, Duration::ZERO, asking.now);
            }
            Effect::Crash => self.act(Action::End(Ended::Crash)),
            Effect::Drop | Effect::Delay(_) => {}
        }
    }

    fn found(&mut self, asking: &Asking<'_>) -> Found {
        let (wanted, id) = (&asking.wanted, &asking.live.id);
        let unknown_state = || {
            let message = "this requestState was not given for this request";
            Found::Own(error(Some(id), INVALID_PARAMS, message, None))
        };
        let state = asking.retry.and_then(|retry| retry.state.as_deref());
        if let Some(retry) = asking.retry {
            let before = match state {
                Some(state) => self.round_of(state),
                None => self.rounds.take(wanted.name_digest(), &retry.keys),
            };
            match before {
                Some(entry) if self.index.entry(entry).name == wanted.name_digest() => {
                    return self.next_round(entry);
                }
                Some(_) => return unknown_state(),
                None if state.is_some_and(|state| state.starts_with(STATE_PREFIX)) => {
                    return unknown_state();
                }
                // The recorded client may have gone on from something that is not on record.
                None => {}
            }
        }
        match self.matcher.find(&self.index, wanted) {
            Ok(found) => {
                self.tally.normalised += u64::from(found.tier == Tier::Normalised);
                Found::Entry(found.entry, found.repeats)
            }
            Err(_) if state.is_some() => unknown_state(),
            // Hosts ping at any time.
            Err(_) if &*wanted.method == "ping" => {
                let id = id.json();
                Found::Own(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#).into_bytes())
            }
            // Hosts of both eras try these, and go on with the other one after this error.
            Err(Reason::Method) if matches!(&*wanted.method, "server/discover" | "initialize") => {
                let message = format!("Method not found: the recording has no {}", wanted.method);
                Found::Own(error(Some(id), METHOD_NOT_FOUND, &message, None))
            }
            Err(reason) => Found::Nothing(reason),
        }
    }

    /// The entry whose answer our `state` was in.
    fn round_of(&self, state: &str) -> Option<u32> {
        let place = Place::parse(state.strip_prefix(STATE_PREFIX)?)?;
        let entry = self.index.at(place)?;
        (self.index.entry(entry).outcome == Outcome::Input).then_some(entry)
    }

    /// The recorded round after the one of the entry `before`.
    fn next_round(&self, before: u32) -> Found {
        let Some(next) = self.index.next_round(before) else {
            return Found::Nothing(Reason::Round);
        };
        match self.matcher.is_used(next) {
            true if self.options.once => Found::Nothing(Reason::Used),
            used => Found::Entry(next, used),
        }
    }

    fn take_entry(&mut self, entry: u32) {
        if self.matcher.take(&self.index, entry) {
            let seq = self.index.entry(entry).request.seq();
            self.tally.out_of_order.add(|| seq);
        }
    }

    /// Gives a request what the entry got.
    fn serve(&mut self, (entry, repeats): (u32, bool), asking: Asking<'_>, mark: Option<Near>) {
        self.take_entry(entry);
        self.tally.served += 1;
        self.tally.repeated += u64::from(repeats);
        let found = self.index.entry(entry);
        let then = match (found.outcome, found.response) {
            (Outcome::Answer | Outcome::Input, Some(place)) => Then::Answer(Answer {
                entry,
                place,
                delay: asking.delay,
                mark,
            }),
            (Outcome::Death, _) => Then::Die,
            _ => Then::Nothing,
        };
        self.play_request((entry, repeats), asking.live, then, asking.now);
    }

    /// A request stands for nothing on record.
    fn miss(&mut self, asking: Asking<'_>, reason: Reason) {
        let (wanted, rules) = (&asking.wanted, &self.options.rules);
        let cursor = self.matcher.cursor();
        let nearest = nearest(&self.index, wanted, cursor, rules, |entry| {
            let said = self.reel.said(self.index.entry(entry).request).ok()?;
            Some(Texts::of_recorded(&said.message, rules)?.exact)
        });
        let first = nearest.near.first();
        let missed = Missed {
            subject: Subject::new(&wanted.method, wanted.name.as_deref()),
            reason,
            nearest: first.map(|near| {
                let seq = self.index.entry(near.entry).request.seq();
                (seq, near.paths.clone())
            }),
        };
        if self.options.on_miss == OnMiss::Nearest
            && let Some(near) = first.filter(|_| nearest.same_name).cloned()
        {
            self.tally.near.add(|| missed);
            let repeats = self.matcher.is_used(near.entry);
            return self.serve((near.entry, repeats), asking, Some(near));
        }
        if self.options.on_miss != OnMiss::Hang {
            let error = self.not_on_record(&asking.live, &missed, &nearest);
            self.play_own(error, asking.delay, asking.now);
        }
        if self.options.on_miss == OnMiss::Exit {
            self.act(Action::End(Ended::Missed));
        }
        self.tally.missed.add(|| missed);
    }

    fn not_on_record(&self, live: &Live, missed: &Missed, nearest: &Nearest) -> Vec<u8> {
        let named: Vec<_> = nearest.near.iter().map(|near| self.named(near)).collect();
        let data = json!({
            "reason": missed.reason.as_str(),
            "phase": self.client.phase.as_str(),
            "candidates": nearest.candidates,
            "nearest": named,
        });
        let message = missed.sentence(&self.index.recording);
        error(Some(&live.id), NOT_ON_RECORD, &message, Some(data))
    }
}
