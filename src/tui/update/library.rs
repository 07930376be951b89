//! The recordings screen.

use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::effect::Effects;
use crate::tui::worker::library;

/// Does it, if it is about this.
pub fn perform(_app: &mut App, _action: Action) -> Option<Effects> {
    None
}

/// An answer has come.
pub fn answer(_app: &mut App, _answer: library::Answer) -> Effects {
    vec![]
}

/// Time has passed: the folder is looked at again.
pub fn tick(_app: &mut App) -> Effects {
    vec![]
}

/// Asks what is in the folder, for the first time.
pub fn begin(_app: &mut App) -> Effects {
    vec![]
}

/// The text that narrows the list has changed.
pub fn narrowed(_app: &mut App) -> Effects {
    vec![]
}

/// The list is narrowed to this.
pub fn narrow(_app: &mut App, _text: &str) -> Effects {
    vec![]
}

/// A note on the selected recording.
pub fn note(_app: &mut App, _text: &str) -> Effects {
    vec![]
}

/// The recording is deleted; it was asked for.
pub fn delete(_app: &mut App, _path: &std::path::Path) -> Effects {
    vec![]
}
