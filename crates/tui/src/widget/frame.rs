//! The frame of a pane: a box with a title above and something below.

use crate::theme::{Look, Role};
use mcpreel_wire::text::{cut, width};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::Block;

/// Draws it and returns the area within. Both texts are cut to what there is room for.
pub fn draw(
    look: &Look,
    title: &str,
    foot: &str,
    focus: bool,
    area: Rect,
    frame: &mut Frame<'_>,
) -> Rect {
    let role = if focus {
        Role::BorderFocus
    } else {
        Role::Border
    };
    let mut block = Block::bordered()
        .border_set(look.border())
        .border_style(look.style(role));
    let room = usize::from(area.width.saturating_sub(4));
    if !title.is_empty() && room > 0 {
        let title = format!(" {} ", cut(title, room));
        block = block.title_top(Line::styled(title, look.style(Role::Title)));
    }
    if !foot.is_empty() && room > width(foot).min(8) {
        let foot = format!(" {} ", cut(foot, room));
        let line = Line::styled(foot, look.style(Role::Faint)).right_aligned();
        block = block.title_bottom(line);
    }
    let inner = block.inner(area);
    frame.render_widget(block, area);
    inner
}
