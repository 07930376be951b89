//! Which rows fit a question: the filter language in SQL as far as columns go, and the rest by
//! [`query`](mcpreel_trace::query) over the candidates.
//!
//! ```text
//!  Question ──compile──▶ a condition per source ──┐
//!                                                 ▼            no
//!  frames lo..=hi ──▶ exchange · message · line · event ──▶ sure? ──▶ Matcher over the item
//!                     merged in the order of ItemKey            │ yes        │ fits
//!                                                               ▼            ▼
//!                                                              Hit ◀─────────┘
//! ```
//!
//! * [`Scan`] goes over a recording frame range by frame range, in steps as short as its caller
//!   wants. Between two steps it holds no statement and no transaction, so it never keeps a live
//!   recording's WAL from being checkpointed;
//! * `compile`: a filter becomes two conditions: one that every row that fits meets, and one that
//!   only rows that fit meet. Where they differ the second stage decides, which is `judge`;
//! * `column`: the fields of the rows as SQL; `condition`: conditions out of constant pieces and
//!   bound values; `source`: where rows come from, and `plan`: how they are asked for; `probe`:
//!   whether any exchange can fit;
//! * `item`: whole rows, for a viewport; `count`: totals and what has changed; `values`: those seen
//!   of a field; [`each`]: every row that fits.
//!
//! A question with a moment ([`Question::until`]) sees nothing that came after that frame: an
//! exchange whose response came later is open.

mod column;
mod compile;
mod condition;
mod count;
mod each;
mod item;
mod judge;
mod plan;
mod probe;
mod scan;
mod source;
mod test;
mod values;

pub use count::Latency;
pub use each::{each, step};
pub use scan::Scan;
pub use values::Values;

use crate::reader::Summary;
use mcpreel_trace::clock::{Clock, Moment};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{ItemKey, ItemKind, Lens};
pub use mcpreel_trace::query::Context;
use mcpreel_trace::query::Query;

/// What filters of a recording are judged against: ages count back from its end; while it is being
/// recorded from now, which is `live_at_ns`, nanoseconds since the Unix epoch.
pub fn context(summary: &Summary, live_at_ns: Option<u64>) -> Context {
    Context {
        end: end(summary.wall_ns, summary.t_last_ns, live_at_ns),
        slow_ns: summary.slow_ns,
    }
}

/// Where ages of a recording begin that began at `wall_ns`. A clock that was set back since takes
/// no frame away.
fn end(wall_ns: u64, last_ns: u64, live_at_ns: Option<u64>) -> Moment {
    let now = live_at_ns.map_or(0, |at| at.saturating_sub(wall_ns));
    Moment(now.max(last_ns))
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Question {
    pub lens: Lens,
    pub query: Query,
    /// The last frame that is looked at; `None`: all of them.
    pub until: Option<Seq>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    pub key: ItemKey,
    pub kind: ItemKind,
    /// Equal for notifications of the same method and direction, while this program runs: a run
    /// of them may be shown as one row. `None` for everything else.
    pub fold: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Newest,
    Oldest,
}

#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Rows that it returns at most; at least 1.
    pub hits: usize,
    /// How long it works, nanoseconds: it stops soon after. At least one row or range of frames
    /// is looked at.
    pub nanos: u64,
    /// What the work is measured with.
    pub clock: Clock,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Rows that fit, in the order of the scan's [`Way`].
    pub hits: Vec<Hit>,
    /// Whether everything was looked at that was there.
    pub done: bool,
    /// How far the scan is: everything up to this address, itself included, was looked at.
    /// `None`: nothing yet. A new scan may go on from here.
    pub looked_at: Option<ItemKey>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_count_back_from_now_while_it_is_recorded_and_else_from_the_last_frame() {
        assert_eq!(end(1_000, 50, None), Moment(50));
        assert_eq!(end(1_000, 50, Some(1_400)), Moment(400));
        assert_eq!(end(1_000, 50, Some(900)), Moment(50), "it was set back");
    }
}
