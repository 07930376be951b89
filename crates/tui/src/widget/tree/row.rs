//! What a row says.

use super::{Node, NodeId, Tree};
use crate::widget::pieces;
use crate::widget::pieces::{Hits, Piece};
use mcpreel_wire::json::Kind;
use mcpreel_wire::text;
use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub node: NodeId,
    /// Containers around it that have rows.
    pub depth: u16,
    pub sign: Sign,
    /// Its name without quotes where it is a plain one, or its position in brackets.
    pub key: Vec<Piece>,
    /// The value; of a folded container a preview, of an unfolded one nothing.
    pub value: Vec<Piece>,
    pub kind: Kind,
    pub count: usize,
    /// Columns of the widest name beside it, as far as that is no exception: values stand above
    /// each other there.
    pub names: usize,
    /// Bytes of the value, where they are more than what stands in `value`.
    pub more: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    Leaf,
    Unfolded,
    Folded,
}

/// Containers within containers that a preview goes into.
const PREVIEW_DEPTH: usize = 3;

/// Names that are looked at for their width.
const NAMES: usize = 64;

/// Wider names than this move their own value only.
const WIDE_NAME: usize = 20;

/// Bytes of text for a column: a cluster of combining marks takes many for one.
const BYTES_PER_COLUMN: usize = 8;

impl Tree {
    /// The row `row`, written for `columns` columns of value. None behind the last one.
    pub fn row(&self, row: usize, columns: usize, hits: Hits<'_>) -> Option<Row> {
        let id = self.node_at(row)?;
        let node = self.node(id);
        let sign = match (self.can_fold(id), self.folded[id.index()]) {
            (false, _) => Sign::Leaf,
            (true, true) => Sign::Folded,
            (true, false) => Sign::Unfolded,
        };
        let (value, more) = match sign {
            Sign::Leaf => self.leaf(node, columns, hits),
            Sign::Folded => (self.folded_value(id, columns, hits), None),
            Sign::Unfolded => (Vec::new(), None),
        };
        Some(Row {
            node: id,
            depth: node.depth - u16::from(!self.has_row(NodeId::ROOT)),
            sign,
            key: self.key(id, columns, hits),
            value,
            kind: node.kind,
            count: node.children as usize,
            names: self.names(node.parent),
            more,
        })
    }

    fn key(&self, id: NodeId, columns: usize, hits: Hits<'_>) -> Vec<Piece> {
        match self.node(id).key() {
            Some(key) => {
                let key = unquoted(&self.text, key);
                self.shortened(key, columns, hits).0
            }
            None if id == NodeId::ROOT => Vec::new(),
            None => {
                let position = self.node(id).position;
                vec![Piece::plain(format!("[{position}]"))]
            }
        }
    }

    /// The widest of the names in `parent` that hold no more than a value.
    fn names(&self, parent: NodeId) -> usize {
        let beside = self.children(parent).take(NAMES);
        let leaves = beside.filter(|&id| !self.can_fold(id));
        let keys = leaves.filter_map(|id| self.node(id).key());
        let widths = keys.map(|key| unquoted(&self.text, key).len());
        widths
            .filter(|&width| width <= WIDE_NAME)
            .max()
            .unwrap_or(0)
    }

    fn leaf(&self, node: &Node, columns: usize, hits: Hits<'_>) -> (Vec<Piece>, Option<usize>) {
        self.shortened(node.value(), columns, hits)
    }

    /// The bytes `range` as far as `columns` columns can need them, and how many they are
    /// together where that was less.
    fn shortened(
        &self,
        range: Range<usize>,
        columns: usize,
        hits: Hits<'_>,
    ) -> (Vec<Piece>, Option<usize>) {
        let most = range.start + (columns + 8) * BYTES_PER_COLUMN;
        if range.end <= most {
            let pieces = pieces::divide(&self.text, range.clone(), hits);
            let cut = pieces::width(&pieces) > columns;
            return (pieces, cut.then_some(range.len()));
        }
        let end = pieces::floor_char(&self.text, most);
        let mut pieces = pieces::divide(&self.text, range.start..end, hits);
        pieces.push(Piece::plain("…"));
        (pieces, Some(range.len()))
    }

    /// A preview, which is a hit as a whole where there is one within.
    fn folded_value(&self, id: NodeId, columns: usize, hits: Hits<'_>) -> Vec<Piece> {
        let span = self.node(id).value();
        let first = hits.partition_point(|hit| hit.end <= span.start);
        let hit = hits.get(first).is_some_and(|hit| hit.start < span.end);
        let text = self.preview(id, columns);
        vec![Piece { text, hit }]
    }

