//! Any command, by parts of its name.

use crate::tui::app::App;
use crate::tui::app::palette::Palette;
use ratatui::Frame;
use ratatui::layout::Rect;

/// Draws it.
pub fn draw(_app: &App, _palette: &Palette, _area: Rect, _frame: &mut Frame<'_>) {}
