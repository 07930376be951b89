//! What the list has selected, for whoever does something with it.

use crate::trace::item::{Item, ItemKey};
use crate::tui::app::{App, Session};
use crate::tui::effect::Effects;

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

/// Puts the cursor on a row.
pub fn go_to(app: &mut App, key: ItemKey) -> Effects {
    if let Some(session) = app.session.as_deref_mut() {
        session.list.go_to = Some(key.seq);
    }
    vec![]
}
