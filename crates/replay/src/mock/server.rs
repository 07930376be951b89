//! The server: live messages and time in, actions out. It knows neither pipes nor a clock.
//!
//! ```text
//!  line ──▶ request ──▶ on record ──▶ play: steps, then the answer ──▶ say ──▶ actions
//!    │            └───▶ a miss ──▶ error, the nearest answer, or nothing
//!    ├──▶ answer to a request of ours: the play that waits for it goes on
//!    └──▶ notification: a cancel ends a play, any may be an anchor
//! ```
//!
//! The caller does all that is due ([`Server::tick`]) before it gives the next line: then the output
//! depends on the input alone.

use super::faults::{self, Effect};
use super::index::{Death, Index, Outcome, Trigger};
use super::matcher::{Match, Matcher, Near, Nearest, Reason, Texts, Tier, Wanted, digest, nearest};
use super::mock_report::{Missed, Subject, Tally};
use super::play::{Answer, Live, Play, Then};
use super::reel::{Said, Source};
use super::say::{Client, Phase, Retry, Rounds};
use super::{OnMiss, Options, Report};
use mcpreel_store::reader::ReadError;
use mcpreel_trace::clock::Moment;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::{Value, follow};
use mcpreel_wire::mcp::{keys, methods};
use mcpreel_wire::message::{
    Body, Classifier, Content, Era, Lines, Message, Notification, Problem, Request,
    Subject as About,
};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::time::Duration;

const PARSE_ERROR: &str = "-32700";
const INVALID_REQUEST: &str = "-32600";
const METHOD_NOT_FOUND: &str = "-32601";
const INVALID_PARAMS: &str = "-32602";
pub(super) const INTERNAL_ERROR: &str = "-32603";
/// The request is not on record: in the range that implementations may use.
const NOT_ON_RECORD: &str = "-32000";

/// Requests that are under way at most: a host that never takes its answers, or asks in a loop,
/// would otherwise fill the memory.
pub(super) const MOST_OPEN: usize = 10_000;

/// Bytes that are written in one go. More are read and written piece by piece, so that they are
/// not all held at once.
pub(super) const BURST: usize = 1 << 20;

/// What is to be done, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Write(Vec<u8>),
    /// Write this recorded line to stderr.
    Stderr(Vec<u8>),
    /// A remark for stderr. Not escaped.
    Say(String),
    End(Ended),
}

/// How the mock ends before its input does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    AsRecorded(Death),
    Crash,
    Missed,
}

pub struct Server {
    pub(super) reel: Source,
    pub(super) index: Index,
    pub(super) matcher: Matcher,
    pub(super) options: Options,
    classifier: Classifier,
    pub(super) client: Client,
    /// What is under way, in the order in which it began.
    pub(super) plays: BTreeMap<u64, Play>,
    pub(super) due: BTreeSet<(Moment, u64)>,
    pub(super) last_play: u64,
    /// Requests of ours that have no answer yet: the recorded request and the play, by live id.
    pub(super) asked: BTreeMap<u64, (u32, u64)>,
    pub(super) last_ask: u64,
    /// The live requests of entries for which steps still come.
    pub(super) live: HashMap<u32, Live>,
    /// Anchors that no live notification has used yet, by method.
    notices: HashMap<u64, VecDeque<u32>>,
    pub(super) rounds: Rounds,
    /// Requests of the server whose answers have come, as anchors.
    pub(super) told: BTreeSet<u32>,
    pub(super) tally: Tally,
    actions: Vec<Action>,
    /// Bytes in `actions`.
    pub(super) burst: usize,
    /// Nothing more comes in: whatever is under way is not waited for.
    pub(super) input_ended: bool,
    ended: bool,
}

/// A live request that is being answered.
#[derive(Clone, Copy)]
pub(super) struct Asking<'a> {
    message: &'a [u8],
    params: Option<Value<'a>>,
    now: Moment,
    /// How much later than otherwise the answer comes.
    delay: Duration,
}

impl Server {
    /// A server of what `index` lists, whose bodies are in `reel`.
    pub fn new(index: Index, reel: Source, options: Options) -> Self {
        let mut notices: HashMap<u64, VecDeque<u32>> = HashMap::new();
        for (notice, number) in index.notices.iter().zip(0_u32..) {
            notices.entry(notice.method).or_default().push_back(number);
        }
        Self {
            matcher: Matcher::new(&index, options.once),
            index,
            reel,
            options,
            classifier: Classifier::default(),
            client: Client::default(),
            plays: BTreeMap::new(),
            due: BTreeSet::new(),
            last_play: 0,
            asked: BTreeMap::new(),
            last_ask: 0,
            live: HashMap::new(),
            notices,
            rounds: Rounds::default(),
            told: BTreeSet::new(),
            tally: Tally::default(),
            actions: Vec::new(),
            burst: 0,
            input_ended: false,
            ended: false,
        }
    }

