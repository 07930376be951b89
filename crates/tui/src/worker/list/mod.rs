//! Which rows there are, and what stands in them.
//!
//! ```text
//!  Ask    ──▶ Scan from the newest, some ms a step ──▶ Found { older }
//!               │ the recording has grown
//!               └─▶ Scan from where it ended ────────▶ Found { newer }
//!                   exchanges that have changed ─────▶ Found { touched, begin or cease to fit }
//!  Rows   ──▶ whole rows for the screen
//!  Hints  ──▶ values seen of a field, and what a filter that fits nothing might leave out
//! ```

mod hints;
mod logged;
mod rows;
mod scale;
mod scan;
mod tally;

pub use hints::{Hints, HintsAnswer, Seen};
pub use rows::{Rows, RowsAnswer};

use super::Job;
use mcpreel_store::select::Hit;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::item::{ItemKey, Lens};
use mcpreel_trace::query::Query;
use std::collections::HashMap;

/// Which rows there are. Answered newest first; live recordings add to it as they grow.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Names the answers that belong to it.
    pub generation: u64,
    pub lens: Lens,
    pub query: Query,
    /// From where on everything was looked at when it was stopped: nothing older is looked for.
    pub stopped: Option<ItemKey>,
}

#[derive(Debug, Default)]
pub struct Answer {
    pub generation: u64,
    /// Rows before those that were found already, the newest first.
    pub older: Vec<Hit>,
    /// Rows after them, the oldest first.
    pub newer: Vec<Hit>,
    /// Rows among them that fit now, also those that did before.
    pub begin: Vec<Hit>,
    /// Rows among them that do not fit now.
    pub cease: Vec<ItemKey>,
    pub touched: Vec<(ExchangeId, ItemKey)>,
    /// Everything from here on was looked at.
    pub from: Option<ItemKey>,
    /// Percent of the frames that were looked at.
    pub percent: u8,
    /// Whether everything was looked at.
    pub done: bool,
    /// How many rows there are without a filter, where that was counted.
    pub total: Option<u64>,
    /// The latency that is usual for each method, where that was looked at.
    pub usual: Option<HashMap<Box<str>, u64>>,
}

impl Ask {
    pub(super) fn job(self) -> Box<dyn Job> {
        Box::new(scan::Scanning::new(self))
    }
}

#[cfg(test)]
mod tests;
