//! A line of pieces, each in the style of its role.

use crate::theme::{Look, Role};
use mcpreel_wire::text;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::ops::Range;

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

/// Draws as many lines as `area` has rows.
pub fn draw_lines(
    look: &Look,
    lines: impl IntoIterator<Item = Spans>,
    area: Rect,
    frame: &mut Frame<'_>,
) {
    for (spans, row) in lines.into_iter().zip(area.rows()) {
        frame.render_widget(line(spans, *look), row);
    }
}

/// Gives all of `area` one style: in reverse video every colour of it would be a block of its own.
pub fn draw(style: Style, area: Rect, frame: &mut Frame<'_>) {
    let buffer = frame.buffer_mut();
    buffer.set_style(area, Style::reset());
    buffer.set_style(area, style);
}

// Bytes off the wire as text, with search hits marked.
//
// Hits are ranges of the bytes as they were on the wire; what is shown is escaped and therefore
// longer. So the bytes are divided at the hits first and each part is escaped by itself.

/// Ranges of bytes in which a search found something, in order and apart from each other.
pub type Hits<'a> = &'a [Range<usize>];

/// The bytes `range` of `bytes`, escaped, in the style of `role`; hits in their own.
pub fn divide(bytes: &[u8], range: Range<usize>, hits: Hits<'_>, role: Role) -> Spans {
    divide_as(bytes, range, hits, role, |bytes| {
        text::escape_bytes(bytes).into_owned()
    })
}

/// The same with the text that `escaped` makes of a piece.
pub fn divide_as(
    bytes: &[u8],
    range: Range<usize>,
    hits: Hits<'_>,
    role: Role,
    escaped: impl Fn(&[u8]) -> String,
) -> Spans {
    let mut spans = Spans::new();
    let mut push = |range: Range<usize>, role| {
        if let Some(part) = bytes.get(range).filter(|part| !part.is_empty()) {
            spans.push((role, escaped(part)));
        }
    };
    let mut at = range.start;
    let first = hits.partition_point(|hit| hit.end <= range.start);
    for hit in hits[first..].iter().take_while(|hit| hit.start < range.end) {
        let (start, end) = (hit.start.max(at), hit.end.min(range.end));
        push(at..start, role);
        push(start..end, Role::Hit);
        at = end.max(at);
    }
    push(at..range.end, role);
    spans
}

/// Bytes of text for a column: a cluster of combining marks takes many for one.
const BYTES_PER_COLUMN: usize = 8;

/// The end of as many of `bytes` from `start` on as `columns` columns can need, and some more so that
/// a cut shows.
pub fn enough(bytes: &[u8], start: usize, columns: usize) -> usize {
    floor_char(bytes, start + (columns + 8) * BYTES_PER_COLUMN)
}

/// The largest place in `bytes` up to `at` that does not lie within a UTF-8 character.
pub fn floor_char(bytes: &[u8], at: usize) -> usize {
    let at = at.min(bytes.len());
    let continues = |at: usize| bytes.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    (at.saturating_sub(3)..=at)
        .rev()
        .find(|&at| !continues(at))
        .unwrap_or(at)
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

#[cfg(test)]
mod pieces_tests {
    use super::*;

    #[test]
    fn hits_are_marked_where_they_stand_among_escapes() {
        let bytes = b"a\x1bneedle\xffz needle";
        let hits = [2..8, 11..17];
        let show = |range| {
            let spans = divide(bytes, range, &hits, Role::Text).into_iter();
            let text = spans.map(|(role, text)| match role {
                Role::Hit => format!("<{text}>"),
                _ => text,
            });
            text.collect::<String>()
        };
        assert_eq!(show(0..bytes.len()), "a\\x1b<needle>\\xffz <needle>");
        assert_eq!(show(4..13), "<edle>\\xffz <ne>");
        assert_eq!(show(8..11), "\\xffz ");
    }

    #[test]
    fn characters_are_not_halved() {
        let bytes = "a€b".as_bytes();
        assert_eq!(
            [0, 1, 2, 3, 4, 5].map(|at| floor_char(bytes, at)),
            [0, 1, 1, 1, 4, 5]
        );
        assert_eq!(floor_char(&[0x80; 8], 6), 6);
    }
}