    pub fn begin(&mut self, now: Moment) {
        self.play_after(Trigger::Start, None, None, now);
    }

    /// When something is next to be done without anything coming in.
    pub fn due(&self) -> Option<Moment> {
        self.due.first().map(|(due, _)| *due)
    }

    pub fn tick(&mut self, now: Moment) {
        while let Some((due, number)) = self.due.first().copied()
            && due <= now
            && self.burst < BURST
        {
            self.due.remove(&(due, number));
            self.wake(number, now);
        }
    }

    pub fn take(&mut self) -> Vec<Action> {
        self.burst = 0;
        std::mem::take(&mut self.actions)
    }

    /// The host has closed our input: what is under way comes to its end without waiting, then
    /// what came at the end on record.
    pub fn end_of_input(&mut self, now: Moment) {
        self.input_ended = true;
        for number in self.plays.keys().copied().collect::<Vec<_>>() {
            if let Some(due) = self.plays.get(&number).and_then(|play| play.due) {
                self.due.remove(&(due, number));
            }
            self.wake(number, now);
        }
        self.play_after(Trigger::End, None, None, now);
    }

    pub fn is_done(&self) -> bool {
        self.ended || (self.input_ended && self.due.is_empty())
    }

    pub fn report(&self) -> Report {
        let recorded = (&self.index, &self.reel);
        let rules = &self.options.rules;
        Report::new(recorded, &self.matcher, rules, self.tally.clone())
    }

    pub(super) fn act(&mut self, action: Action) {
        if self.ended {
            return;
        }
        match &action {
            Action::Write(bytes) | Action::Stderr(bytes) => self.burst += bytes.len(),
            Action::Say(_) => {}
            Action::End(_) => self.ended = true,
        }
        self.actions.push(action);
    }

    /// Remarks once that a part of the recording cannot be read.
    pub(super) fn unreadable(&mut self, error: &ReadError) {
        if self.tally.unreadable == 0 {
            let text = format!("a part of the recording cannot be read: {error}");
            self.act(Action::Say(text));
        }
        self.tally.unreadable += 1;
    }
}

/// What a line of the host holds, and whom it is for.
impl Server {
    /// Takes a line of the host, its end included.
    pub fn line(&mut self, line: &[u8], now: Moment) {
        let mut classifier = std::mem::take(&mut self.classifier);
        let (content, root) = classifier.read(line, Lines::OfProgress);
        self.content(&content, root, line, now);
        classifier.give_back();
        self.classifier = classifier;
    }

    /// A line came that is too long to be held.
    pub fn too_long(&mut self) {
        self.invalid("the line is longer than is read");
    }

    fn content(&mut self, content: &Content, root: Option<Value<'_>>, line: &[u8], now: Moment) {
        let is_parse_error = |problem: &Problem| {
            matches!(problem, Problem::NotJson { .. } | Problem::TooDeep { .. })
        };
        match content.messages.as_slice() {
            _ if content.batch => self.invalid("batches are not served"),
            [message] => {
                let asking = Asking {
                    message: line.get(message.span.clone()).unwrap_or_default(),
                    params: root.and_then(|root| root.get("params")),
                    now,
                    delay: Duration::ZERO,
                };
                self.message(message, root.is_some(), asking);
            }
            _ if content.problems.iter().any(is_parse_error) => {
                self.tally.malformed += 1;
                let error = error(None, PARSE_ERROR, "Parse error", None);
                self.write(Said::own(error));
            }
            _ if content.problems.contains(&Problem::Blank) => {}
            _ => self.invalid("no request"),
        }
    }

