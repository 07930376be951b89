//! What the indexer's thread does each time that it wakes, and at the end of the session.

use super::disk;
use super::recorder::Files;
use super::warning::Warning;
use crate::indexer::{Budget, Finished, IndexError, Indexer};
use crate::values::State;
use mcpreel_capture::spool::SpoolReader;
use mcpreel_capture::tap::Tap;
use mcpreel_trace::clock::Moment;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// How often the room on the disk is looked at while traffic flows.
const LOOK_AT_DISK: Duration = Duration::from_millis(250);

/// A recording that cannot be written is tried again after this.
pub const RETRY: Duration = Duration::from_millis(500);

/// After so many attempts the user is told while the session goes on. A reader that is in the way
/// for once is nobody's business.
const ATTEMPTS: u32 = 3;

/// Bytes of the journal that no machine indexes in a second. Who has less time than that takes would
/// wait in vain: the next reader completes the recording in any case.
const FASTEST: u64 = 100 << 20;

/// Whether there is something to index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    None,
    Now,
    /// It is behind, and more came than it took in.
    Rest,
    /// The recording could not be written, and it is too early for another attempt.
    Later,
}

pub struct Worker {
    files: Files,
    tap: Arc<Tap>,
    written: Arc<AtomicU64>,
    indexer: Option<Indexer>,
    retry_at: Moment,
    disk_at: Moment,
    short_of_disk: bool,
    failures: u32,
    warning: Arc<Warning>,
}

impl Worker {
    pub fn new(files: Files, tap: &Arc<Tap>, warning: &Arc<Warning>) -> Self {
        Self {
            written: tap.written(),
            files,
            tap: Arc::clone(tap),
            indexer: None,
            retry_at: Moment(0),
            disk_at: Moment(0),
            short_of_disk: false,
            failures: 0,
            warning: Arc::clone(warning),
        }
    }

    /// One transaction, and a look at the disk. Returns what is left to do.
    pub fn work(&mut self) -> Need {
        self.look_at_disk();
        let was_behind = self.behind();
        self.drain();
        self.warning.tell(&self.tap);
        if self.failures >= ATTEMPTS {
            self.warning.tell_problem();
        }
        if !self.is_behind() {
            Need::None
        } else if self.tap.clock().now() < self.retry_at {
            Need::Later
        } else if self.behind() > was_behind {
            Need::Rest
        } else {
            Need::Now
        }
    }

    fn is_behind(&self) -> bool {
        self.behind() > 0
    }

    /// Bytes of the journal that are not indexed.
    fn behind(&self) -> u64 {
        let position = self.indexer.as_ref().map_or(0, Indexer::position);
        let written = self.written.load(Ordering::Acquire);
        written.saturating_sub(position)
    }

    /// One transaction, if there is something to put into it and it is not too early for another
    /// attempt. `false`: there is more than it could take.
    fn drain(&mut self) -> bool {
        let now = self.tap.clock().now();
        if !self.is_behind() || now < self.retry_at {
            return true;
        }
        let end = self.written.load(Ordering::Acquire);
        let budget = Budget::beside_a_session(self.tap.clock());
        match self
            .indexer()
            .and_then(|indexer| indexer.step(end, &budget))
        {
            Ok(progress) => {
                self.failures = 0;
                self.warning.set_problem(None);
                progress.caught_up
            }
            Err(error) => {
                self.failed(&error);
                true
            }
        }
    }

    fn failed(&mut self, error: &IndexError) {
        self.retry_at = self.tap.clock().now() + RETRY;
        self.failures += 1;
        self.warning.set_problem(Some(format!(
            "the session goes on, but its recording cannot be written ({}); it is kept in {} and \
             will be completed when it is next read",
            chain(error),
            self.files.spool.display()
        )));
    }

    fn indexer(&mut self) -> Result<&mut Indexer, IndexError> {
        let indexer = if let Some(indexer) = self.indexer.take() {
            indexer
        } else {
            let spool = SpoolReader::open(&self.files.spool)?;
            Indexer::create(&self.files.reel, &self.files.context, spool)?
        };
        Ok(self.indexer.insert(indexer))
    }

    fn look_at_disk(&mut self) {
        let now = self.tap.clock().now();
        if now < self.disk_at {
            return;
        }
        self.disk_at = now + LOOK_AT_DISK;
        let shortage = disk::shortage(&self.files.spool);
        if shortage.is_some() != self.short_of_disk {
            self.short_of_disk = shortage.is_some();
            self.tap.refuse(shortage.as_deref());
        }
    }

    /// Drains the rest, finishes the recording and removes the spool. The process may end in the
    /// middle of it: whatever is not committed then is still in the spool. Nothing is done where
    /// there is more than somebody waits for who has this `patience`.
    pub fn finish(mut self, patience: Duration) {
        if Duration::from_millis(self.behind().saturating_mul(1000) / FASTEST) > patience {
            return;
        }
        self.retry_at = Moment(0);
        while !self.drain() {}
        if self.failures > 0 || self.is_behind() {
            return;
        }
        let finished = self
            .indexer()
            .and_then(|indexer| indexer.finish(State::Complete));
        match finished {
            Ok(Finished::Pending) => {}
            Ok(finished) => {
                let released = self.indexer().map(|indexer| indexer.release_spool());
                // The next reader finds it, and that nothing of it is missing.
                drop(released);
                self.leave_wal(finished);
            }
            Err(error) => self.failed(&error),
        }
    }

    /// A viewer lets go of the file within 33 ms of seeing that it is complete.
    fn leave_wal(&mut self, mut finished: Finished) {
        while finished == Finished::StillWal {
            thread::sleep(Duration::from_millis(5));
            if self
                .indexer()
                .and_then(|indexer| indexer.leave_wal())
                .unwrap_or(true)
            {
                finished = Finished::Plain;
            }
        }
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let causes: Vec<_> = causes.map(ToString::to_string).collect();
    causes.join(": ")
}
