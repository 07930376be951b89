//! The recordings of the folder: the first screen.
//!
//! ```text
//!  recordings  /home/ada/.local/share/mcpreel/recordings             12 recordings  1 live  34 MB
//!     id          age  name                  what went wrong            state    calls▾  failed
//!     7f3a9c21  5 min  weather-server 1.4.0                             ● live    1 204
//!  ◉  0b11d2e0    2 h  npx -y server-files   write_file: no such folder ✗ exit 3     12       3
//!  ──────────────────────────────────────────────────────────────────────────────────────────────
//!  weather-server; 2026-11-20 15:17; 2 MB; npx -y weather-server --units metric
//!  being recorded, pid 4711
//!                                          ? help  Enter open  / filter  q quit  c note  D delete
//! ```

use super::library_draw::columns;
use super::prompt::{Live, Prompt};
use super::shelf::{Listing, Order, Row, Shelf, file_name, title};
use crate::action::Action;
use crate::app::{App, Viewer};
use crate::effect::{Effect, Effects, Next, Now};
use crate::layout;
use crate::panels::menu::{Entry as Item, Menu};
use crate::theme::Role;
use crate::widget::table::{self};
use crate::worker::{Answer, Ask};
use mcpreel_share::phrases::sentence;
use mcpreel_store::library::{Standing, retention};
use mcpreel_store::reader::Summary;
use mcpreel_wire::text::{escape, plural, size};
use std::path::PathBuf;

/// The time between two lists of the folder, nanoseconds.
const EVERY_NS: u64 = 1_000_000_000;

/// The orders: the heading that gives each, its letter, its label.
pub const ORDERS: [(Order, &str, char, &str); 8] = [
    (Order::Age, "age", 'a', "age: live ones, then the newest"),
    (Order::Name, "name", 'n', "name"),
    (Order::Server, "server", 'v', "server, by its own name"),
    (Order::State, "state", 's', "state"),
    (Order::Calls, "calls", 'c', "calls: the most first"),
    (Order::Failed, "failed", 'f', "failed calls: the most first"),
    (
        Order::Duration,
        "lasted",
        'd',
        "duration: the longest first",
    ),
    (Order::Size, "size", 'z', "size: the largest first"),
];

pub fn perform(viewer: &mut Viewer, action: Action) -> Option<Effects> {
    let app = &mut viewer.app;
    match action {
        // A recording that ended badly opens at its cause.
        Action::Open | Action::Why => return open(viewer),
        Action::Filter => {
            let hint = "Enter keeps it, Esc shows all";
            let text = app.library.narrow.clone();
            let done = |viewer: &mut Viewer, text: &str| narrow(&mut viewer.app, text);
            let mut prompt = Prompt::new("show only", hint, &text, done);
            prompt.live = Live {
                changed: |viewer| {
                    let prompt = viewer.app.top::<Prompt>();
                    let text = prompt.map(|prompt| prompt.input.value().to_owned());
                    narrow(&mut viewer.app, &text.unwrap_or_default())
                },
                left: |viewer| narrow(&mut viewer.app, ""),
                ..Live::default()
            };
            app.push(prompt);
        }
        Action::Sort => {
            let entry = |(order, _, letter, label)| {
                Item::new(letter, label, move |viewer| sort(&mut viewer.app, order))
            };
            let menu = Menu::new("sort the recordings by", ORDERS.map(entry).into());
            return Some(app.push(menu));
        }
        Action::Wrap => return Some(choose_server(app)),
        // The first steps: there is nothing to compare yet.
        Action::Diff if app.library.rows.is_empty() => {
            return Some(vec![Effect::Leave(Next::Demo)]);
        }
        Action::Close if !app.library.narrow.is_empty() => return Some(narrow(app, "")),
        Action::Note => return ask_note(app),
        Action::Delete => return ask_delete(app),
        _ => {
            let (ids, page) = (app.library.ids(), layout::library(app.size).page());
            app.library.cursor.perform(action, &ids, page)?;
        }
    }
    Some(vec![])
}

fn find_servers(library: &mut Shelf) {
    if let Some(find) = library.find_servers.take() {
        library.servers = find();
    }
}

