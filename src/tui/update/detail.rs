//! One row in full.

use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::effect::Effects;
use crate::tui::worker::detail;

/// Does it, if it is about this.
pub fn perform(_app: &mut App, _action: Action) -> Option<Effects> {
    None
}

/// An answer has come.
pub fn answer(_app: &mut App, _answer: detail::Answer) -> Effects {
    vec![]
}

/// What belongs to the row.
pub fn story(_app: &mut App, _answer: detail::StoryAnswer) -> Effects {
    vec![]
}

/// Does it, if it concerns the detail although another pane has the keys.
pub fn perform_in_session(_app: &mut App, _action: Action) -> Option<Effects> {
    None
}

/// Asks for the selected row in full, if that is not what is there.
pub fn wanted(_app: &mut App) -> Effects {
    vec![]
}

/// Folds the tree to a level; none unfolds all.
pub fn fold_to(_app: &mut App, _level: Option<usize>) -> Effects {
    vec![]
}
