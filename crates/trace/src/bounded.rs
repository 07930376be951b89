//! A map that forgets, and digests as its keys: what follows a session must not grow with the
//! recording.

use foldhash::HashMap;
use foldhash::quality::RandomState;
use std::borrow::Borrow;
use std::collections::VecDeque;
use std::hash::{BuildHasher, Hash};
use std::sync::LazyLock;

/// The `LIMIT` entries that were put in last; the oldest goes first.
#[derive(Clone, Debug)]
pub struct BoundedMap<K, V, const LIMIT: usize> {
    entries: HashMap<K, (u64, V)>,
    /// Numbers and keys in the order in which they were put in; also of what was taken out.
    order: VecDeque<(u64, K)>,
    next: u64,
    has_forgotten: bool,
}

impl<K, V, const LIMIT: usize> Default for BoundedMap<K, V, LIMIT> {
    fn default() -> Self {
        Self {
            entries: HashMap::default(),
            order: VecDeque::new(),
            next: 0,
            has_forgotten: false,
        }
    }
}

impl<K: Clone + Eq + Hash, V, const LIMIT: usize> BoundedMap<K, V, LIMIT> {
    /// Puts an entry in; what was there for `key` goes.
    pub fn insert(&mut self, key: K, value: V) {
        self.next += 1;
        self.entries.insert(key.clone(), (self.next, value));
        self.order.push_back((self.next, key));
        if self.order.len() > 2 * LIMIT {
            let entries = &self.entries;
            self.order
                .retain(|(number, key)| is_of(entries, *number, key));
        }
        while self.entries.len() > LIMIT {
            let Some((number, oldest)) = self.order.pop_front() else {
                return;
            };
            if is_of(&self.entries, number, &oldest) {
                self.entries.remove(&oldest);
                self.has_forgotten = true;
            }
        }
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

impl<K: Clone + Eq + Hash, const LIMIT: usize> BoundedMap<K, (), LIMIT> {
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

/// The key is random for each process, so that no peer can make two values with one digest; digests of
/// two processes cannot be compared.
static SEED: LazyLock<RandomState> = LazyLock::new(RandomState::default);

/// A number that is the same for equal values and for hardly any others: a key of fixed size for
/// what may be long.
pub fn digest(value: impl Hash) -> u64 {
    SEED.hash_one(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes_first_and_that_is_known() {
        let mut kept = BoundedMap::<_, _, 2>::default();
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
    fn what_is_taken_out_leaves_nothing_behind() {
        let mut kept = BoundedMap::<_, _, 3>::default();
        for key in 0..1000 {
            kept.insert(key, ());
            assert_eq!(kept.remove(&key), Some(()));
            assert!(kept.order.len() <= 7 && kept.is_empty());
        }
        assert!(!kept.has_forgotten());
    }
}
