//! The lines of a body, and moving among them.
//!
//! ```text
//! part 0  Head      ⚠ warning progress-after-end …
//! part 1  Head      ▾ request  id 7   412 B   +12:04.318
//!         Node(0)     ▾ params (2)                            one node of the tree, or
//!         Byte(0)   {"jsonrpc":"2.0","id":7,…                 one line of text or numbers
//!         Note(0)   the first 1.0 MB of 20 MB · L loads more
//! part 2  Head      ▾ response …
//! ```
//!
//! A line is named by its [`Position`], never by a number: a message of a hundred thousand lines
//! is never laid out to find the one before the cursor, and folding above changes nothing below.

use super::jobs::Wrong;
use super::part::Part;
use crate::panels::detail::{Place, Representation, Sides};
use crate::widget::raw::{Controls, Wrapped};
use crate::widget::tree::{NodeId, Tree};
use crate::widget::{hex, raw, tree};

pub(crate) enum Content<'s> {
    Nothing,
    Tree(&'s Tree),
    Text(Wrapped<'s>, usize),
    Hex(&'s [u8], usize),
}

impl<'s> Body<'s> {
    pub(crate) fn is_on(&self, part: usize) -> bool {
        let part = self.parts.get(part);
        part.is_some_and(|part| part.is_on(self.sides))
    }

    pub(crate) fn part_from(&self, part: usize) -> Option<usize> {
        (part..self.parts.len()).find(|&part| self.is_on(part))
    }

    pub(crate) fn content(&self, part: usize) -> Content<'s> {
        let Some(part) = self.parts.get(part).filter(|part| !part.folded) else {
            return Content::Nothing;
        };
        let Some(text) = part.text.as_ref().filter(|text| !text.bytes.is_empty()) else {
            return Content::Nothing;
        };
        match (self.representation, part.tree()) {
            (Representation::Tree, Some(tree)) => Content::Tree(tree),
            (Representation::Hex, _) => Content::Hex(&text.bytes, hex::per_line(self.columns)),
            (Representation::Tree | Representation::Raw, _) => {
                let wrapped = Wrapped::new(&text.bytes, self.columns, Controls::Shown);
                Content::Text(wrapped, text.bytes.len())
            }
        }
    }

    pub(crate) fn first_within(&self, part: usize) -> Option<Spot> {
        let first = match self.content(part) {
            Content::Nothing => None,
            Content::Tree(tree) => tree.node_at(0).map(Spot::Node),
            Content::Text(..) | Content::Hex(..) => Some(Spot::Byte(0)),
        };
        first.or_else(|| self.note(part, 0))
    }

    /// The last line of a part but its notes.
    pub(crate) fn last_within(&self, part: usize) -> Spot {
        match self.content(part) {
            Content::Nothing => Spot::Head,
            Content::Tree(tree) => tree
                .node_at(tree.rows().wrapping_sub(1))
                .map_or(Spot::Head, Spot::Node),
            Content::Text(..) | Content::Hex(..) => self.byte(part, usize::MAX),
        }
    }

    pub(crate) fn last_of(&self, part: usize) -> Position {
        let notes = self.notes(part);
        let spot = match notes.checked_sub(1) {
            Some(last) => Spot::Note(last),
            None => self.last_within(part),
        };
        Position { part, spot }
    }

    fn notes(&self, part: usize) -> usize {
        let part = self.parts.get(part).filter(|part| !part.folded);
        part.map_or(0, |part| part.notes.len())
    }

    pub(crate) fn note(&self, part: usize, at: usize) -> Option<Spot> {
        (at < self.notes(part)).then_some(Spot::Note(at))
    }

    pub(crate) fn after_node(&self, part: usize, node: NodeId) -> Option<Spot> {
        let Content::Tree(tree) = self.content(part) else {
            return self.note(part, 0);
        };
        let after = tree.node_at(tree.row_of(node) + 1);
        after.map(Spot::Node).or_else(|| self.note(part, 0))
    }

    pub(crate) fn before_node(&self, part: usize, node: NodeId) -> Spot {
        let Content::Tree(tree) = self.content(part) else {
            return Spot::Head;
        };
        let row = tree.row_of(node).checked_sub(1);
        let before = row.and_then(|row| tree.node_at(row));
        before.map_or(Spot::Head, Spot::Node)
    }

    pub(crate) fn after_byte(&self, part: usize, at: usize) -> Option<Spot> {
        let after = match self.content(part) {
            Content::Text(text, _) => text.down(at, 1),
            Content::Hex(bytes, per_line) if at + per_line < bytes.len() => at + per_line,
            _ => at,
        };
        (after > at)
            .then_some(Spot::Byte(after))
            .or_else(|| self.note(part, 0))
    }

    pub(crate) fn before_byte(&self, part: usize, at: usize) -> Spot {
        match self.content(part) {
            Content::Text(text, _) if at > 0 => Spot::Byte(text.up(at, 1).0),
            Content::Hex(_, per_line) if at > 0 => Spot::Byte(at.saturating_sub(per_line)),
            _ => Spot::Head,
        }
    }

    /// The line in which the byte `at` stands.
    pub(crate) fn byte(&self, part: usize, at: usize) -> Spot {
        Spot::Byte(match self.content(part) {
            Content::Text(text, length) => text.start_of(at.min(length)),
            Content::Hex(bytes, per_line) => {
                at.min(bytes.len().saturating_sub(1)) / per_line * per_line
            }
            Content::Tree(_) | Content::Nothing => return Spot::Head,
        })
    }

    pub(crate) fn offset_of(&self, part: usize, node: NodeId) -> usize {
        let tree = self.parts.get(part).and_then(Part::tree);
        tree.map_or(0, |tree| tree.span(node).start)
    }
}

pub(crate) fn spot_of(tree: &Tree, node: NodeId) -> Spot {
    let node = tree.node_at(tree.row_of(node));
    node.map_or(Spot::Head, Spot::Node)
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    pub part: usize,
    pub spot: Spot,
}

/// A line of a part, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spot {
    #[default]
    Head,
    Node(NodeId),
    /// A line of text or numbers, by its first byte.
    Byte(usize),
    /// Something that is said about the bytes.
    Note(usize),
}

