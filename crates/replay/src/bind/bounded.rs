//! Maps that do not grow without end.

use super::MOST;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// A map of [`MOST`] entries, of which the oldest go first.
#[derive(Debug)]
pub(super) struct Bounded<K, V> {
    pub map: HashMap<K, V>,
    pub order: VecDeque<K>,
}

impl<K, V> Default for Bounded<K, V> {
    fn default() -> Self {
        Self {
            map: HashMap::new(),
            order: VecDeque::new(),
        }
    }
}

impl<K: Clone + Eq + Hash, V> Bounded<K, V> {
    pub(super) fn insert(&mut self, key: K, value: V) -> Option<(K, V)> {
        if self.map.insert(key.clone(), value).is_some() {
            return None;
        }
        self.order.push_back(key);
        if self.order.len() <= MOST {
            return None;
        }
        let oldest = self.order.pop_front()?;
        self.map.remove_entry(&oldest)
    }
}
