//! What a comparison shows: rows, of which equal ones are folded.

use crate::theme::Role;
use mcpreel_replay::diff::{Bound, Class};
use mcpreel_trace::item::ItemKey;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

/// Two calls or two recordings that were compared. All texts are escaped.
#[derive(Debug)]
pub struct Compared {
    /// Names both sides.
    pub title: String,
    /// The file of each side.
    pub paths: [PathBuf; 2],
    /// How many differences of each class there are.
    pub counts: [u64; Class::ALL.len()],
    /// Whether a replay tried all that it was to make.
    pub is_tried: bool,
    /// A remark beside the counts.
    pub remarks: Vec<(Role, String)>,
    pub rows: Vec<Row>,
    /// The values that stand for each other in two recordings, whose calls a row opens; `None` where
    /// the rows are values of two calls.
    pub bound: Option<Arc<Bound>>,
    /// The lines on the screen: a row each, or several equal ones.
    pub lines: Vec<Range<usize>>,
    /// The lines that are walked: all that differ by more than noise, else the noise.
    pub changes: Vec<usize>,
}

#[derive(Debug)]
pub struct Row {
    pub class: Option<Class>,
    /// Whether a class of the row is counted and walked; not where another row tells of it.
    pub counts: bool,
    /// How many values or calls the row stands for that are the same on both sides.
    pub same: u64,
    pub depth: u16,
    /// The style where nothing differs.
    pub role: Role,
    pub label: String,
    pub text: Text,
    /// The call on each side.
    pub calls: [Option<ItemKey>; 2],
    /// The paragraphs below the list about the row under the cursor.
    pub below: Option<Box<Below>>,
}

#[derive(Debug)]
pub enum Text {
    /// Stands once, behind the label.
    Once(String),
    /// Stands behind the label on each side.
    Values([Option<String>; 2]),
    /// Stands at the right end of each side, with the label at the left.
    Calls([String; 2]),
}

#[derive(Debug)]
pub struct Below {
    pub head: String,
    pub paragraphs: Vec<(Option<Class>, String)>,
}

impl Below {
    /// Nothing where there are no paragraphs.
    pub fn new(
        head: impl Into<String>,
        paragraphs: Vec<(Option<Class>, String)>,
    ) -> Option<Box<Self>> {
        let head = head.into();
        (!paragraphs.is_empty()).then(|| Box::new(Self { head, paragraphs }))
    }
}

impl Row {
    pub fn new(role: Role, label: impl Into<String>, text: Text) -> Self {
        Self {
            class: None,
            counts: true,
            same: 0,
            depth: 0,
            role,
            label: label.into(),
            text,
            calls: [None; 2],
            below: None,
        }
    }

    pub fn title(text: impl Into<String>) -> Self {
        Self::new(Role::Title, "", Text::Once(text.into()))
    }
}

impl Compared {
    pub fn new(title: String, paths: [PathBuf; 2], bound: Option<Arc<Bound>>) -> Self {
        Self {
            title,
            paths,
            counts: Default::default(),
            is_tried: true,
            remarks: Vec::new(),
            rows: Vec::new(),
            bound,
            lines: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// Counts the differences.
    pub fn count(&mut self) {
        for row in self.rows.iter().filter(|row| row.counts) {
            if let Some(class) = row.class {
                self.counts[class as usize] += 1;
            }
        }
    }

    /// Folds runs of equal rows, or unfolds them.
    pub fn fold(&mut self, unfolded: bool) {
        let one_run =
            |a: &Row, b: &Row| !unfolded && a.same > 0 && b.same > 0 && a.depth == b.depth;
        let mut at = 0;
        let runs = self.rows.chunk_by(one_run).map(|run| {
            at += run.len();
            at - run.len()..at
        });
        self.lines = runs.collect();
        let walked = |noise: bool| {
            let is_change = |line: &usize| {
                let row = &self.rows[self.lines[*line].start];
                row.counts
                    && row
                        .class
                        .is_some_and(|class| (class == Class::Noise) == noise)
            };
            (0..self.lines.len()).filter(is_change).collect::<Vec<_>>()
        };
        self.changes = walked(false);
        if self.changes.is_empty() {
            self.changes = walked(true);
        }
    }

    /// The row of a line, unless the line stands for several.
    pub fn row(&self, line: usize) -> Option<&Row> {
        let rows = self.lines.get(line)?.clone();
        self.rows.get(rows.start).filter(|_| rows.len() == 1)
    }

    /// The line that shows a row.
    pub fn line_of(&self, row: usize) -> usize {
        self.lines.partition_point(|line| line.end <= row)
    }
}
