//! The list of exchanges or frames.
//!
//! ```text
//!  List ─┬─ index    all rows that fit, 24 bytes each: the newest are found first
//!        ├─ cache    whole rows, for the screen and a page around it
//!        ├─ cursor   on a row by its address, or riding on the last one
//!        └─ top      the first row on the screen by its address; without one the list follows its end
//! ```
//!
//! The cursor and the first row are addresses and no numbers: rows that are found above, or that
//! begin or cease to fit, move nothing on the screen.

pub mod cells;
pub mod index;
pub mod jobs;
pub mod list_draw;
pub mod viewport;

use crate::action::Action;
use crate::app::{App, Focus, Session, View};
use crate::effect::{Effect, Effects};
use crate::layout;
use crate::panels::filter::Relaxed;
use crate::panels::menu::{Entry, Menu};
use crate::settings::TimeColumn;
use crate::widget::cursor::{moved, toggle};
use crate::widget::frame;
use crate::worker::Place;
use crate::worker::job::{Slot, Source};
pub use index::{Cache, Index, Row};
use jobs::{Found, Read, Reading, Scanning};
use list_draw::{LATENCY, SIZE, STATUS, TIME};
use mcpreel_store::select::Sort;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{ItemKey, Lens};
pub use viewport::{Cursor, Extent, List, Scanned, Sorted};

/// Rows have been found: they go into the list, and the cursor stays where it was.
fn found(app: &mut App, session: &mut Session, found: Found) -> Effects {
    let page = page(app, session);
    let list = &mut session.list;
    if !list.scan.is_answered {
        list.reset(session.lens);
    }
    list.take(found);
    settle(list, page).map_or_else(Effects::new, |text| app.say(text))
}

/// Whole rows have been read, and the row of a frame was found.
fn read(app: &mut App, session: &mut Session, read: Read) -> Effects {
    let page = page(app, session);
    if read.lens != session.lens {
        return vec![];
    }
    let window = session.list.window(page);
    session.list.cache.take(read.items, &window);
    match read.found {
        Some((seq, key)) if session.list.go_to == Some(seq) => go_to(app, session, key),
        _ => vec![],
    }
}

pub fn perform(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    let (page, is_live) = (page(app, session), session.is_live());
    let list = &mut session.list;
    match action {
        Action::Open => session.focus = Focus::Detail,
        Action::Select => {
            let row = list.selected();
            if let Some(dropped) = row.and_then(|row| toggle(&mut list.to_compare, row)) {
                let seq = dropped.seq.0;
                app.say(format!("#{seq} is not selected any more: two at most"));
            }
        }
        Action::TimeColumn => list.time = list.time.next(),
        Action::Sort => return Some(app.push(sorts())),
        _ => {
            let rows = list.len();
            let to = moved(action, list.cursor_row().unwrap_or(0), rows, page)?;
            list.go_to = None;
            list.is_moved = true;
            match action {
                Action::Bottom => list.follow(),
                _ if is_live && to + 1 == rows => list.follow(),
                Action::Top => list.to_top(page),
                _ => list.put_cursor(to, page),
            }
        }
    }
    Some(vec![])
}

/// The orders: the column whose heading gives each, its letter, its label.
const SORTS: [(Option<Sort>, usize, char, &str); 4] = [
    (None, TIME, 't', "time"),
    (
        Some(Sort::Latency),
        LATENCY,
        'l',
        "latency: the slowest first",
    ),
    (Some(Sort::Size), SIZE, 's', "size: the largest first"),
    (Some(Sort::Status), STATUS, 'f', "status: what failed first"),
];

fn sorts() -> Menu {
    let entry = |(by, _, letter, label)| {
        Entry::in_session(letter, label, move |app, session| sort(app, session, by))
    };
    Menu::new("sort the calls by", SORTS.map(entry).into())
}

/// Shows the calls in this order; without one all rows by time.
fn sort(app: &App, session: &mut Session, by: Option<Sort>) -> Effects {
    let page = page(app, session);
    let list = &mut session.list;
    list.stay(page);
    list.sorted = by.map(|by| Sorted {
        by,
        rows: Vec::new(),
        extent: None,
        is_asked: false,
    });
    if let Some(row) = list.cursor_row() {
        list.reveal(row, page);
    }
    vec![]
}

/// Asks for the order of the calls, if it is another than that of time and there are others now.
pub fn wanted_order(app: &mut App, session: &mut Session) -> Option<Effect> {
    let extent = Extent {
        rows: session.list.index.items(),
        until: session.list.until,
        last: session.last(),
    };
    let list = &mut session.list;
    let is_whole = list.scan.done;
    let sorted = list.sorted.as_mut()?;
    if sorted.is_asked || !is_whole || sorted.extent == Some(extent) {
        return None;
    }
    sorted.is_asked = true;
    let by = sorted.by;
    let read = move |source: &Source<'_>, _: &Place<'_>| {
        let keys = source.recording.sorted(by, source.summary.t_last_ns)?;
        Ok((by, extent, keys))
    };
    Some(app.questions.read(Slot::Sort, session, read, ordered))
}

