//! To the places where something is wrong: from one to the next, and from a finding.

use super::{moves, size};
use crate::app::detail::body::{Position, Spot};
use crate::app::detail::part::Part;
use crate::app::detail::{Detail, Representation, Shown, Sides, Tab};
use crate::app::{App, Focus};
use crate::effect::Effects;
use crate::update::selection;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::text::escape;

/// Goes to the frame `seq`; when its row is there, to the place of the finding with the number
/// `id` in it.
pub fn jump(app: &mut App, seq: Seq, id: u64) -> Effects {
    if let Some(session) = app.session.as_deref_mut() {
        session.detail.aim = Some(id);
    }
    crate::panels::list::goto(app, seq)
}

/// Goes to the finding that was jumped to, if its row has come.
pub fn arrive(app: &mut App) {
    let size = size(app);
    let Some(session) = app.session.as_deref_mut() else {
        return;
    };
    let is_there = session.list.go_to.is_none() && selection::shown(session).is_some();
    let Some(id) = session.detail.aim.filter(|_| is_there) else {
        return;
    };
    session.detail.aim = None;
    let detail = &mut session.detail;
    let Some(shown) = detail.shown.as_deref_mut() else {
        return;
    };
    // A filter may hide the row; then another one is selected, which has nothing to do with it.
    let Some(at) = shown.findings.iter().position(|finding| finding.id == id) else {
        return;
    };
    session.focus = Focus::Detail;
    shown.at_finding = at;
    match shown.place_of(at) {
        Some(place) => reveal(detail, place, size),
        None => detail.tab = Tab::Findings,
    }
}

/// Goes to the place of a finding of the row, if it has one. Whether it has.
pub fn go_to(detail: &mut Detail, finding: usize, size: (usize, usize)) -> bool {
    let shown = detail.shown.as_deref();
    let place = shown.and_then(|shown| shown.place_of(finding));
    if let Some(place) = place {
        reveal(detail, place, size);
    }
    place.is_some()
}

/// Shows the node there in its tree.
fn reveal(detail: &mut Detail, place: Position, size: (usize, usize)) {
    detail.tab = Tab::Body;
    detail.representation = Representation::Tree;
    if let Some(part) = detail
        .shown
        .as_deref_mut()
        .and_then(|shown| shown.parts.get_mut(place.part))
    {
        if !part.is_on(detail.sides) {
            detail.sides = Sides::Both;
        }
        if let Spot::Node(node) = place.spot {
            part.folded = false;
            if let Some(tree) = part.tree_mut() {
                tree.reveal(node);
            }
        }
    }
    moves::go(detail, place, size);
}

/// Goes to the next place in the messages where something is wrong, or to the one before; after
/// the last one comes the first. Says what is wrong there.
pub fn next(app: &mut App, forward: bool) -> Effects {
    let size = size(app);
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let detail = &mut session.detail;
    let found = following(detail, forward, size.0);
    let Some((place, finding, text)) = found else {
        let text = "no finding is about a place in these messages";
        app.notices.error(text, app.now);
        return vec![];
    };
    if let Some(shown) = detail.shown.as_deref_mut() {
        shown.at_finding = finding;
    }
    reveal(detail, place, size);
    app.notices.success(text, app.now);
    vec![]
}

/// The next place or the one before, its worst finding, and what is said of it.
fn following(detail: &Detail, forward: bool, columns: usize) -> Option<(Position, usize, String)> {
    let shown = detail.shown.as_deref()?;
    let places = places(shown);
    let from = detail.body(columns)?.snap(shown.at.cursor);
    let at = if forward {
        let next = places.iter().position(|(place, _)| *place > from);
        next.unwrap_or(0)
    } else {
        let before = places.iter().rposition(|(place, _)| *place < from);
        before.unwrap_or(places.len().saturating_sub(1))
    };
    let (place, nth) = *places.get(at)?;
    let finding = shown.findings.get(nth)?;
    let text = format!(
        "{} of {}: {} {}: {}",
        at + 1,
        places.len(),
        escape(&finding.severity),
        escape(&finding.rule),
        escape(&finding.detail)
    );
    Some((place, nth, text))
}

/// Where something is wrong, in order, each with its worst finding.
fn places(shown: &Shown) -> Vec<(Position, usize)> {
    let of_part = |(nth, part): (usize, &Part)| {
        let violations = part.violations();
        let nodes = violations.into_iter().flat_map(|violations| {
            let first = |node| {
                violations
                    .at(node)
                    .first()
                    .map(|first| (node, first.finding))
            };
            violations.nodes().filter_map(first)
        });
        let place = |(node, finding)| (part.place(nth, node), finding);
        nodes.map(place).collect::<Vec<_>>()
    };
    shown.parts.iter().enumerate().flat_map(of_part).collect()
}