/// Offers the servers that could be recorded.
fn choose_server(app: &mut App) -> Effects {
    find_servers(&mut app.library);
    let servers = app.library.servers.iter();
    let entries = servers.map(|(label, name)| {
        let next = Next::Wrap(name.clone());
        Item::new(' ', label, |_| vec![Effect::Leave(next)])
    });
    let entries: Vec<_> = entries.collect();
    if entries.is_empty() {
        return app.refuse("no host on this machine has a server to be recorded; `mcpreel hosts`");
    }
    app.push(Menu::new("have a server recorded", entries))
}

/// Shows the recordings in this order, the first of them under the cursor.
fn sort(app: &mut App, order: Order) -> Effects {
    let library = &mut app.library;
    library.order = order;
    (library.cursor.id, library.cursor.top) = Default::default();
    vec![]
}

fn open(viewer: &mut Viewer) -> Option<Effects> {
    let library = &mut viewer.app.library;
    let path = library.current()?.path.clone();
    library.cursor.id.clone_from(&path);
    library.listed = None;
    Some(super::session::open(viewer, &path, None))
}

/// A click selects a row, a second one opens it; one on a heading sorts.
pub fn click(viewer: &mut Viewer, cell: (u16, u16), double: bool) -> Effects {
    let layout::LibraryPlaces { rows, headings, .. } = layout::library(viewer.app.size);
    let columns = columns(&viewer.app, rows.width.into());
    if let Some(at) = table::heading_at(&columns, headings, cell) {
        let is_it = |order: &&(Order, &str, _, _)| columns[at].title.starts_with(order.1);
        let order = ORDERS.iter().find(is_it);
        return order.map_or_else(Effects::new, |order| sort(&mut viewer.app, order.0));
    }
    let library = &mut viewer.app.library;
    let ids = library.ids();
    let is_row = library.cursor.click(&ids, rows, cell);
    let opened = (is_row && double).then(|| open(viewer)).flatten();
    opened.unwrap_or_default()
}

pub fn wheel(app: &mut App, by: isize) -> Effects {
    let (rows, page) = (app.library.ids().len(), layout::library(app.size).page());
    app.library.cursor.wheel(by, rows, page);
    vec![]
}

fn ask_note(app: &mut App) -> Option<Effects> {
    let entry = app.library.current()?;
    let Some(summary) = entry.summary() else {
        return Some(app.refuse("there is nothing to write a note on yet"));
    };
    let old = summary.note.clone().unwrap_or_default();
    let path = entry.path.clone();
    Some(super::notes::ask(app, path, None, &old))
}

/// Asks whether it is meant, and says what goes. The cursor is on the answer that does no harm.
fn ask_delete(app: &mut App) -> Option<Effects> {
    let library = &app.library;
    let is_marked = |row: &&Row| library.marked.contains(&row.path);
    let mut rows: Vec<_> = library.rows.iter().filter(is_marked).collect();
    if rows.is_empty() {
        rows.extend(library.current());
    }
    if rows.iter().any(|row| row.standing == Standing::Live) {
        return Some(app.refuse("it is being recorded: only what has ended can be deleted"));
    }
    let (title, keep, mut text) = match rows.as_slice() {
        [] => return None,
        [row] => (
            "delete this recording?".to_owned(),
            "no, keep it",
            lost(row),
        ),
        rows => {
            let title = format!("delete these {} recordings?", rows.len());
            (
                title,
                "no, keep them",
                rows.iter().map(|row| in_short(row)).collect(),
            )
        }
    };
    text.push("This cannot be undone.".to_owned());
    let delete_it = if rows.len() == 1 {
        "yes, delete it"
    } else {
        "yes, delete them"
    };
    let paths: Vec<_> = rows.iter().map(|row| row.path.clone()).collect();
    let entries = vec![
        Item::nothing('n', keep),
        Item::new('y', delete_it, move |_| {
            vec![Ask::Change(Box::new(move || delete(&paths))).into()]
        }),
    ];
    Some(app.push(Menu {
        text: text.into_iter().map(|text| (Role::Text, text)).collect(),
        ..Menu::new(title, entries)
    }))
}