/// An order, the extent of the list that was sorted, and the calls in that order.
type Ordered = (Sort, Extent, Vec<ItemKey>);

fn ordered(app: &mut App, session: &mut Session, (by, extent, keys): Ordered) -> Effects {
    let page = page(app, session);
    let List { sorted, index, .. } = &mut session.list;
    let Some(sorted) = sorted.as_mut().filter(|sorted| sorted.by == by) else {
        return vec![];
    };
    let is_shown = |key: &ItemKey| extent.until.is_none_or(|until| key.seq <= until);
    let row = |key| index.get(index.position(key)?);
    sorted.rows = keys.into_iter().filter(is_shown).filter_map(row).collect();
    sorted.is_asked = false;
    if sorted.extent.replace(extent).is_none() {
        session.list.put_cursor(0, page);
    }
    vec![]
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
    usize::from(list_draw::rows_of(app, main).height)
}

/// A click puts the cursor on a row, one on a heading sorts. Returns whether a row is there.
pub fn click(app: &App, session: &mut Session, (x, y): (u16, u16)) -> bool {
    let places = layout::session(app, session);
    let rows = list_draw::rows_of(app, places.main);
    let heading = list_draw::heading_at(app, session, rows, (x, y));
    let mut orders = SORTS.iter();
    if let Some((by, ..)) = orders.find(|order| Some(order.1) == heading) {
        sort(app, session, *by);
    }
    let page = usize::from(rows.height);
    let list = &mut session.list;
    let row = list.first_row(page) + usize::from(y.saturating_sub(rows.y));
    let is_row = rows.contains((x, y).into()) && row < list.len();
    if is_row {
        list.put_cursor(row, page);
    }
    is_row
}

/// Scrolls; the cursor stays on its row, also when it had been riding on the last one.
pub fn wheel(app: &App, session: &mut Session, by: isize) {
    let page = page(app, session);
    let list = &mut session.list;
    if let (Cursor::End, Some(key)) = (list.cursor, list.selected()) {
        list.cursor = Cursor::At(key);
    }
    let to = frame::turned(list.first_row(page), by, list.len(), page);
    list.scroll_to(to, page);
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
    if let Some(sorted) = &mut list.sorted {
        sorted.extent = sorted.extent.map(|_| Extent::default());
    }
    // What was said about rows may be otherwise at another moment or through another lens.
    list.cache.mark(|_| true);
    let job = Scanning::new(session.lens, session.filter.in_force().clone(), None);
    vec![app.questions.ask(Slot::List, job, found)]
}

/// Stops looking for older rows; what was found stays. Whether there was something to stop.
pub fn stop(app: &mut App, session: &mut Session) -> Option<Effects> {
    let scan = &mut session.list.scan;
    let from = scan.from.filter(|_| scan.is_running())?;
    scan.stopped = true;
    let query = session.filter.in_force().clone();
    let job = Scanning::new(session.lens, query, Some(from));
    Some(vec![app.questions.ask(Slot::List, job, found)])
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
    if key == ItemKey::default() {
        return None;
    }
    let nearest = list.selected()?;
    let is_later = list.until.is_some_and(|until| key.seq > until);
    let by = if is_later { "time cursor" } else { "filter" };
    Some(format!(
        "the {by} hides #{}; the nearest row is #{}",
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
    settle(list, page).map_or_else(Effects::new, |text| app.say(text))
}

/// Puts the cursor on a row that `lens` shows.
pub fn go_through(app: &mut App, session: &mut Session, lens: Lens, key: ItemKey) -> Effects {
    if lens == session.lens {
        return go_to(app, session, key);
    }
    // The rows of the other lens have to come first.
    session.list.cursor = Cursor::At(key);
    session.list.hold = Some(0);
    session.lens = lens;
    begin(app, session)
}

/// A row has changed otherwise than by its frames: it was marked or noted.
pub fn changed(session: &mut Session, seq: Seq) {
    session.list.cache.mark(|item| item.key.seq == seq);
    // A filter may ask for marks and notes.
    if session.filter.is_on() {
        session.stats.asked.what = None;
    }
}

/// Asks for rows that the screen lacks.
pub fn wanted(app: &mut App, session: &mut Session) -> Option<Effect> {
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
    let (keys, find) = list.cache.wanted(&window, find)?;
    let keys = keys.into();
    let reading = Reading { lens, keys, find };
    Some(app.questions.ask(Slot::Rows, reading, read))
}

#[cfg(test)]
mod list_tests;
