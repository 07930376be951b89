//! How long an answer may take.

use mcpreel_wire::text;

/// An answer that is no later than this matters to nobody, however fast the other one was.
const HARDLY_LATER_NS: u64 = 10_000_000;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// So many nanoseconds, whatever the left side took.
    Absolute(u64),
    /// So many times as long as on the left side; less than ten milliseconds more never matter.
    Times(f64),
}

impl Budget {
    /// What is to be said of an answer that took longer than is allowed; both latencies are
    /// nanoseconds.
    pub(super) fn exceeded(self, was: u64, is: u64) -> Option<String> {
        let (late, allowed) = match self {
            Self::Absolute(most) => (is > most, text::duration(most)),
            Self::Times(times) => {
                let later = is.saturating_sub(was) > HARDLY_LATER_NS;
                let late = later && times_over(is, was) > times;
                (late, format!("{times} times as long"))
            }
        };
        let (is, was) = (text::duration(is), text::duration(was));
        late.then(|| format!("took {is}, was {was}; allowed is {allowed}"))
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a ratio of two durations need not be exact"
)]
fn times_over(is: u64, was: u64) -> f64 {
    is as f64 / was.max(1) as f64
}
