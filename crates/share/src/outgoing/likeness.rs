//! A recording without its secrets, for whoever shows it.
//!
//! It is made as any redacted recording is, and stands as the one that it is made of does: of a
//! session that is being recorded it is live as well, with its calls open, and ends at the last
//! frame that was there. What comes later is in another one, made anew: only whoever has looked at
//! all frames knows what is secret in the first of them.
//!
//! Frames and events have the numbers that they have in the recording, so that a mark is set and a
//! row exported where it is seen. Of a recording in which they cannot have them there is none.

use super::numbers::Numbers;
use super::redacted::made::{Poured, annotated, poured};
use super::temporary::Folder;
use super::{Error, Tell, learn, redacted};
use crate::export::Selection;
use mcpreel_redact::{Place, Policy, Redactor, Report};
use mcpreel_store::reader::Recording;
use mcpreel_store::record::import::Import;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::Seq;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A redacted recording in a temporary place. It vanishes with this value.
pub struct Likeness {
    /// What keeps it live; it goes before its files do.
    import: Option<Import>,
    reel: PathBuf,
    last: Seq,
    /// Knows what is secret in it; none where that cannot be put together.
    redactor: Option<Redactor>,
    _folder: Folder,
}

impl Likeness {
    /// Makes one; `is_live` says whether somebody records still.
    pub fn make(
        recording: &Recording,
        is_live: bool,
        policy: &Arc<Policy>,
        tell: &mut Tell<'_>,
    ) -> Result<Self, Error> {
        let all = Selection::default();
        let mut redacting = learn(recording, policy, tell)?;
        let summary = redacted::look(&mut redacting, &all, tell)?;
        let poured = poured(&mut redacting, &all, &summary, tell)?;
        let Poured {
            folder,
            mut import,
            reel,
            numbers,
        } = poured;
        if numbers != Numbers::default() {
            return Err(redacted::MakeError::Renumbered.into());
        }
        let import = if is_live {
            import.catch_up().map_err(redacted::MakeError::from)?;
            Some(import)
        } else {
            let finished = import.finish(Moment(summary.t_last_ns));
            finished.map_err(redacted::MakeError::from)?;
            None
        };
        annotated(&mut redacting, &all, &summary, (&numbers, &reel))?;
        let last = Seq(Recording::open(&reel)?.summary()?.frames);
        Ok(Self {
            import,
            reel,
            last,
            redactor: redacting.into_redactor().of_known().ok(),
            _folder: folder,
        })
    }

    pub fn reel(&self) -> &Path {
        &self.reel
    }

    pub fn last(&self) -> Seq {
        self.last
    }

    /// Whether somebody recorded still when it was made.
    pub fn is_live(&self) -> bool {
        self.import.is_some()
    }

    /// A text that somebody made of the recording, without what is known to be secret in that;
    /// nothing of it where nobody knows.
    pub fn text(&mut self, text: &str) -> String {
        let mut report = Report::default();
        let redactor = self.redactor.as_mut();
        let text = redactor.map(|knows| knows.text(Place::Recording, text, &mut report));
        text.unwrap_or_default().into_owned()
    }
}

impl fmt::Debug for Likeness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Likeness");
        shown.field("reel", &self.reel).field("last", &self.last);
        shown.finish_non_exhaustive()
    }
}
