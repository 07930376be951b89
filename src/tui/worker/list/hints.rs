//! What helps with a filter.

use crate::tui::worker::Job;

/// What helps with a filter.
#[derive(Clone, Debug)]
pub struct Hints;

/// What helps.
#[derive(Debug)]
pub struct HintsAnswer;

impl Hints {
    pub(in crate::tui::worker) fn job(self) -> Box<dyn Job> {
        crate::tui::worker::nothing()
    }
}
