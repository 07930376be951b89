//! The list of exchanges or frames.
//!
//! ```text
//!  List ─┬─ index    all rows that fit, 24 bytes each: the newest are found first
//!        ├─ cache    whole rows, for the screen and a page around it
//!        ├─ cursor   on a row by its address, or riding on the last one
//!        └─ top      the first row on the screen by its address; none follows the end
//! ```
//!
//! The cursor and the first row are addresses and no numbers: rows that are found above, or that
//! begin or cease to fit, move nothing on the screen.

pub mod cells;
pub mod index;
pub mod jobs;
pub mod list_draw;

use super::selection::moved;
use crate::action::Action;
use crate::app::{App, Focus, Session, View};
use crate::effect::Effects;
use crate::layout;
use crate::panels::filter::{self, Relaxed};
use crate::worker::Slot;
pub use index::{Cache, Index, Row};
use jobs::{Found, Reading, Scanning};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{Item, ItemKey, Lens};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

pub const FIRST: ItemKey = ItemKey {
    seq: Seq(0),
    nth: 0,
};

/// The list of exchanges or frames.
#[derive(Debug, Default)]
pub struct List {
    /// The frame that the cursor goes to as soon as its row is there.
    pub go_to: Option<Seq>,
    pub index: Index,
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
    pub chosen: Vec<ItemKey>,
    /// What the column of times shows.
    pub time: TimeColumn,
    /// Where on the screen the cursor was when other rows were asked for: it stays there.
    pub hold: Option<usize>,
    /// Rows on the screen when it was last looked at.
    pub page: usize,
    /// The latency that is usual for each method, nanoseconds: what bars are scaled to.
    pub usual: HashMap<Box<str>, u64>,
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

/// What the column of times shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimeColumn {
    #[default]
    Start,
    Delta,
    Clock,
}

