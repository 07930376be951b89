//! The recordings of the folder: the first screen.
//!
//! ```text
//!  recordings  /home/ada/.local/share/mcpreel/recordings             12 recordings  1 live  34 MB
//!     STATE          STARTED           SERVER                HOST      DURATION  EXCHANGES    SIZE
//!     ● live         2026-11-20 15:17  weather-server 1.4.0  claude    00:12:31      1 204    2 MB
//!  ◆  ✗ SIGKILL      2026-11-20 14:02  npx -y server-files   claude    00:00:07         12   90 kB
//!  ──────────────────────────────────────────────────────────────────────────────────────────────
//!  7f3a9c21 weather-server; npx -y weather-server --units metric
//!  being recorded, pid 4711
//!                                          ? help  Enter open  / narrow  q quit  n note  D delete
//! ```

use super::prompt::{Prompt, Purpose};
use super::shelf::{Listing, Row};
use crate::action::Action;
use crate::app::{App, Viewer};
use crate::effect::{Answer, Ask, Effects};
use crate::layout;
use crate::panels::footer;
use crate::panels::menu::{Entry as Item, Menu};
use crate::theme::{Glyph, Look, Role};
use crate::widget::cursor::moved;
use crate::widget::spans;
use crate::widget::table::{self, Cell, Column};
use mcpreel_share::phrases::recording::{self, host};
use mcpreel_share::phrases::{self, sentence, when};
use mcpreel_store::annotate;
use mcpreel_store::library::{Details, Entry, Standing, retention};
use mcpreel_store::reader::Summary;
use mcpreel_store::schema::State;
use mcpreel_trace::session::End;
use mcpreel_wire::text::{
    clock, count, cut, cut_middle, escape, pad_end, plural, size, width, wrap,
};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use std::path::Path;

/// The time between two lists of the folder, nanoseconds.
const EVERY_NS: u64 = 1_000_000_000;

/// From so many columns on there is room for dates, and for words of state.
const DATES: usize = 120;
const WORDS: usize = 46;

/// The least and the most columns of the server's name.
const SERVER: (usize, usize) = (16, 40);

/// The name of a recording's file, escaped.
pub fn file_name(path: &Path) -> String {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    escape(&file).into_owned()
}

pub fn perform(viewer: &mut Viewer, action: Action) -> Option<Effects> {
    let app = &mut viewer.app;
    match action {
        Action::Open => return Some(open(viewer)),
        Action::Narrow => {
            let prompt = Prompt::new(Purpose::Narrow, &app.library.narrow);
            app.push(prompt);
        }
        Action::Close if !app.library.narrow.is_empty() => return Some(narrow(app, "")),
        Action::RecordingNote => ask_note(app),
        Action::Delete => ask_delete(app),
        _ => {
            let shown = app.library.shown();
            let page = layout::library(app.size).page();
            let at = moved(action, app.library.at(&shown), shown.len(), page)?;
            go(app, at);
        }
    }
    Some(vec![])
}

fn open(viewer: &mut Viewer) -> Effects {
    let app = &mut viewer.app;
    let Some(row) = app.library.current() else {
        return vec![];
    };
    let path = row.entry.path.clone();
    app.library.selected = Some(path.clone());
    app.library.listed = None;
    super::session::open(viewer, &path, None)
}

/// The cursor goes to the row `at` of those that are shown.
fn go(app: &mut App, at: usize) {
    if let Some(row) = app.library.shown().get(at) {
        app.library.selected = Some(row.entry.path.clone());
        uncover(app, at);
    }
}

/// A click selects a row, a second one opens it.
pub fn click(viewer: &mut Viewer, y: u16, double: bool) -> Effects {
    let app = &mut viewer.app;
    let places = layout::library(app.size);
    let first = app
        .library
        .top_showing(app.library.at(&app.library.shown()), places.page());
    go(app, first + usize::from(y.saturating_sub(places.rows.y)));
    if double { open(viewer) } else { vec![] }
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
    app.push(prompt);
}

