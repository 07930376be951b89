//! What went wrong, in one line.

use crate::tui::app::{App, Session};
use ratatui::Frame;
use ratatui::layout::Rect;

/// Whether there is something to say.
#[must_use]
pub fn has(_session: &Session) -> bool {
    false
}

/// Draws it.
pub fn draw(_app: &App, _session: &Session, _area: Rect, _frame: &mut Frame<'_>) {}
