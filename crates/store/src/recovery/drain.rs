//! Draining what a recorder left in its spool, as far as there is time.

use super::{Outcome, RecoverError, Stage};
use crate::indexer::{Budget, IndexError, Indexer};
use crate::library::start_of;
use crate::{open, schema};
use mcpreel_capture::spool::SpoolReader;
use mcpreel_trace::clock::Clock;
use std::path::Path;
use std::time::Duration;

/// A recording with more frames is not derived anew while somebody waits for a list.
const QUICK: u64 = 4000;

/// A recording being recovered. Its lock is held.
pub struct Recovery {
    indexer: Indexer,
    frames_before: u64,
    size: u64,
    clock: Clock,
    deadline: Option<u64>,
}

impl Recovery {
    pub fn begin(
        reel: &Path,
        path: &Path,
        clock: Clock,
        limit: Option<Duration>,
    ) -> Result<Self, RecoverError> {
        let spool = SpoolReader::open(path)?;
        if !reel.exists() {
            drop(schema::create(
                reel,
                &*start_of(path)?,
                spool.first_position(),
            )?);
        } else if open::is_unborn(reel) {
            drop(schema::fill(
                reel,
                &*start_of(path)?,
                spool.first_position(),
            )?);
        }
        let size = spool.file_len()?;
        let indexer = Indexer::resume(reel, spool)?;
        let nanos = |limit: Duration| u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        Ok(Self {
            frames_before: indexer.frames(),
            indexer,
            size,
            clock,
            deadline: limit.map(|limit| clock.now().0.saturating_add(nanos(limit))),
        })
    }

    /// Drains the spool. `false` if the time was up before its end.
    pub fn drain(&mut self, progress: &mut dyn FnMut(Stage)) -> Result<bool, RecoverError> {
        let mut budget = Budget::alone(self.clock);
        loop {
            if let Some(deadline) = self.deadline {
                budget.nanos = deadline
                    .saturating_sub(self.clock.now().0)
                    .min(budget.nanos);
                if budget.nanos == 0 {
                    return Ok(false);
                }
            }
            let step = self.indexer.step(u64::MAX, &budget)?;
            progress(Stage::Draining {
                done: step.position,
                of: self.size,
            });
            if step.caught_up {
                return Ok(true);
            }
        }
    }

    /// Whether deriving everything anew would take longer than somebody with a deadline waits.
    pub fn is_too_long(&self) -> bool {
        self.deadline.is_some() && self.indexer.frames() > QUICK
    }

    /// Ends the recording. Returns also whether a part of the spool could not be read.
    pub fn finish(
        mut self,
        progress: &mut dyn FnMut(Stage),
    ) -> Result<(Outcome, bool), RecoverError> {
        let state = self.indexer.recover(self.frames_before, &mut |frames| {
            progress(Stage::Deriving { frames });
        })?;
        let frames = self.indexer.frames() - self.frames_before;
        let is_damaged = self.indexer.has_unread().map_err(IndexError::from)?;
        Ok((Outcome::Completed { frames, state }, is_damaged))
    }
}