/// Asks whether it is meant, and says what goes. The cursor is on the answer that does no harm.
fn ask_delete(app: &mut App) {
    let Some(row) = app.library.current() else {
        return;
    };
    let entry = row.entry.as_ref();
    if entry.standing == Standing::Live {
        let text = "it is being recorded: only what has ended can be deleted";
        return app.notices.error(text, app.now);
    }
    let mut known = vec![size(entry.size)];
    if let Some(summary) = entry.summary() {
        known.push(plural(summary.exchanges, "exchange"));
        known.push(plural(summary.frames, "frame"));
    }
    let mut text = vec![file_name(&entry.path), known.join(", ")];
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
    let path = entry.path.clone();
    let selected = Some(path.clone());
    let entries = vec![
        Item::nothing('n', "no, keep it"),
        Item::new('y', "yes, delete it", move |_| {
            vec![Ask::Change(Box::new(move || delete(&path))).into()]
        }),
    ];
    app.library.selected = selected;
    app.push(Menu {
        text: text.into_iter().map(|text| (Role::Text, text)).collect(),
        ..Menu::new("delete this recording?", entries)
    });
}

/// The folder cannot be read.
pub fn unreadable(app: &mut App, error: String) -> Effects {
    app.library.listing = Listing::Unreadable(error);
    app.library.rows.clear();
    was_listed(app);
    vec![]
}

fn was_listed(app: &mut App) {
    app.library.listed = Some(app.now);
    app.library.is_asked = false;
}

/// Takes the recordings in. The one under the cursor stays where it is on the screen, whatever
/// has come or gone above it.
pub fn listed(app: &mut App, rows: Vec<Row>) -> Effects {
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
    vec![]
}

/// Time has passed: the folder is looked at again.
pub fn tick(app: &mut App) -> Effects {
    let library = &app.library;
    let is_due = library
        .listed
        .is_none_or(|listed| app.now.ui_ns.saturating_sub(listed.ui_ns) >= EVERY_NS);
    if library.is_asked || !is_due {
        return vec![];
    }
    begin(app)
}

pub fn begin(app: &mut App) -> Effects {
    app.library.is_asked = true;
    vec![Ask::List.into()]
}

/// The text that narrows the list has changed.
pub fn narrowed(app: &mut App) -> Effects {
    let Some(prompt) = app.top::<Prompt>() else {
        return vec![];
    };
    let text = prompt.input.value().to_owned();
    narrow(app, &text)
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
    let path = row.entry.path.clone();
    let note = Some(text.trim()).filter(|text| !text.is_empty());
    let note = note.map(str::to_owned);
    let write = move || {
        let done = match note {
            Some(_) => "noted; the recording is never pruned",
            None => "the note was removed",
        };
        match annotate::set_note(&path, None, note.as_deref()) {
            Ok(()) => changed(done.to_owned()),
            Err(error) => Answer::failed(sentence(&error)),
        }
    };
    vec![Ask::Change(Box::new(write)).into()]
}

/// Deletes it as `prune` does, if nobody records; a person has confirmed it.
fn delete(path: &Path) -> Answer {
    let name = file_name(path);
    match retention::delete(path) {
        Ok(true) => changed(format!("{name} was deleted")),
        Ok(false) => Answer::failed(format!("{name} is being recorded, so it stays")),
        Err(error) => Answer::failed(format!("could not delete {name}: {}", sentence(&error))),
    }
}

/// A recording was changed: the folder is listed anew.
fn changed(told: String) -> Answer {
    Answer::new(|viewer| {
        let app = &mut viewer.app;
        app.notices.success(told, app.now);
        begin(app)
    })
}

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
    let live = library.rows.iter().filter(|row| is_live(row)).count();
    let alive = match live {
        0 => String::new(),
        number => format!("{number} live  "),
    };
    let count = match (library.listing == Listing::Known, library.narrow.is_empty()) {
        (false, _) => String::new(),
        (true, true) => plural(library.rows.len() as u64, "recording"),
        (true, false) => format!("{shown} of {} shown", library.rows.len()),
    };
    let total: u64 = library.rows.iter().map(|row| row.entry.size).sum();
    let right = format!("{count}  {alive}{} ", size(total));
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

