//! Counts and latencies.
//!
//! ```text
//!  most open at once 3   waited for the server 12.1 s (without 2 unanswered), for the client 1.6 s
//!  method, tool            count▾ failed     p50     p95     max   │ get_forecast
//!  all calls of the client    12     17%   19 ms  1.2 s    1.7 s   │   ≤ 20 ms ████████ 3
//!  → tools/call                9     22%   74 ms  1.2 s    1.7 s   │   ≤ 50 ms ███ 1
//!    └ get_forecast            6     33%   74 ms  181 ms  181 ms   │ slowest
//!  ← elicitation/create        1          907 ms  907 ms  907 ms   │   1.7 s  #42 plan_trip
//! ```
//!
//! What stands right of the table is below it where there is less room. With a filter only what
//! fits is counted, and the title says how much that is.

pub mod counting;

use crate::action::Action;
use crate::app::{App, Focus, Session, View};
use crate::effect::Effects;
use crate::layout;
use crate::panels::filter::{self, all_of, conditions};
use crate::theme::{Glyph, Look, Role};
use crate::widget::frame;
use crate::widget::table::{self, Cell, Column};
use crate::worker::job::Slot;
use counting::Counting;
pub use counting::{Figures, RowId, Sort, Stats};
use mcpreel_trace::query::Query;
use mcpreel_trace::query::ast::{Expr, Field, Op, Subject, Value};
use mcpreel_trace::stats::{Bucket, Latency, Row};
use mcpreel_wire::message::Direction;
use mcpreel_wire::text::{
    clock, count, cut, duration, escape, pad_end, pad_start, plural, size, width,
};
use ratatui::Frame;
use ratatui::layout::{Margin, Rect};
use ratatui::text::{Line, Span};

/// The figures on the screen change at most so often, nanoseconds.
const EVERY_NS: u64 = 1_000_000_000;

/// From so many columns on the table has room for a pane beside it.
const BESIDE: u16 = 130;

const ASIDE: u16 = 46;

/// From so many rows on there is one below it.
const BELOW: u16 = 20;

/// From so many columns on that pane has two columns.
const TWO: u16 = 80;

/// Notifications and tools that are named; the others are counted.
const NAMED: usize = 10;

/// The columns: title, width, and rank (the highest gives way first).
const COLUMNS: [(Sort, &str, usize, u8); 10] = [
    (Sort::Name, "method, tool", 18, 0),
    (Sort::Count, "count", 8, 0),
    (Sort::Failed, "failed", 7, 1),
    (Sort::P50, "p50", 7, 3),
    (Sort::P95, "p95", 7, 2),
    (Sort::P99, "p99", 7, 5),
    (Sort::Max, "max", 7, 4),
    (Sort::Sent, "asked", 8, 7),
    (Sort::Received, "answered", 9, 6),
    (Sort::Rate, "per min", 8, 8),
];

pub fn perform(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    let page = page(app, session);
    let state = &mut session.stats;
    match action {
        Action::Sort => {
            let at = COLUMNS.iter().position(|(sort, ..)| *sort == state.sort);
            state.sort = COLUMNS[(at.unwrap_or(0) + 1) % COLUMNS.len()].0;
        }
        Action::SortReverse => state.reverse = !state.reverse,
        Action::Open => {
            session.view = View::Exchanges;
            let query = narrowed(session.filter.in_force(), &session.stats.cursor.id);
            return Some(filter::set(app, session, &query.to_string()));
        }
        action => {
            let ids = state.ids();
            state.cursor.perform(action, &ids, page)?;
        }
    }
    Some(vec![])
}

/// The filter in force, with the conditions of a row: what is counted there has to fit both.
fn narrowed(query: &Query, row: &RowId) -> Query {
    let is = |field, op, text: &str| Expr::Compare {
        subject: Subject::Field(field),
        op,
        value: Value::Text {
            text: text.into(),
            quoted: false,
        },
    };
    let request = is(Field::Kind, Op::Contains, "request");
    let of_row = match row {
        RowId::Total => vec![request, is(Field::Dir, Op::Contains, "c2s")],
        RowId::Method(direction, method) => vec![
            request,
            is(Field::Dir, Op::Contains, direction),
            is(Field::Method, Op::Equal, method),
        ],
        RowId::Tool(name) => vec![is(Field::Tool, Op::Equal, name)],
    };
    let mut all = conditions(query);
    for condition in of_row {
        if !all.contains(&condition) {
            all.push(condition);
        }
    }
    all_of(all)
}