    /// What `node` holds, in at most `columns` columns: `[{type:"text", text:"quota"}]`.
    pub fn preview(&self, node: NodeId, columns: usize) -> String {
        let mut preview = Preview {
            tree: self,
            text: String::new(),
            columns,
        };
        preview.value(node, 0);
        text::cut(&preview.text, columns)
    }
}

/// The name `key` (quotes included) without its quotes where nothing in it needs them.
fn unquoted(text: &[u8], key: Range<usize>) -> Range<usize> {
    let inner = key.start + 1..key.end.saturating_sub(1).max(key.start + 1);
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-$./".contains(byte);
    let bytes = text.get(inner.clone()).unwrap_or_default();
    if !bytes.is_empty() && bytes.iter().all(plain) {
        inner
    } else {
        key
    }
}

struct Preview<'t> {
    tree: &'t Tree,
    text: String,
    columns: usize,
}

impl Preview<'_> {
    /// Every character counts at least one byte, so more bytes than columns can be too few; the
    /// rest is cut by whoever shows it.
    fn is_full(&self) -> bool {
        self.text.len() > self.columns * BYTES_PER_COLUMN || text::width(&self.text) > self.columns
    }

    fn value(&mut self, id: NodeId, depth: usize) {
        let node = self.tree.node(id);
        let (open, close) = match node.kind {
            Kind::Object => ('{', '}'),
            Kind::Array => ('[', ']'),
            _ => return self.bytes(node.value()),
        };
        self.text.push(open);
        if depth >= PREVIEW_DEPTH && node.children > 0 {
            self.text.push('…');
        } else {
            self.children(id, depth);
        }
        self.text.push(close);
    }

    fn children(&mut self, id: NodeId, depth: usize) {
        for (nth, child) in self.tree.children(id).enumerate() {
            if self.is_full() {
                return;
            }
            if nth > 0 {
                self.text.push_str(", ");
            }
            if let Some(key) = self.tree.node(child).key() {
                self.bytes(unquoted(&self.tree.text, key));
                self.text.push(':');
            }
            self.value(child, depth + 1);
        }
    }

    fn bytes(&mut self, range: Range<usize>) {
        let most = range.start + (self.columns + 8) * BYTES_PER_COLUMN;
        let end = pieces::floor_char(&self.tree.text, most).min(range.end);
        let bytes = &self.tree.text[range.start..end];
        self.text.push_str(&text::escape_bytes(bytes));
        if end < range.end {
            self.text.push('…');
        }
    }
}

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

    /// Folds what is unfolded, unfolds what is folded.
    pub fn toggle(&mut self, node: NodeId) {
        self.set_folded(node, !self.is_folded(node));
    }

    pub fn unfold_all(&mut self) {
        self.folded.fill(false);
        self.lay_out();
    }

    /// Shows `levels` levels, one at least; what is further in is folded.
    pub fn fold_to(&mut self, levels: u16) {
        self.mark_levels(levels);
        self.lay_out();
    }

    /// Shows as many levels as make no more than `rows` rows, two at least.
    pub fn fold_to_fit(&mut self, rows: usize) {
        self.fold_to(self.levels_that_fit(rows));
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

    pub(super) fn lay_out(&mut self) {
        let Range { mut start, end } = self.rows_range();
        self.visible.clear();
        while start < end {
            let id = NodeId::new(start);
            let next = self.nodes[start].next.index();
            if self.hidden.contains(&id) {
                start = next;
                continue;
            }
            self.visible.push(id);
            start = if self.folded[start] { next } else { start + 1 };
        }
    }

    fn rows_range(&self) -> Range<usize> {
        let first = usize::from(!self.has_row(NodeId::ROOT));
        first..self.nodes.len()
    }

    fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len()).map(NodeId::new)
    }

    fn mark_levels(&mut self, levels: u16) {
        for id in self.ids() {
            self.folded[id.index()] = self.is_beyond(id, levels);
        }
    }

    /// Whether `id` is folded where `levels` levels are shown. The outermost value is no level.
    fn is_beyond(&self, id: NodeId, levels: u16) -> bool {
        self.node(id).depth >= levels.max(1)
    }

    fn levels_that_fit(&self, rows: usize) -> u16 {
        let mut per_depth = Vec::new();
        for node in &self.nodes {
            let depth = usize::from(node.depth);
            if per_depth.len() <= depth {
                per_depth.resize(depth + 1, 0_usize);
            }
            per_depth[depth] += 1;
        }
        let mut sum = 0;
        let fits = per_depth.iter().skip(1).take_while(|&&nodes| {
            sum += nodes;
            sum <= rows
        });
        // The parser's limit of depth is far below.
        u16::try_from(fits.count()).unwrap_or(u16::MAX).max(2)
    }
}
