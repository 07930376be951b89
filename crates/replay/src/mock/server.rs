//! The server: live messages and time in, actions out. It knows neither pipes nor a clock.
//!
//! ```text
//!  line ──▶ request ──▶ on record ──▶ play: steps, then the answer ──▶ actions
//!    │            └───▶ a miss ──▶ error, the nearest answer, or nothing
//!    ├──▶ answer to a request of ours: the play that waits for it goes on
//!    └──▶ notification: a cancel ends a play, any may be a trigger
//! ```
//!
//! A [`Play`] goes through the steps of one trigger until it has to wait: for the moment at which
//! the next step is due, or for the host's answer to a request of ours. The play of a request ends
//! with its answer, after which the steps that followed that answer are played.
//!
//! The caller does all that is due ([`Server::tick`]) before it gives the next line: then the output
//! depends on the input alone.

use super::Source;
use super::answering::{Rounds, may_be_asked};
use super::index::{Act, Index, Outcome, Step, Trigger};
use super::matcher::{MARK, Matcher, Near};
use super::mock_report::{Report, Tally};
use super::{Latency, Options};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::session::End;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::{Document, Edits, replaced};
use mcpreel_wire::mcp::capabilities::Declared;
use mcpreel_wire::mcp::keys;
use mcpreel_wire::message::Classifier;
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

pub(super) const INTERNAL_ERROR: &str = "-32603";

/// Requests that are under way at most, of the host and of ours: a host that never takes its
/// answers, or asks in a loop, would otherwise fill the memory.
pub(super) const MOST_OPEN: usize = 1000;

/// The time that the host has to answer a request of ours; then the play goes on without.
const PATIENCE: Duration = Duration::from_secs(30);

/// The beginning of our own `requestState`; the frame of the request of its round follows.
pub(super) const STATE_PREFIX: &str = "mcpreel-mock:";

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

const ID: &[&str] = &["id"];
const TOKEN: &[&str] = &["params", keys::PROGRESS_TOKEN];
const REQUEST_ID: &[&str] = &["params", "requestId"];
const ON_STREAM: &[&str] = &["params", "_meta", keys::SUBSCRIPTION_ID];
const STREAM_ENDS: &[&str] = &["result", "_meta", keys::SUBSCRIPTION_ID];
const STATE: &[&str] = &["result", "requestState"];

/// A thing to do for whoever drives the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Write(Vec<u8>),
    /// Write this recorded line to stderr.
    Stderr(Vec<u8>),
    /// A remark for stderr. Not escaped.
    Say(String),
    End(Ended),
}

/// An end of the mock before the end of its input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    AsRecorded(End),
    Crash,
    Missed,
}

/// A live request.
#[derive(Clone, Debug)]
pub(super) struct Live {
    pub id: RequestId,
    pub token: Option<RequestId>,
    /// Whether it gets log messages: in the modern era it asks for them in its `_meta`.
    pub logs: bool,
}

/// The steps of a trigger under way.
#[derive(Debug)]
pub(super) struct Play {
    trigger: Option<Trigger>,
    /// The number of the next step.
    next: usize,
    /// Whether the trigger has come before: then only what belongs to the exchange comes again.
    repeats: bool,
    live: Option<Live>,
    began: Moment,
    /// A live moment, and the recorded one that it stands for.
    base: (Moment, Moment),
    /// When the play goes on, if nothing comes that it waits for.
    due: Moment,
    then: Then,
    /// The delay of the answer by a fault.
    delay: Duration,
}

/// A request of ours that has no answer yet.
#[derive(Clone, Copy, Debug)]
struct Asked {
    /// The recorded request.
    ask: Seq,
    play: u64,
    /// Until when the play waits for the answer.
    until: Moment,
}

/// The answer after the last step.
#[derive(Debug)]
pub(super) enum Then {
    Nothing,
    /// The recorded answer of this entry; it is marked if it is only the nearest.
    Answer(usize, Option<Near>),
    Own(Vec<u8>),
    /// The recorded end, over this entry.
    Die(usize),
}

