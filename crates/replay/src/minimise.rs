//! The fewest client messages of a session for which a replay still shows the failure.
//!
//! ```text
//!  recording ─▶ Units ─▶ ddmin ─ a set of them, with all that it needs ─▶ a replay without the rest
//!                          ▲                                                 │
//!                          └─────────────── fails, or not ◀──────────────────┘
//! ```
//!
//! A [`Unit`] stays or goes as a whole: a request with its cancel, the rounds of its chain and what
//! the client tells the server while it answers; a notification. A unit may need others, without
//! which it means nothing: whoever gives a handle back needs the call that the handle came from. The
//! handshake is in no unit, it always stays. Nor are answers of the client: they go out where the
//! server asks.
//!
//! [`ddmin`] is Zeller's and Hildebrandt's delta debugging: it tries without ever smaller pieces
//! until no single unit can be left out. A unit is left out together with those that need it.

use crate::bind::Trail;
use mcpreel_store::notices::Link;
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::frame::{Seq, StreamId};
use mcpreel_wire::json::parse_into;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Messages of the client that stay or go together.
#[derive(Clone, Debug, Default)]
pub struct Unit {
    pub frames: Vec<Seq>,
    /// Units without which it means nothing.
    pub needs: BTreeSet<usize>,
}

/// A session in units, in the order of their first frames.
#[derive(Clone, Debug, Default)]
pub struct Units {
    all: Vec<Unit>,
    of_frame: HashMap<Seq, usize>,
    handshake: usize,
}

impl Units {
    pub fn of(recording: &Recording) -> Result<Self, ReadError> {
        let (mut units, mut trail, mut nodes) = (Self::default(), Trail::default(), Vec::new());
        // The units of requests of either side, by their frames.
        let mut of_request = HashMap::new();
        let mut after = Seq(0);
        loop {
            let page = recording.frames(after)?;
            let Some(last) = page.last().map(|(head, _)| head.seq) else {
                break;
            };
            let links = recording.links(after, last)?.into_iter();
            let links: HashMap<Seq, Link> = links.map(|link| (link.frame, link)).collect();
            after = last;
            for (head, raw) in page {
                let link = links.get(&head.seq);
                let around = link.and_then(|link| link.answers.or(link.within));
                let around = around.and_then(|seq| of_request.get(&seq).copied());
                let unit = match head.stream {
                    StreamId::C2S => units.add(head.seq, link, around),
                    StreamId::S2C => around,
                    _ => continue,
                };
                let Some(unit) = unit else { continue };
                if link.is_some_and(|link| link.kind == MessageKind::Request) {
                    of_request.insert(head.seq, unit);
                }
                let method = link.and_then(|link| link.method.as_deref());
                let method = method.unwrap_or_default();
                if let Ok(message) = parse_into(raw.as_deref().unwrap_or_default(), &mut nodes) {
                    if head.stream == StreamId::C2S {
                        let needs = trail.says(message, method, unit);
                        units.all[unit].needs.extend(needs);
                    } else {
                        trail.told(message, method, Some(unit));
                    }
                }
            }
        }
        Ok(units)
    }

    /// Adds a frame of the client to the unit `around` it, or to a new one; `None` where it belongs
    /// to no unit.
    fn add(&mut self, seq: Seq, link: Option<&Link>, around: Option<usize>) -> Option<usize> {
        let method = link.and_then(|link| link.method.as_deref());
        if let Some("initialize" | "notifications/initialized") = method {
            self.handshake += 1;
            return None;
        }
        // Answers go out where the server asks.
        if link.is_some_and(|link| link.answers.is_some()) {
            return None;
        }
        let unit = around.unwrap_or(self.all.len());
        if unit == self.all.len() {
            self.all.push(Unit::default());
        }
        self.all[unit].frames.push(seq);
        self.of_frame.insert(seq, unit);
        Some(unit)
    }

    pub fn all(&self) -> &[Unit] {
        &self.all
    }

    /// How many messages these units have, those of the handshake included.
    pub fn messages(&self, units: &[usize]) -> usize {
        let frames = units.iter().map(|unit| self.all[*unit].frames.len());
        frames.sum::<usize>() + self.handshake
    }

    /// `units` with all that they need, in order.
    pub fn closed(&self, units: &[usize]) -> Vec<usize> {
        closed(&self.all, units)
    }

    /// Whether a frame of the client belongs to a unit that is not in `kept`, which is in order.
    pub fn leaves_out(&self, kept: &[usize], seq: Seq) -> bool {
        let unit = self.of_frame.get(&seq);
        unit.is_some_and(|unit| kept.binary_search(unit).is_err())
    }
}

