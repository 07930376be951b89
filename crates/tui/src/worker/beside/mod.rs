//! Two recordings beside each other, and what a replay of one would do.
//!
//! All of it has connections of its own and a thread of its own: it may take seconds, and the
//! recording on the screen is answered for meanwhile. A newer question stops the one at hand.

mod exchanges;
mod open;
mod recordings;

use super::{Answer as Any, diff, replay};
use crate::app::comparison::{Compared, Far};
use mcpreel_replay::recorded::Bound;
use mcpreel_share::phrases::sentence;
use mcpreel_store::library::Library;
use mcpreel_store::reader::Recording;
use mcpreel_trace::clock::Clock;
use mcpreel_trace::frame::Seq;
use std::path::PathBuf;
use std::sync::Arc;

pub use open::open;
pub use recordings::Replayed;

#[derive(Debug)]
pub enum Ask {
    /// What differs between two recordings.
    Recordings {
        generation: u64,
        left: Which,
        right: PathBuf,
        /// What the replay said that made the right one, where it was made just now.
        replayed: Option<Box<Replayed>>,
    },
    /// What differs between two exchanges of two recordings.
    Exchanges {
        generation: u64,
        /// Each recording, and the request in it.
        sides: [(Which, (Seq, u32)); 2],
        /// What is bound in the two recordings, where they were compared.
        bound: Arc<Bound>,
    },
    Survey(replay::Survey),
    /// Nobody waits for the answer any more.
    Stop,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    File(PathBuf),
    /// The one with this id, in the folder or beside the file.
    Id(String, PathBuf),
    /// The one that the file was made from.
    Parent(PathBuf),
}

#[derive(Debug)]
pub enum Answer {
    /// How far two recordings are compared.
    Comparing(u64, Far),
    Compared(u64, Box<Compared>),
    Surveyed(u64, Box<replay::Offer>),
    /// There is no answer: why, one sentence, escaped.
    Failed(u64, String),
}

pub struct Comparer {
    library: Library,
    clock: Clock,
}

struct Work<'w> {
    library: &'w Library,
    clock: Clock,
    /// Whether a newer question waits.
    is_overtaken: &'w dyn Fn() -> bool,
    tell: &'w mut dyn FnMut(Any),
}

impl Comparer {
    /// Answers about recordings, those of `library` by their ids too.
    pub fn new(library: Library, clock: Clock) -> Self {
        Self { library, clock }
    }

    /// Answers a question, unless `is_overtaken` says meanwhile that nobody waits for it any more.
    pub fn answer(&self, ask: Ask, is_overtaken: &dyn Fn() -> bool, tell: &mut dyn FnMut(Any)) {
        let mut work = Work {
            library: &self.library,
            clock: self.clock,
            is_overtaken,
            tell,
        };
        let generation = ask.generation();
        let result = match ask {
            Ask::Recordings {
                left,
                right,
                replayed,
                ..
            } => recordings::compare(&mut work, generation, &left, &right, replayed.as_deref()),
            Ask::Exchanges { sides, bound, .. } => {
                exchanges::compare(&mut work, generation, &sides, bound)
            }
            Ask::Survey(ask) => survey(&mut work, &ask),
            Ask::Stop => Ok(()),
        };
        if let Err(why) = result {
            tell(Any::Beside(Answer::Failed(generation, why)));
        }
    }
}

/// Reads what a replay would do.
fn survey(work: &mut Work<'_>, ask: &replay::Survey) -> Result<(), String> {
    let recording = work.open(&Which::File(ask.path.clone()))?;
    let offer = replay::survey(&recording, work.library, ask);
    let offer = offer.map_err(|error| sentence(&error))?;
    work.tell(Answer::Surveyed(ask.generation, Box::new(offer)));
    Ok(())
}

impl Ask {
    fn generation(&self) -> u64 {
        match self {
            Self::Recordings { generation, .. } | Self::Exchanges { generation, .. } => *generation,
            Self::Survey(ask) => ask.generation,
            Self::Stop => 0,
        }
    }
}

impl Work<'_> {
    /// Opens a recording, with all that its spool still holds.
    fn open(&self, which: &Which) -> Result<Recording, String> {
        open::open(which, self.library, self.clock)
    }

    fn tell(&mut self, answer: Answer) {
        (self.tell)(Any::Beside(answer));
    }

    fn tell_diff(&mut self, generation: u64, found: diff::Found) {
        (self.tell)(Any::Diff(diff::Answer { generation, found }));
    }
}
