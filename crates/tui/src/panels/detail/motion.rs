//! The keys of the detail: moving, folding, how the body is written, and the places where something
//! is wrong.

use super::detail_body::Position;
use super::part::Part;
use super::{Detail, Representation, Tab, settle, size};
use crate::action::Action;
use crate::app::{App, Focus, Session};
use crate::effect::Effects;
use crate::panels::{list, selection};
use crate::widget::tree::Tree;
use crate::widget::{cursor, frame};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::Stopped;
use mcpreel_wire::text::escape;

pub fn perform(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    let (_, page) = size(app, session);
    let detail = &mut session.detail;
    match action {
        Action::NextPane | Action::PreviousPane => {
            let by = if action == Action::NextPane { 1 } else { -1 };
            let tabs: Vec<_> = detail.tabs().collect();
            let at = tabs.iter().position(|tab| *tab == detail.tab());
            let to = at.and_then(|at| at.checked_add_signed(by));
            let tab = to.and_then(|to| tabs.get(to));
            detail.chosen = tab.copied().unwrap_or_default();
            return tab.map(|_| vec![]);
        }
        Action::NextViolation => return next(app, session, true),
        Action::PreviousViolation => return next(app, session, false),
        Action::Collapse | Action::Expand | Action::Toggle => fold(detail, action),
        Action::LoadMore => return Some(load_more(app, session)),
        Action::Representation => {
            detail.chosen = Tab::Body;
            detail.representation = detail.representation.next();
        }
        _ => moved(detail, action, page)?,
    }
    settle(app, session);
    Some(vec![])
}

/// Moves the cursor, if that is what the action says.
fn moved(detail: &mut Detail, action: Action, page: usize) -> Option<()> {
    let body = detail.body()?;
    let shown = detail.shown.as_deref()?;
    let tab = detail.tab();
    let (at, rows) = match tab {
        Tab::Body => (body.line_of(shown.at.cursor), body.len()),
        Tab::Story => (shown.at_story.0, shown.story_rows()),
        Tab::Findings => (shown.at_finding, shown.findings.len()),
    };
    let to = cursor::moved(action, at, rows, page)?;
    let position = body.position(to);
    let shown = detail.shown.as_deref_mut()?;
    match tab {
        Tab::Body => shown.at.cursor = position,
        Tab::Story => {
            shown.at_story = (to, frame::showing(to, shown.at_story.1, page));
        }
        Tab::Findings => shown.at_finding = to,
    }
    Some(())
}

/// Folds or unfolds what is under the cursor; where that is so already, goes out of it or in.
pub fn fold(detail: &mut Detail, action: Action) {
    let (Some(body), Some(part)) = (detail.body(), detail.part()) else {
        return;
    };
    let Some(cursor) = detail.cursor().filter(|_| detail.tab() == Tab::Body) else {
        return;
    };
    let (node, tree) = (detail.node(), part.tree());
    let folded = match (node, tree) {
        (Some(node), Some(tree)) => tree.can_fold(node).then(|| tree.is_folded(node)),
        _ => (cursor.byte.is_none() && part.text.is_some()).then_some(part.folded),
    };
    let next = body.position(body.line_of(cursor) + 1);
    let parent = node.and_then(|node| part.place_of_parent(cursor.part, node));
    let Some(shown) = detail.shown.as_deref_mut() else {
        return;
    };
    let to_fold = match (action, folded) {
        (Action::Toggle | Action::Expand, Some(true)) => Some(false),
        (Action::Toggle | Action::Collapse, Some(false)) => Some(true),
        (Action::Expand, Some(false)) if next.part == cursor.part => {
            shown.at.cursor = next;
            None
        }
        (Action::Collapse, _) => {
            shown.at.cursor = parent.unwrap_or(Position::head(cursor.part));
            None
        }
        _ => None,
    };
    if let (Some(folded), Some(part)) = (to_fold, shown.parts.get_mut(cursor.part)) {
        match (node, part.tree_mut()) {
            (Some(node), Some(tree)) => tree.set_folded(node, folded),
            _ => part.folded = folded,
        }
    }
}

