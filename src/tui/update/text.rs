//! A text that is read.

use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::effect::Effects;

/// Does it, if it is about this.
pub fn perform(_app: &mut App, _action: Action) -> Option<Effects> {
    None
}
