//! The list of exchanges or frames.
//!
//! ```text
//!  ┌ Exchanges ──────────────────────────────────────────────┐
//!  │     #  since     method          what            ms  st │
//!  │  1181  12:02.1 → tools/list      14 tools      3 ms  ✓  │
//!  │⚠ 1187  12:04.3 → tools/call      search_docs…  842 ms ✗ │
//!  │  1190  12:04.5 → tools/call      crawl {…}  └ 40/100 …  │
//!  │★ 1191  12:04.6 ← elicitation/…   confirm?      2.1 s …  │
//!  └──────────────────────────────────── ▼ 3 new · 12 of 37 ┘
//! ```
//!
//! Only the rows on the screen are built. A row whose words have not come yet shows its number.

mod cells;
mod columns;
mod empty;
mod rules;

pub use cells::{arrow, status};

use crate::text::{count, cut, cut_middle, duration, pad_end, pad_start, since, size, width};
use crate::trace::clock::Moment;
use crate::trace::item::{Item, ItemKind, Lens};
use crate::tui::app::list::{List, Row, TimeColumn};
use crate::tui::app::{App, Focus, Session};
use crate::tui::layout::{self, Arrangement};
use crate::tui::theme::{Glyph, Look, Role};
use crate::tui::widget::frame as pane;
use crate::words::when;
use cells::Cells;
use columns::Columns;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::ops::Range;

/// Rows of a pane from which on the columns have headings.
const HEADED: u16 = 8;

/// Where the rows are in the pane `area`.
#[must_use]
pub fn rows_of(arrangement: Arrangement, area: Rect) -> Rect {
    let inner = inner_of(arrangement, area);
    let heading = u16::from(area.height >= HEADED).min(inner.height);
    Rect {
        y: inner.y + heading,
        height: inner.height - heading,
        ..inner
    }
}

fn inner_of(arrangement: Arrangement, area: Rect) -> Rect {
    if arrangement == Arrangement::Tiny {
        return area;
    }
    Rect {
        x: area.x + u16::from(area.width > 0),
        y: area.y + u16::from(area.height > 0),
        width: area.width.saturating_sub(2),
        height: area.height.saturating_sub(2),
    }
}

/// Draws it.
pub fn draw(app: &App, session: &Session, area: Rect, frame: &mut Frame<'_>) {
    let arrangement = layout::arrangement(app.size);
    let look = &app.settings.look;
    let rows = rows_of(arrangement, area);
    if arrangement != Arrangement::Tiny {
        let focus = session.focus == Focus::Main;
        let title = match session.lens {
            Lens::Exchanges => "Exchanges",
            Lens::Wire => "Wire",
        };
        let foot = foot(session, look);
        pane::draw(look, title, &foot, focus, area, frame);
    }
    if session.list.index.is_empty() {
        return draw_reasons(app, session, rows, frame);
    }
    let picture = Picture::new(app, session, rows);
    if rows.y > area.y && area.height >= HEADED {
        let heading = Rect {
            y: rows.y - 1,
            height: 1,
            ..rows
        };
        frame.render_widget(picture.heading(), heading);
    }
    let page = usize::from(rows.height);
    let first = session.list.first_row(page);
    let mut before = first
        .checked_sub(1)
        .and_then(|at| session.list.index.get(at));
    for (row, place) in session.list.visible(page).zip(rows.rows()) {
        frame.render_widget(picture.row(row, before), place);
        before = Some(row);
    }
}

/// `▼ 37 new · 12 of 1 204`
fn foot(session: &Session, look: &Look) -> String {
    let list = &session.list;
    let mut parts = Vec::new();
    if list.fresh > 0 {
        let more = look.glyph(Glyph::More);
        parts.push(format!("{more} {} new", count(list.fresh)));
    }
    if let Some(row) = list.cursor_row() {
        let (at, of) = (row as u64 + 1, list.index.len() as u64);
        parts.push(format!("{} of {}", count(at), count(of)));
    }
    parts.join(if look.ascii { " - " } else { " · " })
}

fn draw_reasons(app: &App, session: &Session, area: Rect, frame: &mut Frame<'_>) {
    let columns = usize::from(area.width.saturating_sub(2));
    let lines = empty::reasons(app, session);
    for ((role, text), row) in lines.into_iter().zip(area.rows().skip(1)) {
        let style = app.settings.look.style(role);
        let line = Line::styled(format!(" {}", cut(&text, columns)), style);
        frame.render_widget(line, row);
    }
}

/// What all rows of a picture have in common.
struct Picture<'a> {
    app: &'a App,
    session: &'a Session,
    list: &'a List,
    look: &'a Look,
    columns: Columns,
    now: Moment,
    selected: Option<usize>,
}

impl<'a> Picture<'a> {
    fn new(app: &'a App, session: &'a Session, area: Rect) -> Self {
        let list = &session.list;
        let frames = session
            .vitals
            .as_deref()
            .map_or(0, |vitals| vitals.summary.frames);
        let digits = frames.to_string().len();
        let now = session.now(app.now);
        Self {
            app,
            session,
            list,
            look: &app.settings.look,
            columns: Columns::fit(usize::from(area.width), digits, time_width(session, now)),
            now,
            selected: list.cursor_row(),
        }
    }

