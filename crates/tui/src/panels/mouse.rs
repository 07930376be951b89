//! The mouse.
//!
//! A click selects, a double click opens, a click on a chip ends its mode, one on an entry of
//! what lies on top takes it and one beside it closes it, the divider between list and
//! detail is dragged. The wheel scrolls what is under the pointer without moving the selection.
//! Nothing can be done with the mouse only.

use super::compare;
use super::filter::is_edited;
use super::list::Cursor;
use super::{findings, library, menu, palette, stats, timeline};
use crate::action::Action;
use crate::app::{App, Focus, Overlay, View};
use crate::effect::{Effect, Effects};
use crate::layout;
use crate::layout::{Arrangement, Places};
use crate::update::perform;
use crate::widget::frame;
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use mcpreel_wire::text::width;
use ratatui::layout::{Position, Rect};

pub(crate) fn click_on_top(app: &mut App, at: Position) -> Effects {
    let cell = (at.x, at.y);
    match app.overlays.last() {
        Some(Overlay::Menu(_)) => menu::click(app, cell),
        Some(Overlay::Palette(_)) => palette::click(app, cell),
        Some(Overlay::Text(_)) => super::text::click(app, cell),
        Some(Overlay::Comparison(_)) => {
            let double = is_double(app, at);
            compare::click(app, cell, double)
        }
        Some(Overlay::Prompt(_)) if is_edited(app) => super::filter::click(app, cell),
        Some(Overlay::Prompt(_) | Overlay::Edit(_)) | None => vec![],
    }
}

/// The wheel was turned by so many rows, down if that is positive.
pub(crate) fn wheel_on_top(app: &mut App, by: isize) -> Effects {
    match app.overlays.last() {
        Some(Overlay::Menu(_)) => menu::wheel(app, by),
        Some(Overlay::Palette(_)) => palette::wheel(app, by),
        Some(Overlay::Text(_)) => super::text::wheel(app, by),
        Some(Overlay::Comparison(_)) => compare::wheel(app, by),
        Some(Overlay::Prompt(_)) if is_edited(app) => super::filter::wheel(app, by),
        Some(Overlay::Prompt(_) | Overlay::Edit(_)) | None => vec![],
    }
}

const NOTCH: isize = 3;

/// Two clicks on the same row within this time open it.
const DOUBLE_NS: u64 = 400_000_000;

pub fn update(app: &mut App, event: MouseEvent) -> Effects {
    let at = Position::new(event.column, event.row);
    match event.kind {
        MouseEventKind::ScrollDown => wheel(app, at, true),
        MouseEventKind::ScrollUp => wheel(app, at, false),
        MouseEventKind::Down(MouseButton::Left) => click(app, at),
        MouseEventKind::Drag(MouseButton::Left) => drag(app, at),
        MouseEventKind::Up(MouseButton::Left) if std::mem::take(&mut app.dragging) => {
            vec![Effect::Remember]
        }
        _ => vec![],
    }
}

fn places(app: &App) -> Option<Places> {
    let session = app.session.as_deref()?;
    Some(layout::session(app, session))
}

fn wheel(app: &mut App, at: Position, down: bool) -> Effects {
    let by = if down { NOTCH } else { -NOTCH };
    if !app.overlays.is_empty() {
        return wheel_on_top(app, by);
    }
    let Some(places) = places(app) else {
        let action = if down { Action::Down } else { Action::Up };
        let notch = 0..NOTCH.unsigned_abs();
        return notch.flat_map(|_| perform(app, action)).collect();
    };
    let page = super::list::page(app);
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    if places.detail.contains(at) {
        return super::detail::detail_open::wheel(app, by);
    }
    if !places.main.contains(at) {
        return vec![];
    }
    match session.view {
        View::Exchanges => {}
        View::Timeline => return timeline::wheel(app, by),
        View::Stats => return stats::wheel(app, by),
        View::Findings => return findings::wheel(app, by),
    }
    let list = &mut session.list;
    // The cursor stays on its row, also when it had been riding on the last one.
    if let (Cursor::End, Some(key)) = (list.cursor, list.selected()) {
        list.cursor = Cursor::At(key);
    }
    let to = frame::turned(list.first_row(page), by, list.len(), page);
    list.scroll_to(to, page);
    vec![]
}

