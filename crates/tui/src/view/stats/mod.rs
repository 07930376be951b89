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

mod aside;
mod rows;

use crate::app::stats::Stats;
use crate::app::{App, Focus, Session, View};
use crate::layout;
use crate::theme::Role;
use crate::widget;
use crate::widget::table;
use crate::worker::stats::Figures;
use crate::worker::stats::Fitting;
use mcpreel_wire::text::{count, cut, duration, plural};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

/// From so many columns on the table has room for a pane beside it.
const BESIDE: u16 = 130;

const ASIDE: u16 = 46;

/// From so many rows on there is one below it.
const BELOW: u16 = 20;

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
pub fn page(app: &App) -> usize {
    placed(app).map_or(1, |parts| usize::from(parts.table.height.saturating_sub(1)))
}

/// What is at this cell of the screen.
pub fn hit(app: &App, (x, y): (u16, u16)) -> Option<Hit> {
    let (parts, session) = (placed(app)?, app.session.as_deref()?);
    let table = parts.table;
    if !table.contains((x, y).into()) {
        return None;
    }
    if y == table.y {
        let columns = rows::columns(&app.settings.look, &session.stats);
        let widths = table::widths(&columns, usize::from(table.width));
        return table::column_at(&widths, usize::from(x - table.x)).map(Hit::Heading);
    }
    let row = session.stats.top + usize::from(y - table.y) - 1;
    (row < session.stats.rows().len()).then_some(Hit::Row(row))
}

pub fn draw(app: &App, session: &Session, area: Rect, frame: &mut Frame<'_>) {
    let look = &app.settings.look;
    let focus = session.focus == Focus::Main;
    let state = &session.stats;
    let inner = widget::frame::draw(look, &title(state), &foot(state), focus, area, frame);
    let Some(figures) = state.shown.as_deref() else {
        return;
    };
    let parts = parts(inner);
    if !parts.summary.is_empty() {
        let text = cut(&summary(figures), usize::from(parts.summary.width));
        frame.render_widget(Line::styled(text, look.style(Role::Faint)), parts.summary);
    }
    rows::draw(look, state, figures, focus, parts.table, frame);
    if !parts.aside.is_empty() {
        aside::draw(look, state, figures, parts.aside, frame);
    }
}

/// Of how many exchanges the figures are, where a filter leaves some out.
fn title(state: &Stats) -> String {
    let fitting = state.shown.as_deref().and_then(|figures| figures.fitting);
    match fitting {
        None => "Stats".to_owned(),
        Some(Fitting { count: fit, of }) => {
            format!(
                "Stats   {} of {} that fit the filter",
                count(fit),
                plural(of, "exchange")
            )
        }
    }
}

fn foot(state: &Stats) -> String {
    match state.shown.as_deref() {
        Some(figures) if figures.percent < 100 => {
            format!("counting {} %: figures so far", figures.percent)
        }
        Some(_) => String::new(),
        None => "counting".to_owned(),
    }
}

fn summary(figures: &Figures) -> String {
    let stats = &figures.stats;
    let rest = match stats.rest {
        0 => String::new(),
        rest => format!("   {} of names beyond the first 5 000", count(rest)),
    };
    let without = match (stats.unmeasured, stats.total.given_up) {
        (0, 0) => String::new(),
        (unanswered, 0) => format!(" (without {} unanswered)", count(unanswered)),
        (0, given_up) => format!(" (without {} given up)", count(given_up)),
        (unanswered, given_up) => format!(
            " (without {} unanswered and {} given up)",
            count(unanswered),
            count(given_up)
        ),
    };
    format!(
        "most open at once {}   waited for the server {}{without}, for the client {}{rest}",
        count(stats.most_open),
        duration(stats.server_ns),
        duration(stats.total.waited_ns),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pane_beside_the_table_is_below_it_where_it_is_narrow_and_gone_where_it_is_low() {
        let at = |columns, rows| parts(Rect::new(1, 1, columns, rows));
        let wide = at(198, 40);
        assert_eq!((wide.table.width, wide.aside.width), (150, ASIDE));
        let stacked = at(98, 24);
        assert!(stacked.aside.y > stacked.table.bottom() && stacked.aside.bottom() == 25);
        assert!(at(58, 8).aside.is_empty());
    }

    #[test]
    fn the_time_waited_for_the_server_says_what_it_leaves_out() {
        let mut figures = Figures::default();
        figures.stats.server_ns = 4_400_000_000;
        assert!(!summary(&figures).contains("without"));
        figures.stats.unmeasured = 2;
        let text = summary(&figures);
        assert!(
            text.contains("for the server 4.4 s (without 2 unanswered),"),
            "{text}"
        );
        figures.stats.total.given_up = 5_000;
        let text = summary(&figures);
        let both = "(without 2 unanswered and 5 000 given up),";
        assert!(text.contains(both), "{text}");
        figures.stats.unmeasured = 0;
        let text = summary(&figures);
        assert!(text.contains("(without 5 000 given up),"), "{text}");
    }
}