    fn message(&mut self, message: &Message, is_read: bool, asking: Asking<'_>) {
        match &message.body {
            Body::Request(request) if !is_read => {
                self.tally.requests += 1;
                let why = "Invalid Request: nested too deeply";
                let error = error(Some(&request.id), INVALID_REQUEST, why, None);
                self.write(Said::own(error));
            }
            Body::Request(request) => self.request(request, message, asking),
            Body::Notification(notification) => self.notified(notification, asking.now),
            Body::Response(response) => self.answered(response.id.as_ref(), asking.now),
            Body::Invalid => self.invalid("neither a request nor a notification"),
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
            self.cancel(id, now);
        }
        let waiting = self.notices.get_mut(&digest(&notification.method, ""));
        if let Some(number) = waiting.and_then(VecDeque::pop_front) {
            let anchor = self.index.notices.get(number as usize);
            let anchor = anchor.map(|notice| notice.place);
            self.play_after(Trigger::Notified(number), None, anchor, now);
        }
    }
}

/// Which recorded request a live one stands for, and what it gets.
impl Server {
    fn request(&mut self, request: &Request, message: &Message, mut asking: Asking<'_>) {
        self.tally.requests += 1;
        if !request.id.is_allowed() {
            return self.invalid("the id of a request is a string or a number");
        }
        if self.plays.len() >= MOST_OPEN {
            let why = "too many requests are open";
            return self.write(Said::own(error(
                Some(&request.id),
                INTERNAL_ERROR,
                why,
                None,
            )));
        }
        let live = live(request, message, asking.params);
        let (name, rules) = (request.name.as_deref(), &self.options.rules);
        let wanted = Wanted::new(&request.method, name, asking.params, rules);
        if &*request.method == "initialize" {
            self.client.initializes(request.identity.as_deref());
        } else if live.modern {
            self.client.phase = Phase::Ready;
        }
        match self.fault(&wanted, &live, asking) {
            Some(Effect::Delay(delay)) => {
                self.tally.faults += 1;
                asking.delay = delay;
            }
            None => {}
            Some(effect) => return self.fail(effect, &wanted, live, asking.now),
        }
        match self.found(&wanted, request) {
            Found::Entry(entry, repeats) => {
                self.serve((entry, repeats), &wanted, live, None, asking);
            }
            Found::Own(answer) => self.play_own(live, answer, asking.delay, asking.now),
            Found::Nothing(reason) => self.miss(&wanted, live, reason, asking),
        }
    }

    /// The effect of the fault that is meant for a request.
    fn fault(&self, wanted: &Wanted, live: &Live, asking: Asking<'_>) -> Option<Effect> {
        let asked = faults::Asked {
            method: &wanted.method,
            name: wanted.name.as_deref(),
            id: &live.id,
            era: if live.modern {
                Era::Modern
            } else {
                Era::Legacy
            },
            bytes: asking.message,
            now: asking.now,
        };
        let mut faults = self.options.faults.iter();
        let fault = faults.find(|fault| fault.fits(&asked))?;
        Some(fault.effect.clone())
    }

    /// A request goes wrong on purpose. The recorded request that it stands for counts as used.
    fn fail(&mut self, effect: Effect, wanted: &Wanted, live: Live, now: Moment) {
        self.tally.faults += 1;
        if let Ok(Match { entry, .. }) = self.matcher.find(&self.index, wanted) {
            self.take_entry(entry);
        }
        match effect {
            Effect::Error { code, message } => {
                let error = error(Some(&live.id), &code, &message, None);
                self.play_own(live, error, Duration::ZERO, now);
            }
            Effect::Crash => self.act(Action::End(Ended::Crash)),
            Effect::Drop | Effect::Delay(_) => {}
        }
    }

