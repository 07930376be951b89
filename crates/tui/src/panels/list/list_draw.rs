//! Drawing the list of exchanges or frames.
//!
//! ```text
//!  ┌ Calls ──────────────────────────────────────────────────┐
//!  │     #   since   call                            latency │
//!  │  1181 12:02.1 → tools/list 14 tools                3 ms ✓│
//!  │! 1187 12:04.3 → search_docs quota exceeded {q:…} 842 ms ✗│
//!  │  1190 12:04.5 → crawl {url:"…"} └ 40/100         >3.0 s …│
//!  │★ 1191 12:04.6 ← elicitation/create confirm?       2.1 s ✓│
//!  └──────────────────────────────────── 3 new ▼ G · 12 of 37 ┘
//! ```
//!
//! Only the rows on the screen are built. A row whose words have not come yet shows its number.

use super::cells::{self, Cells};
use super::{List, Row, TimeColumn};
use crate::action::Action;
use crate::app::{App, Focus, Session};
use crate::panels::filter::Relaxed;
use crate::panels::search::hits::Term;
use crate::theme::{Glyph, Look, Role};
use crate::widget::frame as pane;
use crate::widget::spans::{self, Spans};
use crate::widget::table::{self, Column};
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

/// Columns of a call in which its method is shown with more than its last part.
const METHOD: usize = 24;

/// The places of columns.
pub const TIME: usize = 1;
const CALL: usize = 2;
pub const SIZE: usize = 3;
pub const LATENCY: usize = 4;
pub const STATUS: usize = 6;

/// The columns in a pane of `width` columns, with numbers of up to `digits` digits and times of
/// `time` columns. Half of the pane is for the call before any other column has room.
fn columns(width: usize, title: &str, digits: usize, time: usize) -> Vec<Column> {
    // In a pane of 100 columns there is room for all.
    let call = width / 2 - if width < WIDE { 0 } else { 2 };
    let columns = vec![
        Column::right("#", 2 + digits.max(4), 0),
        Column::right(title, time, 2),
        Column::flexible("  call", call, 0),
        Column::right("size", 7, 4),
        Column::right("latency", 8, 1),
        Column::left("", 1, 0),
        Column::left("status", 14, 3),
    ];
    let gapped = columns
        .into_iter()
        .map(|column| Column { gap: 1, ..column });
    gapped.collect()
}

/// The parts that all rows on the screen have in common.
struct Picture<'a> {
    session: &'a Session,
    look: &'a Look,
    columns: Vec<Column>,
    width: u16,
    /// How wide the column of the call is.
    call: usize,
    /// The heading of the column that gives the order, where there is no room for it.
    hidden_order: Option<String>,
    now: Moment,
}

impl<'a> Picture<'a> {
    fn new(app: &'a App, session: &'a Session, area: Rect) -> Self {
        let vitals = session.vitals.as_deref();
        let frames = vitals.map_or(0, |vitals| vitals.summary.frames);
        let now = session.now(app.now);
        let time = match session.list.time {
            TimeColumn::Start => width(&short_since(now, area.width.into())),
            TimeColumn::Delta | TimeColumn::Clock => 8,
        };
        let digits = frames.to_string().len();
        let mut columns = columns(area.width.into(), session.list.time.title(), digits, time);
        let by = session.list.sorted.as_ref().map(|sorted| sorted.by);
        let mut orders = super::SORTS.iter();
        let order = orders.find(|order| order.0 == by && by.is_some());
        let widths = table::widths(&columns, area.width.into());
        let sign = app.settings.look.glyph(Glyph::Unfolded);
        let hidden_order = order.and_then(|(_, at, ..)| {
            let title = &mut columns[*at].title;
            let order = format!("{title} {sign}");
            title.push_str(sign);
            (widths[*at] == 0).then_some(order)
        });
        Self {
            session,
            look: &app.settings.look,
            width: area.width,
            call: widths[CALL],
            hidden_order,
            columns,
            now,
        }
    }

