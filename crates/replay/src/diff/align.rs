//! Which element of one sequence stands for which of another: elements of lists, lines of texts,
//! tools by name, exchanges of two recordings.

use mcpreel_wire::json::Value;
use similar::{Algorithm, capture_diff_slices};
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;

/// The product of two lengths up to which sequences are aligned; longer ones (over a thousand
/// elements each, without a common beginning or end) are compared place by place.
const MAX_CELLS: usize = 1 << 20;

/// The places of an element of both sides, or of one.
pub type Pair = [Option<usize>; 2];

/// Numbers for keys, the same for equal ones.
#[derive(Debug)]
pub(super) struct Numbers<K>(HashMap<K, u32>);

impl<K> Default for Numbers<K> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<K: Hash + Eq> Numbers<K> {
    pub(super) fn of(&mut self, key: K) -> u32 {
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        *self.0.entry(key).or_insert(next)
    }
}

/// Aligns two sequences by a longest common subsequence; what stands between equal elements is
/// paired in order. Also returns whether they were too long for that and paired by place.
pub(super) fn in_sequence(left: &[u32], right: &[u32]) -> (Vec<Pair>, bool) {
    let start = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    let (a, b) = (&left[start..], &right[start..]);
    let ends = a.iter().rev().zip(b.iter().rev());
    let end = ends.take_while(|(a, b)| a == b).count();
    let (a, b) = (a.len() - end, b.len() - end);
    let mut pairs = Vec::new();
    if a.saturating_mul(b) > MAX_CELLS {
        let (a, b) = (start + a, start + b);
        in_order(0..a, 0..b, &mut pairs);
        in_order(a..left.len(), b..right.len(), &mut pairs);
        return (pairs, true);
    }
    for op in capture_diff_slices(Algorithm::Myers, left, right) {
        in_order(op.old_range(), op.new_range(), &mut pairs);
    }
    (pairs, false)
}

fn in_order(left: std::ops::Range<usize>, right: std::ops::Range<usize>, pairs: &mut Vec<Pair>) {
    let both = left.len().min(right.len());
    let paired = left.clone().zip(right.clone());
    pairs.extend(paired.map(|(l, r)| [Some(l), Some(r)]));
    pairs.extend(left.skip(both).map(|l| [Some(l), None]));
    pairs.extend(right.skip(both).map(|r| [None, Some(r)]));
}

/// A matching that is made in several passes, the surest key first.
#[derive(Debug)]
pub(super) struct Matching {
    partners: Vec<Option<usize>>,
    taken: Vec<bool>,
}

impl Matching {
    pub(super) fn new(left: usize, right: usize) -> Self {
        Self {
            partners: vec![None; left],
            taken: vec![false; right],
        }
    }

    /// Pairs elements that have no partner yet and have the same key, in order.
    pub(super) fn pass<K: Hash + Eq>(
        &mut self,
        left: impl Fn(usize) -> K,
        right: impl Fn(usize) -> K,
    ) {
        let mut waiting: HashMap<K, VecDeque<usize>> = HashMap::new();
        for at in (0..self.taken.len()).filter(|at| !self.taken[*at]) {
            waiting.entry(right(at)).or_default().push_back(at);
        }
        for (at, partner) in self.partners.iter_mut().enumerate() {
            if partner.is_none() {
                *partner = waiting.get_mut(&left(at)).and_then(VecDeque::pop_front);
                if let Some(found) = *partner {
                    self.taken[found] = true;
                }
            }
        }
    }

    /// Whether the pairs stand in the same order on both sides.
    pub(super) fn is_in_order(&self) -> bool {
        self.partners.iter().flatten().is_sorted()
    }

    /// The pairs in the order of the left side, then what only the right side has.
    pub(super) fn right_last(&self) -> Vec<Pair> {
        let left = self.partners.iter().enumerate();
        let left = left.map(|(at, partner)| [Some(at), *partner]);
        left.chain(self.only_right().map(|right| [None, Some(right)]))
            .collect()
    }

