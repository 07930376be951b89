//! Draws the recordings of the folder.

use super::library::ORDERS;
use super::shelf::{Listing, Order, Row, Shelf, about, state, title, wrong};
use crate::app::App;
use crate::layout;
use crate::panels::footer;
use crate::theme::{Glyph, Role};
use crate::widget::spans;
use crate::widget::table::{self, Column};
use mcpreel_share::phrases::recording::origin;
use mcpreel_share::phrases::when;
use mcpreel_store::library::Standing;
use mcpreel_wire::text::{clock, count, cut_middle, escape, plural, size, width, wrap};
use ratatui::Frame;
use ratatui::layout::{Margin, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Wrap};

/// From so many columns on there is room for words of state, for whole ids and the origin, and for
/// all there is.
const WORDS: usize = 70;
const WIDE: usize = 100;
const ALL: usize = 140;

/// The least and the most columns of the name, and its place among the columns.
const NAME: (usize, usize) = (16, 32);
const NAME_AT: usize = 3;

pub fn draw(app: &App, frame: &mut Frame<'_>) {
    let places = layout::library(app.size);
    let shown = app.library.shown();
    draw_header(app, shown.len(), places.header, frame);
    if shown.is_empty() {
        draw_instead(app, places.headings.union(places.rows), frame);
    } else {
        draw_rows(app, &shown, &places, frame);
    }
    footer::draw(app, None, places.footer, frame);
}

/// Draws the folder, how many recordings there are, how large they are.
fn draw_header(app: &App, shown: usize, area: Rect, frame: &mut Frame<'_>) {
    let library = &app.library;
    let columns = usize::from(area.width);
    let is_live = |row: &&Row| row.standing == Standing::Live;
    let alive = match library.rows.iter().filter(is_live).count() {
        0 => String::new(),
        number => format!("{number} live  "),
    };
    let all = library.rows.len();
    let count = match library.listing {
        Listing::Known if library.narrow.is_empty() => plural(all as u64, "recording"),
        Listing::Known => format!("{shown} of {all} shown"),
        _ => String::new(),
    };
    let order = ORDERS.iter().find(|order| order.0 == library.order);
    let order = order.filter(|order| order.0 != Order::Age);
    let order = order.map_or_else(String::new, |order| format!(" by {}", order.1));
    let total: u64 = library.rows.iter().map(|entry| entry.size).sum();
    let right = format!("{count}{order}  {alive}{} ", size(total));
    let title = " recordings";
    let room = columns.saturating_sub(width(title) + width(&right) + 4);
    let dir = library.dir.to_string_lossy();
    let dir = cut_middle(&escape(&dir), if room < 12 { 0 } else { room });
    let left = vec![
        (Role::Header, title.to_owned()),
        (Role::Faint, format!("  {dir}")),
    ];
    let header = spans::justified(left, vec![(Role::Text, right)], columns);
    frame.render_widget(spans::line(header, app.settings.look), area);
}

fn draw_rows(app: &App, shown: &[&Row], places: &layout::LibraryPlaces, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let room = usize::from(places.rows.width);
    let columns = columns(app, room);
    let at = app.library.cursor.at(&app.library.ids());
    let page = places.page();
    let top = app.library.cursor.top.min(shown.len().saturating_sub(page));
    let is_below = |at: usize| {
        let above = at.checked_sub(1).and_then(|above| shown.get(above));
        above.is_some_and(|above| shown[at].client_side() == Some(&*above.id))
    };
    let visible = shown.iter().enumerate().skip(top).take(page);
    let rows = visible.map(|(at, entry)| {
        let room = [room, columns[NAME_AT].width];
        cells(app, entry, is_below(at), room)
    });
    let rows: Vec<_> = rows.collect();
    let selected = at.checked_sub(top).map(|at| (at, Role::Selected));
    if !places.headings.is_empty() {
        table::headings(look, &columns, places.headings, frame);
    }
    table::rows(look, &columns, &rows, selected, places.rows, frame);
    if let Some(entry) = shown.get(at) {
        draw_about(app, entry, places.about, frame);
    }
}

/// The columns. Nothing of them depends on which recordings are on the screen, so that nothing moves
/// when it is scrolled.
pub fn columns(app: &App, room: usize) -> Vec<Column> {
    let most = if room < WIDE { NAME.0 } else { NAME.1 };
    let rows = app.library.rows.iter();
    let names = rows.clone().map(|row| width(&name(row, most)));
    let wanted = names.max().unwrap_or(0).clamp(NAME.0, NAME.1) - NAME.0;
    let states = rows.map(|row| 2 + width(&state(row).2));
    let (state, state_wide) = if room >= WORDS {
        ("state", states.max().unwrap_or(0).max(6))
    } else {
        ("", 1)
    };
    let calls = if room >= WIDE { 6 } else { 0 };
    let id = if room >= WIDE { 8 } else { 4 };
    let is_any = app.library.rows.iter().any(|row| origin(row).is_some());
    let origin = if room >= WIDE && is_any { 8 } else { 0 };
    let (lasted, size) = if room >= ALL { (8, 8) } else { (0, 0) };
    let mut columns = vec![
        Column::left("", 1, 0),
        Column::left("id", id, 5),
        Column::right("age", 6, 4),
        Column::left("name", NAME.0, 0),
        Column::left("origin", origin, 7),
        Column::flexible("what went wrong", 18, 3),
        Column::left(state, state_wide, 1),
        Column::right("calls", calls, 6),
        Column::right("failed", 7, 2),
        Column::right("lasted", lasted, 8),
        Column::right("size", size, 9),
    ];
    // What is left is for the name and for what went wrong.
    columns[NAME_AT].width += (table::spare(&columns, room) / 2).min(wanted);
    let order = ORDERS.iter().find(|order| order.0 == app.library.order);
    let sorted = columns
        .iter_mut()
        .find(|column| order.is_some_and(|order| order.1 == column.title));
    if let Some(column) = sorted {
        column
            .title
            .push_str(app.settings.look.glyph(Glyph::Unfolded));
    }
    columns
}

