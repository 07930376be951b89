//! What is wrong or remarkable.

use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::effect::Effects;
use crate::tui::worker::findings;

/// Does it, if it is about this.
pub fn perform(_app: &mut App, _action: Action) -> Option<Effects> {
    None
}

/// An answer has come.
pub fn answer(_app: &mut App, _answer: findings::Answer) -> Effects {
    vec![]
}
