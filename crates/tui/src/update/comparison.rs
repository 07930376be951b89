//! Two recordings, call beside call.

mod library;

pub use library::perform_in_library;

use super::motion::{moved, walked};
use super::session;
use crate::action::Action;
use crate::app::comparison::{Comparison, Row, Stage};
use crate::app::diff::Diff;
use crate::app::{App, Overlay};
use crate::effect::Effects;
use crate::panels::replay;
use crate::view::comparison as view;
use crate::widget::scroll;
use crate::worker::Ask as AskAny;
use crate::worker::beside::{Answer, Ask, Replayed, Which};
use mcpreel_replay::recorded::Bound;
use mcpreel_trace::frame::Seq;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    let page = view::rows(app.size);
    let Some(Overlay::Comparison(comparison)) = app.overlays.last_mut() else {
        return None;
    };
    let Stage::Compared(compared) = &comparison.stage else {
        return stop(app, action);
    };
    let (at, rows) = (comparison.at, compared.rows.len());
    match action {
        Action::NextChange | Action::PreviousChange => walk(app, action),
        Action::Unfold => unfold(comparison, page),
        Action::Open => return Some(open(app)),
        Action::OpenLeft => return Some(go_to_side(app, 0)),
        Action::OpenRight => return Some(go_to_side(app, 1)),
        _ => {
            let to = moved(action, at, rows, page)?;
            put(comparison, to, page);
        }
    }
    Some(vec![])
}

/// Closes a comparison that is not there yet: nobody waits for it any more.
fn stop(app: &mut App, action: Action) -> Option<Effects> {
    if !matches!(action, Action::Cancel | Action::Close | Action::Back) {
        return None;
    }
    app.overlays.pop();
    Some(vec![AskAny::Beside(Ask::Stop).into()])
}

/// Puts the cursor on a row, and scrolls as little as is needed.
fn put(comparison: &mut Comparison, to: usize, page: usize) {
    let rows = comparison
        .compared()
        .map_or(0, |compared| compared.rows.len());
    comparison.at = to.min(rows.saturating_sub(1));
    comparison.top = scroll::showing(comparison.at, comparison.top, page);
}

/// To the next difference, or to the one before.
fn walk(app: &mut App, action: Action) {
    let page = view::rows(app.size);
    let Some(Overlay::Comparison(comparison)) = app.overlays.last_mut() else {
        return;
    };
    let changes = comparison.compared().map_or(&[][..], |one| &one.changes);
    match walked(action, comparison.at, changes) {
        Ok(to) => put(comparison, to, page),
        Err(end) => app.notices.success(end, app.now),
    }
}

/// Shows what is the same or folds it; the cursor stays on its row, or on the difference before.
fn unfold(comparison: &mut Comparison, page: usize) {
    let at = comparison.at;
    comparison.unfolded = !comparison.unfolded;
    let unfolded = comparison.unfolded;
    let Stage::Compared(compared) = &mut comparison.stage else {
        return;
    };
    let row = compared.rows.get(at).copied();
    let passed = compared
        .changes
        .iter()
        .filter(|change| **change <= at)
        .count();
    compared.fold(unfolded);
    let same = compared.rows.iter().position(|other| Some(*other) == row);
    let change = || compared.changes.get(passed.checked_sub(1)?).copied();
    let to = same.or_else(change).unwrap_or(0);
    put(comparison, to, page);
}

/// Opens the two exchanges under the cursor side by side.
fn open(app: &mut App) -> Effects {
    let page = view::rows(app.size);
    let Some(Overlay::Comparison(comparison)) = app.overlays.last_mut() else {
        return vec![];
    };
    let Some(compared) = comparison.compared() else {
        return vec![];
    };
    let Some(row) = compared.rows.get(comparison.at).copied() else {
        return vec![];
    };
    let files = compared.sides.each_ref().map(|side| side.path.clone());
    match (row, compared.places(row)) {
        (_, [Some(left), Some(right)]) => {
            let [one, other] = files.map(Which::File);
            let bound = Arc::clone(&compared.bound);
            exchanges(app, [(one, left), (other, right)], bound)
        }
        (Row::Folded(..), _) => {
            unfold(comparison, page);
            vec![]
        }
        (_, [None, None]) => vec![],
        (_, [left, _]) => {
            let side = if left.is_some() { "left" } else { "right" };
            let text = format!("only the {side} recording has it, with nothing to compare");
            app.notices.error(text, app.now);
            vec![]
        }
    }
}

/// Compares two exchanges of two recordings, in which this is bound.
pub fn exchanges(app: &mut App, sides: [(Which, (Seq, u32)); 2], bound: Arc<Bound>) -> Effects {
    let generation = app.next_generation();
    let diff = Box::new(Diff::new(generation));
    app.overlays.push(Overlay::Diff(diff));
    let ask = Ask::Exchanges {
        generation,
        sides,
        bound,
    };
    vec![AskAny::Beside(ask).into()]
}