    fn found(&mut self, wanted: &Wanted, request: &Request) -> Found {
        let has_state = request.retry.as_ref().is_some_and(|it| it.state.is_some());
        let unknown_state = || {
            let message = "this requestState was not given for this request";
            Found::Own(error(Some(&request.id), INVALID_PARAMS, message, None))
        };
        if let Some(retry) = &request.retry {
            match self.retried(wanted, retry) {
                Retry::To(entry, repeats) => return Found::Entry(entry, repeats),
                Retry::Missed(reason) => return Found::Nothing(reason),
                Retry::Unknown => return unknown_state(),
                Retry::Fresh => {}
            }
        }
        match self.matcher.find(&self.index, wanted) {
            Ok(found) => {
                self.tally.normalised += u64::from(found.tier == Tier::Normalised);
                Found::Entry(found.entry, found.repeats)
            }
            Err(_) if has_state => unknown_state(),
            // Hosts ping at any time.
            Err(_) if &*wanted.method == "ping" => {
                let id = request.id.json();
                Found::Own(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#).into_bytes())
            }
            // Hosts of both eras try these, and go on with the other one after this error.
            Err(Reason::Method) if matches!(&*wanted.method, "server/discover" | "initialize") => {
                let message = format!("Method not found: the recording has no {}", wanted.method);
                Found::Own(error(Some(&request.id), METHOD_NOT_FOUND, &message, None))
            }
            Err(reason) => Found::Nothing(reason),
        }
    }

    fn take_entry(&mut self, entry: u32) {
        if self.matcher.take(&self.index, entry) {
            let seq = self.index.entry(entry).request.seq();
            self.tally.out_of_order.add(|| seq);
        }
    }

    /// Gives a request what the entry got.
    fn serve(
        &mut self,
        (entry, repeats): (u32, bool),
        wanted: &Wanted,
        live: Live,
        mark: Option<Near>,
        asking: Asking<'_>,
    ) {
        self.take_entry(entry);
        self.tally.served += 1;
        self.tally.repeated += u64::from(repeats);
        let found = *self.index.entry(entry);
        let then = match (found.outcome, found.response) {
            (Outcome::Answer | Outcome::Input | Outcome::Late, Some(place)) => {
                self.client.was_served(&wanted.method, asking.params);
                Then::Answer(Answer {
                    entry,
                    place,
                    delay: asking.delay,
                    mark,
                })
            }
            (Outcome::Death, _) => Then::Die,
            _ => Then::Nothing,
        };
        self.play_request((entry, repeats), live, then, asking.now);
    }

    /// A request stands for nothing on record.
    fn miss(&mut self, wanted: &Wanted, live: Live, reason: Reason, asking: Asking<'_>) {
        let nearest = self.nearest(wanted);
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
            return self.serve((near.entry, repeats), wanted, live, Some(near), asking);
        }
        if self.options.on_miss != OnMiss::Hang {
            let error = self.not_on_record(&live, &missed, &nearest);
            self.play_own(live, error, asking.delay, asking.now);
        }
        if self.options.on_miss == OnMiss::Exit {
            self.act(Action::End(Ended::Missed));
        }
        self.tally.missed.add(|| missed);
    }

    fn nearest(&self, wanted: &Wanted) -> Nearest {
        let (cursor, rules) = (self.matcher.cursor(), &self.options.rules);
        nearest(&self.index, wanted, cursor, rules, |entry| {
            let said = self.reel.said(self.index.entry(entry).request).ok()?;
            Some(Texts::of_recorded(&said.message, rules)?.exact)
        })
    }

    fn not_on_record(&self, live: &Live, missed: &Missed, nearest: &Nearest) -> Vec<u8> {
        let named: Vec<_> = nearest.near.iter().map(|near| self.named(near)).collect();
        let mut data = json!({
            "reason": missed.reason.as_str(),
            "phase": self.client.phase.as_str(),
            "candidates": nearest.candidates,
        });
        if nearest.compared < nearest.candidates {
            data["compared"] = json!(nearest.compared);
        }
        data["nearest"] = json!(named);
        let message = missed.sentence(&self.index.recording);
        error(Some(&live.id), NOT_ON_RECORD, &message, Some(data))
    }

    /// A near recorded request, for programs.
    pub(super) fn named(&self, near: &Near) -> serde_json::Value {
        json!({
            "recording": self.index.recording,
            "seq": self.index.entry(near.entry).request.seq().0,
            "distance": near.distance,
            "paths": near.paths,
        })
    }
}

enum Found {
    /// An entry, and whether it was used before.
    Entry(u32, bool),
    Own(Vec<u8>),
    Nothing(Reason),
}

fn live(request: &Request, message: &Message, params: Option<Value<'_>>) -> Live {
    let identity = message.meta.identity.as_deref();
    let level = params.and_then(|params| follow(params, &["_meta", keys::LOG_LEVEL]));
    Live {
        id: request.id.clone(),
        token: message.meta.progress_token.clone(),
        level: level.and_then(|level| super::say::level_of(&level.as_str()?)),
        modern: identity.is_some_and(|identity| identity.protocol_version.is_some()),
    }
}

/// An error response; `id` is `None` where it could not be read.
pub(super) fn error(
    id: Option<&RequestId>,
    code: &str,
    message: &str,
    data: Option<serde_json::Value>,
) -> Vec<u8> {
    let id = id.map_or("null", RequestId::json);
    let data = data.map_or_else(String::new, |data| format!(",\"data\":{data}"));
    let message = serde_json::Value::from(message);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}{data}}}}}"#)
        .into_bytes()
}
