//! The time cursor and the pause.

use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::effect::Effects;
use crate::tui::worker::playback;

/// Does it, if it is about this.
pub fn perform(_app: &mut App, _action: Action) -> Option<Effects> {
    None
}

/// An answer has come.
pub fn answer(_app: &mut App, _answer: playback::Answer) -> Effects {
    vec![]
}

/// Time has passed: playing goes on.
pub fn tick(_app: &mut App) -> Effects {
    vec![]
}

/// Whether it plays.
#[must_use]
pub fn is_playing(_app: &App) -> bool {
    false
}

/// Plays until a filter matches.
pub fn play_until(_app: &mut App, _filter: &str) -> Effects {
    vec![]
}
