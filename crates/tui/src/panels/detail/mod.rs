//! One row in full.
//!
//! * [`shown`]: the state; [`part`]: the parts of a body: findings, note, request, response;
//! * [`detail_body`]: their lines, and moving among them; [`motion`] and [`detail_open`]: the cursor, folding, the
//!   mouse; [`detail_draw`], [`head`], [`timing_bar`] and [`tabs`]: how
//!   they look;
//! * [`jobs`]: reading a row; [`violations`] and [`detail_schema`]: findings and schemas beside its
//!   values.

pub mod detail_body;
pub mod detail_draw;
pub mod detail_open;
pub mod detail_schema;
pub mod head;
pub mod jobs;
pub mod motion;
pub mod part;
pub mod shown;
pub mod tabs;
pub mod timing_bar;
pub mod violations;

use crate::action::Action;
use crate::app::{App, Session};
use crate::effect::{Effect, Effects};
use crate::layout;
use crate::panels::selection;
use crate::theme::Role;
use crate::widget::frame;
use crate::worker::Vitals;
use crate::worker::job::Slot;
use jobs::{Found, Reading};
use mcpreel_lint::cause::{self, Cause};
use mcpreel_share::phrases;
use mcpreel_trace::exchange::Exchange;
pub use part::Representation;
use part::{Amount, Part};
use shown::{Ask, Place};
pub use shown::{Detail, Shown, Tab};

pub fn perform(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    match action {
        Action::Open => Some(detail_open::open(app, session)),
        Action::Explain => Some(detail_open::explain(app, session)),
        _ => motion::perform(app, session, action),
    }
}

/// The row has been read, or its story.
fn found(app: &mut App, session: &mut Session, found: Found) -> Effects {
    let terms = session.sought().to_vec();
    let detail = &mut session.detail;
    match found {
        Found::Row(row) => {
            let before = detail.shown.take();
            let vitals = session.vitals.as_deref();
            detail.shown = row.map(|mut row| {
                let lost = row.item.exchange().zip(vitals).and_then(unanswered);
                let lost = lost.map(|words| Part::words(Role::Bad, &words));
                row.parts.splice(0..0, lost);
                let address = |ask: Ask| (ask.lens, ask.key);
                if let Some(before) = before.filter(|one| address(one.ask) == address(row.ask)) {
                    row.keep(*before);
                }
                row.mark(&terms);
                row
            });
        }
        Found::Story(story) => {
            let id = |shown: &Shown| shown.item.exchange().map(|one| one.id);
            let shown = detail.shown.as_deref_mut();
            if let Some(shown) = shown.filter(|shown| id(shown) == Some(story.exchange.id)) {
                shown.story = Some(phrases::phrases_story::Told::new(*story));
            }
        }
    }
    settle(app, session);
    vec![]
}

/// Why a call that failed has no answer.
fn unanswered((exchange, vitals): (&Exchange, &Vitals)) -> Option<String> {
    let is_lost = exchange.response.is_none() && exchange.has_failed();
    let place = cause::Place::Frame(exchange.request.0);
    let tells = |cause: &&Cause| cause.evidence.iter().any(|one| one.place == place);
    let cause = vitals.causes.iter().find(tells);
    let end =
        || phrases::lost(exchange, phrases::why_lost(&vitals.summary).as_deref()).map(String::from);
    let words = cause.map(|cause| cause.sentence.clone()).or_else(end);
    words.filter(|_| is_lost)
}

/// Asks for the selected row in full, if that is not what is there.
pub fn wanted(app: &mut App, session: &mut Session) -> Option<Effect> {
    let size = size(app, session);
    // Also where it has no room: what is selected can be copied.
    let selected = selection::selected(session);
    let lens = selection::lens(session);
    let detail = &mut session.detail;
    let asked = detail.asked;
    let is_other = asked.map(|asked| (asked.lens, asked.key)) != selected.map(|key| (lens, key));
    if is_other {
        if selected.is_none() {
            detail.shown = None;
        }
        detail.amount = Amount::default();
    }
    detail.asked = selected.map(|key| Ask {
        key,
        lens,
        amount: detail.amount,
    });
    let ask = detail.asked.filter(|ask| Some(*ask) != asked);
    let ask = ask.map(|ask| app.questions.ask(Slot::Detail, Reading::new(ask), found));
    if mark(session) || session.detail.size != size {
        settle(app, session);
    }
    motion::arrive(app, session);
    ask
}

/// Marks what is sought, and goes to the first of it, if that has not been done for this row.
/// Whether it was now.
fn mark(session: &mut Session) -> bool {
    let terms = session.sought().to_vec();
    let is_other = |shown: &&mut Shown| !terms.iter().map(|term| &term.text).eq(&shown.marked);
    let Some(shown) = session.detail.shown.as_deref_mut().filter(is_other) else {
        return false;
    };
    shown.mark(&terms);
    shown.marked = terms.into_iter().map(|term| term.text).collect();
    if let Some(first) = shown.reveal_hits() {
        shown.at.cursor = first;
    }
    true
}

pub fn size(app: &App, session: &Session) -> (usize, usize) {
    let inner = detail_draw::inner(app, layout::session(app, session).detail);
    (inner.width.into(), inner.height.into())
}

/// Lays the body out, puts the cursor on a line that there is, and that line on the screen; where
/// there is no room for any, that waits.
pub fn settle(app: &mut App, session: &mut Session) {
    let (columns, page) = size(app, session);
    if page == 0 {
        return;
    }
    let detail = &mut session.detail;
    detail.size = (columns, page);
    let representation = detail.representation;
    for part in detail.shown.iter_mut().flat_map(|shown| &mut shown.parts) {
        part.lay_out(representation, columns);
    }
    let mut room = page.saturating_sub(detail.body().map_or(page, |body| body.len()));
    let parts = detail.shown.iter_mut().flat_map(|shown| &mut shown.parts);
    if representation == Representation::Tree {
        for part in parts.filter(|part| part.is_on(representation)) {
            part.wrap(columns.saturating_sub(detail_draw::INDENT), &mut room);
        }
    }
    let place = detail.shown.as_deref().zip(detail.body());
    let place = place.map(|(shown, body)| {
        let [at, top] = [shown.at.cursor, shown.at.top].map(|at| body.line_of(at));
        let top = frame::showing_of(body.len(), at, top, page);
        let [cursor, top] = [at, top].map(|line| body.position(line));
        Place { cursor, top }
    });
    if let (Some(shown), Some(place)) = (detail.shown.as_deref_mut(), place) {
        shown.at = place;
        shown.at_finding = shown.at_finding.min(shown.findings.len().saturating_sub(1));
        // A story that has not come yet leaves the cursor where it was.
        if shown.story.is_some() {
            let at = shown.at_story.0.min(shown.story_rows().saturating_sub(1));
            shown.at_story = (at, frame::showing(at, shown.at_story.1, page));
        }
    }
}
