//! Two exchanges side by side.

use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::effect::Effects;
use crate::tui::worker::diff;

/// Does it, if it is about this.
pub fn perform(_app: &mut App, _action: Action) -> Option<Effects> {
    None
}

/// An answer has come.
pub fn answer(_app: &mut App, _answer: diff::Answer) -> Effects {
    vec![]
}

/// Begins a comparison.
pub fn perform_in_session(_app: &mut App, _action: Action) -> Option<Effects> {
    None
}
