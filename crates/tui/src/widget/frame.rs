//! The frame of a pane: a box with a title above and something below.

use crate::theme::{Glyph, Look, Role};
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
    let mut block = Block::bordered().border_style(look.style(role));
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

/// The first row of a screen of `page` rows that was `top`, scrolled as little as is needed for
/// the row `at` to be on it.
pub fn showing(at: usize, top: usize, page: usize) -> usize {
    top.clamp((at + 1).saturating_sub(page.max(1)), at)
}

/// The same for a list of `rows` rows, none of the screen left empty that a row could fill.
pub fn showing_of(rows: usize, at: usize, top: usize, page: usize) -> usize {
    showing(at, top.min(rows.saturating_sub(page.max(1))), page)
}

/// The first row after the wheel was turned by so many rows, down if `by` is positive: the last of
/// `rows` rows stays at the bottom of the screen at most.
pub fn turned(top: usize, by: isize, rows: usize, page: usize) -> usize {
    top.saturating_add_signed(by).min(rows.saturating_sub(page))
}

/// Eighths of a cell, from nothing to full.
const EIGHTHS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

const STEPS: [&str; 9] = [" ", ".", ".", ":", ":", "+", "+", "#", "#"];

/// A bar for each number, as high as it is against the highest. Every number above 0 is seen.
pub fn density(look: &Look, numbers: &[u64]) -> String {
    let most = numbers.iter().copied().max().unwrap_or(0).max(1);
    let signs = if look.ascii { STEPS } else { EIGHTHS };
    let sign = |number: &u64| {
        let eighths = u128::from(*number) * 8 / u128::from(most);
        let least = usize::from(*number > 0);
        signs[usize::try_from(eighths).unwrap_or(8).clamp(least, 8)]
    };
    numbers.iter().map(sign).collect()
}

/// A bar of at most `columns` characters for `number` of `most`. What is not nothing is seen.
pub fn bar(look: &Look, number: u64, most: u64, columns: usize) -> String {
    let wide = u128::from(number) * columns as u128 / u128::from(most.max(1));
    let least = usize::from(number > 0 && columns > 0);
    let wide = usize::try_from(wide)
        .unwrap_or(columns)
        .clamp(least, columns.max(least));
    look.glyph(Glyph::Bar).repeat(wide)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wheel_moves_the_rows_and_not_the_cursor_and_ends_with_the_last() {
        assert_eq!(turned(0, 3, 10, 4), 3);
        assert_eq!(turned(5, 3, 10, 4), 6);
        assert_eq!(turned(2, -3, 10, 4), 0);
        assert_eq!(turned(0, 3, 2, 4), 0);
        assert_eq!(turned(9, 0, 10, 4), 6, "fewer rows fit now");
    }
}

#[cfg(test)]
mod bars_tests {
    use super::*;

    #[test]
    fn a_little_is_not_nothing() {
        let look = Look::default();
        assert_eq!(density(&look, &[0, 1, 500, 1000]), " ▁▄█");
        assert_eq!(density(&look, &[]), "");
        assert_eq!(bar(&look, 1, 1_000_000, 10), "█");
        assert_eq!(bar(&look, 0, 10, 10), "");
        assert_eq!(bar(&look, u64::MAX, u64::MAX, 3), "███");
        let ascii = Look {
            ascii: true,
            ..Look::default()
        };
        assert!(density(&ascii, &[0, 1, 5, 9]).is_ascii());
    }
}
