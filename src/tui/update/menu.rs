//! A choice of some.

use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::effect::Effects;
use crate::tui::keymap::Key;

/// Does it, if it is about this.
pub fn perform(_app: &mut App, _action: Action) -> Option<Effects> {
    None
}

/// A letter may choose at once.
pub fn press(_app: &mut App, _key: Key) -> Effects {
    vec![]
}
