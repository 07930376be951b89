//! The mouse in the detail.

use super::{moves, open, size};
use crate::app::detail::body::{Position, Spot};
use crate::app::detail::part::Part;
use crate::app::detail::{Detail, Tab};
use crate::app::{App, Focus};
use crate::effect::Effects;
use crate::layout;
use crate::view::detail as view;
use crate::widget::scroll;

/// A click at this column and row of the screen, within the pane.
pub fn click(app: &mut App, (column, row): (u16, u16), double: bool) -> Effects {
    let size = size(app);
    let Some(session) = app.session.as_deref() else {
        return vec![];
    };
    let area = layout::session(app, session).detail;
    let inner = view::inner(app, area);
    let on_tab = view::tab_at(app, session, area, (column, row));
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    session.focus = Focus::Detail;
    let detail = &mut session.detail;
    if let Some(tab) = on_tab {
        detail.tab = tab;
        return vec![];
    }
    let Some(down) = row.checked_sub(inner.y).filter(|down| *down < inner.height) else {
        return vec![];
    };
    let down = usize::from(down);
    match detail.tab {
        Tab::Body => {
            let left = usize::from(column.saturating_sub(inner.x));
            if click_line(detail, (left, down), double, size) == Some(Folded) {
                return vec![];
            }
        }
        Tab::Story => {
            if let Some(shown) = detail.shown.as_deref_mut() {
                let rows = shown.story.as_ref().map_or(0, |story| story.rows.len());
                shown.at_story.0 = (shown.at_story.1 + down).min(rows.saturating_sub(1));
            }
        }
        Tab::Findings => {}
    }
    if double { open::open(app) } else { vec![] }
}

/// A click that folded or unfolded.
#[derive(PartialEq, Eq)]
struct Folded;

/// A click on a line of the body: the cursor goes there; on an arrow it folds.
fn click_line(
    detail: &mut Detail,
    (left, down): (usize, usize),
    double: bool,
    size: (usize, usize),
) -> Option<Folded> {
    let top = detail.shown.as_deref()?.at.top;
    let to = detail
        .body(size.0)?
        .step(top, isize::try_from(down).unwrap_or(0));
    let on_sign = is_on_sign(detail, to, left);
    moves::go(detail, to, size);
    if on_sign && !double {
        moves::toggle(detail, size);
    }
    on_sign.then_some(Folded)
}

/// Whether the column `left` of the line is that of its arrow.
fn is_on_sign(detail: &Detail, at: Position, left: usize) -> bool {
    let part = detail
        .shown
        .as_deref()
        .and_then(|shown| shown.parts.get(at.part));
    match (at.spot, part.and_then(Part::tree)) {
        (Spot::Head, _) => left < view::body::INDENT,
        (Spot::Node(node), Some(tree)) => {
            let level = left.checked_sub(view::body::INDENT).map(|left| left / 2);
            let row = tree.row(tree.row_of(node), 0, &[]);
            row.is_some_and(|row| level == Some(row.depth.into()))
        }
        _ => false,
    }
}

/// The wheel was turned by so many rows: the picture moves, the cursor does not.
pub fn wheel(app: &mut App, by: isize) -> Effects {
    let size = size(app);
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let detail = &mut session.detail;
    let top = detail.body(size.0).and_then(|body| {
        let top = body.snap(detail.shown.as_deref()?.at.top);
        let to = body.step(top, by);
        // The last line stays at the bottom at most.
        let rows = isize::try_from(size.1.saturating_sub(1)).unwrap_or(0);
        Some(to.min(body.step(body.last(), -rows)))
    });
    let tab = detail.tab;
    if let (Some(shown), Some(top)) = (detail.shown.as_deref_mut(), top) {
        match tab {
            Tab::Body => shown.at.top = top,
            Tab::Story => {
                let rows = shown.story.as_ref().map_or(0, |story| story.rows.len());
                shown.at_story.1 = scroll::turned(shown.at_story.1, by, rows, size.1);
            }
            Tab::Findings => {
                let last = shown.findings.len().saturating_sub(1);
                shown.at_finding = shown
                    .at_finding
                    .saturating_add_signed(by.signum())
                    .min(last);
            }
        }
    }
    vec![]
}
