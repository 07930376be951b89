//! The lines of a body.
//!
//! ```text
//! part 0  heading   ! warning progress-after-end …
//! part 1  heading   ▾ request  id 7   412 B   +12:04.318
//!         line        ▾ params (2)                            one node of the tree, or
//!         line      {"jsonrpc":"2.0","id":7,…                 one line of text or numbers
//!         note      the first 1.0 MB of 20 MB · L loads more
//! part 2  heading   ▾ response …
//! ```
//!
//! A cursor is kept as a [`Position`], never as the number of a line: it stays with its bytes when
//! something is folded, written another way, or drawn at another width.

use super::detail_draw::INDENT;
use super::part::{Part, PartKind, Representation, Wrap};
use super::violations::Wrong;
use crate::theme::Role;
use crate::widget::raw;
use crate::widget::spans::Spans;
use crate::widget::tree::Tree;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub part: usize,
    /// The first byte of the line in its message; `None`: the heading, the length of the message:
    /// the note below it.
    pub byte: Option<usize>,
}

impl Position {
    pub fn head(part: usize) -> Self {
        Self { part, byte: None }
    }
}

#[derive(Debug)]
pub enum Line<'s> {
    Head(&'s Part),
    /// The row of a part's tree, what is wrong there, and what is known of the value.
    Row(&'s Part, usize, Option<Wrong<'s>>, Option<&'s str>),
    /// More of the string in the line before.
    Wrapped(&'s Part, &'s Wrap),
    Bytes(Spans),
    /// The durations under the bar of the timing.
    Durations,
    Note(&'s str),
}

enum Content<'s> {
    Nothing,
    Tree(&'s Tree),
    /// Text, by the first byte of each line.
    Text(&'s [u32]),
    Durations,
}

/// The parts of a row as lines of so many columns.
#[derive(Clone, Debug)]
pub struct Body<'s> {
    parts: &'s [Part],
    representation: Representation,
    /// The first line of each part; of a part that is not shown that of the next one.
    firsts: Vec<usize>,
    len: usize,
}

impl<'s> Body<'s> {
    pub fn new(parts: &'s [Part], representation: Representation) -> Self {
        let mut body = Self {
            parts,
            representation,
            firsts: Vec::with_capacity(parts.len()),
            len: 0,
        };
        for part in parts {
            body.firsts.push(body.len);
            if part.is_on(representation) {
                body.len += 1 + body.rows(part) + usize::from(part.note().is_some());
            }
        }
        body
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn is_on(&self, part: &Part) -> bool {
        part.is_on(self.representation)
    }

    fn content(&self, part: &'s Part) -> Content<'s> {
        if part.kind == PartKind::Timing {
            return Content::Durations;
        }
        if part.folded || part.bytes().is_empty() {
            return Content::Nothing;
        }
        match (self.representation, part.tree()) {
            (Representation::Tree, Some(tree)) => Content::Tree(tree),
            _ => Content::Text(&part.lines),
        }
    }

    /// Lines of a part without its heading and its note.
    fn rows(&self, part: &'s Part) -> usize {
        match self.content(part) {
            Content::Nothing => 0,
            Content::Tree(tree) => tree.rows() + part.wraps.len(),
            Content::Text(lines) => lines.len(),
            Content::Durations => 1,
        }
    }

    /// The part of a line and its number below the heading.
    fn find(&self, line: usize) -> Option<(usize, Option<usize>)> {
        let at = self.firsts.partition_point(|first| *first <= line);
        let is_on = |part: &usize| self.is_on(&self.parts[*part]);
        let part = (0..at).rev().find(is_on)?;
        let row = line.min(self.len - 1) - self.firsts[part];
        Some((part, row.checked_sub(1)))
    }

    /// The position of a line; of the last line for a number behind it.
    pub fn position(&self, line: usize) -> Position {
        let Some((part, Some(row))) = self.find(line) else {
            return Position::head(self.find(line).map_or(0, |(part, _)| part));
        };
        let end = self.parts[part].bytes().len();
        let byte = match self.content(&self.parts[part]) {
            Content::Nothing | Content::Durations => end,
            Content::Tree(tree) => match self.parts[part].row_in(row) {
                (_, Some(wrap)) => wrap.bytes.start,
                (row, None) => tree.node_at(row).map_or(end, |node| tree.start(node)),
            },
            Content::Text(lines) => lines.get(row).map_or(end, |start| *start as usize),
        };
        Position {
            part,
            byte: Some(byte),
        }
    }

    /// The line that shows a position.
    pub fn line_of(&self, position: Position) -> usize {
        let last = self.len.saturating_sub(1);
        let Some(part) = self.parts.get(position.part) else {
            return last;
        };
        let first = self.firsts[position.part].min(last);
        let Some(byte) = position.byte.filter(|_| self.is_on(part)) else {
            return first;
        };
        let rows = self.rows(part);
        if byte >= part.bytes().len() {
            return first + rows + usize::from(part.note().is_some());
        }
        let row = match self.content(part) {
            Content::Nothing | Content::Durations => return first,
            Content::Tree(tree) => part.line_of(tree.row_of(tree.node_at_offset(byte)), byte),
            Content::Text(lines) => {
                let after = lines.partition_point(|start| *start as usize <= byte);
                after.saturating_sub(1)
            }
        };
        first + (row + 1).min(rows)
    }

    pub fn line(&self, line: usize) -> Option<Line<'s>> {
        let (at, row) = self.find(line).filter(|_| line < self.len)?;
        let part = &self.parts[at];
        let Some(row) = row else {
            return Some(Line::Head(part));
        };
        if row == self.rows(part) {
            return Some(Line::Note(part.note()?));
        }
        Some(match self.content(part) {
            Content::Nothing => return None,
            Content::Durations => Line::Durations,
            Content::Tree(tree) => {
                let (row, wrap) = part.row_in(row);
                if let Some(wrap) = wrap {
                    return Some(Line::Wrapped(part, wrap));
                }
                let node = tree.node_at(row)?;
                let told = part.told.get(&node).map(String::as_str);
                Line::Row(part, row, part.wrong_at(node), told)
            }
            Content::Text(lines) => {
                let end = lines.get(row + 1);
                let end = end.map_or(part.bytes().len(), |end| *end as usize);
                let range = *lines.get(row)? as usize..end;
                let mut line = raw::write(part.bytes(), range, part.controls(), &part.hits);
                if let PartKind::Words(as_role) = part.kind {
                    let plain = line.iter_mut().filter(|(role, _)| *role != Role::Hit);
                    plain.for_each(|(role, _)| *role = as_role);
                } else if let PartKind::Finding(_) = part.kind {
                    line.insert(0, (Role::Text, " ".repeat(INDENT)));
                }
                Line::Bytes(line)
            }
        })
    }
}

#[cfg(test)]
mod body_tests;
