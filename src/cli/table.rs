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
/// A column narrower than this says nothing.
const NARROWEST: usize = 8;
/// Columns are rather left out than others cut below this.
const COMFORTABLE: usize = 16;

/// Where a column's cells stand, and what happens where they do not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// Left, never cut.
    Left,
    /// Right, never cut: numbers.
    Right,
    /// Left, its end cut where the line is too long.
    Cut,
}

/// One cell.
#[derive(Clone, Debug)]
pub struct Cell {
    text: String,
    short: Option<String>,
    ink: Ink,
}

impl Cell {
    /// The same with a shorter text for where there is less room.
    pub fn or(mut self, short: impl Into<String>) -> Self {
        self.short = Some(short.into());
        self
    }

    fn text(&self, is_short: bool) -> &str {
        match &self.short {
            Some(short) if is_short => short,
            _ => &self.text,
        }
    }

    /// A cell with its colour.
    pub fn new(text: impl Into<String>, ink: Ink) -> Self {
        Self {
            text: text.into(),
            short: None,
            ink,
        }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::new(text, Ink::Plain)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::new(text, Ink::Plain)
    }
}

/// What gives way where a line is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The column with this heading is left out.
    Out(&'static str),
    /// Its cells show their shorter text.
    Short(&'static str),
}

/// The columns of a table as they are shown: widths, zero for what is left out, and which are
/// short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout<const N: usize> {
    widths: [usize; N],
    short: [bool; N],
}

/// Rows under headings.
pub struct Table<const N: usize> {
    headings: [&'static str; N],
    fits: [Fit; N],
    rows: Vec<[Cell; N]>,
    ways: &'static [Way],
}

impl<const N: usize> Table<N> {
    /// An empty table.
    pub fn new(columns: [(&'static str, Fit); N]) -> Self {
        Self {
            headings: columns.map(|(heading, _)| heading),
            fits: columns.map(|(_, fit)| fit),
            rows: Vec::new(),
            ways: &[],
        }
    }

    /// What gives way where the terminal is narrow, the first one first.
    pub fn giving_way(mut self, ways: &'static [Way]) -> Self {
        self.ways = ways;
        self
    }

    /// Adds a row.
    pub fn push(&mut self, row: [Cell; N]) {
        self.rows.push(row);
    }

    /// Writes headings and rows, and nothing where there are no rows. A column without any text is
    /// left out.
    pub fn write(&self, out: &mut Output) -> io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let layout = self.layout(out.columns());
        let headings = self.headings.map(|text| Cell::new(text, Ink::Faint));
        for row in std::iter::once(&headings).chain(&self.rows) {
            out.line(&self.line(row, &layout, out))?;
        }
        Ok(())
    }

    fn layout(&self, columns: Option<usize>) -> Layout<N> {
        let mut layout = Layout {
            widths: [0; N],
            short: [false; N],
        };
        let mut is_out = [false; N];
        let mut ways = self.ways.iter();
        loop {
            layout.widths = self.widths(&layout.short, &is_out);
            let Some(columns) = columns else {
                return layout;
            };
            if self.narrow(&mut layout.widths, columns, COMFORTABLE) {
                return layout;
            }
            let (heading, flags) = match ways.next() {
                Some(Way::Out(heading)) => (heading, &mut is_out),
                Some(Way::Short(heading)) => (heading, &mut layout.short),
                None => {
                    self.narrow(&mut layout.widths, columns, NARROWEST);
                    return layout;
                }
            };
            if let Some(at) = self.headings.iter().position(|known| known == heading) {
                flags[at] = true;
            }
        }
    }

    /// The width that each column would like to have.
    fn widths(&self, short: &[bool; N], is_out: &[bool; N]) -> [usize; N] {
        std::array::from_fn(|column| {
            let cells = self.rows.iter();
            let cells = cells.map(|row| width(row[column].text(short[column])));
            match cells.max() {
                None | Some(0) => 0,
                Some(_) if is_out[column] => 0,
                Some(widest) => widest.max(width(self.headings[column])),
            }
        })
    }

    /// Takes from the flexible columns, the last one first, down to `least`; whether it suffices.
    fn narrow(&self, widths: &mut [usize; N], columns: usize, least: usize) -> bool {
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
        missing == 0
    }

    fn line(&self, row: &[Cell; N], layout: &Layout<N>, out: &Output) -> String {
        let mut line = String::new();
        for (column, (cell, fit)) in row.iter().zip(self.fits).enumerate() {
            let columns = layout.widths[column];
            if columns == 0 {
                continue;
            }
            if !line.is_empty() {
                line.push_str(GAP);
            }
            let text = cell.text(layout.short[column]);
            let text = match fit {
                Fit::Left => pad_end(text, columns),
                Fit::Right => pad_start(text, columns),
                Fit::Cut => pad_end(&cut(text, columns), columns),
            };
            line.push_str(&out.paint(cell.ink, &text));
        }
        line.truncate(line.trim_end().len());
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table<3> {
        let columns = [
            ("NAME", Fit::Cut),
            ("NOTE", Fit::Left),
            ("SIZE", Fit::Right),
        ];
        let mut table = Table::new(columns);
        table.push(["a name that is long".into(), "".into(), "12".into()]);
        table.push(["short".into(), "".into(), "1 204".into()]);
        table
    }

    #[test]
    fn a_column_without_text_is_left_out() {
        assert_eq!(table().layout(None).widths, [19, 0, 5]);
    }

    #[test]
    fn the_flexible_column_gives_way_down_to_what_can_still_be_read() {
        assert_eq!(table().layout(Some(20)).widths, [13, 0, 5]);
        assert_eq!(table().layout(Some(5)).widths, [NARROWEST, 0, 5]);
    }

    #[test]
    fn whole_columns_go_before_others_cannot_be_read() {
        let table = table().giving_way(&[Way::Out("SIZE"), Way::Out("NAME")]);
        assert_eq!(table.layout(Some(24)).widths, [17, 0, 5]);
        assert_eq!(table.layout(Some(18)).widths, [18, 0, 0]);
        assert_eq!(table.layout(Some(9)).widths, [0, 0, 0]);
    }
}
