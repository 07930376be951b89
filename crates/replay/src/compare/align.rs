//! Which element of one sequence stands for which of the other.

use super::equal::{Exhausted, Work};
use mcpreel_wire::json::{Value, canonical};
use std::collections::{HashMap, HashSet, VecDeque};

/// Cells of the table by which the longest common subsequence is found: 4 MB. Two sequences of
/// over a thousand elements each, without a common beginning or end, are paired by place.
const MAX_CELLS: usize = 1 << 20;

/// An element on both sides, or on one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pair {
    Same(usize, usize),
    /// In the same place between the same neighbours, but not the same.
    Other(usize, usize),
    Left(usize),
    Right(usize),
}

#[derive(Debug, Default)]
pub(super) struct Alignment {
    pub(super) pairs: Vec<Pair>,
    /// Whether they were too long to look for what was moved or put in between.
    pub(super) coarse: bool,
}

/// Numbers for things of which equal ones get the same.
#[derive(Debug, Default)]
pub(super) struct Numbers<K>(HashMap<K, u32>);

impl<K: std::hash::Hash + Eq> Numbers<K> {
    pub(super) fn of(&mut self, key: K) -> u32 {
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        *self.0.entry(key).or_insert(next)
    }
}

/// The elements as numbers, equal for those that mean the same.
pub(super) fn numbered(
    elements: &[Value<'_>],
    numbers: &mut Numbers<String>,
    work: &mut Work,
) -> Result<Vec<u32>, Exhausted> {
    let mut numbered = Vec::with_capacity(elements.len());
    for element in elements {
        work.on_bytes(element.raw().len())?;
        numbered.push(numbers.of(canonical(*element)));
    }
    Ok(numbered)
}

/// Aligns two sequences by their longest common subsequence; what stands between is paired in
/// order.
pub(super) fn align(left: &[u32], right: &[u32]) -> Alignment {
    let start = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    let (a, b) = (&left[start..], &right[start..]);
    let both = a.iter().rev().zip(b.iter().rev());
    let end = both.take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[..a.len() - end], &b[..b.len() - end]);
    let coarse = a.len().saturating_mul(b.len()) > MAX_CELLS;
    let matches = if coarse {
        let same = (0..a.len().min(b.len())).filter(|&at| a[at] == b[at]);
        same.map(|at| (at, at)).collect()
    } else {
        common_subsequence(a, b)
    };
    let mut pairs: Vec<_> = (0..start).map(|at| Pair::Same(at, at)).collect();
    let (mut at_left, mut at_right) = (0, 0);
    for (l, r) in matches.into_iter().chain([(a.len(), b.len())]) {
        between(at_left..l, at_right..r, start, &mut pairs);
        if l < a.len() {
            pairs.push(Pair::Same(start + l, start + r));
        }
        (at_left, at_right) = (l + 1, r + 1);
    }
    let (a, b) = (start + a.len(), start + b.len());
    pairs.extend((0..end).map(|at| Pair::Same(a + at, b + at)));
    Alignment { pairs, coarse }
}

/// Pairs the elements of two lists whose order means nothing.
pub(super) fn as_sets(left: &[u32], right: &[u32]) -> Alignment {
    let mut places: HashMap<u32, VecDeque<usize>> = HashMap::new();
    for (at, number) in right.iter().enumerate() {
        places.entry(*number).or_default().push_back(at);
    }
    let (mut pairs, mut only_left) = (Vec::new(), Vec::new());
    for (at, number) in left.iter().enumerate() {
        match places.get_mut(number).and_then(VecDeque::pop_front) {
            Some(other) => pairs.push(Pair::Same(at, other)),
            None => only_left.push(at),
        }
    }
    let mut only_right: Vec<_> = places.into_values().flatten().collect();
    only_right.sort_unstable();
    Alignment::of_sets(pairs, only_left, only_right)
}

/// Pairs what stands between two matches in order.
fn between(
    left: std::ops::Range<usize>,
    right: std::ops::Range<usize>,
    start: usize,
    pairs: &mut Vec<Pair>,
) {
    let both = left.len().min(right.len());
    let (l, r) = (left.start, right.start);
    pairs.extend((0..both).map(|at| Pair::Other(start + l + at, start + r + at)));
    pairs.extend((l + both..left.end).map(|at| Pair::Left(start + at)));
    pairs.extend((r + both..right.end).map(|at| Pair::Right(start + at)));
}

