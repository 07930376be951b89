//! Jobs: questions about the open recording that are answered step by step.

use mcpreel_store::reader::{ReadError, Recording, Summary};
use mcpreel_store::select::{self, Context, Scan};
use mcpreel_trace::clock::{Clock, wall_clock_ns};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::ItemKey;
use std::path::Path;

/// A view of a recording that grows is read anew at most so often, nanoseconds.
const EVERY_NS: u64 = 500_000_000;

/// Between two looks whether a scan is to stop: so many hits, and so many nanoseconds.
const HITS: usize = 500;
const STEP_NS: u64 = 20_000_000;

/// The kinds of questions, the most urgent first. A new one takes the place of an older one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    Open,
    Rows,
    Detail,
    Failure,
    State,
    Why,
    List,
    Timeline,
    Findings,
    Stats,
    Server,
    Hints,
    Search,
    Sort,
    /// A comparison, or what a replay would do.
    Preview,
    Replay,
    Export,
}

/// The work that answers a question.
pub trait Job: Send {
    type Found: Send + 'static;

    /// Works for some milliseconds (10 at most where a person waits for something else) and hands
    /// over what was found.
    fn step(&mut self, source: &Source<'_>) -> Step<Self::Found>;

    /// The recording has grown, or has ended: whether the job is to be stepped again. Called on
    /// finished jobs; a running job is asked once it has finished.
    fn grown(&mut self, _: &Growth) -> bool {
        false
    }
}

/// A closure is a job that is done in one step.
impl<T, F> Job for F
where
    T: Send + 'static,
    F: FnMut(&Source<'_>) -> Result<T, ReadError> + Send,
{
    type Found = T;

    fn step(&mut self, source: &Source<'_>) -> Step<T> {
        Ok((Progress::Done, Some(self(source)?)))
    }
}

/// Whether there is more to do, and what was found so far.
pub type Step<T> = Result<(Progress, Option<T>), ReadError>;

#[derive(Clone, Copy)]
pub struct Source<'a> {
    pub recording: &'a Recording,
    pub path: &'a Path,
    /// The session as it stood when it last grew.
    pub summary: &'a Summary,
    pub is_live: bool,
    pub clock: Clock,
    /// Whether nobody waits for the answer any more.
    pub is_stopped: &'a dyn Fn() -> bool,
}

impl Source<'_> {
    /// The facts of the recording that filters need.
    pub fn context(&self) -> Context {
        select::context(self.summary, self.is_live.then(wall_clock_ns))
    }

    /// Visits the rows that a scan finds, until `visit` says that this is enough.
    pub fn each_hit(
        &self,
        mut scan: Scan,
        mut visit: impl FnMut(ItemKey) -> Result<bool, ReadError>,
    ) -> Result<(), ReadError> {
        loop {
            let deadline = self.clock.deadline(STEP_NS);
            let found = scan.step(self.recording, HITS, deadline)?;
            for hit in &found.hits {
                if !visit(hit.key)? {
                    return Ok(());
                }
            }
            if found.done || (self.is_stopped)() {
                return Ok(());
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    More,
    Done,
}

impl Progress {
    pub fn done(is_done: bool) -> Self {
        if is_done { Self::Done } else { Self::More }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    pub after: Seq,
    pub last: Seq,
    /// Whether nothing more will come.
    pub ended: bool,
}

/// The last question of a view, and the state of the recording then.
#[derive(Debug, Default)]
pub struct LastAsk<T> {
    /// What was asked; none makes the view ask anew.
    pub what: Option<T>,
    /// The counts of the recording: others when it has grown or ended.
    counts: [u64; 5],
    /// When, nanoseconds since the viewer started.
    at_ns: u64,
    pub answered_ns: Option<u64>,
}

impl<T: PartialEq> LastAsk<T> {
    /// Notes that `what` is asked now; `None` if it need not be: the same was asked last, and the
    /// answer is on its way or still new. Else whether something else was asked last.
    pub fn renew(&mut self, what: T, counts: [u64; 5], at_ns: u64) -> Option<bool> {
        let is_other = self.what.as_ref() != Some(&what);
        // A reading that takes long is repeated seldom.
        let is_old = self.answered_ns.is_some_and(|answered_ns| {
            let took = answered_ns.saturating_sub(self.at_ns);
            at_ns.saturating_sub(self.at_ns) >= EVERY_NS.max(took.saturating_mul(4))
        });
        if !(is_other || is_old && self.counts != counts) {
            return None;
        }
        *self = Self {
            what: Some(what),
            counts,
            at_ns,
            answered_ns: None,
        };
        Some(is_other)
    }
}
