//! Where questions wait.

use super::{Ask, Slot};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Questions that wait: the latest of each kind, and every note in order.
#[derive(Debug, Default)]
pub struct Desk {
    waiting: Mutex<Waiting>,
    bell: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    latest: BTreeMap<Slot, Ask>,
    notes: VecDeque<Ask>,
    closed: bool,
}

#[derive(Debug)]
pub enum Next {
    Ask(Box<Ask>),
    Nothing,
    Closed,
}

impl Desk {
    /// Leaves a question; it takes the place of an older one of its kind.
    pub fn put(&self, ask: Ask) {
        let mut waiting = self.lock();
        match ask.slot() {
            Slot::Note => waiting.notes.push_back(ask),
            // Nothing about the recording before is of interest any more.
            Slot::Open => waiting.latest = BTreeMap::from([(Slot::Open, ask)]),
            slot => {
                waiting.latest.insert(slot, ask);
            }
        }
        self.bell.notify_one();
    }

    pub fn close(&self) {
        self.lock().closed = true;
        self.bell.notify_all();
    }

    /// Whether something more urgent than the work at hand waits.
    pub fn is_waiting(&self) -> bool {
        let waiting = self.lock();
        waiting.closed || !waiting.latest.is_empty() || !waiting.notes.is_empty()
    }

    /// The next question; waits for at most `patience` for one.
    pub fn next(&self, patience: Duration) -> Next {
        let waiting = self.lock();
        let waited = self.bell.wait_timeout_while(waiting, patience, |waiting| {
            !waiting.closed && waiting.latest.is_empty() && waiting.notes.is_empty()
        });
        let (mut waiting, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if waiting.closed {
            return Next::Closed;
        }
        let note = waiting.notes.pop_front();
        let ask = note.or_else(|| waiting.latest.pop_first().map(|(_, ask)| ask));
        ask.map_or(Next::Nothing, |ask| Next::Ask(Box::new(ask)))
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // A question is put or taken as a whole: a panic elsewhere leaves nothing half done.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
