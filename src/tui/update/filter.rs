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

/// The text of the filter has changed.
pub fn changed(_app: &mut App) -> Effects {
    vec![]
}

/// The filter is done.
pub fn done(_app: &mut App, _text: &str) -> Effects {
    vec![]
}

/// The filter was left without being done.
pub fn left(_app: &mut App) -> Effects {
    vec![]
}

/// An older filter, or a newer one.
pub fn step(_app: &mut App, _by: isize) -> Effects {
    vec![]
}

/// The rest of a word.
pub fn complete(_app: &mut App) -> Effects {
    vec![]
}

/// The filter becomes this text.
pub fn set(_app: &mut App, _text: &str) -> Effects {
    vec![]
}