fn click(app: &mut App, at: Position) -> Effects {
    if !app.overlays.is_empty() {
        return click_on_top(app, at);
    }
    let Some(places) = places(app) else {
        return click_library(app, at);
    };
    if places.footer.contains(at) {
        let action = chip_at(app, at.x.saturating_sub(places.footer.x));
        return action.map_or_else(Effects::new, |action| perform(app, action));
    }
    if places.filter.contains(at) {
        return perform(app, Action::Filter);
    }
    if is_divider(&places, at) {
        app.dragging = true;
        return vec![];
    }
    if places.detail.contains(at) {
        let double = is_double(app, at);
        return super::detail::detail_open::click(app, (at.x, at.y), double);
    }
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    if places.main.contains(at) {
        session.focus = Focus::Main;
        return match session.view {
            View::Exchanges => {
                let rows = super::list::list_draw::rows_of(places.arrangement, places.main);
                click_row(app, rows, at)
            }
            _ => click_view(app, at),
        };
    }
    vec![]
}

/// A click in another view than the list.
fn click_view(app: &mut App, at: Position) -> Effects {
    let cell = (at.x, at.y);
    let (view, is_row) = match app.session.as_deref().map(|session| session.view) {
        Some(view @ View::Timeline) => (view, timeline::hit(app, cell).is_some()),
        Some(view @ View::Stats) => {
            let hit = stats::hit(app, cell);
            (view, matches!(hit, Some(stats::Hit::Row(_))))
        }
        Some(view @ View::Findings) => (view, findings::hit(app, cell).is_some()),
        Some(View::Exchanges) | None => return vec![],
    };
    // The row was selected by the first click, and may have been scrolled by it.
    if is_row && is_double(app, at) {
        return perform(app, Action::Open);
    }
    match view {
        View::Timeline => timeline::click(app, cell),
        View::Stats => stats::click(app, cell),
        View::Findings | View::Exchanges => findings::click(app, cell),
    }
}

fn click_library(app: &mut App, at: Position) -> Effects {
    let places = layout::library(app.size);
    if places.footer.contains(at) {
        let action = chip_at(app, at.x);
        return action.map_or_else(Effects::new, |action| perform(app, action));
    }
    if !places.rows.contains(at) {
        return vec![];
    }
    let double = is_double(app, at);
    library::click(app, at.y, double)
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

fn click_row(app: &mut App, rows: Rect, at: Position) -> Effects {
    if !rows.contains(at) {
        return vec![];
    }
    let double = is_double(app, at);
    let page = usize::from(rows.height);
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let list = &mut session.list;
    let row = list.first_row(page) + usize::from(at.y - rows.y);
    if row >= list.len() {
        return vec![];
    }
    list.put_cursor(row, page);
    if double {
        perform(app, Action::Open)
    } else {
        vec![]
    }
}

/// What ends the mode whose chip is in this column of the footer.
fn chip_at(app: &App, column: u16) -> Option<Action> {
    let mut from = 1;
    for chip in super::footer::chips(app) {
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

fn drag(app: &mut App, at: Position) -> Effects {
    let Some(places) = places(app).filter(|_| app.dragging) else {
        return vec![];
    };
    let both = places.main.union(places.detail);
    let (part, whole) = match places.arrangement {
        Arrangement::Beside => (at.x.saturating_sub(both.x), both.width),
        _ => (at.y.saturating_sub(both.y), both.height),
    };
    let percent = u32::from(part) * 100 / u32::from(whole.max(1));
    app.settings.divider = u16::try_from(percent).unwrap_or(50).clamp(20, 80);
    vec![]
}
