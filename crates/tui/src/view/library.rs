//! The recordings screen.
//!
//! ```text
//!  recordings  /home/ada/.local/share/mcpreel/recordings             12 recordings  1 live  34 MB
//!  STATE          STARTED           SERVER                HOST        DURATION  EXCHANGES  SIZE
//!  ● live         2026-11-20 15:17  weather-server 1.4.0  claude      00:12:31      1 204  2 MB
//!  ✗ SIGKILL      2026-11-20 14:02  npx -y server-files   claude      00:00:07         12  90 kB
//!  ──────────────────────────────────────────────────────────────────────────────────────────────
//!  7f3a9c21 weather-server; npx -y weather-server --units metric
//!  being recorded, pid 4711
//!                                          ? help  Enter open  / narrow  q quit  n note  D delete
//! ```

mod about;
mod columns;

use crate::app::App;
use crate::app::library::{Library, Listing};
use crate::layout;
use crate::theme::Role;
use crate::worker::library::Row;
use columns::Columns;
use mcpreel_store::library::Standing;
use mcpreel_wire::text::{cut, cut_middle, escape, pad_end, plural, size, width, wrap};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

pub fn draw(app: &App, _area: Rect, frame: &mut Frame<'_>) {
    let places = layout::library(app.size);
    let shown = app.library.shown();
    header(app, shown.len(), places.header, frame);
    if shown.is_empty() {
        instead(app, places.headings.union(places.rows), frame);
    } else {
        rows(app, &shown, &places, frame);
    }
    crate::panels::footer::draw(app, places.footer, frame);
}

/// Which folder, how many, how large: what does not fit goes, the folder first.
fn header(app: &App, shown: usize, area: Rect, frame: &mut Frame<'_>) {
    let library = &app.library;
    let look = &app.settings.look;
    let columns = usize::from(area.width);
    let standings = library.rows.iter().map(|row| row.entry.standing);
    let recorders = match standings.filter(|at| *at == Standing::Live).count() {
        0 => String::new(),
        number => format!("{number} live  "),
    };
    let count = match (library.listing == Listing::Known, library.narrow.is_empty()) {
        (false, _) => String::new(),
        (true, true) => plural(library.rows.len() as u64, "recording"),
        (true, false) => format!("{shown} of {} shown", library.rows.len()),
    };
    let total: u64 = library.rows.iter().map(|row| row.entry.size).sum();
    let right = cut(&format!("{count}  {recorders}{} ", size(total)), columns);
    let title = " recordings";
    let left = columns.saturating_sub(width(&right));
    let title = if left > width(title) { title } else { "" };
    let room = left.saturating_sub(width(title) + 4);
    let dir = library.dir.to_string_lossy();
    let dir = if room >= 12 {
        format!("  {}", cut_middle(&escape(&dir), room))
    } else {
        String::new()
    };
    let used = width(title) + width(&dir) + width(&right);
    let heading = Line::from(vec![
        Span::styled(title, look.style(Role::Header)),
        Span::styled(dir, look.style(Role::Faint)),
        Span::raw(" ".repeat(columns.saturating_sub(used))),
        Span::styled(right, look.style(Role::Text)),
    ]);
    frame.render_widget(heading, area);
}

fn rows(app: &App, shown: &[&Row], places: &layout::Shelf, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let library = &app.library;
    let columns = Columns::fitting(app, usize::from(places.rows.width).saturating_sub(2));
    frame.render_widget(columns.headings(*look), places.headings);
    let at = library.at(shown);
    let top = library.top_showing(at, places.page());
    let visible = shown.iter().enumerate().skip(top);
    for ((number, row), area) in visible.zip(places.rows.rows()) {
        frame.render_widget(columns.line(app, row), area);
        if number == at {
            crate::widget::spans::draw(look.style(Role::Selected), area, frame);
        }
    }
    if let Some(row) = shown.get(at) {
        about::draw(app, row, places.about, frame);
    }
}

/// What stands where there is no recording to be shown.
fn instead(app: &App, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let room = usize::from(area.width).saturating_sub(2);
    let lines = said(&app.library);
    let lines = lines.iter().flat_map(|(role, text)| {
        let indent = text.len() - text.trim_start().len();
        let wrapped = wrap(text.trim_start(), room.saturating_sub(indent));
        let lines = if wrapped.is_empty() {
            vec![String::new()]
        } else {
            wrapped
        };
        lines
            .into_iter()
            .map(move |line| (*role, pad_end("", indent) + &line))
    });
    for ((role, line), area) in lines.zip(area.rows()) {
        let line = format!(" {}", cut(&line, room));
        frame.render_widget(Line::styled(line, look.style(role)), area);
    }
}

fn said(library: &Library) -> Vec<(Role, String)> {
    let dir = library.dir.to_string_lossy();
    let dir = escape(&dir);
    let text = |text: &str| (Role::Text, text.to_owned());
    match &library.listing {
        Listing::Asked => vec![(Role::Faint, format!("reading {dir}"))],
        Listing::Unreadable(error) => vec![
            (Role::Bad, error.clone()),
            text("another folder can be chosen with --dir"),
        ],
        Listing::Known if !library.rows.is_empty() => vec![(
            Role::Text,
            format!(
                "none of {} has {}; Esc shows all",
                plural(library.rows.len() as u64, "recording"),
                escape(&library.narrow)
            ),
        )],
        Listing::Known => vec![
            (Role::Text, format!("no recordings in {dir}")),
            text(""),
            text("see how it looks, with nothing else installed:"),
            (Role::Strong, "  mcpreel demo".to_owned()),
            text(
                "record a server, by putting this in front of its command in a host's configuration:",
            ),
            (Role::Strong, "  mcpreel run -- COMMAND".to_owned()),
        ],
    }
}
