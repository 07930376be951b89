//! What is still to be looked at, shared by the threads of a step.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Frames that are taken first, and at most: few, so that the first hits come at once; many, so
/// that a statement costs less than its rows.
const FEWEST: u64 = 64;
const MOST: u64 = 8192;

/// How long it should take to look at what is taken once, nanoseconds: a part of a step.
const CHUNK_NS: u64 = 1_000_000;

/// Ranges of frames that are not looked at yet; given out from the newest to the oldest.
#[derive(Debug, Default)]
pub(super) struct Queue(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// Both ends included; in ascending order, apart from each other.
    ranges: Vec<(u64, u64)>,
    chunk: u64,
}

impl Queue {
    /// All frames after `after` up to `last`.
    pub fn new(after: u64, last: u64) -> Self {
        let queue = Self::default();
        queue.state().chunk = FEWEST;
        queue.add((after.saturating_add(1), last));
        queue
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Whoever panics is not within a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a range; nothing if its ends are the wrong way round.
    pub fn add(&self, (lo, hi): (u64, u64)) {
        if lo <= hi {
            let ranges = &mut self.state().ranges;
            ranges.push((lo, hi));
            ranges.sort_unstable();
        }
    }

    /// Takes some of the newest frames.
    pub fn take(&self) -> Option<(u64, u64)> {
        let mut state = self.state();
        let (lo, hi) = state.ranges.pop()?;
        let start = hi.saturating_sub(state.chunk - 1).max(lo);
        if start > lo {
            state.ranges.push((lo, start - 1));
        }
        Some((start, hi))
    }

    /// So many of the frames that were taken at once took so long.
    pub fn took(&self, frames: u64, nanos: u64) {
        let mut state = self.state();
        if frames < state.chunk {
            return;
        }
        let chunk = match nanos {
            ..CHUNK_NS => state.chunk.saturating_mul(2),
            _ => state.chunk / 2,
        };
        state.chunk = chunk.clamp(FEWEST, MOST);
    }

    pub fn left(&self) -> u64 {
        let frames = |&(lo, hi): &(u64, u64)| hi - lo + 1;
        self.state().ranges.iter().map(frames).sum()
    }

    /// The newest frame that is left, 0 if none is.
    pub fn newest(&self) -> u64 {
        self.state().ranges.last().map_or(0, |&(_, hi)| hi)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_is_given_out_first_and_nothing_is_lost() {
        let queue = Queue::new(10, 1000);
        assert_eq!((queue.left(), queue.newest()), (990, 1000));
        assert_eq!(queue.take(), Some((937, 1000)));
        assert_eq!(queue.take(), Some((873, 936)));
        queue.add((937, 950));
        assert_eq!((queue.left(), queue.newest()), (876, 950));
        let mut taken = 0;
        while let Some((lo, hi)) = queue.take() {
            taken += hi - lo + 1;
        }
        assert_eq!((taken, queue.left(), queue.newest()), (876, 0, 0));
        assert_eq!(Queue::new(5, 5).take(), None);
    }
}
