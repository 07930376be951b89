//! The same rows in time.

mod range;

use crate::action::Action;
use crate::app::timeline::{About, Asked, Timeline};
use crate::app::{App, Session, View};
use crate::effect::Effects;
use crate::update::motion::moved;
use crate::view;
use crate::widget::scroll;
use crate::worker::timeline::Answer;
use crate::worker::{Ask, timeline};
use mcpreel_trace::item::ItemKey;
use range::{narrowed, pan, zoom};

/// The picture of a recording that grows is drawn anew at most so often, nanoseconds.
const EVERY_NS: u64 = 500_000_000;

pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    let page = view::timeline::size(app).1;
    let state = &mut app.session.as_deref_mut()?.timeline;
    if state.wheel.is_some() && moved(action, 0, 1, 1).is_some() {
        back_to_cursor(state, page);
        // The row under it is read first.
        if !matches!(action, Action::Top | Action::Bottom) && !state.has_cursor() {
            return Some(vec![]);
        }
    }
    match action {
        Action::ZoomIn => zoom(state, false),
        Action::ZoomOut => zoom(state, true),
        Action::PanLeft => pan(state, false),
        Action::PanRight => pan(state, true),
        Action::FilterRange => return Some(filter_range(app)),
        Action::Open => return Some(open(app)),
        Action::Top => {
            state.cursor = Some(ItemKey::default());
            state.offset = 0;
        }
        Action::Bottom => {
            state.cursor = None;
            state.offset = page.saturating_sub(1);
        }
        action => {
            let picture = state.picture.as_deref()?;
            let (at, rows) = (state.cursor_row(), picture.rows.len());
            let to = moved(action, at, rows, page)?;
            match action {
                Action::Down if at == to && !picture.more.1 => pan(state, true),
                Action::Up if at == to && !picture.more.0 => pan(state, false),
                _ => put_cursor(state, to, page),
            }
        }
    }
    Some(vec![])
}

/// The screen follows the cursor again, scrolled as little as is needed from where the wheel has
/// left it.
fn back_to_cursor(state: &mut Timeline, page: usize) {
    let (top, at) = (state.top(page), state.cursor_row());
    state.offset = at - scroll::showing(at, top, page);
    state.wheel = None;
}

/// Puts the cursor on the row `to` and scrolls as far as it takes to see it.
fn put_cursor(state: &mut Timeline, to: usize, page: usize) {
    let top = state.top(page);
    let Some(picture) = state.picture.as_deref() else {
        return;
    };
    state.cursor = picture.rows.get(to).map(|bar| bar.key);
    state.offset = to - scroll::showing(to, top, page);
    state.wheel = None;
}

/// Filters to the range on the screen.
fn filter_range(app: &mut App) -> Effects {
    let Some(session) = app.session.as_deref() else {
        return vec![];
    };
    let Some(picture) = session.timeline.picture.as_deref() else {
        return vec![];
    };
    let query = narrowed(session.filter.in_force(), picture.window);
    crate::panels::filter::set(app, &query.to_string())
}

fn open(app: &mut App) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let state = &session.timeline;
    let picture = state.picture.as_deref();
    let under = picture.and_then(|picture| picture.rows.get(state.cursor_row()));
    let under = under.filter(|_| state.has_cursor()).map(|bar| bar.key);
    let Some(ItemKey { seq, .. }) = under.or(state.cursor) else {
        return vec![];
    };
    session.view = View::Exchanges;
    crate::panels::list::goto(app, seq)
}

pub fn answer(app: &mut App, answer: Answer) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let state = &mut session.timeline;
    let Some(asked) = state
        .asked
        .as_ref()
        .filter(|asked| asked.generation == answer.generation)
    else {
        return vec![];
    };
    // A picture of the same stays until the new one is as complete.
    let same = state
        .shown
        .as_ref()
        .is_some_and(|shown| shown.about == asked.about && shown.generation != asked.generation);
    if !same || (answer.picture.percent == 100 && !answer.picture.looking) {
        state.shown = Some(asked.clone());
        state.picture = Some(answer.picture);
    }
    vec![]
}

