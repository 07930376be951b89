//! Exchanges in time: those around the cursor one by one, all of the visible range as a density.
//!
//! Only what is asked for is read: `rows` go out from an anchor both ways until there are enough
//! of them or the range ends, the `density` goes once over the range. `drawing` takes them by
//! turns, in steps; each answer says how far it is.

mod density;
mod drawing;
mod rows;

use super::requests::requests;
use super::{Job, Source};
use mcpreel_store::figures::Meanwhile;
use mcpreel_store::select::{Limit, Question};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::item::ItemKey;
use mcpreel_trace::query::Query;

/// How long a step works, nanoseconds.
const STEP_NS: u64 = 6_000_000;

/// A range of time, nanoseconds since the start.
/// A range of time, nanoseconds since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    pub from: u64,
    /// Where it ends, later than it begins.
    pub to: u64,
}

#[derive(Clone, Debug)]
pub struct Ask {
    /// Names the answers that belong to it.
    pub generation: u64,
    pub query: Query,
    /// The range on the screen; none: everything.
    pub window: Option<Window>,
    pub columns: usize,
    /// Where the cursor is; none: on the last row.
    pub anchor: Option<ItemKey>,
    pub rows: usize,
}

/// The answer. Comes again as more is found.
#[derive(Debug)]
pub struct Answer {
    pub generation: u64,
    pub picture: Box<Picture>,
}

#[derive(Clone, Debug, Default)]
pub struct Picture {
    pub window: Window,
    /// Where the recording ends, nanoseconds.
    pub end_ns: u64,
    /// Exchanges that began in each column.
    pub density: Vec<u64>,
    /// How much of the range was counted, percent.
    pub percent: u8,
    pub rows: Vec<Bar>,
    /// Whether there are rows before and after these.
    pub more: (bool, bool),
    /// Whether rows before these are still looked for.
    pub looking: bool,
}

#[derive(Clone, Debug)]
pub struct Bar {
    pub key: ItemKey,
    pub exchange: Box<Exchange>,
    /// What happened while it was open.
    pub meanwhile: Meanwhile,
}

impl Window {
    pub fn span(self) -> u64 {
        self.to.saturating_sub(self.from).max(1)
    }

    /// The column of `columns` in which `at` lies; none if it lies outside.
    pub fn column(self, at: Moment, columns: usize) -> Option<usize> {
        if at.0 < self.from || at.0 > self.to || columns == 0 {
            return None;
        }
        let wide = u128::from(at.0 - self.from) * columns as u128 / u128::from(self.span());
        Some(usize::try_from(wide).unwrap_or(columns).min(columns - 1))
    }
}
impl Ask {
    pub(super) fn job(self) -> Box<dyn Job> {
        Box::new(drawing::Drawing::new(self))
    }

    /// The rows that are asked for, of which only requests count.
    fn question(&self) -> Question {
        requests(&self.query)
    }
}

fn limit(source: &Source<'_>, hits: usize) -> Limit {
    Limit {
        hits,
        nanos: STEP_NS / 2,
        clock: source.clock,
    }
}

/// Whether something that lasted so long is seen in the range.
fn overlaps(window: Window, from: Moment, to: Option<Moment>) -> bool {
    from.0 <= window.to && to.is_none_or(|to| to.0 >= window.from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_moment_of_a_range_lies_in_its_last_column() {
        let window = Window { from: 100, to: 200 };
        assert_eq!(window.column(Moment(100), 10), Some(0));
        assert_eq!(window.column(Moment(199), 10), Some(9));
        assert_eq!(window.column(Moment(200), 10), Some(9));
        assert_eq!(window.column(Moment(201), 10), None);
        assert_eq!(window.column(Moment(99), 10), None);
    }

    #[test]
    fn what_is_open_is_seen_in_every_range_after_its_beginning() {
        let window = Window { from: 100, to: 200 };
        assert!(overlaps(window, Moment(5), None));
        assert!(overlaps(window, Moment(5), Some(Moment(100))));
        assert!(!overlaps(window, Moment(5), Some(Moment(99))));
        assert!(!overlaps(window, Moment(201), None));
    }
}
