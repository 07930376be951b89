//! A map that forgets: what a family remembers must not grow with the recording.

use foldhash::HashMap;
use std::borrow::Borrow;
use std::collections::VecDeque;
use std::hash::Hash;

/// The last entries that were put in, at most as many as it was made for; the oldest goes first.
#[derive(Clone, Debug)]
pub struct Remembered<K, V> {
    limit: usize,
    entries: HashMap<K, (u64, V)>,
    /// Numbers and keys in the order in which they were put in; also of what was taken out.
    order: VecDeque<(u64, K)>,
    next: u64,
    has_forgotten: bool,
}

impl<K: Clone + Eq + Hash, V> Remembered<K, V> {
    /// An empty one that holds `limit` entries.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            entries: HashMap::default(),
            order: VecDeque::new(),
            next: 0,
            has_forgotten: false,
        }
    }

    /// Puts an entry in; what was there for `key` goes.
    pub fn insert(&mut self, key: K, value: V) {
        self.next += 1;
        self.entries.insert(key.clone(), (self.next, value));
        self.order.push_back((self.next, key));
        if self.order.len() > 2 * self.limit {
            let entries = &self.entries;
            self.order
                .retain(|(number, key)| is_of(entries, *number, key));
        }
        while self.entries.len() > self.limit {
            let Some((number, oldest)) = self.order.pop_front() else {
                return;
            };
            if is_of(&self.entries, number, &oldest) {
                self.entries.remove(&oldest);
                self.has_forgotten = true;
            }
        }
    }

    /// Takes the oldest entry out, as one that had to go.
    pub fn forget_oldest(&mut self) -> Option<V> {
        while let Some((number, oldest)) = self.order.pop_front() {
            if is_of(&self.entries, number, &oldest) {
                self.has_forgotten = true;
                return self.remove(&oldest);
            }
        }
        None
    }

    pub fn get<Q>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.entries.get(key).map(|(_, value)| value)
    }

    /// The entry of `key`, to be changed.
    pub fn get_mut<Q>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.entries.get_mut(key).map(|(_, value)| value)
    }

    pub fn remove<Q>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.entries.remove(key).map(|(_, value)| value)
    }

    /// Whether there is an entry of `key`.
    pub fn contains<Q>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.entries.contains_key(key)
    }

    /// Everything that is remembered, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.entries.iter().map(|(key, (_, value))| (key, value))
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether entries had to go: what is not found may have been there.
    pub fn has_forgotten(&self) -> bool {
        self.has_forgotten
    }

    /// Forgets everything, as if it had never been there.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.order.clear();
        self.has_forgotten = false;
    }
}

impl<K: Clone + Eq + Hash> Remembered<K, ()> {
    /// Whether `key` was not there; it is from now on.
    pub fn is_first(&mut self, key: K) -> bool {
        let is_first = !self.contains(&key);
        if is_first {
            self.insert(key, ());
        }
        is_first
    }
}

fn is_of<K: Eq + Hash, V>(entries: &HashMap<K, (u64, V)>, number: u64, key: &K) -> bool {
    entries
        .get(key)
        .is_some_and(|(current, _)| *current == number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes_first_and_that_is_known() {
        let mut kept = Remembered::new(2);
        kept.insert(1, "a");
        kept.insert(2, "b");
        kept.insert(1, "c");
        assert!(!kept.has_forgotten());
        kept.insert(3, "d");
        assert!(kept.has_forgotten());
        assert_eq!(
            (kept.get(&1), kept.get(&2), kept.get(&3)),
            (Some(&"c"), None, Some(&"d"))
        );
    }

    #[test]
    fn a_key_is_first_once_until_it_is_forgotten() {
        let mut kept = Remembered::new(1);
        let firsts = [1, 1, 2, 1].map(|key| kept.is_first(key));
        assert_eq!(firsts, [true, false, true, true]);
    }

    #[test]
    fn what_is_taken_out_leaves_nothing_behind() {
        let mut kept = Remembered::new(3);
        for key in 0..1000 {
            kept.insert(key, ());
            assert_eq!(kept.remove(&key), Some(()));
            assert!(kept.order.len() <= 7 && kept.is_empty());
        }
        assert!(!kept.has_forgotten());
    }
}
