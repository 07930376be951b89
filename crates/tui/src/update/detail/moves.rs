//! The cursor of the detail.

use crate::action::Action;
use crate::app::detail::body::{Position, Spot};
use crate::app::detail::{Detail, Tab};
use crate::effect::Effects;
use crate::update::motion;
use crate::widget::scroll;

type Size = (usize, usize);

/// Moves the cursor, if that is what the action says.
pub fn moved(detail: &mut Detail, action: Action, size: Size) -> Option<Effects> {
    match detail.tab {
        Tab::Body => in_body(detail, action, size)?,
        Tab::Story => in_story(detail, action, size.1)?,
        Tab::Findings => {
            let shown = detail.shown.as_deref_mut()?;
            let rows = shown.findings.len();
            shown.at_finding = motion::moved(action, shown.at_finding, rows, 3)?;
        }
    }
    Some(vec![])
}

fn in_body(detail: &mut Detail, action: Action, size: Size) -> Option<()> {
    let body = detail.body(size.0)?;
    let page = isize::try_from(size.1.max(1)).unwrap_or(isize::MAX);
    let half = (page / 2).max(1);
    let shown = detail.shown.as_deref()?;
    let at = body.snap(shown.at.cursor);
    let to = match action {
        Action::Down => body.step(at, 1),
        Action::Up => body.step(at, -1),
        Action::HalfPageDown => body.step(at, half),
        Action::HalfPageUp => body.step(at, -half),
        Action::PageDown => body.step(at, page),
        Action::PageUp => body.step(at, -page),
        Action::Top => body.first(),
        Action::Bottom => body.last(),
        _ => return None,
    };
    go(detail, to, size);
    Some(())
}

fn in_story(detail: &mut Detail, action: Action, page: usize) -> Option<()> {
    let shown = detail.shown.as_deref_mut()?;
    let rows = shown.story.as_ref().map_or(0, |story| story.rows.len());
    let (at, top) = &mut shown.at_story;
    *at = motion::moved(action, *at, rows, page)?;
    *top = scroll::showing(*at, *top, page);
    Some(())
}

/// Puts the cursor of the body on `to`.
pub fn go(detail: &mut Detail, to: Position, size: Size) {
    if let Some(shown) = detail.shown.as_deref_mut() {
        shown.at.cursor = to;
    }
    settle(detail, size);
}

/// Puts the cursor on a line that there is, and the line on the screen.
pub fn settle(detail: &mut Detail, size: Size) {
    detail.size = size;
    let place = detail.body(size.0).and_then(|body| {
        let shown = detail.shown.as_deref()?;
        Some(body.scrolled(shown.at, size.1))
    });
    if let (Some(shown), Some(place)) = (detail.shown.as_deref_mut(), place) {
        shown.at = place;
        shown.at_finding = shown.at_finding.min(shown.findings.len().saturating_sub(1));
        // A story that has not come yet leaves the cursor where it was.
        if let Some(story) = &shown.story {
            let at = shown.at_story.0.min(story.rows.len().saturating_sub(1));
            shown.at_story = (at, scroll::showing(at, shown.at_story.1, size.1));
        }
    }
}

/// Folds what is under the cursor, or goes to what it is in.
pub fn collapse(detail: &mut Detail, size: Size) {
    let Some(to) = folded_or_around(detail) else {
        return;
    };
    go(detail, to, size);
}

fn folded_or_around(detail: &mut Detail) -> Option<Position> {
    let cursor = body_cursor(detail)?;
    let shown = detail.shown.as_deref_mut()?;
    let part = shown.parts.get_mut(cursor.part)?;
    let head = Position::head(cursor.part);
    match cursor.spot {
        Spot::Head => {
            part.folded = part.can_fold();
            Some(head)
        }
        Spot::Node(node) => {
            let tree = part.tree_mut()?;
            if tree.can_fold(node) && !tree.is_folded(node) {
                tree.set_folded(node, true);
                return Some(cursor);
            }
            let around = tree.parent(node).map(Spot::Node);
            Some(around.map_or(head, |spot| Position { spot, ..cursor }))
        }
        Spot::Byte(_) | Spot::Note(_) => Some(head),
    }
}

/// Unfolds what is under the cursor, or goes to the first thing in it.
pub fn expand(detail: &mut Detail, size: Size) {
    let Some(cursor) = body_cursor(detail) else {
        return;
    };
    let is_folded = is_folded(detail, cursor);
    if is_folded == Some(true) {
        return toggle(detail, size);
    }
    let inside = detail.body(size.0).and_then(|body| {
        let next = body.next(cursor)?;
        let is_inside = match cursor.spot {
            Spot::Head => next.part == cursor.part,
            Spot::Node(_) => is_folded == Some(false),
            Spot::Byte(_) | Spot::Note(_) => false,
        };
        is_inside.then_some(next)
    });
    if let Some(inside) = inside {
        go(detail, inside, size);
    }
}

/// Folds what is unfolded, unfolds what is folded.
pub fn toggle(detail: &mut Detail, size: Size) {
    let Some(cursor) = body_cursor(detail) else {
        return;
    };
    if let Some(part) = part_mut(detail, cursor) {
        match cursor.spot {
            Spot::Head => part.folded = part.can_fold() && !part.folded,
            Spot::Node(node) => {
                if let Some(tree) = part.tree_mut() {
                    tree.toggle(node);
                }
            }
            Spot::Byte(_) | Spot::Note(_) => {}
        }
    }
    go(detail, cursor, size);
}

/// Whether what stands at `position` is folded; none where nothing can be.
fn is_folded(detail: &Detail, position: Position) -> Option<bool> {
    let part = detail.shown.as_deref()?.parts.get(position.part)?;
    match position.spot {
        Spot::Head => part.can_fold().then_some(part.folded),
        Spot::Node(node) => {
            let tree = part.tree()?;
            tree.can_fold(node).then(|| tree.is_folded(node))
        }
        Spot::Byte(_) | Spot::Note(_) => None,
    }
}

fn part_mut(
    detail: &mut Detail,
    position: Position,
) -> Option<&mut crate::app::detail::part::Part> {
    let shown = detail.shown.as_deref_mut()?;
    shown.parts.get_mut(position.part)
}

/// The cursor of the body, if the body is what is shown.
fn body_cursor(detail: &Detail) -> Option<Position> {
    let shown = detail.shown.as_deref()?;
    (detail.tab == Tab::Body).then_some(shown.at.cursor)
}
