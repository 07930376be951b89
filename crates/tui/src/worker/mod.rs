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
pub mod detail;
pub mod diff;
pub mod export;
pub mod failures;
pub mod findings;
pub mod library;
pub mod list;
pub mod note;
pub mod open;
pub mod playback;
pub mod replay;
pub mod search;
pub mod stats;
pub mod timeline;
pub mod why;

mod desk;
mod reader;
mod requests;
mod work;

pub use desk::{Desk, Next};
pub use reader::Reader;

use mcpreel_store::reader::{ReadError, Recording, Summary};
use mcpreel_store::select::{self, Context};
use mcpreel_trace::clock::{Clock, wall_clock_ns};
use mcpreel_trace::frame::Seq;
use std::path::Path;

#[derive(Debug)]
pub enum Ask {
    /// The recordings of the folder, or something about one of them.
    Library(library::Ask),
    Open(open::Ask),
    List(list::Ask),
    Rows(list::Rows),
    Detail(detail::Ask),
    Story(detail::AskStory),
    Timeline(timeline::Ask),
    Stats(stats::Ask),
    Findings(findings::Ask),
    Search(search::Ask),
    /// Where the next failure is.
    Failure(failures::Ask),
    /// What differs between two exchanges.
    Diff(diff::Ask),
    State(playback::Ask),
    Why(why::Ask),
    /// A mark or note is to be written. All of them are, in order.
    Note(note::Ask),
    /// Values of a field that were seen, and what a filter that fits nothing might leave out.
    Hints(list::Hints),
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
    Diff,
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

#[derive(Debug)]
pub enum Answer {
    Library(library::Answer),
    /// How the recording that is open stands; after each growth.
    Open(open::Answer),
    List(list::Answer),
    Rows(list::RowsAnswer),
    Detail(detail::Answer),
    Story(detail::StoryAnswer),
    Timeline(timeline::Answer),
    Stats(stats::Answer),
    Findings(findings::Answer),
    Search(search::Answer),
    Failure(failures::Answer),
    /// What differs between two exchanges.
    Diff(diff::Answer),
    State(playback::Answer),
    Why(why::Answer),
    Note(note::Answer),
    /// Values of a field, and relaxations.
    Hints(list::HintsAnswer),
    /// What differs between two recordings; what a replay would do.
    Beside(beside::Answer),
    /// How far a replay is, or what came of it.
    Replay(replay::Answer),
    /// How far an export is, or what came of it.
    Export(export::Answer),
    /// A question could not be answered.
    Failed(Slot, String),
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
            Self::Library(library::Ask::List) => Slot::Library,
            Self::Open(_) => Slot::Open,
            Self::List(_) => Slot::List,
            Self::Rows(_) => Slot::Rows,
            Self::Detail(_) => Slot::Detail,
            Self::Story(_) => Slot::Story,
            Self::Timeline(_) => Slot::Timeline,
            Self::Stats(_) => Slot::Stats,
            Self::Findings(_) => Slot::Findings,
            Self::Search(_) => Slot::Search,
            Self::Failure(_) => Slot::Failure,
            Self::Diff(_) => Slot::Diff,
            Self::State(_) => Slot::State,
            Self::Why(_) => Slot::Why,
            // What is to be written is written, whatever is asked afterwards.
            Self::Library(_) | Self::Note(_) => Slot::Note,
            Self::Hints(_) => Slot::Hints,
            Self::Beside(_) => Slot::Beside,
            Self::Replay(_) => Slot::Replay,
            Self::Export(_) => Slot::Export,
        }
    }

    /// The work that answers it; none for what the reader does itself, or somebody else.
    pub fn job(self) -> Option<Box<dyn Job>> {
        Some(match self {
            Self::Library(_)
            | Self::Open(_)
            | Self::Note(_)
            | Self::Beside(_)
            | Self::Replay(_)
            | Self::Export(_) => return None,
            Self::List(ask) => ask.job(),
            Self::Rows(ask) => ask.job(),
            Self::Detail(ask) => ask.job(),
            Self::Story(ask) => ask.job(),
            Self::Timeline(ask) => ask.job(),
            Self::Stats(ask) => ask.job(),
            Self::Findings(ask) => ask.job(),
            Self::Search(ask) => ask.job(),
            Self::Failure(ask) => ask.job(),
            Self::Diff(ask) => ask.job(),
            Self::State(ask) => ask.job(),
            Self::Why(ask) => ask.job(),
            Self::Hints(ask) => ask.job(),
        })
    }
}

/// The work of a question that only takes the place of the one before it.
fn nothing() -> Box<dyn Job> {
    struct Nothing;
    impl Job for Nothing {
        fn step(&mut self, _: &Source<'_>, _: &mut Vec<Answer>) -> Result<Progress, ReadError> {
            Ok(Progress::Done)
        }
    }
    Box::new(Nothing)
}
