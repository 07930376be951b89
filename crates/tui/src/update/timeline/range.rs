//! The range on the screen: zoomed, moved, and as a filter.

use crate::app::timeline::Timeline;
use crate::panels::filter::{all_of, conditions};
use crate::worker::timeline::Window;
use mcpreel_trace::query::Query;
use mcpreel_trace::query::ast::{Expr, Field, Op, Subject, Value};

/// The shortest range, nanoseconds: the recorder's clock says nothing finer.
const SHORTEST_NS: u64 = 10_000;

/// Halves or doubles the range. What the cursor is on stays where it is on the screen.
pub(super) fn zoom(state: &mut Timeline, out: bool) {
    let Some(picture) = state.picture.as_deref() else {
        return;
    };
    let window = state.window.unwrap_or(picture.window);
    let bar = picture.rows.get(state.cursor_row());
    let bar = bar.filter(|_| state.has_cursor());
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
pub(super) fn pan(state: &mut Timeline, later: bool) {
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

/// The filter with this range in place of the one that it had.
pub(super) fn narrowed(query: &Query, window: Window) -> Query {
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
    let mut all = conditions(query);
    all.retain(|expr| !is_range(expr));
    all.push(range);
    all_of(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::timeline::Picture;

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
