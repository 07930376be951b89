//! Two exchanges side by side.

use crate::tui::app::App;
use crate::tui::app::diff::Diff;
use ratatui::Frame;
use ratatui::layout::Rect;

/// Draws it.
pub fn draw(_app: &App, _diff: &Diff, _area: Rect, _frame: &mut Frame<'_>) {}
