//! The rows on the screen as lines.

use super::cells::Cells;
use super::columns::{self, Columns};
use super::pieces::{bar, divide, short_duration, tenths, with_aside};
use crate::app::list::{List, Row, TimeColumn};
use crate::app::{App, Focus, Session};
use crate::theme::{self, Glyph, Look, Role};
use mcpreel_lint::Severity;
use mcpreel_share::phrases::when;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::item::{Item, ItemKind};
use mcpreel_wire::text::{cut, cut_middle, pad_end, pad_start, size, width};
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// What all rows of a picture have in common.
pub(super) struct Picture<'a> {
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
        TimeColumn::Delta | TimeColumn::Clock => columns::TIME,
    }
}
