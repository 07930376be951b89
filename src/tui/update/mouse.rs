//! The mouse.

use crate::tui::app::App;
use crate::tui::effect::Effects;
use crossterm::event::MouseEvent;

/// Something that the mouse did.
pub fn update(_app: &mut App, _event: MouseEvent) -> Effects {
    vec![]
}
