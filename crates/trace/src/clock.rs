//! The one place where the clock is read.

use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A moment of a recording: nanoseconds since its t = 0, on the monotonic clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Moment(pub u64);

impl Moment {
    /// Nanoseconds since `earlier`; 0 if that is later.
    pub fn ns_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The time from `earlier` to this moment; zero if it lies in the future.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl std::ops::Add<Duration> for Moment {
    type Output = Self;

    fn add(self, later: Duration) -> Self {
        let ns = u64::try_from(later.as_nanos()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(ns))
    }
}

/// Monotonic time with one anchor in wall time.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    anchor: Instant,
    wall_ns: u64,
}

impl Clock {
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the place where the clock is read"
    )]
    pub fn start() -> Self {
        Self {
            anchor: Instant::now(),
            wall_ns: wall_clock_ns(),
        }
    }

    pub fn now(&self) -> Moment {
        Moment(u64::try_from(self.anchor.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// The moment in so many nanoseconds.
    pub fn deadline(&self, nanos: u64) -> Deadline {
        let clock = *self;
        Deadline {
            clock,
            at: clock.now() + Duration::from_nanos(nanos),
        }
    }

    /// Wall clock of t = 0, nanoseconds since the Unix epoch.
    pub fn wall_ns(&self) -> u64 {
        self.wall_ns
    }
}

/// When a piece of work stops, to go on later.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    pub clock: Clock,
    at: Moment,
}

impl Deadline {
    /// Nanoseconds until then.
    pub fn left_ns(&self) -> u64 {
        self.at.ns_since(self.clock.now())
    }
}

/// The wall clock, nanoseconds since the Unix epoch.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "this is the place where the clock is read"
)]
pub fn wall_clock_ns() -> u64 {
    let since_epoch = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since_epoch.as_nanos()).unwrap_or(u64::MAX)
}
