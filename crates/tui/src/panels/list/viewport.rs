//! The rows of the list: which there are, which are on the screen, and where the cursor is.

use super::index::{Cache, Index, Row};
use super::jobs::Found;
use crate::settings::TimeColumn;
use crate::widget::frame;
use mcpreel_store::select::Sort;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{Item, ItemKey, Lens};
use std::collections::HashSet;

/// The list of exchanges or frames.
#[derive(Debug, Default)]
pub struct List {
    /// The frame that the cursor goes to as soon as its row is there.
    pub go_to: Option<Seq>,
    /// Whether a user has moved in it: from then on nothing else moves the cursor.
    pub is_moved: bool,
    pub index: Index,
    /// Another order than that of time.
    pub sorted: Option<Sorted>,
    /// Rows after this frame are not shown: the time cursor or the pause.
    pub until: Option<Seq>,
    pub cache: Cache,
    /// How far the rows were looked through.
    pub scan: Scanned,
    pub cursor: Cursor,
    /// The first row on the screen; none while the end is followed.
    pub top: Option<ItemKey>,
    /// Rows that came while the end was not followed.
    pub fresh: u64,
    /// Rows that were selected for a comparison, the one before first.
    pub to_compare: Vec<ItemKey>,
    /// What the column of times shows.
    pub time: TimeColumn,
    /// Where on the screen the cursor was when other rows were asked for: it stays there.
    pub hold: Option<usize>,
    /// Rows on the screen when it was last looked at.
    pub page: usize,
}

/// The calls in another order than that of time.
#[derive(Debug)]
pub struct Sorted {
    pub by: Sort,
    /// The rows; none until they have come.
    pub rows: Vec<Row>,
    /// The extent of the list when they were sorted.
    pub extent: Option<Extent>,
    pub is_asked: bool,
}

/// What a list holds: when it changes, its order is asked for again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// Rows that fit the filter.
    pub rows: u64,
    /// The last frame that is shown.
    pub until: Option<Seq>,
    /// The last frame on record.
    pub last: Option<Seq>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cursor {
    /// On the last row, whichever that is.
    #[default]
    End,
    At(ItemKey),
}

/// How far the rows were looked through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    /// Whether the rows on the screen are those that were asked for last, and no older ones.
    pub is_answered: bool,
    /// Everything from here on was looked at; none: nothing yet.
    pub from: Option<ItemKey>,
    /// How much of it that is, percent.
    pub percent: u8,
    pub done: bool,
    pub stopped: bool,
    /// Rows without a filter, as far as they were counted.
    pub total: Option<u64>,
}

impl Scanned {
    /// Whether it is known if there is a row at `key`.
    pub fn has_seen(&self, key: ItemKey) -> bool {
        self.is_answered && (self.done || self.from.is_some_and(|from| from <= key))
    }

    /// Whether more is being looked through.
    pub fn is_running(&self) -> bool {
        !self.done && !self.stopped
    }
}

impl List {
    /// The rows in another order than that of time, once they have come.
    fn order(&self) -> Option<&[Row]> {
        let sorted = self
            .sorted
            .as_ref()
            .filter(|sorted| sorted.extent.is_some());
        sorted.map(|sorted| sorted.rows.as_slice())
    }

    pub fn row(&self, at: usize) -> Option<Row> {
        match self.order() {
            Some(rows) => rows.get(at).copied(),
            None => self.index.get(at),
        }
    }

    fn nearest(&self, key: ItemKey) -> Option<usize> {
        match self.order() {
            Some(_) => self.position(key).or(Some(0)),
            None => self.index.nearest(key),
        }
    }

