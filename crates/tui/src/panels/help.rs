//! The help: what can be done where the keys are, made of the table of actions; the filter language
//! and the signs.

use crate::action::{Context, Row, TABLE};
use crate::app::{App, Viewer};
use crate::effect::Effects;
use crate::theme::{Glyph, Role};
use crate::widget::frame;
use crate::widget::pager::Text;
use crate::widget::spans::Spans as Line;
use mcpreel_trace::exchange::Status;
use mcpreel_trace::query::ast::{Field, Flag, Op, Root};
use mcpreel_trace::query::help;
use mcpreel_wire::text::pad_end;

const KEYS: usize = 22;

/// Opens the help for where the keys are.
pub fn open(viewer: &mut Viewer) -> Effects {
    let contexts = viewer.contexts();
    let app = &mut viewer.app;
    let mut lines = Vec::new();
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

/// The keys of a context, each action once; without those that mean something else in a context
/// further in.
fn keys(app: &App, contexts: &[Context], context: Context, lines: &mut Vec<Line>) {
    heading(context.as_str(), lines);
    let keymap = &app.settings.keymap;
    for row in TABLE {
        let is_it =
            |key, action| action == row.action && keymap.action(contexts, key) == Some(action);
        let bound = keymap
            .of(context)
            .filter(|(key, action)| is_it(*key, *action));
        let keys: Vec<_> = bound.map(|(key, _)| key.to_string()).collect();
        if !keys.is_empty() {
            push(&keys.join(" "), row.help, lines);
        }
    }
    if context == Context::Everywhere {
        let is_unbound = |row: &&Row| keymap.keys(row.action).is_empty();
        for row in TABLE.iter().filter(is_unbound) {
            push(&format!(":{}", row.name), row.help, lines);
        }
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
const DENSITY: &str = "timeline: how many exchanges began in each column, not how many were open";

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
    (Glyph::Marked, "somebody has marked it"),
    (Glyph::Noted, "somebody has written a note"),
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