impl TimeColumn {
    pub fn next(self) -> Self {
        match self {
            Self::Start => Self::Delta,
            Self::Delta => Self::Clock,
            Self::Clock => Self::Start,
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            Self::Start => "since",
            Self::Delta => "delta",
            Self::Clock => "clock",
        }
    }
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
    /// How many rows are shown.
    pub fn len(&self) -> usize {
        self.until
            .map_or(self.index.len(), |seq| self.index.len_until(seq))
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the row is that holds `key`, if it is shown.
    pub fn position(&self, key: ItemKey) -> Option<usize> {
        self.index.position(key).filter(|at| *at < self.len())
    }

    fn rows(&self, from: usize, count: usize) -> impl Iterator<Item = Row> {
        self.index
            .rows(from, count.min(self.len().saturating_sub(from)))
    }

    /// Whether the end of the list is followed.
    pub fn follows(&self) -> bool {
        self.top.is_none()
    }

    /// The number of the first row on a screen of `page` rows.
    pub fn first_row(&self, page: usize) -> usize {
        let last = self.len().saturating_sub(page);
        let top = self.top.and_then(|top| self.index.nearest(top));
        top.map_or(last, |top| top.min(last))
    }

    /// The number of the row with the cursor; none if there are no rows.
    pub fn cursor_row(&self) -> Option<usize> {
        match self.cursor {
            Cursor::End => self.len().checked_sub(1),
            Cursor::At(key) => {
                let last = self.len().checked_sub(1)?;
                self.index.nearest(key).map(|at| at.min(last))
            }
        }
    }

    /// The address of the row with the cursor.
    pub fn selected(&self) -> Option<ItemKey> {
        match self.cursor {
            // Within a run the cursor may be on a later one than the first.
            Cursor::At(key) if self.position(key).is_some() => Some(key),
            _ => self.index.get(self.cursor_row()?).map(Row::key),
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
        let above = self
            .rows(first.saturating_sub(page), page.min(first))
            .collect::<Vec<_>>();
        let around = below.chain(above.into_iter().rev());
        let keys = visible.chain(around).map(Row::key);
        self.selected().into_iter().chain(keys).collect()
    }

    /// Makes the row `at` the first one of a screen of `page` rows; the end is followed if that
    /// shows the last one.
    pub fn scroll_to(&mut self, at: usize, page: usize) {
        let ends = at.saturating_add(page) >= self.len();
        self.top = match self.index.get(at) {
            Some(row) if !ends => Some(row.key()),
            _ => None,
        };
        if self.follows() {
            self.fresh = 0;
        }
    }

    /// Puts the cursor on the row `at` and scrolls as far as it takes to see it.
    pub fn put_cursor(&mut self, at: usize, page: usize) {
        let Some(row) = self.index.get(at) else {
            return;
        };
        self.cursor = Cursor::At(row.key());
        self.reveal(at, page);
    }

    /// Scrolls as far as it takes to see the row `at`.
    pub fn reveal(&mut self, at: usize, page: usize) {
        let first = self.first_row(page);
        self.scroll_to(crate::widget::frame::showing(at, first, page), page);
    }

    /// Puts the cursor on the first row, also if that has not been found yet.
    pub fn to_top(&mut self, page: usize) {
        if self.scan.is_running() {
            self.cursor = Cursor::At(FIRST);
            self.top = Some(FIRST);
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
        self.top = self.index.get(self.first_row(page)).map(Row::key);
        self.cursor = self.selected().map_or(Cursor::End, Cursor::At);
    }

    /// Takes in what a step of the scan has found.
    fn take(&mut self, found: &mut Found) {
        let follows = self.follows();
        for hit in found.older.iter().chain(&found.begin) {
            self.index.add(hit);
        }
        for hit in &found.newer {
            self.fresh += u64::from(self.index.add(hit) && !follows);
        }
        for key in &found.cease {
            self.index.remove(*key);
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
        if let Some(usual) = found.usual.take() {
            self.usual = usual;
        }
    }

    /// Other rows will come: nothing of those that are there counts any more once they do.
    pub fn reset(&mut self, lens: Lens) {
        self.index = Index::new(lens == Lens::Exchanges);
        self.scan.is_answered = true;
        self.scan.from = None;
        self.fresh = 0;
    }
}

/// Rows have been found: they go into the list, and the cursor stays where it was.
fn found(app: &mut App, session: &mut Session, found: &mut Found) -> Effects {
    let page = page(app, session);
    let list = &mut session.list;
    if !list.scan.is_answered {
        list.reset(session.lens);
    }
    let was_visible = is_cursor_visible(list, page);
    list.take(found);
    // Following the end must not carry the cursor off the screen.
    let carried = was_visible && list.follows() && !is_cursor_visible(list, page);
    if let (true, Some(row)) = (carried && list.hold.is_none(), list.cursor_row()) {
        list.scroll_to(row, page);
    }
    if let Some(text) = settle(list, page) {
        app.notices.success(text, app.now);
    }
    vec![]
}

/// Whole rows have been read, and the row of a frame was found.
fn read(
    app: &mut App,
    session: &mut Session,
    lens: Lens,
    items: Vec<Item>,
    found: Option<(Seq, ItemKey)>,
) -> Effects {
    let page = page(app, session);
    if lens != session.lens {
        return vec![];
    }
    let window = session.list.window(page);
    session.list.cache.take(items, &window);
    match found {
        Some((seq, key)) if session.list.go_to == Some(seq) => go_to(app, session, key),
        _ => vec![],
    }
}

pub fn perform(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    let page = page(app, session);
    let list = &mut session.list;
    match action {
        Action::Bottom => list.follow(),
        Action::Top => list.to_top(page),
        Action::Open => session.focus = Focus::Detail,
        Action::Select => {
            if let Some(dropped) = select(list) {
                let text = format!("#{} is not selected any more: two at most", dropped.seq.0);
                app.notices.success(text, app.now);
            }
        }
        Action::TimeColumn => {
            list.time = list.time.next();
            return Some(super::session::remember(app, session));
        }
        _ => {
            let rows = list.len();
            let to = moved(action, list.cursor_row().unwrap_or(0), rows, page)?;
            list.go_to = None;
            list.put_cursor(to, page);
        }
    }
    Some(vec![])
}

/// Follows the end of the list, or stays where it is if it did.
pub fn follow(app: &mut App, session: &mut Session) {
    let page = page(app, session);
    let list = &mut session.list;
    if list.follows() {
        list.stay(page);
    } else {
        list.follow();
    }
}

/// Selects the row for a comparison, or takes it out; which one it has taken the place of.
fn select(list: &mut List) -> Option<ItemKey> {
    let key = list.selected()?;
    super::selection::toggle(&mut list.chosen, key)
}

/// How many rows the list shows at once.
pub fn page(app: &App, session: &Session) -> usize {
    let places = layout::session(app, session);
    let main = if places.main.is_empty() {
        // One pane at a time: the list is where the detail is.
        places.detail
    } else {
        places.main
    };
    usize::from(list_draw::rows_of(places.arrangement, main).height)
}

/// Asks which rows there are, from the start: after the lens, the filter or the time cursor has
/// changed.
pub fn begin(app: &mut App, session: &mut Session) -> Effects {
    let page = page(app, session);
    session.filter.relaxed = Relaxed::Unknown;
    let list = &mut session.list;
    if let (Cursor::At(_), Some(row)) = (list.cursor, list.cursor_row()) {
        list.hold = row.checked_sub(list.first_row(page)).or(list.hold);
    }
    list.scan = Scanned {
        from: list.scan.from,
        ..Scanned::default()
    };
    // What was said about rows may be otherwise at another moment or through another lens.
    list.cache.forget();
    let job = Scanning::new(session.lens, session.filter.in_force().clone(), None);
    vec![app.questions.ask(Slot::List, job)]
}

/// Stops looking for older rows; what was found stays. Whether there was something to stop.
pub fn stop(app: &mut App, session: &mut Session) -> Option<Effects> {
    let scan = &mut session.list.scan;
    let from = scan.from.filter(|_| scan.is_running())?;
    scan.stopped = true;
    let query = session.filter.in_force().clone();
    let job = Scanning::new(session.lens, query, Some(from));
    Some(vec![app.questions.ask(Slot::List, job)])
}

fn is_cursor_visible(list: &List, page: usize) -> bool {
    let first = list.first_row(page);
    let row = list.cursor_row();
    row.is_some_and(|row| (first..first + page).contains(&row))
}

/// Puts the cursor where it belongs among other rows, once that is known. What is to be said.
fn settle(list: &mut List, page: usize) -> Option<String> {
    let Cursor::At(key) = list.cursor else {
        list.hold = None;
        return None;
    };
    let hold = list.hold?;
    if !list.scan.has_seen(key) && !list.scan.stopped {
        return None;
    }
    list.hold = None;
    let row = list.cursor_row()?;
    list.scroll_to(row.saturating_sub(hold), page);
    if list.position(key).is_some() {
        return None;
    }
    list.put_cursor(row, page);
    if key == FIRST {
        return None;
    }
    let nearest = list.selected()?;
    let is_later = list.until.is_some_and(|until| key.seq > until);
    let by = if is_later { "time cursor" } else { "filter" };
    Some(format!(
        "#{} is hidden by the {by}; the cursor is on the nearest row, #{}",
        key.seq.0, nearest.seq.0
    ))
}

/// Puts the cursor of the list on the frame `seq`, or on the row that it is in, and shows the list.
pub fn goto(session: &mut Session, seq: Seq) -> Effects {
    session.view = View::Exchanges;
    session.list.go_to = Some(seq);
    session.list.cache.ask_again();
    vec![]
}

/// Puts the cursor on a row; as soon as it is there, and on the nearest one if it is hidden.
pub fn go_to(app: &mut App, session: &mut Session, key: ItemKey) -> Effects {
    let page = page(app, session);
    let list = &mut session.list;
    list.go_to = None;
    list.cursor = Cursor::At(key);
    list.hold = Some(page / 3);
    let notice = settle(list, page);
    if let Some(text) = notice {
        app.notices.success(text, app.now);
    }
    vec![]
}

/// A row has changed otherwise than by its frames: it was marked or noted.
pub fn changed(session: &mut Session, seq: Seq) {
    session.list.cache.mark(|item| item.key.seq == seq);
    // A filter may ask for marks and notes.
    if session.filter.is_on() {
        session.stats.asked = None;
    }
}

/// Asks for rows that the screen lacks.
pub fn wanted(app: &mut App, session: &mut Session) -> Effects {
    let page = page(app, session);
    let lens = session.lens;
    let list = &mut session.list;
    if list.page != page {
        let before = std::mem::replace(&mut list.page, page);
        if let (true, Some(row)) = (is_cursor_visible(list, before), list.cursor_row()) {
            list.reveal(row, page);
        }
    }
    let find = list.go_to;
    let window = list.window(page);
    let rows = list.cache.wanted(&window, find);
    let reading = rows.map(|(keys, find)| Reading {
        lens,
        keys: keys.into(),
        find,
    });
    let reading = reading.map(|job| app.questions.ask(Slot::Rows, job));
    let mut effects: Effects = reading.into_iter().collect();
    effects.extend(filter::wanted(app, session));
    effects
}

#[cfg(test)]
mod list_tests;