pub struct Server {
    pub(super) source: Source,
    pub(super) index: Index,
    pub(super) matcher: Matcher,
    pub(super) options: Options,
    pub(super) classifier: Classifier,
    /// Whether the client has made a request of the modern era.
    pub(super) is_modern: bool,
    /// The capabilities that the client declared with `initialize`.
    pub(super) capabilities: Option<Declared>,
    /// Plays under way, in the order in which they began.
    pub(super) plays: BTreeMap<u64, Play>,
    last_play: u64,
    /// By live id.
    asked: BTreeMap<u64, Asked>,
    last_ask: u64,
    /// The latest live request of each entry.
    live: HashMap<usize, Live>,
    pub(super) rounds: Rounds,
    pub(super) tally: Tally,
    actions: Vec<Action>,
    /// The input has ended: no play waits any more.
    input_ended: bool,
    ended: bool,
}

impl Server {
    /// A server of what `index` lists, whose bodies are in `source`.
    pub fn new(index: Index, source: Source, options: Options) -> Self {
        Self {
            matcher: Matcher::new(&index, options.once),
            index,
            source,
            options,
            classifier: Classifier::default(),
            is_modern: false,
            capabilities: None,
            plays: BTreeMap::new(),
            last_play: 0,
            asked: BTreeMap::new(),
            last_ask: 0,
            live: HashMap::new(),
            rounds: Rounds::default(),
            tally: Tally::default(),
            actions: Vec::new(),
            input_ended: false,
            ended: false,
        }
    }

    pub fn begin(&mut self, now: Moment) {
        self.play_after(Trigger::Start, None, (now, Moment(0)));
    }

    /// When something is next to be done without anything coming in.
    pub fn due(&self) -> Option<Moment> {
        self.plays.values().map(|play| play.due).min()
    }

    pub fn tick(&mut self, now: Moment) {
        let due = |server: &Self| {
            let plays = server.plays.iter();
            plays.map(|(number, play)| (play.due, *number)).min()
        };
        while let Some((_, number)) = due(self).filter(|(due, _)| *due <= now) {
            self.wake(number, now);
        }
    }

    pub fn take(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.actions)
    }

    /// The host has closed our input: what is under way comes to its end without waiting, then
    /// what came at the end on record.
    pub fn end_of_input(&mut self, now: Moment) {
        self.input_ended = true;
        for number in self.plays.keys().copied().collect::<Vec<_>>() {
            self.wake(number, now);
        }
        self.play_after(Trigger::End, None, (now, Moment(0)));
    }

    pub fn is_done(&self) -> bool {
        self.ended || (self.input_ended && self.plays.is_empty())
    }

    pub fn report(&self) -> Report {
        Report::new(&self.index, &self.matcher, self.tally.clone())
    }

    pub(super) fn act(&mut self, action: Action) {
        if !self.ended {
            self.ended = matches!(action, Action::End(_));
            self.actions.push(action);
        }
    }

    /// A recorded line; `None` where it cannot be read, which is remarked once.
    fn line_at(&mut self, seq: Seq) -> Option<Vec<u8>> {
        let line = self.source.line(seq);
        line.map_err(|error| {
            if self.tally.unreadable == 0 {
                let text = format!("a part of the recording cannot be read: {error}");
                self.act(Action::Say(text));
            }
            self.tally.unreadable += 1;
        })
        .ok()
    }

    /// Writes a recorded line with live values in it.
    fn say(&mut self, line: &[u8], edits: &[(&[&str], &str)]) {
        self.act(Action::Write(edited(line, edits)));
    }

    /// Writes a message of our own.
    pub(super) fn say_own(&mut self, mut message: Vec<u8>) {
        message.push(b'\n');
        self.act(Action::Write(message));
    }
}

