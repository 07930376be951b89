//! The list of exchanges or frames.

use crate::trace::frame::Seq;
use crate::trace::item::ItemKey;

/// The list of exchanges or frames.
#[derive(Debug, Default)]
pub struct List {
    /// The frame that the cursor goes to as soon as its row is there.
    pub go_to: Option<Seq>,
    /// The row under the cursor.
    pub cursor: Option<ItemKey>,
}

impl List {
    /// The row under the cursor.
    #[must_use]
    pub fn selected(&self) -> Option<ItemKey> {
        self.cursor
    }
}
