//! Text search: over the raw bytes of all frames (bodies, stderr, noise) and over the summaries
//! of their messages, newest first.
//!
//! ```text
//!  Queue: ranges of frames ──take──▶ Looker, one per thread ──▶ SearchHit
//!    ▲                                  bytes of the frame, then its summaries
//!    └── what a step did not get to ────┘
//! ```
//!
//! There is no index: bytes are looked at where they stand, by several threads at a time, each
//! with a read-only connection of its own. A [`Search`] goes on in steps; between two of them no
//! thread runs and no statement is open, so that it can be dropped at any time, and nothing of a
//! recording that is still written is held.
//!
//! Summaries have words that are not on the wire (`14 tools`). Where a word of the text can only
//! come off the wire, summaries are read for frames with that word only.
//!
//! * `queue`: what is still to be looked at; `look`: looking at it; `pattern`: what is searched
//!   for.

mod look;
mod pattern;

use super::open;
use super::reader::ReadError;
use super::reader::reader_rows::number;
use look::{Looker, Seen};
use mcpreel_trace::clock::Clock;
use mcpreel_trace::frame::Seq;
pub use pattern::{Finder, Pattern, PatternError};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// More threads than this gain nothing: the file is read by one system call per page.
const MAX_THREADS: usize = 8;

const EXTENT: &str = "SELECT frames FROM recording";

/// A frame in which the pattern was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchHit {
    pub seq: Seq,
    /// Where the first match stands in it.
    pub place: Place,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Bytes(Range<u64>),
    /// In the summary of a message only: words that are not on the wire.
    Summary,
}

#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Nanoseconds. A step stops soon after, but for a frame that takes longer to read.
    pub nanos: u64,
    /// What the work is measured with.
    pub clock: Clock,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Frames with the pattern, from the newest to the oldest. A later step may find newer ones,
    /// in frames that a thread did not get to.
    pub hits: Vec<SearchHit>,
    /// Whether everything was looked at.
    pub done: bool,
    /// The bytes of all frames after this one were looked at.
    pub reached: Seq,
    /// Frames that are not looked at yet.
    pub left: u64,
    /// Frames that there were when the search began.
    pub of: u64,
    /// Bytes that were looked at since the search began.
    pub bytes: u64,
}

/// A search through one recording.
#[derive(Debug)]
pub struct Search {
    path: PathBuf,
    finder: Finder,
    threads: usize,
    from: Option<Seq>,
    course: Option<Course>,
    bytes: u64,
    /// Kept from step to step where nothing more comes: opening takes some milliseconds.
    lookers: Vec<Looker>,
}

/// What is looked through: so many frames.
#[derive(Debug)]
struct Course {
    frames: u64,
    queue: Queue,
}

impl Course {
    /// The frames after `after` up to `last`.
    fn new(after: u64, last: u64) -> Self {
        Self {
            frames: last.saturating_sub(after),
            queue: Queue::new(after, last),
        }
    }
}