#[derive(Debug)]
pub enum Line<'s> {
    Head(&'s Part),
    /// A row of a tree, what is wrong there, and what is known of the value.
    Row(tree::Row, Option<Wrong<'s>>, Option<&'s str>),
    Text(raw::Line),
    Hex(hex::Line),
    /// Something that is said about the bytes.
    Note(&'s str),
}

#[derive(Clone, Copy, Debug)]
pub struct Body<'s> {
    parts: &'s [Part],
    sides: Sides,
    representation: Representation,
    columns: usize,
}

impl Position {
    pub fn head(part: usize) -> Self {
        Self {
            part,
            spot: Spot::Head,
        }
    }

    /// The node of the tree that stands there.
    pub fn node(self) -> Option<NodeId> {
        match self.spot {
            Spot::Node(node) => Some(node),
            _ => None,
        }
    }
}

impl<'s> Body<'s> {
    /// The lines of `parts`, written for `columns` columns.
    pub fn new(
        parts: &'s [Part],
        sides: Sides,
        representation: Representation,
        columns: usize,
    ) -> Self {
        Self {
            parts,
            sides,
            representation,
            columns: columns.max(1),
        }
    }

    /// The first line. There is always one where there are parts.
    pub fn first(&self) -> Position {
        Position::head(self.part_from(0).unwrap_or(0))
    }

    pub fn last(&self) -> Position {
        let part = (0..self.parts.len()).rev().find(|&part| self.is_on(part));
        self.last_of(part.unwrap_or(0))
    }

    pub fn next(&self, position: Position) -> Option<Position> {
        let part = position.part;
        let within = match position.spot {
            Spot::Head => self.first_within(part),
            Spot::Node(node) => self.after_node(part, node),
            Spot::Byte(at) => self.after_byte(part, at),
            Spot::Note(at) => self.note(part, at + 1),
        };
        let below = || self.part_from(part + 1).map(Position::head);
        within.map(|spot| Position { part, spot }).or_else(below)
    }

