//! Counts and latencies.
//!
//! * `exchanges`: those that fit the filter, in the order of their requests, and again those that
//!   stand otherwise since the recording has grown;
//! * `besides`: notifications, and tools that were listed; only where there is no filter, as they
//!   say something about the whole;
//! * `counting` takes them by turns, a few milliseconds at a time. When the recording has ended
//!   everything is counted once more.

mod besides;
mod counting;
mod exchanges;

use super::Job;
use mcpreel_trace::query::Query;
use mcpreel_trace::stats::Stats;
use mcpreel_wire::message::Direction;

#[derive(Clone, Debug)]
pub struct Ask {
    /// Names the answers that belong to it.
    pub generation: u64,
    pub query: Query,
}

/// The answer. Comes again as more is counted.
#[derive(Debug)]
pub struct Answer {
    pub generation: u64,
    pub figures: Box<Figures>,
}

#[derive(Clone, Debug, Default)]
pub struct Figures {
    pub stats: Stats,
    /// How many exchanges fit the filter; none: there is none.
    pub fitting: Option<Fitting>,
    /// Notifications by direction and method, the most frequent first; none with a filter.
    pub notified: Vec<(Direction, Box<str>, u64)>,
    /// Tools that were listed, and of these what was never called; the names unescaped. None with
    /// a filter.
    pub tools_listed: usize,
    pub never_called: Vec<String>,
    /// How long the recording is, nanoseconds.
    pub span_ns: u64,
    /// How much was counted, percent; 100 when all was.
    pub percent: u8,
}

/// How many exchanges fit the filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fitting {
    /// So many of those that were looked at do.
    pub count: u64,
    pub of: u64,
}

impl Ask {
    pub(super) fn job(self) -> Box<dyn Job> {
        Box::new(counting::Counting::new(self))
    }
}