/// A recording of several that are to be deleted, on one line.
fn in_short(row: &Row) -> String {
    let calls = row
        .summary()
        .map(|summary| plural(summary.exchanges, "exchange"));
    let is_noted = row.summary().is_some_and(Summary::is_noted);
    let noted = is_noted.then(|| "with notes or marks".to_owned());
    let known = [Some(title(row)), Some(size(row.size)), calls, noted];
    let known: Vec<_> = known.into_iter().flatten().collect();
    format!("{}  {}", escape(&row.id), known.join(", "))
}

/// All that goes with a recording.
fn lost(entry: &Row) -> Vec<String> {
    let mut known = vec![size(entry.size)];
    let mut text = vec![file_name(&entry.path)];
    if entry.standing.is_recoverable() {
        text.push("with the part that is still in its spool".to_owned());
    }
    if let Some(summary) = entry.summary() {
        known.push(plural(summary.exchanges, "exchange"));
        known.push(plural(summary.frames, "frame"));
        if summary.is_noted() {
            text.push(match &summary.note {
                Some(note) => format!("its note: {}", escape(note)),
                None => "rows of it are marked or have notes".to_owned(),
            });
        }
    }
    text.insert(1, known.join(", "));
    text
}

/// Deletes them as `prune` does, those that nobody records, and says which stay; a person has
/// confirmed it.
fn delete(paths: &[PathBuf]) -> Answer {
    let mut left = Vec::new();
    for path in paths {
        match retention::delete(path) {
            Ok(true) => {}
            Ok(false) => left.push(format!("{} is being recorded", file_name(path))),
            Err(error) => left.push(format!("{}: {}", file_name(path), sentence(&error))),
        }
    }
    let deleted = paths.len() - left.len();
    let done = match paths {
        [path] if deleted == 1 => format!("{} was deleted", file_name(path)),
        _ => format!("{} deleted", plural(deleted as u64, "recording")),
    };
    match left.len() {
        0 => changed(done),
        n => changed(format!("{done}, {n} not: {}", left.join("; "))),
    }
}

/// A recording was changed: the folder is listed anew.
pub fn changed(told: String) -> Answer {
    Answer::new(|viewer| {
        let app = &mut viewer.app;
        app.say(told);
        begin(app)
    })
}

/// The folder cannot be read.
pub fn unreadable(app: &mut App, error: String) -> Effects {
    listed(app, Vec::new());
    app.library.listing = Listing::Unreadable(error);
    vec![]
}

/// Takes the recordings in. The one under the cursor stays where it is on the screen, whatever
/// has come or gone above it; if it has gone, its neighbour takes the cursor.
pub fn listed(app: &mut App, rows: Vec<Row>) -> Effects {
    let page = layout::library(app.size).page();
    let library = &mut app.library;
    let before = library.cursor.at(&library.ids());
    let offset = before.saturating_sub(library.cursor.top);
    let is_there = |path: &PathBuf| rows.iter().any(|row| row.path == *path);
    library.marked.retain(is_there);
    library.rows = rows;
    library.listing = Listing::Known;
    if library.rows.is_empty() {
        find_servers(library);
    }
    library.listed = Some(app.now);
    library.is_asked = false;
    let ids = library.ids();
    if library.cursor.id != PathBuf::new() {
        let found = ids.iter().position(|id| *id == library.cursor.id);
        let at = found.unwrap_or(before.min(ids.len().saturating_sub(1)));
        library.cursor.top = at.saturating_sub(offset);
        library.cursor.put(&ids, at, page);
    }
    vec![]
}

/// Time has passed: the folder is looked at again.
pub fn tick(app: &mut App) -> Effects {
    let listed = app.library.listed;
    let since = |listed: Now| app.now.ui_ns.saturating_sub(listed.ui_ns);
    let is_due = listed.is_none_or(|listed| since(listed) >= EVERY_NS);
    if app.library.is_asked || !is_due {
        return vec![];
    }
    begin(app)
}

pub fn begin(app: &mut App) -> Effects {
    app.library.is_asked = true;
    vec![Ask::List.into()]
}

/// Shows only recordings with this text.
pub fn narrow(app: &mut App, text: &str) -> Effects {
    let library = &mut app.library;
    text.clone_into(&mut library.narrow);
    library.cursor.top = 0;
    let (ids, page) = (library.ids(), layout::library(app.size).page());
    if ids.contains(&library.cursor.id) {
        let at = library.cursor.at(&ids);
        library.cursor.put(&ids, at, page);
    }
    vec![]
}