/// The title in so many columns; without the server in brackets where that says the same as the name
/// or has no room.
fn name(row: &Row, columns: usize) -> String {
    let (title, name) = (title(row), escape(&row.name));
    let rest = title.strip_prefix(&*name);
    let server = rest.filter(|rest| rest.starts_with(" ("));
    match server {
        Some(server) if server.contains(&*name) || width(&title) > columns => name.into_owned(),
        _ => title,
    }
}

/// The cells of a recording, one for each of the columns, with so much room, and so much for its name. The
/// network side of a bridge stands below the side of its client.
fn cells(app: &App, row: &Row, is_below: bool, [room, name_room]: [usize; 2]) -> table::Cells {
    let look = &app.settings.look;
    let is_selected = app.library.marked.contains(&row.path);
    let mark = if is_selected {
        look.glyph(Glyph::Selected)
    } else {
        ""
    };
    let below = if is_below {
        format!("{} ", look.glyph(Glyph::Child))
    } else {
        String::new()
    };
    let (glyph, role, word) = state(row);
    let state = match room {
        WORDS.. => format!("{} {word}", look.glyph(glyph)),
        _ => look.glyph(glyph).to_owned(),
    };
    let id = row.id.get(..4).filter(|_| room < WIDE).unwrap_or(&row.id);
    let failed = row.summary().map_or(0, |summary| summary.failed);
    let failed = if failed > 0 {
        count(failed)
    } else {
        String::new()
    };
    let calls = row.summary().map(|summary| count(summary.exchanges));
    let lasted = row.summary().map(|summary| clock(summary.t_last_ns));
    let origin = origin(row).unwrap_or_default();
    // Where there is no column for it, what was made from another recording says so first.
    let mut wrong = wrong(row, app.now.wall_ns);
    if room < WIDE && !origin.is_empty() {
        let rest = if wrong.is_empty() { "" } else { "; " };
        wrong = format!("{origin}{rest}{wrong}");
    }
    let columns = [
        (Role::Key, mark.to_owned()),
        (Role::Faint, escape(id).into_owned()),
        (Role::Text, when::age(row.wall_ns, app.now.wall_ns)),
        (Role::Strong, format!("{below}{}", name(row, name_room))),
        (Role::Faint, origin),
        (Role::Text, wrong),
        (role, state),
        (Role::Text, calls.unwrap_or_default()),
        (Role::Bad, failed),
        (Role::Text, lasted.unwrap_or_default()),
        (Role::Text, size(row.size)),
    ];
    columns.map(|cell| vec![cell]).into()
}

fn draw_about(app: &App, entry: &Row, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let columns = usize::from(area.width);
    let [who, how] = about(entry, app.now.wall_ns);
    let role = state(entry).1;
    let mut lines = vec![
        (Role::Border, "─".repeat(columns)),
        (Role::Text, format!(" {who}")),
    ];
    let left = usize::from(area.height).saturating_sub(lines.len()).max(1);
    let mut sentence = wrap(&how, columns.saturating_sub(2));
    if sentence.len() > left {
        let rest = sentence.split_off(left - 1);
        sentence.push(rest.join(" "));
    }
    lines.extend(sentence.into_iter().map(|line| (role, format!(" {line}"))));
    let lines = lines
        .into_iter()
        .map(|line| spans::cut(vec![line], columns));
    spans::draw_lines(look, lines, area, frame);
}

/// Draws the text that stands where there is no recording to be shown.
fn draw_instead(app: &App, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let lines = instead(&app.library).into_iter();
    let lines = lines.map(|(role, text)| Line::styled(text, look.style(role)));
    let text = Paragraph::new(lines.collect::<Vec<_>>()).wrap(Wrap { trim: true });
    frame.render_widget(text, area.inner(Margin::new(1, 0)));
}

fn instead(library: &Shelf) -> Vec<(Role, String)> {
    let dir = library.dir.to_string_lossy();
    let dir = escape(&dir);
    let text = |text: &str| (Role::Text, text.to_owned());
    let command = |command: &str| (Role::Strong, command.to_owned());
    let (begin, wrap) = match library.servers.len() as u64 {
        0 => {
            let by_hand = "put this before the command of a server, wherever its host keeps it:";
            (by_hand.to_owned(), "mcpreel run -- COMMAND")
        }
        count => {
            let servers = plural(count, "server");
            (
                format!("w records a server of a host on this machine, {servers} found:"),
                "mcpreel wrap",
            )
        }
    };
    match &library.listing {
        Listing::Asked => vec![(Role::Faint, format!("reading {dir}"))],
        Listing::Unreadable(error) => vec![
            (Role::Bad, error.clone()),
            text("another folder can be chosen with --dir"),
        ],
        Listing::Known if !library.rows.is_empty() => {
            let all = plural(library.rows.len() as u64, "recording");
            let narrow = escape(&library.narrow);
            vec![
                text(&format!("none of {all} has {narrow}; Esc shows all")),
                text(
                    "this list is searched for words and is:failed; in a recording / takes any filter",
                ),
            ]
        }
        Listing::Known => vec![
            text(&format!("no recordings in {dir}")),
            text(""),
            text("d shows the demo, with nothing else installed:"),
            command("mcpreel demo"),
            text(&begin),
            command(wrap),
        ],
    }
}
