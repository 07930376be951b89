//! The list of exchanges or frames.

use crate::tui::action::Action;
use crate::tui::app::App;
use crate::tui::effect::Effects;
use crate::tui::worker::list;

/// Does it, if it is about this.
pub fn perform(_app: &mut App, _action: Action) -> Option<Effects> {
    None
}

/// An answer has come.
pub fn answer(_app: &mut App, _answer: list::Answer) -> Effects {
    vec![]
}

/// What stands in some rows.
pub fn rows(_app: &mut App, _answer: list::RowsAnswer) -> Effects {
    vec![]
}

/// Asks which rows there are, from the start.
pub fn begin(_app: &mut App) -> Effects {
    vec![]
}

/// Asks for rows that the screen lacks.
pub fn wanted(_app: &mut App) -> Effects {
    vec![]
}

/// Puts the cursor on the row of a frame.
pub fn goto(_app: &mut App, _seq: crate::trace::frame::Seq) -> Effects {
    vec![]
}
