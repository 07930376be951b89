//! The recordings screen.

use super::prompt::{Prompt, Purpose};
use super::selection::moved;
use crate::action::Action;
use crate::app::library::Listing;
use crate::app::menu::{Choice, Entry as Item, Menu};
use crate::app::{App, Overlay};
use crate::effect::Effects;
use crate::layout;
use crate::theme::Role;
use crate::worker::Ask as AskAny;
use crate::worker::library::{Answer, Ask, Row};
use mcpreel_store::library::{Entry, Standing};
use mcpreel_wire::text::{escape, plural, size};
use std::path::Path;

/// The name of a recording's file, escaped.
pub fn file_name(path: &Path) -> String {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    escape(&file).into_owned()
}

/// How often the folder is looked at while it is on the screen.
const EVERY_NS: u64 = 1_000_000_000;

pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    match action {
        Action::Open => Some(open(app)),
        Action::Narrow => {
            let prompt = Prompt::new(Purpose::Narrow, &app.library.narrow);
            app.overlays.push(Overlay::Prompt(prompt));
            Some(vec![])
        }
        Action::Close if !app.library.narrow.is_empty() => Some(narrow(app, "")),
        Action::RecordingNote => {
            ask_note(app);
            Some(vec![])
        }
        Action::Delete => {
            ask_delete(app);
            Some(vec![])
        }
        _ => {
            let shown = app.library.shown();
            let page = layout::library(app.size).page();
            let at = moved(action, app.library.at(&shown), shown.len(), page)?;
            go(app, at);
            Some(vec![])
        }
    }
}

fn open(app: &mut App) -> Effects {
    let Some(row) = app.library.current() else {
        return vec![];
    };
    let path = row.entry.path.clone();
    app.library.selected = Some(path.clone());
    app.library.listed = None;
    super::session::open(app, &path, None)
}

/// The cursor goes to the row `at` of those that are shown.
pub fn go(app: &mut App, at: usize) {
    let shown = app.library.shown();
    let Some(row) = shown.get(at) else { return };
    app.library.selected = Some(row.entry.path.clone());
    uncover(app, at);
}

/// Scrolls as far as it takes to show the row `at`.
fn uncover(app: &mut App, at: usize) {
    let page = layout::library(app.size).page();
    app.library.top = app.library.top_showing(at, page);
}

fn ask_note(app: &mut App) {
    let Some(row) = app.library.current() else {
        return;
    };
    let Some(summary) = row.entry.summary() else {
        let text = "there is nothing to write a note on yet";
        return app.notices.error(text, app.now);
    };
    let note = summary.note.clone().unwrap_or_default();
    app.library.selected = Some(row.entry.path.clone());
    let prompt = Prompt::new(Purpose::RecordingNote, &note);
    app.overlays.push(Overlay::Prompt(prompt));
}

/// Asks whether it is meant, and says what goes.
fn ask_delete(app: &mut App) {
    let Some(row) = app.library.current() else {
        return;
    };
    let entry = row.entry.as_ref();
    if entry.standing == Standing::Live {
        let text = "it is being recorded: only what has ended can be deleted";
        return app.notices.error(text, app.now);
    }
    let menu = deletion(entry);
    app.library.selected = Some(entry.path.clone());
    app.overlays.push(Overlay::Menu(menu));
}

