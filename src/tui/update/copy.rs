//! Into the clipboard.

use crate::tui::app::App;
use crate::tui::app::menu::CopyWhat;
use crate::tui::effect::Effects;

/// Copies something of what is selected.
pub fn copy(_app: &mut App, _what: CopyWhat) -> Effects {
    vec![]
}