    fn row(&self, row: Row, before: Option<Row>) -> table::Cells {
        let item = self.session.list.cache.get(row.key());
        let seq = match row.kind {
            ItemKind::Event => String::new(),
            _ => row.key().seq.0.to_string(),
        };
        let cells = item.map(|item| Cells::of(item, row.run, self.now));
        let finding = cells.as_ref().and_then(|cells| cells.finding);
        let mut number = self.signs(row, item, finding);
        let room = self.columns[0].width - 2;
        number.push((Role::Faint, pad_start(&seq, room)));
        let Some((item, cells)) = item.zip(cells) else {
            let reading = vec![(Role::Faint, "…".to_owned())];
            return vec![number, vec![], reading];
        };
        let size = cells.size.map(size).unwrap_or_default();
        let latency = cells.latency_ns.map(short_duration).unwrap_or_default();
        let more = if cells.is_in_vain { ">" } else { "" };
        let status = cells.status.map(|(glyph, role, word)| {
            let glyph = self.look.glyph(glyph).to_owned();
            [(role, glyph), (role, word.to_owned())]
        });
        let [sign, word] = status.map_or([vec![], vec![]], |both| both.map(|one| vec![one]));
        vec![
            number,
            vec![(Role::Faint, self.time(item, before))],
            self.call(row, item, &cells),
            vec![(Role::Faint, size)],
            vec![(cells.role, format!("{more}{latency}"))],
            sign,
            word,
        ]
    }

    /// The arrow, the name of the call, why it failed, and what it was asked, with the progress at
    /// the end: a name is cut last.
    fn call(&self, row: Row, item: &Item, cells: &Cells) -> Spans {
        let role = cells.role;
        let arrow = item.direction();
        let arrow = arrow.map_or(" ", |direction| self.look.glyph(direction.into()));
        let last = cells.name.rsplit('/').next().unwrap_or_default();
        let is_short = self.call < METHOD && !cells.is_uri;
        let name = if is_short { last } else { &cells.name };
        let plain = role == Role::Text;
        let name_role = if plain { Role::Strong } else { role };
        let about_role = if cells.status.is_some() {
            Role::Faint
        } else {
            role
        };
        let mut line = vec![(role, format!("{arrow} ")), (name_role, name.to_owned())];
        let room = self.call.saturating_sub(spans::width(&line) + 1);
        let reason = cells.reason.as_ref();
        let reason = reason.map(|reason| cells::told(reason, room));
        line.extend(reason.map(|reason| (role, format!(" {reason}"))));
        let room = self.call.saturating_sub(spans::width(&line) + 1);
        let cut_about = if cells.is_uri { cut_middle } else { cut };
        let progress = cells
            .progress
            .as_ref()
            .map_or_else(String::new, |progress| {
                let progress = format!(" {} {progress}", self.look.glyph(Glyph::Child));
                cut(
                    &progress,
                    room.saturating_sub(width(&cells.about)).max(room / 2),
                )
            });
        let about = cut_about(&cells.about, room - width(&progress));
        line.push((about_role, format!(" {about}{progress}")));
        self.marked(row, spans::cut(line, self.call))
    }

