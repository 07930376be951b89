//! Counts and latencies.
//!
//! ```text
//!  at most 3 in flight   server time 12.1 s (2 unanswered)   client time 1.6 s
//!  method, tool            count▾ failed     p50     p95     max   │ get_forecast
//!  all client calls    12     17%   19 ms  1.2 s    1.7 s   │   ≤ 20 ms ████████ 3
//!  → tools/call                9     22%   74 ms  1.2 s    1.7 s   │   ≤ 50 ms ███ 1
//!    └ get_forecast            6     33%   74 ms  181 ms  181 ms   │ slowest
//!  ← elicitation/create        1          907 ms  907 ms  907 ms   │   1.7 s  #42 plan_trip
//! ```
//!
//! What stands right of the table is below it where there is less room; Tab leads there. With a filter only what
//! fits is counted, and the title says how much that is.

pub mod figures;
mod lists;

use crate::action::Action;
use crate::app::{App, Focus, Session, View};
use crate::effect::{Effect, Effects};
use crate::layout;
use crate::panels::filter::{self, is, narrowed};
use crate::panels::list;
use crate::theme::{Glyph, Look, Role};
use crate::widget::frame;
use crate::widget::table::{self, Column};
use crate::worker::errand::Place;
use crate::worker::job::{Slot, Source};
use figures::{COLUMNS, Entry, count_all, texts};
pub use figures::{Figures, RowId, Stats};
use mcpreel_trace::query::ast::{Expr, Field, Op};
use mcpreel_trace::stats::Row;
use mcpreel_wire::text::{count, cut, duration, escape, plural};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

pub fn perform(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    let page = page(app, session);
    let state = &mut session.stats;
    match action {
        Action::Sort => state.sort = Some((state.sort() + 1) % COLUMNS.len()),
        Action::NextPane | Action::PreviousPane => state.in_lists ^= true,
        Action::Close if state.in_lists => state.in_lists = false,
        Action::Open if state.in_lists => return open(app, session),
        Action::Open => {
            session.view = View::Exchanges;
            let conditions = conditions(&session.stats.cursor.id);
            let query = narrowed(session.filter.in_force(), conditions);
            return Some(filter::set(app, session, &query.to_string()));
        }
        action if state.in_lists => {
            let entries = lists::entries(state.shown.as_deref()?);
            state.entries.perform(action, &entries, page)?;
        }
        action => {
            let ids = state.ids();
            state.cursor.perform(action, &ids, page)?;
        }
    }
    Some(vec![])
}

/// Opens the entry of a list under the cursor.
fn open(app: &mut App, session: &mut Session) -> Option<Effects> {
    let entry = session.stats.entry(session.stats.shown.as_deref()?)?;
    Some(match entry {
        Entry::Slow(seq) => list::goto(session, seq),
        Entry::Unused(name) => {
            session.view = View::Server;
            session.server.cursor.id = ("tool", name);
            vec![]
        }
        Entry::Notified(direction, method) => {
            session.view = View::Exchanges;
            let conditions = [
                is(Field::Kind, Op::Contains, "notification"),
                is(Field::Dir, Op::Contains, direction.into()),
                is(Field::Method, Op::Equal, &method),
            ];
            let query = narrowed(session.filter.in_force(), conditions);
            filter::set(app, session, &query.to_string())
        }
    })
}

/// The conditions of a row.
fn conditions(row: &RowId) -> Vec<Expr> {
    let request = is(Field::Kind, Op::Contains, "request");
    match row {
        RowId::Total => vec![request, is(Field::Dir, Op::Contains, "c2s")],
        RowId::Method(direction, method) => vec![
            request,
            is(Field::Dir, Op::Contains, direction),
            is(Field::Method, Op::Equal, method),
        ],
        RowId::Tool(name) => vec![is(Field::Tool, Op::Equal, name)],
    }
}