    /// The pairs in the order of the left side; what only the right side has stands before the
    /// element that it came before.
    pub(super) fn interleaved(&self) -> Vec<Pair> {
        let mut alone = self.only_right().peekable();
        let mut pairs = Vec::with_capacity(self.partners.len());
        for (at, partner) in self.partners.iter().enumerate() {
            while let Some(right) = alone.next_if(|right| partner.is_some_and(|it| *right < it)) {
                pairs.push([None, Some(right)]);
            }
            pairs.push([Some(at), *partner]);
        }
        pairs.extend(alone.map(|right| [None, Some(right)]));
        pairs
    }

    fn only_right(&self) -> impl Iterator<Item = usize> {
        (0..self.taken.len()).filter(|at| !self.taken[*at])
    }
}

/// Lists whose elements have a name or URI, and the member that holds it.
const KEYED: &[(&str, &str)] = &[
    ("tools", "name"),
    ("prompts", "name"),
    ("arguments", "name"),
    ("resources", "uri"),
    ("resourceTemplates", "uriTemplate"),
    ("roots", "uri"),
];

/// The member by which the elements of the list `name` are known.
pub(super) fn key_of(name: &str) -> Option<&'static str> {
    let mut known = KEYED.iter();
    known.find(|(list, _)| *list == name).map(|(_, key)| *key)
}

/// The texts of `member` of each element; `None` where one lacks it or two share it.
pub(super) fn keys(elements: &[Value<'_>], member: &str) -> Option<Vec<Box<str>>> {
    let key = |element: &Value<'_>| Some(Box::from(&*element.get(member)?.as_str()?));
    let keys: Vec<Box<str>> = elements.iter().map(key).collect::<Option<_>>()?;
    let distinct: HashSet<&Box<str>> = keys.iter().collect();
    (distinct.len() == keys.len()).then_some(keys)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_was_put_in_between_is_found_and_what_was_replaced_is_paired() {
        assert_eq!(
            in_sequence(&[1, 2, 3, 4], &[1, 9, 2, 4]).0,
            [
                [Some(0), Some(0)],
                [None, Some(1)],
                [Some(1), Some(2)],
                [Some(2), None],
                [Some(3), Some(3)]
            ]
        );
        assert_eq!(
            in_sequence(&[1, 2, 3], &[1, 7, 3]).0,
            [[Some(0), Some(0)], [Some(1), Some(1)], [Some(2), Some(2)]]
        );
    }

    #[test]
    fn too_long_sequences_are_paired_by_place() {
        let left: Vec<u32> = (0..2000).collect();
        let right: Vec<u32> = (1..2001).rev().collect();
        let (pairs, coarse) = in_sequence(&left, &right);
        assert!(coarse);
        assert_eq!(pairs.len(), 2000);
        assert!(!in_sequence(&left[..900], &right[..900]).1);
    }

    #[test]
    fn later_passes_pair_what_is_left() {
        let (left, right) = (
            [(1, 'a'), (2, 'b'), (3, 'a')],
            [(9, 'a'), (3, 'a'), (4, 'c')],
        );
        let mut matching = Matching::new(3, 3);
        matching.pass(|at| left[at], |at| right[at]);
        matching.pass(|at| left[at].1, |at| right[at].1);
        assert_eq!(
            matching.interleaved(),
            [
                [Some(0), Some(0)],
                [Some(1), None],
                [Some(2), Some(1)],
                [None, Some(2)]
            ]
        );
    }

    proptest! {
        #[test]
        fn every_element_appears_once_and_in_order(
            left in prop::collection::vec(0u32..6, 0..20),
            right in prop::collection::vec(0u32..6, 0..20),
        ) {
            let pairs = in_sequence(&left, &right).0;
            let side = |side: usize| pairs.iter().filter_map(move |pair| pair[side]);
            prop_assert!(side(0).eq(0..left.len()));
            prop_assert!(side(1).eq(0..right.len()));
            let mut matching = Matching::new(left.len(), right.len());
            matching.pass(|at| left[at], |at| right[at]);
            let mut rights: Vec<_> =
                matching.interleaved().iter().filter_map(|pair| pair[1]).collect();
            rights.sort_unstable();
            prop_assert!(rights.into_iter().eq(0..right.len()));
        }
    }
}
