//! What is wrong.

use super::motion::moved;
use crate::action::Action;
use crate::app::findings::{About, Asked, Findings, MOST, PAGE, Place, Row};
use crate::app::text::{Line, Text};
use crate::app::{App, Overlay, View};
use crate::effect::Effects;
use crate::panels::filter::{all_of, conditions};
use crate::view;
use crate::widget::scroll;
use crate::worker::findings::{Answer, GroupId};
use crate::worker::{Ask, findings};
use mcpreel_trace::query::ast::{Expr, Field, Op, Subject, Value};

/// Findings of a recording that grows are judged anew at most so often, nanoseconds.
const EVERY_NS: u64 = 1_000_000_000;

pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    let page = view::findings::page(app);
    let state = &mut app.session.as_deref_mut()?.findings;
    match action {
        Action::Open => return Some(open(app)),
        Action::Explain => return Some(explain(app)),
        Action::Toggle => toggle(state),
        Action::Expand => fold(state, false),
        Action::Collapse => fold(state, true),
        action => {
            let rows = state.all();
            let at = moved(action, state.cursor_row(&rows), rows.len(), page)?;
            let place = rows.get(at).map(Row::place);
            state.cursor = place.unwrap_or_default();
            reveal(state, page);
        }
    }
    Some(vec![])
}

/// Scrolls as far as it takes to see the cursor.
fn reveal(state: &mut Findings, page: usize) {
    let rows = state.all();
    let (at, len) = (state.cursor_row(&rows), rows.len());
    state.top = scroll::showing_of(len, at, state.top, page);
}

/// On a group unfolds it, on a finding goes to its frame, on what was left out reads more.
fn open(app: &mut App) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let state = &mut session.findings;
    let place = under_cursor(state);
    match &place {
        Some(Place::More(group)) => {
            return more(app, group);
        }
        Some(Place::Group(_)) => {
            toggle(state);
            return vec![];
        }
        Some(Place::Finding(..) | Place::First) | None => {}
    }
    let Some(seq) = state.frame() else {
        app.notices
            .error("this finding is about no single frame", app.now);
        return vec![];
    };
    match place {
        Some(Place::Finding(_, id)) => crate::panels::detail::keys::jump(app, seq, id),
        _ => crate::panels::list::goto(app, seq),
    }
}

/// Shows what the rule of the row under the cursor means.
fn explain(app: &mut App) -> Effects {
    let Some(session) = app.session.as_deref() else {
        return vec![];
    };
    let rows = session.findings.all();
    if let Some(row) = rows.get(session.findings.cursor_row(&rows)) {
        let revision = view::explain::revision(session);
        let lines = view::findings::explained(row, revision);
        app.overlays.push(Overlay::Text(explanation(lines)));
    }
    vec![]
}

/// An explanation as a text to be read.
pub fn explanation(lines: Vec<Line>) -> Text {
    Text {
        title: "what it means".to_owned(),
        lines,
        top: 0,
    }
}

/// Reads more of a group, or where that is too much filters the list to it.
fn more(app: &mut App, group: &GroupId) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    match session.findings.unfolded.get_mut(group) {
        Some(wanted) if *wanted < MOST => *wanted = wanted.saturating_mul(4).min(MOST),
        _ => {
            session.view = View::Exchanges;
            let rule = Expr::Compare {
                subject: Subject::Field(Field::Finding),
                op: Op::Equal,
                value: Value::Text {
                    text: group.0.clone(),
                    quoted: false,
                },
            };
            let mut all = conditions(session.filter.in_force());
            all.push(rule);
            let query = all_of(all);
            return crate::panels::filter::set(app, &query.to_string());
        }
    }
    vec![]
}

fn under_cursor(state: &Findings) -> Option<Place> {
    let rows = state.all();
    rows.get(state.cursor_row(&rows)).map(Row::place)
}

