//! Who answers.
//!
//! ```text
//!  update ─▶ Effect::Ask ─▶ Desk (one slot per kind, the latest wins) ─▶ Reader: its own connection
//!    ▲                                                                      │ Job::step, some ms each
//!    └──────────────── Msg::Answer ◀── bounded channel ◀────────────────────┘
//! ```
//!
//! Every [`Ask`] becomes a [`Job`]. A job works in steps of some milliseconds; the reader steps
//! the most urgent one first, so that a long scan never holds up the rows on the screen, and it
//! follows a live recording between the steps. A new ask of a [`Slot`] replaces the job of that
//! slot, which is how things are cancelled. A job that is done is kept: when the recording grows
//! it is asked whether it has more to say.
//!
//! [`Reader`] runs without threads too: tests drive it by hand.

pub mod beside;

pub mod replay;
pub mod worker_library;

mod reader;

pub use reader::{Desk, Next, Opened, Reader, Vitals};

use crate::app::{App, Session, Viewer};
use crate::effect::{Effect, Effects};
use crate::panels::{export, notes};
use mcpreel_store::reader::{ReadError, Recording, Summary};
use mcpreel_store::select::{self, Context};
use mcpreel_trace::clock::{Clock, wall_clock_ns};
use mcpreel_trace::frame::Seq;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// A question that brings its own job, and a number by which its answers are known.
pub struct Question {
    pub slot: Slot,
    pub number: u64,
    pub job: Box<dyn Job>,
}

/// What the panel that asked does with an answer.
pub type Apply = Box<dyn FnOnce(&mut Viewer) -> Effects + Send>;

/// The answer to a [`Question`]: taken only while no newer one of its slot was asked.
pub struct Found {
    pub slot: Slot,
    pub number: u64,
    pub apply: Apply,
}

/// Numbers the questions: the latest one of each slot is the one whose answers count.
#[derive(Debug, Default)]
pub struct Questions {
    last: u64,
    latest: BTreeMap<Slot, u64>,
}

impl Questions {
    /// Asks with a job of the recording that is open; it takes the place of the one before it.
    pub fn ask(&mut self, slot: Slot, job: impl Job + 'static) -> Effect {
        self.last += 1;
        self.latest.insert(slot, self.last);
        let question = Question {
            slot,
            number: self.last,
            job: Box::new(job),
        };
        Ask::Job(question).into()
    }

    /// Stops the job of a slot: answers that are on their way do not count any more.
    pub fn stop(&mut self, slot: Slot) -> Effect {
        self.ask(slot, Nothing)
    }

    /// Whether nothing newer was asked of the slot since the question of this number.
    pub fn is_latest(&self, slot: Slot, number: u64) -> bool {
        self.latest.get(&slot) == Some(&number)
    }

    /// Opens another recording, or none: no answer about the one before counts any more.
    pub fn open(&mut self, path: Option<PathBuf>) -> Effect {
        self.last += 1;
        self.latest = BTreeMap::from([(Slot::Open, self.last)]);
        Ask::Open(self.last, path).into()
    }
}

impl Answer {
    /// What a job has found about the open recording, and what its panel does with it.
    pub fn found(apply: impl FnOnce(&mut App, &mut Session) -> Effects + Send + 'static) -> Self {
        Self::Apply(Box::new(|viewer| {
            let parts = viewer.parts();
            parts.map_or_else(Effects::new, |(app, session)| apply(app, session))
        }))
    }

    /// The answer as one to the question of this slot and number.
    fn to(self, slot: Slot, number: u64) -> Self {
        let apply = match self {
            Self::Apply(apply) => apply,
            Self::Failed(why) => Box::new(|viewer: &mut Viewer| {
                let app = &mut viewer.app;
                app.notices.error(why, app.now);
                Effects::new()
            }),
            answer => return answer,
        };
        Self::Found(Found {
            slot,
            number,
            apply,
        })
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found(found) => write!(f, "answer {} of {:?}", found.number, found.slot),
            Self::Failed(why) => write!(f, "no answer: {why}"),
            _ => f.write_str("an answer"),
        }
    }
}

impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "question {} of {:?}", self.number, self.slot)
    }
}

#[derive(Debug)]
pub enum Ask {
    Job(Question),
    /// The recordings of the folder, or something about one of them.
    Library(worker_library::Ask),
    /// The recording to be read, with the number of the question; without one, the one that is
    /// open is closed.
    Open(u64, Option<PathBuf>),
    /// A mark or note is to be written. All of them are, in order.
    Note(notes::Ask),
    /// What differs between two recordings; what a replay would do.
    Beside(beside::Ask),
    Replay(replay::Ask),
    Export(export::Ask),
}

/// The kinds of questions, the most urgent first. A new one takes the place of an older one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    Open,
    Note,
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
    Library,
    Beside,
    Replay,
    Export,
}

pub enum Answer {
    /// What a job of a [`Question`] has found; the reader makes it [`Self::Found`].
    Apply(Apply),
    Found(Found),
    Library(worker_library::Answer),
    /// What differs between two recordings; what a replay would do.
    Beside(beside::Answer),
    /// How far a replay is, or what came of it.
    Replay(replay::Answer),
    /// How far an export is, or what came of it.
    Export(export::Answer),
    /// A question could not be answered: why, one sentence.
    Failed(String),
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
    /// What a filter needs to know about the recording.
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

impl Ask {
    pub fn slot(&self) -> Slot {
        match self {
            Self::Job(question) => question.slot,
            Self::Library(worker_library::Ask::List) => Slot::Library,
            Self::Open(..) => Slot::Open,
            // What is to be written is written, whatever is asked afterwards.
            Self::Library(_) | Self::Note(_) => Slot::Note,
            Self::Beside(_) => Slot::Beside,
            Self::Replay(_) => Slot::Replay,
            Self::Export(_) => Slot::Export,
        }
    }
}

/// Takes the place of the job before it, and does nothing.
struct Nothing;

impl Job for Nothing {
    fn step(&mut self, _: &Source<'_>, _: &mut Vec<Answer>) -> Result<Progress, ReadError> {
        Ok(Progress::Done)
    }
}
