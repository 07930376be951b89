//! Whole rows, for what is on the screen and a page around it.

use crate::trace::frame::Seq;
use crate::trace::item::{Item, ItemKey};
use std::collections::HashMap;

/// Rows that are held at most; a screen and a page each way of a very high terminal.
const HELD: usize = 2048;

/// Whole rows.
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
    /// What stands in the row.
    #[must_use]
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

    /// What was asked is asked again.
    pub fn ask_again(&mut self) {
        self.asked = Default::default();
    }

    /// Nothing is held any more.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.asked = Default::default();
    }

    /// How many rows are held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}
