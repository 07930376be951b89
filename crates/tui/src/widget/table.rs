//! Rows of cells under headings.
//!
//! ```text
//!  method, tool        count  failed      p50      p95
//!  → tools/call           12     17%    19 ms   180 ms
//! ```
//!
//! Columns have fixed widths, so that nothing jumps when rows scroll; flexible ones share what is
//! left. Where there is too little room whole columns go, the highest rank first. Only the rows on
//! the screen are handed in, and cells are escaped by whoever fills them.

use super::spans::{self, Spans};
use crate::theme::{Look, Role};
use mcpreel_wire::text::width;
use ratatui::Frame;
use ratatui::layout::Rect;
use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub title: String,
    /// How wide it is; of a flexible one at least.
    pub width: usize,
    /// Whether its cells stand at the right, as numbers do.
    pub is_right: bool,
    /// Whether it takes a share of the room that is left.
    pub flexible: bool,
    /// The highest goes first where there is too little room; 0 never goes.
    pub rank: u8,
    /// Columns between it and the one before.
    pub gap: usize,
}

/// What stands in a row, column by column.
pub type Cells = Vec<Spans>;

impl Column {
    pub fn left(title: &str, width: usize, rank: u8) -> Self {
        Self {
            title: title.to_owned(),
            width,
            is_right: false,
            flexible: false,
            rank,
            gap: 2,
        }
    }

    pub fn right(title: &str, width: usize, rank: u8) -> Self {
        Self {
            is_right: true,
            ..Self::left(title, width, rank)
        }
    }

    /// A column of text that takes what is left, and at least `width`.
    pub fn flexible(title: &str, width: usize, rank: u8) -> Self {
        Self {
            flexible: true,
            ..Self::left(title, width, rank)
        }
    }
}

/// How wide each column is in `room` columns; 0 for one that is left out.
pub fn widths(columns: &[Column], room: usize) -> Vec<usize> {
    let mut widths: Vec<_> = columns.iter().map(|column| column.width).collect();
    while used(columns, &widths) > room {
        let left = columns.iter().enumerate().filter(|(at, _)| widths[*at] > 0);
        match left.max_by_key(|(_, column)| column.rank) {
            Some((at, column)) if column.rank > 0 => widths[at] = 0,
            _ => break,
        }
    }
    let is_flexible = |at: &usize| columns[*at].flexible && widths[*at] > 0;
    let flexible: Vec<_> = (0..columns.len()).filter(is_flexible).collect();
    let over = used(columns, &widths).saturating_sub(room);
    let spare = room.saturating_sub(used(columns, &widths));
    for (nth, at) in flexible.iter().enumerate() {
        let more = spare / flexible.len() + usize::from(nth < spare % flexible.len());
        widths[*at] = (widths[*at] + more).saturating_sub(if nth == 0 { over } else { 0 });
    }
    widths
}

fn used(columns: &[Column], widths: &[usize]) -> usize {
    places(columns, widths)
        .iter()
        .map(|place| place.end)
        .max()
        .unwrap_or(0)
}

/// Where each column is.
fn places(columns: &[Column], widths: &[usize]) -> Vec<Range<usize>> {
    let mut end = 0;
    let place = |(column, width): (&Column, &usize)| {
        let gap = if end == 0 || *width == 0 {
            0
        } else {
            column.gap
        };
        let start = end + gap;
        end = start + width;
        start..end
    };
    columns.iter().zip(widths).map(place).collect()
}

/// Columns of `room` that no column takes, where each has its width.
pub fn spare(columns: &[Column], room: usize) -> usize {
    let fixed = |column: &Column| Column {
        flexible: false,
        ..column.clone()
    };
    let fixed: Vec<_> = columns.iter().map(fixed).collect();
    room.saturating_sub(used(&fixed, &widths(&fixed, room)))
}

/// The column whose heading, in the first row of `area`, is at a cell of the screen.
pub fn heading_at(columns: &[Column], area: Rect, (x, y): (u16, u16)) -> Option<usize> {
    let x = usize::from(x.checked_sub(area.x)?);
    let widths = widths(columns, area.width.into());
    let mut places = places(columns, &widths).into_iter();
    places.position(|place| y == area.y && place.contains(&x))
}

/// Draws headings, and below them `rows`; the row `selected` of these is reversed.
pub fn draw(
    look: &Look,
    columns: &[Column],
    rows: &[Cells],
    selected: Option<(usize, Role)>,
    area: Rect,
    frame: &mut Frame<'_>,
) {
    headings(look, columns, area, frame);
    self::rows(look, columns, rows, selected, below(area), frame);
}

/// Where the rows of a table are: below its headings.
pub fn below(table: Rect) -> Rect {
    Rect {
        y: table.y + 1,
        height: table.height.saturating_sub(1),
        ..table
    }
}

/// Draws the titles of the columns in the first row of `area`.
pub fn headings(look: &Look, columns: &[Column], area: Rect, frame: &mut Frame<'_>) {
    let cell = |column: &Column| vec![(Role::Faint, column.title.clone())];
    let cells = [columns.iter().map(cell).collect()];
    rows(look, columns, &cells, None, area, frame);
}

/// Draws rows without headings; the row `selected` of them is reversed.
pub fn rows(
    look: &Look,
    columns: &[Column],
    rows: &[Cells],
    selected: Option<(usize, Role)>,
    area: Rect,
    frame: &mut Frame<'_>,
) {
    let places = places(columns, &widths(columns, area.width.into()));
    for (at, (cells, row)) in rows.iter().zip(area.rows()).enumerate() {
        let mut line = Spans::with_capacity(columns.len() * 2);
        let mut end = 0;
        for ((cell, column), place) in cells.iter().zip(columns).zip(&places) {
            let cell = spans::cut(cell.clone(), place.len());
            let spare = place.len() - spans::width(&cell);
            let before = place.start - end + if column.is_right { spare } else { 0 };
            line.push((Role::Text, " ".repeat(before)));
            end = place.start + spans::width(&cell) + if column.is_right { spare } else { 0 };
            line.extend(cell);
        }
        let selected = selected.filter(|(selected, _)| *selected == at);
        if selected.is_some() {
            line.iter_mut().for_each(without_colour);
        }
        frame.render_widget(spans::line(line, *look), row);
        if let Some((_, role)) = selected {
            frame.buffer_mut().set_style(row, look.style(role));
        }
    }
}

/// In reverse video every colour would be a block of its own: only signs and search hits keep theirs.
fn without_colour((role, text): &mut (Role, String)) {
    let means = matches!(role, Role::Good | Role::Bad | Role::Warn | Role::Open);
    if *role != Role::Hit && (!means || width(text) > 1) {
        *role = Role::Text;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Vec<Column> {
        vec![
            Column::flexible("what", 10, 0),
            Column::right("count", 5, 1),
            Column::right("p50", 7, 3),
            Column::right("max", 7, 2),
        ]
    }

    #[test]
    fn columns_give_way_by_rank_and_the_flexible_one_takes_what_is_left() {
        assert_eq!(widths(&columns(), 45), [20, 5, 7, 7]);
        assert_eq!(widths(&columns(), 35), [10, 5, 7, 7]);
        assert_eq!(widths(&columns(), 34), [19 - 1, 5, 0, 7]);
        assert_eq!(widths(&columns(), 20), [13, 5, 0, 0]);
        assert_eq!(widths(&columns(), 6), [6, 0, 0, 0]);
    }
}
