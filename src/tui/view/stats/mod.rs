//! Counts and latencies.
//!
//! ```text
//!  most open at once 3   waited for the server 12.1 s, for the client 1.6 s
//!  method, tool            count▾ failed     p50     p95     max   │ get_forecast
//!  all calls of the client    12     17%   19 ms  1.2 s    1.7 s   │   ≤ 20 ms ████████ 3
//!  → tools/call                9     22%   74 ms  1.2 s    1.7 s   │   ≤ 50 ms ███ 1
//!    └ get_forecast            6     33%   74 ms  181 ms  181 ms   │ slowest
//!  ← elicitation/create        1          907 ms  907 ms  907 ms   │   1.7 s  #42 plan_trip
//! ```
//!
//! What stands right of the table is below it where there is less room.

mod aside;

use crate::text::{count, cut, duration, escape, size};
use crate::trace::stats::Row;
use crate::tui::app::stats::{RowId, Sort, Stats};
use crate::tui::app::{App, Focus, Session, View};
use crate::tui::layout;
use crate::tui::theme::{Glyph, Look, Role};
use crate::tui::widget;
use crate::tui::widget::table::{self, Cell, Column};
use crate::tui::worker::stats::Figures;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

/// From so many columns on the table has room for a pane beside it.
const BESIDE: u16 = 130;

/// Columns of that pane.
const ASIDE: u16 = 46;

/// From so many rows on there is one below it.
const BELOW: u16 = 20;

/// What a click can hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hit {
    /// The heading of the column with this number.
    Heading(usize),
    /// The row with this number, counted from the first of all.
    Row(usize),
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
fn placed(app: &App) -> Option<Parts> {
    let session = app.session.as_deref()?;
    let main = layout::session(app, session).main;
    let shown = session.view == View::Stats && main.width > 2 && main.height > 2;
    let inner = Rect::new(
        main.x + 1,
        main.y + 1,
        main.width.max(2) - 2,
        main.height.max(2) - 2,
    );
    shown.then(|| parts(inner))
}

/// How many rows the table shows at once.
#[must_use]
pub fn page(app: &App) -> usize {
    placed(app).map_or(1, |parts| usize::from(parts.table.height.saturating_sub(1)))
}

/// What is at this cell of the screen.
#[must_use]
pub fn hit(app: &App, (x, y): (u16, u16)) -> Option<Hit> {
    let (parts, session) = (placed(app)?, app.session.as_deref()?);
    let table = parts.table;
    if !table.contains((x, y).into()) {
        return None;
    }
    if y == table.y {
        let columns = columns(&app.settings.look, &session.stats);
        let widths = table::widths(&columns, usize::from(table.width));
        return table::column_at(&widths, usize::from(x - table.x)).map(Hit::Heading);
    }
    let row = session.stats.top + usize::from(y - table.y) - 1;
    (row < session.stats.rows().len()).then_some(Hit::Row(row))
}

/// Draws it.
pub fn draw(app: &App, session: &Session, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let focus = session.focus == Focus::Main;
    let state = &session.stats;
    let foot = match state.shown.as_deref() {
        Some(figures) if figures.percent < 100 => {
            format!("counting {} %: figures so far", figures.percent)
        }
        Some(_) => String::new(),
        None => "counting".to_owned(),
    };
    let inner = widget::frame::draw(look, "Stats", &foot, focus, area, frame);
    let Some(figures) = state.shown.as_deref() else {
        return;
    };
    let parts = parts(inner);
    if !parts.summary.is_empty() {
        let text = cut(&summary(figures), usize::from(parts.summary.width));
        frame.render_widget(Line::styled(text, look.style(Role::Faint)), parts.summary);
    }
    draw_table(look, state, figures, focus, parts.table, frame);
    if !parts.aside.is_empty() {
        aside::draw(look, state, figures, parts.aside, frame);
    }
}

