//! Which recorded request a live one stands for. Pure.
//!
//! ```text
//!  entries, by digest:   a a a b b c          of a tier: those with the digest of the request
//!                          ▲ cursor           ▶ the first from here that was not used
//!                        ▲                    ▶ the first before it
//!                            ▲                ▶ the last one again
//! ```

use super::index::Index;
use super::wanted::Wanted;
use std::cell::Cell;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    Exact,
    /// By its params but for what no two runs share.
    Normalised,
}

/// The recorded request that a live one stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    pub entry: u32,
    pub tier: Tier,
    pub repeats: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No request of this method is on record.
    Method,
    /// None about this tool, prompt or resource.
    Name,
    Params,
    /// Those that there are have been used.
    Used,
    /// Something else comes first in recorded order.
    Order,
    /// The recorded client did not go on from there.
    Round,
    /// The recording is of another era or version.
    Version,
    /// It was taken for one that differs only as two runs do.
    Noise,
}

impl Reason {
    /// `method`, `name`, `params`, `used`, `order`, `round`, `version` or `noise`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Method => "method",
            Self::Name => "name",
            Self::Params => "params",
            Self::Used => "used",
            Self::Order => "order",
            Self::Round => "round",
            Self::Version => "version",
            Self::Noise => "noise",
        }
    }
}

#[derive(Debug)]
pub struct Matcher {
    exact: Order,
    normalised: Order,
    used: Vec<bool>,
    /// The place after the last one that was served.
    cursor: u32,
    /// Everything before it was used, or need not be in order.
    in_order: u32,
    highest: Option<u32>,
    once: bool,
    strict: bool,
}

impl Matcher {
    pub fn new(index: &Index, once: bool, strict: bool) -> Self {
        Self {
            exact: Order::new(index, |entry| entry.exact),
            normalised: Order::new(index, |entry| entry.normalised),
            used: vec![false; index.entries.len()],
            cursor: 0,
            in_order: 0,
            highest: None,
            once,
            strict,
        }
    }

    /// The recorded request that `wanted` stands for. `is_same` looks whether an entry whose digest
    /// is the same really is.
    pub fn find(
        &mut self,
        index: &Index,
        wanted: &Wanted,
        mut is_same: impl FnMut(u32, Tier) -> bool,
    ) -> Result<Match, Reason> {
        let expected = self.expected(index);
        let tiers = [
            (Tier::Exact, &self.exact, wanted.exact),
            (Tier::Normalised, &self.normalised, wanted.normalised),
        ];
        let mut all_used = false;
        for (tier, order, digest) in tiers {
            let picked = order.pick(digest, self.cursor, &self.used);
            let Some(picked) = picked.filter(|picked| is_same(picked.0, tier)) else {
                continue;
            };
            let (entry, repeats) = picked;
            if repeats && self.once && !wanted.is_reusable() {
                all_used = true;
                continue;
            }
            let ordered = self.strict && !wanted.is_reusable();
            if ordered && (repeats || entry != expected) {
                return Err(Reason::Order);
            }
            return Ok(Match {
                entry,
                tier,
                repeats,
            });
        }
        Err(if all_used {
            Reason::Used
        } else {
            reason(index, wanted)
        })
    }

    /// The entry is served. Returns whether that is out of recorded order.
    pub fn take(&mut self, index: &Index, entry: u32) -> bool {
        let first = !std::mem::replace(&mut self.used[entry as usize], true);
        if index.entry(entry).reusable {
            return false;
        }
        self.cursor = entry + 1;
        let earlier = self.highest.is_some_and(|highest| entry < highest);
        self.highest = self.highest.max(Some(entry));
        first && earlier
    }

    pub fn is_used(&self, entry: u32) -> bool {
        self.used[entry as usize]
    }

    /// The place after the last one that was served.
    pub fn cursor(&self) -> u32 {
        self.cursor
    }

    /// The first entry that was not used and has to come in order.
    fn expected(&mut self, index: &Index) -> u32 {
        let done = |at: u32| {
            let entry = index.entries.get(at as usize);
            entry.is_some_and(|entry| self.used[at as usize] || entry.reusable || entry.hidden)
        };
        while done(self.in_order) {
            self.in_order += 1;
        }
        self.in_order
    }
}

fn reason(index: &Index, wanted: &Wanted) -> Reason {
    let (name, method) = (wanted.name_digest(), wanted.method_digest());
    let mut entries = index.entries.iter();
    if entries.clone().any(|entry| entry.name == name) {
        Reason::Params
    } else if entries.any(|entry| entry.method == method) {
        Reason::Name
    } else {
        Reason::Method
    }
}

/// The entries by a digest, then in recorded order.
#[derive(Debug)]
struct Order {
    sorted: Vec<(u64, u32)>,
    /// From each place a place behind it before which all are used.
    skip: Vec<Cell<u32>>,
}

