//! The rows of the list in order, 24 bytes each; and a cache of the whole rows of the screen.
//!
//! ```text
//!  #17 ×1 │ #18 ×37 │ #60 ×1 │ …          24 bytes each, older ones are found later
//! ```
//!
//! A run of the same notification in frames without anything between is one row.

use mcpreel_store::select::Hit;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{Item, ItemKey, ItemKind};
use std::collections::{HashMap, VecDeque};

#[derive(Clone, Debug, Default)]
pub struct Index {
    rows: VecDeque<Row>,
    items: u64,
    folds: bool,
}

/// A row: one item, or a run of the same notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    seq: u64,
    nth: u32,
    /// Equal for what may be one run; 0 for what stands alone.
    fold: u32,
    /// How many items it stands for.
    pub run: u32,
    pub kind: ItemKind,
}

impl Row {
    fn new(hit: &Hit) -> Self {
        Self {
            seq: hit.key.seq.0,
            nth: hit.key.nth,
            fold: hit.fold.map_or(0, |fold| fold.max(1)),
            run: 1,
            kind: hit.kind,
        }
    }

    pub fn key(self) -> ItemKey {
        ItemKey {
            seq: Seq(self.seq),
            nth: self.nth,
        }
    }

    pub fn last(self) -> ItemKey {
        ItemKey {
            seq: Seq(self.seq + u64::from(self.run) - 1),
            nth: self.nth,
        }
    }

    fn holds(self, key: ItemKey) -> bool {
        key.nth == self.nth && (self.key()..=self.last()).contains(&key)
    }

    /// Whether `next` goes on where this ends.
    fn goes_on(self, next: Self) -> bool {
        let alike = self.fold != 0 && self.fold == next.fold && self.nth == 0 && next.nth == 0;
        alike && next.seq == self.seq + u64::from(self.run)
    }
}

impl Index {
    /// No rows yet; `folds`: whether runs become one row.
    pub fn new(folds: bool) -> Self {
        Self {
            folds,
            ..Self::default()
        }
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn items(&self) -> u64 {
        self.items
    }

    pub fn get(&self, at: usize) -> Option<Row> {
        self.rows.get(at).copied()
    }

    pub fn rows(&self, from: usize, count: usize) -> impl Iterator<Item = Row> {
        let from = from.min(self.rows.len());
        let to = from.saturating_add(count).min(self.rows.len());
        self.rows.range(from..to).copied()
    }

    /// The place of the row that holds `key`.
    pub fn position(&self, key: ItemKey) -> Option<usize> {
        let at = self.after(key).checked_sub(1)?;
        self.rows[at].holds(key).then_some(at)
    }

    /// The place of the row that holds `key` or is the nearest to it; `None` without rows.
    pub fn nearest(&self, key: ItemKey) -> Option<usize> {
        let after = self.after(key);
        let Some(before) = after.checked_sub(1) else {
            return (!self.rows.is_empty()).then_some(0);
        };
        let row = self.rows[before];
        let Some(next) = self.rows.get(after) else {
            return Some(before);
        };
        let back = key.seq.0.saturating_sub(row.last().seq.0);
        let ahead = next.seq - key.seq.0;
        Some(if back <= ahead { before } else { after })
    }

    /// How many rows begin in the frame `seq` or before it.
    pub fn len_until(&self, seq: Seq) -> usize {
        self.rows.partition_point(|row| row.seq <= seq.0)
    }

    /// The frame of the next row that begins after the frame `seq`, or before it.
    pub fn beside(&self, seq: Seq, forward: bool) -> Option<Seq> {
        let at = if forward {
            self.len_until(seq)
        } else {
            let within = self.rows.partition_point(|row| row.seq < seq.0);
            within.checked_sub(1)?
        };
        self.rows.get(at).map(|row| Seq(row.seq))
    }

    /// How many rows begin at or before `key`.
    fn after(&self, key: ItemKey) -> usize {
        self.rows.partition_point(|row| row.key() <= key)
    }

    /// Takes a row in that was found, wherever it belongs. Whether it is a new one.
    pub fn add(&mut self, hit: &Hit) -> bool {
        let mut row = Row::new(hit);
        if !self.folds {
            row.fold = 0;
        }
        let after = self.after(hit.key);
        if let Some(at) = after.checked_sub(1) {
            let before = self.rows[at];
            if before.holds(hit.key) {
                return false;
            }
        }
        self.items += 1;
        self.place(after, row);
        true
    }

    /// Puts a row at its place; runs that it joins become one.
    fn place(&mut self, at: usize, mut row: Row) {
        if let Some(next) = self.rows.get(at).copied().filter(|next| row.goes_on(*next)) {
            row.run += next.run;
            self.rows.remove(at);
        }
        let before = at.checked_sub(1).and_then(|at| self.rows.get_mut(at));
        match before.filter(|before| before.goes_on(row)) {
            Some(before) => before.run += row.run,
            None => self.rows.insert(at, row),
        }
    }

    /// Takes out a row that stands alone: nothing of a run ceases to fit. Whether it was there.
    pub fn remove(&mut self, key: ItemKey) -> bool {
        let alone = |at: &usize| self.rows[*at].run == 1;
        let Some(at) = self.position(key).filter(alone) else {
            return false;
        };
        self.items -= 1;
        self.rows.remove(at);
        true
    }
}

/// Rows that are held at most; a screen and a page each way of a very high terminal.
const HELD: usize = 2048;

#[derive(Debug, Default)]
pub struct Cache {
    rows: HashMap<ItemKey, Held>,
    /// The rows that were asked for last, and the frame whose row was.
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

