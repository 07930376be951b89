//! A screen as text that can be compared and read: what stands there, then how it looks.
//!
//! ```text
//!  ● REC 7f3a weather-server
//!    2  12:00 → initialize
//! ---
//! 1: 1 red bold, 3-5 bold
//! 2: 0-22 reversed
//! ```
//!
//! The first part has the rows, without the blanks at their ends. The second names, by row (from 1)
//! and columns (from 0), every run of cells that does not look as the terminal's own text does.
//! Rows that look the same are named together.

use ratatui::buffer::CellWidth as _;
use ratatui::buffer::{Buffer, Cell};
use ratatui::style::Color;
use std::fmt::Write as _;
use std::ops::Range;

/// Cells of one row that look the same.
pub struct Run<'a> {
    pub columns: Range<u16>,
    pub text: String,
    pub cell: &'a Cell,
}

/// Text and looks of a whole screen.
pub fn screen(buffer: &Buffer) -> String {
    let rows = || buffer.area.top()..buffer.area.bottom();
    let text: Vec<_> = rows().map(|y| row_text(buffer, y)).collect();
    let looks: Vec<_> = rows().map(|y| row_looks(buffer, y)).collect();
    let mut all = text.join("\n");
    all.push_str("\n---\n");
    let mut from = 0;
    for same in looks.chunk_by(|one, next| one == next) {
        let (first, last) = (from + 1, from + same.len());
        from = last;
        if same[0].is_empty() {
            continue;
        }
        let rows = if first == last {
            first.to_string()
        } else {
            format!("{first}-{last}")
        };
        // Writing to memory does not fail.
        let _ = writeln!(all, "{rows}: {}", same[0]);
    }
    all
}

/// What stands in the row `y`, without the blanks at its end.
pub fn row_text(buffer: &Buffer, y: u16) -> String {
    let text: String = runs(buffer, y).into_iter().map(|run| run.text).collect();
    text.trim_end().to_owned()
}

/// The row `y` in runs of cells that look the same. A wide character is one cell's text.
pub fn runs(buffer: &Buffer, y: u16) -> Vec<Run<'_>> {
    let mut runs: Vec<Run<'_>> = Vec::new();
    let mut x = buffer.area.left();
    while x < buffer.area.right() {
        let cell = &buffer[(x, y)];
        let width = cell.cell_width().max(1);
        let columns = x..(x + width).min(buffer.area.right());
        x += width;
        match runs.last_mut() {
            Some(run) if look(run.cell) == look(cell) => {
                run.columns.end = columns.end;
                run.text.push_str(cell.symbol());
            }
            _ => runs.push(Run {
                columns,
                text: cell.symbol().to_owned(),
                cell,
            }),
        }
    }
    runs
}

fn row_looks(buffer: &Buffer, y: u16) -> String {
    let left = buffer.area.left();
    let name = |run: Run<'_>| {
        let look = look(run.cell);
        let (first, last) = (run.columns.start - left, run.columns.end - 1 - left);
        let columns = if first == last {
            first.to_string()
        } else {
            format!("{first}-{last}")
        };
        (!look.is_empty()).then(|| format!("{columns} {look}"))
    };
    let names: Vec<_> = runs(buffer, y).into_iter().filter_map(name).collect();
    names.join(", ")
}

/// How a cell looks, in words; empty for the terminal's own text.
fn look(cell: &Cell) -> String {
    let mut words = Vec::new();
    if cell.fg != Color::Reset {
        words.push(color(cell.fg));
    }
    if cell.bg != Color::Reset {
        words.push(format!("on {}", color(cell.bg)));
    }
    let modifiers = cell
        .modifier
        .iter_names()
        .map(|(name, _)| name.to_lowercase());
    words.extend(modifiers);
    words.join(" ")
}

fn color(color: Color) -> String {
    color.to_string().to_lowercase()
}
