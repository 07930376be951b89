//! What the list has selected, for whoever does something with it.

use crate::query::Query;
use crate::store::select::Question;
use crate::trace::frame::Seq;
use crate::trace::item::{Item, ItemKey};
use crate::tui::app::{App, Session, View};
use crate::tui::effect::Effects;
use crate::tui::update::list;

/// The row under the cursor of the list.
#[must_use]
pub fn selected(session: &Session) -> Option<ItemKey> {
    session.list.selected()
}

/// What stands in it, if that is known.
#[must_use]
pub fn item(session: &Session) -> Option<&Item> {
    session.list.selected_item()
}

/// The rows that were selected for a comparison.
#[must_use]
pub fn chosen(session: &Session) -> Vec<ItemKey> {
    session.list.chosen.clone()
}

/// The filter that is in force.
#[must_use]
pub fn query(session: &Session) -> &Query {
    session.filter.in_force()
}

/// Which rows the list shows.
#[must_use]
pub fn question(session: &Session) -> Question {
    Question {
        lens: session.lens,
        query: query(session).clone(),
        until: session.until(),
    }
}

/// Puts the cursor on a row.
pub fn go_to(app: &mut App, key: ItemKey) -> Effects {
    if let Some(session) = app.session.as_deref_mut() {
        session.view = View::Exchanges;
    }
    list::go_to(app, key)
}

/// The annotation of a frame has changed.
pub fn annotated(app: &mut App, frame: Seq) -> Effects {
    list::changed(app, frame);
    vec![]
}