impl Play {
    fn new(trigger: Option<Trigger>, live: Option<Live>, base: (Moment, Moment)) -> Self {
        Self {
            trigger,
            next: 0,
            repeats: false,
            live,
            began: base.0,
            base,
            due: base.0,
            then: Then::Nothing,
            delay: Duration::ZERO,
        }
    }

    /// The live moment that stands for a recorded one.
    fn stands_for(&self, recorded: Moment) -> Moment {
        self.base.0 + recorded.since(self.base.1)
    }
}

/// Plays.
impl Server {
    /// Begins what a live request sets off that stands for the entry.
    pub(super) fn play_request(
        &mut self,
        (entry, repeats): (usize, bool),
        live: Live,
        (then, delay): (Then, Duration),
        now: Moment,
    ) {
        self.live.insert(entry, live.clone());
        let base = (now, self.index.entries[entry].asked_at);
        self.play(Play {
            repeats,
            then,
            delay,
            ..Play::new(Some(Trigger::Asked(entry)), Some(live), base)
        });
    }

    /// Sends an answer of our own, so much later.
    pub(super) fn play_own(&mut self, answer: Vec<u8>, delay: Duration, now: Moment) {
        self.play(Play {
            then: Then::Own(answer),
            delay,
            ..Play::new(None, None, (now, Moment(0)))
        });
    }

    /// Plays what is filed under a trigger that has come for the first time, at the live and the
    /// recorded moment `base`.
    pub(super) fn play_after(&mut self, to: Trigger, live: Option<Live>, base: (Moment, Moment)) {
        self.play(Play::new(Some(to), live, base));
    }

    fn play(&mut self, play: Play) {
        self.last_play += 1;
        let now = play.began;
        self.plays.insert(self.last_play, play);
        self.wake(self.last_play, now);
    }

    /// Goes on with a play until it has to wait, or is over.
    fn wake(&mut self, number: u64, now: Moment) {
        let Some(mut play) = self.plays.remove(&number) else {
            return;
        };
        loop {
            let steps = play.trigger;
            let step = steps.and_then(|trigger| self.index.step(trigger, play.next));
            play.due = self.due_of(number, &play, step);
            if play.due > now && !self.input_ended {
                self.plays.insert(number, play);
                return;
            }
            let Some(step) = step else {
                return self.finish(play, now);
            };
            self.step(number, &mut play, step, now);
            play.next += 1;
        }
    }

    /// When a play takes `step`, or, without one, answers.
    fn due_of(&self, number: u64, play: &Play, step: Option<Step>) -> Moment {
        let is_recorded = self.options.latency == Latency::Recorded;
        match (step.map(|step| (step.act, step.at)), &play.then) {
            (Some((Act::Heard(ask), _)), _) => {
                let open = self.open_ask(ask, number);
                open.map_or(Moment(0), |(_, asked)| asked.until)
            }
            (Some((_, at)), _) if is_recorded => play.stands_for(at),
            (Some(_), _) => Moment(0),
            (None, Then::Answer(entry, _) | Then::Die(entry)) => {
                let entry = &self.index.entries[*entry];
                let waits = is_recorded || entry.outcome == Outcome::Death { is_last: false };
                let due = match self.options.latency {
                    _ if waits => play.stands_for(entry.answered_at[0]),
                    Latency::Fixed(fixed) => play.began + fixed,
                    Latency::None | Latency::Recorded => play.began,
                };
                due + play.delay
            }
            (None, _) => play.began + play.delay,
        }
    }

    fn finish(&mut self, play: Play, now: Moment) {
        match (play.then, play.live) {
            (Then::Own(answer), _) => self.say_own(answer),
            (Then::Die(_), _) => {
                if let Some(death) = self.index.death.clone() {
                    self.act(Action::End(Ended::AsRecorded(death)));
                }
            }
            (Then::Answer(entry, mark), Some(live)) => {
                self.say_answer(entry, mark.as_ref(), &live);
                if !play.repeats {
                    let base = (now, self.index.entries[entry].answered_at[1]);
                    self.play_after(Trigger::Answered(entry), Some(live), base);
                }
            }
            (Then::Nothing | Then::Answer(..), _) => {}
        }
    }

