//! Why the session went wrong.

use super::{Answer as Answers, Job, Progress, Source};
use crate::lint::cause::{Cause, causes};
use crate::store::reader::ReadError;
use crate::trace::clock::{Moment, wall_clock_ns};

/// The question.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// Names the answer.
    pub generation: u64,
}

/// The answer.
#[derive(Debug)]
pub struct Answer {
    /// The question.
    pub ask: Ask,
    /// The causes, the best first.
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
