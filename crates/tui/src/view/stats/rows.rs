//! The table: a row per method and tool.

use crate::app::stats::{RowId, Sort, Stats};
use crate::theme::{Glyph, Look, Role};
use crate::widget::table::{self, Cell, Column};
use crate::worker::stats::Figures;
use mcpreel_trace::stats::Row;
use mcpreel_wire::text::{clock, count, duration, escape, size, width};
use ratatui::Frame;
use ratatui::layout::Rect;

pub(super) fn draw(
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
        .map(|(id, row)| cells(look, figures, id, row))
        .collect();
    let role = if focus {
        Role::Selected
    } else {
        Role::SelectedElsewhere
    };
    let selected = cursor.checked_sub(top).map(|at| (at, role));
    table::draw(look, &columns(look, state), &rows, selected, area, frame);
}

pub(super) fn columns(look: &Look, state: &Stats) -> Vec<Column> {
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

fn cells(look: &Look, figures: &Figures, id: &RowId, row: &Row) -> Vec<Cell> {
    let time = |ns: Option<u64>| Cell::new(Role::Text, ns.map(brief).unwrap_or_default());
    let latency = row.latency;
    let failed = match row.failed {
        0 => Cell::new(Role::Faint, ""),
        _ => Cell::new(Role::Bad, percent(row.failed, row.count)),
    };
    vec![
        Cell::new(role(id, row), name(look, figures, id)),
        Cell::new(Role::Text, count(row.count)),
        failed,
        time(latency.map(|latency| latency.p50_ns)),
        time(latency.map(|latency| latency.p95_ns)),
        time(latency.map(|latency| latency.p99_ns)),
        time(latency.map(|latency| latency.max_ns)),
        Cell::new(Role::Text, size(row.request_bytes)),
        Cell::new(Role::Text, size(row.response_bytes)),
        Cell::new(Role::Text, rate(row.per_minute_tenths(figures.span_ns))),
    ]
}

/// A latency in at most seven columns.
pub(super) fn brief(ns: u64) -> String {
    match duration(ns) {
        text if width(&text) > 7 => clock(ns),
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
pub(super) fn name(look: &Look, figures: &Figures, id: &RowId) -> String {
    match id {
        RowId::Total if figures.fitting.is_some() => "fitting calls of the client".to_owned(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_as_short_as_their_columns() {
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
    fn shares_are_rounded_and_neither_nothing_nor_all_where_they_are_not() {
        let cases = [
            ((1, 6), "17%"),
            ((2, 3), "67%"),
            ((1, 60), "1.7%"),
            ((289, 2000), "14%"),
            ((999, 10_000), "10%"),
            ((1, 10_000), "< 0.1%"),
            ((999, 1000), "> 99%"),
            ((3, 3), "100%"),
            ((u64::MAX, u64::MAX), "100%"),
        ];
        for ((part, all), text) in cases {
            assert_eq!(percent(part, all), text, "{part} of {all}");
        }
    }
}