/// To what is under the cursor, in the recording of one side.
fn go_to_side(app: &mut App, side: usize) -> Effects {
    let found = match app.overlays.last() {
        Some(Overlay::Comparison(comparison)) => comparison.compared().and_then(|compared| {
            let row = compared.rows.get(comparison.at)?;
            let place = compared.places(*row)[side];
            Some((compared.sides[side].path.clone(), place.map(|(seq, _)| seq)))
        }),
        _ => None,
    };
    found.map_or_else(Effects::new, |(path, seq)| go_to(app, &path, seq))
}

/// To a frame of a recording; what lies on top is closed.
pub fn go_to(app: &mut App, path: &Path, seq: Option<Seq>) -> Effects {
    app.overlays.clear();
    let is_open = app.session.as_deref().is_some_and(|open| open.path == path);
    match (is_open, seq) {
        (true, Some(seq)) => crate::panels::list::goto(app, seq),
        (true, None) => vec![],
        (false, seq) => session::open(app, path, seq),
    }
}

/// A click on a cell of the screen puts the cursor on the row there, a second one opens it.
pub fn click(app: &mut App, cell: (u16, u16), double: bool) -> Effects {
    let row = match app.overlays.last() {
        Some(Overlay::Comparison(comparison)) => view::hit(app, comparison, cell),
        _ => None,
    };
    let (Some(row), Some(Overlay::Comparison(comparison))) = (row, app.overlays.last_mut()) else {
        return vec![];
    };
    comparison.at = row;
    if double { open(app) } else { vec![] }
}

/// The wheel was turned by so many rows: scrolls without moving the cursor.
pub fn wheel(app: &mut App, by: isize) -> Effects {
    let page = view::rows(app.size);
    if let Some(Overlay::Comparison(comparison)) = app.overlays.last_mut() {
        let rows = comparison
            .compared()
            .map_or(0, |compared| compared.rows.len());
        comparison.top = scroll::turned(comparison.top, by, rows, page);
    }
    vec![]
}

/// Begins a comparison of two recordings. Where somebody types, it lies below that.
pub fn begin(
    app: &mut App,
    left: Which,
    right: PathBuf,
    replayed: Option<Box<Replayed>>,
    opens: Option<Seq>,
) -> Effects {
    let generation = app.next_generation();
    let comparison = Overlay::Comparison(Box::new(Comparison::new(generation, opens)));
    app.overlays.insert(0, comparison);
    let ask = Ask::Recordings {
        generation,
        left,
        right,
        replayed,
    };
    vec![AskAny::Beside(ask).into()]
}

/// What is done with the recording that is open.
pub fn perform_in_session(app: &mut App, action: Action) -> Option<Effects> {
    if action != Action::CompareParent {
        return None;
    }
    let path = app.session.as_deref()?.path.clone();
    Some(begin(app, Which::Parent(path.clone()), path, None, None))
}

pub fn answer(app: &mut App, answer: Answer) -> Effects {
    match answer {
        Answer::Comparing(generation, far) => {
            if let Some(comparison) = find(app, generation) {
                comparison.stage = Stage::Comparing(far);
            }
        }
        Answer::Compared(generation, compared) => {
            let page = view::rows(app.size);
            let Some(comparison) = find(app, generation) else {
                return vec![];
            };
            let first = compared.changes.first().copied();
            comparison.stage = Stage::Compared(compared);
            // Titles say nothing.
            put(comparison, first.unwrap_or(1), page);
            return opened(app, generation);
        }
        Answer::Surveyed(generation, offer) => replay::surveyed(app, generation, offer),
        Answer::Failed(generation, why) => {
            let all = app.overlays.len();
            app.overlays.retain(|overlay| match overlay {
                Overlay::Comparison(one) => one.generation != generation,
                Overlay::Diff(one) => one.generation != generation,
                Overlay::Menu(one) => one.generation != Some(generation),
                _ => true,
            });
            // Whoever has left it does not wait for it any more; it may name what is hidden now.
            if app.overlays.len() < all {
                app.notices.error(why, app.now);
            }
        }
    }
    vec![]
}

/// What was replayed alone is shown side by side at once, unless somebody does something else.
fn opened(app: &mut App, generation: u64) -> Effects {
    let page = view::rows(app.size);
    let on_top = matches!(app.overlays.last(), Some(Overlay::Comparison(_)));
    let Some(comparison) = find(app, generation) else {
        return vec![];
    };
    let wanted = comparison.opens.take();
    let Some(at) = wanted.and_then(|seq| comparison.row_of(seq)) else {
        return vec![];
    };
    put(comparison, at, page);
    if on_top { open(app) } else { vec![] }
}

fn find(app: &mut App, generation: u64) -> Option<&mut Comparison> {
    let overlays = app.overlays.iter_mut().rev();
    let mut found = overlays.filter_map(|overlay| match overlay {
        Overlay::Comparison(one) if one.generation == generation => Some(&mut **one),
        _ => None,
    });
    found.next()
}

#[cfg(test)]
mod tests;
