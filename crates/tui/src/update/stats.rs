//! Counts and latencies.

use super::motion::moved;
use crate::action::Action;
use crate::app::stats::{Asked, RowId, Sort};
use crate::app::{App, View};
use crate::effect::Effects;
use crate::panels::filter::{all_of, conditions};
use crate::view;
use crate::widget::scroll;
use crate::worker::{Ask, stats};
use mcpreel_trace::query::Query;
use mcpreel_trace::query::ast::{Expr, Field, Op, Subject, Value};

/// The figures on the screen change at most so often, nanoseconds.
const EVERY_NS: u64 = 1_000_000_000;

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
    let page = view::stats::page(app);
    let Some(session) = app.session.as_deref_mut() else {
        return;
    };
    let rows = session.stats.rows();
    let (at, len) = (session.stats.cursor_row(&rows), rows.len());
    session.stats.top = scroll::showing_of(len, at, session.stats.top, page);
}

fn filter_to_row(app: &mut App) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    session.view = View::Exchanges;
    let query = narrowed(session.filter.in_force(), &session.stats.cursor);
    let text = query.to_string();
    crate::panels::filter::set(app, &text)
}

/// The filter in force, with the conditions of a row: what is counted there has to fit both.
fn narrowed(query: &Query, row: &RowId) -> Query {
    let mut all = conditions(query);
    for condition in conditions_of(row) {
        if !all.contains(&condition) {
            all.push(condition);
        }
    }
    all_of(all)
}

/// What the exchanges of a row have in common.
fn conditions_of(row: &RowId) -> Vec<Expr> {
    let is = |field, op, text: &str| Expr::Compare {
        subject: Subject::Field(field),
        op,
        value: Value::Text {
            text: text.into(),
            quoted: false,
        },
    };
    match row {
        RowId::Total => vec![
            is(Field::Kind, Op::Contains, "request"),
            is(Field::Dir, Op::Contains, "c2s"),
        ],
        RowId::Method(direction, method) => vec![
            is(Field::Kind, Op::Contains, "request"),
            is(Field::Dir, Op::Contains, direction),
            is(Field::Method, Op::Equal, method),
        ],
        RowId::Tool(name) => vec![is(Field::Tool, Op::Equal, name)],
    }
}

pub fn answer(app: &mut App, answer: stats::Answer) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let state = &mut session.stats;
    if state
        .asked
        .as_ref()
        .is_some_and(|asked| asked.generation == answer.generation)
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
    let query = session.filter.in_force().clone();
    let asked = session.stats.asked.as_ref();
    let is_asked = asked.is_some_and(|asked| asked.query == query);
    if session.view != View::Stats || session.vitals.is_none() || is_asked {
        return vec![];
    }
    let generation = app.next_generation();
    if let Some(session) = app.session.as_deref_mut() {
        let asked = Asked {
            generation,
            query: query.clone(),
        };
        // What is asked for anew stays until the answer.
        if session.stats.asked.replace(asked).is_some() {
            session.stats.shown = None;
        }
        session.stats.fresh = None;
    }
    let ask = stats::Ask { generation, query };
    vec![Ask::Stats(ask).into()]
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

/// The wheel was turned by so many rows: scrolls without moving the cursor.
pub fn wheel(app: &mut App, by: isize) -> Effects {
    let page = view::stats::page(app);
    if let Some(session) = app.session.as_deref_mut() {
        let rows = session.stats.rows().len();
        session.stats.top = scroll::turned(session.stats.top, by, rows, page);
    }
    vec![]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Query {
        Query::parse(text).unwrap()
    }

    #[test]
    fn a_row_becomes_a_filter_that_reads_back_as_itself_whatever_its_name() {
        let everything = Query::default();
        for name in ["get_forecast", "a b", "x\"y", "OR", "-1", ""] {
            let query = narrowed(&everything, &RowId::Tool(name.into()));
            assert_eq!(read(&query.to_string()), query, "{query}");
            let query = narrowed(&everything, &RowId::Method("s2c", name.into()));
            assert_eq!(read(&query.to_string()), query, "{query}");
        }
        let query = narrowed(&everything, &RowId::Tool("a".into()));
        assert_eq!(query.to_string(), "tool=a");
    }

    #[test]
    fn the_filter_that_was_counted_with_stays_and_a_condition_that_it_has_is_not_added() {
        let of = |text| narrowed(&read(text), &RowId::Tool("a".into())).to_string();
        assert_eq!(of("is:failed"), "is:failed tool=a");
        assert_eq!(of("tool=a"), "tool=a");
        let either = of("is:failed OR is:slow");
        assert_eq!(read(&either).to_string(), either);
        assert!(either.starts_with('('), "{either}");
    }
}
