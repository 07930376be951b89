//! The host no longer wants an answer.

use super::Server;
use super::play::{Answer, Play, Then, Wait};
use crate::mock::index::{Outcome, Trigger};
use crate::mock::reel::Reel;
use mcpreel_trace::clock::Moment;
use mcpreel_wire::id::RequestId;

impl<R: Reel> Server<R> {
    /// The host has cancelled a request of its own. Returns whether that was under way.
    pub(super) fn cancel(&mut self, id: &RequestId, now: Moment) -> bool {
        let is_it = |play: &Play| {
            let within = matches!(play.trigger, Trigger::Asked(_));
            within && play.live.as_ref().is_some_and(|live| live.id == *id)
        };
        let found = self.plays.iter().find(|(_, play)| is_it(play));
        let number = found.map(|(number, _)| *number);
        let Some(play) = number.and_then(|number| self.take_play(number)) else {
            return self.end_stream(id);
        };
        if play.wait == Wait::Cancel {
            // So it was on record: the answer comes all the same.
            self.answer(play, now);
            return true;
        }
        for (_, ask) in &play.asks {
            self.give_up(*ask, "the request that it was for has been cancelled");
        }
        if let Then::Answer(Answer { batch, .. }) | Then::Own(_, _, batch) = play.then {
            self.say_nothing(batch);
        }
        true
    }

    fn end_stream(&mut self, id: &RequestId) -> bool {
        let (index, before) = (&self.index, self.live.len());
        self.live
            .retain(|entry, live| live.id != *id || index.entry(*entry).outcome != Outcome::Stream);
        self.live.len() < before
    }
}
