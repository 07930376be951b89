//! Lines as they are shown: unchanged ones folded, with their number.

use super::{Class, Comparison, Verdict};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// The line at this place of [`Comparison::lines`].
    Line(usize),
    Folded {
        /// How many containers they are in.
        depth: u16,
        values: u64,
    },
}

/// The rows of a comparison, and where among them the differences stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    pub rows: Vec<Row>,
    /// The places of the differences in `rows`, in order.
    pub changes: Vec<usize>,
}

impl Comparison {
    /// The lines as rows; with `unfolded` the unchanged ones too, as far as they were kept.
    pub fn rows(&self, unfolded: bool) -> Rows {
        let mut rows = Rows::default();
        let mut at = 0;
        while let Some(line) = self.lines.get(at) {
            let run = self.lines[at..].iter();
            let run = run
                .take_while(|next| next.verdict.is_same() && next.depth == line.depth)
                .count();
            if run == 0 {
                if line.verdict.class().is_some() {
                    rows.changes.push(rows.rows.len());
                }
                rows.rows.push(Row::Line(at));
                at += 1;
                continue;
            }
            self.same(at..at + run, unfolded, &mut rows.rows);
            at += run;
        }
        rows
    }

    /// The class of the difference in a row, if there is one.
    pub fn class(&self, row: Row) -> Option<Class> {
        match row {
            Row::Line(at) => self.lines.get(at)?.verdict.class(),
            Row::Folded { .. } => None,
        }
    }

    /// Whether a row says no more than that something in the message differs.
    pub fn is_root_within(&self, row: Row) -> bool {
        let first = self.lines.first();
        let within = first.is_some_and(|line| matches!(line.verdict, Verdict::Within(_)));
        row == Row::Line(0) && within
    }

    /// Unchanged lines of one depth, folded where there are several.
    fn same(&self, lines: std::ops::Range<usize>, unfolded: bool, rows: &mut Vec<Row>) {
        let depth = self.lines[lines.start].depth;
        let unkept = |at: usize| match self.lines[at].verdict {
            Verdict::SameUnkept(values) => Some(values),
            _ => None,
        };
        if !unfolded && (lines.len() > 1 || unkept(lines.start).is_some()) {
            let values = lines.map(|at| unkept(at).unwrap_or(1)).sum();
            rows.push(Row::Folded { depth, values });
            return;
        }
        rows.extend(lines.map(|at| match unkept(at) {
            Some(values) => Row::Folded { depth, values },
            None => Row::Line(at),
        }));
    }
}
