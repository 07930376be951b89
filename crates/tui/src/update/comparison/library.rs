//! Which recordings of the folder are compared.

use super::begin;
use crate::action::Action;
use crate::app::App;
use crate::effect::Effects;
use crate::update::selection;
use crate::worker::beside::Which;
use mcpreel_store::library::Entry;
use mcpreel_wire::text::escape;
use std::path::PathBuf;

/// What is done with the recordings of the folder.
pub fn perform_in_library(app: &mut App, action: Action) -> Option<Effects> {
    match action {
        Action::Select => select(app),
        Action::Unselect => app.library.chosen.clear(),
        Action::Close if !app.library.chosen.is_empty() => app.library.chosen.clear(),
        Action::CompareParent => {
            let path = app.library.current()?.entry.path.clone();
            return Some(begin(app, Which::Parent(path.clone()), path, None, None));
        }
        Action::Diff => return Some(compare(app)),
        _ => return None,
    }
    Some(vec![])
}

/// Selects the recording for a comparison, or takes it out; a third one takes the place of the
/// first.
fn select(app: &mut App) {
    let Some(path) = app.library.current().map(|row| row.entry.path.clone()) else {
        return;
    };
    if let Some(dropped) = selection::toggle(&mut app.library.chosen, path) {
        let rows = &app.library.rows;
        let entry = rows.iter().find(|row| row.entry.path == dropped);
        let shown = match entry.map(|row| &*row.entry.id) {
            Some(id) if !id.is_empty() => escape(id.get(..4).unwrap_or(id)).into_owned(),
            _ => crate::update::library::file_name(&dropped),
        };
        let text = format!("{shown} is not selected any more: two at most");
        app.notices.success(text, app.now);
    }
}

/// Compares the two that are selected, the older one being the one to go by; or the one that is
/// with the one under the cursor; or that with what it comes from.
fn compare(app: &mut App) -> Effects {
    match sides(app) {
        Ok((left, right)) => begin(app, left, right, None, None),
        Err(why) => {
            app.notices.error(why, app.now);
            vec![]
        }
    }
}

fn sides(app: &App) -> Result<(Which, PathBuf), &'static str> {
    let library = &app.library;
    let rows = || library.rows.iter().map(|row| &*row.entry);
    let chosen = rows().filter(|entry| library.chosen.contains(&entry.path));
    let mut chosen: Vec<&Entry> = chosen.collect();
    chosen.sort_by_key(|entry| entry.wall_ns);
    let current = library.current().map(|row| &*row.entry);
    let current = current.ok_or("there is no recording to be compared")?;
    let both = |left: &Entry, right: &Entry| {
        let left = Which::File(left.path.clone());
        Ok((left, right.path.clone()))
    };
    match chosen.as_slice() {
        [older, newer, ..] => both(older, newer),
        [one] if one.path != current.path => both(one, current),
        [_] => Err("go to the recording that this one is to be compared with, or select it too"),
        [] => {
            let parent = current
                .summary()
                .and_then(|summary| summary.parent.as_ref());
            if parent.is_some() {
                let path = current.path.clone();
                return Ok((Which::Parent(path.clone()), path));
            }
            let before =
                |entry: &&Entry| entry.name == current.name && entry.wall_ns < current.wall_ns;
            let before = rows().filter(before).max_by_key(|entry| entry.wall_ns);
            let before =
                before.ok_or("Space selects the two recordings that are to be compared")?;
            both(before, current)
        }
    }
}