    /// The words with search hits marked in them; a sign at their end, where the text was found in what is
    /// not shown.
    fn marked(&self, row: Row, mut line: Spans) -> Spans {
        let search = &self.session.search;
        let is_hit = search.is_hit(row.key()..=row.last());
        if search.term.is_some() && !is_hit {
            return line;
        }
        let hits = |text: &str| Term::places(self.session.sought(), text.as_bytes()).places;
        if is_hit && line.iter().all(|(_, text)| hits(text).is_empty()) {
            line.push((Role::Text, " …".to_owned()));
            let mut line = spans::cut(line, self.call);
            line.last_mut().map(|(_, text)| text.pop());
            line.push((Role::Hit, "…".to_owned()));
            return line;
        }
        let mut marked = Spans::new();
        for (role, text) in line {
            let places = hits(&text);
            marked.extend(spans::divide(text.as_bytes(), 0..text.len(), &places, role));
        }
        marked
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

    fn time(&self, item: &Item, before: Option<Row>) -> String {
        let vitals = self.session.vitals.as_deref();
        let start_ns = vitals.map_or(0, |vitals| vitals.summary.wall_ns);
        match self.session.list.time {
            TimeColumn::Clock if start_ns > 0 => when::clock(start_ns.saturating_add(item.t().0)),
            TimeColumn::Start | TimeColumn::Clock => short_since(item.t(), self.width.into()),
            TimeColumn::Delta => {
                let before = before.and_then(|row| self.session.list.cache.get(row.key()));
                let delta = before.map(|before| item.t().0.saturating_sub(before.t().0));
                delta.map_or_else(String::new, |delta| format!("+{}", short_duration(delta)))
            }
        }
    }
}

/// Columns of a pane that has room for thousandths of a second.
const WIDE: usize = 60;

/// In tenths of a second, where `columns` have no room for thousandths.
fn short_since(t: Moment, columns: usize) -> String {
    let mut text = since(t.0);
    text.truncate(text.len() - if columns < WIDE { 2 } else { 0 });
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
    let mut text = "no rows match the filter".to_owned();
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
            let does = match query.to_string() {
                text if text.is_empty() => "removes the filter".to_owned(),
                text => format!("filters by {} instead, which some rows fit", escape(&text)),
            };
            lines.push((Role::Key, format!("{key} {does}")));
        }
        Relaxed::Nothing => {
            let text = "no row would fit either if one of its conditions were left out";
            lines.push((Role::Faint, text.to_owned()));
        }
        Relaxed::Unknown | Relaxed::Asked => {}
    }
    let failed = session.vitals.as_deref().map(|it| it.summary.failed);
    let key = app.settings.keymap.keys(Action::Failures).first().copied();
    if let (Some(failed @ 1..), Some(key)) = (failed, key) {
        let text = format!(
            "{key} shows what failed, {}: is:failed",
            plural(failed, "row")
        );
        lines.push((Role::Key, text));
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

/// The column whose heading, above the rows in `rows`, is at a cell of the screen.
pub fn heading_at(app: &App, session: &Session, rows: Rect, cell: (u16, u16)) -> Option<usize> {
    let above = Rect {
        y: rows.y.checked_sub(1)?,
        ..rows
    };
    table::heading_at(&Picture::new(app, session, rows).columns, above, cell)
}

pub fn draw(app: &App, session: &Session, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let list = &session.list;
    let rows = rows_of(app, area);
    let focus = session.focus == Focus::Main;
    let picture = Picture::new(app, session, rows);
    if layout::has_borders(app.size) {
        let mut title = match session.lens {
            Lens::Exchanges => "Calls".to_owned(),
            Lens::Wire => "Wire".to_owned(),
        };
        if let Some(order) = &picture.hidden_order {
            title = format!("{title} by {order}");
        }
        pane::draw(look, &title, &foot(app, list), focus, area, frame);
    }
    if list.is_empty() {
        let line = |reason| vec![(Role::Text, " ".to_owned()), reason];
        let lines = reasons(app, session).into_iter().map(line);
        let lines = lines.map(|line| spans::cut(line, rows.width.into()));
        let blank = [Spans::new()].into_iter();
        return spans::draw_lines(look, blank.chain(lines), rows, frame);
    }
    if rows.height < area.height.saturating_sub(2) {
        let above = Rect {
            y: rows.y - 1,
            height: 1,
            ..rows
        };
        table::headings(look, &picture.columns, above, frame);
    }
    let page = usize::from(rows.height);
    let first = list.first_row(page);
    let lines = (first..).zip(list.visible(page)).map(|(at, row)| {
        let before = at.checked_sub(1).and_then(|at| list.row(at));
        picture.row(row, before)
    });
    let lines: Vec<_> = lines.collect();
    let at = list.cursor_row().and_then(|at| at.checked_sub(first));
    let selected = at.map(|at| (at, Role::selected(focus)));
    table::rows(look, &picture.columns, &lines, selected, rows, frame);
    for (nth, (line, row)) in lines.iter().zip(rows.rows()).enumerate() {
        let role = line[CALL].first().map_or(Role::Text, |(role, _)| *role);
        let ground = look.ground(role).filter(|_| at != Some(nth));
        if let Some(ground) = ground {
            frame.buffer_mut().set_style(row, ground);
        }
    }
    let place = rows.rows().nth(lines.len() + 1);
    if let (true, Some(place)) = (waits_for_messages(session), place) {
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

/// `42 new ▼ G · 9 of 37`
fn foot(app: &App, list: &List) -> String {
    let more = app.settings.look.glyph(Glyph::More);
    let key = app.settings.keymap.keys(Action::Bottom).first().copied();
    let key = key.map_or_else(String::new, |key| format!(" {key}"));
    let fresh = (list.fresh > 0).then(|| format!("{} new {more}{key}", count(list.fresh)));
    let rows = list.len() as u64;
    let at = list.cursor_row();
    let at = at.map(|at| format!("{} of {}", count(at as u64 + 1), count(rows)));
    // The filter above counts what is folded too.
    let folded = list.index.items() > rows && rows > 0 && list.sorted.is_none();
    let folded = folded.then(|| "runs are folded".to_owned());
    let parts = [fresh, at, folded].into_iter().flatten();
    parts.collect::<Vec<_>>().join(" · ")
}
