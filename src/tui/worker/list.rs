//! Which rows there are, and what stands in them.

use super::Job;
use crate::query::Query;
use crate::trace::frame::Seq;
use crate::trace::item::{Item, ItemKey, Lens};

/// Which rows there are. Answered newest first; live recordings add to it as they grow.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Names the answers that belong to it.
    pub generation: u64,
    /// What is one row.
    pub lens: Lens,
    /// Which of them.
    pub query: Query,
    /// The time cursor, or where the list was paused.
    pub until: Option<Seq>,
}

/// What stands in these rows.
#[derive(Clone, Debug)]
pub struct Rows {
    /// What is one row.
    pub lens: Lens,
    /// Which of them.
    pub keys: Vec<ItemKey>,
    /// The time cursor.
    pub until: Option<Seq>,
}

/// What helps with a filter.
#[derive(Clone, Debug)]
pub struct Hints;

/// Rows that there are.
#[derive(Debug)]
pub struct Answer {
    /// The question.
    pub generation: u64,
}

/// What stands in them.
#[derive(Debug)]
pub struct RowsAnswer {
    /// What is one row.
    pub lens: Lens,
    /// The time cursor.
    pub until: Option<Seq>,
    /// The rows.
    pub items: Vec<Item>,
}

/// What helps.
#[derive(Debug)]
pub struct HintsAnswer;

impl Ask {
    pub(super) fn job(self) -> Box<dyn Job> {
        super::nothing()
    }
}

impl Rows {
    pub(super) fn job(self) -> Box<dyn Job> {
        super::nothing()
    }
}

impl Hints {
    pub(super) fn job(self) -> Box<dyn Job> {
        super::nothing()
    }
}
