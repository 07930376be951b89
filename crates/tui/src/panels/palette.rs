//! Any command, by parts of its name: a menu whose entries are those that fit what is typed.
//!
//! ```text
//!  ┌ : fail▏ ───────────────────────────────────────────────┐
//!  │    next-failure      e  next failed exchange           │
//!  │    previous-failure  E  failed exchange before         │
//!  └────────────────────────── Enter chooses, Esc closes ───┘
//! ```

use super::menu::{self, Entry, Menu};
use super::prompt::request;
use crate::action::{Action, Context, Row, TABLE};
use crate::app::{App, Viewer};
use crate::effect::Effects;
use crate::keymap::{Key, Keymap};
use crate::panels::list;
use crossterm::event::KeyCode;
use frizbee::{Config, Matcher};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::escape;
use tui_input::Input;

/// Actions without a key that need a recording.
const NEEDS_RECORDING: [Action; 3] = [Action::Goto, Action::Follow, Action::Unselect];

#[derive(Debug)]
pub struct Palette {
    pub input: Input,
    /// The contexts that held when the palette was opened.
    contexts: Vec<Context>,
}

/// The actions that can be done in these contexts.
pub fn possible(contexts: &[Context]) -> Vec<&'static Row> {
    let is_possible = |row: &&Row| {
        let is_lacking =
            NEEDS_RECORDING.contains(&row.action) && !contexts.contains(&Context::Session);
        let mut keys = row.keys.iter();
        let is_here = row.keys.is_empty() || keys.any(|(context, _)| contexts.contains(context));
        is_here && !is_lacking
    };
    TABLE.iter().filter(is_possible).collect()
}

/// The rows that fit what is typed, the best first; all where nothing is typed.
fn fitting(typed: &str, rows: &[&'static Row]) -> Vec<&'static Row> {
    if typed.is_empty() {
        return rows.to_vec();
    }
    let texts = rows.iter().map(|row| format!("{} {}", row.name, row.help));
    let texts: Vec<_> = texts.collect();
    let found = Matcher::new(typed, &Config::default()).match_list(&texts);
    let found = found.iter().map(|found| rows[found.index as usize]);
    let mut found: Vec<_> = found.collect();
    found.sort_by_key(|row| row.name != typed);
    found
}

/// Opens the palette with this text in it.
pub fn open(viewer: &mut Viewer, text: &str) -> Effects {
    let contexts = viewer.contexts();
    let input = text.into();
    let menu = menu(&viewer.app.settings.keymap, Palette { input, contexts });
    viewer.app.push(menu);
    vec![]
}

fn menu(keymap: &Keymap, palette: Palette) -> Menu {
    let typed = palette.input.value().trim().trim_start_matches(':');
    let entries = match typed.trim_start_matches('#').parse() {
        Ok(seq) => vec![Entry::new(
            ' ',
            format!("#{seq}  to this frame"),
            move |viewer| goto(viewer, Seq(seq)),
        )],
        Err(_) => {
            let rows = fitting(typed, &possible(&palette.contexts));
            rows.into_iter().map(|row| entry(keymap, row)).collect()
        }
    };
    let mut menu = Menu::new("", entries);
    if menu.entries.is_empty() {
        let label = format!("nothing is called {}", escape(typed));
        menu.entries.push(Entry::nothing(' ', label));
    }
    menu.palette = Some(palette);
    menu
}

fn entry(keymap: &Keymap, row: &'static Row) -> Entry {
    let keys = keymap.keys(row.action);
    let keys = keys.iter().take(2).map(ToString::to_string);
    let keys = keys.collect::<Vec<_>>().join(" ");
    let label = format!("{:<18}  {keys:<9}  {}", row.name, row.help);
    Entry::new(' ', label, |viewer| {
        viewer.app.chosen = Some(row.action);
        vec![]
    })
}

fn goto(viewer: &mut Viewer, seq: Seq) -> Effects {
    if let Some(session) = viewer.session.as_deref_mut() {
        return list::goto(session, seq);
    }
    let text = "frames are in recordings: Enter opens one";
    viewer.app.notices.error(text, viewer.app.now);
    vec![]
}

/// A key while the palette is open.
pub fn press(viewer: &mut Viewer, key: Key) -> Effects {
    match (key.code, key.ctrl) {
        (KeyCode::Esc, _) | (KeyCode::Char('c'), true) => {
            viewer.app.overlays.pop();
            vec![]
        }
        (KeyCode::Enter, _) => menu::perform(viewer, Action::Open).unwrap_or_default(),
        (KeyCode::Down | KeyCode::Tab, _) | (KeyCode::Char('n'), true) => {
            menu::perform(viewer, Action::Down).unwrap_or_default()
        }
        (KeyCode::Up | KeyCode::BackTab, _) | (KeyCode::Char('p'), true) => {
            menu::perform(viewer, Action::Up).unwrap_or_default()
        }
        _ => edit(&mut viewer.app, key),
    }
}

fn edit(app: &mut App, key: Key) -> Effects {
    let Some(open) = app
        .overlays
        .last_mut()
        .and_then(|top| top.cast_mut::<Menu>())
    else {
        return vec![];
    };
    if let (Some(request), Some(mut palette)) = (request(key), open.palette.take()) {
        palette.input.handle(request);
        *open = menu(&app.settings.keymap, palette);
    }
    vec![]
}
