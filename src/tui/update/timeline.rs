//! The rows in time.

use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::effect::Effects;
use crate::tui::worker::timeline;

/// Does it, if it is about this.
pub fn perform(_app: &mut App, _action: Action) -> Option<Effects> {
    None
}

/// An answer has come.
pub fn answer(_app: &mut App, _answer: timeline::Answer) -> Effects {
    vec![]
}

/// Asks.
pub fn wanted(_app: &mut App) -> Effects {
    vec![]
}
