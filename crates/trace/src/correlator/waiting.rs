//! How long a call waited for its client: the union of overlapping waits.

use crate::clock::Moment;

/// Waits of one call, counted once where they overlap.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waiting {
    pending: u32,
    since: Moment,
    total_ns: u64,
}

impl Waiting {
    /// One more answer of the client is waited for.
    pub(super) fn begin(&mut self, t: Moment) {
        if self.pending == 0 {
            self.since = t;
        }
        self.pending += 1;
    }

    /// One of them came, or is not waited for any longer.
    pub(super) fn end(&mut self, t: Moment) {
        match self.pending {
            0 => {}
            1 => self.close(t),
            _ => self.pending -= 1,
        }
    }

    /// The call itself is over, whatever is still waited for.
    pub(super) fn close(&mut self, t: Moment) {
        if self.pending > 0 {
            self.total_ns += t.0.saturating_sub(self.since.0);
            self.pending = 0;
        }
    }

    /// Whether an answer is waited for.
    pub(super) fn is_under_way(self) -> bool {
        self.pending > 0
    }

    /// Nanoseconds waited so far, without a wait that goes on.
    pub(super) fn total_ns(self) -> u64 {
        self.total_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_waits_count_once() {
        let mut waiting = Waiting::default();
        waiting.begin(Moment(10));
        waiting.begin(Moment(20));
        waiting.end(Moment(30));
        waiting.end(Moment(50));
        waiting.begin(Moment(70));
        waiting.end(Moment(75));
        assert_eq!(waiting.total_ns(), 45);
    }

    #[test]
    fn a_closed_wait_is_not_ended_again() {
        let mut waiting = Waiting::default();
        waiting.begin(Moment(10));
        waiting.close(Moment(15));
        waiting.end(Moment(90));
        assert_eq!(waiting.total_ns(), 5);
    }
}
