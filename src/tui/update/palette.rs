//! Any command, by parts of its name.

use crate::tui::app::App;
use crate::tui::effect::Effects;
use crate::tui::keymap::Key;

/// A key while the palette is open.
pub fn press(app: &mut App, _key: Key) -> Effects {
    app.overlays.pop();
    vec![]
}
