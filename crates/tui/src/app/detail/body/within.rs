//! The lines of one part, and which of them come one after the other.

use super::{Body, Part, Position, Representation, Spot};
use crate::widget::hex;
use crate::widget::raw::{Controls, Wrapped};
use crate::widget::tree::{NodeId, Tree};

pub(super) enum Content<'s> {
    Nothing,
    Tree(&'s Tree),
    Text(Wrapped<'s>, usize),
    Hex(&'s [u8], usize),
}

impl<'s> Body<'s> {
    pub(super) fn is_on(&self, part: usize) -> bool {
        let part = self.parts.get(part);
        part.is_some_and(|part| part.is_on(self.sides))
    }

    pub(super) fn part_from(&self, part: usize) -> Option<usize> {
        (part..self.parts.len()).find(|&part| self.is_on(part))
    }

    pub(super) fn content(&self, part: usize) -> Content<'s> {
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

    pub(super) fn first_within(&self, part: usize) -> Option<Spot> {
        let first = match self.content(part) {
            Content::Nothing => None,
            Content::Tree(tree) => tree.node_at(0).map(Spot::Node),
            Content::Text(..) | Content::Hex(..) => Some(Spot::Byte(0)),
        };
        first.or_else(|| self.note(part, 0))
    }

    /// The last line of a part but its notes.
    pub(super) fn last_within(&self, part: usize) -> Spot {
        match self.content(part) {
            Content::Nothing => Spot::Head,
            Content::Tree(tree) => tree
                .node_at(tree.rows().wrapping_sub(1))
                .map_or(Spot::Head, Spot::Node),
            Content::Text(..) | Content::Hex(..) => self.byte(part, usize::MAX),
        }
    }

    pub(super) fn last_of(&self, part: usize) -> Position {
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

    pub(super) fn note(&self, part: usize, at: usize) -> Option<Spot> {
        (at < self.notes(part)).then_some(Spot::Note(at))
    }

    pub(super) fn after_node(&self, part: usize, node: NodeId) -> Option<Spot> {
        let Content::Tree(tree) = self.content(part) else {
            return self.note(part, 0);
        };
        let after = tree.node_at(tree.row_of(node) + 1);
        after.map(Spot::Node).or_else(|| self.note(part, 0))
    }

    pub(super) fn before_node(&self, part: usize, node: NodeId) -> Spot {
        let Content::Tree(tree) = self.content(part) else {
            return Spot::Head;
        };
        let row = tree.row_of(node).checked_sub(1);
        let before = row.and_then(|row| tree.node_at(row));
        before.map_or(Spot::Head, Spot::Node)
    }

    pub(super) fn after_byte(&self, part: usize, at: usize) -> Option<Spot> {
        let after = match self.content(part) {
            Content::Text(text, _) => text.down(at, 1),
            Content::Hex(bytes, per_line) if at + per_line < bytes.len() => at + per_line,
            _ => at,
        };
        (after > at)
            .then_some(Spot::Byte(after))
            .or_else(|| self.note(part, 0))
    }

    pub(super) fn before_byte(&self, part: usize, at: usize) -> Spot {
        match self.content(part) {
            Content::Text(text, _) if at > 0 => Spot::Byte(text.up(at, 1).0),
            Content::Hex(_, per_line) if at > 0 => Spot::Byte(at.saturating_sub(per_line)),
            _ => Spot::Head,
        }
    }

    /// The line in which the byte `at` stands.
    pub(super) fn byte(&self, part: usize, at: usize) -> Spot {
        Spot::Byte(match self.content(part) {
            Content::Text(text, length) => text.start_of(at.min(length)),
            Content::Hex(bytes, per_line) => {
                at.min(bytes.len().saturating_sub(1)) / per_line * per_line
            }
            Content::Tree(_) | Content::Nothing => return Spot::Head,
        })
    }

    pub(super) fn offset_of(&self, part: usize, node: NodeId) -> usize {
        let tree = self.parts.get(part).and_then(Part::tree);
        tree.map_or(0, |tree| tree.span(node).start)
    }
}

pub(super) fn spot_of(tree: &Tree, node: NodeId) -> Spot {
    let node = tree.node_at(tree.row_of(node));
    node.map_or(Spot::Head, Spot::Node)
}
