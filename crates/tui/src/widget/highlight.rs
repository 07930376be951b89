//! The row under the cursor.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// Gives all of `area` one style: in reverse video every colour of it would be a block of its own.
pub fn draw(style: Style, area: Rect, frame: &mut Frame<'_>) {
    let buffer = frame.buffer_mut();
    buffer.set_style(area, Style::reset());
    buffer.set_style(area, style);
}
