//! The help: the keys by task, on one screen; Tab goes on to the filter language, the signs and the
//! statuses. Made of the table of actions.
//!
//! ```text
//!  general                   moving                    views and panes
//!  ?        help             j        down             1        calls
//!  :        palette          k        up               2        timeline
//! ```

use crate::action::{Action, Context, Row, TABLE};
use crate::app::{App, Viewer};
use crate::effect::Effects;
use crate::theme::{Glyph, Role};
use crate::widget::frame;
use crate::widget::pager::Text;
use crate::widget::spans::Spans as Line;
use mcpreel_trace::exchange::Status;
use mcpreel_trace::query::ast::{Field, Flag, Op, Root};
use mcpreel_trace::query::help;
use mcpreel_wire::text::{cut, pad_end, width};

const KEYS: usize = 22;

/// The least and the most columns of a key with the name of what it does.
const CELL: (usize, usize) = (26, 34);

/// Columns of a key.
const KEY: usize = 8;

/// The tasks, each with the action that begins it in the table.
const TASKS: [(Action, &str); 12] = [
    (Action::Help, "general"),
    (Action::Down, "moving"),
    (Action::Wrap, "recordings and rows"),
    (Action::Exchanges, "views and panes"),
    (Action::Filter, "filter and search"),
    (Action::Mark, "marks and notes"),
    (Action::Collapse, "reading"),
    (Action::Copy, "working with it"),
    (Action::TimeCursor, "as it was then"),
    (Action::ZoomIn, "timeline"),
    (Action::Sort, "order"),
    (Action::NextChange, "comparison"),
];

/// The keys with the names of what they do, by task, in as many columns as there is room for.
fn overview(app: &App, bound: &[(String, &'static Row)]) -> Vec<Line> {
    let room = usize::from(app.size.0.saturating_sub(2));
    let columns = (room / CELL.0).max(1);
    let wide = (room / columns).min(CELL.1);
    let (mut cells, mut task) = (Vec::<Line>::new(), "");
    for row in TABLE {
        let begins = TASKS.iter().find(|(action, _)| *action == row.action);
        task = begins.map_or(task, |(_, name)| *name);
        let Some((keys, _)) = bound.iter().find(|(_, it)| it.action == row.action) else {
            continue;
        };
        if !task.is_empty() {
            cells.push(vec![(
                Role::Title,
                pad_end(std::mem::take(&mut task), wide),
            )]);
        }
        let key = keys.split(' ').next().unwrap_or_default();
        let key = format!("{} ", pad_end(key, KEY));
        let room = wide.saturating_sub(width(&key));
        let name = pad_end(&cut(&label(row), room.saturating_sub(1)), room);
        cells.push(vec![(Role::Key, key), (Role::Text, name)]);
    }
    // A heading that would end a column begins the next one; that may move others to an end.
    for _ in TASKS {
        let rows = cells.len().div_ceil(columns);
        let ends = |at: &usize| at % rows == rows - 1 && at + 1 < cells.len();
        let mut last = (0..cells.len()).filter(ends);
        let Some(at) = last.find(|at| matches!(cells[*at][..], [(Role::Title, _)])) else {
            break;
        };
        cells.insert(at, vec![(Role::Text, pad_end("", wide))]);
    }
    let rows = cells.len().div_ceil(columns);
    let line = |at| {
        let cells = cells.iter().skip(at).step_by(rows);
        cells.flatten().cloned().collect()
    };
    (0..rows).map(line).collect()
}

fn label(row: &Row) -> String {
    match row.action {
        Action::Exchanges => "calls".to_owned(),
        _ => row.name.replace('-', " "),
    }
}

/// Opens the help for where the keys are.
pub fn open(viewer: &mut Viewer) -> Effects {
    let contexts = viewer.contexts();
    let app = &mut viewer.app;
    let all = contexts.iter().flat_map(|one| bound(app, &contexts, *one));
    let all: Vec<_> = all.collect();
    let mut text = Text::new("keys", overview(app, &all));
    let sentence = |(keys, row): &(String, &Row)| {
        let (keys, label) = (pad_end(keys, 12), pad_end(&label(row), 18));
        (format!("{keys} {label} {}", row.help), row.action)
    };
    text.index = all.iter().map(sentence).collect();
    if contexts.contains(&Context::Session) {
        let mut lines = Vec::new();
        filter_language(&mut lines);
        legend(app, &mut lines);
        text.next = Some(Box::new(Text::new("filter, signs, statuses", lines)));
    }
    app.push(text)
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
    (Glyph::Alert, "before a row: a finding, a warning"),
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
