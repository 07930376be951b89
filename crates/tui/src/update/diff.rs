//! Two exchanges side by side.

use crate::action::Action;
use crate::app::diff::{Compared, Diff, Stage};
use crate::app::{App, Overlay};
use crate::effect::Effects;
use crate::update::motion::{moved, walked};
use crate::update::selection;
use crate::view;
use crate::widget::scroll;
use crate::worker::beside::Which;
use crate::worker::{Ask, diff};
use mcpreel_trace::item::ItemKey;

pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    let page = view::diff::rows(app.size);
    let Some(Overlay::Diff(diff)) = app.overlays.last_mut() else {
        return None;
    };
    let Stage::Compared(compared) = &diff.stage else {
        return None;
    };
    let (at, rows) = (diff.at, compared.rows.len());
    match action {
        Action::NextChange | Action::PreviousChange => {
            match walked(action, at, &compared.changes) {
                Ok(to) => put(diff, to, page),
                Err(end) => app.notices.success(end, app.now),
            }
        }
        Action::Unfold | Action::Open => {
            unfold(diff);
            put(diff, diff.at, page);
        }
        Action::OpenLeft => return Some(go_to_side(app, 0)),
        Action::OpenRight => return Some(go_to_side(app, 1)),
        _ => put(diff, moved(action, at, rows, page)?, page),
    }
    Some(vec![])
}

/// To one of the two in its recording.
fn go_to_side(app: &mut App, side: usize) -> Effects {
    let Some(Overlay::Diff(diff)) = app.overlays.last() else {
        return vec![];
    };
    let Some(compared) = diff.compared() else {
        return vec![];
    };
    let seq = [&compared.left, &compared.right][side].request.0;
    let here = || app.session.as_deref().map(|open| open.path.clone());
    let path = compared.of.as_ref().map(|of| of[side].path.clone());
    match path.or_else(here) {
        Some(path) => super::comparison::go_to(app, &path, Some(seq)),
        None => vec![],
    }
}

/// Puts the cursor on a row, and scrolls as little as is needed.
fn put(diff: &mut Diff, to: usize, page: usize) {
    let rows = diff.compared().map_or(0, |compared| compared.rows.len());
    diff.at = to.min(rows.saturating_sub(1));
    diff.top = scroll::showing(diff.at, diff.top, page);
}

/// A click on a cell of the screen puts the cursor on the row there, a second one shows what is
/// equal or folds it.
pub fn click(app: &mut App, cell: (u16, u16), double: bool) -> Effects {
    let page = view::diff::rows(app.size);
    let row = match app.overlays.last() {
        Some(Overlay::Diff(diff)) => view::diff::hit(app, diff, cell),
        _ => None,
    };
    let (Some(row), Some(Overlay::Diff(diff))) = (row, app.overlays.last_mut()) else {
        return vec![];
    };
    diff.at = row;
    if double {
        unfold(diff);
        put(diff, diff.at, page);
    }
    vec![]
}

/// The wheel was turned by so many rows: scrolls without moving the cursor.
pub fn wheel(app: &mut App, by: isize) -> Effects {
    let last = match app.overlays.last() {
        Some(Overlay::Diff(diff)) => view::diff::last_top(app, diff),
        _ => 0,
    };
    if let Some(Overlay::Diff(diff)) = app.overlays.last_mut() {
        diff.top = diff.top.saturating_add_signed(by).min(last);
    }
    vec![]
}

/// Shows what is equal or folds it; the cursor stays on its difference, or on the one before.
fn unfold(diff: &mut Diff) {
    let Stage::Compared(compared) = &mut diff.stage else {
        return;
    };
    let passed = compared.changes.iter().filter(|at| **at <= diff.at).count();
    diff.unfolded = !diff.unfolded;
    compared.fold(diff.unfolded);
    let change = passed
        .checked_sub(1)
        .and_then(|nth| compared.changes.get(nth));
    diff.at = change.copied().unwrap_or(0);
}

pub fn answer(app: &mut App, answer: diff::Answer) -> Effects {
    let page = view::diff::rows(app.size);
    let open = app
        .overlays
        .iter_mut()
        .rev()
        .find_map(|overlay| match overlay {
            Overlay::Diff(diff) if diff.generation == answer.generation => Some(diff),
            _ => None,
        });
    let Some(diff) = open else {
        return vec![];
    };
    match answer.found {
        diff::Found::Not(far) => diff.stage = Stage::Comparing(far),
        diff::Found::Compared(compared) => {
            let first = compared.changes.first().copied();
            diff.stage = Stage::Compared(compared);
            put(diff, first.unwrap_or(0), page);
        }
        diff::Found::Nothing(reason) => {
            let generation = diff.generation;
            app.overlays.retain(
                |overlay| !matches!(overlay, Overlay::Diff(diff) if diff.generation == generation),
            );
            app.notices.error(reason, app.now);
        }
    }
    vec![]
}

pub fn perform_in_session(app: &mut App, action: Action) -> Option<Effects> {
    if action != Action::Diff {
        return None;
    }
    let session = app.session.as_deref()?;
    let chosen = selection::chosen(session);
    let (left, right): (Option<ItemKey>, _) = match chosen.as_slice() {
        [a, b, ..] => (Some(*a.min(b)), Some(*a.max(b))),
        [one] => (None, Some(*one)),
        [] => (None, selection::selected(session)),
    };
    let lens = if chosen.is_empty() {
        selection::lens(session)
    } else {
        session.lens
    };
    if chosen.is_empty()
        && let Some(effects) = near(app)
    {
        return Some(effects);
    }
    let Some(right) = right else {
        app.notices
            .error("nothing is selected to be compared", app.now);
        return Some(vec![]);
    };
    let generation = app.next_generation();
    let asked = diff::Ask {
        generation,
        lens,
        left,
        right,
    };
    app.overlays.push(Overlay::Diff(Box::new(Diff {
        asked: Some(asked.clone()),
        ..Diff::new(generation)
    })));
    Some(vec![Ask::Diff(asked).into()])
}

/// What a mock had that comes nearest, beside the request that it had nothing for.
fn near(app: &mut App) -> Option<Effects> {
    let session = app.session.as_deref()?;
    let shown = selection::shown(session)?;
    let near = shown.near.first()?;
    let exchange = shown.item.exchange()?;
    let path = session.path.clone();
    let left = Which::Id(near.recording.clone(), path.clone());
    let sides = [(left, (near.seq, 0)), (Which::File(path), exchange.request)];
    let unbound = std::sync::Arc::default();
    Some(super::comparison::exchanges(app, sides, unbound))
}

/// Whether two exchanges were compared, for tests and the title.
pub fn compared(app: &App) -> Option<&Compared> {
    match app.overlays.last() {
        Some(Overlay::Diff(diff)) => diff.compared(),
        _ => None,
    }
}
