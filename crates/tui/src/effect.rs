//! Messages, which come in, and effects, which an update wants done.

use crate::app::{App, Session, Viewer};
use crate::keymap::Key;
use crate::worker::errand::{Errand, Failure, Place, Which};
use crate::worker::job::{Growth, Job, Slot, Source, Step};
use crossterm::event::MouseEvent;
use mcpreel_store::reader::ReadError;
use std::collections::BTreeMap;
use std::path::PathBuf;

pub use crate::notice::Now;

pub enum Msg {
    Key(Key),
    Mouse(MouseEvent),
    Paste(String),
    /// The terminal has this many columns and rows.
    Resize(u16, u16),
    Tick(Now),
    /// The viewer is to end: the terminal has gone, or this signal says so.
    Leave(Option<i32>),
    Answer(Answer),
}

/// Something that an update wants done.
pub enum Effect {
    /// A question for the worker; it takes the place of an unanswered one of its kind.
    Ask(Ask),
    /// Put this into the clipboard of the terminal.
    Copy(String),
    /// Show this on the normal screen until a key is pressed.
    Print(String),
    /// Ask the terminal for mouse events, or stop.
    Mouse(bool),
    /// Keep the layout, theme and mouse for the next time.
    Remember,
    Suspend,
    Repaint,
    Quit,
    /// Give the terminal back for this.
    Leave(Next),
}

/// What comes after the viewer, on the normal screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    Demo,
    /// Have this server of a host recorded, `HOST:SERVER`.
    Wrap(String),
}

pub type Effects = Vec<Effect>;

impl From<Ask> for Effect {
    fn from(ask: Ask) -> Self {
        Self::Ask(ask)
    }
}

pub enum Ask {
    /// The recording to be read, with the number of the question; without one, the one that is
    /// open is closed.
    Open(u64, Option<PathBuf>),
    /// A job of the open recording, with its slot and number.
    Job(Slot, u64, Box<dyn Asked>),
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

    /// Asks with a job of the recording that is open, which takes the place of the job before it.
    /// `found` is done with what the job finds.
    pub fn ask<J: Job + 'static>(&mut self, slot: Slot, job: J, found: Found<J::Found>) -> Effect {
        Ask::Job(slot, self.number(slot), Box::new((job, found))).into()
    }

    /// Stops the job of a slot: answers that are on their way do not count any more.
    pub fn stop(&mut self, slot: Slot) -> Effect {
        self.ask(slot, |_: &Source<'_>| Ok(()), |_, _, ()| vec![])
    }

    /// Has `work` done beside the open recording; the errand of the slot before it is
    /// stopped. `failed` is done where the work could not be.
    pub fn send(
        &mut self,
        slot: Slot,
        failed: impl FnOnce(&mut Viewer, String) -> Effects + Send + 'static,
        work: impl FnOnce(&Place<'_>) -> Result<Answer, Failure> + Send + 'static,
    ) -> Effect {
        let errand = Errand {
            slot,
            number: self.number(slot),
            work: Box::new(work),
            failed: Box::new(failed),
        };
        Ask::Errand(errand).into()
    }

    /// Has the open recording read on a thread of its own; `found` is done with what was read. The
    /// reading of the slot before it is stopped.
    pub fn read<T: Send + 'static>(
        &mut self,
        slot: Slot,
        session: &Session,
        read: impl FnOnce(&Source<'_>, &Place<'_>) -> Result<T, ReadError> + Send + 'static,
        found: Found<T>,
    ) -> Effect {
        let (path, is_live) = (session.path.clone(), session.is_live());
        let failed = |viewer: &mut Viewer, why| viewer.app.refuse(why);
        self.send(slot, failed, move |place| {
            let recording = place.open(&Which::File(path.clone()))?;
            let source = Source {
                recording: &recording,
                path: &path,
                summary: &recording.summary()?,
                is_live,
                clock: place.means.clock,
                is_stopped: &|| place.is_stopped(),
            };
            let read = read(&source, place)?;
            Ok(Answer::found(move |app, session| found(app, session, read)))
        })
    }

    /// Opens another recording, or none: no answer about the one before counts any more.
    pub fn open(&mut self, path: Option<PathBuf>) -> Effect {
        self.latest.retain(|slot, _| *slot >= Slot::Preview);
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
        Self::new(|viewer| viewer.in_session(apply))
    }

    /// Something could not be done: why, one sentence, escaped.
    pub fn failed(why: String) -> Self {
        Self::new(|viewer| viewer.app.refuse(why))
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

/// Changes the state by what a job has found.
pub type Found<T> = fn(&mut App, &mut Session, T) -> Effects;

/// A job together with what is done with what it finds.
pub trait Asked: Send {
    fn step(&mut self, source: &Source<'_>) -> Step<Answer>;
    fn grown(&mut self, growth: &Growth) -> bool;
}

impl<J: Job> Asked for (J, Found<J::Found>) {
    fn step(&mut self, source: &Source<'_>) -> Step<Answer> {
        let (progress, found) = self.0.step(source)?;
        let apply = self.1;
        let answer = |found| Answer::found(move |app, session| apply(app, session, found));
        Ok((progress, found.map(answer)))
    }

    fn grown(&mut self, growth: &Growth) -> bool {
        self.0.grown(growth)
    }
}