    /// Takes a step, if it comes at all.
    fn step(&mut self, number: u64, play: &mut Play, step: Step, now: Moment) {
        if let Act::Heard(ask) = step.act {
            let open = self.open_ask(ask, number).filter(|_| !self.input_ended);
            if let Some((id, _)) = open {
                self.give_up(id, "no answer within 30 s");
            }
            play.base = (now, step.at);
            return;
        }
        let owner = step.owner;
        let belongs = owner.is_some_and(|owner| play.trigger == Some(Trigger::Asked(owner)));
        // At the end nobody could answer.
        let is_unwanted = (step.act == Act::Stderr && !self.options.stderr)
            || (step.act == Act::Ask && self.input_ended);
        if is_unwanted || (play.repeats && !belongs) {
            return;
        }
        let of_owner = || owner.and_then(|owner| self.live.get(&owner).cloned());
        let live = (play.live.clone().filter(|_| belongs)).or_else(of_owner);
        let Some(message) = self.line_at(step.seq) else {
            return;
        };
        match (step.act, live) {
            (Act::Say | Act::Heard(_), _) => self.say(&message, &[]),
            (Act::Stderr, _) => self.act(Action::Stderr(message)),
            (Act::Log, live) => {
                let live = live.as_ref().or(play.live.as_ref());
                let goes_without = self.is_modern && self.capabilities.is_none();
                if live.map_or(!goes_without, |live| live.logs) {
                    self.say(&message, &[]);
                }
            }
            (Act::Progress, live) => {
                if let Some(token) = live.and_then(|live| live.token) {
                    self.say(&message, &[(TOKEN, token.json())]);
                }
            }
            (Act::OnStream, live) => {
                if let Some(id) = live.as_ref().map(|live| live.id.json()) {
                    let places = [ID, REQUEST_ID, ON_STREAM, STREAM_ENDS];
                    self.say(&message, &places.map(|place| (place, id)));
                }
            }
            (Act::Ask, _) => {
                let asked = Asked {
                    ask: step.seq,
                    play: number,
                    until: now + PATIENCE,
                };
                self.ask(asked, &message);
            }
        }
    }

    /// Sends the recorded answer of an entry to a live request.
    fn say_answer(&mut self, number: usize, mark: Option<&Near>, live: &Live) {
        let entry = &self.index.entries[number];
        let (outcome, seq) = (entry.outcome, entry.request);
        let Some(answer) = entry.response.and_then(|seq| self.line_at(seq)) else {
            let message = "the recorded answer cannot be read";
            return self.say_own(error(Some(&live.id), INTERNAL_ERROR, message, None));
        };
        let state = format!("\"{STATE_PREFIX}{}\"", seq.0);
        let mut edits = vec![(ID, live.id.json())];
        if outcome == Outcome::Input {
            edits.push((STATE, &state));
            self.rounds.wait(number, &answer);
        }
        let answer = with_id(edited(&answer, &edits), live.id.json());
        let marked = mark.and_then(|near| marked(&answer, &self.named(near).to_string()));
        self.say(&marked.unwrap_or(answer), &[]);
    }

    /// A near recorded request, for programs.
    pub(super) fn named(&self, near: &Near) -> serde_json::Value {
        json!({
            "recording": self.index.recording,
            "seq": self.index.entries[near.entry].request.0,
            "distance": near.distance,
            "paths": near.paths,
        })
    }
}

/// Requests of the server, and the host's answers and cancels.
impl Server {
    /// Asks the host what the recorded server asked, if the host can answer it.
    fn ask(&mut self, asked: Asked, line: &[u8]) {
        let may = Document::parse(line).ok().and_then(|document| {
            let root = document.root();
            let method = root.get("method")?.as_str()?;
            let declared = self.capabilities.as_ref();
            Some(may_be_asked(declared, &method, root.get("params")))
        });
        if may != Some(true) || self.asked.len() >= MOST_OPEN {
            self.tally.not_asked += 1;
            return;
        }
        self.last_ask += 1;
        self.asked.insert(self.last_ask, asked);
        self.say(line, &[(ID, &self.last_ask.to_string())]);
    }

