//! The worker, which answers the questions of the panels.
//!
//! ```text
//!  update ─▶ Effect::Ask ─▶ Desk (one slot per kind, the latest wins) ─▶ Reader: its own connection
//!    ▲                └───▶ a thread for an errand                          │ Job::step, some ms each
//!    └──────────────── Msg::Answer ◀── bounded channel ◀────────────────────┘
//! ```
//!
//! A panel asks about the open recording with a [`Job`]. A job works in steps of some milliseconds;
//! the reader steps the most urgent one first, so that a long scan never holds up the rows on the
//! screen, and it follows a live recording between the steps. A new question of a [`Slot`] replaces
//! the job of that slot, which is how things are cancelled. A job that is done is kept: when the
//! recording grows it is asked whether it has more to say.
//!
//! Work that takes seconds and needs no open recording is an [`Errand`]: a comparison, a replay, an
//! export. Every answer says what its panel does with it.
//!
//! [`Reader`] runs without threads too: tests drive it by hand.

mod desk;
mod errand;
mod librarian;
mod reader;
mod vitals;

pub use desk::{Desk, Next};
pub use errand::{Errand, Means, Place, Which};
pub use librarian::Row;
pub use reader::Reader;
pub use vitals::{Opening, Vitals};

use crate::app::{App, Session, Viewer};
use crate::effect::{Effect, Effects};
use mcpreel_store::reader::{ReadError, Recording, Summary};
use mcpreel_store::select::{self, Context};
use mcpreel_trace::clock::{Clock, wall_clock_ns};
use mcpreel_trace::frame::Seq;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

pub enum Ask {
    /// The recording to be read, with the number of the question; without one, the one that is
    /// open is closed.
    Open(u64, Option<PathBuf>),
    /// A job of the open recording, with its slot and number.
    Job(Slot, u64, Box<dyn Job>),
    /// The recordings of the folder.
    List,
    /// A mark, a note or a deletion. All changes are made, in order.
    Change(Change),
    Errand(Errand),
    /// The errand of this slot is to stop; once more, and what it has started is killed.
    Stop(Slot),
}

/// Makes a change to a file.
pub type Change = Box<dyn FnOnce() -> Answer + Send>;

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
    Story,
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

/// Numbers the questions: the latest one of each slot is the one whose answers count.
#[derive(Debug, Default)]
pub struct Questions {
    last: u64,
    latest: BTreeMap<Slot, u64>,
}

impl Questions {
    fn number(&mut self, slot: Slot) -> u64 {
        self.last += 1;
        self.latest.insert(slot, self.last);
        self.last
    }

    /// Asks with a job of the recording that is open; it takes the place of the one before it.
    pub fn ask(&mut self, slot: Slot, job: impl Job + 'static) -> Effect {
        Ask::Job(slot, self.number(slot), Box::new(job)).into()
    }

    /// Stops the job of a slot: answers that are on their way do not count any more.
    pub fn stop(&mut self, slot: Slot) -> Effect {
        self.ask(slot, Nothing)
    }

    /// Has `work` done beside the open recording; the errand of the slot before it is
    /// stopped. `failed` is done where the work could not be.
    pub fn send(
        &mut self,
        slot: Slot,
        failed: fn(&mut Viewer, String) -> Effects,
        work: impl FnOnce(&Place<'_>) -> Result<Answer, String> + Send + 'static,
    ) -> Effect {
        let number = self.number(slot);
        let work = Box::new(work);
        Ask::Errand(Errand {
            slot,
            number,
            work,
            failed,
        })
        .into()
    }

    /// Opens another recording, or none: no answer about the one before counts any more.
    pub fn open(&mut self, path: Option<PathBuf>) -> Effect {
        self.latest.retain(|slot, _| *slot >= Slot::Beside);
        Ask::Open(self.number(Slot::Open), path).into()
    }

    fn is_latest(&self, slot: Slot, number: u64) -> bool {
        self.latest.get(&slot) == Some(&number)
    }
}

/// An answer: a change that its panel makes to the state.
pub struct Answer {
    /// The question of the answer, which counts only while no newer one of the slot was asked.
    to: Option<(Slot, u64)>,
    apply: Box<dyn FnOnce(&mut Viewer) -> Effects + Send>,
}

impl Answer {
    pub fn new(apply: impl FnOnce(&mut Viewer) -> Effects + Send + 'static) -> Self {
        Self {
            to: None,
            apply: Box::new(apply),
        }
    }

    /// About the open recording: dropped where none is open any more.
    pub fn found(apply: impl FnOnce(&mut App, &mut Session) -> Effects + Send + 'static) -> Self {
        Self::new(|viewer| {
            let parts = viewer.parts();
            parts.map_or_else(Effects::new, |(app, session)| apply(app, session))
        })
    }

    /// Something could not be done: why, one sentence, escaped.
    pub fn failed(why: String) -> Self {
        Self::new(|viewer| {
            viewer.app.notices.error(why, viewer.app.now);
            Effects::new()
        })
    }

    /// The answer as one to the question of this slot and number.
    pub fn to(self, slot: Slot, number: u64) -> Self {
        let to = Some((slot, number));
        Self { to, ..self }
    }

    /// Makes the change, unless a newer question was asked meanwhile.
    pub fn apply(self, viewer: &mut Viewer) -> Effects {
        let questions = &viewer.app.questions;
        let counts = |(slot, number)| questions.is_latest(slot, number);
        if self.to.is_none_or(counts) {
            (self.apply)(viewer)
        } else {
            Effects::new()
        }
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an answer to {:?}", self.to)
    }
}

impl fmt::Debug for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Job(slot, number, _) => write!(f, "question {number} of {slot:?}"),
            Self::Errand(errand) => write!(f, "errand of {:?}", errand.slot),
            Self::Stop(slot) => write!(f, "stop {slot:?}"),
            _ => f.write_str("a question"),
        }
    }
}

/// The work that answers a question.
pub trait Job: Send {
    /// Works for some milliseconds (10 at most where a person waits for something else) and hands
    /// over what it has found.
    fn step(
        &mut self,
        source: &Source<'_>,
        answers: &mut Vec<Answer>,
    ) -> Result<Progress, ReadError>;

    /// The recording has grown, or has ended: whether this is to be stepped again. Asked of those
    /// that are done; the others are asked as soon as they are.
    fn grown(&mut self, growth: &Growth) -> bool {
        let _ = growth;
        false
    }
}

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

/// Takes the place of the job before it, and does nothing.
struct Nothing;

impl Job for Nothing {
    fn step(&mut self, _: &Source<'_>, _: &mut Vec<Answer>) -> Result<Progress, ReadError> {
        Ok(Progress::Done)
    }
}
