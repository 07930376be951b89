//! What comes within an exchange, and after an anchor.
//!
//! A [`Play`] goes through the steps of one trigger until it has to wait: for the moment at which
//! the next step is due, for the host's answer to a request of ours, or for a cancel. The play of a
//! request ends with its answer, after which what was anchored at that answer is played.

use super::Latency;
use super::index::{Act, NONE, Outcome, Place, Trigger};
use super::matcher::Near;
use super::reel::{Said, When};
use super::server::{Action, BURST, Ended, MOST_OPEN, Server};
use mcpreel_trace::clock::Moment;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::{Document, Edit};
use serde_json::json;
use std::ops::Range;
use std::time::Duration;

/// How long the host has to answer a request of ours before what waits for it goes on.
const PATIENCE: Duration = Duration::from_secs(30);

/// A live request.
#[derive(Clone, Debug)]
pub struct Live {
    pub id: RequestId,
    pub token: Option<RequestId>,
    /// The log level of its `_meta`.
    pub level: Option<usize>,
    pub modern: bool,
}

/// A live moment, and the recorded one that it stands for.
#[derive(Clone, Copy, Debug)]
struct Base {
    live: Moment,
    recorded: Moment,
}

#[derive(Debug)]
pub struct Play {
    /// The steps that are left, by number.
    steps: Range<usize>,
    pub(super) trigger: Trigger,
    /// Whether the trigger has come before: then only what belongs to the exchange comes again.
    repeats: bool,
    pub(super) live: Option<Live>,
    base: Base,
    asked_at: Moment,
    wait: Wait,
    pub(super) due: Option<Moment>,
    /// Requests of ours without an answer: the recorded one, and the live id.
    asks: Vec<(u32, u64)>,
    then: Then,
}

/// What a play waits for besides its moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    Nothing,
    /// The host's answer to this request.
    Answer(u32),
    /// The cancel that the recorded client sent.
    Cancel,
}

/// What comes after the last step.
#[derive(Debug)]
pub enum Then {
    Nothing,
    Answer(Answer),
    /// An answer of our own, so much later.
    Own(Vec<u8>, Duration),
    Die,
}

/// The recorded answer to a request.
#[derive(Debug)]
pub struct Answer {
    pub entry: u32,
    pub place: Place,
    pub delay: Duration,
    /// Set where the answer is only the nearest.
    pub mark: Option<Near>,
}

/// How a play goes on after a step.
enum Flow {
    Next,
    /// The step is not to be taken before this moment.
    At(Moment),
    /// The host's answer to this request of ours is waited for.
    Answer(u32),
}

impl Server {
    /// Begins what a live request sets off that stands for the entry.
    pub(super) fn play_request(
        &mut self,
        (entry, repeats): (u32, bool),
        live: Live,
        then: Then,
        now: Moment,
    ) {
        let found = *self.index.entry(entry);
        if found.followed || found.outcome == Outcome::Stream {
            self.live.insert(entry, live.clone());
        }
        let base = Base {
            live: now,
            recorded: self.recorded(found.request).last,
        };
        self.play(Trigger::Asked(entry), repeats, Some(live), base, then);
    }

    /// Sends an answer of our own, so much later.
    pub(super) fn play_own(&mut self, live: Live, answer: Vec<u8>, delay: Duration, now: Moment) {
        let base = Base {
            live: now,
            recorded: Moment(0),
        };
        let then = Then::Own(answer, delay);
        self.play(Trigger::Asked(NONE), false, Some(live), base, then);
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
        if self.index.steps_of(trigger).is_empty() {
            return;
        }
        let recorded = anchor.map_or(Moment(0), |place| self.recorded(place).last);
        let base = Base {
            live: now,
            recorded,
        };
        self.play(trigger, false, live, base, Then::Nothing);
    }

    fn play(
        &mut self,
        trigger: Trigger,
        repeats: bool,
        live: Option<Live>,
        base: Base,
        then: Then,
    ) {
        self.last_play += 1;
        let play = Play {
            steps: self.index.steps_of(trigger),
            trigger,
            repeats,
            live,
            base,
            asked_at: base.live,
            wait: Wait::Nothing,
            due: None,
            asks: Vec::new(),
            then,
        };
        self.run(self.last_play, play, base.live);
    }