/// Something was counted.
fn counted(app: &mut App, session: &mut Session, figures: Box<Figures>) -> Effects {
    session.stats.fresh = Some(figures);
    refresh(app, session);
    vec![]
}

/// Puts the newest figures on the screen, if those that are there have been for a second.
fn refresh(app: &mut App, session: &mut Session) {
    let now = app.now.ui_ns;
    let state = &mut session.stats;
    let is_due = state
        .shown
        .as_deref()
        .is_none_or(|shown| shown.percent < 100 || now.saturating_sub(state.shown_ns) >= EVERY_NS);
    if is_due && let Some(figures) = state.fresh.take() {
        state.shown = Some(figures);
        state.shown_ns = now;
    }
}

/// Asks for figures, if this view is on the screen and they are of another filter.
pub fn wanted(app: &mut App, session: &mut Session) -> Effects {
    refresh(app, session);
    let query = session.filter.in_force();
    let is_asked = session.stats.asked.as_ref() == Some(query);
    if session.view != View::Stats || session.vitals.is_none() || is_asked {
        return vec![];
    }
    let query = query.clone();
    session.stats.asked = Some(query.clone());
    session.stats.shown = None;
    session.stats.fresh = None;
    vec![
        app.questions
            .ask(Slot::Stats, Counting::new(query), counted),
    ]
}

/// What is at a cell of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hit {
    Heading(Sort),
    /// The row with this number, counted from the first of all.
    Row(usize),
}

pub fn hit(app: &App, session: &Session, (x, y): (u16, u16)) -> Option<Hit> {
    let table = placed(app, session)?.table;
    let state = &session.stats;
    if !table.contains((x, y).into()) {
        return None;
    }
    if y == table.y {
        let columns = columns(&app.settings.look, state);
        let widths = table::widths(&columns, usize::from(table.width));
        let column = table::column_at(&widths, usize::from(x - table.x))?;
        return Some(Hit::Heading(COLUMNS[column].0));
    }
    let row = state.cursor.top + usize::from(y - table.y) - 1;
    (row < state.rows().len()).then_some(Hit::Row(row))
}

/// A click on a heading sorts, one on a row selects it.
pub fn click(app: &mut App, session: &mut Session, cell: (u16, u16)) -> Effects {
    let (hit, page) = (hit(app, session, cell), page(app, session));
    let state = &mut session.stats;
    match hit {
        Some(Hit::Heading(sort)) => {
            state.reverse = state.sort == sort && !state.reverse;
            state.sort = sort;
        }
        Some(Hit::Row(row)) => {
            let ids = state.ids();
            state.cursor.put(&ids, row, page);
        }
        None => {}
    }
    vec![]
}

pub fn wheel(app: &mut App, session: &mut Session, by: isize) -> Effects {
    let page = page(app, session);
    let rows = session.stats.rows().len();
    session.stats.cursor.wheel(by, rows, page);
    vec![]
}

/// Where the parts are. What is not shown is empty.
struct Parts {
    summary: Rect,
    table: Rect,
    aside: Rect,
}

fn parts(inner: Rect) -> Parts {
    let lines = u16::from(inner.height >= 8);
    let summary = Rect {
        height: lines,
        ..inner
    };
    let rest = Rect {
        y: inner.y + lines,
        height: inner.height - lines,
        ..inner
    };
    let (mut table, mut aside) = (rest, Rect::default());
    if rest.width >= BESIDE {
        table.width -= ASIDE + 2;
        aside = Rect {
            x: table.right() + 2,
            width: ASIDE,
            ..rest
        };
    } else if rest.height >= BELOW {
        table.height = rest.height / 2;
        aside = Rect {
            y: table.bottom() + 1,
            height: rest.height - table.height - 1,
            ..rest
        };
    }
    Parts {
        summary,
        table,
        aside,
    }
}

/// The parts on the screen, if this view is on it.
fn placed(app: &App, session: &Session) -> Option<Parts> {
    let main = layout::session(app, session).main;
    (session.view == View::Stats).then(|| parts(main.inner(Margin::new(1, 1))))
}

/// How many rows the table shows at once.
fn page(app: &App, session: &Session) -> usize {
    placed(app, session).map_or(1, |parts| usize::from(parts.table.height.saturating_sub(1)))
}

