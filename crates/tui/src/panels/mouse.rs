//! The mouse.
//!
//! A click selects, a double click opens, one on a tab goes to its view, one on a chip ends its mode,
//! one on a hint does what its key does, one on a number of the header shows what it counts, one on the
//! line of why shows all of it, one on an entry of what
//! lies on top takes it and one beside it closes it, one on a heading of the statistics sorts.
//! The wheel scrolls what is under the pointer without moving the selection; in the timeline the
//! selection stays on the screen. Nothing can be done with the mouse only.

use super::detail::detail_open as detail;
use super::list;
use super::{findings, footer, header, library, server, stats, timeline};
use crate::action::Action;
use crate::app::{App, Focus, View, Viewer};
use crate::effect::Effects;
use crate::layout;
use crate::update::perform;
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

const NOTCH: isize = 3;

/// Two clicks on the same row within this time open it.
const DOUBLE_NS: u64 = 400_000_000;

pub fn update(viewer: &mut Viewer, event: MouseEvent) -> Effects {
    let at = Position::new(event.column, event.row);
    match event.kind {
        MouseEventKind::ScrollDown => wheel(viewer, at, NOTCH),
        MouseEventKind::ScrollUp => wheel(viewer, at, -NOTCH),
        MouseEventKind::Down(MouseButton::Left) => click(viewer, at),
        _ => vec![],
    }
}

fn wheel(viewer: &mut Viewer, at: Position, by: isize) -> Effects {
    if let Some(top) = viewer.app.overlays.last_mut() {
        top.wheel(by, viewer.app.size);
        return vec![];
    }
    let Some((app, session)) = viewer.parts() else {
        return library::wheel(&mut viewer.app, by);
    };
    let places = layout::session(app, session);
    match session.view {
        _ if places.detail.contains(at) => return detail::wheel(app, session, by),
        _ if !places.main.contains(at) => {}
        View::Exchanges => list::wheel(app, session, by),
        View::Timeline => timeline::wheel(app, session, by),
        View::Stats => stats::wheel(app, session, by),
        View::Findings => findings::wheel(app, session, by),
        View::Server => server::wheel(app, session, by),
    }
    vec![]
}

fn click(viewer: &mut Viewer, at: Position) -> Effects {
    let double = is_double(&mut viewer.app, at);
    if let Some(top) = viewer.app.overlays.last() {
        let clicked = (top.handlers().click)(viewer, (at.x, at.y), double);
        return clicked.unwrap_or_default();
    }
    let cell = (at.x, at.y);
    if let Some(action) = chip_at(viewer, at) {
        return perform(viewer, action);
    }
    let Some((app, session)) = viewer.parts() else {
        return library::click(viewer, cell, double);
    };
    let places = layout::session(app, session);
    if places.filter.contains(at) {
        return perform(viewer, Action::Filter);
    }
    if places.detail.contains(at) {
        return detail::click(app, session, cell, double);
    }
    if !places.main.contains(at) {
        return vec![];
    }
    session.focus = Focus::Main;
    let is_row = match session.view {
        View::Exchanges => list::click(app, session, cell),
        View::Timeline => timeline::click(app, session, cell),
        View::Stats => stats::click(app, session, cell),
        View::Findings => findings::click(app, session, cell),
        View::Server => server::click(app, session, cell),
    };
    if is_row && double {
        return perform(viewer, Action::Open);
    }
    vec![]
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

/// The action of the chip, tab or hint under the pointer.
fn chip_at(viewer: &Viewer, at: Position) -> Option<Action> {
    let (app, session) = (&viewer.app, viewer.session.as_deref());
    let places = session.map(|session| layout::session(app, session));
    let library = || layout::library(app.size).footer;
    let footer = places.map_or_else(library, |places| places.footer);
    let tabs = session.zip(places).into_iter();
    let tabs = tabs.flat_map(|(session, places)| header::tabs(app, session, places.tabs));
    let chips = footer::placed(app, session, footer).into_iter();
    let why = places.filter(|places| places.why.contains(at));
    let found = chips.chain(tabs).find(|(_, place)| place.contains(at));
    let found = found.map(|(chip, _)| chip.action);
    let found = found.or_else(|| footer::hint_at(app, session, footer, at));
    let header = || header::action_at(app, session?, places?.header, at);
    let found = found.or_else(header);
    found.or(why.map(|_| Action::Why))
}
