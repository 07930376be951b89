//! One row in full.

mod mouse;
mod moves;
mod open;
mod setting;
mod violations;

pub use mouse::{click, wheel};
pub use setting::fold_to;
pub use violations::jump;

use crate::action::Action;
use crate::app::detail::memory::Left;
use crate::app::detail::{Shown, Tab};
use crate::app::{App, Session};
use crate::effect::{Effects, Now};
use crate::layout;
use crate::update::selection;
use crate::view::detail as view;
use crate::worker::Ask;
use crate::worker::detail;
use mcpreel_lint::{Finding, process};
use mcpreel_share::phrases;
use mcpreel_store::reader::FindingRow;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::item::{ItemKey, Lens};

pub fn perform(app: &mut App, action: Action) -> Option<Effects> {
    if action == Action::Open {
        return Some(open::open(app));
    }
    match action {
        Action::Explain => return Some(open::explain(app)),
        Action::NextViolation => return Some(violations::next(app, true)),
        Action::PreviousViolation => return Some(violations::next(app, false)),
        _ => {}
    }
    let size = size(app);
    let detail = &mut app.session.as_deref_mut()?.detail;
    match action {
        Action::NextPane | Action::PreviousPane => {
            let by = if action == Action::NextPane { 1 } else { -1 };
            let tab = next_tab(detail.tab, by);
            detail.tab = tab.unwrap_or_default();
            return tab.map(|_| vec![]);
        }
        Action::Collapse => moves::collapse(detail, size),
        Action::Expand => moves::expand(detail, size),
        Action::Toggle => moves::toggle(detail, size),
        action => {
            return moves::moved(detail, action, size).or_else(|| setting::perform(app, action));
        }
    }
    Some(vec![])
}

/// The tab after this one, or before; none at the end of the walk.
fn next_tab(tab: Tab, by: isize) -> Option<Tab> {
    let at = Tab::ALL.iter().position(|known| *known == tab)?;
    Tab::ALL.get(at.checked_add_signed(by)?).copied()
}

pub fn answer(app: &mut App, answer: detail::Answer) -> Effects {
    let now = app.now;
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let overdue = answer.row.as_deref().map(|row| overdue(session, row, now));
    let detail = &mut session.detail;
    if detail.asked != Some(answer.ask) {
        return vec![];
    }
    let before = detail.shown.take();
    let address = (answer.ask.lens, answer.ask.key);
    let same = before.filter(|shown| (shown.ask.lens, shown.ask.key) == address);
    if let Some(mut row) = answer.row {
        row.findings.extend(overdue.into_iter().flatten());
        let left = same.as_deref().map(Left::of);
        let left = left
            .as_ref()
            .or_else(|| detail.memory.left(address.0, address.1));
        let mut shown = Shown::new(answer.ask, *row, left);
        if let Some(same) = same {
            shown.at_finding = same.same_finding(&shown);
            shown.story = same.story;
            shown.marked = same.marked;
        } else {
            detail.asked_story = None;
        }
        shown.mark(|bytes| session.search.places(bytes));
        detail.shown = Some(Box::new(shown));
    }
    settle(app);
    vec![]
}

/// What is overdue now of an open exchange of a live recording: nobody has found that yet.
fn overdue(session: &Session, row: &detail::Row, now: Now) -> Vec<FindingRow> {
    let is_open = |exchange: &&Exchange| exchange.status == Status::Open;
    let exchange = row.item.exchange().filter(is_open);
    let vitals = session.vitals.as_deref();
    let vitals = vitals.filter(|_| session.is_live() && !session.playback.is_on());
    let (Some(exchange), Some(vitals)) = (exchange, vitals) else {
        return Vec::new();
    };
    let others = vitals.open.iter().filter(|other| other.id != exchange.id);
    let open = others.chain([exchange]);
    let summary = &vitals.summary;
    let mut found = process::overdue(open, &summary.session, summary.slow_ns, session.now(now));
    let is_told = |finding: &Finding| {
        row.findings
            .iter()
            .any(|told| *told.rule == *finding.rule.id)
    };
    found.retain(|finding| finding.exchange == Some(exchange.id) && !is_told(finding));
    found.into_iter().map(FindingRow::from).collect()
}

pub fn story(app: &mut App, answer: detail::StoryAnswer) -> Effects {
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let detail = &mut session.detail;
    let (asked, shown) = (detail.asked_story, detail.shown.as_deref_mut());
    if let Some(shown) = shown.filter(|_| asked == Some(answer.ask)) {
        let is_same = shown.item.exchange().map(|exchange| exchange.id);
        if is_same == Some(answer.ask.exchange) {
            shown.story = answer.story.map(|story| phrases::story::Told::new(*story));
        }
    }
    settle(app);
    vec![]
}

/// Asks for the selected row in full, if that is not what is there.
pub fn wanted(app: &mut App) -> Effects {
    let size = size(app);
    let Some(session) = app.session.as_deref() else {
        return vec![];
    };
    // Also where it has no room: what is selected can be copied.
    let (selected, lens) = (selection::selected(session), selection::lens(session));
    let Some(session) = app.session.as_deref_mut() else {
        return vec![];
    };
    let mut effects = Effects::new();
    let detail = &mut session.detail;
    if let Some(key) = selected {
        effects.extend(ask(detail, lens, key));
    } else {
        leave(detail);
        detail.asked = None;
    }
    effects.extend(ask_story(detail));
    if mark(session) || session.detail.size != size {
        settle(app);
    }
    violations::arrive(app);
    effects
}

type Detail = crate::app::detail::Detail;

fn ask(detail: &mut Detail, lens: Lens, key: ItemKey) -> Option<crate::effect::Effect> {
    let is_new = detail
        .asked
        .is_none_or(|asked| (asked.lens, asked.key) != (lens, key));
    if is_new {
        if let Some(shown) = &detail.shown {
            detail.memory.leave(shown);
        }
        detail.amount = detail::Amount::default();
    }
    let ask = detail::Ask {
        key,
        lens,
        amount: detail.amount,
    };
    (detail.asked != Some(ask)).then(|| {
        detail.asked = Some(ask);
        Ask::Detail(ask).into()
    })
}

/// The story of what is there; it comes after the row.
fn ask_story(detail: &mut Detail) -> Option<crate::effect::Effect> {
    let shown = detail.shown.as_deref()?;
    let exchange = shown.item.exchange()?.id;
    let ask = detail::AskStory { exchange };
    (detail.asked_story != Some(ask)).then(|| {
        detail.asked_story = Some(ask);
        Ask::Story(ask).into()
    })
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

fn leave(detail: &mut Detail) {
    if let Some(shown) = detail.shown.take() {
        detail.memory.leave(&shown);
    }
}

fn size(app: &App) -> (usize, usize) {
    let Some(session) = app.session.as_deref() else {
        return (0, 0);
    };
    let inner = view::inner(app, layout::session(app, session).detail);
    (inner.width.into(), inner.height.into())
}

/// Puts the cursor on a line that there is, and the line on the screen; where there is no room
/// for any, that waits.
fn settle(app: &mut App) {
    let size = size(app);
    if size.1 == 0 {
        return;
    }
    if let Some(session) = app.session.as_deref_mut() {
        moves::settle(&mut session.detail, size);
    }
}

#[cfg(test)]
mod tests;