impl Order {
    fn new(index: &Index, digest: impl Fn(&super::index::Entry) -> u64) -> Self {
        let entries = index.entries.iter().zip(0_u32..);
        let fresh = entries.filter(|(entry, _)| !entry.hidden);
        let mut sorted: Vec<_> = fresh.map(|(entry, at)| (digest(entry), at)).collect();
        sorted.sort_unstable();
        let skip = (0_u32..).take(sorted.len()).map(Cell::new).collect();
        Self { sorted, skip }
    }

    /// The entry with `digest` that is next from `cursor`, and whether it was used before.
    fn pick(&self, digest: u64, cursor: u32, used: &[bool]) -> Option<(u32, bool)> {
        let start = self.sorted.partition_point(|(it, _)| *it < digest);
        let end = self.sorted.partition_point(|(it, _)| *it <= digest);
        if start == end {
            return None;
        }
        let from = self.sorted.partition_point(|it| *it < (digest, cursor));
        let fresh = self
            .fresh(from, end, used)
            .or_else(|| self.fresh(start, from, used));
        let at = fresh.unwrap_or(end - 1);
        Some((self.sorted[at].1, fresh.is_none()))
    }

    /// The first place from `from` on that is not used, before `end`. Each place that was passed
    /// over is passed over at once the next time: many equal requests would take squares of time.
    fn fresh(&self, from: usize, end: usize, used: &[bool]) -> Option<usize> {
        let mut at = from;
        while at < end && used[self.sorted[at].1 as usize] {
            let next = (self.skip[at].get() as usize).max(at + 1);
            at = next;
        }
        let mut passed = from;
        while passed < at.min(self.skip.len()) {
            let next = (self.skip[passed].get() as usize).max(passed + 1);
            self.skip[passed].set(u32::try_from(at).unwrap_or(u32::MAX));
            passed = next;
        }
        (at < end).then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mock::index::{Entry, NONE, Outcome, Place};
    use crate::rules::Rules;
    use mcpreel_trace::frame::Seq;

    /// Entries with these digests, in this order.
    fn index(digests: &[u64]) -> Index {
        let entries = digests.iter().zip(1_u64..);
        let entry = |(digest, seq): (&u64, u64)| Entry {
            request: Place::new(Seq(seq), 0),
            response: None,
            exact: *digest,
            normalised: *digest / 10,
            name: 0,
            method: 0,
            next: NONE,
            outcome: Outcome::Answer,
            reusable: false,
            hidden: false,
            followed: false,
        };
        Index {
            entries: entries.map(entry).collect(),
            ..Index::default()
        }
    }

    fn wanted(digest: u64) -> Wanted {
        Wanted {
            exact: digest,
            normalised: digest / 10,
            ..Wanted::new("tools/call", None, None, &Rules::default())
        }
    }

    /// What requests with these digests get, one after the other.
    fn served(index: &Index, asked: &[u64]) -> Vec<Option<u32>> {
        let mut matcher = Matcher::new(index, false, false);
        let mut serve = |digest: &u64| {
            let found = matcher.find(index, &wanted(*digest), |_, _| true).ok()?;
            matcher.take(index, found.entry);
            Some(found.entry)
        };
        asked.iter().map(&mut serve).collect()
    }

    #[test]
    fn the_next_unused_one_then_an_earlier_one_then_the_last_one_again() {
        let index = index(&[10, 20, 10, 30, 10]);
        let got = |asked: &[u64]| -> Vec<_> {
            let served = served(&index, asked);
            served
                .into_iter()
                .map(|it| it.expect("it is on record"))
                .collect()
        };
        assert_eq!(got(&[10, 10, 10, 10, 10]), [0, 2, 4, 4, 4]);
        assert_eq!(got(&[20, 10, 10, 10, 10]), [1, 2, 4, 0, 4]);
        assert_eq!(got(&[30, 10, 10, 20, 10]), [3, 4, 0, 1, 2]);
        // The exact ones first, also if they were used, then the normalised ones.
        assert_eq!(got(&[11, 11, 11, 11, 20]), [0, 2, 4, 4, 1]);
        assert_eq!(served(&index, &[50]), [None]);
    }

    #[test]
    fn what_only_has_the_same_digest_is_not_taken() {
        let index = index(&[10]);
        let mut matcher = Matcher::new(&index, false, false);
        let found = matcher.find(&index, &wanted(10), |_, tier| tier == Tier::Normalised);
        assert_eq!(found.map(|it| it.tier), Ok(Tier::Normalised));
        let found = matcher.find(&index, &wanted(10), |_, _| false);
        assert!(found.is_err());
    }

    /// With a scan from the cursor for each, this would take hours.
    #[test]
    fn a_hundred_thousand_equal_requests_are_served_in_no_time() {
        let count = 100_000_u32;
        let index = index(&vec![10; count as usize]);
        let mut matcher = Matcher::new(&index, false, false);
        let mut take = |_| {
            let found = matcher.find(&index, &wanted(10), |_, _| true);
            let entry = found.expect("it is on record").entry;
            // From far behind, so that the ones before the cursor have to be found as well.
            matcher.cursor = count / 2;
            matcher.used[entry as usize] = true;
            entry
        };
        let served: std::collections::BTreeSet<_> = (0..count).map(&mut take).collect();
        assert_eq!(served.len(), count as usize);
    }
}