    /// How many rows are shown.
    pub fn len(&self) -> usize {
        if let Some(rows) = self.order() {
            return rows.len();
        }
        self.until
            .map_or(self.index.len(), |seq| self.index.len_until(seq))
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the row is that holds `key`, if it is shown.
    pub fn position(&self, key: ItemKey) -> Option<usize> {
        if let Some(rows) = self.order() {
            return rows.iter().position(|row| row.key() == key);
        }
        self.index.position(key).filter(|at| *at < self.len())
    }

    fn rows(&self, from: usize, count: usize) -> impl Iterator<Item = Row> {
        let to = self.len().min(from.saturating_add(count));
        (from..to).filter_map(|at| self.row(at))
    }

    /// Whether the end of the list is followed.
    pub fn follows(&self) -> bool {
        self.top.is_none()
    }

    /// The number of the first row on a screen of `page` rows.
    pub fn first_row(&self, page: usize) -> usize {
        let last = self.len().saturating_sub(page);
        let top = self.top.and_then(|top| self.nearest(top));
        top.map_or(last, |top| top.min(last))
    }

    /// The number of the row with the cursor; none if there are no rows.
    pub fn cursor_row(&self) -> Option<usize> {
        match self.cursor {
            Cursor::End => self.len().checked_sub(1),
            Cursor::At(key) => {
                let last = self.len().checked_sub(1)?;
                self.nearest(key).map(|at| at.min(last))
            }
        }
    }

    /// The address of the row with the cursor.
    pub fn selected(&self) -> Option<ItemKey> {
        match self.cursor {
            // Within a run the cursor may be on a later one than the first.
            Cursor::At(key) if self.position(key).is_some() => Some(key),
            _ => self.row(self.cursor_row()?).map(Row::key),
        }
    }

    /// What stands in the row with the cursor, if that is known.
    pub fn selected_item(&self) -> Option<&Item> {
        self.cache.get(self.selected()?)
    }

    /// The rows on a screen of `page` rows.
    pub fn visible(&self, page: usize) -> impl Iterator<Item = Row> {
        self.rows(self.first_row(page), page)
    }

    /// The addresses of the rows on the screen, and of those a page above and below it.
    pub fn window(&self, page: usize) -> Vec<ItemKey> {
        let first = self.first_row(page);
        let visible = self.rows(first, page);
        let below = self.rows(first + page, page);
        let above = self.rows(first.saturating_sub(page), page.min(first));
        let above: Vec<_> = above.collect();
        let around = below.chain(above.into_iter().rev());
        let keys = visible.chain(around).map(Row::key);
        self.selected().into_iter().chain(keys).collect()
    }

    /// Makes the row `at` the first one of a screen of `page` rows, unless the cursor follows the
    /// end.
    pub fn scroll_to(&mut self, at: usize, page: usize) {
        let end = self.len().saturating_sub(page);
        let row = self.row(at.min(end));
        self.top = row.filter(|_| self.cursor != Cursor::End).map(Row::key);
        if at >= end {
            self.fresh = 0;
        }
    }

    /// Puts the cursor on the row `at` and scrolls as far as it takes to see it.
    pub fn put_cursor(&mut self, at: usize, page: usize) {
        let Some(row) = self.row(at) else {
            return;
        };
        self.cursor = Cursor::At(row.key());
        self.reveal(at, page);
    }

    /// Scrolls as far as it takes to see the row `at`.
    pub fn reveal(&mut self, at: usize, page: usize) {
        let first = self.first_row(page);
        self.scroll_to(frame::showing(at, first, page), page);
    }

    /// Puts the cursor on the first row, also if that has not been found yet.
    pub fn to_top(&mut self, page: usize) {
        if self.scan.is_running() {
            let first = ItemKey::default();
            self.cursor = Cursor::At(first);
            self.top = Some(first);
            self.hold = Some(0);
        } else {
            self.put_cursor(0, page);
        }
    }

    /// Puts the cursor on the end and follows it.
    pub fn follow(&mut self) {
        self.cursor = Cursor::End;
        self.top = None;
        self.fresh = 0;
    }

    /// Stays with what is on a screen of `page` rows, whatever comes after it.
    pub fn stay(&mut self, page: usize) {
        self.top = self.row(self.first_row(page)).map(Row::key);
        self.cursor = self.selected().map_or(Cursor::End, Cursor::At);
    }

    /// Takes in what a step of the scan has found.
    pub fn take(&mut self, found: Found) {
        let follows = self.follows();
        for hit in found.older.into_iter().chain(found.begin) {
            self.index.add(&hit);
        }
        for hit in found.newer {
            self.fresh += u64::from(self.index.add(&hit) && !follows);
        }
        for key in found.cease {
            self.index.remove(key);
        }
        // Rows on the screen that have changed are read again.
        if !found.touched.is_empty() {
            let ids: HashSet<_> = found.touched.iter().map(|(id, _)| *id).collect();
            let is_touched = |item: &Item| item.exchange().is_some_and(|one| ids.contains(&one.id));
            self.cache.mark(is_touched);
        }
        let scan = &mut self.scan;
        if !scan.stopped {
            scan.from = found.from.or(scan.from);
            scan.percent = found.percent;
            scan.done = found.done;
        }
        scan.total = found.total.or(scan.total);
    }

    /// Other rows will come: nothing of those that are there counts any more once they do.
    pub fn reset(&mut self, lens: Lens) {
        self.index = Index::new(lens == Lens::Exchanges);
        self.scan.is_answered = true;
        self.scan.from = None;
        self.fresh = 0;
    }
}
