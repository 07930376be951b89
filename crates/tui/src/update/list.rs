//! The list of exchanges or frames.

mod answered;

pub use answered::{answer, rows};

use super::motion::moved;
use super::selection;
use crate::action::Action;
use crate::app::list::{Cursor, FIRST, List};
use crate::app::{App, Focus, Session, View};
use crate::effect::Effects;
use crate::layout;
use crate::worker::{Ask, list};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::ItemKey;

pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    let page = page(app);
    let session = app.session.as_deref_mut()?;
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
            return Some(super::session::remember(app));
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
pub fn follow(app: &mut App) {
    let page = page(app);
    let Some(session) = app.session.as_deref_mut() else {
        return;
    };
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
    selection::toggle(&mut list.chosen, key)
}

/// How many rows the list shows at once.
pub fn page(app: &App) -> usize {
    let Some(session) = app.session.as_deref() else {
        return 0;
    };
    let places = layout::session(app, session);
    let main = if places.main.is_empty() {
        // One pane at a time: the list is where the detail is.
        places.detail
    } else {
        places.main
    };
    usize::from(crate::view::list::rows_of(places.arrangement, main).height)
}

/// Asks which rows there are, from the start: after the lens, the filter or the time cursor has
/// changed.
pub fn begin(app: &mut App) -> Effects {
    let generation = app.next_generation();
    let page = page(app);
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let list = &mut session.list;
    if let (Cursor::At(_), Some(row)) = (list.cursor, list.cursor_row()) {
        list.hold = row.checked_sub(list.first_row(page)).or(list.hold);
    }
    list.scan.generation = generation;
    list.scan.stopped = false;
    list.scan.done = false;
    list.scan.percent = 0;
    list.scan.total = None;
    // What was said about rows may be otherwise at another moment or through another lens.
    list.cache.forget();
    vec![ask(session, None)]
}

fn ask(session: &Session, stopped: Option<ItemKey>) -> crate::effect::Effect {
    Ask::List(list::Ask {
        generation: session.list.scan.generation,
        lens: session.lens,
        query: session.filter.in_force().clone(),
        stopped,
    })
    .into()
}

/// Stops looking for older rows; what was found stays. Whether there was something to stop.
pub fn stop(app: &mut App) -> Option<Effects> {
    let session = app.session.as_deref_mut()?;
    let scan = &mut session.list.scan;
    let from = scan.from.filter(|_| scan.is_running())?;
    scan.stopped = true;
    Some(vec![ask(session, Some(from))])
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
pub fn goto(app: &mut App, seq: Seq) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        let text = "frames are in recordings: Enter opens one";
        app.notices.error(text, app.now);
        return vec![];
    };
    session.view = View::Exchanges;
    session.list.go_to = Some(seq);
    session.list.cache.ask_again();
    vec![]
}

/// Puts the cursor on a row; as soon as it is there, and on the nearest one if it is hidden.
pub fn go_to(app: &mut App, key: ItemKey) -> Effects {
    let page = page(app);
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
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
pub fn changed(app: &mut App, seq: Seq) {
    if let Some(session) = app.session.as_deref_mut() {
        session.list.cache.mark(|item| item.key.seq == seq);
        // A filter may ask for marks and notes.
        if session.filter.is_on() {
            session.stats.asked = None;
        }
    }
}

/// Asks for rows that the screen lacks.
pub fn wanted(app: &mut App) -> Effects {
    let page = page(app);
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
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
    let rows = list.cache.wanted(&window, find).map(|(keys, find)| {
        let rows = list::Rows { lens, keys, find };
        Ask::Rows(rows).into()
    });
    let mut effects: Effects = rows.into_iter().collect();
    effects.extend(super::filter::wanted(app));
    effects
}

#[cfg(test)]
mod tests;