fn summary(figures: &Figures) -> String {
    let stats = &figures.stats;
    let rest = match stats.rest {
        0 => String::new(),
        rest => format!("   {} of names beyond the first 5 000", count(rest)),
    };
    format!(
        "most open at once {}   waited for the server {}, for the client {}{rest}",
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
    let cursor = state.cursor_row(&all);
    let page = usize::from(area.height.saturating_sub(1));
    let top = state.top.min(all.len().saturating_sub(page));
    let shown = all.iter().skip(top).take(page);
    let rows: Vec<_> = shown
        .map(|(id, row)| cells(look, id, row, figures.span_ns))
        .collect();
    let role = if focus {
        Role::Selected
    } else {
        Role::SelectedElsewhere
    };
    let selected = cursor.checked_sub(top).map(|at| (at, role));
    table::draw(look, &columns(look, state), &rows, selected, area, frame);
}

fn columns(look: &Look, state: &Stats) -> Vec<Column> {
    let column = |sort: Sort| {
        let mut title = sort.title().to_owned();
        if sort == state.sort {
            title.push_str(look.glyph(if state.reverse {
                Glyph::Sorted
            } else {
                Glyph::Unfolded
            }));
        }
        match sort {
            Sort::Name => Column::flexible(&title, 18, 0),
            Sort::Count => Column::right(&title, 8, 0),
            Sort::Failed => Column::right(&title, 7, 1),
            Sort::P50 => Column::right(&title, 7, 3),
            Sort::P95 => Column::right(&title, 7, 2),
            Sort::P99 => Column::right(&title, 7, 5),
            Sort::Max => Column::right(&title, 7, 4),
            Sort::Sent => Column::right(&title, 8, 7),
            Sort::Received => Column::right(&title, 9, 6),
            Sort::Rate => Column::right(&title, 8, 8),
        }
    };
    Sort::ALL.into_iter().map(column).collect()
}

fn cells(look: &Look, id: &RowId, row: &Row, span_ns: u64) -> Vec<Cell> {
    let time = |ns: Option<u64>| Cell::new(Role::Text, ns.map(brief).unwrap_or_default());
    let latency = row.latency;
    let failed = match row.failed {
        0 => Cell::new(Role::Faint, ""),
        _ => Cell::new(Role::Bad, percent(row.failed_permille())),
    };
    vec![
        Cell::new(role(id, row), name(look, id)),
        Cell::new(Role::Text, count(row.count)),
        failed,
        time(latency.map(|latency| latency.p50_ns)),
        time(latency.map(|latency| latency.p95_ns)),
        time(latency.map(|latency| latency.p99_ns)),
        time(latency.map(|latency| latency.max_ns)),
        Cell::new(Role::Text, size(row.request_bytes)),
        Cell::new(Role::Text, size(row.response_bytes)),
        Cell::new(Role::Text, rate(row.per_minute_tenths(span_ns))),
    ]
}

/// A latency in at most seven columns.
fn brief(ns: u64) -> String {
    match duration(ns) {
        text if crate::text::width(&text) > 7 => crate::text::clock(ns),
        text => text,
    }
}

fn role(id: &RowId, row: &Row) -> Role {
    match id {
        RowId::Total => Role::Strong,
        RowId::Method("s2c", _) => Role::FromServer,
        RowId::Method(..) | RowId::Tool(_) if row.failed > 0 => Role::Bad,
        RowId::Method(..) | RowId::Tool(_) => Role::Text,
    }
}

/// What stands in the first column.
fn name(look: &Look, id: &RowId) -> String {
    match id {
        RowId::Total => "all calls of the client".to_owned(),
        RowId::Method("s2c", method) => {
            format!("{} {}", look.glyph(Glyph::ToClient), escape(method))
        }
        RowId::Method(_, method) => format!("{} {}", look.glyph(Glyph::ToServer), escape(method)),
        RowId::Tool(name) if name.is_empty() => {
            format!("  {} (without a name)", look.glyph(Glyph::Child))
        }
        RowId::Tool(name) => format!("  {} {}", look.glyph(Glyph::Child), escape(name)),
    }
}

fn percent(permille: u64) -> String {
    match permille {
        0 => "< 0.1%".to_owned(),
        1..100 => format!("{}.{}%", permille / 10, permille % 10),
        _ => format!("{}%", permille / 10),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_as_short_as_their_columns() {
        assert_eq!(percent(0), "< 0.1%");
        assert_eq!(percent(17), "1.7%");
        assert_eq!(percent(1000), "100%");
        assert_eq!(rate(Some(5)), "0.5");
        assert_eq!(rate(Some(12_345)), "1 234");
        for ns in [
            0,
            842_000_000,
            59_900_000_000,
            185_000_000_000,
            7_800_000_000_000,
        ] {
            assert!(brief(ns).len() <= 8, "{}", brief(ns));
        }
    }

    #[test]
    fn the_pane_beside_the_table_is_below_it_where_it_is_narrow_and_gone_where_it_is_low() {
        let at = |columns, rows| parts(Rect::new(1, 1, columns, rows));
        let wide = at(198, 40);
        assert_eq!((wide.table.width, wide.aside.width), (150, ASIDE));
        let stacked = at(98, 24);
        assert!(stacked.aside.y > stacked.table.bottom() && stacked.aside.bottom() == 25);
        assert!(at(58, 8).aside.is_empty());
    }
}
