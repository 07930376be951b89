//! Drawing the list of exchanges or frames.
//!
//! ```text
//!  ┌ Exchanges ──────────────────────────────────────────────┐
//!  │     #  since   method          what         latency     │
//!  │  1181  12:02.1 → tools/list      14 tools      3 ms  ✓  │
//!  │⚠ 1187  12:04.3 → tools/call      search_docs…  842 ms ✗ │
//!  │  1190  12:04.5 → tools/call      crawl {…}  └ 40/100 …  │
//!  │★ 1191  12:04.6 ← elicitation/…   confirm?      2.1 s …  │
//!  └──────────────────────────────────── ▼ 3 new · 12 of 37 ┘
//! ```
//!
//! Only the rows on the screen are built. A row whose words have not come yet shows its number.

use super::cells::Cells;
use super::{List, Row, TimeColumn};
use crate::action::Action;
use crate::app::{App, Focus, Session};
use crate::panels::filter::Relaxed;
use crate::theme::{Glyph, Look, Role};
use crate::widget::frame as pane;
use crate::widget::spans::{self, Spans};
use crate::worker::Opening;
use crate::{layout, theme};
use mcpreel_lint::Severity;
use mcpreel_share::phrases::when;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::item::{Item, ItemKind, Lens};
use mcpreel_wire::text::{
    clock, count, cut, cut_middle, duration, escape, pad_end, pad_start, plural, since, size, width,
};
use ratatui::Frame;
use ratatui::layout::{Margin, Rect};
use ratatui::text::Line;

/// The columns that there is room for, and how wide they are; 0 for a column that is left out.
#[derive(Clone, Copy, Debug)]
struct Columns {
    seq: usize,
    time: usize,
    method: usize,
    what: usize,
    size: usize,
    bar: usize,
    latency: usize,
    /// The status: a sign, or a sign and a word.
    status: usize,
}

impl Columns {
    /// The columns that fit into `width`, with numbers of up to `digits` digits and times of `time`
    /// columns.
    fn fit(width: usize, digits: usize, time: usize) -> Self {
        let seq = digits.max(4);
        // The least widths hold where numbers have four digits and times eight columns.
        let room = (width + 12).saturating_sub(seq + time);
        let from = |least: usize, wide: usize| if room >= least { wide } else { 0 };
        let mut columns = Self {
            seq,
            time: from(57, time),
            method: match room {
                // `elicitation/create`; a longer one is cut.
                69.. => 18,
                48.. => 14,
                41.. => SHORT,
                _ => 0,
            },
            what: 0,
            size: from(101, 7),
            bar: from(78, 6),
            latency: from(31, 7),
            status: from(93, 15) + 1,
        };
        columns.what = width.saturating_sub(columns.fixed());
        columns
    }

    /// All columns but the words, with the gaps between.
    fn fixed(&self) -> usize {
        let before = [self.time, self.method, self.size];
        let after = [self.bar, self.latency, self.status];
        let gapped = before.into_iter().chain(after).filter(|width| *width > 0);
        // Two signs and a number before them, the arrow with its gaps.
        2 + self.seq + gapped.map(|width| width + 1).sum::<usize>() + 3
    }
}

/// Columns of a method of which only the last part is shown.
const SHORT: usize = 9;

/// The parts that all rows on the screen have in common.
struct Picture<'a> {
    session: &'a Session,
    look: &'a Look,
    columns: Columns,
    now: Moment,
}

impl<'a> Picture<'a> {
    fn new(app: &'a App, session: &'a Session, area: Rect) -> Self {
        let vitals = session.vitals.as_deref();
        let frames = vitals.map_or(0, |vitals| vitals.summary.frames);
        let now = session.now(app.now);
        let time = match session.list.time {
            TimeColumn::Start => width(&tenths(now)),
            TimeColumn::Delta | TimeColumn::Clock => 8,
        };
        let digits = frames.to_string().len();
        Self {
            session,
            look: &app.settings.look,
            columns: Columns::fit(usize::from(area.width), digits, time),
            now,
        }
    }

    fn heading(&self) -> Spans {
        let columns = &self.columns;
        let left = |title, wide| column(wide, Role::Faint, &pad_end(title, wide));
        let right = |title, wide| column(wide, Role::Faint, title);
        let mut line = vec![(Role::Faint, format!("  {}", pad_start("#", columns.seq)))];
        line.extend(right(self.session.list.time.title(), columns.time));
        // The arrow.
        line.extend(right("", 1));
        line.extend(left("method", columns.method));
        line.extend(left("what", columns.what));
        line.extend(right("size", columns.size));
        line.extend(right("", columns.bar));
        line.extend(right("latency", columns.latency));
        line.extend(left("status", columns.status / 2));
        line
    }