fn draw_rows(app: &App, shown: &[&Row], places: &layout::Shelf, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let (columns, cells): (Vec<_>, Vec<_>) = columns(app, usize::from(places.rows.width))
        .into_iter()
        .unzip();
    let at = app.library.at(shown);
    let top = app.library.top_showing(at, places.page());
    let visible = shown.iter().skip(top).take(places.page());
    let rows: Vec<_> = visible
        .map(|row| cells.iter().map(|cell| cell(row)).collect())
        .collect();
    let selected = at.checked_sub(top).map(|at| (at, Role::Selected));
    if !places.headings.is_empty() {
        table::headings(look, &columns, places.headings, frame);
    }
    table::rows(look, &columns, &rows, selected, places.rows, frame);
    if let Some(row) = shown.get(at) {
        draw_about(app, &row.entry, places.about, frame);
    }
}

fn is_live(row: &Row) -> bool {
    row.entry.standing == Standing::Live
}

/// The cell of a column for a recording.
type Told<'a> = Box<dyn Fn(&Row) -> Cell + 'a>;

/// The columns that the recordings have something for and that fit into `room` columns. Nothing of
/// it depends on which recordings are on the screen, so that nothing moves when it is scrolled.
fn columns(app: &App, room: usize) -> Vec<(Column, Told<'_>)> {
    let rows = &app.library.rows;
    let any = |is: fn(&Row) -> bool| rows.iter().any(is);
    let widest = |text: fn(&Entry) -> String| {
        let widths = rows.iter().map(|row| width(&text(&row.entry)));
        widths.max().unwrap_or(0)
    };
    let left = |title: &str, width, rank| Column {
        flexible: false,
        ..Column::flexible(title, width, rank)
    };
    let right = Column::right;
    let look = &app.settings.look;
    let now = app.now.wall_ns;
    let (has_dates, has_words) = (room >= DATES, room >= WORDS);
    let chosen = |row: &Row| {
        if app.library.chosen.contains(&row.entry.path) {
            Cell::new(Role::Key, look.glyph(Glyph::Selected))
        } else {
            Cell::new(Role::Text, "")
        }
    };
    let state = move |row: &Row| {
        let (glyph, role, word) = state(&row.entry);
        let word = if has_words { &*word } else { "" };
        Cell::new(role, format!("{} {word}", look.glyph(glyph)).trim_end())
    };
    let started = move |entry: &Entry| {
        if has_dates {
            when::short(entry.wall_ns)
        } else {
            when::near(entry.wall_ns, now)
        }
    };
    let host_of = |entry: &Entry| host(entry).unwrap_or_default();
    let (state_title, state_wide) = if has_words { ("STATE", 13) } else { ("", 1) };
    let host_wide = widest(host_of).clamp(8, 24);
    let mut columns: Vec<(Column, Told<'_>)> = vec![
        (left("", 1, 0), Box::new(chosen)),
        (left(state_title, state_wide, 1), Box::new(state)),
        (
            left("STARTED", if has_dates { 16 } else { 7 }, 2),
            told(started),
        ),
        (
            left("SERVER", SERVER.0, 0),
            Box::new(|row| Cell::new(Role::Strong, title(&row.entry))),
        ),
    ];
    if any(|row| host(&row.entry).is_some()) {
        columns.push((left("HOST", host_wide, 10), told(host_of)));
    }
    let lasted = move |entry: &Entry| entry.lasted_ns(now).map(clock).unwrap_or_default();
    columns.push((right("DURATION", 8, 4), told(lasted)));
    if any(is_live) {
        let cell = |row: &Row| Cell::new(Role::Text, row.rate.map(rate).unwrap_or_default());
        columns.push((right("RATE", 8, 5), Box::new(cell)));
    }
    columns.extend([
        (
            right("EXCHANGES", 9, 6),
            number(Role::Text, |summary| Some(summary.exchanges)),
        ),
        (
            right("FAILED", 6, 3),
            number(Role::Bad, |summary| more_than_none(summary.failed)),
        ),
        (
            right("FINDINGS", 8, 9),
            number(Role::Warn, |summary| more_than_none(summary.findings)),
        ),
        (right("SIZE", 8, 8), told(|entry| size(entry.size))),
    ]);
    if any(|row| !note_of(&row.entry).is_empty()) {
        columns.push((Column::flexible("NOTE", 12, 7), told(note_of)));
    }
    // The name of the server takes what is left before the note does.
    let all: Vec<_> = columns.iter().map(|(column, _)| column.clone()).collect();
    let wanted = widest(title).clamp(SERVER.0, SERVER.1) - SERVER.0;
    columns[3].0.width += table::spare(&all, room).min(wanted);
    columns
}

