//! What is searched for, and jumps.

use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::effect::Effects;
use crate::tui::worker::search;

/// Does it, if it is about this.
pub fn perform(_app: &mut App, _action: Action) -> Option<Effects> {
    None
}

/// An answer has come.
pub fn answer(_app: &mut App, _answer: search::Answer) -> Effects {
    vec![]
}

/// Where the next row of a kind is.
pub fn jumped(_app: &mut App, _answer: search::JumpAnswer) -> Effects {
    vec![]
}
