//! Delta debugging: the fewest units with which it still fails. Pure.
//!
//! The algorithm is Zeller's and Hildebrandt's `ddmin`: try without ever smaller pieces until no
//! single unit can be left out. What fails only sometimes is beyond it; whoever asks decides how
//! often a set has to be tried.

use std::collections::HashMap;
use std::ops::Range;

/// What is known of a set of units while the smallest is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It shows the failure.
    Fails,
    /// It does not.
    Passes,
}

/// What came of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Minimal {
    /// The units that are needed, in order. None can be left out, unless the search was stopped.
    pub units: Vec<usize>,
    /// How many sets were tried.
    pub tried: usize,
    /// Whether the search came to its end; otherwise more may be left out.
    pub complete: bool,
}

/// The fewest of `count` units with which `fails` still says that it fails. All of them together
/// are taken to fail: whoever asks has seen it.
///
/// `fails` is asked about each set once; it returns `None` to stop the search, with the smallest
/// set that is known to fail.
pub fn ddmin(count: usize, fails: impl FnMut(&[usize]) -> Option<Verdict>) -> Minimal {
    let mut search = Search {
        fails,
        known: HashMap::new(),
        units: (0..count).collect(),
    };
    let complete = search.run().is_some();
    Minimal {
        units: search.units,
        tried: search.known.len(),
        complete,
    }
}

struct Search<F> {
    fails: F,
    known: HashMap<Bits, Verdict>,
    /// The smallest set that is known to fail.
    units: Vec<usize>,
}

impl<F: FnMut(&[usize]) -> Option<Verdict>> Search<F> {
    /// `None`: stopped.
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
            if self.smaller(self.units[piece.clone()].to_vec())? {
                return Some(2);
            }
        }
        // With two pieces, all but one is the other.
        for piece in cuts.iter().filter(|_| pieces > 2) {
            let before = &self.units[..piece.start];
            let rest = [before, &self.units[piece.end..]].concat();
            if self.smaller(rest)? {
                return Some((pieces - 1).max(2));
            }
        }
        Some(if pieces == self.units.len() {
            pieces + 1
        } else {
            (pieces * 2).min(self.units.len())
        })
    }

    /// Whether `set` fails; then it is the smallest that is known.
    fn smaller(&mut self, set: Vec<usize>) -> Option<bool> {
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

/// A set of units, a bit for each: thousands of sets of thousands of units are remembered.
type Bits = Box<[u64]>;

/// `units` as bits.
pub(super) fn bits(units: &[usize]) -> Bits {
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

    /// A failure that shows where all of `needed` are there.
    fn needing(needed: &[usize]) -> impl FnMut(&[usize]) -> Option<Verdict> {
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
            let minimal = ddmin(count, needing(needed));
            assert_eq!(minimal.units, needed, "{count} units");
            assert!(minimal.complete);
        }
    }

    #[test]
    fn a_stopped_search_has_the_smallest_set_that_was_seen_to_fail() {
        let mut left = 4;
        let mut needed = needing(&[9]);
        let minimal = ddmin(64, |set| {
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
        let minimal = ddmin(12, |set| {
            assert!(seen.insert(set.to_vec()), "{set:?} again");
            needed(set)
        });
        assert_eq!(minimal.tried, seen.len());
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
            let minimal = ddmin(count, verdict);
            prop_assert!(fails(&minimal.units));
            for leave in 0..minimal.units.len() {
                let mut rest = minimal.units.clone();
                rest.remove(leave);
                prop_assert!(!fails(&rest), "{:?} without {leave}", minimal.units);
            }
        }
    }
}