fn told<'a>(text: impl Fn(&Entry) -> String + 'a) -> Told<'a> {
    Box::new(move |row| Cell::new(Role::Text, text(&row.entry)))
}

fn number(role: Role, number: fn(&Summary) -> Option<u64>) -> Told<'static> {
    Box::new(move |row| {
        let number = row.entry.summary().and_then(number);
        Cell::new(role, number.map(count).unwrap_or_default())
    })
}

fn more_than_none(number: u64) -> Option<u64> {
    (number > 0).then_some(number)
}

/// The state of a recording, or its end where all of it is there. Missing bytes come first: nobody is to
/// take the rest for the whole.
fn state(entry: &Entry) -> (Glyph, Role, String) {
    let word = entry.state().to_owned();
    let summary = entry.summary();
    let gap = summary.map_or(0, |summary| summary.gap_bytes);
    let is_whole = summary.is_some_and(|summary| summary.state == State::Complete);
    match (entry.standing, entry.end()) {
        (Standing::Live, _) if gap > 0 => (Glyph::Warning, Role::Warn, "live, gap".to_owned()),
        (Standing::Live, _) => (Glyph::Live, Role::Good, word),
        (Standing::Finished, _) if gap > 0 => {
            (Glyph::Warning, Role::Warn, format!("gap {}", size(gap)))
        }
        (Standing::Unreadable, _) => (Glyph::Failed, Role::Bad, word),
        (Standing::Finished, Some(end)) if is_whole => {
            let ended = phrases::end_short(end);
            match end {
                End::Exited { code: 0 } => (Glyph::Ended, Role::Faint, ended),
                End::Unknown => (Glyph::Warning, Role::Warn, ended),
                _ => (Glyph::Failed, Role::Bad, ended),
            }
        }
        _ => (Glyph::Warning, Role::Warn, word),
    }
}

fn title(entry: &Entry) -> String {
    recording::title(entry).unwrap_or_else(|| file_name(&entry.path))
}

/// The origin of a recording that is no plain session, why it cannot be read, its notes.
fn note_of(entry: &Entry) -> String {
    let mut notes: Vec<_> = recording::origin(entry).into_iter().collect();
    if let Details::Unreadable(error) = &entry.details {
        // The name of the file stands in the row already.
        let sentence = phrases::sentence(error);
        let file = entry.path.display().to_string();
        let why = sentence.strip_prefix(&file).unwrap_or(&sentence);
        notes.push(why.trim_start().to_owned());
    }
    notes.extend(recording::notes(entry));
    notes.join("; ")
}

/// `12/s`; of the slow ones with a decimal.
fn rate(per_second: f64) -> String {
    match per_second {
        none if none <= 0.0 => "idle".to_owned(),
        slow if slow < 10.0 => format!("{slow:.1}/s"),
        fast => format!("{fast:.0}/s"),
    }
}

