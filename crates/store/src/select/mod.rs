//! The filter language as SQL: the rows that fit a question.
//!
//! ```text
//!  Question ──compile──▶ a condition per source
//!                                 │
//!  frames lo..=hi ──▶ exchange · message · line · event ──▶ Hit, in the order of ItemKey
//! ```
//!
//! * [`Scan`] goes over a recording frame range by frame range, in steps as short as its caller
//!   wants. Between two steps it holds no statement and no transaction, so it never keeps a live
//!   recording's WAL from being checkpointed;
//! * `compile`: a filter becomes conditions; `column`: where rows come from, and their fields;
//! * `item`: whole rows, for a viewport; `count`: totals, what has changed, and the values
//!   that a field has; [`each`]: every row that fits; [`LiveFilter`]: a request that is on no record.

mod column;
mod compile;
mod count;
pub use count::Sort;
mod item;
mod scan;

pub use scan::{LiveFilter, Scan};

use crate::reader::{ReadError, Recording, Summary};
use mcpreel_trace::clock::{Clock, Moment};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{Item, ItemKey, ItemKind, Lens};
use mcpreel_trace::query::Query;

/// Rows that [`each`] reads at once.
const PAGE: usize = 200;

/// A step of a scan, nanoseconds: no read transaction is to hold up a recorder.
pub const STEP_NS: u64 = 20_000_000;

/// The values against which a filter is judged besides the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// The moment from which `-5m` counts back: the end of the recording, in a live one now.
    pub end: Moment,
    /// The latency above which an exchange is slow, nanoseconds.
    pub slow_ns: u64,
}

/// The context of filters of a recording: ages count back from its end; while it is being
/// recorded from now, which is `live_at_ns`, nanoseconds since the Unix epoch.
pub fn context(summary: &Summary, live_at_ns: Option<u64>) -> Context {
    let now = live_at_ns.map_or(0, |at| at.saturating_sub(summary.wall_ns));
    Context {
        // A clock set back takes no frame away.
        end: Moment(now.max(summary.t_last_ns)),
        slow_ns: summary.slow_ns,
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Question {
    pub lens: Lens,
    pub query: Query,
    /// The last frame that is looked at; `None`: all of them.
    pub until: Option<Seq>,
}

impl Question {
    /// Which rows fit, wherever they stand.
    pub fn new(lens: Lens, query: Query) -> Self {
        let until = None;
        Self { lens, query, until }
    }
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

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Rows that fit, in the order of the scan's [`Way`].
    pub hits: Vec<Hit>,
    /// Whether everything was looked at that was there.
    pub done: bool,
    /// The last address that was looked at, with everything before it.
    /// `None`: nothing yet. A new scan may go on from here.
    pub looked_at: Option<ItemKey>,
}

/// Gives every row of `recording` that fits to `show`, the oldest first.
pub fn each<E: From<ReadError>>(
    recording: &Recording,
    question: &Question,
    context: Context,
    show: &mut impl FnMut(Item) -> Result<(), E>,
) -> Result<(), E> {
    let mut scan = Scan::new(question, Way::Oldest, None, context);
    let clock = Clock::start();
    loop {
        let step = scan.step(recording, PAGE, clock.deadline(STEP_NS))?;
        let keys: Vec<_> = step.hits.iter().map(|hit| hit.key).collect();
        for item in recording.items(question.lens, &keys)? {
            show(item)?;
        }
        if step.done {
            return Ok(());
        }
    }
}
