//! Whole rows, for what is on the screen and a page around it.

use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{Item, ItemKey};
use std::collections::HashMap;

/// Rows that are held at most; a screen and a page each way of a very high terminal.
const HELD: usize = 2048;

#[derive(Debug, Default)]
pub struct Cache {
    rows: HashMap<ItemKey, Held>,
    /// What was asked for last, and the frame whose row was.
    asked: (Vec<ItemKey>, Option<Seq>),
}

#[derive(Debug)]
struct Held {
    item: Item,
    /// The row has changed since; it is shown until the new one comes.
    stale: bool,
}

impl Cache {
    pub fn get(&self, key: ItemKey) -> Option<&Item> {
        self.rows.get(&key).map(|held| &held.item)
    }

    /// Rows have come. `window` are those that may be shown next: the others go where there are
    /// too many.
    pub fn take(&mut self, items: Vec<Item>, window: &[ItemKey]) {
        for item in items {
            let held = Held { item, stale: false };
            self.rows.insert(held.item.key, held);
        }
        if self.rows.len() > HELD {
            let window: std::collections::HashSet<_> = window.iter().collect();
            self.rows.retain(|key, _| window.contains(key));
        }
    }

    /// The rows have changed in ways that `changed` tells.
    pub fn mark(&mut self, changed: impl Fn(&Item) -> bool) {
        for held in self.rows.values_mut() {
            held.stale |= changed(&held.item);
        }
        self.asked = Default::default();
    }

    /// What is to be asked: rows of the `window` that are not there, and the row of the frame
    /// `find`. None if it was asked before, or if there is nothing to ask. It is remembered: the
    /// answer to an older question may never come.
    pub fn wanted(
        &mut self,
        window: &[ItemKey],
        find: Option<Seq>,
    ) -> Option<(Vec<ItemKey>, Option<Seq>)> {
        let is_fresh = |key: &ItemKey| self.rows.get(key).is_some_and(|held| !held.stale);
        let missing = window.iter().filter(|key| !is_fresh(key)).copied();
        let missing: Vec<_> = missing.take(HELD / 2).collect();
        let (asked, asked_find) = &self.asked;
        let is_asked = missing.iter().all(|key| asked.contains(key)) && find == *asked_find;
        if is_asked {
            return None;
        }
        self.asked = (missing.clone(), find);
        (!missing.is_empty() || find.is_some()).then_some((missing, find))
    }

    /// Nothing is known any more, although it is still shown.
    pub fn forget(&mut self) {
        self.mark(|_| true);
    }

    pub fn ask_again(&mut self) {
        self.asked = Default::default();
    }

    pub fn clear(&mut self) {
        self.rows.clear();
        self.asked = Default::default();
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_trace::clock::Moment;
    use mcpreel_trace::event::{Event, EventKind};
    use mcpreel_trace::item::What;

    fn keys(seqs: std::ops::Range<u64>) -> Vec<ItemKey> {
        seqs.map(|seq| ItemKey::of_part(Seq(seq), 0)).collect()
    }

    fn items(keys: &[ItemKey]) -> Vec<Item> {
        let event = Event {
            t: Moment(0),
            after_seq: Seq(0),
            kind: EventKind::Recovered { frames: 1 },
        };
        let item = |key: &ItemKey| Item {
            key: *key,
            what: What::Event(Box::new(event.clone())),
            findings: Vec::new(),
            annotation: None,
        };
        keys.iter().map(item).collect()
    }

    #[test]
    fn however_far_one_scrolls_no_more_rows_are_held_than_fit_some_screens() {
        let mut cache = Cache::default();
        for first in (0..100_000).step_by(50) {
            let window = keys(first..first + 150);
            let (missing, _) = cache.wanted(&window, None).expect("some are new");
            cache.take(items(&missing), &window);
            assert!(cache.len() <= HELD, "{}", cache.len());
            assert!(window.iter().all(|key| cache.get(*key).is_some()));
        }
    }

    #[test]
    fn rows_are_asked_for_once_until_they_change() {
        let mut cache = Cache::default();
        let window = keys(0..10);
        assert!(cache.wanted(&window, None).is_some());
        assert!(cache.wanted(&window, None).is_none());
        cache.take(items(&window), &window);
        assert!(cache.wanted(&window, None).is_none());
        cache.mark(|item| item.key.seq == Seq(3));
        let (missing, _) = cache.wanted(&window, None).expect("one has changed");
        assert_eq!(missing, keys(3..4));
        assert!(cache.get(missing[0]).is_some());
    }
}
