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
use crate::app::{App, View, Viewer};
use crate::effect::Effects;
use crate::keymap::Keymap;
use crate::panels::filter::{self, narrowed};
use crate::panels::{library, list};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::query::ast::Field;
use mcpreel_trace::query::{Query, value_text};
use mcpreel_wire::text::escape;

/// The actions that can be done in these contexts, those of the first context first.
pub fn possible(contexts: &[Context]) -> Vec<&'static Row> {
    let place = |row: &Row| {
        let is_meant = |context: &Context| row.keys.iter().any(|(it, _)| it == context);
        let place = contexts.iter().position(is_meant);
        place.or(row.keys.is_empty().then_some(contexts.len()))
    };
    let mut rows: Vec<_> = TABLE.iter().filter(|row| place(row).is_some()).collect();
    rows.sort_by_key(|row| place(row));
    rows
}

/// The rows in whose name or help some word begins with each word that is typed, names first.
fn fitting(typed: &str, rows: &[&'static Row]) -> Vec<&'static Row> {
    let typed = typed.to_lowercase();
    let is_end = |char: char| !char.is_alphanumeric();
    let has_all = |text: &str| {
        let begins = |word| text.split(is_end).any(|it| it.starts_with(word));
        typed.split(is_end).all(begins)
    };
    let fits = |row: &&&'static Row| has_all(&format!("{} {}", row.name, row.help).to_lowercase());
    let mut found: Vec<_> = rows.iter().filter(fits).copied().collect();
    found.sort_by_key(|row| {
        (
            row.name != typed,
            !row.name.starts_with(&typed),
            !has_all(row.name),
        )
    });
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
        let label = format!("no matching command; filter by `{}`", escape(typed));
        let text = typed.to_owned();
        entries.push(Entry::new(' ', label, move |viewer| {
            filter_by(viewer, &text)
        }));
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

/// Shows what fits a text, besides the filter in force.
fn filter_by(viewer: &mut Viewer, text: &str) -> Effects {
    let Some((app, session)) = viewer.parts() else {
        return library::narrow(&mut viewer.app, text);
    };
    let word = format!("text:{}", value_text(Field::Text, text));
    let query = Query::parse(text).or_else(|_| Query::parse(&word));
    let condition = query.unwrap_or_default().expr;
    let query = narrowed(session.filter.in_force(), condition);
    session.view = View::Exchanges;
    filter::set(app, session, &query.to_string())
}

fn goto(viewer: &mut Viewer, seq: Seq) -> Effects {
    if let Some(session) = viewer.session.as_deref_mut() {
        return list::goto(session, seq);
    }
    viewer.app.refuse("open a recording first: Enter")
}
