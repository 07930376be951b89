//! How many calls were open at once.

use crate::clock::Moment;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Counts the calls that are open, in the order in which they began.
#[derive(Clone, Debug, Default)]
pub(super) struct Peak {
    ends: BinaryHeap<Reverse<Moment>>,
    endless: u64,
    most: u64,
}

impl Peak {
    /// A call began at `from` and ended at `to`, or has not ended.
    pub fn add(&mut self, from: Moment, to: Option<Moment>) {
        while self.ends.peek().is_some_and(|Reverse(end)| *end <= from) {
            self.ends.pop();
        }
        match to {
            Some(end) => self.ends.push(Reverse(end)),
            None => self.endless += 1,
        }
        self.most = self.most.max(self.endless + self.ends.len() as u64);
    }

    /// A call that had been added without an end has got one, or will not get one.
    pub fn end(&mut self, to: Option<Moment>) {
        self.endless = self.endless.saturating_sub(1);
        self.ends.extend(to.map(Reverse));
    }

    /// The most that were open at once.
    pub fn most(&self) -> u64 {
        self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_follow_each_other_are_not_open_at_once() {
        let mut peak = Peak::default();
        for at in 0..5 {
            peak.add(Moment(at * 10), Some(Moment(at * 10 + 10)));
        }
        assert_eq!(peak.most(), 1);
        peak.add(Moment(100), None);
        peak.add(Moment(101), Some(Moment(200)));
        assert_eq!(peak.most(), 2);
        peak.end(Some(Moment(150)));
        peak.add(Moment(160), None);
        assert_eq!(peak.most(), 2);
    }
}
