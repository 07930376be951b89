//! Rows of text in columns.
//!
//! ```text
//! STATE  ID    STARTED        SERVER                 DURATION
//! live   7f3a  today 15:17    weather-server 1.4.0   00:12:31
//! ```
//!
//! Cells are escaped by whoever fills them. On a terminal the flexible columns give way first, then
//! whole columns in the order that the table names; elsewhere nothing is cut.

use super::output::{Ink, Output};
use mcpreel_wire::text::{cut, pad_end, pad_start, width};
use std::io;

/// Between two columns.
const GAP: &str = "  ";
/// Columns are rather left out than others cut below this width.
const NARROW: usize = 16;

/// The alignment of a column's cells, and whether they are cut where they do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// Left, never cut.
    Left,
    /// Right, never cut: numbers.
    Right,
    /// Left, its end cut where the line is too long.
    Cut,
}

#[derive(Clone, Debug)]
pub struct Cell {
    text: String,
    ink: Ink,
}

impl Cell {
    pub fn new(text: impl Into<String>, ink: Ink) -> Self {
        let text = text.into();
        Self { text, ink }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::new(text, Ink::Plain)
    }
}

/// Rows under headings.
pub struct Table<const N: usize> {
    headings: [&'static str; N],
    fits: [Fit; N],
    rows: Vec<[Cell; N]>,
    giving_way: &'static [&'static str],
}

impl<const N: usize> Table<N> {
    /// An empty table.
    pub fn new(columns: [(&'static str, Fit); N]) -> Self {
        Self {
            headings: columns.map(|(heading, _)| heading),
            fits: columns.map(|(_, fit)| fit),
            rows: Vec::new(),
            giving_way: &[],
        }
    }

    /// The columns that are left out where the terminal is narrow, the first one first.
    pub fn giving_way(mut self, headings: &'static [&'static str]) -> Self {
        self.giving_way = headings;
        self
    }

    pub fn push(&mut self, row: [Cell; N]) {
        self.rows.push(row);
    }

    /// Writes headings and rows, and nothing where there are no rows. A column without any text is
    /// left out.
    pub fn write(&self, out: &mut Output) -> io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let widths = self.layout(out.columns());
        let headings = self.headings.map(|text| Cell::new(text, Ink::Faint));
        for row in std::iter::once(&headings).chain(&self.rows) {
            out.line(&self.line(row, &widths, out))?;
        }
        Ok(())
    }

    /// The widths of the columns in so many columns of a terminal; zero for what is left out.
    fn layout(&self, columns: Option<usize>) -> [usize; N] {
        let mut widths = std::array::from_fn(|column| {
            let cells = self.rows.iter().map(|row| width(&row[column].text));
            match cells.max() {
                None | Some(0) => 0,
                Some(widest) => widest.max(width(self.headings[column])),
            }
        });
        let Some(columns) = columns else {
            return widths;
        };
        let mut giving_way = self.giving_way.iter();
        loop {
            let narrowed = self.narrowed(widths, columns, NARROW);
            let heading = giving_way.next();
            let Some(heading) = heading.filter(|_| narrowed.is_none()) else {
                return narrowed.unwrap_or_else(|| {
                    let narrowed = self.narrowed(widths, columns, 1);
                    narrowed.unwrap_or(widths)
                });
            };
            if let Some(at) = self.headings.iter().position(|known| known == heading) {
                widths[at] = 0;
            }
        }
    }

    /// The widths with what is missing taken from the flexible columns, the last one first, down to
    /// `least`; `None` if that does not suffice.
    fn narrowed(&self, mut widths: [usize; N], columns: usize, least: usize) -> Option<[usize; N]> {
        let shown = widths.iter().filter(|&&width| width > 0).count();
        let total = widths.iter().sum::<usize>() + shown.saturating_sub(1) * GAP.len();
        let mut missing = total.saturating_sub(columns);
        for (width, fit) in widths.iter_mut().zip(self.fits).rev() {
            if fit == Fit::Cut && *width > least {
                let given = missing.min(*width - least);
                *width -= given;
                missing -= given;
            }
        }
        (missing == 0).then_some(widths)
    }

    fn line(&self, row: &[Cell; N], widths: &[usize; N], out: &Output) -> String {
        let mut line = String::new();
        for ((cell, fit), &columns) in row.iter().zip(self.fits).zip(widths) {
            if columns == 0 {
                continue;
            }
            if !line.is_empty() {
                line.push_str(GAP);
            }
            let text = match fit {
                Fit::Left => pad_end(&cell.text, columns),
                Fit::Right => pad_start(&cell.text, columns),
                Fit::Cut => pad_end(&cut(&cell.text, columns), columns),
            };
            line.push_str(&out.paint(cell.ink, &text));
        }
        line.truncate(line.trim_end().len());
        line
    }
}
