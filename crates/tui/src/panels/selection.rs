//! The selection: the row that the next action is about.

use super::detail::Shown;
use super::list;
use crate::app::{App, Session, View};
use crate::effect::Effects;
use mcpreel_store::select::Question;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{Item, ItemKey, Lens};
use mcpreel_trace::query::Query;

/// The row that is highlighted: a row of the list, a bar, the frame of a finding. Statistics
/// are about no row. It is an address through [`lens`]; that of a finding may be any frame of a row.
pub fn selected(session: &Session) -> Option<ItemKey> {
    match session.view {
        View::Exchanges => session.list.selected(),
        View::Timeline => {
            let state = &session.timeline;
            let rows = &state.picture.as_deref()?.rows;
            rows.get(state.cursor_row()).map(|bar| bar.key)
        }
        View::Stats | View::Server => None,
        View::Findings => session.findings.frame().map(|seq| ItemKey { seq, nth: 0 }),
    }
}

/// Through which lens the selected is one row.
pub fn lens(session: &Session) -> Lens {
    match session.view {
        View::Exchanges | View::Stats | View::Server => session.lens,
        View::Timeline | View::Findings => Lens::Exchanges,
    }
}

/// The selected in full, if it has come.
pub fn shown(session: &Session) -> Option<&Shown> {
    let shown = session.detail.shown.as_deref()?;
    let is_it = shown.ask.lens == lens(session) && Some(shown.ask.key) == selected(session);
    is_it.then_some(shown)
}

/// The item of the selected row, if that is known.
pub fn item(session: &Session) -> Option<&Item> {
    match session.view {
        View::Exchanges => session.list.selected_item(),
        _ => shown(session).map(|shown| &shown.item),
    }
}

/// The row of the list that the selected stands in, from where one goes on to others; where
/// nothing is selected, the one under the cursor of the list.
pub fn place(session: &Session) -> Option<ItemKey> {
    let Some(selected) = selected(session) else {
        return session.list.selected();
    };
    let is_frame = session.view == View::Findings && session.lens == Lens::Exchanges;
    let row = item(session).filter(|_| is_frame).map(|item| item.key);
    row.or(Some(selected))
}

pub fn query(session: &Session) -> &Query {
    session.filter.in_force()
}

pub fn question(session: &Session) -> Question {
    Question::new(session.lens, query(session).clone())
}

pub fn go_to(app: &mut App, session: &mut Session, key: ItemKey) -> Effects {
    session.view = View::Exchanges;
    list::go_to(app, session, key)
}

/// The annotation of a frame has changed.
pub fn annotated(session: &mut Session, frame: Seq) -> Effects {
    list::changed(session, frame);
    // Whoever opens it finds the mark.
    session.detail.asked = None;
    vec![]
}
