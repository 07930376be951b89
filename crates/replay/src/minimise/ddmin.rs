//! Delta debugging: the fewest units with which it still fails. Pure.
//!
//! The algorithm is Zeller's and Hildebrandt's `ddmin`: try without ever smaller pieces until no
//! single unit can be left out. What fails only sometimes is beyond it; whoever asks decides how
//! often a set has to be tried.
//!
//! A unit may need others, without which it means nothing: whatever is tried has all that it needs.
//! A unit is left out together with those that need it, so that one that nothing needs any more but
//! the failure itself stays, and who only used it goes.

use super::Unit;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// What is known of a set of units while the smallest is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Fails,
    Passes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minimal {
    /// The units that are needed, in order, with all that they need. None can be left out, unless
    /// the search was stopped.
    pub units: Vec<usize>,
    pub tried: usize,
    /// Whether the search came to its end; otherwise more may be left out.
    pub complete: bool,
}

/// The fewest of `units` with which `fails` still says that it fails. All of them together are taken
/// to fail: whoever asks has seen it.
///
/// `fails` is asked about each set once; it returns `None` to stop the search, with the smallest
/// set that is known to fail.
pub fn ddmin(units: &[Unit], fails: impl FnMut(&[usize]) -> Option<Verdict>) -> Minimal {
    let mut search = Search {
        fails,
        known: HashMap::new(),
        all: units,
        units: (0..units.len()).collect(),
    };
    let complete = search.run().is_some();
    Minimal {
        units: search.units,
        tried: search.known.len(),
        complete,
    }
}

struct Search<'u, F> {
    fails: F,
    all: &'u [Unit],
    known: HashMap<Bits, Verdict>,
    /// The smallest set that is known to fail.
    units: Vec<usize>,
}

impl<F: FnMut(&[usize]) -> Option<Verdict>> Search<'_, F> {
    fn run(&mut self) -> Option<()> {
        // Often nothing is needed but what is always there.
        if self.smaller(Vec::new())? {
            return Some(());
        }
        let mut pieces = 2;
        while self.units.len() > 1 {
            pieces = self.round(pieces.min(self.units.len()))?;
            if pieces > self.units.len() {
                break;
            }
        }
        Some(())
    }

    /// Tries each of so many pieces alone, then all but each. Returns how many pieces to try next;
    /// more than there are units: none can be left out.
    fn round(&mut self, pieces: usize) -> Option<usize> {
        let cuts = cuts(self.units.len(), pieces);
        for piece in &cuts {
            if self.smaller(closed(self.all, &self.units[piece.clone()]))? {
                return Some(2);
            }
        }
        for piece in &cuts {
            if self.smaller(self.without(piece))? {
                return Some((pieces - 1).max(2));
            }
        }
        Some(if pieces == self.units.len() {
            pieces + 1
        } else {
            (pieces * 2).min(self.units.len())
        })
    }

    /// The units that need none of a piece of them.
    fn without(&self, piece: &Range<usize>) -> Vec<usize> {
        let mut gone: BTreeSet<usize> = self.units[piece.clone()].iter().copied().collect();
        let mut kept = self.units.clone();
        loop {
            let before = kept.len();
            kept.retain(|unit| {
                let goes = gone.contains(unit) || !self.all[*unit].needs.is_disjoint(&gone);
                if goes {
                    gone.insert(*unit);
                }
                !goes
            });
            // Most of what is needed comes before who needs it.
            if kept.len() == before {
                return kept;
            }
        }
    }

    /// Whether `set`, which is less than the smallest that is known, fails; then it is that.
    fn smaller(&mut self, set: Vec<usize>) -> Option<bool> {
        if set.len() >= self.units.len() {
            return Some(false);
        }
        let key = bits(&set);
        let verdict = match self.known.get(&key) {
            Some(verdict) => *verdict,
            None => (self.fails)(&set)?,
        };
        self.known.insert(key, verdict);
        let fails = verdict == Verdict::Fails;
        if fails {
            self.units = set;
        }
        Some(fails)
    }
}

/// `units` with all that they need, in order.
pub(super) fn closed(all: &[Unit], units: &[usize]) -> Vec<usize> {
    let mut closed: BTreeSet<_> = units.iter().copied().collect();
    let mut open = units.to_vec();
    while let Some(unit) = open.pop() {
        let needs = all[unit].needs.iter().copied();
        open.extend(needs.filter(|needed| closed.insert(*needed)));
    }
    closed.into_iter().collect()
}

