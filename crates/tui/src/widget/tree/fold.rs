//! What is folded.
//!
//! The rows are a list of nodes that is made anew when something folds: skipping from node to
//! node that is some microseconds for what a person unfolds, and under a millisecond for a
//! hundred thousand rows. In between every row is found at once.

use super::{NodeId, Tree};
use std::ops::Range;

/// Folds as they differ from [`Tree::fold_to_fit`], so that a tree which is read anew can be
/// shown as it was left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folds {
    rows: usize,
    changed: Box<[NodeId]>,
}

impl Folds {
    /// Changes that are kept. Whoever unfolds a huge array and folds each of its elements would
    /// otherwise have them held for as long as the recording is open.
    const KEPT: usize = 4096;
}

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

    /// What differs from [`Self::fold_to_fit`] with the same `rows`.
    pub fn folds(&self, rows: usize) -> Folds {
        let levels = self.levels_that_fit(rows);
        let differs = |id: &NodeId| {
            self.can_fold(*id) && self.folded[id.index()] != self.is_beyond(*id, levels)
        };
        let changed: Box<[_]> = self.ids().filter(differs).take(Folds::KEPT + 1).collect();
        match changed.len() {
            ..=Folds::KEPT => Folds { rows, changed },
            _ => Folds {
                rows,
                changed: Box::default(),
            },
        }
    }

    /// Shows the tree as it was when `folds` were taken of it.
    pub fn restore(&mut self, folds: &Folds) {
        self.mark_levels(self.levels_that_fit(folds.rows));
        for id in &folds.changed {
            if let Some(folded) = self.folded.get_mut(id.index()) {
                *folded = !*folded;
            }
        }
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