/// The places of a longest common subsequence, by the textbook table of lengths.
fn common_subsequence(a: &[u32], b: &[u32]) -> Vec<(usize, usize)> {
    let width = b.len() + 1;
    let mut lengths = vec![0_u32; (a.len() + 1) * width];
    for l in (0..a.len()).rev() {
        for r in (0..b.len()).rev() {
            lengths[l * width + r] = if a[l] == b[r] {
                lengths[(l + 1) * width + r + 1] + 1
            } else {
                lengths[(l + 1) * width + r].max(lengths[l * width + r + 1])
            };
        }
    }
    let mut matches = Vec::new();
    let (mut l, mut r) = (0, 0);
    while l < a.len() && r < b.len() {
        if a[l] == b[r] {
            matches.push((l, r));
            (l, r) = (l + 1, r + 1);
        } else if lengths[(l + 1) * width + r] >= lengths[l * width + r + 1] {
            l += 1;
        } else {
            r += 1;
        }
    }
    matches
}

/// Lists whose elements are known by a member, and which.
const KEYED: &[(&str, &str)] = &[
    ("tools", "name"),
    ("prompts", "name"),
    ("arguments", "name"),
    ("resources", "uri"),
    ("resourceTemplates", "uriTemplate"),
    ("roots", "uri"),
];

/// Two lists whose elements are known by name or URI.
#[derive(Debug)]
pub(super) struct Keyed {
    /// The elements of the left side in order, then those that only the right side has; each
    /// with its key.
    pub(super) pairs: Vec<(Box<str>, Option<usize>, Option<usize>)>,
    /// Whether those that both sides have stand in the same order.
    pub(super) in_order: bool,
}

/// Aligns the list that is the member `name` by key; `None` where it is none of those lists, or
/// where an element has no key or one has several elements.
pub(super) fn keyed(name: Option<&str>, left: &[Value<'_>], right: &[Value<'_>]) -> Option<Keyed> {
    let (_, member) = KEYED.iter().find(|(list, _)| Some(*list) == name)?;
    keyed_by(member, left, right)
}

/// Aligns two lists by the member of their elements that is called `member`.
pub(super) fn keyed_by(member: &str, left: &[Value<'_>], right: &[Value<'_>]) -> Option<Keyed> {
    let (left, right) = (keys(left, member)?, keys(right, member)?);
    let places: HashMap<&str, usize> = right.iter().map(AsRef::as_ref).zip(0..).collect();
    let known: HashSet<&str> = left.iter().map(AsRef::as_ref).collect();
    let both: Vec<_> = left
        .iter()
        .zip(0..)
        .map(|(key, at)| (key.clone(), Some(at), places.get(&**key).copied()))
        .collect();
    let common = both.iter().filter_map(|(_, _, right)| *right);
    let in_order = common.is_sorted();
    let added = right
        .iter()
        .zip(0..)
        .filter(|(key, _)| !known.contains(&***key));
    let added: Vec<_> = added
        .map(|(key, at)| (key.clone(), None, Some(at)))
        .collect();
    Some(Keyed {
        pairs: [both, added].concat(),
        in_order,
    })
}

fn keys(elements: &[Value<'_>], member: &str) -> Option<Vec<Box<str>>> {
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
    fn what_was_put_in_between_is_found() {
        let found = align(&[1, 2, 3, 4], &[1, 9, 2, 4]).pairs;
        let expected = [
            Pair::Same(0, 0),
            Pair::Right(1),
            Pair::Same(1, 2),
            Pair::Left(2),
            Pair::Same(3, 3),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_was_replaced_is_paired() {
        let found = align(&[1, 2, 3], &[1, 7, 3]).pairs;
        assert_eq!(
            found,
            [Pair::Same(0, 0), Pair::Other(1, 1), Pair::Same(2, 2)]
        );
    }

    #[test]
    fn too_long_sequences_are_paired_by_place_and_say_so() {
        let left: Vec<u32> = (0..2000).collect();
        let right: Vec<u32> = (1..2001).rev().collect();
        let alignment = align(&left, &right);
        assert!(alignment.coarse);
        assert_eq!(alignment.pairs.len(), 2000);
        assert!(!align(&left[..900], &right[..900]).coarse);
    }

    proptest! {
        #[test]
        fn every_element_appears_once_and_in_order(
            left in prop::collection::vec(0u32..6, 0..20),
            right in prop::collection::vec(0u32..6, 0..20),
        ) {
            let pairs = align(&left, &right).pairs;
            let lefts = pairs.iter().filter_map(|pair| match pair {
                Pair::Same(l, _) | Pair::Other(l, _) | Pair::Left(l) => Some(*l),
                Pair::Right(_) => None,
            });
            let rights = pairs.iter().filter_map(|pair| match pair {
                Pair::Same(_, r) | Pair::Other(_, r) | Pair::Right(r) => Some(*r),
                Pair::Left(_) => None,
            });
            prop_assert!(lefts.eq(0..left.len()));
            prop_assert!(rights.eq(0..right.len()));
            for pair in pairs {
                if let Pair::Same(l, r) = pair {
                    prop_assert_eq!(left[l], right[r]);
                }
            }
        }
    }
}