impl Search {
    /// A search for `pattern` through the recording `path`, from the frame `from` (itself
    /// included; `None`: the last one) back to the first.
    pub fn new(path: &Path, pattern: &Pattern, from: Option<Seq>) -> Result<Self, PatternError> {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            path: path.to_owned(),
            finder: Finder::new(pattern)?,
            threads: threads.min(MAX_THREADS),
            from,
            course: None,
            bytes: 0,
            lookers: Vec::new(),
        })
    }

    /// After it was done: goes on with the frames after `after` up to `last`, which have come
    /// since.
    pub fn again(&mut self, after: Seq, last: Seq) {
        self.course = Some(Course::new(after.0, last.0));
    }

    /// Goes on for about as long as `pace` says.
    pub fn step(&mut self, pace: &Pace) -> Result<Found, ReadError> {
        let mut lookers = self.lookers()?;
        let result = self.step_with(&mut lookers, pace);
        // A recorder that ends wants the file for itself.
        if open::is_wal(&self.path).is_ok_and(|is_wal| !is_wal) {
            self.lookers = lookers;
        }
        result
    }

    fn step_with(&mut self, lookers: &mut [Looker], pace: &Pace) -> Result<Found, ReadError> {
        let began = pace.clock.now();
        let is_over = || pace.clock.now().0.saturating_sub(began.0) >= pace.nanos;
        let course = match self.course.take() {
            Some(course) => course,
            None => self.begin(lookers)?,
        };
        let mut seen = course.look(lookers, pace.clock, &is_over)?;
        self.bytes += seen.bytes;
        seen.hits.sort_by_key(|hit| std::cmp::Reverse(hit.seq));
        let left = course.queue.left();
        let found = Found {
            hits: seen.hits,
            done: left == 0,
            reached: Seq(course.queue.newest()),
            left,
            of: course.frames,
            bytes: self.bytes,
        };
        self.course = Some(course);
        Ok(found)
    }

    fn begin(&self, lookers: &[Looker]) -> Result<Course, ReadError> {
        let recording = lookers[0].recording();
        let frames = recording.read(|conn| conn.query_row(EXTENT, [], |row| number(row, 0)))?;
        let last = self.from.map_or(frames, |from| from.0.min(frames));
        Ok(Course::new(0, last))
    }

    fn lookers(&mut self) -> Result<Vec<Looker>, ReadError> {
        let mut lookers = std::mem::take(&mut self.lookers);
        while lookers.len() < self.threads {
            lookers.push(Looker::new(&self.path, self.finder.clone())?);
        }
        Ok(lookers)
    }
}

impl Course {
    /// Looks at what is left with all `lookers`, until it `is_over`; at something in any case.
    fn look(
        &self,
        lookers: &mut [Looker],
        clock: Clock,
        is_over: &(dyn Fn() -> bool + Sync),
    ) -> Result<Seen, ReadError> {
        let work = |looker: &mut Looker| -> Result<Seen, ReadError> {
            let mut seen = Seen::default();
            while let Some((lo, hi)) = self.queue.take() {
                let began = clock.now();
                let oldest = looker.look((lo, hi), is_over, &mut seen)?;
                let took = clock.now().0.saturating_sub(began.0);
                self.queue.took(hi - lo + 1, took);
                if oldest > lo {
                    self.queue.add((lo, oldest - 1));
                }
                if is_over() {
                    break;
                }
            }
            Ok(seen)
        };
        let mut all = Seen::default();
        for seen in side_by_side(lookers, &work) {
            let seen = seen?;
            all.hits.extend(seen.hits);
            all.bytes += seen.bytes;
        }
        Ok(all)
    }
}

/// Does `work` with all `lookers` at once, with the first on this thread.
fn side_by_side<T: Send>(
    lookers: &mut [Looker],
    work: &(dyn Fn(&mut Looker) -> T + Sync),
) -> Vec<T> {
    thread::scope(|scope| {
        let (own, others) = lookers.split_at_mut(1);
        let threads = others
            .iter_mut()
            .map(|looker| scope.spawn(move || work(looker)));
        let threads: Vec<_> = threads.collect();
        let own = own.iter_mut().map(work);
        let others = threads.into_iter().map(|thread| {
            let result = thread.join();
            result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        own.chain(others).collect()
    })
}

// What is still to be looked at, shared by the threads of a step.

/// Frames that are taken first, and at most: few, so that the first hits come at once; many, so
/// that a statement costs less than its rows.
const FEWEST: u64 = 64;
const MOST: u64 = 8192;

/// How long it should take to look at what is taken once, nanoseconds: a part of a step.
const CHUNK_NS: u64 = 1_000_000;

/// Ranges of frames that are not looked at yet; given out from the newest to the oldest.
#[derive(Debug, Default)]
struct Queue(Mutex<State>);

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