pub fn draw(app: &App, session: &Session, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let focus = session.focus == Focus::Main;
    let state = &session.stats;
    let figures = state.shown.as_deref();
    let title = match figures.and_then(|figures| figures.fitting) {
        None => "Stats".to_owned(),
        Some((fit, of)) => {
            let of = plural(of, "exchange");
            format!("Stats   {} of {of} that fit the filter", count(fit))
        }
    };
    let foot = match figures {
        Some(figures) if figures.percent < 100 => {
            format!("counting {} %: figures so far", figures.percent)
        }
        Some(_) => String::new(),
        None => "counting".to_owned(),
    };
    let inner = frame::draw(look, &title, &foot, focus, area, frame);
    let Some(figures) = figures else {
        return;
    };
    let parts = parts(inner);
    if !parts.summary.is_empty() {
        let text = cut(&summary(figures), usize::from(parts.summary.width));
        frame.render_widget(Line::styled(text, look.style(Role::Faint)), parts.summary);
    }
    draw_table(look, state, figures, focus, parts.table, frame);
    if !parts.aside.is_empty() {
        draw_aside(look, state, figures, parts.aside, frame);
    }
}

fn summary(figures: &Figures) -> String {
    let stats = &figures.stats;
    let rest = match stats.rest {
        0 => String::new(),
        rest => format!("   {} of names beyond the first 5 000", count(rest)),
    };
    let left_out = [
        (stats.unmeasured, "unanswered"),
        (stats.total.given_up, "given up"),
    ];
    let left_out = left_out.into_iter().filter(|(number, _)| *number > 0);
    let left_out: Vec<_> = left_out
        .map(|(number, what)| format!("{} {what}", count(number)))
        .collect();
    let without = match left_out.join(" and ") {
        none if none.is_empty() => none,
        some => format!(" (without {some})"),
    };
    format!(
        "most open at once {}   waited for the server {}{without}, for the client {}{rest}",
        count(stats.most_open),
        duration(stats.server_ns),
        duration(stats.total.waited_ns),
    )
}

fn draw_table(
    look: &Look,
    state: &Stats,
    figures: &Figures,
    focus: bool,
    area: Rect,
    frame: &mut Frame<'_>,
) {
    let all = state.rows();
    let page = usize::from(area.height.saturating_sub(1));
    let top = state.cursor.top.min(all.len().saturating_sub(page));
    let shown = all.iter().skip(top).take(page);
    let rows: Vec<_> = shown
        .map(|(id, row)| cells(look, figures, id, row))
        .collect();
    let role = if focus {
        Role::Selected
    } else {
        Role::SelectedElsewhere
    };
    let cursor = state.cursor.at(&state.ids());
    let selected = cursor.checked_sub(top).map(|at| (at, role));
    table::draw(look, &columns(look, state), &rows, selected, area, frame);
}

fn columns(look: &Look, state: &Stats) -> Vec<Column> {
    let column = |(sort, title, width, rank)| {
        let order = if state.reverse {
            Glyph::Sorted
        } else {
            Glyph::Unfolded
        };
        let sign = if sort == state.sort {
            look.glyph(order)
        } else {
            ""
        };
        let title = format!("{title}{sign}");
        match sort {
            Sort::Name => Column::flexible(&title, width, rank),
            _ => Column::right(&title, width, rank),
        }
    };
    COLUMNS.into_iter().map(column).collect()
}

fn cells(look: &Look, figures: &Figures, id: &RowId, row: &Row) -> Vec<Cell> {
    let text = |text: String| Cell::new(Role::Text, text);
    let time = |of: fn(&Latency) -> u64| {
        text(row.latency.as_ref().map(of).map_or_else(String::new, brief))
    };
    let failed = match row.failed {
        0 => Cell::new(Role::Faint, ""),
        _ => Cell::new(Role::Bad, percent(row.failed, row.count)),
    };
    let role = match id {
        RowId::Total => Role::Strong,
        RowId::Method("s2c", _) => Role::FromServer,
        RowId::Method(..) | RowId::Tool(_) if row.failed > 0 => Role::Bad,
        RowId::Method(..) | RowId::Tool(_) => Role::Text,
    };
    vec![
        Cell::new(role, name(look, figures, id)),
        text(count(row.count)),
        failed,
        time(|latency| latency.p50_ns),
        time(|latency| latency.p95_ns),
        time(|latency| latency.p99_ns),
        time(|latency| latency.max_ns),
        text(size(row.request_bytes)),
        text(size(row.response_bytes)),
        text(rate(row.per_minute_tenths(figures.span_ns))),
    ]
}

/// A latency in at most seven columns.
fn brief(ns: u64) -> String {
    match duration(ns) {
        text if width(&text) > 7 => clock(ns),
        text => text,
    }
}

