//! A line of pieces, each in the style of its role.

use crate::theme::{Look, Role};
use mcpreel_wire::text;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// A line. The texts must be escaped.
pub type Spans = Vec<(Role, String)>;

pub fn width(spans: &[(Role, String)]) -> usize {
    spans.iter().map(|(_, text)| text::width(text)).sum()
}

/// The line in at most `columns` columns, its end cut off where it is longer.
pub fn cut(spans: Spans, columns: usize) -> Spans {
    if width(&spans) <= columns {
        return spans;
    }
    let mut room = columns;
    let mut kept = Spans::with_capacity(spans.len());
    for (role, text) in spans {
        let width = text::width(&text);
        if width < room {
            room -= width;
            kept.push((role, text));
            continue;
        }
        // Longer than there is room, so that the cut shows even where the piece would just fit.
        kept.push((role, text::cut(&(text + " "), room)));
        break;
    }
    kept
}

/// `left` and `right` at the two ends of `columns` columns; `right` only where there is room for
/// it beside all of `left`.
pub fn justified(left: Spans, right: Spans, columns: usize) -> Spans {
    let (used, wanted) = (width(&left), width(&right));
    if wanted == 0 || used + wanted + 2 > columns {
        return cut(left, columns);
    }
    let mut line = left;
    line.push((Role::Text, " ".repeat(columns - used - wanted)));
    line.extend(right);
    line
}

pub fn line(spans: Spans, look: Look) -> Line<'static> {
    let styled = |(role, text)| Span::styled(text, look.style(role));
    spans.into_iter().map(styled).collect()
}

/// Gives all of `area` one style: in reverse video every colour of it would be a block of its own.
pub fn draw(style: Style, area: Rect, frame: &mut Frame<'_>) {
    let buffer = frame.buffer_mut();
    buffer.set_style(area, Style::reset());
    buffer.set_style(area, style);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(spans: &[(Role, String)]) -> String {
        spans.iter().map(|(_, text)| text.as_str()).collect()
    }

    fn spans(texts: &[&str]) -> Spans {
        let texts = texts.iter();
        texts.map(|text| (Role::Text, (*text).to_owned())).collect()
    }

    #[test]
    fn a_cut_line_says_so_and_fits() {
        let line = spans(&["ab", "日本", "c"]);
        let cuts: Vec<_> = (0..8)
            .map(|columns| text(&cut(line.clone(), columns)))
            .collect();
        assert_eq!(
            cuts,
            ["", "…", "a…", "ab…", "ab…", "ab日…", "ab日…", "ab日本c"]
        );
    }

    #[test]
    fn the_right_end_gives_way_first() {
        let line = |columns| text(&justified(spans(&["left"]), spans(&["right"]), columns));
        assert_eq!(line(13), "left    right");
        assert_eq!(line(10), "left");
        assert_eq!(line(3), "le…");
    }
}