/// A set of units, a bit for each: thousands of sets of thousands of units are remembered.
type Bits = Box<[u64]>;

fn bits(units: &[usize]) -> Bits {
    let words = units.iter().max().map_or(0, |last| last / 64 + 1);
    let mut bits = vec![0; words];
    for unit in units {
        bits[unit / 64] |= 1 << (unit % 64);
    }
    bits.into()
}

/// `length` in so many pieces, of nearly the same length.
fn cuts(length: usize, pieces: usize) -> Vec<Range<usize>> {
    let at = |piece: usize| piece * length / pieces;
    (0..pieces).map(|piece| at(piece)..at(piece + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn independent(count: usize) -> Vec<Unit> {
        vec![Unit::default(); count]
    }

    /// A failure that shows where all of `needed` are there.
    fn needing(needed: &[usize]) -> impl FnMut(&[usize]) -> Option<Verdict> + use<> {
        let needed = needed.to_vec();
        move |set| {
            let all = needed.iter().all(|unit| set.contains(unit));
            Some(if all { Verdict::Fails } else { Verdict::Passes })
        }
    }

    #[test]
    fn what_is_not_needed_goes() {
        for (count, needed) in [
            (1, &[][..]),
            (1, &[0]),
            (8, &[3]),
            (8, &[0, 7]),
            (100, &[1, 50, 51]),
            (3, &[0, 1, 2]),
        ] {
            let minimal = ddmin(&independent(count), needing(needed));
            assert_eq!(minimal.units, needed, "{count} units");
            assert!(minimal.complete);
        }
    }

    #[test]
    fn a_stopped_search_has_the_smallest_set_that_was_seen_to_fail() {
        let mut left = 4;
        let mut needed = needing(&[9]);
        let minimal = ddmin(&independent(64), |set| {
            left -= 1;
            (left > 0).then(|| needed(set)).flatten()
        });
        assert!(!minimal.complete);
        assert_eq!(minimal.units, (0..16).collect::<Vec<_>>());
    }

    #[test]
    fn no_set_is_tried_twice() {
        let mut seen = std::collections::HashSet::new();
        let mut needed = needing(&[2, 5, 11]);
        let minimal = ddmin(&independent(12), |set| {
            assert!(seen.insert(set.to_vec()), "{set:?} again");
            needed(set)
        });
        assert_eq!(minimal.tried, seen.len());
    }

    /// Once the reader was kept for the sake of the handle that it reads.
    #[test]
    fn who_uses_something_goes_though_it_has_to_be_made() {
        let (open, read, search) = (3, 4, 9);
        let mut units = independent(12);
        units[read].needs.insert(open);
        let mut seen = std::collections::HashSet::new();
        let mut needed = needing(&[open, search]);
        let minimal = ddmin(&units, |set| {
            assert!(!set.contains(&read) || set.contains(&open), "{set:?}");
            assert!(seen.insert(set.to_vec()), "{set:?} again");
            needed(set)
        });
        assert_eq!(minimal.units, [open, search]);
        // Who fails itself needs what it uses.
        let minimal = ddmin(&units, needing(&[read]));
        assert_eq!(minimal.units, [open, read]);
    }

    proptest! {
        #[test]
        fn no_single_unit_of_what_is_left_can_be_left_out(
            count in 1_usize..40,
            seeds in prop::collection::vec(prop::collection::btree_set(0_usize..40, 1..5), 1..4),
        ) {
            // Fails where all of any one of several sets are there: not monotone in pieces.
            let inside = |unit: &usize| *unit < count;
            let sets: Vec<Vec<usize>> =
                seeds.iter().map(|set| set.iter().copied().filter(inside).collect()).collect();
            let fails = |set: &[usize]| sets.iter().any(|all| all.iter().all(|unit| set.contains(unit)));
            let verdict = |set: &[usize]| Some(if fails(set) { Verdict::Fails } else { Verdict::Passes });
            prop_assume!(fails(&(0..count).collect::<Vec<_>>()));
            let minimal = ddmin(&independent(count), verdict);
            prop_assert!(fails(&minimal.units));
            for leave in 0..minimal.units.len() {
                let mut rest = minimal.units.clone();
                rest.remove(leave);
                prop_assert!(!fails(&rest), "{:?} without {leave}", minimal.units);
            }
        }
    }
}
