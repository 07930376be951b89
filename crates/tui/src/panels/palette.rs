//! Any command, by parts of its name: a menu whose entries are those that fit what is typed.
//!
//! ```text
//!  ┌ : fail▏ ───────────────────────────────────────────────┐
//!  │    next-failure      e  next failed exchange           │
//!  │    previous-failure  E  failed exchange before         │
//!  └────────────────────────── Enter chooses, Esc closes ───┘
//! ```

use super::menu::{Entry, Menu};
use crate::action::{Context, Row, TABLE};
use crate::app::{App, Viewer};
use crate::effect::Effects;
use crate::keymap::Keymap;
use crate::panels::list;
use frizbee::{Config, Matcher};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::escape;

/// The actions that can be done in these contexts.
pub fn possible(contexts: &[Context]) -> Vec<&'static Row> {
    let is_possible = |row: &&Row| {
        let mut keys = row.keys.iter();
        row.keys.is_empty() || keys.any(|(context, _)| contexts.contains(context))
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

pub fn open(viewer: &mut Viewer) -> Effects {
    let possible = possible(&viewer.contexts());
    let fill = move |app: &App, typed: &str| fill(&app.settings.keymap, &possible, typed);
    let menu = Menu::searched(&viewer.app, Box::new(fill));
    viewer.app.push(menu)
}

fn fill(keymap: &Keymap, possible: &[&'static Row], typed: &str) -> Vec<Entry> {
    let typed = typed.trim().trim_start_matches(':');
    if let Ok(seq) = typed.trim_start_matches('#').parse() {
        let label = format!("#{seq}  go to this frame");
        return vec![Entry::new(' ', label, move |viewer| goto(viewer, Seq(seq)))];
    }
    let rows = fitting(typed, possible).into_iter();
    let mut entries: Vec<_> = rows.map(|row| entry(keymap, row)).collect();
    if entries.is_empty() {
        let label = format!("no matching command: {}", escape(typed));
        entries.push(Entry::nothing(' ', label));
    }
    entries
}

fn entry(keymap: &Keymap, row: &'static Row) -> Entry {
    let keys = keymap.keys(row.action);
    let keys = keys.iter().take(2).map(ToString::to_string);
    let keys = keys.collect::<Vec<_>>().join(" ");
    let label = format!("{:<18}  {keys:<11}  {}", row.name, row.help);
    Entry::new(' ', label, |viewer| {
        viewer.app.chosen = Some(row.action);
        vec![]
    })
}

fn goto(viewer: &mut Viewer, seq: Seq) -> Effects {
    if let Some(session) = viewer.session.as_deref_mut() {
        return list::goto(session, seq);
    }
    viewer.app.refuse("open a recording first: Enter")
}