/// Asks for what the screen lacks.
pub fn wanted(app: &mut App) -> Effects {
    let size = view::timeline::size(app);
    let now = app.now.ui_ns;
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let Some((about, frames)) = due(session, size, now) else {
        return vec![];
    };
    let anchor = session.timeline.anchor();
    let generation = app.next_generation();
    let ask = timeline::Ask {
        generation,
        query: about.query.clone(),
        window: about.window,
        columns: size.0,
        anchor,
        rows: size.1.max(10) * 2,
    };
    if let Some(session) = app.session.as_deref_mut() {
        session.timeline.asked = Some(Asked {
            generation,
            at_ns: now,
            frames,
            about,
            anchor,
        });
    }
    vec![Ask::Timeline(ask).into()]
}

/// Of what a picture is to be asked for now, and how many frames there are.
fn due(session: &mut Session, size: (usize, usize), now: u64) -> Option<(About, u64)> {
    let vitals = session.vitals.as_deref();
    let frames = vitals
        .filter(|_| session.view == View::Timeline)?
        .summary
        .frames;
    let about = About {
        query: session.filter.in_force().clone(),
        window: session.timeline.window,
        size,
    };
    let state = &mut session.timeline;
    if state.asked.is_none() && !session.list.follows() {
        state.cursor = session.list.selected();
    }
    is_due(state, &about, frames, now).then_some((about, frames))
}

/// Whether it is time to ask for the picture.
fn is_due(state: &Timeline, about: &About, frames: u64, now: u64) -> bool {
    state.asked.as_ref().is_none_or(|asked| {
        let is_old = asked.frames != frames;
        let is_answered = state.shown.as_ref() == Some(asked);
        let rested = now.saturating_sub(asked.at_ns) >= EVERY_NS;
        asked.about != *about
            || (is_answered && asked.anchor != state.anchor() && nears_end(state, about.size.1))
            || (is_old && is_answered && rested && is_complete(state))
    })
}

/// Whether nothing of the picture is still looked for.
fn is_complete(state: &Timeline) -> bool {
    let picture = state.picture.as_deref();
    picture.is_none_or(|picture| picture.percent == 100 && !picture.looking)
}

/// Whether the cursor, or where the wheel has gone, is where more rows are needed than there are.
fn nears_end(state: &Timeline, page: usize) -> bool {
    let Some(picture) = state.picture.as_deref() else {
        return false;
    };
    let (at, page) = match state.wheel {
        Some(_) => (state.top(page), 2 * page),
        None => (state.cursor_row(), page),
    };
    (picture.more.0 && at < page) || (picture.more.1 && at + page >= picture.rows.len())
}

/// A click on a cell of the screen: selects the row there.
pub fn click(app: &mut App, (x, y): (u16, u16)) -> Effects {
    let page = view::timeline::size(app).1;
    let row = view::timeline::hit(app, (x, y));
    if let (Some(session), Some(row)) = (app.session.as_deref_mut(), row) {
        put_cursor(&mut session.timeline, row, page);
    }
    vec![]
}

/// The wheel was turned by so many rows: scrolls without moving the cursor, which stays on its row
/// also when it had been riding on the last one.
pub fn wheel(app: &mut App, by: isize) -> Effects {
    let page = view::timeline::size(app).1;
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let state = &mut session.timeline;
    let Some(picture) = state.picture.as_deref() else {
        return vec![];
    };
    let top = state.top(page);
    let to = scroll::turned(top, by, picture.rows.len(), page);
    if to == top {
        return vec![];
    }
    let key = |row: usize| picture.rows.get(row).map(|bar| bar.key);
    let (first, under) = (key(to), key(state.cursor_row()));
    state.wheel = first;
    state.cursor = state.cursor.or(under);
    vec![]
}
