//! Any command, by parts of its name.

use tui_input::Input;

/// The palette.
#[derive(Debug, Default)]
pub struct Palette {
    /// What is typed.
    pub input: Input,
    /// The row under the cursor.
    pub at: usize,
}
