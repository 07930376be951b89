//! The filter and what it leaves.

use crate::tui::app::{App, Session};
use ratatui::Frame;
use ratatui::layout::Rect;

/// Draws it.
pub fn draw(_app: &App, _session: &Session, _area: Rect, _frame: &mut Frame<'_>) {}
