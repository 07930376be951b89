//! The same rows in time.

use super::motion::moved;
use crate::query::Query;
use crate::query::ast::{Expr, Field, Op, Subject, Value};
use crate::tui::action::Action;
use crate::tui::app::timeline::{About, Asked, Timeline};
use crate::tui::app::{App, View};
use crate::tui::effect::Effects;
use crate::tui::view;
use crate::tui::worker::timeline::{Answer, Window};
use crate::tui::worker::{Ask, timeline};

/// The picture of a recording that grows is drawn anew at most so often, nanoseconds.
const EVERY_NS: u64 = 500_000_000;

/// The shortest range, nanoseconds: the recorder's clock says nothing finer.
const SHORTEST_NS: u64 = 10_000;

/// Does it, if it is about this.
pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    let page = view::timeline::size(app).1;
    let state = &mut app.session.as_deref_mut()?.timeline;
    match action {
        Action::ZoomIn => zoom(state, false),
        Action::ZoomOut => zoom(state, true),
        Action::PanLeft => pan(state, false),
        Action::PanRight => pan(state, true),
        Action::FilterRange => return Some(filter_range(app)),
        Action::Open => return Some(open(app)),
        Action::Top => {
            state.cursor = Some(crate::trace::item::ItemKey::default());
            state.offset = 0;
        }
        Action::Bottom => {
            state.cursor = None;
            state.offset = page.saturating_sub(1);
        }
        action => {
            let picture = state.picture.as_deref()?;
            let (at, rows) = (state.cursor_row(), picture.rows.len());
            let to = moved(action, at, rows, page)?;
            match action {
                Action::Down if at == to && !picture.more.1 => pan(state, true),
                Action::Up if at == to && !picture.more.0 => pan(state, false),
                _ => put_cursor(state, to, page),
            }
        }
    }
    Some(vec![])
}

/// Puts the cursor on the row `to` and scrolls as far as it takes to see it.
fn put_cursor(state: &mut Timeline, to: usize, page: usize) {
    let top = state.top(page);
    let Some(picture) = state.picture.as_deref() else {
        return;
    };
    let top = top.clamp((to + 1).saturating_sub(page.max(1)), to);
    state.cursor = picture.rows.get(to).map(|bar| bar.key);
    state.offset = to - top;
}

/// Halves or doubles the range. What the cursor is on stays where it is on the screen.
fn zoom(state: &mut Timeline, out: bool) {
    let Some(picture) = state.picture.as_deref() else {
        return;
    };
    let window = state.window.unwrap_or(picture.window);
    let bar = picture.rows.get(state.cursor_row());
    let middle = window.from + window.span() / 2;
    let at = bar.map_or(middle, |bar| bar.exchange.t_request.0);
    let at = at.clamp(window.from, window.to);
    let span = if out {
        window.span().saturating_mul(2)
    } else {
        (window.span() / 2).max(SHORTEST_NS)
    };
    let before = u128::from(at - window.from) * u128::from(span) / u128::from(window.span());
    let from = at.saturating_sub(u64::try_from(before).unwrap_or(0));
    state.window = within(from, span, picture.end_ns);
}

/// Shows what was half a screen earlier or later.
fn pan(state: &mut Timeline, later: bool) {
    let (Some(picture), Some(window)) = (state.picture.as_deref(), state.window) else {
        return;
    };
    let half = window.span() / 2;
    let from = if later {
        window.from.saturating_add(half)
    } else {
        window.from.saturating_sub(half)
    };
    state.window = within(from, window.span(), picture.end_ns);
}

/// A range of this length as near to `from` as the recording has it; none if it has no more.
fn within(from: u64, span: u64, end: u64) -> Option<Window> {
    if span >= end {
        return None;
    }
    let from = from.min(end - span);
    let to = from + span;
    Some(Window { from, to })
}

/// Filters to the range on the screen.
fn filter_range(app: &mut App) -> Effects {
    let Some(session) = app.session.as_deref() else {
        return vec![];
    };
    let Some(picture) = session.timeline.picture.as_deref() else {
        return vec![];
    };
    let query = narrowed(session.filter.in_force(), picture.window);
    super::filter::set(app, &query.to_string())
}

/// The filter with this range in place of the one that it had.
fn narrowed(query: &Query, window: Window) -> Query {
    let number = |ns| i64::try_from(ns).unwrap_or(i64::MAX);
    let range = Expr::Compare {
        subject: Subject::Field(Field::Time),
        op: Op::Contains,
        value: Value::Range(number(window.from)..=number(window.to)),
    };
    let is_range = |expr: &Expr| {
        matches!(
            expr,
            Expr::Compare {
                subject: Subject::Field(Field::Time),
                ..
            }
        )
    };
    let mut all = match query.expr.clone() {
        None => Vec::new(),
        Some(Expr::And(all)) => all,
        Some(expr) => vec![expr],
    };
    all.retain(|expr| !is_range(expr));
    all.push(range);
    Query::all_of(all)
}

/// Goes to the row in the list.
fn open(app: &mut App) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let state = &session.timeline;
    let picture = state.picture.as_deref();
    let Some(bar) = picture.and_then(|picture| picture.rows.get(state.cursor_row())) else {
        return vec![];
    };
    let seq = bar.key.seq;
    session.view = View::Exchanges;
    super::list::goto(app, seq)
}