    /// The time of a play has come: for its next step, or because what it waited for has not come.
    pub(super) fn wake(&mut self, number: u64, now: Moment) {
        let Some(mut play) = self.plays.remove(&number) else {
            return;
        };
        play.due = None;
        match std::mem::replace(&mut play.wait, Wait::Nothing) {
            Wait::Answer(ask) => {
                if let Some(at) = play.asks.iter().position(|(open, _)| *open == ask) {
                    let (_, id) = play.asks.remove(at);
                    if !self.input_ended {
                        self.give_up(id, "no answer within 30 s");
                    }
                }
                self.rebase(&mut play, ask, now);
            }
            Wait::Cancel => return self.answer(play, now),
            Wait::Nothing => {}
        }
        self.run(number, play, now);
    }

    /// Goes on until the play has to wait, or is over.
    fn run(&mut self, number: u64, mut play: Play, now: Moment) {
        while let Some(step) = play.steps.next() {
            let flow = match self.burst {
                ..BURST => self.step(number, &mut play, step, now),
                _ => Flow::At(now),
            };
            let due = match flow {
                Flow::Next => continue,
                Flow::At(due) => {
                    play.steps.start -= 1;
                    due
                }
                Flow::Answer(ask) => {
                    play.wait = Wait::Answer(ask);
                    now + PATIENCE
                }
            };
            return self.wait(number, play, due);
        }
        self.finish(number, play, now);
    }

    fn wait(&mut self, number: u64, mut play: Play, due: Moment) {
        play.due = Some(due);
        self.due.insert((due, number));
        self.plays.insert(number, play);
    }

    /// Takes a play out, so that it does not go on by itself.
    fn take_play(&mut self, number: u64) -> Option<Play> {
        let mut play = self.plays.remove(&number)?;
        if let Some(due) = play.due.take() {
            self.due.remove(&(due, number));
        }
        Some(play)
    }

    fn finish(&mut self, number: u64, mut play: Play, now: Moment) {
        let due = match &play.then {
            Then::Nothing => return,
            Then::Die => {
                let death = self.index.death.clone();
                return death.map_or((), |death| self.act(Action::End(Ended::AsRecorded(death))));
            }
            Then::Own(_, delay) => play.asked_at + *delay,
            Then::Answer(answer) => {
                let (place, delay) = (answer.place, answer.delay);
                let entry = *self.index.entry(answer.entry);
                if entry.outcome == Outcome::Late {
                    play.wait = Wait::Cancel;
                    let asked = self.recorded(entry.request).last;
                    play.asked_at + self.recorded(place).first.since(asked) + delay
                } else {
                    let due = match self.options.latency {
                        Latency::None => play.asked_at,
                        Latency::Fixed(fixed) => play.asked_at + fixed,
                        Latency::Recorded => self.stands_for(&play, place),
                    };
                    due + delay
                }
            }
        };
        if due > now && !self.input_ended {
            return self.wait(number, play, due);
        }
        self.answer(play, now);
    }