fn group_under_cursor(state: &Findings) -> Option<GroupId> {
    match under_cursor(state)? {
        Place::Group(group) | Place::Finding(group, _) | Place::More(group) => Some(group),
        Place::First => None,
    }
}

fn toggle(state: &mut Findings) {
    let is_unfolded =
        group_under_cursor(state).is_some_and(|group| state.unfolded.contains_key(&group));
    fold(state, is_unfolded);
}

/// Folds or unfolds the group under the cursor; the cursor stays in it.
fn fold(state: &mut Findings, close: bool) {
    let Some(group) = group_under_cursor(state) else {
        return;
    };
    if close {
        state.unfolded.remove(&group);
        state.cursor = Place::Group(group);
    } else {
        state.unfolded.entry(group).or_insert(PAGE);
    }
}

pub fn answer(app: &mut App, answer: Answer) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let state = &mut session.findings;
    let asked = state.asked.as_ref().map(|asked| asked.generation);
    match answer {
        Answer::Groups {
            generation,
            groups,
            percent,
        } if asked == Some(generation) => {
            state.groups = Some(groups);
            state.percent = percent;
        }
        Answer::Rows {
            generation,
            group,
            rows,
        } if asked == Some(generation) => {
            state.rows.insert(group, rows);
        }
        Answer::Groups { .. } | Answer::Rows { .. } => {}
    }
    vec![]
}

/// Whether it is time to ask, with so many frames at this moment.
fn is_due(
    state: &Findings,
    about: &About,
    unfolded: &[(GroupId, u32)],
    (frames, now): (u64, u64),
) -> bool {
    state.asked.as_ref().is_none_or(|asked| {
        let rested = now.saturating_sub(asked.at_ns) >= EVERY_NS;
        // What fits a filter changes with what comes; without one it is only added to.
        let is_old = about.query.expr.is_some() && asked.frames != frames;
        asked.about != *about
            || asked.unfolded != unfolded
            || (is_old && rested && state.percent == 100)
    })
}

/// Asks for what the screen lacks.
pub fn wanted(app: &mut App) -> Effects {
    let now = app.now.ui_ns;
    let Some(session) = app.session.as_deref() else {
        return vec![];
    };
    let Some(vitals) = session.vitals.as_deref() else {
        return vec![];
    };
    if session.view != View::Findings {
        return vec![];
    }
    let frames = vitals.summary.frames;
    let about = About {
        query: session.filter.in_force().clone(),
    };
    let state = &session.findings;
    let unfolded: Vec<_> = state.unfolded.clone().into_iter().collect();
    if !is_due(state, &about, &unfolded, (frames, now)) {
        return vec![];
    }
    let generation = app.next_generation();
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let state = &mut session.findings;
    let before = state.asked.replace(Asked {
        generation,
        at_ns: now,
        frames,
        about: about.clone(),
        unfolded: unfolded.clone(),
    });
    if before.is_some_and(|before| before.about != about) {
        state.groups = None;
        state.rows.clear();
    }
    let ask = findings::Ask {
        generation,
        query: about.query,
        unfolded,
        known: state.groups.is_some() && state.percent == 100,
    };
    vec![Ask::Findings(ask).into()]
}

/// A click on a cell of the screen: selects the row there.
pub fn click(app: &mut App, (x, y): (u16, u16)) -> Effects {
    let row = view::findings::hit(app, (x, y));
    if let (Some(session), Some(row)) = (app.session.as_deref_mut(), row) {
        let state = &mut session.findings;
        let place = state.all().get(row).map(Row::place);
        state.cursor = place.unwrap_or_default();
    }
    vec![]
}

/// The wheel was turned by so many rows: scrolls without moving the cursor.
pub fn wheel(app: &mut App, by: isize) -> Effects {
    let page = view::findings::page(app);
    if let Some(session) = app.session.as_deref_mut() {
        let state = &mut session.findings;
        state.top = scroll::turned(state.top, by, state.all().len(), page);
    }
    vec![]
}
