//! A choice of some.

use super::selection::moved;
use super::{library, why};
use crate::action::Action;
use crate::app::menu::Choice;
use crate::app::{App, Overlay};
use crate::effect::Effects;
use crate::keymap::Key;
use crate::panels::{export, replay};
use crate::view::menu as view;
use crate::view::overlay::Hit;
use crossterm::event::KeyCode;

/// Moves among the choices, or takes one.
pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    let Some(Overlay::Menu(menu)) = app.overlays.last() else {
        return None;
    };
    if action == Action::Open {
        let at = menu.at;
        return Some(take(app, at));
    }
    // What is longer than the screen is read to its end before the cursor goes on.
    let shown = view::shown(app, menu);
    let by = match action {
        Action::Down if shown.goes_on_below => 1,
        Action::Up if shown.goes_on_above => -1,
        _ => 0,
    };
    let Some(Overlay::Menu(menu)) = app.overlays.last_mut() else {
        return None;
    };
    if by != 0 {
        menu.top = Some(crate::widget::frame::turned(
            shown.top,
            by,
            shown.lines,
            shown.page,
        ));
        return Some(vec![]);
    }
    let rows = menu.entries.len();
    menu.at = moved(action, menu.at, rows, rows)?;
    menu.top = None;
    Some(vec![])
}

pub fn press(app: &mut App, key: Key) -> Effects {
    let Some(Overlay::Menu(menu)) = app.overlays.last() else {
        return vec![];
    };
    let KeyCode::Char(letter) = key.code else {
        return vec![];
    };
    let found = menu.entries.iter().position(|entry| entry.letter == letter);
    found.map_or_else(Effects::new, |at| take(app, at))
}

/// A click on a cell of the screen: takes the choice there, beside the menu closes it.
pub fn click(app: &mut App, cell: (u16, u16)) -> Effects {
    let hit = match app.overlays.last() {
        Some(Overlay::Menu(menu)) => view::hit(app, menu, cell),
        _ => Hit::Inside,
    };
    match hit {
        Hit::Entry(at) => return take(app, at),
        Hit::Outside => {
            app.overlays.pop();
        }
        Hit::Inside => {}
    }
    vec![]
}

/// The wheel was turned by so many rows: scrolls without moving the cursor.
pub fn wheel(app: &mut App, by: isize) -> Effects {
    let shown = match app.overlays.last() {
        Some(Overlay::Menu(menu)) => view::shown(app, menu),
        _ => return vec![],
    };
    if let Some(Overlay::Menu(menu)) = app.overlays.last_mut() {
        menu.top = Some(crate::widget::frame::turned(
            shown.top,
            by,
            shown.lines,
            shown.page,
        ));
    }
    vec![]
}

fn take(app: &mut App, at: usize) -> Effects {
    let Some(Overlay::Menu(mut menu)) = app.overlays.pop() else {
        return vec![];
    };
    if at >= menu.entries.len() {
        return vec![];
    }
    match menu.entries.swap_remove(at).choice {
        Choice::Nothing => vec![],
        Choice::Do(action) => super::perform(app, action),
        Choice::Delete(path) => library::delete(&path),
        Choice::Filter(text) => crate::panels::filter::set(app, &text),
        Choice::Theme(theme) => super::everywhere::theme(app, theme),
        Choice::Copy(what) => super::copy::copy(app, what),
        Choice::Save(what, path) => super::copy::save(app, what, path),
        Choice::Frame(seq) => crate::panels::list::goto(app, seq),
        Choice::Cause(at) => why::account(app, at),
        Choice::Export(pick) => export::choose(app, pick),
        Choice::Replay(go) => replay::choose(app, go),
        Choice::FoldTo(level) => crate::panels::detail::keys::fold_to(app, level),
    }
}
