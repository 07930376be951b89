//! The server: live messages and time in, actions out. It knows neither pipes nor a clock.
//!
//! ```text
//!  line ──▶ request ──▶ on record ──▶ play: steps, then the answer ──▶ actions
//!    │            └───▶ a miss ──▶ error, the nearest answer, or nothing
//!    ├──▶ answer to a request of ours: the play that waits for it goes on
//!    └──▶ notification: a cancel ends a play, any may be an anchor
//! ```
//!
//! A [`Play`] goes through the steps of one trigger until it has to wait: for the moment at which
//! the next step is due, or for the host's answer to a request of ours. The play of a request ends
//! with its answer, after which what was anchored at that answer is played.
//!
//! The caller does all that is due ([`Server::tick`]) before it gives the next line: then the output
//! depends on the input alone.

use super::client::{Client, Rounds};
use super::index::{Act, Death, Index, NONE, Outcome, Step, Trigger};
use super::matcher::{MARK, Matcher, Near};
use super::mock_report::Tally;
use super::reel::{Place, Said, Source, When};
use super::{Latency, Options, Report};
use mcpreel_store::reader::ReadError;
use mcpreel_trace::clock::Moment;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::{Document, Edit, Value, edit};
use mcpreel_wire::mcp::keys;
use mcpreel_wire::message::Classifier;
use serde_json::json;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::ops::Range;
use std::time::Duration;

pub(super) const INTERNAL_ERROR: &str = "-32603";

/// Requests that are under way at most, of the host and of ours: a host that never takes its
/// answers, or asks in a loop, would otherwise fill the memory.
pub(super) const MOST_OPEN: usize = 1000;

/// The time that the host has to answer a request of ours; then the play goes on without.
const PATIENCE: Duration = Duration::from_secs(30);

/// The beginning of our own `requestState`; the place of the request of its round follows.
pub(super) const STATE_PREFIX: &str = "mcpreel-mock:";

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
    AsRecorded(Death),
    Crash,
    Missed,
}

/// A live request.
#[derive(Clone, Debug)]
pub(super) struct Live {
    pub id: RequestId,
    pub token: Option<RequestId>,
    /// Whether it asks for log messages in its `_meta`.
    pub wants_log: bool,
    pub modern: bool,
}

/// The steps of a trigger under way.
#[derive(Debug)]
pub(super) struct Play {
    /// The steps that are left, by number.
    steps: Range<usize>,
    trigger: Trigger,
    /// Whether the trigger has come before: then only what belongs to the exchange comes again.
    repeats: bool,
    live: Option<Live>,
    began: Moment,
    /// A live moment, and the recorded one that it stands for.
    base: (Moment, Moment),
    /// The request of ours whose answer is waited for.
    waits: Option<u32>,
    due: Option<Moment>,
    then: Then,
}

/// The answer after the last step.
#[derive(Debug)]
pub(super) enum Then {
    Nothing,
    Answer(Answer),
    /// An answer of our own, so much later.
    Own(Vec<u8>, Duration),
    Die,
}

/// The recorded answer to a request.
#[derive(Debug)]
pub(super) struct Answer {
    pub entry: u32,
    pub place: Place,
    /// The delay by a fault.
    pub delay: Duration,
    /// Set where the answer is only the nearest.
    pub mark: Option<Near>,
}