    pub fn previous(&self, position: Position) -> Option<Position> {
        let part = position.part;
        let spot = match position.spot {
            Spot::Head => {
                let above = (0..part).rev().find(|&part| self.is_on(part))?;
                return Some(self.last_of(above));
            }
            Spot::Node(node) => self.before_node(part, node),
            Spot::Byte(at) => self.before_byte(part, at),
            Spot::Note(0) => self.last_within(part),
            Spot::Note(at) => Spot::Note(at - 1),
        };
        Some(Position { part, spot })
    }

    /// The line so many lines further down, or up where `by` is negative; as far as there are
    /// lines.
    pub fn step(&self, from: Position, by: isize) -> Position {
        let mut at = from;
        let mut left = by.unsigned_abs();
        while left > 0 {
            let next = if by > 0 {
                self.next(at).map(|next| (next, 1))
            } else {
                self.back(at, left)
            };
            let Some((next, lines)) = next else { break };
            at = next;
            left -= lines;
        }
        at
    }

    /// The line up to `most` lines before `position`, and how many that is. Lines of text are
    /// laid out once for all of them.
    fn back(&self, position: Position, most: usize) -> Option<(Position, usize)> {
        if let (Spot::Byte(at @ 1..), Content::Text(text, _)) =
            (position.spot, self.content(position.part))
        {
            let (start, lines) = text.up(at, most);
            let spot = Spot::Byte(start);
            return Some((Position { spot, ..position }, lines));
        }
        self.previous(position).map(|before| (before, 1))
    }

    /// `position` if there is such a line, else the line that shows what stood there: after
    /// folding, another way of writing, another width.
    pub fn snap(&self, position: Position) -> Position {
        let Some(part) = self.part_from(position.part) else {
            return Position::head(self.last().part);
        };
        if part != position.part {
            return Position::head(part);
        }
        let spot = match (position.spot, self.content(part)) {
            (Spot::Note(at), _) => {
                let last = || self.last_within(part);
                self.note(part, at).unwrap_or_else(last)
            }
            (Spot::Head, _) | (_, Content::Nothing) => Spot::Head,
            (Spot::Node(node), Content::Tree(tree)) => spot_of(tree, node),
            (Spot::Byte(at), Content::Tree(tree)) => spot_of(tree, tree.node_at_offset(at)),
            (Spot::Node(node), _) => self.byte(part, self.offset_of(part, node)),
            (Spot::Byte(at), _) => self.byte(part, at),
        };
        Position { part, spot }
    }

    /// `place` with the cursor on a line that there is, and on the screen of `rows` rows.
    pub fn scrolled(&self, place: Place, rows: usize) -> Place {
        let cursor = self.snap(place.cursor);
        let back = isize::try_from(rows.saturating_sub(1)).unwrap_or(isize::MAX);
        // The last line stands at the bottom where there are enough.
        let lowest = self.step(self.last(), -back);
        let top = self.snap(place.top).min(cursor).min(lowest);
        let mut at = top;
        for _ in 1..rows {
            if at >= cursor {
                break;
            }
            match self.next(at) {
                Some(next) => at = next,
                None => break,
            }
        }
        let top = if at >= cursor {
            top
        } else {
            self.step(cursor, -back)
        };
        Place { cursor, top }
    }

    /// The line at `position`; none if there is no such line.
    pub fn line(&self, position: Position) -> Option<Line<'s>> {
        let part = self.parts.get(position.part)?;
        Some(match (position.spot, self.content(position.part)) {
            (Spot::Head, _) => Line::Head(part),
            (Spot::Node(node), Content::Tree(tree)) => {
                let told = part.told.get(&node).map(String::as_str);
                let row = tree.row(tree.row_of(node), self.columns, &part.hits)?;
                Line::Row(row, part.wrong_at(node), told)
            }
            (Spot::Byte(at), Content::Text(text, _)) => {
                Line::Text(text.lines(at, 1, &part.hits).pop()?)
            }
            (Spot::Byte(at), Content::Hex(bytes, per_line)) => {
                Line::Hex(hex::line(bytes, at / per_line, per_line, &part.hits)?)
            }
            (Spot::Note(at), _) => Line::Note(part.notes.get(at)?),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod body_tests;