    fn row(&self, row: Row, before: Option<Row>) -> Spans {
        let columns = &self.columns;
        let item = self.session.list.cache.get(row.key());
        let seq = match row.kind {
            ItemKind::Event => String::new(),
            _ => row.key().seq.0.to_string(),
        };
        let cells = item.map(|item| Cells::of(item, row.run, self.now));
        let finding = cells.as_ref().and_then(|cells| cells.finding);
        let mut line = self.signs(row, item, finding);
        line.push((Role::Faint, pad_start(&seq, columns.seq)));
        let Some((item, cells)) = item.zip(cells) else {
            line.push((Role::Faint, "  …".to_owned()));
            return line;
        };
        line.extend(column(columns.time, Role::Faint, &self.time(item, before)));
        let role = cells.role;
        let arrow = item.direction();
        let arrow = arrow.map_or(" ", |direction| self.look.glyph(direction.into()));
        let last = cells.method.rsplit('/').next().unwrap_or_default();
        let method = match columns.method {
            0 => String::new(),
            SHORT => pad_end(&cut(last, SHORT), SHORT) + " ",
            wide => pad_end(&cut(&cells.method, wide), wide) + " ",
        };
        line.push((role, format!(" {arrow} {method}")));
        let what = match columns.method {
            0 => format!("{last} {}", cells.what),
            _ => cells.what.clone(),
        };
        // Words of a row with neither latency nor status take the room of both.
        if cells.latency_ns.is_none() && cells.status.is_none() {
            let all = columns.fixed() + columns.what;
            let room = all.saturating_sub(spans::width(&line));
            self.push_words(&mut line, row, role, &self.words(&what, &cells, room));
        } else {
            let words = self.words(&what, &cells, columns.what);
            self.push_words(&mut line, row, role, &words);
            self.push_outcome(&mut line, item, &cells, role);
        }
        line
    }

    /// The words in exactly `room` columns, with the progress at their end.
    fn words(&self, what: &str, cells: &Cells, room: usize) -> String {
        let cut_what = if cells.is_uri { cut_middle } else { cut };
        let Some(progress) = &cells.progress else {
            return pad_end(&cut_what(what, room), room);
        };
        let progress = format!(" {} {progress}", self.look.glyph(Glyph::Child));
        let progress = cut(&progress, room.saturating_sub(width(what)).max(room / 2));
        let what = cut_what(what, room - width(&progress));
        pad_end(&format!("{what}{progress}"), room)
    }

    /// The words with search hits marked in them; the first letter, where the text was found
    /// elsewhere in the row.
    fn push_words(&self, line: &mut Spans, row: Row, role: Role, text: &str) {
        let search = &self.session.search;
        if !search.is_hit(row.key()..=row.last()) {
            return line.push((role, text.to_owned()));
        }
        let mut places = search.places(text.as_bytes()).places;
        if places.is_empty() {
            places.push(0..text.chars().next().map_or(0, char::len_utf8));
        }
        let mut at = 0;
        for place in places {
            let parts = (text.get(at..place.start), text.get(place.clone()));
            if let (Some(before), Some(hit)) = parts {
                line.extend([(role, before.to_owned()), (Role::Hit, hit.to_owned())]);
                at = place.end;
            }
        }
        line.push((role, text[at..].to_owned()));
    }

    /// Selected, marked or noted; the worst finding.
    fn signs(&self, row: Row, item: Option<&Item>, finding: Option<Severity>) -> Spans {
        let annotation = item.and_then(|item| item.annotation.as_ref());
        let first = if self.session.list.to_compare.contains(&row.key()) {
            Some((Glyph::Selected, Role::Key))
        } else if annotation.is_some_and(|annotation| annotation.mark.is_some()) {
            Some((Glyph::Marked, Role::Warn))
        } else {
            let noted = annotation.filter(|annotation| annotation.note.is_some());
            noted.map(|_| (Glyph::Noted, Role::Warn))
        };
        // Notes have no sign: a calm server is worth many.
        let worst = finding.filter(|worst| *worst > Severity::Note);
        let second = worst.map(|worst| theme::severity(worst.as_str()));
        let span = |sign: Option<(Glyph, Role)>| match sign {
            Some((glyph, role)) => (role, pad_end(self.look.glyph(glyph), 1)),
            None => (Role::Text, " ".to_owned()),
        };
        vec![span(first), span(second)]
    }