    /// A request of ours that a play has made and that has no answer, by its live id.
    fn open_ask(&self, ask: Seq, play: u64) -> Option<(u64, Asked)> {
        let mut open = self.asked.iter();
        let found = open.find(|(_, asked)| (asked.ask, asked.play) == (ask, play));
        found.map(|(id, asked)| (*id, *asked))
    }

    /// Cancels a request of ours: its answer is not waited for any more.
    fn give_up(&mut self, id: u64, why: &str) {
        self.asked.remove(&id);
        self.tally.unanswered += 1;
        if self.tally.unanswered == 1 {
            let text = format!("the host has not answered our request {id}: {why}");
            self.act(Action::Say(text));
        }
        let params = json!({"requestId": id, "reason": why});
        let cancel =
            format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#);
        self.say_own(cancel.into_bytes());
    }

    /// The host has answered a request of ours.
    pub(super) fn answered(&mut self, id: Option<&RequestId>, now: Moment) {
        let number = id.and_then(|id| id.json().parse::<u64>().ok());
        match number.and_then(|number| self.asked.remove(&number)) {
            Some(asked) => self.wake(asked.play, now),
            None => self.tally.unexpected += 1,
        }
    }

    /// The host has cancelled a request of its own.
    pub(super) fn cancel(&mut self, id: &RequestId) {
        let is_it = |play: &Play| {
            matches!(play.trigger, Some(Trigger::Asked(_)))
                && play.live.as_ref().is_some_and(|live| live.id == *id)
        };
        let found = self.plays.iter().find(|(_, play)| is_it(play));
        let Some(number) = found.map(|(number, _)| *number) else {
            let entries = &self.index.entries;
            let is_stream = |entry: usize| entries[entry].outcome == Outcome::Stream;
            let listens = |entry: &usize, live: &mut Live| live.id != *id || !is_stream(*entry);
            return self.live.retain(listens);
        };
        self.plays.remove(&number);
        let open = self.asked.iter().filter(|(_, asked)| asked.play == number);
        for ask in open.map(|(ask, _)| *ask).collect::<Vec<_>>() {
            self.give_up(ask, "the request that it was for has been cancelled");
        }
    }
}

/// `line` with live values in it; as it stands where it cannot be read.
fn edited(line: &[u8], edits: &[(&[&str], &str)]) -> Vec<u8> {
    let text = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
    let before = &line[..line.len() - text.len()];
    let changed = replaced(text, edits).filter(|_| !edits.is_empty());
    changed.map_or_else(|| line.to_owned(), |changed| [before, &changed].concat())
}

/// An answer with an id. Over HTTP an error may have none: the response in which it stands tells whose it is.
fn with_id(answer: Vec<u8>, id: &str) -> Vec<u8> {
    if memchr::memmem::find(&answer, b"\"id\"").is_some() {
        return answer;
    }
    let Ok(document) = Document::parse(&answer) else {
        return answer;
    };
    let mut edits = Edits::default();
    edits.insert(document.root(), "id", id);
    edits.apply(&answer).into_owned()
}

/// An answer that says in its `_meta` that it is only the nearest; an error has no room for it.
fn marked(line: &[u8], mark: &str) -> Option<Vec<u8>> {
    let document = Document::parse(line).ok()?;
    let result = document.root().get("result")?;
    let mut edits = Edits::default();
    match result.get("_meta") {
        Some(meta) => edits.insert(meta, MARK, mark),
        None => edits.insert(result, "_meta", &format!("{{\"{MARK}\":{mark}}}")),
    }
    Some(edits.apply(line).into_owned())
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
