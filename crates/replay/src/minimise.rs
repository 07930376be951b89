//! The fewest client messages of a session for which a replay still shows the failure.
//!
//! ```text
//!  recording ─▶ Units ─▶ ddmin ─ a set of them, with all that it needs ─▶ a replay without the rest
//!                          ▲                                                 │
//!                          └─────────────── fails, or not ◀──────────────────┘
//! ```
//!
//! A unit stays or goes as a whole: a request with its cancel, the rounds of its chain and what
//! the client tells the server while it answers; a notification. What a message needs of an answer
//! that is left out keeps the player from sending it, so that the call stays with it. The handshake
//! is in no unit, it always stays. Nor are answers of the client: they go out where the server asks.
//!
//! [`ddmin`] is Zeller's and Hildebrandt's delta debugging: it tries without ever smaller pieces
//! until no single unit can be left out.

use mcpreel_store::notices::Link;
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::message::Direction;
use std::collections::{HashMap, HashSet};

/// A session in units, in the order of their first frames.
#[derive(Clone, Debug, Default)]
pub struct Units {
    /// The messages of the client in each.
    all: Vec<Vec<Seq>>,
    of_frame: HashMap<Seq, usize>,
    handshake: usize,
}

impl Units {
    pub fn of(recording: &Recording) -> Result<Self, ReadError> {
        let mut units = Self::default();
        // The units of requests of either side, by their frames.
        let mut of_request = HashMap::new();
        let mut after = Seq(0);
        loop {
            let page = recording.frames(after)?;
            let Some(last) = page.last().map(|(head, _)| head.seq) else {
                return Ok(units);
            };
            let links = recording.links(after, last)?.into_iter();
            let links: HashMap<Seq, Link> = links.map(|link| (link.frame, link)).collect();
            after = last;
            for (head, _) in page {
                let link = links.get(&head.seq);
                let around = link.and_then(|link| link.answers.or(link.within));
                let around = around.and_then(|seq| of_request.get(&seq).copied());
                let is_carried = head.stream.connection().is_some();
                let unit = match head.stream.messages() {
                    // Heads and the like are no messages.
                    _ if is_carried && link.is_none() => continue,
                    Some(Direction::ClientToServer) => units.add(head.seq, link, around),
                    Some(Direction::ServerToClient) => around,
                    None => continue,
                };
                if link.is_some_and(|link| link.kind == MessageKind::Request) {
                    of_request.extend(unit.map(|unit| (head.seq, unit)));
                }
            }
        }
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
            self.all.push(Vec::new());
        }
        self.all[unit].push(seq);
        self.of_frame.insert(seq, unit);
        Some(unit)
    }

    pub fn all(&self) -> &[Vec<Seq>] {
        &self.all
    }

    /// The number of messages in these units, those of the handshake included.
    pub fn messages(&self, units: &[usize]) -> usize {
        let frames = units.iter().map(|unit| self.all[*unit].len());
        frames.sum::<usize>() + self.handshake
    }

    /// Whether a frame of the client belongs to a unit that is not in `kept`, which is in order.
    pub fn leaves_out(&self, kept: &[usize], seq: Seq) -> bool {
        let unit = self.of_frame.get(&seq);
        unit.is_some_and(|unit| kept.binary_search(unit).is_err())
    }
}

/// The fewest of so many `units` with which `fails` still says that they fail, in order; all of them
/// together are known to. `fails` is asked about each set once; `None` stops the search, with the
/// smallest set that is known to fail.
pub fn ddmin(units: usize, mut fails: impl FnMut(&[usize]) -> Option<bool>) -> Vec<usize> {
    let mut best: Vec<_> = (0..units).collect();
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
        let cuts = (0..pieces).map(|it| (at(it), at(it + 1)));
        let alone = cuts.clone().map(|(from, to)| best[from..to].to_vec());
        let without = cuts.map(|(from, to)| [&best[..from], &best[to..]].concat());
        sets = alone.chain(without).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
            let minimal = ddmin(count, |set| {
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
        let minimal = ddmin(64, |set| {
            left -= 1;
            (left > 0).then(|| needed(set)).flatten()
        });
        assert_eq!(minimal, (0..16).collect::<Vec<_>>());
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
            let minimal = ddmin(count, |set| Some(fails(set)));
            prop_assert!(fails(&minimal));
            for leave in 0..minimal.len() {
                let mut rest = minimal.clone();
                rest.remove(leave);
                prop_assert!(!fails(&rest), "{minimal:?} without {leave}");
            }
        }
    }
}
