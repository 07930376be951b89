//! Sets that were tried.

use super::Verdict;
use super::ddmin::bits;
use std::collections::HashMap;

/// What is known of sets of units. Different sets may need the same units in the end: such a one is
/// tried once.
#[derive(Debug, Default)]
pub struct Tried(HashMap<Box<[u64]>, Verdict>);

impl Tried {
    /// What is known of a set.
    #[must_use]
    pub fn verdict(&self, units: &[usize]) -> Option<Verdict> {
        self.0.get(&bits(units)).copied()
    }

    /// A set was tried.
    pub fn add(&mut self, units: &[usize], verdict: Verdict) {
        self.0.insert(bits(units), verdict);
    }
}
