//! Work beside the open recording, on a thread of its own: what two recordings differ in, a replay,
//! an export.

use super::job::Slot;
use crate::app::Viewer;
use crate::effect::{Answer, Effects};
use mcpreel_redact::Policy;
use mcpreel_replay::player::Signals;
use mcpreel_share::phrases::sentence;
use mcpreel_store::library::{Details, Entry, Library};
use mcpreel_store::reader::Recording;
use mcpreel_store::recovery;
use mcpreel_trace::clock::Clock;
use mcpreel_wire::text::escape;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The means of every errand.
#[derive(Clone, Debug)]
pub struct Means {
    pub library: Library,
    /// Reads the policy of redaction; else says why there is none, one sentence.
    pub policy: fn() -> Result<Arc<Policy>, String>,
    pub clock: Clock,
}

/// The work of an errand, which runs on a thread of its own.
type Work = Box<dyn FnOnce(&Place<'_>) -> Result<Answer, Failure> + Send>;

/// Why work could not be done: one sentence, escaped. Any error becomes one by `?`.
#[derive(Debug)]
pub struct Failure(pub String);

impl<E: std::error::Error + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(sentence(&error))
    }
}

type Failed = Box<dyn FnOnce(&mut Viewer, String) -> Effects + Send>;

pub struct Errand {
    pub slot: Slot,
    pub(crate) number: u64,
    pub(crate) work: Work,
    /// Is called where the work could not be done; the reason is one sentence, escaped.
    pub(crate) failed: Failed,
}

impl Errand {
    /// Does the work, until it is done or `signals` stop it.
    pub fn run(self, means: &Means, signals: &Signals, tell: &dyn Fn(Answer)) {
        let (slot, number, failed) = (self.slot, self.number, self.failed);
        let tell = |answer: Answer| tell(answer.to(slot, number));
        let place = Place {
            means,
            signals,
            tell: &tell,
        };
        let done = (self.work)(&place);
        tell(done.unwrap_or_else(|Failure(why)| Answer::new(move |viewer| failed(viewer, why))));
    }

    /// The answer where no thread can be started for it.
    pub fn fail(self, why: String) -> Answer {
        let failed = self.failed;
        Answer::new(move |viewer| failed(viewer, why)).to(self.slot, self.number)
    }
}

/// The place at which an errand works.
pub struct Place<'w> {
    pub means: &'w Means,
    /// Signals that stop the work.
    pub signals: &'w Signals,
    tell: &'w dyn Fn(Answer),
}

impl Place<'_> {
    /// Tells how far the work is.
    pub fn tell(&self, apply: impl FnOnce(&mut Viewer) + Send + 'static) {
        (self.tell)(Answer::new(|viewer| {
            apply(viewer);
            Effects::new()
        }));
    }

    /// Whether nobody waits for the answer any more.
    pub fn is_stopped(&self) -> bool {
        self.signals.have_come()
    }

    /// Opens a recording, with all that its spool still holds where that may be added.
    pub fn open(&self, which: &Which) -> Result<Recording, Failure> {
        let path = self.path_of(which)?;
        let entry = Entry::read(&path);
        if entry.standing.is_recoverable() && self.means.library.contains(&path) {
            // What cannot be completed is read as it stands.
            let _ = recovery::bring_up_to_date(&path, self.means.clock, &mut |_| ());
        }
        Ok(Recording::open(&path)?)
    }

    fn path_of(&self, which: &Which) -> Result<PathBuf, Failure> {
        match which {
            Which::File(path) => Ok(path.clone()),
            Which::Id(id, beside) => self.find(id, beside),
            Which::Parent(path) => {
                let entry = Entry::read(path);
                if let Details::Unreadable(error) = &entry.details {
                    return Err(Failure(sentence(error)));
                }
                let parent = entry.summary().and_then(|summary| summary.parent.clone());
                let parent = parent.or_else(|| entry.context()?.parent.clone());
                let none = "is no replay or mock of another recording: select two with Space, then press d";
                let orphan = || Failure(format!("{} {none}", escape(&entry.id)));
                self.find(&parent.ok_or_else(orphan)?, path)
            }
        }
    }

    /// The recording with this id, of the folder or of the one that `beside` lies in.
    fn find(&self, id: &str, beside: &Path) -> Result<PathBuf, Failure> {
        let other = beside.parent().map(Library::new);
        let folders = [Some(&self.means.library), other.as_ref()];
        let found = folders
            .into_iter()
            .flatten()
            .find_map(|folder| folder.with_id(id));
        found.ok_or_else(|| Failure(format!("the recording {} is not there", escape(id))))
    }
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