    /// Says what comes at the end of a play.
    fn answer(&mut self, play: Play, now: Moment) {
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

    fn step(&mut self, number: u64, play: &mut Play, step: usize, now: Moment) -> Flow {
        let Some(step) = self.index.step(step) else {
            return Flow::Next;
        };
        if !self.is_wanted(play, step.act) {
            return Flow::Next;
        }
        if let Act::Heard(ask) = step.act {
            let is_open = play.asks.iter().any(|(open, _)| *open == ask);
            if is_open && !self.input_ended {
                return Flow::Answer(ask);
            }
            self.rebase(play, ask, now);
            return Flow::Next;
        }
        if self.options.latency == Latency::Recorded {
            let due = self.stands_for(play, step.place);
            if due > now && !self.input_ended {
                return Flow::At(due);
            }
        }
        match self.reel.said(step.place) {
            Ok(said) => self.perform((number, play), step.act, said),
            Err(error) => self.unreadable(&error),
        }
        Flow::Next
    }

    /// Whether a step is to be taken, as far as that can be told without its bytes.
    fn is_wanted(&self, play: &Play, act: Act) -> bool {
        let within = matches!(play.trigger, Trigger::Asked(_));
        let belongs = match act {
            Act::Own(_) | Act::Progress(_) | Act::Ask(_) | Act::Heard(_) | Act::Withdraw(_) => true,
            Act::Log(entry) => entry != NONE,
            Act::OnStream(entry) => play.trigger == Trigger::Asked(entry),
            _ => false,
        };
        match act {
            _ if play.repeats && !(belongs && within) => false,
            Act::Stderr => self.options.stderr,
            // Nobody could answer.
            Act::Ask(_) => !self.input_ended,
            _ => true,
        }
    }

    /// The live moment that stands for the one at which the message at `place` came.
    fn stands_for(&mut self, play: &Play, place: Place) -> Moment {
        play.base.live + self.recorded(place).first.since(play.base.recorded)
    }

    /// Counts times from the answer that was waited for.
    fn rebase(&mut self, play: &mut Play, ask: u32, now: Moment) {
        let answer = self.index.asks.get(ask as usize).and_then(|ask| ask.answer);
        if let Some(place) = answer {
            play.base = Base {
                live: now,
                recorded: self.recorded(place).last,
            };
        }
    }

    /// When a recorded message came.
    fn recorded(&mut self, place: Place) -> When {
        self.reel.when(place).unwrap_or_else(|error| {
            self.unreadable(&error);
            When::default()
        })
    }
}

/// Requests of the server, and the host's answers and cancels.
impl Server {
    /// Asks the host what the recorded server asked, if the host can answer it.
    pub(super) fn ask(&mut self, (number, play): (u64, &mut Play), ask: u32, said: Said) {
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
        let id = self.last_ask;
        self.asked.insert(id, (ask, number));
        play.asks.push((ask, id));
        self.say(said, &[Edit::Replace(&["id"], &id.to_string())]);
    }

    /// Withdraws a request of ours as the recorded server did.
    pub(super) fn withdraw(&mut self, play: &mut Play, ask: u32, said: Said) {
        let mut newest = self.asked.iter().rev();
        let Some((&id, _)) = newest.find(|(_, (open, _))| *open == ask) else {
            return;
        };
        self.asked.remove(&id);
        play.asks.retain(|(_, open)| *open != id);
        let path = ["params", "requestId"];
        self.say(said, &[Edit::Replace(&path, &id.to_string())]);
    }

    /// Cancels a request of ours: its answer is not waited for any more.
    fn give_up(&mut self, id: u64, why: &str) {
        if self.asked.remove(&id).is_none() {
            return;
        }
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
        let Some((ask, play)) = number.and_then(|number| self.asked.remove(&number)) else {
            self.tally.unexpected += 1;
            return;
        };
        self.heard(play, ask, now);
        if self.told.insert(ask) {
            let recorded = self.index.asks.get(ask as usize);
            let anchor = recorded.and_then(|ask| ask.answer);
            self.play_after(Trigger::Told(ask), None, anchor, now);
        }
    }

    fn heard(&mut self, number: u64, ask: u32, now: Moment) {
        let Some(play) = self.plays.get_mut(&number) else {
            return;
        };
        play.asks.retain(|(open, _)| *open != ask);
        if play.wait == Wait::Answer(ask)
            && let Some(mut play) = self.take_play(number)
        {
            play.wait = Wait::Nothing;
            self.rebase(&mut play, ask, now);
            self.run(number, play, now);
        }
    }

    /// The host has cancelled a request of its own.
    pub(super) fn cancel(&mut self, id: &RequestId, now: Moment) {
        let is_it = |play: &Play| {
            matches!(play.trigger, Trigger::Asked(_))
                && play.live.as_ref().is_some_and(|live| live.id == *id)
        };
        let found = self.plays.iter().find(|(_, play)| is_it(play));
        let number = found.map(|(number, _)| *number);
        let Some(play) = number.and_then(|number| self.take_play(number)) else {
            let index = &self.index;
            return self.live.retain(|entry, live| {
                live.id != *id || index.entry(*entry).outcome != Outcome::Stream
            });
        };
        if play.wait == Wait::Cancel {
            // On record the answer came all the same.
            return self.answer(play, now);
        }
        for (_, ask) in &play.asks {
            self.give_up(*ask, "the request that it was for has been cancelled");
        }
    }
}
