//! The mouse.
//!
//! A click selects, a double click opens, a click on a chip ends its mode, one on an entry of
//! what lies on top takes it and one beside it closes it, the divider between list and
//! detail is dragged. The wheel scrolls what is under the pointer without moving the selection.
//! Nothing can be done with the mouse only.

use super::list::Cursor;
use super::{findings, library, stats, timeline};
use crate::action::Action;
use crate::app::{App, Focus, Session, View, Viewer};
use crate::effect::{Effect, Effects};
use crate::layout;
use crate::layout::{Arrangement, Places};
use crate::update::perform;
use crate::widget::frame;
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use mcpreel_wire::text::width;
use ratatui::layout::{Position, Rect};

const NOTCH: isize = 3;

/// Two clicks on the same row within this time open it.
const DOUBLE_NS: u64 = 400_000_000;

pub fn update(viewer: &mut Viewer, event: MouseEvent) -> Effects {
    let at = Position::new(event.column, event.row);
    let app = &mut viewer.app;
    match event.kind {
        MouseEventKind::ScrollDown => wheel(viewer, at, true),
        MouseEventKind::ScrollUp => wheel(viewer, at, false),
        MouseEventKind::Down(MouseButton::Left) => click(viewer, at),
        MouseEventKind::Drag(MouseButton::Left) => drag(viewer, at),
        MouseEventKind::Up(MouseButton::Left) if std::mem::take(&mut app.dragging) => {
            vec![Effect::Remember]
        }
        _ => vec![],
    }
}

fn wheel(viewer: &mut Viewer, at: Position, down: bool) -> Effects {
    let by = if down { NOTCH } else { -NOTCH };
    if let Some(top) = viewer.app.overlays.last() {
        return (top.handlers().wheel)(viewer, by);
    }
    let Some(session) = viewer.session.as_deref_mut() else {
        let action = if down { Action::Down } else { Action::Up };
        let notch = 0..NOTCH.unsigned_abs();
        return notch.flat_map(|_| perform(viewer, action)).collect();
    };
    let app = &mut viewer.app;
    let places = layout::session(app, session);
    if places.detail.contains(at) {
        return super::detail::detail_open::wheel(app, session, by);
    }
    if !places.main.contains(at) {
        return vec![];
    }
    match session.view {
        View::Exchanges => {}
        View::Timeline => return timeline::wheel(app, session, by),
        View::Stats => return stats::wheel(app, session, by),
        View::Findings => return findings::wheel(app, session, by),
    }
    let page = super::list::page(app, session);
    let list = &mut session.list;
    // The cursor stays on its row, also when it had been riding on the last one.
    if let (Cursor::End, Some(key)) = (list.cursor, list.selected()) {
        list.cursor = Cursor::At(key);
    }
    let to = frame::turned(list.first_row(page), by, list.len(), page);
    list.scroll_to(to, page);
    vec![]
}

fn click(viewer: &mut Viewer, at: Position) -> Effects {
    if let Some(top) = viewer.app.overlays.last() {
        let click = top.handlers().click;
        let double = is_double(&mut viewer.app, at);
        return click(viewer, (at.x, at.y), double);
    }
    let Some(session) = viewer.session.as_deref_mut() else {
        return click_library(viewer, at);
    };
    let app = &mut viewer.app;
    let places = layout::session(app, session);
    if places.footer.contains(at) {
        let action = chip_at(app, Some(session), at.x.saturating_sub(places.footer.x));
        return action.map_or_else(Effects::new, |action| perform(viewer, action));
    }
    if places.filter.contains(at) {
        return perform(viewer, Action::Filter);
    }
    if is_divider(&places, at) {
        app.dragging = true;
        return vec![];
    }
    if places.detail.contains(at) {
        let double = is_double(app, at);
        return super::detail::detail_open::click(app, session, (at.x, at.y), double);
    }
    if !places.main.contains(at) {
        return vec![];
    }
    session.focus = Focus::Main;
    let opens = if session.view == View::Exchanges {
        let rows = super::list::list_draw::rows_of(places.arrangement, places.main);
        click_row(app, session, rows, at)
    } else {
        let is_row = is_on_row(app, session, at);
        // The row was selected by the first click, and may have been scrolled by it.
        is_row && is_double(app, at)
    };
    let cell = (at.x, at.y);
    match session.view {
        _ if opens => perform(viewer, Action::Open),
        View::Exchanges => vec![],
        View::Timeline => timeline::click(app, session, cell),
        View::Stats => stats::click(app, session, cell),
        View::Findings => findings::click(app, session, cell),
    }
}

