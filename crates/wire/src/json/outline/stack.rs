//! The open containers: those that are shown with what they may hold, the others as a bit.

use super::keep::{self, Budget, Care, Plan, Scope};

#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    pub(super) object: bool,
    pub(super) scope: Scope,
    pub(super) care: Care,
    pub(super) shown: usize,
    pub(super) dropped: bool,
}

/// What a member or element costs besides its text: quotes, comma, colon, brackets, ellipsis.
const OVERHEAD: usize = 16;

impl Level {
    /// The level of a container with this plan.
    pub(super) fn new(plan: Plan, object: bool) -> Self {
        let scope = match (plan.scope, object) {
            (Scope::Line, true) => Scope::Message,
            (Scope::Line, false) => Scope::Batch,
            (scope, _) => scope,
        };
        Self {
            object,
            scope,
            care: plan.inside(),
            shown: 0,
            dropped: false,
        }
    }

    /// Makes place for one more item with a name of `name` bytes: its comma is written. `None` if
    /// the item has to go.
    pub(super) fn admit(
        &mut self,
        plan: Plan,
        name: usize,
        budget: &mut Budget,
        out: &mut Vec<u8>,
    ) -> Option<Plan> {
        let fits = self.shown < keep::items(self.scope, plan.care)
            && budget.take(plan.care, name + OVERHEAD);
        if !fits {
            self.dropped = true;
            return None;
        }
        if self.shown > 0 {
            out.push(b',');
        }
        self.shown += 1;
        Some(plan)
    }
}

/// A stack of objects and arrays, a bit each.
#[derive(Clone, Debug, Default)]
pub(super) struct Kinds {
    pub(super) bits: Vec<u64>,
    pub(super) len: usize,
}

impl Kinds {
    pub(super) fn push(&mut self, object: bool) {
        let (word, bit) = (self.len / 64, self.len % 64);
        if word == self.bits.len() {
            self.bits.push(0);
        }
        self.bits[word] = self.bits[word] & !(1 << bit) | u64::from(object) << bit;
        self.len += 1;
    }

    /// Whether the innermost one is an object; `None` if there is none.
    pub(super) fn last(&self) -> Option<bool> {
        let last = self.len.checked_sub(1)?;
        Some(self.bits[last / 64] >> (last % 64) & 1 == 1)
    }

    pub(super) fn pop(&mut self) {
        self.len = self.len.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_a_stack() {
        let mut kinds = Kinds::default();
        let pattern: Vec<bool> = (0..300).map(|n| n % 3 == 0).collect();
        for &object in &pattern {
            kinds.push(object);
        }
        for object in pattern.iter().rev() {
            assert_eq!(kinds.last(), Some(*object));
            kinds.pop();
        }
        assert_eq!(kinds.last(), None);
    }
}
