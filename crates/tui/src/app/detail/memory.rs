//! Where somebody was in rows that were left: the cursor, and what was folded.

use super::part::{FIT, PartKind};
use super::{Place, Shown};
use crate::widget::tree::Folds;
use mcpreel_trace::item::{ItemKey, Lens};
use std::collections::VecDeque;

/// Rows that are remembered; older ones go. Each takes some hundred bytes, 16 kB at most.
const KEPT: usize = 64;

#[derive(Debug, Default)]
pub struct Memory {
    rows: VecDeque<((Lens, ItemKey), Left)>,
}

#[derive(Clone, Debug)]
pub struct Left {
    at: Place,
    at_story: (usize, usize),
    parts: Vec<(PartKind, bool, Option<Folds>)>,
}

impl Memory {
    pub fn leave(&mut self, shown: &Shown) {
        let address = (shown.ask.lens, shown.ask.key);
        self.rows.retain(|(known, _)| *known != address);
        if self.rows.len() == KEPT {
            self.rows.pop_front();
        }
        self.rows.push_back((address, Left::of(shown)));
    }

    pub fn left(&self, lens: Lens, key: ItemKey) -> Option<&Left> {
        let mut rows = self.rows.iter();
        let row = rows.find(|(known, _)| *known == (lens, key));
        row.map(|(_, left)| left)
    }
}

impl Left {
    pub fn of(shown: &Shown) -> Self {
        let parts = shown.parts.iter();
        Self {
            at: shown.at,
            at_story: shown.at_story,
            parts: parts
                .map(|part| {
                    (
                        part.kind,
                        part.folded,
                        part.tree().map(|tree| tree.folds(FIT)),
                    )
                })
                .collect(),
        }
    }

    /// Makes `shown` look so. Parts that have come since, or gone, do not matter.
    pub(super) fn restore(&self, shown: &mut Shown) {
        shown.at_story = self.at_story;
        for part in &mut shown.parts {
            let known = self.parts.iter().find(|(kind, ..)| *kind == part.kind);
            let Some((_, folded, folds)) = known else {
                continue;
            };
            part.folded = *folded;
            if let (Some(tree), Some(folds)) = (part.tree_mut(), folds) {
                tree.restore(folds);
            }
        }
        // A part above may have come or gone: the cursor stays in the part that it was in.
        let kind = |at: usize| self.parts.get(at).map(|(kind, ..)| *kind);
        let same = |at: usize| {
            let kind = kind(at)?;
            shown.parts.iter().position(|part| part.kind == kind)
        };
        if let (Some(cursor), Some(top)) = (same(self.at.cursor.part), same(self.at.top.part)) {
            shown.at = self.at;
            shown.at.cursor.part = cursor;
            shown.at.top.part = top;
        }
    }
}