    fn heading(&self) -> Line<'static> {
        let columns = &self.columns;
        let mut text = " ".repeat(columns.signs);
        text += &pad_start("#", columns.seq);
        if columns.time > 0 {
            text += &format!(" {}", pad_start(self.list.time.title(), columns.time));
        }
        text += "   ";
        if columns.method > 0 {
            text += &format!("{} ", pad_end("method", columns.method));
        }
        text += &pad_end("what", columns.what);
        if columns.size > 0 {
            text += &format!(" {}", pad_start("size", columns.size));
        }
        text += &" ".repeat(if columns.bar > 0 { columns.bar + 1 } else { 0 });
        if columns.latency > 0 {
            text += &format!(" {}", pad_start("latency", columns.latency));
        }
        if columns.status > 1 {
            text += " status";
        }
        Line::styled(text, self.look.style(Role::Faint))
    }

    fn row(&self, row: Row, before: Option<Row>) -> Line<'static> {
        let columns = &self.columns;
        let item = self.list.cache.get(row.key());
        let seq = match row.kind() {
            ItemKind::Event => String::new(),
            _ => row.key().seq.0.to_string(),
        };
        let faint = self.look.style(Role::Faint);
        let mut spans = self.signs(row, item);
        spans.push(Span::styled(pad_start(&seq, columns.seq), faint));
        match item {
            Some(item) => self.words(item, row, before, &mut spans),
            None => spans.push(Span::styled(
                format!("  {}", self.look.glyph(Glyph::Ellipsis)),
                faint,
            )),
        }
        let used: usize = spans.iter().map(|span| width(&span.content)).sum();
        let whole = columns.whole();
        spans.push(Span::raw(" ".repeat(whole.saturating_sub(used))));
        let is_selected = self.selected.and_then(|at| self.list.index.get(at)) == Some(row);
        match (is_selected, self.session.focus) {
            // Colours turned inside out are hard to read.
            (true, Focus::Main) => {
                let bare = spans.into_iter().map(|span| Span::raw(span.content));
                Line::from_iter(bare).style(self.look.style(Role::Selected))
            }
            (true, Focus::Detail) => {
                Line::from(spans).style(self.look.style(Role::SelectedElsewhere))
            }
            _ => Line::from(spans),
        }
    }

    /// Selected, marked or noted; findings.
    fn signs(&self, row: Row, item: Option<&Item>) -> Vec<Span<'static>> {
        let annotation = item.and_then(|item| item.annotation.as_ref());
        let chosen = self.list.chosen.iter().any(|key| *key == row.key());
        let mark = annotation.is_some_and(|annotation| annotation.mark.is_some());
        let note = annotation.is_some_and(|annotation| annotation.note.is_some());
        let found = item.is_some_and(|item| !item.findings.is_empty());
        let first = match (chosen, mark, note) {
            (true, ..) => Some((Glyph::Selected, Role::Key)),
            (_, true, _) => Some((Glyph::Marked, Role::Warn)),
            (_, _, true) => Some((Glyph::Noted, Role::Warn)),
            _ => None,
        };
        let second = found.then_some((Glyph::Warning, Role::Warn));
        let signs = match self.columns.signs {
            1 => vec![first.or(second)],
            _ => vec![first, second],
        };
        let span = |sign: Option<(Glyph, Role)>| match sign {
            Some((glyph, role)) => {
                Span::styled(pad_end(self.look.glyph(glyph), 1), self.look.style(role))
            }
            None => Span::raw(" "),
        };
        signs.into_iter().map(span).collect()
    }

    fn words(&self, item: &Item, row: Row, before: Option<Row>, spans: &mut Vec<Span<'static>>) {
        let (look, columns) = (self.look, &self.columns);
        let cells = Cells::of(item, row.run(), self.now, look, &self.app.settings.rules);
        let style = cells.paint.style(look);
        let faint = look.style(Role::Faint);
        if columns.time > 0 {
            let time = pad_start(&self.time(item, before), columns.time);
            spans.push(Span::styled(
                format!(" {}", cut(&time, columns.time)),
                faint,
            ));
        }
        let arrow = cells.arrow.map_or(" ", |arrow| look.glyph(arrow));
        spans.push(Span::styled(format!(" {arrow} "), style));
        if columns.method > 0 {
            let method = if columns.short {
                cells.method.rsplit('/').next().unwrap_or_default()
            } else {
                &cells.method
            };
            let method = pad_end(&cut(method, columns.method), columns.method);
            spans.push(Span::styled(format!("{method} "), style));
        }
        let cut_what = if cells.is_uri { cut_middle } else { cut };
        let what = if columns.method == 0 && cells.what.is_empty() {
            &*cells.method
        } else {
            &cells.what
        };
        // Where nothing follows there is room for more words.
        let is_alone = cells.latency_ns.is_none() && cells.status.is_none();
        let has_size = columns.size > 0 && cells.size.is_some();
        let room = if is_alone && !has_size {
            columns.what + columns.after_what()
        } else {
            columns.what
        };
        let what = pad_end(&cut_what(what, room), room);
        self.marked(row, &what, style, spans);
        if room > columns.what {
            return;
        }
        if columns.size > 0 {
            let text = cells.size.map_or_else(String::new, size);
            let text = pad_start(&text, columns.size);
            spans.push(Span::styled(format!(" {text}"), faint));
        }
        self.outcome(item, &cells, style, spans);
    }

    /// The text with what is searched for marked in it; the first letter, where it was found
    /// elsewhere in the row.
    fn marked(&self, row: Row, text: &str, style: Style, spans: &mut Vec<Span<'static>>) {
        let search = &self.session.search;
        if !search.is_hit(row.key()) {
            return spans.push(Span::styled(text.to_owned(), style));
        }
        let mut places = search.places(text.as_bytes());
        if places.is_empty() {
            let first = text.chars().next().map_or(0, char::len_utf8);
            places.push(0..first);
        }
        let hit = style.patch(self.look.style(Role::Hit));
        for piece in divide(text, &places) {
            let (piece, is_hit) = piece;
            let style = if is_hit { hit } else { style };
            spans.push(Span::styled(piece.to_owned(), style));
        }
    }

    /// How long it took and how it ended.
    fn outcome(
        &self,
        item: &Item,
        cells: &Cells<'_>,
        style: Style,
        spans: &mut Vec<Span<'static>>,
    ) {
        let (look, columns) = (self.look, &self.columns);
        if columns.bar > 0 {
            let usual = item.method().and_then(|method| self.list.usual.get(method));
            let (full, rest) = bar(cells.latency_ns, usual.copied(), columns.bar);
            let full = look.glyph(Glyph::Bar).repeat(full);
            let rest = look.glyph(Glyph::Track).repeat(rest);
            let text = pad_end(&format!("{full}{rest}"), columns.bar);
            spans.push(Span::styled(format!(" {text}"), style));
        }
        if columns.latency > 0 {
            let text = cells.latency_ns.map_or_else(String::new, short_duration);
            let text = pad_start(&cut(&text, columns.latency), columns.latency);
            spans.push(Span::styled(format!(" {text}"), style));
        }
        if let Some((glyph, role, word)) = cells.status {
            let glyph = look.glyph(glyph);
            let text = match columns.status {
                1 => format!(" {glyph}"),
                wide => cut(&format!(" {glyph} {word}"), wide + 1),
            };
            spans.push(Span::styled(text, look.style(role)));
        }
    }

    fn time(&self, item: &Item, before: Option<Row>) -> String {
        match self.list.time {
            TimeColumn::Start => tenths(item.t()),
            TimeColumn::Clock => {
                let start = self
                    .session
                    .vitals
                    .as_deref()
                    .map_or(0, |vitals| vitals.summary.wall_ns);
                when::clock(start + item.t().0)
            }
            TimeColumn::Delta => {
                let before = before.and_then(|row| self.list.cache.get(row.key()));
                before.map_or_else(String::new, |before| {
                    let nanos = item.t().since(before.t()).as_nanos();
                    format!(
                        "+{}",
                        short_duration(u64::try_from(nanos).unwrap_or(u64::MAX))
                    )
                })
            }
        }
    }
}

