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
//! `row` writes a row, with the preview of what is folded.

mod row;

use super::pieces::Hits;
use mcpreel_wire::json::{Document, Kind, Path, Step, Stopped, Value};
pub use row::{Row, Sign};
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

/// How many nodes a tree may have. A node takes 40 bytes: a text of commas and zeros would
/// otherwise become twenty times as large in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit(pub usize);

impl Limit {
    /// So many are read at once, on a worker.
    pub const PAGE: Self = Self(100_000);
}

/// A node of a [`Tree`]: its number in the order of the text, the outermost value being 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

impl NodeId {
    pub const ROOT: Self = Self(0);

    /// Node counts fit: the text is shorter than 4 GiB, and a node takes a byte of it at least.
    fn new(index: usize) -> Self {
        Self(narrow(index))
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

/// A value with its name, as spans of the text.
#[derive(Clone, Copy, Debug)]
struct Node {
    key: Option<Span>,
    value: Span,
    /// The node after this one and all within it.
    pub next: NodeId,
    /// The container that it is in; of the outermost value itself.
    pub parent: NodeId,
    pub children: u32,
    /// Members or elements before it in its container.
    pub position: u32,
    pub depth: u16,
    pub kind: Kind,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    start: u32,
    end: u32,
}

impl Span {
    fn of(range: &Range<usize>) -> Self {
        Self {
            start: narrow(range.start),
            end: narrow(range.end),
        }
    }

    fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl Node {
    /// The name in its object, quotes included.
    pub fn key(&self) -> Option<Range<usize>> {
        Some(self.key?.range())
    }

    pub fn value(&self) -> Range<usize> {
        self.value.range()
    }

    /// Where its name or, failing that, its value begins.
    pub fn start(&self) -> usize {
        self.key.unwrap_or(self.value).start as usize
    }

    pub fn is_container(&self) -> bool {
        matches!(self.kind, Kind::Array | Kind::Object)
    }
}

impl Tree {
    /// Reads `text`, all unfolded. None if not even a first value begins, or if it is no JSON
    /// document and its beginning is no object or array either: those are lines, not documents.
    ///
    /// Takes some milliseconds for a megabyte: for more than that, and for what was never looked
    /// at, call it where nobody waits for the screen.
    pub fn read(text: Arc<[u8]>, limit: Limit) -> Option<Self> {
        let (document, stopped) = Document::read_prefix(&text, limit.0);
        let nodes = nodes(document?.root());
        let told = matches!(stopped, Some(Stopped::At(_)));
        if told && (!nodes[0].is_container() || nodes.len() == 1) {
            return None;
        }
        let mut tree = Self {
            folded: vec![false; nodes.len()],
            text,
            nodes,
            hidden: Vec::new(),
            visible: Vec::new(),
            stopped,
        };
        tree.lay_out();
        Some(tree)
    }
}

fn nodes(root: Value<'_>) -> Vec<Node> {
    let mut nodes = Vec::new();
    push(&mut nodes, None, root, &Place::default());
    nodes
}

/// Where a value stands in the document.
#[derive(Default)]
struct Place {
    parent: NodeId,
    position: u32,
    depth: u16,
}

/// Goes as deep as the parser does, which has a limit.
fn push(nodes: &mut Vec<Node>, key: Option<Value<'_>>, value: Value<'_>, place: &Place) {
    let id = NodeId::new(nodes.len());
    nodes.push(Node {
        key: key.map(|key| Span::of(&key.span())),
        value: Span::of(&value.span()),
        next: id,
        parent: place.parent,
        children: 0,
        position: place.position,
        depth: place.depth,
        kind: value.kind(),
    });
    let members = value.members().map(|(key, value)| (Some(key), value));
    let elements = value.elements().map(|value| (None, value));
    let mut inside = Place {
        parent: id,
        position: 0,
        depth: place.depth + 1,
    };
    for (key, child) in members.chain(elements) {
        push(nodes, key, child, &inside);
        inside.position += 1;
    }
    let next = NodeId::new(nodes.len());
    let node = &mut nodes[id.index()];
    node.children = inside.position;
    node.next = next;
}

fn narrow(length: usize) -> u32 {
    u32::try_from(length).expect("the parser reads no text of 4 GiB or more")
}

#[cfg(test)]
mod tree_tests;
