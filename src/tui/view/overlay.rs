//! What lies on top.

use crate::tui::app::{App, Overlay};
use ratatui::Frame;
use ratatui::layout::Rect;

/// Draws it.
pub fn draw(_app: &App, _overlay: &Overlay, _area: Rect, _frame: &mut Frame<'_>) {}
