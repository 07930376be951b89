//! What was true at a moment, and what comes after it.

use super::{Answer as Answers, Job, Progress, Source};
use mcpreel_store::reader::ReadError;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::state::State;

/// Frames that are handed over at once for playing.
const AHEAD: u32 = 1000;

#[derive(Clone, Copy, Debug)]
pub struct Ask {
    pub generation: u64,
    pub at: Seq,
    /// Whether it is asked what was true then.
    pub state: bool,
    /// The frame after which the next ones are wanted, for playing.
    pub ahead: Option<Seq>,
}

#[derive(Debug)]
pub struct Answer {
    pub ask: Ask,
    pub t: Option<Moment>,
    /// What was true then, if that was asked.
    pub state: Option<Box<State>>,
    /// The frames that come next, with their times; none are left where there are none.
    pub ahead: Vec<(Seq, Moment)>,
}

impl Ask {
    pub(super) fn job(self) -> Box<dyn Job> {
        Box::new(Looking(self))
    }
}

struct Looking(Ask);

impl Job for Looking {
    fn step(
        &mut self,
        source: &Source<'_>,
        answers: &mut Vec<Answers>,
    ) -> Result<Progress, ReadError> {
        let ask = self.0;
        let recording = source.recording;
        let t = recording.head(ask.at)?.map(|head| head.t_last);
        let ahead = match ask.ahead {
            Some(after) => recording.heads(after, AHEAD)?,
            None => Vec::new(),
        };
        let state = if ask.state {
            Some(Box::new(recording.state_at(ask.at)?))
        } else {
            None
        };
        answers.push(Answers::State(Answer {
            ask,
            t,
            state,
            ahead: ahead.iter().map(|head| (head.seq, head.t_last)).collect(),
        }));
        Ok(Progress::Done)
    }
}
