//! Which rows are shown.

use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::effect::Effects;
use crate::tui::worker::list;

/// Does it, if it is about this.
pub fn perform(_app: &mut App, _action: Action) -> Option<Effects> {
    None
}

/// Values and relaxations.
pub fn hints(_app: &mut App, _answer: list::HintsAnswer) -> Effects {
    vec![]
}
