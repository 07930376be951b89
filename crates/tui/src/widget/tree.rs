//! A JSON document as rows that fold.
//!
//! ```text
//! ▾ params (2)
//!     name       "search_docs"
//!   ▾ arguments (3)
//!       q        "rust async"
//! ▸ content (1) [{type:"text", text:"quota exceeded"}]
//! ```
//!
//! The text is parsed once; rows are nodes, nodes are spans of the text, and only the rows that
//! are looked at are written out ([`Tree::row`]). Order of the members, text of numbers, escapes
//! and duplicate members are those of the wire. A text that is no JSON from some place on, or that
//! is only the beginning of one, is shown up to there, and [`Tree::stopped`] says why.
//!
//! * `build`: from the text to nodes;
//! * `fold`: what is folded, and the moves of a cursor;
//! * `row`: what a row says, with the preview of what is folded.

mod build;
mod fold;
mod row;

pub use build::{Limit, NodeId};
pub use fold::Folds;
pub use row::{Row, Sign};

use super::pieces::Hits;
use build::Node;
use mcpreel_wire::json::{Document, Kind, Path, Step, Stopped};
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

/// A document, with what of it is folded.
#[derive(Clone, Debug)]
pub struct Tree {
    text: Arc<[u8]>,
    nodes: Vec<Node>,
    folded: Vec<bool>,
    /// Nodes that are not shown, because whoever shows the tree says elsewhere what they say.
    hidden: Vec<NodeId>,
    /// The nodes that are rows, in order.
    visible: Vec<NodeId>,
    stopped: Option<Stopped>,
}

impl Tree {
    pub fn text(&self) -> &Arc<[u8]> {
        &self.text
    }

    /// Why not all of the text is there; none if it is.
    pub fn stopped(&self) -> Option<Stopped> {
        self.stopped
    }

    /// How many nodes there are, shown or not.
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    pub fn rows(&self) -> usize {
        self.visible.len()
    }

    /// The node in the row `row`, counted from 0.
    pub fn node_at(&self, row: usize) -> Option<NodeId> {
        self.visible.get(row).copied()
    }

    /// The row of `node`, or that of the innermost folded one around it.
    pub fn row_of(&self, node: NodeId) -> usize {
        match self.visible.binary_search(&node) {
            Ok(row) => row,
            Err(after) => after.saturating_sub(1),
        }
    }

    /// The container that `node` is in, if that has a row of its own.
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        let parent = self.nodes.get(node.index())?.parent;
        (parent != node && self.has_row(parent)).then_some(parent)
    }

    pub fn kind(&self, node: NodeId) -> Kind {
        self.node(node).kind
    }

    /// Where the value of `node` stands in the text, quotes and brackets included.
    pub fn span(&self, node: NodeId) -> Range<usize> {
        self.node(node).value()
    }

    /// The bytes of the value of `node`.
    pub fn raw(&self, node: NodeId) -> &[u8] {
        &self.text[self.span(node)]
    }

    /// The name of `node` in its object, resolved; none for elements and the outermost value.
    pub fn name(&self, node: NodeId) -> Option<String> {
        let key = self.node(node).key()?;
        let document = Document::parse(&self.text[key]).ok()?;
        Some(document.root().as_str()?.into_owned())
    }

    /// The value of a string; of one that breaks off as much as there is. None for anything else.
    pub fn string(&self, node: NodeId) -> Option<String> {
        if self.kind(node) != Kind::String {
            return None;
        }
        let raw = self.raw(node);
        if let Ok(document) = Document::parse(raw) {
            return Some(document.root().as_str()?.into_owned());
        }
        Some(String::from_utf8_lossy(raw.get(1..).unwrap_or_default()).into_owned())
    }

    /// The path from the outermost value to `node`.
    pub fn path(&self, node: NodeId) -> Path {
        let mut steps = Vec::new();
        let mut at = node;
        while at != NodeId::ROOT {
            steps.push(match self.name(at) {
                Some(name) => Step::Member(name.into()),
                None => Step::Element(self.node(at).position as usize),
            });
            at = self.node(at).parent;
        }
        steps.reverse();
        Path::new(steps)
    }

    /// The members of the outermost object with their names' bytes (quotes included), in order.
    pub fn members(&self) -> impl Iterator<Item = (&[u8], NodeId)> {
        self.members_of(NodeId::ROOT)
    }

    /// The same of any object; nothing for what is none.
    pub fn members_of(&self, object: NodeId) -> impl Iterator<Item = (&[u8], NodeId)> {
        let members = self.children(object);
        members.filter_map(|id| Some((&self.text[self.node(id).key()?], id)))
    }

    /// The element of an array at this position, counted from 0.
    pub fn element(&self, array: NodeId, position: usize) -> Option<NodeId> {
        let is_array = self.kind(array) == Kind::Array;
        self.children(array).nth(position).filter(|_| is_array)
    }

    pub fn all_of(&self, node: NodeId) -> RangeInclusive<NodeId> {
        node..=NodeId::new(self.node(node).next.index().saturating_sub(1))
    }

    /// The innermost node at the byte `offset` of the text.
    pub fn node_at_offset(&self, offset: usize) -> NodeId {
        let after = self.nodes.partition_point(|node| node.start() <= offset);
        NodeId::new(after.saturating_sub(1))
    }

    /// The nodes in which the hits begin, each once, in order.
    pub fn nodes_of(&self, hits: Hits<'_>) -> Vec<NodeId> {
        let mut nodes: Vec<_> = hits
            .iter()
            .map(|hit| self.node_at_offset(hit.start))
            .collect();
        nodes.dedup();
        nodes
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// Whether it is a row unless something around it is folded.
    pub fn has_row(&self, id: NodeId) -> bool {
        id != NodeId::ROOT || self.node(id).next.index() == 1
    }

    fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        let end = self.node(id).next;
        let mut at = NodeId::new(id.index() + 1);
        std::iter::from_fn(move || {
            let child = (at < end).then_some(at)?;
            at = self.node(child).next;
            Some(child)
        })
    }
}

#[cfg(test)]
mod tests;
