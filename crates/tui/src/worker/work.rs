//! A job, and how far it is.

use super::{Growth, Job, Progress};
use mcpreel_store::reader::ReadError;

pub(super) struct Work {
    /// Of the question that it answers.
    pub number: u64,
    job: Box<dyn Job>,
    done: bool,
    /// How the recording grew while it was under way: it may have looked past that place already.
    missed: Option<Growth>,
}

impl Work {
    pub fn new(job: Box<dyn Job>, number: u64) -> Self {
        Self {
            number,
            job,
            done: false,
            missed: None,
        }
    }

    /// Whether there is nothing to do for now.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Does a piece of it, as `step` does. A job that failed is done, until the recording grows.
    pub fn step(
        &mut self,
        step: impl FnOnce(&mut dyn Job) -> Result<Progress, ReadError>,
    ) -> Result<(), ReadError> {
        let progress = step(&mut *self.job);
        self.done = !matches!(progress, Ok(Progress::More));
        if self.done
            && let Some(growth) = self.missed.take()
        {
            self.done = !self.job.grown(&growth);
        }
        progress.map(|_| ())
    }

    pub fn grow(&mut self, growth: &Growth) {
        if self.done {
            self.done = !self.job.grown(growth);
            return;
        }
        let missed = self.missed.get_or_insert(*growth);
        missed.last = growth.last;
        missed.ended |= growth.ended;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::{Answer, Source};
    use mcpreel_trace::frame::Seq;
    use std::sync::{Arc, Mutex};

    struct Counting {
        grown: Arc<Mutex<Vec<Growth>>>,
    }

    impl Job for Counting {
        fn step(&mut self, _: &Source<'_>, _: &mut Vec<Answer>) -> Result<Progress, ReadError> {
            Ok(Progress::Done)
        }

        fn grown(&mut self, growth: &Growth) -> bool {
            self.grown.lock().unwrap().push(*growth);
            true
        }
    }

    fn growth(after: u64, last: u64, ended: bool) -> Growth {
        Growth {
            after: Seq(after),
            last: Seq(last),
            ended,
        }
    }

    // Rows that came while the last step of a scan was under way were never looked at.
    #[test]
    fn what_came_while_a_job_was_under_way_is_told_when_it_is_done() {
        let grown = Arc::default();
        let job = Counting {
            grown: Arc::clone(&grown),
        };
        let mut work = Work::new(Box::new(job), 1);
        work.grow(&growth(2, 3, false));
        work.grow(&growth(3, 5, true));
        assert!(grown.lock().unwrap().is_empty());
        work.step(|_| Ok(Progress::Done)).unwrap();
        assert_eq!(*grown.lock().unwrap(), [growth(2, 5, true)]);
        assert!(!work.is_done());
    }
}
