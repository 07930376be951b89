//! One step of a play: whether it is taken, when, and how.

use super::Server;
use super::play::{Base, Play, Wait};
use crate::mock::Latency;
use crate::mock::index::{Act, NONE, Place, Trigger};
use crate::mock::reel::{Reel, When};
use mcpreel_trace::clock::Moment;

pub enum Flow {
    Next,
    /// It is not to be taken before this moment.
    At(Moment),
    /// The host's answer to this request of ours is waited for.
    Answer(u32),
}

impl<R: Reel> Server<R> {
    pub(super) fn step(&mut self, number: u64, play: &mut Play, step: usize, now: Moment) -> Flow {
        let Some(step) = self.index.step(step) else {
            return Flow::Next;
        };
        if !self.is_wanted(play, step.act) {
            return Flow::Next;
        }
        if let Act::Heard(ask) = step.act {
            return self.hear(play, ask, now);
        }
        if self.options.latency == Latency::Recorded {
            let start = self.recorded_start(step.place);
            let due = play.base.live + start.since(play.base.recorded);
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
        if play.repeats && !(belongs && within) {
            return false;
        }
        match act {
            Act::Stderr => self.options.stderr,
            // Nobody could answer.
            Act::Ask(_) => !self.input_ended,
            _ => true,
        }
    }

    /// The recorded server waited for an answer here.
    fn hear(&mut self, play: &mut Play, ask: u32, now: Moment) -> Flow {
        let is_open = play.asks.iter().any(|(open, _)| *open == ask);
        if is_open && !self.input_ended {
            return Flow::Answer(ask);
        }
        self.rebase(play, ask, now);
        Flow::Next
    }

    /// The host has answered a request of ours, for which a play may wait.
    pub(super) fn heard(&mut self, number: u64, ask: u32, now: Moment) {
        let Some(play) = self.plays.get_mut(&number) else {
            return;
        };
        play.asks.retain(|(open, _)| *open != ask);
        if play.wait != Wait::Answer(ask) {
            return;
        }
        if let Some(mut play) = self.take_play(number) {
            play.wait = Wait::Nothing;
            self.rebase(&mut play, ask, now);
            self.run(number, play, now);
        }
    }

    /// The host has not answered in time: its answer is not waited for any more.
    pub(super) fn waited_in_vain(&mut self, play: &mut Play, ask: u32, now: Moment) {
        if let Some(at) = play.asks.iter().position(|(open, _)| *open == ask) {
            let (_, id) = play.asks.remove(at);
            if !self.input_ended {
                self.give_up(id, "no answer within 30 s");
            }
        }
        self.rebase(play, ask, now);
    }

    /// Times count from the answer that was waited for.
    fn rebase(&mut self, play: &mut Play, ask: u32, now: Moment) {
        let answer = self.index.asks.get(ask as usize).and_then(|ask| ask.answer);
        if let Some(place) = answer {
            play.base = Base {
                live: now,
                recorded: self.recorded_end(place),
            };
        }
    }

    /// When the last byte of a recorded message came. Only asked for where it counts.
    pub(super) fn recorded_end(&mut self, place: Place) -> Moment {
        self.recorded(place).last
    }

    pub(super) fn recorded_start(&mut self, place: Place) -> Moment {
        self.recorded(place).first
    }

    fn recorded(&mut self, place: Place) -> When {
        match self.reel.when(place) {
            Ok(when) => when,
            Err(error) => {
                self.unreadable(&error);
                When::default()
            }
        }
    }
}