/// More about the recording under the cursor: who spoke to it, what was started, how it stands,
/// what is missing, what somebody wrote.
fn draw_about(app: &App, entry: &Entry, area: Rect, frame: &mut Frame<'_>) {
    let look: &Look = &app.settings.look;
    let columns = usize::from(area.width);
    let mut who = vec![format!("{} {}", escape(&entry.id), escape(&entry.name))];
    let mut how = vec![standing(entry)];
    if let Some(summary) = entry.summary() {
        let client = phrases::peer(&summary.session.client);
        who.extend(client.map(|client| format!("for {client}")));
        how.extend(summary.parent.as_ref().map(|parent| {
            let (origin, parent) = (escape(&summary.origin), escape(parent));
            format!("{origin} of {parent}; P compares them")
        }));
        if summary.gap_bytes > 0 {
            let missing = size(summary.gap_bytes);
            how.push(format!(
                "gap: {missing} were forwarded and are not on record"
            ));
        }
        let note = summary.note.as_ref();
        how.extend(note.map(|note| format!("note: {}", escape(note))));
    }
    let context = entry.context();
    who.extend(context.map(|context| phrases::command(&context.argv)));
    let role = match entry.standing {
        Standing::Unreadable => Role::Bad,
        Standing::Finished | Standing::Live => Role::Faint,
        _ => Role::Warn,
    };
    let lines = [
        (Role::Border, look.border().horizontal_top.repeat(columns)),
        (Role::Text, format!(" {}", who.join("; "))),
        (role, format!(" {}", how.join("; "))),
    ];
    for ((role, text), area) in lines.into_iter().zip(area.rows()) {
        frame.render_widget(Line::styled(cut(&text, columns), look.style(role)), area);
    }
}

fn standing(entry: &Entry) -> String {
    let end = || entry.end().map(phrases::end).unwrap_or_default();
    let text = match (entry.standing, &entry.details) {
        (_, Details::Unreadable(error)) => return phrases::sentence(error),
        (Standing::Live, _) => "being recorded",
        (Standing::Pending, _) => {
            "the session is over; the rest of it is indexed when it is opened"
        }
        (Standing::Interrupted, _) => {
            "the recorder was killed; what its spool still holds is added when it is opened"
        }
        (Standing::Cut, _) => "a copy that was made while it was recorded: it may be short",
        (_, Details::Recorded(summary)) if summary.state == State::Recovered => {
            let end = end();
            return format!("the recorder was killed, and it was completed from its spool; {end}");
        }
        _ => return end(),
    };
    text.to_owned()
}

/// Draws the text that stands where there is no recording to be shown.
fn draw_instead(app: &App, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let room = usize::from(area.width).saturating_sub(2);
    let mut lines = Vec::new();
    for (role, text) in instead(&app.library) {
        let indent = text.len() - text.trim_start().len();
        let mut wrapped = wrap(text.trim_start(), room.saturating_sub(indent));
        if wrapped.is_empty() {
            wrapped.push(String::new());
        }
        let wrapped = wrapped.into_iter();
        lines.extend(wrapped.map(|line| (role, pad_end("", indent) + &line)));
    }
    for ((role, line), area) in lines.into_iter().zip(area.rows()) {
        let line = format!(" {}", cut(&line, room));
        frame.render_widget(Line::styled(line, look.style(role)), area);
    }
}

fn instead(library: &super::shelf::Library) -> Vec<(Role, String)> {
    let dir = library.dir.to_string_lossy();
    let dir = escape(&dir);
    let text = |text: &str| (Role::Text, text.to_owned());
    match &library.listing {
        Listing::Asked => vec![(Role::Faint, format!("reading {dir}"))],
        Listing::Unreadable(error) => vec![
            (Role::Bad, error.clone()),
            text("another folder can be chosen with --dir"),
        ],
        Listing::Known if !library.rows.is_empty() => {
            let all = plural(library.rows.len() as u64, "recording");
            let narrow = escape(&library.narrow);
            vec![text(&format!("none of {all} has {narrow}; Esc shows all"))]
        }
        Listing::Known => vec![
            text(&format!("no recordings in {dir}")),
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
