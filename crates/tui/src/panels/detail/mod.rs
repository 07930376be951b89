//! One row in full.
//!
//! * [`part`]: what stands below each other: findings, note, request, response; and where somebody
//!   was in rows that were left;
//! * [`detail_body`]: their lines, and moving among them; [`keys`] and [`detail_open`]: the cursor, folding, the
//!   mouse; [`draw`], [`head`] and [`tabs`]: how they look;
//! * [`jobs`]: reading a row; [`violations`] and [`detail_schema`]: what is known of its values.

pub mod detail_body;
pub mod detail_open;
pub mod detail_schema;
pub mod draw;
pub mod head;
pub mod jobs;
pub mod keys;
pub mod part;
pub mod shown;
pub mod tabs;
pub mod violations;

use crate::action::Action;
use crate::app::{App, Session};
use crate::effect::Effects;
use crate::layout;
use crate::worker::job::Slot;
use jobs::{Amount, Ask, Reading, Row, Telling};
use mcpreel_share::phrases;
use mcpreel_store::story::Story;
pub use shown::{Detail, Place, Representation, Shown, Sides, Tab};

pub fn perform(app: &mut App, session: &mut Session, action: Action) -> Option<Effects> {
    match action {
        Action::Open => return Some(detail_open::open(app, session)),
        Action::Explain => return Some(detail_open::explain(app, session)),
        Action::NextViolation => return Some(keys::next(app, session, true)),
        Action::PreviousViolation => return Some(keys::next(app, session, false)),
        _ => {}
    }
    let size = size(app, session);
    let detail = &mut session.detail;
    match action {
        Action::NextPane | Action::PreviousPane => {
            let by = if action == Action::NextPane { 1 } else { -1 };
            let tab = next_tab(detail.tab, by);
            detail.tab = tab.unwrap_or_default();
            return tab.map(|_| vec![]);
        }
        Action::Collapse | Action::Expand | Action::Toggle => keys::fold(detail, action, size),
        action => {
            return keys::moved(detail, action, size)
                .or_else(|| keys::perform(app, session, action));
        }
    }
    Some(vec![])
}

/// The tab after this one, or before; none at the end of the walk.
fn next_tab(tab: Tab, by: isize) -> Option<Tab> {
    let at = Tab::ALL.iter().position(|known| *known == tab)?;
    Tab::ALL.get(at.checked_add_signed(by)?).copied()
}

/// The row has been read; none if nothing stands there.
fn found(app: &mut App, session: &mut Session, (ask, row): (Ask, Option<Row>)) -> Effects {
    let detail = &mut session.detail;
    let before = detail.shown.take();
    let address = (ask.lens, ask.key);
    let same = before.filter(|shown| (shown.ask.lens, shown.ask.key) == address);
    if let Some(row) = row {
        if same.is_none() {
            detail.asked_story = None;
        }
        let mut shown = Shown::new(ask, row, same.map(|same| *same));
        shown.mark(|bytes| session.search.places(bytes));
        detail.shown = Some(Box::new(shown));
    }
    settle(app, session);
    vec![]
}

/// The story has been told; none if there is no such exchange.
fn told(app: &mut App, session: &mut Session, story: Option<Story>) -> Effects {
    if let Some(shown) = session.detail.shown.as_deref_mut()
        && let Some(story) = story
        && shown.item.exchange().map(|exchange| exchange.id) == Some(story.exchange.id)
    {
        shown.story = Some(phrases::phrases_story::Told::new(story));
    }
    settle(app, session);
    vec![]
}

/// Asks for the selected row in full, if that is not what is there.
pub fn wanted(app: &mut App, session: &mut Session) -> Effects {
    let size = size(app, session);
    // Also where it has no room: what is selected can be copied.
    let (selected, lens) = (
        super::selection::selected(session),
        super::selection::lens(session),
    );
    let mut effects = Effects::new();
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
    if let Some(ask) = detail.asked.filter(|ask| Some(*ask) != asked) {
        let settled = false;
        effects.push(
            app.questions
                .ask(Slot::Detail, Reading { ask, settled }, found),
        );
    }
    // The story of what is there; it comes after the row.
    let shown = detail.shown.as_deref();
    let exchange = shown.and_then(|shown| Some(shown.item.exchange()?.id));
    if let Some(exchange) = exchange.filter(|_| detail.asked_story != exchange) {
        detail.asked_story = Some(exchange);
        let telling = Telling {
            exchange,
            settled: false,
        };
        effects.push(app.questions.ask(Slot::Story, telling, told));
    }
    if mark(session) || session.detail.size != size {
        settle(app, session);
    }
    keys::arrive(app, session);
    effects
}

/// Marks what is searched for, and goes to the first of it, if that has not been done for this
/// search. Whether it was now.
fn mark(session: &mut Session) -> bool {
    let search = &session.search;
    let term = search.term.as_ref().map(|term| &term.text);
    let Some(shown) = session.detail.shown.as_deref_mut() else {
        return false;
    };
    if shown.marked.as_ref() == term {
        return false;
    }
    shown.mark(|text| search.places(text));
    shown.marked = term.cloned();
    if let Some(first) = shown.reveal_hits() {
        shown.at.cursor = first;
    }
    true
}

pub fn size(app: &App, session: &Session) -> (usize, usize) {
    let inner = draw::inner(app, layout::session(app, session).detail);
    (inner.width.into(), inner.height.into())
}

/// Puts the cursor on a line that there is, and the line on the screen; where there is no room
/// for any, that waits.
pub fn settle(app: &mut App, session: &mut Session) {
    let size = size(app, session);
    if size.1 == 0 {
        return;
    }
    keys::settle(&mut session.detail, size);
}

#[cfg(test)]
mod tests;
