//! What comes within an exchange, and after an anchor.
//!
//! A [`Play`] goes through the steps of one trigger until it has to wait: for the moment at which
//! the next step is due, for the host's answer to a request of ours, or for a cancel. The play of a
//! request ends with its answer, after which what was anchored at that answer is played.

use super::step::Flow;
use super::{Action, BURST, Ended, MOST_OPEN, Server};
use crate::mock::Latency;
use crate::mock::index::{NONE, Outcome, Place, Trigger};
use crate::mock::nearest::Near;
use crate::mock::reel::{Reel, Said};
use mcpreel_trace::clock::Moment;
use mcpreel_wire::id::RequestId;
use std::ops::Range;
use std::time::Duration;

/// How long the host has to answer a request of ours before what waits for it goes on.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Clone, Debug)]
pub struct Live {
    pub id: RequestId,
    pub token: Option<RequestId>,
    /// The level of `_meta`, where it is one.
    pub level: Option<usize>,
    pub modern: bool,
}

/// A live moment, and the recorded one that it stands for.
#[derive(Clone, Copy, Debug)]
pub struct Base {
    pub live: Moment,
    pub recorded: Moment,
}

#[derive(Debug)]
pub struct Play {
    /// The steps that are left, by number.
    pub steps: Range<usize>,
    pub trigger: Trigger,
    /// Whether the trigger has come before: then only what belongs to the exchange comes again.
    pub repeats: bool,
    pub live: Option<Live>,
    pub base: Base,
    asked_at: Moment,
    pub wait: Wait,
    pub due: Option<Moment>,
    /// Requests of ours without an answer: which one, and its live id.
    pub asks: Vec<(u32, u64)>,
    pub then: Then,
}

/// What a play waits for besides its moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    Nothing,
    /// For the host's answer to this request.
    Answer(u32),
    /// For the cancel that the recorded client sent.
    Cancel,
}

/// What comes after the last step.
#[derive(Debug)]
pub enum Then {
    Nothing,
    Answer(Answer),
    /// An error of our own, so much later, in this batch.
    Own(Vec<u8>, Duration, Option<u64>),
    Die,
}

/// The recorded answer to a request.
#[derive(Debug)]
pub struct Answer {
    pub entry: u32,
    pub place: Place,
    pub delay: Duration,
    /// The batch that it is a part of.
    pub batch: Option<u64>,
    /// What it would be without `--on-miss nearest`.
    pub mark: Option<Near>,
}

impl<R: Reel> Server<R> {
    /// Begins what the live request `live` sets off, which has been matched with the entry.
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
            recorded: self.recorded_end(found.request),
        };
        self.play(Trigger::Asked(entry), repeats, Some(live), base, then, now);
    }

    /// Sends an error of our own, so much later.
    pub(super) fn play_own(
        &mut self,
        live: Live,
        error: Vec<u8>,
        (delay, batch): (Duration, Option<u64>),
        now: Moment,
    ) {
        let then = Then::Own(error, delay, batch);
        let base = Base {
            live: now,
            recorded: Moment(0),
        };
        self.play(Trigger::Asked(NONE), false, Some(live), base, then, now);
    }

    /// Plays what is filed under an anchor that has just come for the first time, and that stands
    /// at `anchor` on record.
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
        let recorded = anchor.map_or(Moment(0), |place| self.recorded_end(place));
        let base = Base {
            live: now,
            recorded,
        };
        self.play(trigger, false, live, base, Then::Nothing, now);
    }

    fn play(
        &mut self,
        trigger: Trigger,
        repeats: bool,
        live: Option<Live>,
        base: Base,
        then: Then,
        now: Moment,
    ) {
        self.last_play += 1;
        let play = Play {
            steps: self.index.steps_of(trigger),
            trigger,
            repeats,
            live,
            base,
            asked_at: now,
            wait: Wait::Nothing,
            due: None,
            asks: Vec::new(),
            then,
        };
        self.run(self.last_play, play, now);
    }

    /// Whether no more requests can be under way.
    pub(super) fn is_full(&self) -> bool {
        self.plays.len() >= MOST_OPEN
    }

    /// What a play waited for has not come in time, or it is time for its next step.
    pub(super) fn wake(&mut self, number: u64, now: Moment) {
        let Some(mut play) = self.plays.remove(&number) else {
            return;
        };
        play.due = None;
        match std::mem::replace(&mut play.wait, Wait::Nothing) {
            Wait::Answer(ask) => self.waited_in_vain(&mut play, ask, now),
            Wait::Cancel => return self.answer(play, now),
            Wait::Nothing => {}
        }
        self.run(number, play, now);
    }

    /// Goes on until the play has to wait, or is over.
    pub(super) fn run(&mut self, number: u64, mut play: Play, now: Moment) {
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
    pub(super) fn take_play(&mut self, number: u64) -> Option<Play> {
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
            Then::Own(_, delay, _) => play.asked_at + *delay,
            Then::Answer(answer) => {
                let entry = *self.index.entry(answer.entry);
                let delay = answer.delay;
                if entry.outcome == Outcome::Late {
                    play.wait = Wait::Cancel;
                    let asked = self.recorded_end(entry.request);
                    play.asked_at + self.recorded_start(answer.place).since(asked) + delay
                } else {
                    self.answer_due(&play, answer.place) + delay
                }
            }
        };
        if due > now && !self.input_ended {
            return self.wait(number, play, due);
        }
        self.answer(play, now);
    }

    fn answer_due(&mut self, play: &Play, place: Place) -> Moment {
        match self.options.latency {
            Latency::None => play.asked_at,
            Latency::Fixed(fixed) => play.asked_at + fixed,
            Latency::Recorded => {
                play.base.live + self.recorded_start(place).since(play.base.recorded)
            }
        }
    }

    /// Says what comes at the end of a play.
    pub(super) fn answer(&mut self, play: Play, now: Moment) {
        match play.then {
            Then::Own(error, _, batch) => self.respond(Said::own(error), batch),
            Then::Answer(answer) => {
                if let Some(live) = play.live {
                    self.say_answer(&answer, live, play.repeats, now);
                }
            }
            Then::Nothing | Then::Die => {}
        }
    }
}
