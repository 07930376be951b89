//! The state of the session after a frame.

use super::{Answer as Answers, Job, Progress, Source};
use mcpreel_store::reader::ReadError;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::state::State;

#[derive(Clone, Copy, Debug)]
pub struct Ask {
    pub generation: u64,
    pub at: Seq,
    /// Whether the state is wanted, and not only the time.
    pub state: bool,
}

#[derive(Debug)]
pub struct Answer {
    pub ask: Ask,
    /// When the frame was complete.
    pub t: Option<Moment>,
    pub state: Option<Box<State>>,
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
        let t = source.recording.head(ask.at)?.map(|head| head.t_last);
        let state = if ask.state {
            Some(Box::new(source.recording.state_at(ask.at)?))
        } else {
            None
        };
        answers.push(Answers::State(Answer { ask, t, state }));
        Ok(Progress::Done)
    }
}
