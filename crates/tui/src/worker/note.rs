//! Marks and notes. Every one is written, at once and in order, on a connection of its own.

use mcpreel_store::annotate;
use mcpreel_trace::frame::Seq;
use std::path::PathBuf;

#[derive(Debug)]
pub struct Ask {
    pub path: PathBuf,
    /// The frame; none for a note on the recording as a whole.
    pub frame: Option<Seq>,
    pub what: What,
}

/// A mark or a note; none takes it away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// A mark: a word, empty for a plain mark.
    Mark(Option<Box<str>>),
    Note(Option<Box<str>>),
}

#[derive(Debug)]
pub struct Answer {
    pub frame: Option<Seq>,
    pub what: What,
    /// Why it could not be, one sentence.
    pub error: Option<String>,
}

impl Ask {
    pub(super) fn write(self) -> Answer {
        let result = match (&self.what, self.frame) {
            (What::Mark(mark), Some(frame)) => {
                annotate::set_mark(&self.path, frame, mark.as_deref())
            }
            (What::Note(note), frame) => annotate::set_note(&self.path, frame, note.as_deref()),
            // A recording as a whole has no mark.
            (What::Mark(_), None) => Ok(()),
        };
        let error = result.err();
        Answer {
            frame: self.frame,
            what: self.what,
            error: error.map(|error| mcpreel_share::phrases::sentence(&error)),
        }
    }
}
