//! Alignment of two sequences: elements of lists, lines of texts, tools by name, exchanges of two
//! recordings.

use mcpreel_wire::json::Value;
use similar::{Algorithm, capture_diff_slices};
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;
use std::ops::Range;

/// The product of two lengths up to which sequences are aligned; longer ones (over a thousand
/// elements each, without a common beginning or end) are paired place by place.
const MAX_CELLS: usize = 1 << 20;

/// The places of an element of both sides, or of one.
pub type Pair = [Option<usize>; 2];

/// Aligns two sequences by a longest common subsequence; what stands between equal elements is
/// paired in order. Also returns whether the sequences were too long and were paired by place.
pub fn in_sequence<K: Hash + Eq>(left: &[K], right: &[K]) -> (Vec<Pair>, bool) {
    let start = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    let ends = left[start..].iter().rev().zip(right[start..].iter().rev());
    let end = ends.take_while(|(a, b)| a == b).count();
    let [a, b] = [left.len() - end, right.len() - end];
    let is_too_long = (a - start).saturating_mul(b - start) > MAX_CELLS;
    let runs = if is_too_long {
        vec![(0..a, 0..b), (a..left.len(), b..right.len())]
    } else {
        let runs = capture_diff_slices(Algorithm::Myers, left, right).into_iter();
        runs.map(|run| (run.old_range(), run.new_range())).collect()
    };
    let pairs = runs.into_iter().flat_map(|(a, b)| by_place(a, b));
    (pairs.collect(), is_too_long)
}

/// Pairs the elements of two ranges in order.
pub fn by_place(left: Range<usize>, right: Range<usize>) -> impl Iterator<Item = Pair> {
    let most = left.len().max(right.len());
    (0..most).map(move |at| [left.clone().nth(at), right.clone().nth(at)])
}

/// Pairs elements of the same key, in order: by the first of `keys`, what is left by the next. The
/// pairs are in the order of the left side; what only the right side has stands before the element
/// that it came before.
pub fn by_key<T, K: Hash + Eq>(sides: [&[T]; 2], keys: &[&dyn Fn(&T) -> K]) -> Vec<Pair> {
    let [left, right] = sides;
    let mut partners = vec![None; left.len()];
    let mut is_taken = vec![false; right.len()];
    for key in keys {
        let mut waiting: HashMap<K, VecDeque<usize>> = HashMap::new();
        for at in (0..right.len()).filter(|at| !is_taken[*at]) {
            waiting.entry(key(&right[at])).or_default().push_back(at);
        }
        let open = partners.iter_mut().zip(left);
        for (partner, element) in open.filter(|(partner, _)| partner.is_none()) {
            *partner = waiting.get_mut(&key(element)).and_then(VecDeque::pop_front);
            if let Some(found) = partner {
                is_taken[*found] = true;
            }
        }
    }
    let mut alone = (0..right.len()).filter(|at| !is_taken[*at]).peekable();
    let mut pairs = Vec::with_capacity(left.len());
    for (at, partner) in partners.into_iter().enumerate() {
        while let Some(right) = alone.next_if(|right| partner.is_some_and(|it| *right < it)) {
            pairs.push([None, Some(right)]);
        }
        pairs.push([Some(at), partner]);
    }
    pairs.extend(alone.map(|right| [None, Some(right)]));
    pairs
}

/// Whether the elements of both sides stand in the same order.
pub fn is_in_order(pairs: &[Pair]) -> bool {
    let both = pairs.iter().filter(|pair| pair[0].is_some());
    both.filter_map(|pair| pair[1]).is_sorted()
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
pub fn key_of(name: &str) -> Option<&'static str> {
    let mut known = KEYED.iter();
    known.find(|(list, _)| *list == name).map(|(_, key)| *key)
}

/// The texts of `member` of each element; `None` where one lacks it or two share it.
pub fn keys(elements: &[Value<'_>], member: &str) -> Option<Vec<Box<str>>> {
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
            in_sequence(&[1, 2, 3, 4, 5], &[1, 9, 2, 7, 5]).0,
            [
                [Some(0), Some(0)],
                [None, Some(1)],
                [Some(1), Some(2)],
                [Some(2), Some(3)],
                [Some(3), None],
                [Some(4), Some(4)]
            ]
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
            let pairs = by_key([&left, &right], &[&|one| *one]);
            let mut rights: Vec<_> = pairs.iter().filter_map(|pair| pair[1]).collect();
            rights.sort_unstable();
            prop_assert!(rights.into_iter().eq(0..right.len()));
            prop_assert!(pairs.iter().filter_map(|pair| pair[0]).eq(0..left.len()));
        }
    }
}
