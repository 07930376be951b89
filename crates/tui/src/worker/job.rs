//! Jobs: questions about the open recording that are answered step by step.

use mcpreel_store::reader::{ReadError, Recording, Summary};
use mcpreel_store::select::{self, Context};
use mcpreel_trace::clock::{Clock, wall_clock_ns};
use mcpreel_trace::frame::Seq;
use std::path::Path;

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
    Hints,
    Search,
    /// A comparison, or what a replay would do.
    Beside,
    Replay,
    Export,
}

/// The work that answers a question.
pub trait Job: Send {
    type Found: Send + 'static;

    /// Works for some milliseconds (10 at most where a person waits for something else) and hands
    /// over what was found.
    fn step(&mut self, source: &Source<'_>) -> Step<Self::Found>;

    /// The recording has grown, or has ended: whether the job is to be stepped again. Asked of
    /// jobs that are done; the others are asked as soon as they are.
    fn grown(&mut self, _: &Growth) -> bool {
        false
    }
}

/// Whether there is more to do, and what was found so far.
pub type Step<T> = Result<(Progress, Option<T>), ReadError>;

#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    pub recording: &'a Recording,
    pub path: &'a Path,
    /// The session as it stood when it last grew.
    pub summary: &'a Summary,
    pub is_live: bool,
    pub clock: Clock,
}

impl Source<'_> {
    /// The facts of the recording that filters need.
    pub fn context(&self) -> Context {
        select::context(self.summary, self.is_live.then(wall_clock_ns))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    More,
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    pub after: Seq,
    pub last: Seq,
    /// Whether nothing more will come.
    pub ended: bool,
}
