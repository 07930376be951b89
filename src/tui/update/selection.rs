//! What the list has selected, for whoever does something with it.

use crate::query::Query;
use crate::store::select::Question;
use crate::trace::frame::Seq;
use crate::trace::item::{Item, ItemKey};
use crate::tui::app::{App, Session};
use crate::tui::effect::Effects;
use crate::tui::worker::note::What;

/// The row under the cursor of the list.
#[must_use]
pub fn selected(_session: &Session) -> Option<ItemKey> {
    None
}

/// What stands in it, if that is known.
#[must_use]
pub fn item(_session: &Session) -> Option<&Item> {
    None
}

/// The rows that were selected for a comparison.
#[must_use]
pub fn chosen(_session: &Session) -> Vec<ItemKey> {
    Vec::new()
}

/// The filter that is in force.
#[must_use]
pub fn query(_session: &Session) -> Query {
    Query::default()
}

/// Which rows the list shows.
#[must_use]
pub fn question(session: &Session) -> Question {
    Question {
        lens: session.lens,
        query: query(session),
        until: session.until(),
    }
}

/// Puts the cursor on a row.
pub fn go_to(app: &mut App, key: ItemKey) -> Effects {
    if let Some(session) = app.session.as_deref_mut() {
        session.list.go_to = Some(key.seq);
    }
    vec![]
}

/// The annotation of a frame has changed.
pub fn annotated(_app: &mut App, _frame: Seq, _what: &What) -> Effects {
    vec![]
}
