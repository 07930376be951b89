//! Counts and latencies.

use super::motion::moved;
use crate::query::Query;
use crate::query::ast::{Expr, Field, Op, Subject, Value};
use crate::tui::action::Action;
use crate::tui::app::stats::{RowId, Sort};
use crate::tui::app::{App, View};
use crate::tui::effect::Effects;
use crate::tui::view;
use crate::tui::worker::{Ask, stats};

/// The figures on the screen change at most so often, nanoseconds.
const EVERY_NS: u64 = 1_000_000_000;

/// Does it, if it is about this.
pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    let page = view::stats::page(app);
    let session = app.session.as_deref_mut()?;
    let state = &mut session.stats;
    match action {
        Action::Sort => state.sort = state.sort.next(),
        Action::SortReverse => state.reverse = !state.reverse,
        Action::Open => return Some(filter_to_row(app)),
        action => {
            let rows = state.rows();
            let at = moved(action, state.cursor_row(&rows), rows.len(), page)?;
            let id = rows.get(at).map(|(id, _)| id.clone());
            state.cursor = id.unwrap_or_default();
            reveal(app);
        }
    }
    Some(vec![])
}

/// Scrolls as far as it takes to see the cursor.
fn reveal(app: &mut App) {
    let page = view::stats::page(app).max(1);
    let Some(session) = app.session.as_deref_mut() else {
        return;
    };
    let rows = session.stats.rows();
    let (at, len) = (session.stats.cursor_row(&rows), rows.len());
    let top = session.stats.top.min(len.saturating_sub(page));
    session.stats.top = top.clamp((at + 1).saturating_sub(page), at);
}

fn filter_to_row(app: &mut App) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    session.view = View::Exchanges;
    let text = filter_of(&session.stats.cursor).to_string();
    super::filter::set(app, &text)
}

/// The filter that fits the exchanges of a row.
fn filter_of(row: &RowId) -> Query {
    let is = |field, op, text: &str| Expr::Compare {
        subject: Subject::Field(field),
        op,
        value: Value::Text {
            text: text.into(),
            quoted: false,
        },
    };
    let expr = match row {
        RowId::Total => Expr::And(vec![
            is(Field::Kind, Op::Contains, "request"),
            is(Field::Dir, Op::Contains, "c2s"),
        ]),
        RowId::Method(direction, method) => Expr::And(vec![
            is(Field::Kind, Op::Contains, "request"),
            is(Field::Dir, Op::Contains, direction),
            is(Field::Method, Op::Equal, method),
        ]),
        RowId::Tool(name) => is(Field::Tool, Op::Equal, name),
    };
    Query { expr: Some(expr) }
}

/// An answer has come.
pub fn answer(app: &mut App, answer: stats::Answer) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let state = &mut session.stats;
    if state
        .asked
        .is_some_and(|(asked, _)| asked == answer.generation)
    {
        state.fresh = Some(answer.figures);
        refresh(app);
    }
    vec![]
}

/// Puts the newest figures on the screen, if those that are there have been for a second.
fn refresh(app: &mut App) {
    let now = app.now.ui_ns;
    let Some(session) = app.session.as_deref_mut() else {
        return;
    };
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

/// Asks for figures, if they are on the screen and there are none for this moment.
pub fn wanted(app: &mut App) -> Effects {
    refresh(app);
    let Some(session) = app.session.as_deref() else {
        return vec![];
    };
    let until = session.until();
    let is_asked = session.stats.asked.is_some_and(|(_, asked)| asked == until);
    if session.view != View::Stats || session.vitals.is_none() || is_asked {
        return vec![];
    }
    let generation = app.next_generation();
    if let Some(session) = app.session.as_deref_mut() {
        session.stats.asked = Some((generation, until));
        session.stats.shown = None;
        session.stats.fresh = None;
    }
    vec![Ask::Stats(stats::Ask { generation, until }).into()]
}

/// A click on a cell of the screen: a heading sorts, a row is selected.
pub fn click(app: &mut App, (x, y): (u16, u16)) -> Effects {
    let hit = view::stats::hit(app, (x, y));
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let state = &mut session.stats;
    match hit {
        Some(view::stats::Hit::Heading(column)) => {
            let sort = Sort::ALL[column];
            state.reverse = state.sort == sort && !state.reverse;
            state.sort = sort;
        }
        Some(view::stats::Hit::Row(row)) => {
            let id = state.rows().get(row).map(|(id, _)| id.clone());
            state.cursor = id.unwrap_or_default();
        }
        None => {}
    }
    vec![]
}

/// The wheel: scrolls without moving the cursor.
pub fn wheel(app: &mut App, down: bool) -> Effects {
    let page = view::stats::page(app);
    if let Some(session) = app.session.as_deref_mut() {
        let last = session.stats.rows().len().saturating_sub(page);
        let top = session.stats.top;
        let to = if down { top + 3 } else { top.saturating_sub(3) };
        session.stats.top = to.min(last);
    }
    vec![]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_becomes_a_filter_that_reads_back_as_itself_whatever_its_name() {
        for name in ["get_forecast", "a b", "x\"y", "OR", "-1", ""] {
            let query = filter_of(&RowId::Tool(name.into()));
            assert_eq!(
                Query::parse(&query.to_string()).as_ref(),
                Ok(&query),
                "{query}"
            );
            let query = filter_of(&RowId::Method("s2c", name.into()));
            assert_eq!(
                Query::parse(&query.to_string()).as_ref(),
                Ok(&query),
                "{query}"
            );
        }
        assert_eq!(filter_of(&RowId::Tool("a".into())).to_string(), "tool=a");
    }
}
