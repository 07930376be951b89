//! The recordings screen.

use crate::tui::app::App;
use ratatui::Frame;
use ratatui::layout::Rect;

/// Draws it.
pub fn draw(_app: &App, _area: Rect, _frame: &mut Frame<'_>) {}