pub struct Server {
    pub(super) reel: Source,
    pub(super) index: Index,
    pub(super) matcher: Matcher,
    pub(super) options: Options,
    pub(super) classifier: Classifier,
    pub(super) client: Client,
    /// Plays under way, in the order in which they began.
    pub(super) plays: BTreeMap<u64, Play>,
    last_play: u64,
    /// Requests of ours that have no answer yet: the recorded request and the play, by live id.
    asked: BTreeMap<u64, (u32, u64)>,
    last_ask: u64,
    /// The latest live request of each entry.
    live: HashMap<u32, Live>,
    /// Anchors that no live notification has used yet, by method.
    pub(super) notices: HashMap<u64, VecDeque<u32>>,
    pub(super) rounds: Rounds,
    pub(super) tally: Tally,
    actions: Vec<Action>,
    /// Nothing more comes in: no play waits any more.
    input_ended: bool,
    ended: bool,
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
            last_play: 0,
            asked: BTreeMap::new(),
            last_ask: 0,
            live: HashMap::new(),
            notices,
            rounds: Rounds::default(),
            tally: Tally::default(),
            actions: Vec::new(),
            input_ended: false,
            ended: false,
        }
    }

    pub fn begin(&mut self, now: Moment) {
        self.play_after(Trigger::Start, None, None, now);
    }

    /// When something is next to be done without anything coming in.
    pub fn due(&self) -> Option<Moment> {
        self.plays.values().filter_map(|play| play.due).min()
    }

    pub fn tick(&mut self, now: Moment) {
        loop {
            let due = self.plays.iter();
            let due = due.filter_map(|(number, play)| Some((play.due?, *number)));
            match due.min() {
                Some((due, number)) if due <= now => self.wake(number, now),
                _ => return,
            }
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
        self.play_after(Trigger::End, None, None, now);
    }

    pub fn is_done(&self) -> bool {
        self.ended || (self.input_ended && self.plays.is_empty())
    }

    pub fn report(&self) -> Report {
        let recorded = (&self.index, &self.reel);
        let rules = &self.options.rules;
        Report::new(recorded, &self.matcher, rules, self.tally.clone())
    }

    pub(super) fn act(&mut self, action: Action) {
        if !self.ended {
            self.ended = matches!(action, Action::End(_));
            self.actions.push(action);
        }
    }

    /// The bytes of a recorded message; `None` where they cannot be read, which is remarked once.
    pub(super) fn said(&mut self, place: Place) -> Option<Said> {
        let said = self.reel.said(place);
        self.readable(said)
    }

    /// When a recorded message came.
    fn recorded(&mut self, place: Place) -> When {
        let when = self.reel.when(place);
        self.readable(when).unwrap_or_default()
    }

    fn readable<T>(&mut self, result: Result<T, ReadError>) -> Option<T> {
        result
            .map_err(|error| {
                if self.tally.unreadable == 0 {
                    let text = format!("a part of the recording cannot be read: {error}");
                    self.act(Action::Say(text));
                }
                self.tally.unreadable += 1;
            })
            .ok()
    }
}

/// Plays.
impl Server {
    /// Begins what a live request sets off that stands for the entry.
    pub(super) fn play_request(
        &mut self,
        (entry, repeats): (u32, bool),
        live: Live,
        then: Then,
        now: Moment,
    ) {
        self.live.insert(entry, live.clone());
        let asked = self.recorded(self.index.entry(entry).request).last;
        self.play(
            Trigger::Asked(entry),
            repeats,
            Some(live),
            (now, asked),
            then,
        );
    }

    /// Sends an answer of our own, so much later.
    pub(super) fn play_own(&mut self, answer: Vec<u8>, delay: Duration, now: Moment) {
        let then = Then::Own(answer, delay);
        self.play(Trigger::Asked(NONE), false, None, (now, Moment(0)), then);
    }

    /// Plays what is filed under an anchor that has come for the first time, and that stands at
    /// `anchor` on record.
    pub(super) fn play_after(
        &mut self,
        trigger: Trigger,
        live: Option<Live>,
        anchor: Option<Place>,
        now: Moment,
    ) {
        if !self.index.steps_of(trigger).is_empty() {
            let recorded = anchor.map_or(Moment(0), |place| self.recorded(place).last);
            self.play(trigger, false, live, (now, recorded), Then::Nothing);
        }
    }

    fn play(
        &mut self,
        trigger: Trigger,
        repeats: bool,
        live: Option<Live>,
        base: (Moment, Moment),
        then: Then,
    ) {
        self.last_play += 1;
        let play = Play {
            steps: self.index.steps_of(trigger),
            trigger,
            repeats,
            live,
            began: base.0,
            base,
            waits: None,
            due: None,
            then,
        };
        self.run(self.last_play, play, base.0);
    }

    /// The time of a play has come: for its next step, or because what it waited for has not come.
    fn wake(&mut self, number: u64, now: Moment) {
        let Some(mut play) = self.plays.remove(&number) else {
            return;
        };
        if let Some(ask) = play.waits.take() {
            if !self.input_ended
                && let Some(id) = self.open_ask(ask, number)
            {
                self.give_up(id, "no answer within 30 s");
            }
            self.rebase(&mut play, ask, now);
        }
        self.run(number, play, now);
    }