/// How much of a bar is full, and how much is left: all of it stands for what is usual. Nothing
/// at all where there is no latency or nothing is usual.
fn bar(latency: Option<u64>, usual: Option<u64>, wide: usize) -> (usize, usize) {
    let (Some(latency), Some(usual)) = (latency, usual.filter(|usual| *usual > 0)) else {
        return (0, 0);
    };
    let part = u128::from(latency) * wide as u128 / u128::from(usual);
    let full = usize::try_from(part).unwrap_or(wide).min(wide);
    (full, wide - full)
}

/// How wide times are: they are alike in a recording.
fn time_width(session: &Session, end: Moment) -> usize {
    match session.list.time {
        TimeColumn::Start => width(&tenths(end)),
        TimeColumn::Delta | TimeColumn::Clock => columns::TIME,
    }
}

/// The text in parts, of which some are among `places`.
fn divide<'t>(text: &'t str, places: &[Range<usize>]) -> Vec<(&'t str, bool)> {
    let mut parts = Vec::new();
    let mut at = 0;
    for place in places {
        let parts_of = (text.get(at..place.start), text.get(place.clone()));
        if let (Some(before), Some(hit)) = parts_of {
            parts.extend([(before, false), (hit, true)]);
            at = place.end;
        }
    }
    parts.push((text.get(at..).unwrap_or_default(), false));
    parts
}

/// `12:04.3`
fn tenths(t: Moment) -> String {
    let mut text = since(t.0);
    text.truncate(text.len() - 2);
    text
}

/// A latency in seven columns: `842 ms`, `13.8 s`, `3m05s`, `2h10m`.
fn short_duration(nanos: u64) -> String {
    const MINUTE: u64 = 60;
    let seconds = nanos / 1_000_000_000;
    match seconds {
        0..MINUTE => duration(nanos),
        _ if seconds < 60 * MINUTE => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}
