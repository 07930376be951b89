//! The desk, on which questions wait for the reader.

use super::job::Slot;
use crate::effect::Ask;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Questions that wait: the latest of each kind, and every change in order.
#[derive(Default)]
pub struct Desk {
    waiting: Mutex<Waiting>,
    bell: Condvar,
}

#[derive(Default)]
struct Waiting {
    /// Questions that come before all jobs: changes, the recording to be opened, the folder.
    first: VecDeque<Ask>,
    jobs: BTreeMap<Slot, Ask>,
    closed: bool,
}

pub enum Next {
    Ask(Ask),
    Nothing,
    Closed,
}

impl Desk {
    /// Leaves a question; a job takes the place of an older one of its slot.
    pub fn put(&self, ask: Ask) {
        let mut waiting = self.lock();
        match ask {
            Ask::Job(slot, ..) => {
                waiting.jobs.insert(slot, ask);
            }
            ask => {
                if matches!(ask, Ask::Open(..)) {
                    // Nothing about the recording before is of interest any more.
                    waiting.jobs.clear();
                }
                waiting.first.push_back(ask);
            }
        }
        self.bell.notify_one();
    }

    pub fn close(&self) {
        self.lock().closed = true;
        self.bell.notify_all();
    }

    /// The next question; waits for at most `patience` for one.
    pub fn next(&self, patience: Duration) -> Next {
        let is_empty = |waiting: &mut Waiting| {
            !waiting.closed && waiting.first.is_empty() && waiting.jobs.is_empty()
        };
        let waited = self
            .bell
            .wait_timeout_while(self.lock(), patience, is_empty);
        let (mut waiting, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if waiting.closed {
            return Next::Closed;
        }
        let first = waiting.first.pop_front();
        let ask = first.or_else(|| waiting.jobs.pop_first().map(|(_, ask)| ask));
        ask.map_or(Next::Nothing, Next::Ask)
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // A question is put or taken as a whole: a panic elsewhere leaves nothing half done.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
