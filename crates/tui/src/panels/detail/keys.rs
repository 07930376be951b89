//! The keys of the detail: moving, folding, how the body is written.

use super::detail_body::{Position, Spot};
use super::part::Part;
use crate::action::Action;
use crate::app::{App, Focus, Session};
use crate::effect::Effects;
use crate::panels::detail::size;
use crate::panels::detail::{Detail, Representation, Shown, Sides, Tab};
use crate::panels::list;
use crate::panels::menu::{Entry, Menu};
use crate::widget::tree::Tree;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::Stopped;
use mcpreel_wire::text::escape;

type Size = (usize, usize);

/// Moves the cursor, if that is what the action says.
pub fn moved(detail: &mut Detail, action: Action, size: Size) -> Option<Effects> {
    match detail.tab {
        Tab::Body => in_body(detail, action, size)?,
        Tab::Story => in_story(detail, action, size.1)?,
        Tab::Findings => {
            let shown = detail.shown.as_deref_mut()?;
            let rows = shown.findings.len();
            shown.at_finding = crate::widget::cursor::moved(action, shown.at_finding, rows, 3)?;
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
    *at = crate::widget::cursor::moved(action, *at, rows, page)?;
    *top = crate::widget::frame::showing(*at, *top, page);
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
            shown.at_story = (
                at,
                crate::widget::frame::showing(at, shown.at_story.1, size.1),
            );
        }
    }
}

/// Folds or unfolds what is under the cursor; where that is so already, goes out of it or in.
pub fn fold(detail: &mut Detail, action: Action, size: Size) {
    let Some(cursor) = body_cursor(detail) else {
        return;
    };
    let to = match (action, is_folded(detail, cursor)) {
        (Action::Toggle | Action::Expand, Some(true)) => set_folded(detail, cursor, false),
        (Action::Toggle | Action::Collapse, Some(false)) => set_folded(detail, cursor, true),
        (Action::Expand, Some(false)) => {
            let next = detail.body(size.0).and_then(|body| body.next(cursor));
            next.filter(|next| next.part == cursor.part)
        }
        (Action::Collapse, _) => Some(around(detail, cursor)),
        _ => None,
    };
    go(detail, to.unwrap_or(cursor), size);
}

/// The line of what a line is in.
fn around(detail: &Detail, at: Position) -> Position {
    let part = detail
        .shown
        .as_deref()
        .and_then(|one| one.parts.get(at.part));
    let parent = at.node().and_then(|node| part?.tree()?.parent(node));
    parent.map_or(Position::head(at.part), |node| Position {
        spot: Spot::Node(node),
        ..at
    })
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

fn set_folded(detail: &mut Detail, at: Position, folded: bool) -> Option<Position> {
    let part = detail.shown.as_deref_mut()?.parts.get_mut(at.part)?;
    match at.node() {
        Some(node) => part.tree_mut()?.set_folded(node, folded),
        None => part.folded = folded,
    }
    Some(at)
}

/// The cursor of the body, if the body is what is shown.
fn body_cursor(detail: &Detail) -> Option<Position> {
    let shown = detail.shown.as_deref()?;
    (detail.tab == Tab::Body).then_some(shown.at.cursor)
}

/// Goes to the frame `seq`; when its row is there, to the place of the finding with the number
/// `id` in it.
pub fn jump(session: &mut Session, seq: Seq, id: u64) -> Effects {
    session.detail.aim = Some(id);
    list::goto(session, seq)
}

/// Goes to the finding that was jumped to, if its row has come.
pub fn arrive(app: &mut App, session: &mut Session) {
    let size = size(app, session);
    let is_there =
        session.list.go_to.is_none() && crate::panels::selection::shown(session).is_some();
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
    go(detail, place, size);
}

/// Goes to the next place in the messages where something is wrong, or to the one before; after
/// the last one comes the first. Says what is wrong there.
pub fn next(app: &mut App, session: &mut Session, forward: bool) -> Effects {
    let size = size(app, session);
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

/// How the body is written, and how much of it.
pub(crate) fn perform(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    let detail = &mut session.detail;
    match action {
        Action::Representation => detail.representation = detail.representation.next(),
        Action::Sides => detail.sides = detail.sides.next(),
        Action::LoadMore => return Some(load_more(app, session)),
        Action::Fold => {
            app.push(fold_menu());
            return Some(vec![]);
        }
        _ => return None,
    }
    detail.tab = Tab::Body;
    crate::panels::detail::settle(app, session);
    Some(vec![])
}

fn fold_menu() -> Menu {
    let level = |level: u8| {
        let letter = char::from(b'0' + level);
        let label = match level {
            1 => "one level".to_owned(),
            _ => format!("{level} levels"),
        };
        let level = Some(u16::from(level));
        Entry::in_session(letter, label, move |app, session| {
            fold_to(app, session, level)
        })
    };
    let all = Entry::in_session('a', "unfold all", |app, session| {
        fold_to(app, session, None)
    });
    let levels = (1..=5).map(level);
    Menu::new("unfold", [all].into_iter().chain(levels).collect())
}

/// Folds the tree under the cursor to a level; none unfolds all.
fn fold_to(app: &mut App, session: &mut Session, level: Option<u16>) -> Effects {
    let Some(shown) = session.detail.shown.as_deref_mut() else {
        return vec![];
    };
    // On a heading that has no tree, such as a finding, all of them are meant.
    let at = shown.at.cursor.part;
    let one = shown.parts.get(at).filter(|part| part.tree().is_some());
    let meant = match one {
        Some(_) => at..at + 1,
        None => 0..shown.parts.len(),
    };
    for tree in shown.parts[meant].iter_mut().filter_map(Part::tree_mut) {
        match level {
            Some(level) => tree.fold_to(level),
            None => tree.unfold_all(),
        }
    }
    crate::panels::detail::settle(app, session);
    vec![]
}

pub(crate) fn load_more(app: &mut App, session: &mut Session) -> Effects {
    let detail = &mut session.detail;
    let parts = detail.shown.iter().flat_map(|shown| &shown.parts);
    let is_cut = parts.filter_map(|part| part.text.as_ref()).any(is_cut);
    match detail.amount.next() {
        Some(amount) if is_cut => detail.amount = amount,
        _ if is_cut => {
            let text = "more than this is not held; `mcpreel show --json` has all of it";
            app.notices.error(text, app.now);
        }
        _ => app.notices.success("all of it is here", app.now),
    }
    vec![]
}

fn is_cut(text: &super::jobs::Text) -> bool {
    let stopped = text.tree.as_deref().and_then(Tree::stopped);
    (text.bytes.len() as u64) < text.size || matches!(stopped, Some(Stopped::Enough { .. }))
}