/// What stands in the first column.
fn name(look: &Look, figures: &Figures, id: &RowId) -> String {
    let child = look.glyph(Glyph::Child);
    match id {
        RowId::Total if figures.fitting.is_some() => "fitting calls of the client".to_owned(),
        RowId::Total => "all calls of the client".to_owned(),
        RowId::Method("s2c", method) => {
            format!("{} {}", look.glyph(Glyph::ToClient), escape(method))
        }
        RowId::Method(_, method) => format!("{} {}", look.glyph(Glyph::ToServer), escape(method)),
        RowId::Tool(name) if name.is_empty() => format!("  {child} (without a name)"),
        RowId::Tool(name) => format!("  {child} {}", escape(name)),
    }
}

/// So many of so many, to the nearest percent; below ten to the nearest tenth. Neither nothing nor
/// all where it is not.
fn percent(part: u64, all: u64) -> String {
    let rounded =
        |of: u128| (u128::from(part) * of * 2 + u128::from(all)) / (u128::from(all.max(1)) * 2);
    match (rounded(1000), rounded(100)) {
        (0, _) => "< 0.1%".to_owned(),
        (tenths @ 1..100, _) => format!("{}.{}%", tenths / 10, tenths % 10),
        (_, 100) if part < all => "> 99%".to_owned(),
        (_, percent) => format!("{percent}%"),
    }
}

fn rate(tenths: Option<u64>) -> String {
    match tenths {
        None => String::new(),
        Some(0) => "< 0.1".to_owned(),
        Some(tenths @ 1..1000) => format!("{}.{}", tenths / 10, tenths % 10),
        Some(tenths) => count(tenths / 10),
    }
}

/// A histogram of the row with the cursor, the slowest calls, tools that nobody called,
/// notifications.
fn draw_aside(look: &Look, state: &Stats, figures: &Figures, area: Rect, frame: &mut Frame<'_>) {
    let half = area.width / 2;
    let is_wide = area.width >= TWO;
    let columns = usize::from(if is_wide { half - 1 } else { area.width });
    let rows = state.rows();
    let mut left = Vec::new();
    if let Some((id, row)) = rows.get(state.cursor.at(&state.ids())) {
        left.push(title_of(
            look,
            &cut(name(look, figures, id).trim(), columns),
        ));
        left.extend(histogram(look, row, columns));
    }
    let right = lists(look, figures, columns);
    if !is_wide {
        left.push(Line::default());
        left.extend(right);
        return put(look, left, area, frame);
    }
    let first = Rect {
        width: half - 1,
        ..area
    };
    let second = Rect {
        x: area.x + half,
        width: area.width - half,
        ..area
    };
    put(look, left, first, frame);
    put(look, right, second, frame);
}

/// Draws as many lines as there is room for, and says how many there is none for.
fn put(look: &Look, mut lines: Vec<Line<'static>>, area: Rect, frame: &mut Frame<'_>) {
    let room = usize::from(area.height);
    if lines.len() > room && room > 0 {
        let hidden = plural((lines.len() - room + 1) as u64, "line");
        lines.truncate(room - 1);
        let text = format!("{} {hidden}", look.glyph(Glyph::More));
        lines.push(Line::styled(text, look.style(Role::Faint)));
    }
    for (line, row) in lines.into_iter().zip(area.rows()) {
        frame.render_widget(line, row);
    }
}

fn title_of(look: &Look, text: &str) -> Line<'static> {
    Line::styled(text.to_owned(), look.style(Role::Title))
}

fn histogram(look: &Look, row: &Row, columns: usize) -> Vec<Line<'static>> {
    let buckets = row.buckets.filled();
    if buckets.is_empty() {
        let text = "  no latency was measured".to_owned();
        return vec![Line::styled(text, look.style(Role::Faint))];
    }
    let most = buckets.iter().map(|bucket| bucket.count).max().unwrap_or(0);
    let room = columns.saturating_sub(14 + width(&count(most)));
    let line = |bucket: &Bucket| {
        let bound = match bucket.up_to_ns {
            Some(ns) => format!("{} {}", look.glyph(Glyph::AtMost), duration(ns)),
            None => "more".to_owned(),
        };
        let bar = frame::bar(look, bucket.count, most, room);
        Line::from(vec![
            Span::raw(format!("{}  ", pad_start(&bound, 10))),
            Span::styled(bar, look.style(Role::Good)),
            Span::styled(format!(" {}", count(bucket.count)), look.style(Role::Faint)),
        ])
    };
    buckets.iter().map(line).collect()
}