    /// Adds the size of the messages, the latency of the call and its status.
    fn push_outcome(&self, line: &mut Spans, item: &Item, cells: &Cells, role: Role) {
        let columns = &self.columns;
        let size = cells.size.map(size).unwrap_or_default();
        let usual = item
            .method()
            .and_then(|method| self.session.list.usual.get(method));
        let bar = bar(self.look, cells.latency_ns, usual.copied(), columns.bar);
        let latency = cells.latency_ns.map(short_duration).unwrap_or_default();
        let more = if cells.is_in_vain { ">" } else { "" };
        line.extend(column(columns.size, Role::Faint, &size));
        line.extend(column(columns.bar, role, &pad_end(&bar, columns.bar)));
        line.extend(column(columns.latency, role, &format!("{more}{latency}")));
        if let Some((glyph, role, word)) = cells.status {
            let word = if columns.status > 1 { word } else { "" };
            let text = format!(" {} {word}", self.look.glyph(glyph));
            line.push((role, cut(text.trim_end(), columns.status + 1)));
        }
    }

    fn time(&self, item: &Item, before: Option<Row>) -> String {
        let vitals = self.session.vitals.as_deref();
        let start_ns = vitals.map_or(0, |vitals| vitals.summary.wall_ns);
        match self.session.list.time {
            TimeColumn::Clock if start_ns > 0 => when::clock(start_ns.saturating_add(item.t().0)),
            TimeColumn::Start | TimeColumn::Clock => tenths(item.t()),
            TimeColumn::Delta => {
                let before = before.and_then(|row| self.session.list.cache.get(row.key()));
                let delta = before.map(|before| item.t().0.saturating_sub(before.t().0));
                delta.map_or_else(String::new, |delta| format!("+{}", short_duration(delta)))
            }
        }
    }
}

/// A text at the right end of its column, with the gap before the column.
fn column(wide: usize, role: Role, text: &str) -> Option<(Role, String)> {
    let text = || format!(" {}", pad_start(&cut(text, wide), wide));
    (wide > 0).then(|| (role, text()))
}

/// A bar that is full at the usual latency; empty where nothing is usual.
fn bar(look: &Look, latency: Option<u64>, usual: Option<u64>, wide: usize) -> String {
    let (Some(latency), Some(usual)) = (latency, usual.filter(|usual| *usual > 0)) else {
        return String::new();
    };
    let full = u128::from(latency) * wide as u128 / u128::from(usual);
    let full = usize::try_from(full).unwrap_or(wide).min(wide);
    look.glyph(Glyph::Bar).repeat(full) + &look.glyph(Glyph::Track).repeat(wide - full)
}

fn tenths(t: Moment) -> String {
    let mut text = since(t.0);
    text.truncate(text.len() - 2);
    text
}

