//! Requests of the server, and the host's answers to them.

use super::play::Play;
use super::say::with;
use super::{Action, MOST_OPEN, Server, own};
use crate::compare::{Class, Half, Side, compare};
use crate::mock::index::Trigger;
use crate::mock::reel::{Reel, Said};
use mcpreel_trace::clock::Moment;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::json::{Edit, edit};

/// A request that went to the host under an id of ours.
#[derive(Debug)]
pub enum Asked {
    /// A recorded one, and the play that it was made in.
    Recorded { ask: u32, play: u64 },
    /// One of the server behind us, with its own id there.
    Behind(RequestId),
}

impl<R: Reel> Server<R> {
    /// Asks the host what the recorded server asked, if it may.
    pub(super) fn ask(&mut self, (number, play): (u64, &mut Play), ask: u32, said: Said) {
        let may = with(&said.message, |root| {
            let method = root.get("method")?.as_str()?;
            Some(self.client.may_be_asked(&method, root.get("params")))
        });
        if may != Some(true) || self.asked.len() >= MOST_OPEN {
            self.tally.not_asked += 1;
            return;
        }
        let asked = Asked::Recorded { ask, play: number };
        let id = self.our_id(asked);
        play.asks.push((ask, id));
        self.say(said, &[Edit::Replace(&["id"], &id.to_string())]);
    }

    /// A new id for a request to the host.
    pub(super) fn our_id(&mut self, asked: Asked) -> u64 {
        self.last_ask += 1;
        self.asked.insert(self.last_ask, asked);
        self.last_ask
    }

    /// The recorded server withdrew a request of its own.
    pub(super) fn withdraw(&mut self, play: &mut Play, ask: u32, said: Said) {
        let is_it = |asked: &Asked| matches!(asked, Asked::Recorded { ask: it, .. } if *it == ask);
        let newest = self.asked.iter().rev().find(|(_, asked)| is_it(asked));
        let Some(id) = newest.map(|(id, _)| *id) else {
            return;
        };
        self.asked.remove(&id);
        play.asks.retain(|(_, open)| *open != id);
        let path = ["params", "requestId"];
        self.say(said, &[Edit::Replace(&path, &id.to_string())]);
    }

    /// An answer of the host is not waited for any more, and it is told so.
    pub(super) fn give_up(&mut self, id: u64, why: &str) {
        if self.asked.remove(&id).is_some() {
            self.tally.unanswered += 1;
            if self.tally.unanswered == 1 {
                let text = format!("the host has not answered our request {id}: {why}");
                self.act(Action::Say(text));
            }
            self.write(Said::own(own::cancelled(id, why)));
        }
    }

    pub(super) fn answered(&mut self, id: Option<&RequestId>, message: &[u8], now: Moment) {
        let number = id.and_then(|id| id.json().parse::<u64>().ok());
        let asked = number.and_then(|number| self.asked.remove(&number));
        match asked {
            Some(Asked::Recorded { ask, play }) => {
                self.compare_answer(ask, message);
                self.heard(play, ask, now);
                let recorded = self.index.asks.get(ask as usize);
                let anchor = recorded.and_then(|ask| ask.answer);
                if self.told.insert(ask) {
                    self.play_after(Trigger::Told(ask), None, anchor, now);
                }
            }
            Some(Asked::Behind(id)) => {
                let answer = edit(message, &[Edit::Replace(&["id"], id.json())]);
                let mut line = answer.unwrap_or_default();
                line.push(b'\n');
                self.act(Action::Pass(line));
            }
            None => self.tally.unexpected += 1,
        }
    }

    /// The host's answer beside the recorded one. Whatever it is, it is taken.
    fn compare_answer(&mut self, ask: u32, live: &[u8]) {
        let recorded = self.index.asks.get(ask as usize);
        let Some(answer) = recorded.and_then(|ask| ask.answer) else {
            return;
        };
        let Ok(said) = self.reel.said(answer) else {
            return;
        };
        let side = |text| Side {
            text: Some(text),
            wall_ns: None,
        };
        let found = compare(Half::Response, side(&said.message), side(live));
        if found.worst().is_some_and(|worst| worst != Class::Noise) {
            self.tally.answered_otherwise(answer);
        }
    }
}
