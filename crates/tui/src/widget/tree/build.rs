//! From the text to nodes.

use super::Tree;
use mcpreel_wire::json::{Document, Kind, Stopped, Value};
use std::ops::Range;
use std::sync::Arc;

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
    pub(super) fn new(index: usize) -> Self {
        Self(narrow(index))
    }

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A value with its name, as spans of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
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
