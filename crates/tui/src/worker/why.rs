//! Why the session went wrong.

use super::{Answer as Answers, Job, Progress, Source};
use mcpreel_lint::cause::{Cause, causes};
use mcpreel_store::reader::ReadError;
use mcpreel_trace::clock::{Moment, wall_clock_ns};

#[derive(Clone, Copy, Debug)]
pub struct Ask {
    pub generation: u64,
}

#[derive(Debug)]
pub struct Answer {
    pub ask: Ask,
    pub causes: Vec<Cause>,
}

impl Ask {
    pub(super) fn job(self) -> Box<dyn Job> {
        Box::new(Asking(self))
    }
}

struct Asking(Ask);

impl Job for Asking {
    fn step(
        &mut self,
        source: &Source<'_>,
        answers: &mut Vec<Answers>,
    ) -> Result<Progress, ReadError> {
        let began = source.summary.wall_ns;
        let now = || Moment(wall_clock_ns().saturating_sub(began));
        let facts = source.recording.facts(source.is_live.then(now))?;
        answers.push(Answers::Why(Answer {
            ask: self.0,
            causes: causes(&facts),
        }));
        Ok(Progress::Done)
    }
}
