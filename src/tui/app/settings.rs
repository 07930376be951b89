//! What a person may choose.

use crate::tui::keymap::Keymap;
use crate::tui::theme::Look;

/// What a person may choose.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Colours and glyphs.
    pub look: Look,
    /// The keys in force.
    pub keymap: Keymap,
    /// Whether the terminal is asked for mouse events.
    pub mouse: bool,
    /// Whether anything moves by itself but the rows.
    pub motion: bool,
    /// Where the divider between list and detail stands, in percent of the width or height.
    pub divider: u16,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            look: Look::default(),
            keymap: Keymap::default(),
            mouse: true,
            motion: true,
            divider: 55,
        }
    }
}
