//! The redacted screen: nothing that it shows was made of anything but a redacted recording.
//!
//! While it is on, the recording that is open is read from a likeness without its secrets, the next
//! one that is opened is too, and the recordings screen shows what is redacted of each.

use super::replay::Running;
use crate::trace::frame::Seq;
use crate::tui::action::Action;

/// The redacted screen.
#[derive(Debug, Default)]
pub struct Redaction {
    /// Whether nothing is shown but what was redacted.
    pub is_on: bool,
    /// Why that cannot be: nobody knows what is secret. One sentence, escaped.
    pub refusal: Option<String>,
    /// What is done for the recording that is open.
    pub work: Option<Work>,
}

/// What is done for the recording that is open.
#[derive(Debug)]
pub enum Work {
    /// Its likeness is made. Until it is there, whatever was on the screen stays.
    Making(Running),
    /// It is shown, and made anew as the recording grows. The number names the answers.
    Following(u64),
}

/// What is known of the likeness that is shown in place of a recording.
#[derive(Debug)]
pub struct Shown {
    /// Its last frame.
    pub last: Seq,
    /// The last frame of the recording.
    pub newest: Seq,
    /// The filter as it was typed before, for when the recording itself is shown again.
    pub before: Typed,
}

/// Filters that were typed while the recording itself was shown: they may have its values in them.
#[derive(Debug, Default)]
pub struct Typed {
    /// The one that was in force.
    pub text: String,
    /// What it became.
    pub instead: String,
    /// Those that were used.
    pub history: Vec<String>,
}

impl Redaction {
    /// What is being made, as long as it is not there.
    #[must_use]
    pub fn making(&self) -> Option<&Running> {
        match &self.work {
            Some(Work::Making(running)) => Some(running),
            _ => None,
        }
    }

    /// The number that names the answers.
    #[must_use]
    pub fn generation(&self) -> Option<u64> {
        match &self.work {
            Some(Work::Making(running)) => Some(running.generation),
            Some(Work::Following(generation)) => Some(*generation),
            None => None,
        }
    }

    /// Whether this is refused for now: it reads recordings with their secrets. Two calls of the
    /// recording that is open are compared as they are shown.
    #[must_use]
    pub fn refuses(&self, action: Action, is_open: bool) -> bool {
        let reads = matches!(action, Action::Replay | Action::CompareParent)
            || action == Action::Diff && !is_open;
        reads && self.is_wanted()
    }

    /// Whether it is on or about to be: what cannot be redacted is not begun.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.is_on || self.making().is_some()
    }
}

impl Shown {
    /// Frames that are not shown yet.
    #[must_use]
    pub fn behind(&self) -> u64 {
        self.newest.0.saturating_sub(self.last.0)
    }
}
