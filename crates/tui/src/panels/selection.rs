//! The selection: the row that the next action is about.

use super::detail::Shown;
use super::list;
use crate::action::Action;
use crate::app::{App, Session, View};
use crate::effect::Effects;
use mcpreel_store::select::Question;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{Item, ItemKey, Lens};
use mcpreel_trace::query::Query;

/// The most rows that can be selected at once: two are compared.
const MOST: usize = 2;

/// Selects one for a comparison, or takes it out; a third one takes the place of the first, which
/// is returned.
pub fn toggle<T: PartialEq>(chosen: &mut Vec<T>, one: T) -> Option<T> {
    if let Some(at) = chosen.iter().position(|known| *known == one) {
        chosen.remove(at);
        return None;
    }
    let dropped = (chosen.len() == MOST).then(|| chosen.remove(0));
    chosen.push(one);
    dropped
}

/// The row that is highlighted: a row of the list, a bar, the frame of a finding. Statistics
/// are about no row. It is an address through [`lens`].
pub fn selected(session: &Session) -> Option<ItemKey> {
    match session.view {
        View::Exchanges => session.list.selected(),
        View::Timeline => {
            let state = &session.timeline;
            let rows = &state.picture.as_deref()?.rows;
            rows.get(state.cursor_row()).map(|bar| bar.key)
        }
        View::Stats => None,
        View::Findings => session.findings.frame().map(|seq| ItemKey { seq, nth: 0 }),
    }
}

/// Through which lens the selected is one row.
pub fn lens(session: &Session) -> Lens {
    match session.view {
        View::Exchanges | View::Stats => session.lens,
        View::Timeline => Lens::Exchanges,
        View::Findings => Lens::Wire,
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
    let exchange = match (session.lens, lens(session)) {
        (Lens::Exchanges, Lens::Wire) => item(session).and_then(Item::exchange),
        _ => None,
    };
    let row = exchange.map(|exchange| ItemKey::of_part(exchange.request.0, exchange.request.1));
    row.or(Some(selected))
}

pub fn query(session: &Session) -> &Query {
    session.filter.in_force()
}

pub fn question(session: &Session) -> Question {
    Question {
        lens: session.lens,
        query: query(session).clone(),
        until: None,
    }
}

pub fn go_to(app: &mut App, session: &mut Session, key: ItemKey) -> Effects {
    session.view = View::Exchanges;
    list::go_to(app, session, key)
}

/// The annotation of a frame has changed.
pub fn annotated(session: &mut Session, frame: Seq) -> Effects {
    list::changed(session, frame);
    // Whoever opens it finds the mark.
    let detail = &mut session.detail;
    detail.asked = detail.asked.filter(|asked| asked.key.seq != frame);
    vec![]
}

/// Moves the row `at` of `rows` rows as `action` says, `page` rows to a page; `None` if it is no
/// motion.
pub fn moved(action: Action, at: usize, rows: usize, page: usize) -> Option<usize> {
    let page = page.max(1);
    let half = (page / 2).max(1);
    let last = rows.saturating_sub(1);
    let to = match action {
        Action::Down => at.saturating_add(1),
        Action::Up => at.saturating_sub(1),
        Action::HalfPageDown => at.saturating_add(half),
        Action::HalfPageUp => at.saturating_sub(half),
        Action::PageDown => at.saturating_add(page),
        Action::PageUp => at.saturating_sub(page),
        Action::Top => 0,
        Action::Bottom => last,
        _ => return None,
    };
    Some(to.min(last))
}

/// The difference after the row `at`, or the one before it; what is said where there is none.
pub fn walked(action: Action, at: usize, changes: &[usize]) -> Result<usize, &'static str> {
    let (found, end) = if action == Action::NextChange {
        let next = changes.iter().find(|change| **change > at);
        (next, "that was the last difference")
    } else {
        let before = changes.iter().rev().find(|change| **change < at);
        (before, "that was the first difference")
    };
    found.copied().ok_or(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_motion_stays_within_the_rows() {
        assert_eq!(moved(Action::Down, 9, 10, 5), Some(9));
        assert_eq!(moved(Action::Up, 0, 10, 5), Some(0));
        assert_eq!(moved(Action::PageDown, 2, 10, 5), Some(7));
        assert_eq!(moved(Action::HalfPageUp, 9, 10, 5), Some(7));
        assert_eq!(moved(Action::Bottom, 0, 10, 5), Some(9));
        assert_eq!(moved(Action::Bottom, 0, 0, 0), Some(0));
        assert_eq!(moved(Action::Help, 0, 10, 5), None);
    }

    #[test]
    fn differences_are_walked_to_their_ends() {
        let changes = [2, 5];
        assert_eq!(walked(Action::NextChange, 2, &changes), Ok(5));
        assert_eq!(walked(Action::PreviousChange, 5, &changes), Ok(2));
        let end = walked(Action::NextChange, 5, &changes).unwrap_err();
        assert_eq!(end, "that was the last difference");
        let end = walked(Action::PreviousChange, 2, &changes).unwrap_err();
        assert_eq!(end, "that was the first difference");
    }
}