    /// Rows that `changed` tells are to be read again; they are shown until then.
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

    pub fn ask_again(&mut self) {
        self.asked = Default::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(seq: u64, nth: u32, fold: Option<u32>) -> Hit {
        Hit {
            key: ItemKey::of_part(Seq(seq), nth),
            kind: fold.map_or(ItemKind::Request, |_| ItemKind::Notification),
            fold,
        }
    }

    fn runs(index: &Index) -> Vec<(u64, u32)> {
        let rows = index.rows(0, usize::MAX);
        rows.map(|row| (row.seq, row.run)).collect()
    }

    #[test]
    fn a_run_of_the_same_notification_is_one_row_whichever_way_it_is_found() {
        for newest_first in [false, true] {
            let mut hits = vec![hit(1, 0, None), hit(2, 0, Some(7)), hit(3, 0, Some(7))];
            hits.extend([hit(4, 0, Some(7)), hit(5, 0, Some(8)), hit(7, 0, Some(8))]);
            if newest_first {
                hits.reverse();
            }
            let mut index = Index::new(true);
            for hit in &hits {
                assert!(index.add(hit));
                assert!(!index.add(hit));
            }
            assert_eq!(runs(&index), [(1, 1), (2, 3), (5, 1), (7, 1)]);
            assert_eq!(index.items(), 6);
            assert_eq!(index.position(ItemKey::of_part(Seq(4), 0)), Some(1));
            assert_eq!(index.position(ItemKey::of_part(Seq(6), 0)), None);
        }
    }

    #[test]
    fn what_is_hidden_has_the_nearest_row_for_a_neighbour() {
        let mut index = Index::new(true);
        assert_eq!(index.nearest(ItemKey::default()), None);
        for seq in [10, 20, 30] {
            index.add(&hit(seq, 0, None));
        }
        let near = |seq| index.nearest(ItemKey::of_part(Seq(seq), 0));
        assert_eq!([near(1), near(14), near(16)], [Some(0), Some(0), Some(1)]);
        assert_eq!([near(20), near(99)], [Some(1), Some(2)]);
    }
}

#[cfg(test)]
mod cache_tests {
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
            assert!(cache.rows.len() <= HELD, "{}", cache.rows.len());
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