    /// Goes on until the play has to wait, or is over.
    fn run(&mut self, number: u64, mut play: Play, now: Moment) {
        play.due = None;
        while let Some(at) = play.steps.next() {
            let step = self.index.step(at);
            if let Act::Heard(ask) = step.act
                && !self.input_ended
                && self.open_ask(ask, number).is_some()
            {
                play.waits = Some(ask);
                play.due = Some(now + PATIENCE);
            } else if self.options.latency == Latency::Recorded {
                let due = self.stands_for(&play, step.place);
                if due > now && !self.input_ended && !matches!(step.act, Act::Heard(_)) {
                    play.steps.start -= 1;
                    play.due = Some(due);
                }
            }
            if play.due.is_some() {
                self.plays.insert(number, play);
                return;
            }
            self.step(number, &mut play, step, now);
        }
        self.finish(number, play, now);
    }

    fn finish(&mut self, number: u64, mut play: Play, now: Moment) {
        let due = match &play.then {
            Then::Nothing => return,
            Then::Die => {
                let death = self.index.death.clone();
                return death.map_or((), |death| self.act(Action::End(Ended::AsRecorded(death))));
            }
            Then::Own(_, delay) => play.began + *delay,
            Then::Answer(answer) => {
                let (place, delay) = (answer.place, answer.delay);
                let due = match self.options.latency {
                    Latency::None => play.began,
                    Latency::Fixed(fixed) => play.began + fixed,
                    Latency::Recorded => self.stands_for(&play, place),
                };
                due + delay
            }
        };
        if due > now && !self.input_ended {
            play.due = Some(due);
            self.plays.insert(number, play);
            return;
        }
        match play.then {
            Then::Own(answer, _) => self.write(Said::own(answer)),
            Then::Answer(answer) => {
                if let Some(live) = play.live {
                    self.say_answer(&answer, live, play.repeats, now);
                }
            }
            Then::Nothing | Then::Die => {}
        }
    }

    /// Takes a step, if it comes at all.
    fn step(&mut self, number: u64, play: &mut Play, step: Step, now: Moment) {
        let belongs = play.trigger == Trigger::Asked(step.owner);
        let is_unwanted = match step.act {
            Act::Stderr => !self.options.stderr,
            // Nobody could answer.
            Act::Ask(_) => self.input_ended,
            _ => false,
        };
        if is_unwanted || (play.repeats && !belongs) {
            return;
        }
        if let Act::Heard(ask) = step.act {
            return self.rebase(play, ask, now);
        }
        let live = if belongs {
            play.live.clone()
        } else {
            self.live.get(&step.owner).cloned()
        };
        let Some(said) = self.said(step.place) else {
            return;
        };
        match (step.act, live) {
            (Act::Say | Act::Heard(_), _) => self.write(said),
            (Act::Stderr, _) => self.act(Action::Stderr(said.line())),
            (Act::Log, live) => {
                let wanted = match live.as_ref().or(play.live.as_ref()) {
                    Some(live) => !live.modern || live.wants_log,
                    // In the modern era each request asks for log messages.
                    None => !self.client.is_modern(),
                };
                if wanted {
                    self.write(said);
                }
            }
            (Act::Progress, live) => {
                if let Some(token) = live.and_then(|live| live.token) {
                    self.say(said, &[Edit::Replace(TOKEN, token.json())]);
                }
            }
            (Act::OnStream, Some(live)) => {
                let places = [ID, REQUEST_ID, ON_STREAM, STREAM_ENDS];
                self.say(
                    said,
                    &places.map(|place| Edit::Replace(place, live.id.json())),
                );
            }
            (Act::OnStream, None) => {}
            (Act::Ask(ask), _) => self.ask(number, ask, said),
        }
    }

    /// The live moment that stands for the one at which the message at `place` came.
    fn stands_for(&mut self, play: &Play, place: Place) -> Moment {
        play.base.0 + self.recorded(place).first.since(play.base.1)
    }

    /// Counts times from the answer that was waited for.
    fn rebase(&mut self, play: &mut Play, ask: u32, now: Moment) {
        if let Some(place) = self.index.asks[ask as usize].answer {
            play.base = (now, self.recorded(place).last);
        }
    }