/// Asks for figures, if this view is on the screen and they are of another filter or old.
pub fn wanted(app: &mut App, session: &mut Session) -> Option<Effect> {
    let counts = session.counts(View::Stats)?;
    let query = session.filter.in_force().clone();
    let state = &mut session.stats;
    let is_other = state.asked.renew(query.clone(), counts, app.now.ui_ns)?;
    state.shown.take_if(|_| is_other);
    let count = move |source: &Source<'_>, _: &Place<'_>| count_all(source, &query);
    Some(app.questions.read(Slot::Stats, session, count, counted))
}

fn counted(app: &mut App, session: &mut Session, figures: Box<Figures>) -> Effects {
    session.stats.shown = Some(figures);
    session.stats.asked.answered_ns = Some(app.now.ui_ns);
    vec![]
}

/// A click on a heading sorts, one on a row or an entry of a list selects it. Returns whether one
/// is there.
pub fn click(app: &App, session: &mut Session, cell: (u16, u16)) -> bool {
    let aside = lists::sheet(&session.stats, layout::session(app, session).main).aside;
    let state = &mut session.stats;
    if let Some(figures) = state
        .shown
        .as_deref()
        .filter(|_| aside.contains(cell.into()))
    {
        let columns = lists::columns(&app.settings.look, state, figures, aside);
        let entry = columns
            .iter()
            .find_map(|column| column.entry_at(cell))
            .cloned();
        let is_there = entry.is_some();
        if let Some(entry) = entry {
            (state.in_lists, state.entries.id) = (true, entry);
        }
        return is_there;
    }
    let (page, table) = (page(app, session), area_of_table(app, session));
    let mut rows = table::below(table);
    let more = rows
        .rows()
        .nth(page)
        .filter(|row| row.contains(cell.into()));
    rows.height = rows.height.min(u16::try_from(page).unwrap_or(u16::MAX));
    let state = &mut session.stats;
    if more.is_some() {
        let ids = state.ids();
        state.cursor.perform(Action::PageDown, &ids, page);
        return false;
    }
    let columns = columns(&app.settings.look, state);
    if let Some(column) = table::heading_at(&columns, table, cell) {
        state.sort = Some(column);
    }
    let ids = state.ids();
    let is_row = state.cursor.click(&ids, rows, cell);
    state.in_lists &= !is_row;
    is_row
}

pub fn wheel(app: &App, session: &mut Session, by: isize) {
    let page = page(app, session);
    let rows = session.stats.rows().len();
    session.stats.cursor.wheel(by, rows, page);
}

/// Where the table is.
fn area_of_table(app: &App, session: &Session) -> Rect {
    lists::sheet(&session.stats, layout::session(app, session).main).rows
}

/// How many rows the table shows at once.
fn page(app: &App, session: &Session) -> usize {
    page_of(&session.stats, area_of_table(app, session))
}

/// Where there are more, the last row says so.
fn page_of(state: &Stats, table: Rect) -> usize {
    let page = usize::from(table::below(table).height);
    page.saturating_sub(usize::from(state.rows().len() > page))
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
    let foot = if figures.is_some() { "" } else { "counting" };
    frame::draw(look, &title, foot, focus, area, frame);
    let Some(figures) = figures else {
        return;
    };
    let sheet = lists::sheet(state, area);
    let text = cut(&summary(figures), usize::from(sheet.above.width));
    frame.render_widget(Line::styled(text, look.style(Role::Faint)), sheet.above);
    draw_table(look, session, figures, sheet.rows, frame);
    if !sheet.aside.is_empty() {
        lists::draw(look, state, figures, sheet.aside, frame);
    }
}

fn summary(figures: &Figures) -> String {
    let stats = &figures.stats;
    let unanswered = match stats.unmeasured {
        0 => String::new(),
        number => format!(" ({} unanswered)", count(number)),
    };
    let rest = match stats.rest {
        0 => String::new(),
        rest => format!("   {} of names beyond the first 5 000", count(rest)),
    };
    format!(
        "at most {} in flight   server time {}{unanswered}   client time {}{rest}",
        count(stats.most_open),
        duration(stats.server_ns),
        duration(stats.total.waited_ns),
    )
}

