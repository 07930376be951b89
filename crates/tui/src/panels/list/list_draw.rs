//! Drawing the list of exchanges or frames.
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

use super::cells::{Cells, Columns};
pub use super::cells::{arrow, status};
use crate::action::Action;
use crate::app::{App, Focus, Session};
use crate::layout::Arrangement;
use crate::panels::filter::Relaxed;
use crate::panels::list::{List, Row, TimeColumn};
use crate::theme::{Glyph, Look, Role};
use crate::widget::frame as pane;
use crate::worker::Opening;
use crate::{layout, theme};
use mcpreel_lint::Severity;
use mcpreel_share::phrases::when;
use mcpreel_store::library::Standing;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::EventKind;
use mcpreel_trace::item::{Item, ItemKind, Lens, What};
use mcpreel_wire::text::{
    clock, count, cut, cut_middle, duration, escape, pad_end, pad_start, plural, since, size, width,
};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::ops::Range;

/// Two texts in `room` columns; where there is too little, both are cut.
pub(crate) fn with_aside(
    text: &str,
    aside: &str,
    room: usize,
    cut_text: fn(&str, usize) -> String,
) -> String {
    if aside.is_empty() {
        return cut_text(text, room);
    }
    let half = room / 2;
    let left = room.saturating_sub(width(text) + 1).max(half);
    let aside = cut(aside, left);
    let text = cut_text(text, room.saturating_sub(width(&aside) + 1));
    format!("{text} {aside}")
}

/// How much of a bar is full, and how much is left: all of it stands for what is usual. Nothing
/// at all where there is no latency or nothing is usual.
pub(crate) fn bar(latency: Option<u64>, usual: Option<u64>, wide: usize) -> (usize, usize) {
    let (Some(latency), Some(usual)) = (latency, usual.filter(|usual| *usual > 0)) else {
        return (0, 0);
    };
    let part = u128::from(latency) * wide as u128 / u128::from(usual);
    let full = usize::try_from(part).unwrap_or(wide).min(wide);
    (full, wide - full)
}

