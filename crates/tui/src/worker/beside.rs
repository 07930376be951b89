//! Two recordings beside each other, and what a replay of one would do.
//!
//! All of it has connections of its own and a thread of its own: it may take seconds, and the
//! recording on the screen is answered for meanwhile. A newer question stops the one at hand.

use super::Answer as Any;
use super::replay::{self, Only};
use crate::panels::compare::{self, Content};
use mcpreel_replay::diff::{Bound, Report};
use mcpreel_share::phrases::sentence;
use mcpreel_store::library::{Details, Entry, Library};
use mcpreel_store::reader::Recording;
use mcpreel_store::recovery;
use mcpreel_trace::clock::Clock;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{ItemKey, Lens};
use mcpreel_wire::text::escape;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Debug)]
pub enum Ask {
    /// What differs between two recordings.
    Recordings {
        generation: u64,
        left: Which,
        right: PathBuf,
        /// The result of the replay that made the right one just now.
        replayed: Option<Box<Replayed>>,
    },
    /// What differs between two calls.
    Calls {
        generation: u64,
        /// One of them; none for the call of the same method and name before the other.
        left: Option<Call>,
        right: Call,
        /// The values that are bound in the two recordings, where those were compared.
        bound: Arc<Bound>,
    },
    Survey(replay::Survey),
    /// Nobody waits for the answer any more.
    Stop,
}

/// A recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    File(PathBuf),
    /// The recording with this id, in the folder or beside the file.
    Id(String, PathBuf),
    /// The recording that the file was made from.
    Parent(PathBuf),
}

/// A call: the row of a recording that it is, or that belongs to it.
#[derive(Clone, Debug)]
pub struct Call {
    pub which: Which,
    pub lens: Lens,
    pub key: ItemKey,
}

/// What a replay said that was made just now.
#[derive(Debug)]
pub struct Replayed {
    pub report: Report,
    /// Nothing after this frame was replayed.
    pub until: Seq,
    pub only: Option<Only>,
    /// Values that the server had chosen, and what was sent in their place.
    pub bound: Vec<(Box<str>, Box<str>)>,
    /// The frame of the request that the replay was made for.
    pub shows: Option<Seq>,
}

#[derive(Debug)]
pub enum Answer {
    /// How far the comparison is.
    Comparing(u64, String),
    Compared(u64, Box<dyn Content>),
    Surveyed(u64, Box<replay::Offer>),
    /// Why there is no answer, one sentence, escaped.
    Failed(u64, String),
}

pub struct Comparer {
    library: Library,
    clock: Clock,
}

/// A question that is being answered.
pub struct Work<'w> {
    library: &'w Library,
    pub clock: Clock,
    generation: u64,
    /// Whether a newer question waits.
    pub is_overtaken: &'w dyn Fn() -> bool,
    tell: &'w mut dyn FnMut(Any),
}

impl Comparer {
    /// Answers about recordings, those of `library` by their ids too.
    pub fn new(library: Library, clock: Clock) -> Self {
        Self { library, clock }
    }

    /// Answers a question, unless `is_overtaken` says meanwhile that nobody waits for it any more.
    pub fn answer(&self, ask: Ask, is_overtaken: &dyn Fn() -> bool, tell: &mut dyn FnMut(Any)) {
        let generation = match &ask {
            Ask::Recordings { generation, .. } | Ask::Calls { generation, .. } => *generation,
            Ask::Survey(ask) => ask.generation,
            Ask::Stop => return,
        };
        let mut work = Work {
            library: &self.library,
            clock: self.clock,
            generation,
            is_overtaken,
            tell,
        };
        let result = match ask {
            Ask::Recordings {
                left,
                right,
                replayed,
                ..
            } => {
                let compared = compare::recordings(&mut work, &left, &right, replayed.as_deref());
                compared.map(|one| one.map(|one| Answer::Compared(generation, one)))
            }
            Ask::Calls {
                left, right, bound, ..
            } => {
                let compared = compare::calls(&mut work, left.as_ref(), &right, &bound);
                compared.map(|one| one.map(|one| Answer::Compared(generation, one)))
            }
            Ask::Survey(ask) => survey(&work, &ask).map(Some),
            Ask::Stop => return,
        };
        match result {
            Ok(answer) => answer.into_iter().for_each(|one| tell(Any::Beside(one))),
            Err(why) => tell(Any::Beside(Answer::Failed(generation, why))),
        }
    }
}

/// Reads what a replay would do.
fn survey(work: &Work<'_>, ask: &replay::Survey) -> Result<Answer, String> {
    let recording = work.open(&Which::File(ask.path.clone()))?;
    let offer = replay::survey(&recording, work.library, ask);
    let offer = offer.map_err(|error| sentence(&error))?;
    Ok(Answer::Surveyed(ask.generation, Box::new(offer)))
}

impl Work<'_> {
    /// Opens a recording, with all that its spool still holds.
    pub fn open(&self, which: &Which) -> Result<Recording, String> {
        open(which, self.library, self.clock)
    }

    /// Tells how far the comparison is.
    pub fn far(&mut self, far: String) {
        (self.tell)(Any::Beside(Answer::Comparing(self.generation, far)));
    }
}

/// Opens it, with all that its spool still holds where that may be added; or says why not.
pub fn open(which: &Which, library: &Library, clock: Clock) -> Result<Recording, String> {
    let path = path_of(which, library)?;
    let entry = Entry::read(&path);
    if entry.standing.is_recoverable() && library.contains(&path) {
        // What cannot be completed is read as it stands.
        let _ = recovery::bring_up_to_date(&path, clock, &mut |_| ());
    }
    Recording::open(&path).map_err(|error| sentence(&error))
}

fn path_of(which: &Which, library: &Library) -> Result<PathBuf, String> {
    match which {
        Which::File(path) => Ok(path.clone()),
        Which::Id(id, beside) => find(id, beside, library),
        Which::Parent(path) => {
            let entry = Entry::read(path);
            if let Details::Unreadable(error) = &entry.details {
                return Err(sentence(error));
            }
            let parent = entry.summary().and_then(|summary| summary.parent.clone());
            let parent = parent.or_else(|| entry.context()?.parent.clone());
            let parent = parent.ok_or_else(|| {
                let id = escape(&entry.id).into_owned();
                format!("{id} was not made from another recording")
            })?;
            find(&parent, path, library)
        }
    }
}

/// The recording with this id, of the folder or of the one that `beside` lies in.
fn find(id: &str, beside: &Path, library: &Library) -> Result<PathBuf, String> {
    let other = beside.parent().map(Library::new);
    let mut folders = [Some(library), other.as_ref()].into_iter().flatten();
    let found = folders.find_map(|folder| folder.with_id(id));
    found.ok_or_else(|| format!("the recording {} is not there", escape(id)))
}