fn draw_table(look: &Look, of: &Session, figures: &Figures, area: Rect, frame: &mut Frame<'_>) {
    let state = &of.stats;
    let focus = of.focus == Focus::Main && !state.in_lists;
    let all = state.rows();
    let page = page_of(state, area);
    let top = state.cursor.top.min(all.len().saturating_sub(page));
    let shown = all.iter().skip(top).take(page);
    let rows: Vec<_> = shown
        .map(|(id, row)| cells(look, figures, id, row))
        .collect();
    let cursor = state.cursor.at(&state.ids()).checked_sub(top);
    let selected = cursor.map(|at| (at, Role::selected(focus)));
    table::draw(look, &columns(look, state), &rows, selected, area, frame);
    let below = all.len() - top - rows.len();
    if let Some(row) = table::below(area).rows().nth(page).filter(|_| below > 0) {
        let key = if state.in_lists { "Tab" } else { "PgDn" };
        lists::draw_more(look, below, key, row, frame);
    }
}

fn columns(look: &Look, state: &Stats) -> Vec<Column> {
    let column = |(at, (title, width, rank))| {
        let is_sorted = at == state.sort();
        let sign = if is_sorted {
            look.glyph(Glyph::Unfolded)
        } else {
            ""
        };
        let title = format!("{title}{sign}");
        match at {
            0 => Column::flexible(&title, width, rank),
            _ => Column::right(&title, width, rank),
        }
    };
    COLUMNS.into_iter().enumerate().map(column).collect()
}

fn cells(look: &Look, figures: &Figures, id: &RowId, row: &Row) -> table::Cells {
    let role = match id {
        RowId::Total => Role::Strong,
        RowId::Method("s2c", _) => Role::FromServer,
        RowId::Method(..) | RowId::Tool(_) if row.failed > 0 => Role::Bad,
        RowId::Method(..) | RowId::Tool(_) => Role::Text,
    };
    let mut cells = vec![(role, name(look, figures, id))];
    let roles = [Role::Text, Role::Bad].into_iter();
    let roles = roles.chain(std::iter::repeat(Role::Text));
    cells.extend(roles.zip(texts(row, figures.span_ns)));
    cells.into_iter().map(|cell| vec![cell]).collect()
}

/// The text of the first column.
fn name(look: &Look, figures: &Figures, id: &RowId) -> String {
    let child = look.glyph(Glyph::Child);
    match id {
        RowId::Total if figures.fitting.is_some() => "client calls that fit".to_owned(),
        RowId::Total => "all client calls".to_owned(),
        RowId::Method(direction, method) => {
            let arrow = [Glyph::ToServer, Glyph::ToClient][usize::from(*direction == "s2c")];
            format!("{} {}", look.glyph(arrow), escape(method))
        }
        RowId::Tool(name) if name.is_empty() => format!("  {child} (without a name)"),
        RowId::Tool(name) => format!("  {child} {}", escape(name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_trace::query::Query;

    #[test]
    fn a_row_becomes_a_filter_beside_the_one_that_was_counted_with() {
        let read = |text: &str| Query::parse(text).unwrap();
        for name in ["get_forecast", "a b", "x\"y", "OR", "-1", ""] {
            let query = narrowed(
                &Query::default(),
                conditions(&RowId::Method("s2c", name.into())),
            );
            assert_eq!(read(&query.to_string()), query, "{query}");
        }
        let of = |text| narrowed(&read(text), conditions(&RowId::Tool("a".into()))).to_string();
        assert_eq!(of("is:failed"), "is:failed tool=a");
        assert_eq!(of("tool=a"), "tool=a");
        let either = of("is:failed OR is:slow");
        assert_eq!(read(&either).to_string(), either);
    }
}