/// The fewest of `units` with which `fails` still says that they fail, in order and with all that
/// they need; all of them together are known to. `fails` is asked about each set once; `None` stops
/// the search, with the smallest set that is known to fail.
pub fn ddmin(units: &[Unit], mut fails: impl FnMut(&[usize]) -> Option<bool>) -> Vec<usize> {
    let mut best: Vec<_> = (0..units.len()).collect();
    let mut tried = HashSet::new();
    // Often nothing is needed but what is always there.
    let (mut sets, mut pieces) = (vec![Vec::new()], 1);
    loop {
        let mut smaller = |set: &Vec<usize>| set.len() < best.len() && tried.insert(set.clone());
        let mut found = None;
        let sets_in_order = sets.into_iter().enumerate();
        for (nth, set) in sets_in_order.filter(|(_, set)| smaller(set)) {
            match fails(&set) {
                None => return best,
                Some(true) => {
                    found = Some((nth, set));
                    break;
                }
                Some(false) => {}
            }
        }
        pieces = match &found {
            Some((nth, _)) if *nth < pieces => 2,
            Some(_) => (pieces - 1).max(2),
            None if pieces >= best.len() => return best,
            None => pieces * 2,
        };
        best = found.map_or(best, |(_, set)| set);
        let length = best.len();
        pieces = pieces.min(length);
        // Each piece alone, then all but each.
        let at = |piece: usize| piece * length / pieces;
        let cuts: Vec<_> = (0..pieces).map(|it| &best[at(it)..at(it + 1)]).collect();
        let alone = cuts.iter().map(|cut| closed(units, cut));
        let without = cuts.iter().map(|cut| without(units, &best, cut));
        sets = alone.chain(without).collect();
    }
}

/// The `units` that need none of `gone`.
fn without(all: &[Unit], units: &[usize], gone: &[usize]) -> Vec<usize> {
    let mut gone: BTreeSet<usize> = gone.iter().copied().collect();
    let mut kept = units.to_vec();
    loop {
        let before = kept.len();
        kept.retain(|unit| {
            let goes = gone.contains(unit) || !all[*unit].needs.is_disjoint(&gone);
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

/// `units` with all that they need, in order.
fn closed(all: &[Unit], units: &[usize]) -> Vec<usize> {
    let mut closed: BTreeSet<_> = units.iter().copied().collect();
    let mut open = units.to_vec();
    while let Some(unit) = open.pop() {
        let needs = all[unit].needs.iter().copied();
        open.extend(needs.filter(|needed| closed.insert(*needed)));
    }
    closed.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn independent(count: usize) -> Vec<Unit> {
        vec![Unit::default(); count]
    }

    /// A failure that shows where all of `needed` are there.
    fn needing(needed: &[usize]) -> impl FnMut(&[usize]) -> Option<bool> + use<> {
        let needed = needed.to_vec();
        move |set| Some(needed.iter().all(|unit| set.contains(unit)))
    }

    #[test]
    fn what_is_not_needed_goes_and_no_set_is_tried_twice() {
        for (count, needed) in [
            (1, &[][..]),
            (1, &[0]),
            (8, &[3]),
            (8, &[0, 7]),
            (100, &[1, 50, 51]),
            (3, &[0, 1, 2]),
        ] {
            let (mut seen, mut fails) = (HashSet::new(), needing(needed));
            let minimal = ddmin(&independent(count), |set| {
                assert!(seen.insert(set.to_vec()), "{set:?} again");
                fails(set)
            });
            assert_eq!(minimal, needed, "{count} units");
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
        assert_eq!(minimal, (0..16).collect::<Vec<_>>());
    }

    /// Once the reader was kept for the sake of the handle that it reads.
    #[test]
    fn who_uses_something_goes_though_it_has_to_be_made() {
        let (open, read, search) = (3, 4, 9);
        let mut units = independent(12);
        units[read].needs.insert(open);
        let mut needed = needing(&[open, search]);
        let minimal = ddmin(&units, |set| {
            assert!(!set.contains(&read) || set.contains(&open), "{set:?}");
            needed(set)
        });
        assert_eq!(minimal, [open, search]);
        // Who fails itself needs what it uses.
        assert_eq!(ddmin(&units, needing(&[read])), [open, read]);
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
            prop_assume!(fails(&(0..count).collect::<Vec<_>>()));
            let minimal = ddmin(&independent(count), |set| Some(fails(set)));
            prop_assert!(fails(&minimal));
            for leave in 0..minimal.len() {
                let mut rest = minimal.clone();
                rest.remove(leave);
                prop_assert!(!fails(&rest), "{minimal:?} without {leave}");
            }
        }
    }
}
