//! How much one transaction may take.

use mcpreel_trace::clock::{Clock, Moment};

/// How much one transaction may take.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    pub bytes: u64,
    pub nanos: u64,
    /// What the work is measured with.
    pub clock: Clock,
}

impl Budget {
    /// What an indexer takes beside a running session: a longer transaction keeps the writers of
    /// annotations waiting and viewers behind, a shorter one costs throughput.
    pub fn beside_a_session(clock: Clock) -> Self {
        Self {
            bytes: 4 * 1024 * 1024,
            nanos: 20_000_000,
            clock,
        }
    }

    /// What a command takes that drains a spool while nobody else uses it.
    pub fn alone(clock: Clock) -> Self {
        Self {
            bytes: 32 * 1024 * 1024,
            nanos: 200_000_000,
            clock,
        }
    }

    pub(super) fn is_spent(&self, began: Moment, bytes: u64) -> bool {
        bytes >= self.bytes || self.clock.now().0.saturating_sub(began.0) >= self.nanos
    }
}
