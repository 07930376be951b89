//! A redacted recording for the viewer, live where the original is.

use super::{Error, Tell, learn, redacted};
use crate::export::Selection;
use mcpreel_redact::{Place, Policy, Redactor, Report};
use mcpreel_store::reader::Recording;
use mcpreel_trace::frame::Seq;
use std::path::Path;
use std::sync::Arc;

/// A redacted recording in a temporary place. It vanishes with this value.
#[derive(Debug)]
pub struct Likeness {
    recording: Recording,
    is_live: bool,
    last: Seq,
    redactor: Option<Redactor>,
}

impl Likeness {
    /// Makes one; `is_live` says whether somebody records still.
    pub fn make(
        recording: &Recording,
        is_live: bool,
        policy: &Arc<Policy>,
        tell: &mut Tell<'_>,
    ) -> Result<Self, Error> {
        let mut redacting = learn(recording, policy, tell)?;
        let (recording, _) = redacted::recording(&mut redacting, &Selection::default(), tell)?;
        Ok(Self {
            last: Seq(recording.summary()?.frames),
            recording,
            is_live,
            redactor: redacting.into_redactor().of_known().ok(),
        })
    }

    pub fn reel(&self) -> &Path {
        self.recording.file()
    }

    pub fn last(&self) -> Seq {
        self.last
    }

    /// Whether somebody recorded still when it was made.
    pub fn is_live(&self) -> bool {
        self.is_live
    }

    /// A text about the original, without what is known to be secret in it.
    pub fn text(&mut self, text: &str) -> String {
        let mut report = Report::default();
        let redactor = self.redactor.as_mut();
        let text = redactor.map(|knows| knows.text(Place::Recording, text, &mut report));
        text.unwrap_or_default().into_owned()
    }
}
