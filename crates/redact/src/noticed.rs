//! Texts by which it is noticed that something may be secret, found in a single pass over many
//! bytes.
//!
//! Nearly every frame has none of them, and all frames are looked at. Each step of the automaton
//! waits for memory that the step before it names, so it goes through several places of a frame
//! at once, which takes little longer than to go through one.

use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::dfa::DFA;
use aho_corasick::{Anchored, BuildError, Input};
use std::array;

pub(super) use aho_corasick::Match;

/// Places of a text that are gone through at once. More of them take longer: they find no room in
/// the registers of a processor.
const LANES: usize = 4;

/// Finds texts in any case of their letters.
#[derive(Debug)]
pub(super) struct Noticed {
    dfa: DFA,
    start: StateID,
    longest: usize,
}

impl Noticed {
    /// Finds these, none of which is empty. Fails where they are too much together.
    pub fn new(texts: &[&str]) -> Result<Self, BuildError> {
        let dfa = DFA::builder()
            .ascii_case_insensitive(true)
            .prefilter(false)
            .build(texts)?;
        let start = dfa.start_state(Anchored::No).expect(
            "an automaton is built for searches that begin anywhere, unless asked otherwise",
        );
        Ok(Self {
            longest: dfa.max_pattern_len(),
            dfa,
            start,
        })
    }

    /// Each place where one stands, in the order of their ends.
    pub fn in_order<'t>(&'t self, text: &'t [u8]) -> impl Iterator<Item = Match> + 't {
        let found = self.dfa.try_find_overlapping_iter(Input::new(text));
        found.expect("such automata find what overlaps, wherever it begins")
    }

    /// Whether there is a place where one stands that is `meant`; it is asked of them in no order,
    /// of some perhaps twice.
    pub fn any(&self, text: &[u8], mut meant: impl FnMut(Match) -> bool) -> bool {
        // Each lane begins early enough to find what ends in its part of the text.
        let before = self.longest.saturating_sub(1);
        let step = text.len() / LANES;
        if step <= before {
            return self.go_on(self.start, text, 0, &mut meant);
        }
        let starts: [usize; LANES] = array::from_fn(|lane| (lane * step).saturating_sub(before));
        let lanes = starts.map(|start| &text[start..start + step]);
        let mut states = [self.start; LANES];
        for at in 0..step {
            let mut is_special = false;
            for (state, lane) in states.iter_mut().zip(&lanes) {
                *state = self.dfa.next_state(Anchored::No, *state, lane[at]);
                is_special |= self.dfa.is_special(*state);
            }
            if is_special {
                let mut ends = states.iter().zip(starts);
                if ends.any(|(state, start)| self.ends(*state, start + at + 1, &mut meant)) {
                    return true;
                }
            }
        }
        (0..LANES).any(|lane| {
            let is_last = lane + 1 == LANES;
            let end = if is_last {
                text.len()
            } else {
                (lane + 1) * step
            };
            let at = starts[lane] + step;
            self.go_on(states[lane], &text[..end], at, &mut meant)
        })
    }

    /// Goes on from `at`, where the automaton is in this state, to the end.
    fn go_on(
        &self,
        mut state: StateID,
        text: &[u8],
        at: usize,
        meant: &mut impl FnMut(Match) -> bool,
    ) -> bool {
        text.iter().enumerate().skip(at).any(|(at, byte)| {
            state = self.dfa.next_state(Anchored::No, state, *byte);
            self.dfa.is_special(state) && self.ends(state, at + 1, meant)
        })
    }

    /// Whether one that is meant ends here, where the automaton is in this state.
    fn ends(&self, state: StateID, end: usize, meant: &mut impl FnMut(Match) -> bool) -> bool {
        if !self.dfa.is_match(state) {
            return false;
        }
        let mut those =
            (0..self.dfa.match_len(state)).map(|nth| self.dfa.match_pattern(state, nth));
        those.any(|id| meant(Match::new(id, end - self.dfa.pattern_len(id)..end)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn wherever_one_stands_it_is_found() {
        let noticed = Noticed::new(&["%", "key", "keys", "Connection String"]).unwrap();
        for (text, found) in [("%", 1), ("KEY", 1), ("keys", 2), ("connection string", 1)] {
            for before in 0..100 {
                for after in 0..30 {
                    let text = [&"k".repeat(before), text, &"y".repeat(after)].concat();
                    let in_order: BTreeSet<_> = noticed
                        .in_order(text.as_bytes())
                        .map(|found| (found.pattern(), found.start(), found.end()))
                        .collect();
                    let mut at_once = BTreeSet::new();
                    let any = noticed.any(text.as_bytes(), |found| {
                        at_once.insert((found.pattern(), found.start(), found.end()));
                        false
                    });
                    assert_eq!((at_once.len(), &at_once), (found, &in_order), "{text}");
                    assert!(!any && noticed.any(text.as_bytes(), |_| true), "{text}");
                }
            }
        }
        assert!(!noticed.any(b"", |_| true) && !noticed.any(&[b'k'; 1000], |_| true));
    }

    #[test]
    fn of_those_that_are_not_meant_all_are_asked() {
        let noticed = Noticed::new(&["a", "b"]).unwrap();
        let text = [vec![b'a'; 50], vec![b'b'], vec![b'a'; 50]].concat();
        let is_b = |found: Match| found.start() == 50 && found.pattern().as_usize() == 1;
        assert!(noticed.any(&text, is_b));
        // Two that end at the same place.
        let noticed = Noticed::new(&["b", "ab"]).unwrap();
        for meant in 0..2 {
            assert!(noticed.any(&text, |found| found.pattern().as_usize() == meant));
        }
    }
}