    /// Sends the recorded answer to a live request, and then what came after it.
    fn say_answer(&mut self, answer: &Answer, live: Live, repeats: bool, now: Moment) {
        let Some(said) = self.said(answer.place) else {
            let message = "the recorded answer cannot be read";
            let error = error(Some(&live.id), INTERNAL_ERROR, message, None);
            return self.write(Said::own(error));
        };
        let entry = *self.index.entry(answer.entry);
        let state = format!("\"{STATE_PREFIX}{}\"", entry.request);
        let mut edits = vec![Edit::Replace(ID, live.id.json())];
        if entry.outcome == Outcome::Input {
            edits.push(Edit::ReplaceString(STATE, &state));
            self.rounds.wait(answer.entry, &self.index, &said.message);
        }
        let mut said = edited(said, &edits);
        if let Some(near) = &answer.mark
            && let Some(message) = marked(&said.message, &self.named(near).to_string())
        {
            said.message = message;
        }
        self.write(said);
        if !repeats {
            let trigger = Trigger::Answered(answer.entry);
            self.play_after(trigger, Some(live), Some(answer.place), now);
        }
    }

    /// Writes a message of the recording with live values in it.
    fn say(&mut self, said: Said, edits: &[Edit<'_>]) {
        self.write(edited(said, edits));
    }

    pub(super) fn write(&mut self, said: Said) {
        self.act(Action::Write(said.line()));
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

/// Requests of the server, and the host's answers and cancels.
impl Server {
    /// Asks the host what the recorded server asked, if the host can answer it.
    fn ask(&mut self, play: u64, ask: u32, said: Said) {
        let may = Document::parse(&said.message).ok().and_then(|document| {
            let root = document.root();
            let method = root.get("method")?.as_str()?;
            Some(self.client.may_be_asked(&method, root.get("params")))
        });
        if may != Some(true) || self.asked.len() >= MOST_OPEN {
            self.tally.not_asked += 1;
            return;
        }
        self.last_ask += 1;
        self.asked.insert(self.last_ask, (ask, play));
        self.say(said, &[Edit::Replace(ID, &self.last_ask.to_string())]);
    }

    /// The live id of a request of ours that a play has made and that has no answer.
    fn open_ask(&self, ask: u32, play: u64) -> Option<u64> {
        let mut open = self.asked.iter();
        let found = open.find(|(_, made)| **made == (ask, play));
        found.map(|(id, _)| *id)
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
        self.write(Said::own(cancel.into_bytes()));
    }

    /// The host has answered a request of ours.
    pub(super) fn answered(&mut self, id: Option<&RequestId>, now: Moment) {
        let number = id.and_then(|id| id.json().parse::<u64>().ok());
        let Some((ask, number)) = number.and_then(|number| self.asked.remove(&number)) else {
            self.tally.unexpected += 1;
            return;
        };
        let waits = |play: &Play| play.waits == Some(ask);
        if self.plays.get(&number).is_some_and(waits) {
            self.wake(number, now);
        }
    }

    /// The host has cancelled a request of its own.
    pub(super) fn cancel(&mut self, id: &RequestId) {
        let is_it = |play: &Play| play.live.as_ref().is_some_and(|live| live.id == *id);
        let is_it = |play: &Play| matches!(play.trigger, Trigger::Asked(_)) && is_it(play);
        let found = self.plays.iter().find(|(_, play)| is_it(play));
        let Some(number) = found.map(|(number, _)| *number) else {
            let index = &self.index;
            return self.live.retain(|entry, live| {
                live.id != *id || index.entry(*entry).outcome != Outcome::Stream
            });
        };
        self.plays.remove(&number);
        let open = self.asked.iter().filter(|(_, (_, play))| *play == number);
        for ask in open.map(|(ask, _)| *ask).collect::<Vec<_>>() {
            self.give_up(ask, "the request that it was for has been cancelled");
        }
    }
}

fn edited(said: Said, edits: &[Edit<'_>]) -> Said {
    match edit(&said.message, edits) {
        Some(message) => Said { message, ..said },
        None => said,
    }
}

/// An answer that says in its `_meta` that it is only the nearest; an error has no room for it.
fn marked(message: &[u8], mark: &str) -> Option<Vec<u8>> {
    let document = Document::parse(message).ok()?;
    let result = document.root().get("result").filter(Value::is_object)?;
    match result.get("_meta").map(|meta| meta.is_object()) {
        Some(true) => edit(message, &[Edit::Insert(&["result", "_meta"], MARK, mark)]),
        Some(false) => None,
        None => {
            let meta = format!("{{\"{MARK}\":{mark}}}");
            edit(message, &[Edit::Insert(&["result"], "_meta", &meta)])
        }
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
