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
//! are looked at are written out. Order of the members, text of numbers, escapes
//! and duplicate members are those of the wire. A text that is no JSON from some place on, or that
//! is only the beginning of one, is shown up to there, and [`Tree::stopped`] says why.

mod embedded;

pub use embedded::resolved;
use mcpreel_wire::json::{Document, Kind, Path, Step, Stopped, Value};
use std::borrow::Cow;
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
    pub fn text(&self) -> &[u8] {
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

    /// Where the name of `node` or, failing that, its value begins.
    pub fn start(&self, node: NodeId) -> usize {
        let node = self.node(node);
        node.key.as_ref().unwrap_or(&node.value).start
    }

    /// Containers around `node` that have rows.
    pub fn depth(&self, node: NodeId) -> usize {
        usize::from(self.node(node).depth) - usize::from(!self.has_row(NodeId::ROOT))
    }

    /// The nodes in the container of `node`, itself included.
    pub fn siblings(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        self.children(self.node(node).parent)
    }

    /// The bytes of the value of `node`; within a string without the escapes of that.
    pub fn raw(&self, node: NodeId) -> Cow<'_, [u8]> {
        self.bytes_of(node, self.node(node).value.clone())
    }

    fn bytes_of(&self, node: NodeId, span: Range<usize>) -> Cow<'_, [u8]> {
        let bytes = &self.text[span];
        if self.node(node).is_within {
            return resolved(bytes).into_bytes().into();
        }
        bytes.into()
    }

    /// The name of `node` in its object, resolved; none for elements and the outermost value.
    pub fn name(&self, node: NodeId) -> Option<String> {
        let key = self.node(node).key.clone()?;
        let key = self.bytes_of(node, key);
        let document = Document::parse(&key).ok()?;
        Some(document.root().as_str()?.into_owned())
    }

    /// The value of a string; of one that breaks off as much as there is. None for anything else.
    pub fn string(&self, node: NodeId) -> Option<String> {
        if self.node(node).kind != Kind::String {
            return None;
        }
        let raw = self.raw(node);
        if let Ok(document) = Document::parse(&raw) {
            return Some(document.root().as_str()?.into_owned());
        }
        Some(resolved(raw.get(1..)?))
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

    /// The members of an object with their names' bytes (quotes included), in order; nothing for what is
    /// no object.
    pub fn members_of(&self, object: NodeId) -> impl Iterator<Item = (&[u8], NodeId)> {
        let members = self.children(object);
        members.filter_map(|id| Some((&self.text[self.node(id).key.clone()?], id)))
    }

    /// The element of an array at this position, counted from 0.
    pub fn element(&self, array: NodeId, position: usize) -> Option<NodeId> {
        let is_array = self.node(array).kind == Kind::Array;
        self.children(array).nth(position).filter(|_| is_array)
    }

    pub fn all_of(&self, node: NodeId) -> RangeInclusive<NodeId> {
        node..=NodeId::new(self.node(node).next.index().saturating_sub(1))
    }

    /// The innermost node at the byte `offset` of the text.
    pub fn node_at_offset(&self, offset: usize) -> NodeId {
        let start = |node: &Node| node.key.as_ref().unwrap_or(&node.value).start;
        let after = self.nodes.partition_point(|node| start(node) <= offset);
        NodeId::new(after.saturating_sub(1))
    }

    pub fn node(&self, id: NodeId) -> &Node {
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

/// How many nodes are read at once, on a worker: a text of commas and zeros takes many times its size
/// in memory.
pub const PAGE: usize = 100_000;

/// A node of a [`Tree`]: its number in the order of the text, the outermost value being 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

impl NodeId {
    pub const ROOT: Self = Self(0);

    /// Indices fit: the text is shorter than 4 GiB, and a node takes a byte of it at least.
    fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("the parser reads no text of 4 GiB or more"))
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

/// A value with its name, as spans of the text.
#[derive(Clone, Debug)]
pub struct Node {
    /// The name in its object, quotes included.
    pub key: Option<Range<usize>>,
    /// Quotes and brackets included.
    pub value: Range<usize>,
    /// The node after this one and all within it.
    next: NodeId,
    /// The container that it is in; of the outermost value itself.
    parent: NodeId,
    /// How many members or elements it has.
    pub children: u32,
    /// Members or elements before it in its container.
    pub position: u32,
    depth: u16,
    pub kind: Kind,
    /// Whether it is within a string, whose escapes are in its bytes.
    pub is_within: bool,
}

impl Tree {
    /// Reads `text`, all unfolded. None if not even a first value begins, or if it is no JSON
    /// document and its beginning is no object or array either: those are lines, not documents.
    ///
    /// Takes some milliseconds for a megabyte: for more than that, and for what was never looked
    /// at, call it where nobody waits for the screen.
    pub fn read(text: Arc<[u8]>, limit: usize) -> Option<Self> {
        let (document, stopped) = Document::read_prefix(&text, limit);
        let mut nodes = Nodes {
            limit,
            ..Nodes::default()
        };
        nodes.push((None, document?.root()), NodeId::ROOT, 0);
        let Nodes {
            all: nodes, more, ..
        } = nodes;
        let told = matches!(stopped, Some(Stopped::At(_)));
        if told && (!matches!(nodes[0].kind, Kind::Array | Kind::Object) || nodes.len() == 1) {
            return None;
        }
        let more = more.map(|offset| Stopped::Enough { offset });
        let mut tree = Self {
            folded: vec![false; nodes.len()],
            text,
            nodes,
            hidden: Vec::new(),
            visible: Vec::new(),
            stopped: stopped.or(more),
        };
        tree.lay_out();
        Some(tree)
    }
}

/// The nodes of a tree that is being read.
#[derive(Default)]
struct Nodes {
    all: Vec<Node>,
    /// How many there may be.
    limit: usize,
    /// The byte up to which a string was read that holds more than so many.
    more: Option<usize>,
    /// Whether those that come are within a string.
    is_within: bool,
}

impl Nodes {
    /// Adds a value, with its name, and all within it. Goes as deep as the parser does, which has a
    /// limit.
    fn push(&mut self, (key, value): Member<'_>, parent: NodeId, position: u32) {
        let id = NodeId::new(self.all.len());
        let depth = self.all.get(parent.index());
        self.all.push(Node {
            key: key.map(|key| key.span()),
            value: value.span(),
            next: id,
            parent,
            children: 0,
            position,
            depth: depth.map_or(0, |parent| parent.depth + 1),
            kind: value.kind(),
            is_within: self.is_within,
        });
        let may_hold = value.kind() == Kind::String && id != NodeId::ROOT && !self.is_within;
        let within = may_hold.then(|| self.push_within(value, id)).flatten();
        let children = within.unwrap_or_else(|| self.push_children(value, id));
        let next = NodeId::new(self.all.len());
        let node = &mut self.all[id.index()];
        (node.children, node.next) = (children, next);
    }

    /// Adds the members or elements of a value, and returns how many these are.
    fn push_children(&mut self, value: Value<'_>, id: NodeId) -> u32 {
        let members = value.members().map(|(key, value)| (Some(key), value));
        let elements = value.elements().map(|value| (None, value));
        let mut children = 0;
        for child in members.chain(elements) {
            self.push(child, id, children);
            children += 1;
        }
        children
    }
}

/// A value, with its name in an object.
type Member<'d> = (Option<Value<'d>>, Value<'d>);

// What is folded.
//
// The rows are a list of nodes that is made anew when something folds: skipping from node to
// node that is some microseconds for what a person unfolds, and under a millisecond for a
// hundred thousand rows. In between every row is found at once.

impl Tree {
    /// Whether `node` holds something and is folded.
    pub fn is_folded(&self, node: NodeId) -> bool {
        self.folded[node.index()] && self.can_fold(node)
    }

    /// Whether `node` holds something.
    pub fn can_fold(&self, node: NodeId) -> bool {
        self.node(node).children > 0
    }

    /// Folds or unfolds `node`. Without effect on what holds nothing.
    pub fn set_folded(&mut self, node: NodeId, folded: bool) {
        if self.can_fold(node) && self.folded[node.index()] != folded {
            self.folded[node.index()] = folded;
            self.lay_out();
        }
    }

    pub fn unfold_all(&mut self) {
        self.folded.fill(false);
        self.lay_out();
    }

    /// Shows `levels` levels, one at least; what is further in is folded. The outermost value is no
    /// level.
    pub fn fold_to(&mut self, levels: u16) {
        let is_beyond = |node: &Node| node.depth >= levels.max(1);
        self.folded = self.nodes.iter().map(is_beyond).collect();
        self.lay_out();
    }

    /// Shows as many levels as make no more than `rows` rows, two at least.
    pub fn fold_to_fit(&mut self, rows: usize) {
        let mut levels = 2;
        let shown = |levels| {
            let nodes = self.nodes.iter();
            nodes.filter(|node| node.depth <= levels).count()
        };
        let deepest = self.nodes.iter().map(|node| node.depth).max();
        while Some(levels) < deepest && shown(levels + 1) <= rows + 1 {
            levels += 1;
        }
        self.fold_to(levels);
        // The text of an answer is what is looked for.
        for node in std::mem::take(&mut self.visible) {
            self.folded[node.index()] &= self.node(node).kind != Kind::String;
        }
        self.lay_out();
    }

    /// Unfolds what is around `node`, so that it is a row.
    pub fn reveal(&mut self, node: NodeId) {
        let mut changed = false;
        let mut at = node;
        while at != NodeId::ROOT {
            let hidden = self.hidden.iter().position(|&hidden| hidden == at);
            changed |= hidden.map(|index| self.hidden.remove(index)).is_some();
            at = self.node(at).parent;
            changed |= std::mem::replace(&mut self.folded[at.index()], false);
        }
        if changed {
            self.lay_out();
        }
    }

    /// Leaves these nodes out: what they say is said elsewhere.
    pub fn hide(&mut self, nodes: Vec<NodeId>) {
        self.hidden = nodes;
        self.lay_out();
    }

    fn lay_out(&mut self) {
        let mut at = usize::from(!self.has_row(NodeId::ROOT));
        self.visible.clear();
        while let Some(node) = self.nodes.get(at) {
            let is_hidden = self.hidden.contains(&NodeId::new(at));
            if !is_hidden {
                self.visible.push(NodeId::new(at));
            }
            at = if is_hidden || self.folded[at] {
                node.next.index()
            } else {
                at + 1
            };
        }
    }
}

#[cfg(test)]
mod tree_tests;
