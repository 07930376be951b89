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

/// The text of the search has changed.
pub fn changed(_app: &mut App) -> Effects {
    vec![]
}

/// The search is done.
pub fn done(_app: &mut App, _text: &str) -> Effects {
    vec![]
}

/// The search was left without being done.
pub fn left(_app: &mut App) -> Effects {
    vec![]
}

/// An older search, or a newer one.
pub fn step(_app: &mut App, _by: isize) -> Effects {
    vec![]
}

/// Literal text, or a regular expression.
pub fn switch(_app: &mut App) -> Effects {
    vec![]
}

/// A note on the selected row.
pub fn note(_app: &mut App, _text: &str) -> Effects {
    vec![]
}

/// Jumps to the next row of a kind.
pub fn jump(_app: &mut App, _to: crate::tui::app::menu::JumpTo) -> Effects {
    vec![]
}