pub fn load_more(app: &mut App, session: &mut Session) -> Effects {
    let detail = &mut session.detail;
    let is_cut = |part: &Part| {
        let stopped = part.tree().and_then(Tree::stopped);
        let size = part.text.as_ref().map_or(0, |text| text.size);
        (part.bytes().len() as u64) < size || matches!(stopped, Some(Stopped::Enough { .. }))
    };
    let mut parts = detail.shown.iter().flat_map(|shown| &shown.parts);
    match (parts.any(is_cut), detail.amount.next()) {
        (true, Some(amount)) => {
            detail.amount = amount;
            vec![]
        }
        (true, None) => {
            app.refuse("the viewer loads no more of it; `mcpreel show --json` prints all")
        }
        (false, _) => app.say("all of it is loaded"),
    }
}

/// Goes to the frame `seq`; when its row is there, to the place of the finding with the number
/// `id` in it.
pub fn jump(session: &mut Session, seq: Seq, id: u64) -> Effects {
    session.detail.aim = Some(id);
    list::goto(session, seq)
}

/// Goes to the finding that was jumped to, if its row has come.
pub fn arrive(app: &mut App, session: &mut Session) {
    let is_there = session.list.go_to.is_none() && selection::shown(session).is_some();
    let detail = &mut session.detail;
    let Some(id) = detail.aim.take_if(|_| is_there) else {
        return;
    };
    // A filter may hide the row; then another one is selected, which has nothing to do with it.
    let findings = detail.shown.iter_mut().flat_map(|shown| &shown.findings);
    let Some(at) = findings.into_iter().position(|finding| finding.id == id) else {
        return;
    };
    session.focus = Focus::Detail;
    if !go_to(app, session, at) {
        session.detail.chosen = Tab::Findings;
    }
}

/// Goes to the place of a finding of the row, if it has one. Whether it has.
pub fn go_to(app: &mut App, session: &mut Session, finding: usize) -> bool {
    let shown = session.detail.shown.as_deref_mut();
    let place = shown.and_then(|shown| {
        shown.at_finding = finding;
        shown.place_of(finding)
    });
    place.map(|place| reveal(app, session, place)).is_some()
}

/// Shows a place in its tree.
fn reveal(app: &mut App, session: &mut Session, place: Position) {
    let detail = &mut session.detail;
    detail.chosen = Tab::Body;
    detail.representation = Representation::Tree;
    let Some(shown) = detail.shown.as_deref_mut() else {
        return;
    };
    shown.at.cursor = place;
    if let (Some(part), Some(byte)) = (shown.parts.get_mut(place.part), place.byte) {
        part.folded = false;
        part.reveal(byte);
    }
    settle(app, session);
}

/// Goes to the next place in the messages where something is wrong, or to the one before; after
/// the last one comes the first. Says what is wrong there.
fn next(app: &mut App, session: &mut Session, forward: bool) -> Option<Effects> {
    let shown = session.detail.shown.as_deref_mut()?;
    let findings = 0..shown.findings.len();
    let places = findings.filter_map(|at| Some((shown.place_of(at)?, at)));
    // Of each place the worst finding, which comes first.
    let mut places: Vec<_> = places.collect();
    places.sort_unstable();
    places.dedup_by_key(|(place, _)| *place);
    let from = shown.at.cursor;
    let at = if forward {
        let next = places.iter().position(|(place, _)| *place > from);
        next.unwrap_or(0)
    } else {
        let before = places.iter().rposition(|(place, _)| *place < from);
        before.unwrap_or(places.len().saturating_sub(1))
    };
    let Some((place, nth)) = places.get(at).copied() else {
        return Some(app.refuse("no finding points into these messages"));
    };
    shown.at_finding = nth;
    let finding = &shown.findings[nth];
    let (severity, rule) = (escape(&finding.severity), escape(&finding.rule));
    let (at, of, detail) = (at + 1, places.len(), escape(&finding.detail));
    let text = format!("{at} of {of}: {severity} {rule}: {detail}");
    reveal(app, session, place);
    Some(app.say(text))
}
