//! A text that is read.

use crate::theme::Role;
use mcpreel_wire::text::{width, wrap};

/// A narrower column is harder to read than none.
const MIN_COLUMN: usize = 16;

/// A text that lies over everything and can be scrolled.
#[derive(Debug)]
pub struct Text {
    pub title: String,
    pub lines: Vec<Line>,
    pub top: usize,
}

/// A line of it: pieces, each in the style of its role.
pub type Line = Vec<(Role, String)>;

impl Text {
    /// Its lines, none wider than `columns`: what is longer goes on below, under the last piece.
    pub fn wrapped(&self, columns: usize) -> Vec<Line> {
        self.lines
            .iter()
            .flat_map(|line| wrapped(line, columns))
            .collect()
    }

    pub fn plain(title: impl Into<String>, lines: impl IntoIterator<Item = String>) -> Self {
        let line = |line| vec![(Role::Text, line)];
        Self {
            title: title.into(),
            lines: lines.into_iter().map(line).collect(),
            top: 0,
        }
    }
}

/// A line, none wider than `columns`: what is longer goes on below, under the last piece.
pub fn wrapped(line: &Line, columns: usize) -> Vec<Line> {
    let wide: usize = line.iter().map(|(_, text)| width(text)).sum();
    let Some(((role, last), before)) = line.split_last().filter(|_| wide > columns) else {
        return vec![line.clone()];
    };
    let used: usize = before.iter().map(|(_, text)| width(text)).sum();
    // Where the pieces before leave no room, everything is one text.
    if used + MIN_COLUMN > columns {
        let whole: String = line.iter().map(|(_, text)| text.as_str()).collect();
        let lines = wrap(&whole, columns).into_iter();
        return lines.map(|line| vec![(*role, line)]).collect();
    }
    let mut lines = wrap(last, columns - used).into_iter();
    let mut first = before.to_vec();
    first.push((*role, lines.next().unwrap_or_default()));
    let below = lines.map(|line| vec![(*role, format!("{}{line}", " ".repeat(used)))]);
    [first].into_iter().chain(below).collect()
}