/// The text in parts, of which some are among `places`.
pub(crate) fn divide<'t>(text: &'t str, places: &[Range<usize>]) -> Vec<(&'t str, bool)> {
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

pub(crate) fn tenths(t: Moment) -> String {
    let mut text = since(t.0);
    text.truncate(text.len() - 2);
    text
}

/// A latency in seven columns: `842 ms`, `13.8 s`, `3m05s`, `2h10m`.
pub(crate) fn short_duration(nanos: u64) -> String {
    const MINUTE: u64 = 60;
    let seconds = nanos / 1_000_000_000;
    match seconds {
        0..MINUTE => duration(nanos),
        _ if seconds < 60 * MINUTE => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

/// What all rows of a picture have in common.
pub(crate) struct Picture<'a> {
    session: &'a Session,
    list: &'a List,
    look: &'a Look,
    columns: Columns,
    now: Moment,
    selected: Option<usize>,
}

impl<'a> Picture<'a> {
    pub fn new(app: &'a App, session: &'a Session, area: Rect) -> Self {
        let list = &session.list;
        let frames = session
            .vitals
            .as_deref()
            .map_or(0, |vitals| vitals.summary.frames);
        let digits = frames.to_string().len();
        let now = session.now(app.now);
        Self {
            session,
            list,
            look: &app.settings.look,
            columns: Columns::fit(usize::from(area.width), digits, time_width(session, now)),
            now,
            selected: list.cursor_row(),
        }
    }

    pub fn heading(&self) -> Line<'static> {
        let columns = &self.columns;
        let mut parts = vec![" ".repeat(columns.signs) + &pad_start("#", columns.seq)];
        if columns.time > 0 {
            parts.push(pad_start(self.list.time.title(), columns.time));
        }
        // The arrow.
        parts.push(" ".to_owned());
        if columns.method > 0 {
            parts.push(pad_end("method", columns.method));
        }
        parts.push(pad_end("what", columns.what));
        let tail = [
            ("size", columns.size),
            ("", columns.bar),
            ("latency", columns.latency),
        ];
        let tail = tail.into_iter().filter(|(_, wide)| *wide > 0);
        parts.extend(tail.map(|(title, wide)| pad_start(title, wide)));
        if columns.status > 1 {
            parts.push("status".to_owned());
        }
        let text = parts.join(" ");
        Line::styled(text, self.look.style(Role::Faint))
    }

    pub fn row(&self, row: Row, before: Option<Row>) -> Line<'static> {
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
                bare.collect::<Line<'_>>()
                    .style(self.look.style(Role::Selected))
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
        let first = match (chosen, mark, note) {
            (true, ..) => Some((Glyph::Selected, Role::Key)),
            (_, true, _) => Some((Glyph::Marked, Role::Warn)),
            (_, _, true) => Some((Glyph::Noted, Role::Warn)),
            _ => None,
        };
        let second = item.and_then(found);
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
        let cells = Cells::of(item, row.run(), self.now, look);
        let style = look.style(cells.role);
        let faint = look.style(Role::Faint);
        if columns.time > 0 {
            let time = pad_start(&self.time(item, before), columns.time);
            spans.push(Span::styled(
                format!(" {}", cut(&time, columns.time)),
                faint,
            ));
        }
        self.method(&cells, style, spans);
        let cut_what = if cells.is_uri { cut_middle } else { cut };
        let whole;
        let what = if columns.method == 0 && !cells.method.is_empty() {
            let last = cells.method.rsplit('/').next().unwrap_or_default();
            whole = format!("{last} {}", cells.what);
            &whole
        } else {
            &cells.what
        };
        let size = cells.size.filter(|_| columns.size > 0).map(size);
        // Where nothing follows there is room for more words: they push the size to the end.
        let is_alone = cells.latency_ns.is_none() && cells.status.is_none();
        let room = columns.room(size.as_deref(), is_alone, width(what));
        let text = with_aside(what, &cells.aside, room, cut_what);
        self.marked(row, &pad_end(&text, room), style, spans);
        if room > columns.what {
            spans.extend(size.map(|size| Span::styled(format!(" {size}"), faint)));
            return;
        }
        if columns.size > 0 {
            let text = pad_start(&size.unwrap_or_default(), columns.size);
            spans.push(Span::styled(format!(" {text}"), faint));
        }
        self.outcome(item, &cells, style, spans);
    }

    /// The arrow, and the method where it has a column.
    fn method(&self, cells: &Cells<'_>, style: Style, spans: &mut Vec<Span<'static>>) {
        let columns = &self.columns;
        let arrow = cells.arrow.map_or(" ", |arrow| self.look.glyph(arrow));
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
    }

    /// The text with what is searched for marked in it; the first letter, where it was found
    /// elsewhere in the row.
    fn marked(&self, row: Row, text: &str, style: Style, spans: &mut Vec<Span<'static>>) {
        let search = &self.session.search;
        if !search.is_hit(row.key()..=row.last()) {
            return spans.push(Span::styled(text.to_owned(), style));
        }
        let mut places = search.places(text.as_bytes()).places;
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
                match start {
                    // When it was is not known; how long after its beginning is.
                    0 => tenths(item.t()),
                    _ => when::clock(start.saturating_add(item.t().0)),
                }
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

/// The sign of the worst that was found in a row. Notes have none: a calm server is worth many,
/// and where there is no colour nothing can be faint.
fn found(item: &Item) -> Option<(Glyph, Role)> {
    let severities = item.findings.iter();
    let severities = severities.filter_map(|finding| Severity::parse(&finding.severity));
    let worst = severities.max().filter(|worst| *worst > Severity::Note);
    worst.map(|worst| theme::severity(worst.as_str()))
}

/// How wide times are: they are alike in a recording.
fn time_width(session: &Session, end: Moment) -> usize {
    match session.list.time {
        TimeColumn::Start => width(&tenths(end)),
        TimeColumn::Delta | TimeColumn::Clock => super::cells::TIME,
    }
}

/// Rows that are looked at for the start of the server: it is among the first.
const LOOKED_AT: usize = 16;

/// Why there are no rows, line by line.
pub fn reasons(app: &App, session: &Session) -> Vec<(Role, String)> {
    match &session.opening {
        Opening::Asked => vec![(Role::Faint, "opening …".to_owned())],
        Opening::Waiting => vec![(Role::Open, "the recorder is starting …".to_owned())],
        Opening::Draining(done, of) => {
            let text = format!(
                "completing the recording from its spool: {} of {}",
                size(*done),
                size(*of)
            );
            vec![(Role::Open, text)]
        }
        Opening::Deriving => {
            vec![(
                Role::Open,
                "deriving exchanges and findings anew …".to_owned(),
            )]
        }
        Opening::Unreadable(message) => vec![
            (Role::Bad, message.clone()),
            (Role::Faint, "q goes back to the recordings".to_owned()),
        ],
        Opening::Open => nothing(app, session),
    }
}

fn nothing(app: &App, session: &Session) -> Vec<(Role, String)> {
    let scan = &session.list.scan;
    if !scan.is_answered || !scan.done && !scan.stopped {
        let text = format!("looking … {} %", scan.percent);
        return vec![(Role::Faint, text)];
    }
    if session.filter.in_force().expr.is_some() {
        return filtered(app, session);
    }
    match session.vitals.as_deref() {
        Some(vitals) if vitals.standing == Standing::Live => {
            vec![(Role::Open, waiting(app, session))]
        }
        _ => vec![(Role::Faint, "nothing was recorded".to_owned())],
    }
}

fn filtered(app: &App, session: &Session) -> Vec<(Role, String)> {
    let scan = &session.list.scan;
    let hidden = scan.total.map_or_else(String::new, |total| {
        format!("; {} hidden", plural(total, "row"))
    });
    let so_far = if scan.stopped {
        format!(" in the {} % that were looked at", scan.percent)
    } else {
        String::new()
    };
    let text = format!("no row fits the filter{so_far}{hidden}");
    let mut lines = vec![(Role::Warn, text)];
    let key = app.settings.keymap.keys(Action::Relax).first().copied();
    let key = key.map_or_else(|| ":relax".to_owned(), |key| key.to_string());
    match &session.filter.relaxed {
        Relaxed::Fits(query) => {
            let text = query.to_string();
            let (fitting, does) = if text.is_empty() {
                (
                    "without a filter there would be rows".to_owned(),
                    "takes it away",
                )
            } else {
                let text = escape(&text);
                (
                    format!("with {text} there would be rows"),
                    "takes that filter",
                )
            };
            lines.push((Role::Text, fitting));
            lines.push((Role::Key, format!("{key} {does}")));
        }
        Relaxed::Nothing => {
            let text = "nothing would fit without one of its conditions either";
            lines.push((Role::Faint, text.to_owned()));
        }
        Relaxed::Unknown | Relaxed::Asked => {}
    }
    lines
}

/// What a session without a message waits for.
pub fn waiting(app: &App, session: &Session) -> String {
    let running = clock(session.now(app.now).0);
    let pid = session.list.index.rows(0, LOOKED_AT).find_map(|row| {
        let item = session.list.cache.get(row.key())?;
        match &item.what {
            What::Event(event) => match event.kind {
                EventKind::Spawned { pid } => Some(pid),
                _ => None,
            },
            _ => None,
        }
    });
    let pid = pid.map_or_else(String::new, |pid| format!(" (pid {pid})"));
    format!("waiting for the first message; the server started {running} ago{pid}")
}

/// Rows of a pane from which on the columns have headings.
const HEADED: u16 = 8;

/// Where the rows are in the pane `area`.
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
    if session.list.is_empty() {
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
    let mut places = rows.rows();
    for row in session.list.visible(page) {
        let Some(place) = places.next() else { break };
        frame.render_widget(picture.row(row, before), place);
        before = Some(row);
    }
    if let (true, Some(place)) = (waits_for_messages(session), places.nth(1)) {
        let columns = usize::from(place.width);
        let text = cut(&format!(" {}", waiting(app, session)), columns);
        frame.render_widget(Line::styled(text, look.style(Role::Open)), place);
    }
}

/// Whether what has come so far is events and stderr only.
fn waits_for_messages(session: &Session) -> bool {
    let waits = session.is_live() && session.list.until.is_none() && !session.filter.is_on();
    let vitals = session.vitals.as_deref();
    waits && vitals.is_some_and(|vitals| vitals.summary.messages == 0)
}

fn foot(session: &Session, look: &Look) -> String {
    let list = &session.list;
    let mut parts = Vec::new();
    if list.fresh > 0 {
        let more = look.glyph(Glyph::More);
        parts.push(format!("{more} {} new", count(list.fresh)));
    }
    if let Some(row) = list.cursor_row() {
        let (at, of) = (row as u64 + 1, list.len() as u64);
        parts.push(format!("{} of {}", count(at), count(of)));
        // The filter above counts what is folded too.
        if list.index.items() > of {
            parts.push("runs are folded".to_owned());
        }
    }
    parts.join(if look.ascii { " - " } else { " · " })
}

fn draw_reasons(app: &App, session: &Session, area: Rect, frame: &mut Frame<'_>) {
    let columns = usize::from(area.width.saturating_sub(2));
    let lines = reasons(app, session);
    for ((role, text), row) in lines.into_iter().zip(area.rows().skip(1)) {
        let style = app.settings.look.style(role);
        let line = Line::styled(format!(" {}", cut(&text, columns)), style);
        frame.render_widget(line, row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_call_is_at_is_seen_beside_words_that_are_cut() {
        let text = |room| with_aside("crawl {site:\"a\"}", "└ 40/100 indexing", room, cut);
        assert_eq!(text(40), "crawl {site:\"a\"} └ 40/100 indexing");
        assert_eq!(text(20), "crawl {s… └ 40/100 …");
        for room in 0..50 {
            assert!(width(&text(room)) <= room.max(1), "{room}");
        }
    }

    #[test]
    fn a_bar_is_full_at_what_is_usual_and_empty_without() {
        assert_eq!(bar(Some(50), Some(100), 6), (3, 3));
        assert_eq!(bar(Some(900), Some(100), 6), (6, 0));
        assert_eq!(bar(Some(900), None, 6), (0, 0));
        assert_eq!(bar(None, Some(100), 6), (0, 0));
        assert_eq!(bar(Some(1), Some(0), 6), (0, 0));
    }

    #[test]
    fn times_fit_their_columns() {
        assert_eq!(tenths(Moment(724_318_000_000)), "12:04.3");
        assert_eq!(short_duration(842_000_000), "842 ms");
        assert_eq!(short_duration(185_000_000_000), "3m05s");
        assert_eq!(short_duration(7_800_000_000_000), "2h10m");
    }
}