/// A latency in seven columns: `842 ms`, `13.8 s`, `3m05s`, `2h10m`.
fn short_duration(nanos: u64) -> String {
    let seconds = nanos / 1_000_000_000;
    match seconds {
        0..60 => duration(nanos),
        60..3600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        _ => format!("{}h{:02}m", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Why there are no rows, line by line.
fn reasons(app: &App, session: &Session) -> Vec<(Role, String)> {
    let (role, text) = match &session.opening {
        Opening::Asked => (Role::Faint, "opening …".to_owned()),
        Opening::Waiting => (Role::Open, "the recorder is starting …".to_owned()),
        Opening::Draining(done, of) => {
            let (done, of) = (size(*done), size(*of));
            let text = format!("completing the recording from its spool: {done} of {of}");
            (Role::Open, text)
        }
        Opening::Deriving => {
            let text = "deriving exchanges and findings anew …";
            (Role::Open, text.to_owned())
        }
        Opening::Unreadable(message) => {
            let back = (Role::Faint, "q goes back to the recordings".to_owned());
            return vec![(Role::Bad, message.clone()), back];
        }
        Opening::Open => {
            let scan = &session.list.scan;
            if !scan.is_answered || scan.is_running() {
                (Role::Faint, format!("looking … {} %", scan.percent))
            } else if session.filter.in_force().expr.is_some() {
                return filtered(app, session);
            } else if session.is_live() {
                (Role::Open, waiting(app, session))
            } else {
                (Role::Faint, "nothing was recorded".to_owned())
            }
        }
    };
    vec![(role, text)]
}

/// Says that the filter hides all rows, and which filter would show some.
fn filtered(app: &App, session: &Session) -> Vec<(Role, String)> {
    let scan = &session.list.scan;
    let mut text = "no row fits the filter".to_owned();
    if scan.stopped {
        text = format!("{text} in the {} % that were looked at", scan.percent);
    }
    if let Some(total) = scan.total {
        text = format!("{text}; {} hidden", plural(total, "row"));
    }
    let mut lines = vec![(Role::Warn, text)];
    let key = app.settings.keymap.keys(Action::Relax).first().copied();
    let key = key.map_or_else(|| ":relax".to_owned(), |key| key.to_string());
    match &session.filter.relaxed {
        Relaxed::Fits(query) => {
            let (fits, does) = match query.to_string() {
                text if text.is_empty() => ("without a filter".to_owned(), "takes it away"),
                text => (format!("with {}", escape(&text)), "takes that filter"),
            };
            lines.push((Role::Text, format!("{fits} there would be rows")));
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

fn waiting(app: &App, session: &Session) -> String {
    let running = clock(session.now(app.now).0);
    format!("waiting for the first message; the server started {running} ago")
}

/// Where the rows are in the pane `area`: within its border, below the headings where there is
/// room for these.
pub fn rows_of(app: &App, area: Rect) -> Rect {
    let border = u16::from(layout::has_borders(app.size));
    let inner = area.inner(Margin::new(border, border));
    let heading = u16::from(area.height >= 8);
    Rect {
        y: inner.y + heading,
        height: inner.height.saturating_sub(heading),
        ..inner
    }
}

pub fn draw(app: &App, session: &Session, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let list = &session.list;
    let rows = rows_of(app, area);
    let focus = session.focus == Focus::Main;
    if layout::has_borders(app.size) {
        let title = match session.lens {
            Lens::Exchanges => "Exchanges",
            Lens::Wire => "Wire",
        };
        pane::draw(look, title, &foot(list, look), focus, area, frame);
    }
    if list.is_empty() {
        let line = |reason| vec![(Role::Text, " ".to_owned()), reason];
        let lines = reasons(app, session).into_iter().map(line);
        let lines = lines.map(|line| spans::cut(line, rows.width.into()));
        let blank = [Spans::new()].into_iter();
        return spans::draw_lines(look, blank.chain(lines), rows, frame);
    }
    let picture = Picture::new(app, session, rows);
    if area.height >= 8 {
        let above = Rect {
            y: rows.y - 1,
            height: 1,
            ..rows
        };
        let heading = spans::line(picture.heading(), *look);
        frame.render_widget(heading.style(look.style(Role::Faint)), above);
    }
    let page = usize::from(rows.height);
    let first = list.first_row(page);
    let mut places = rows.rows();
    for (at, (row, place)) in (first..).zip(list.visible(page).zip(&mut places)) {
        let before = at.checked_sub(1).and_then(|at| list.index.get(at));
        frame.render_widget(spans::line(picture.row(row, before), *look), place);
        let is_selected = list.cursor_row() == Some(at);
        if is_selected && focus {
            spans::draw(look.style(Role::Selected), place, frame);
        } else if is_selected {
            let style = look.style(Role::SelectedElsewhere);
            frame.buffer_mut().set_style(place, style);
        }
    }
    if let (true, Some(place)) = (waits_for_messages(session), places.nth(1)) {
        let text = format!(" {}", waiting(app, session));
        let text = cut(&text, place.width.into());
        frame.render_widget(Line::styled(text, look.style(Role::Open)), place);
    }
}

/// Whether what has come so far is events and stderr only.
fn waits_for_messages(session: &Session) -> bool {
    let waits = session.is_live() && session.list.until.is_none() && !session.filter.is_on();
    let vitals = session.vitals.as_deref();
    waits && vitals.is_some_and(|vitals| vitals.summary.messages == 0)
}

fn foot(list: &List, look: &Look) -> String {
    let more = look.glyph(Glyph::More);
    let fresh = (list.fresh > 0).then(|| format!("{more} {} new", count(list.fresh)));
    let rows = list.len() as u64;
    let at = list.cursor_row();
    let at = at.map(|at| format!("{} of {}", count(at as u64 + 1), count(rows)));
    // The filter above counts what is folded too.
    let folded = list.index.items() > rows && rows > 0;
    let folded = folded.then(|| "runs are folded".to_owned());
    let parts = [fresh, at, folded].into_iter().flatten();
    parts.collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_fill_the_width_and_give_way_in_their_order() {
        let gone = |columns: &Columns| {
            let Columns {
                size,
                bar,
                time,
                method,
                latency,
                ..
            } = *columns;
            [
                size == 0,
                columns.status == 1,
                bar == 0,
                time == 0,
                method == 0,
                latency == 0,
            ]
        };
        for width in 30..300 {
            let columns = Columns::fit(width, 7, 8);
            assert_eq!(columns.fixed() + columns.what, width, "{columns:?}");
            assert!(gone(&columns).is_sorted_by(|a, b| a >= b), "{columns:?}");
        }
    }
}