/// The slowest calls, the tools that were never called, the notifications.
fn lists(look: &Look, figures: &Figures, columns: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let mut list = |title: String, rows: Vec<String>| {
        if rows.is_empty() {
            return;
        }
        lines.push(title_of(look, &title));
        let named = rows.iter().take(NAMED);
        lines.extend(named.map(|text| Line::raw(cut(text, columns))));
        if rows.len() > NAMED {
            let text = format!("  and {} more", rows.len() - NAMED);
            lines.push(Line::styled(text, look.style(Role::Faint)));
        }
    };
    let slowest = figures.stats.slowest.iter().map(|slow| {
        let name = slow.name.as_deref().unwrap_or(&slow.method);
        let time = pad_start(&brief(slow.latency_ns), 8);
        let seq = pad_end(&format!("#{}", slow.seq.0), 6);
        format!("{time}  {seq} {}", escape(name))
    });
    list("slowest".to_owned(), slowest.collect());
    let never = figures
        .never_called
        .iter()
        .map(|name| format!("  {}", escape(name)));
    let (number, listed) = (figures.never_called.len(), figures.tools_listed);
    list(
        format!("{number} of {listed} tools never called"),
        never.collect(),
    );
    let notified = figures.notified.iter().map(|(direction, method, number)| {
        let arrow = look.glyph(match direction {
            Direction::ClientToServer => Glyph::ToServer,
            Direction::ServerToClient => Glyph::ToClient,
        });
        let number = pad_start(&count(*number), 8);
        format!("{number}  {arrow} {}", escape(method))
    });
    list("notifications".to_owned(), notified.collect());
    if figures.fitting.is_some() {
        let said = "without a filter: tools never called, notifications";
        lines.push(Line::styled(cut(said, columns), look.style(Role::Faint)));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(method: &str, name: Option<&str>, count: u64) -> Row {
        Row {
            direction: "c2s",
            method: method.into(),
            name: name.map(Into::into),
            count,
            ..Row::default()
        }
    }

    #[test]
    fn tools_stand_below_their_method_in_whatever_order() {
        let figures = Figures {
            stats: mcpreel_trace::stats::Stats {
                methods: vec![row("ping", None, 9), row("tools/call", None, 3)],
                tools: vec![
                    row("tools/call", Some("a"), 1),
                    row("tools/call", Some("b"), 2),
                ],
                total: row("", None, 12),
                ..Default::default()
            },
            ..Figures::default()
        };
        let mut stats = Stats {
            shown: Some(Box::new(figures)),
            ..Stats::default()
        };
        let names = |stats: &Stats| -> Vec<String> {
            let name = |(_, row): &(RowId, &Row)| row.name.clone().unwrap_or(row.method.clone());
            stats.rows().iter().map(name).map(String::from).collect()
        };
        assert_eq!(names(&stats), ["", "ping", "tools/call", "b", "a"]);
        stats.reverse = true;
        assert_eq!(names(&stats), ["", "tools/call", "a", "b", "ping"]);
    }

    #[test]
    fn a_row_becomes_a_filter_beside_the_one_that_was_counted_with() {
        let read = |text: &str| Query::parse(text).unwrap();
        for name in ["get_forecast", "a b", "x\"y", "OR", "-1", ""] {
            let query = narrowed(&Query::default(), &RowId::Method("s2c", name.into()));
            assert_eq!(read(&query.to_string()), query, "{query}");
        }
        let of = |text| narrowed(&read(text), &RowId::Tool("a".into())).to_string();
        assert_eq!(of("is:failed"), "is:failed tool=a");
        assert_eq!(of("tool=a"), "tool=a");
        let either = of("is:failed OR is:slow");
        assert_eq!(read(&either).to_string(), either);
    }

    #[test]
    fn shares_are_rounded_and_neither_nothing_nor_all_where_they_are_not() {
        let cases = [
            ((1, 6), "17%"),
            ((1, 60), "1.7%"),
            ((289, 2000), "14%"),
            ((1, 10_000), "< 0.1%"),
            ((999, 1000), "> 99%"),
            ((u64::MAX, u64::MAX), "100%"),
        ];
        for ((part, all), text) in cases {
            assert_eq!(percent(part, all), text, "{part} of {all}");
        }
        assert_eq!(rate(Some(5)), "0.5");
        assert_eq!(rate(Some(12_345)), "1 234");
    }
}