/// Whether a row of another view than the list is there.
fn is_on_row(app: &App, session: &Session, at: Position) -> bool {
    let cell = (at.x, at.y);
    match session.view {
        View::Exchanges => false,
        View::Timeline => timeline::hit(app, session, cell).is_some(),
        View::Stats => matches!(stats::hit(app, session, cell), Some(stats::Hit::Row(_))),
        View::Findings => findings::hit(app, session, cell).is_some(),
    }
}

fn click_library(viewer: &mut Viewer, at: Position) -> Effects {
    let app = &mut viewer.app;
    let places = layout::library(app.size);
    if places.footer.contains(at) {
        let action = chip_at(app, None, at.x);
        return action.map_or_else(Effects::new, |action| perform(viewer, action));
    }
    if !places.rows.contains(at) {
        return vec![];
    }
    let double = is_double(app, at);
    library::click(viewer, at.y, double)
}

/// Whether this is the second click on the same place within a short time.
fn is_double(app: &mut App, at: Position) -> bool {
    let now = app.now.ui_ns;
    let is_it =
        |(place, then): (Position, u64)| place == at && now.saturating_sub(then) < DOUBLE_NS;
    let again = app.click.is_some_and(is_it);
    app.click = (!again).then_some((at, now));
    again
}

/// Puts the cursor on the row under the pointer; whether it was the second click there.
fn click_row(app: &mut App, session: &mut Session, rows: Rect, at: Position) -> bool {
    if !rows.contains(at) {
        return false;
    }
    let double = is_double(app, at);
    let page = usize::from(rows.height);
    let list = &mut session.list;
    let row = list.first_row(page) + usize::from(at.y - rows.y);
    if row >= list.len() {
        return false;
    }
    list.put_cursor(row, page);
    double
}

/// The action of the chip in this column of the footer.
fn chip_at(app: &App, session: Option<&Session>, column: u16) -> Option<Action> {
    let mut from = 1;
    for chip in super::footer::chips(app, session) {
        let wide = width(&chip.text) + 2;
        if (from..from + wide).contains(&usize::from(column)) {
            return chip.action;
        }
        from += wide + 1;
    }
    None
}

/// Whether this is where list and detail meet.
fn is_divider(places: &Places, at: Position) -> bool {
    if places.main.is_empty() || places.detail.is_empty() {
        return false;
    }
    match places.arrangement {
        Arrangement::Beside => {
            places.main.union(places.detail).contains(at)
                && (at.x + 1 == places.main.right() || at.x == places.detail.x)
        }
        // The row below has the tabs of the detail.
        Arrangement::Stacked => at.y + 1 == places.main.bottom(),
        Arrangement::Single | Arrangement::Tiny => false,
    }
}

fn drag(viewer: &mut Viewer, at: Position) -> Effects {
    let app = &mut viewer.app;
    let Some(session) = viewer.session.as_deref().filter(|_| app.dragging) else {
        return vec![];
    };
    let places = layout::session(app, session);
    let both = places.main.union(places.detail);
    let (part, whole) = match places.arrangement {
        Arrangement::Beside => (at.x.saturating_sub(both.x), both.width),
        _ => (at.y.saturating_sub(both.y), both.height),
    };
    let percent = u32::from(part) * 100 / u32::from(whole.max(1));
    app.settings.divider = u16::try_from(percent).unwrap_or(50).clamp(20, 80);
    vec![]
}