/// An answer has come.
pub fn answer(app: &mut App, answer: Answer) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let state = &mut session.timeline;
    let Some(asked) = state
        .asked
        .as_ref()
        .filter(|asked| asked.generation == answer.generation)
    else {
        return vec![];
    };
    // A picture of the same stays until the new one is as complete.
    let same = state
        .shown
        .as_ref()
        .is_some_and(|shown| shown.about == asked.about && shown.generation != asked.generation);
    if !same || (answer.picture.percent == 100 && !answer.picture.looking) {
        state.shown = Some(asked.clone());
        state.picture = Some(answer.picture);
    }
    vec![]
}

/// Asks for what the screen lacks.
pub fn wanted(app: &mut App) -> Effects {
    let size = view::timeline::size(app);
    let now = app.now.ui_ns;
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let (until, query) = (session.until(), session.filter.in_force());
    let Some(vitals) = session.vitals.as_deref() else {
        return vec![];
    };
    if session.view != View::Timeline {
        return vec![];
    }
    let state = &mut session.timeline;
    let about = About {
        query: query.clone(),
        until,
        window: state.window,
        size,
    };
    let frames = vitals.summary.frames;
    if state.asked.is_none() && !session.list.follows() {
        state.cursor = session.list.selected();
    }
    let is_due = state.asked.as_ref().is_none_or(|asked| {
        let is_old = asked.frames != frames && until.is_none();
        let is_answered = state.shown.as_ref() == Some(asked);
        let rested = now.saturating_sub(asked.at_ns) >= EVERY_NS;
        asked.about != about
            || (is_answered && asked.anchor != state.cursor && nears_end(state, size.1))
            || (is_old && is_answered && rested && is_complete(state))
    });
    if !is_due {
        return vec![];
    }
    let anchor = state.cursor;
    let generation = app.next_generation();
    let ask = timeline::Ask {
        generation,
        query: about.query.clone(),
        until,
        window: about.window,
        columns: size.0,
        anchor,
        rows: size.1.max(10) * 2,
    };
    if let Some(session) = app.session.as_deref_mut() {
        session.timeline.asked = Some(Asked {
            generation,
            at_ns: now,
            frames,
            about,
            anchor,
        });
    }
    vec![Ask::Timeline(ask).into()]
}

/// Whether nothing of the picture is still looked for.
fn is_complete(state: &Timeline) -> bool {
    let picture = state.picture.as_deref();
    picture.is_none_or(|picture| picture.percent == 100 && !picture.looking)
}

/// Whether the cursor is where more rows are needed than there are.
fn nears_end(state: &Timeline, page: usize) -> bool {
    let Some(picture) = state.picture.as_deref() else {
        return false;
    };
    let at = state.cursor_row();
    (picture.more.0 && at < page) || (picture.more.1 && at + page >= picture.rows.len())
}

/// A click on a cell of the screen: selects the row there.
pub fn click(app: &mut App, (x, y): (u16, u16)) -> Effects {
    let page = view::timeline::size(app).1;
    let row = view::timeline::hit(app, (x, y));
    if let (Some(session), Some(row)) = (app.session.as_deref_mut(), row) {
        put_cursor(&mut session.timeline, row, page);
    }
    vec![]
}

/// The wheel: moves the cursor, which the screen follows.
pub fn wheel(app: &mut App, down: bool) -> Effects {
    let action = if down { Action::Down } else { Action::Up };
    for _ in 0..3 {
        perform(app, action);
    }
    vec![]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::worker::timeline::Picture;

    fn window(from: u64, to: u64) -> Window {
        Window { from, to }
    }

    #[test]
    fn a_range_stays_within_the_recording() {
        assert_eq!(within(90, 50, 100), Some(window(50, 100)));
        assert_eq!(within(0, 50, 100), Some(window(0, 50)));
        assert_eq!(within(10, 100, 100), None);
    }

    #[test]
    fn zooming_in_and_out_again_comes_back_to_the_whole() {
        let mut state = Timeline {
            picture: Some(Box::new(Picture {
                window: window(0, 1_000_000_000),
                end_ns: 1_000_000_000,
                ..Picture::default()
            })),
            ..Timeline::default()
        };
        zoom(&mut state, false);
        assert_eq!(state.window, Some(window(250_000_000, 750_000_000)));
        pan(&mut state, true);
        assert_eq!(state.window, Some(window(500_000_000, 1_000_000_000)));
        pan(&mut state, true);
        assert_eq!(state.window, Some(window(500_000_000, 1_000_000_000)));
        zoom(&mut state, true);
        assert_eq!(state.window, None);
    }

    #[test]
    fn the_range_takes_the_place_of_the_one_before_in_a_filter_that_reads_back() {
        let query = Query::parse("method:tools/call time:1s..2s").unwrap();
        let query = narrowed(&query, window(1_500_000_001, 3_000_000_000));
        let text = query.to_string();
        assert_eq!(text.matches("time").count(), 1, "{text}");
        assert_eq!(Query::parse(&text).as_ref(), Ok(&query), "{text}");
        let text = narrowed(&Query::default(), window(0, 60_000_000_000)).to_string();
        assert!(Query::parse(&text).is_ok(), "{text}");
    }
}
