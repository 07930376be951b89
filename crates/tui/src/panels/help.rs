//! The help: what can be done where the keys are, made of the table of actions, on one screen; below
//! it what each does, the filter language and the signs.

use crate::action::{Context, Row, TABLE};
use crate::app::{App, Viewer};
use crate::effect::Effects;
use crate::panels::menu::area_of_text;
use crate::theme::{Glyph, Role};
use crate::widget::frame;
use crate::widget::pager::Text;
use crate::widget::spans::Spans as Line;
use mcpreel_trace::exchange::Status;
use mcpreel_trace::query::ast::{Field, Flag, Op, Root};
use mcpreel_trace::query::help;
use mcpreel_wire::text::{cut, pad_end};

const KEYS: usize = 22;

/// Columns of a key with the name of what it does.
const CELL: usize = 24;

/// All keys with the names of what they do, in as many columns as there is room for: those of the
/// present view first.
fn overview(app: &App, contexts: &[Context]) -> Vec<Line> {
    let all = contexts.iter().map(|one| bound(app, contexts, *one));
    let width = usize::from(area_of_text(app.size).width.saturating_sub(2));
    let columns = (width / CELL).max(1);
    let room = (width / columns).max(CELL) - 10;
    let cell = |(keys, row): (String, &Row)| {
        let key = keys.split(' ').next().unwrap_or_default();
        let name = pad_end(&cut(&row.name.replace('-', " "), room - 1), room);
        [(Role::Key, pad_end(key, 10)), (Role::Text, name)]
    };
    let cells: Vec<_> = all.flatten().map(cell).collect();
    let rows = cells.len().div_ceil(columns);
    let line = |at| {
        let cells = cells.iter().skip(at).step_by(rows);
        cells.flatten().cloned().collect()
    };
    (0..rows).map(line).collect()
}

/// Opens the help for where the keys are.
pub fn open(viewer: &mut Viewer) -> Effects {
    let contexts = viewer.contexts();
    let app = &mut viewer.app;
    let mut lines = overview(app, &contexts);
    for context in &contexts {
        keys(app, &contexts, *context, &mut lines);
    }
    if contexts.contains(&Context::Session) {
        filter_language(&mut lines);
        legend(app, &mut lines);
    }
    app.push(Text::new("help", lines))
}

fn heading(text: &str, lines: &mut Vec<Line>) {
    if !lines.is_empty() {
        lines.push(Vec::new());
    }
    lines.push(vec![(Role::Title, text.to_owned())]);
}

/// The actions of a context with their keys, without keys that mean something else in a context
/// further in.
fn bound(app: &App, contexts: &[Context], context: Context) -> Vec<(String, &'static Row)> {
    let keymap = &app.settings.keymap;
    let keys = |row: &Row| {
        let is_it =
            |key, action| action == row.action && keymap.action(contexts, key) == Some(action);
        let bound = keymap
            .of(context)
            .filter(|(key, action)| is_it(*key, *action));
        let keys: Vec<_> = bound.map(|(key, _)| key.to_string()).collect();
        keys.join(" ")
    };
    let rows = TABLE.iter().map(|row| (keys(row), row));
    rows.filter(|(keys, _)| !keys.is_empty()).collect()
}

fn keys(app: &App, contexts: &[Context], context: Context, lines: &mut Vec<Line>) {
    heading(context.into(), lines);
    for (keys, row) in bound(app, contexts, context) {
        push(&keys, row.help, lines);
    }
}

fn push(keys: &str, help: &str, lines: &mut Vec<Line>) {
    let keys = format!("  {} ", pad_end(keys, KEYS));
    lines.push(vec![(Role::Key, keys), (Role::Text, help.to_owned())]);
}

fn filter_language(lines: &mut Vec<Line>) {
    let parts = [
        ("filters", help::entries(help::CONDITIONS)),
        ("fields", Field::HELP.to_vec()),
        ("places in bodies", Root::HELP.to_vec()),
        ("flags, after is:", Flag::HELP.to_vec()),
        ("operators", Op::HELP.to_vec()),
        ("values", help::entries(help::VALUES)),
        ("examples", help::entries(help::EXAMPLES)),
    ];
    for (title, entries) in parts {
        heading(title, lines);
        for (text, meaning) in entries {
            push(text, meaning, lines);
        }
        if title == "filters" {
            lines.push(vec![(Role::Text, format!("  {}", help::TRAP))]);
        }
    }
}

/// The line above the timeline, which does not show how many exchanges were open.
const DENSITY: &str = "timeline: how many exchanges started in each column, not how many were open";

const SIGNS: [(Glyph, &str); 10] = [
    (Glyph::ToServer, "from the client to the server"),
    (Glyph::ToClient, "from the server to the client"),
    (
        Glyph::Failed,
        "failed: an error, cancelled, or never answered",
    ),
    (Glyph::Running, "open: no answer yet"),
    (Glyph::Times, "times the same notification in a row"),
    (Glyph::Child, "the last progress of the call"),
    (Glyph::Error, "before a row: a finding, an error"),
    (Glyph::Warning, "before a row: a finding, a warning"),
    (Glyph::Marked, "it has a mark"),
    (Glyph::Noted, "it has a note"),
];

fn legend(app: &App, lines: &mut Vec<Line>) {
    let look = &app.settings.look;
    heading("signs", lines);
    for (glyph, meaning) in SIGNS {
        push(look.glyph(glyph), meaning, lines);
    }
    push(&frame::density(look, &[1, 3, 5, 8]), DENSITY, lines);
    heading("status of an exchange", lines);
    for status in Status::ALL {
        push(status.as_str(), status.help(), lines);
    }
}