/// The question, with the cursor on the answer that does no harm.
fn deletion(entry: &Entry) -> Menu {
    let mut text = vec![file_name(&entry.path)];
    let mut known = vec![size(entry.size)];
    if let Some(summary) = entry.summary() {
        known.push(plural(summary.exchanges, "exchange"));
        known.push(plural(summary.frames, "frame"));
    }
    text.push(known.join(", "));
    if entry.standing.is_recoverable() {
        text.push("with the part that is still in its spool".to_owned());
    }
    if let Some(summary) = entry.summary().filter(|summary| summary.is_noted()) {
        text.push(match &summary.note {
            Some(note) => format!("somebody noted: {}", escape(note)),
            None => "somebody has marked or noted rows of it".to_owned(),
        });
    }
    text.push("There is no way back.".to_owned());
    let item = |letter, label: &str, choice| Item {
        letter,
        label: label.to_owned(),
        choice,
    };
    let keep = item('n', "no, keep it", Choice::Nothing);
    let delete = item('y', "yes, delete it", Choice::Delete(entry.path.clone()));
    let plain = |text| (Role::Text, text);
    Menu {
        text: text.into_iter().map(plain).collect(),
        ..Menu::new("delete this recording?", vec![keep, delete])
    }
}

pub fn answer(app: &mut App, answer: Answer) -> Effects {
    match answer {
        Answer::Listed(rows) => listed(app, rows),
        Answer::Unreadable(error) => {
            app.library.listing = Listing::Unreadable(error);
            app.library.rows.clear();
            was_listed(app);
        }
        Answer::Done(text) => app.notices.success(text, app.now),
        Answer::Refused(text) => app.notices.error(text, app.now),
    }
    vec![]
}

fn was_listed(app: &mut App) {
    app.library.listed = Some(app.now);
    app.library.is_asked = false;
}

/// Takes the recordings in. The one under the cursor stays where it is on the screen, whatever
/// has come or gone above it.
fn listed(app: &mut App, rows: Vec<Row>) {
    let library = &mut app.library;
    let before = library.at(&library.shown());
    let offset = before.saturating_sub(library.top);
    library.rows = rows;
    library.listing = Listing::Known;
    let shown = library.shown();
    let selected = library.selected.as_deref();
    let is_there = shown.iter().any(|row| Some(&*row.entry.path) == selected);
    let at = if is_there {
        library.at(&shown)
    } else {
        before.min(shown.len().saturating_sub(1))
    };
    // The one that was chosen has gone: its neighbour takes the cursor.
    let neighbour = shown.get(at).map(|row| row.entry.path.clone());
    if selected.is_some() && !is_there {
        library.selected = neighbour;
    }
    if library.selected.is_some() {
        library.top = at.saturating_sub(offset);
    }
    let at = library.at(&library.shown());
    uncover(app, at);
    was_listed(app);
}

/// Time has passed: the folder is looked at again.
pub fn tick(app: &mut App) -> Effects {
    let library = &app.library;
    let is_due = library
        .listed
        .is_none_or(|listed| app.now.ui_ns.saturating_sub(listed.ui_ns) >= EVERY_NS);
    if app.session.is_some() || library.is_asked || !is_due {
        return vec![];
    }
    begin(app)
}

pub fn begin(app: &mut App) -> Effects {
    app.library.is_asked = true;
    vec![AskAny::Library(Ask::List).into()]
}

/// The text that narrows the list has changed.
pub fn narrowed(app: &mut App) -> Effects {
    match app.overlays.last() {
        Some(Overlay::Prompt(prompt)) => {
            let text = prompt.input.value().to_owned();
            narrow(app, &text)
        }
        _ => vec![],
    }
}

pub fn narrow(app: &mut App, text: &str) -> Effects {
    text.clone_into(&mut app.library.narrow);
    app.library.top = 0;
    let at = app.library.at(&app.library.shown());
    uncover(app, at);
    vec![]
}

/// A note on the selected recording; an empty one takes it away.
pub fn note(app: &mut App, text: &str) -> Effects {
    let Some(row) = app.library.current() else {
        return vec![];
    };
    let text = Some(text.trim()).filter(|text| !text.is_empty());
    let ask = Ask::Note(row.entry.path.clone(), text.map(str::to_owned));
    vec![AskAny::Library(ask).into()]
}

/// The recording is deleted; it was asked for.
pub fn delete(path: &Path) -> Effects {
    vec![AskAny::Library(Ask::Delete(path.to_owned())).into()]
}
