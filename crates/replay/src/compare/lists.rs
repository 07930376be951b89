//! Lists: which element stands for which, and what differs between them.

use super::align::{self, Alignment, Keyed, Numbers, Pair};
use super::equal::Exhausted;
use super::line::{Excerpt, Label, Verdict};
use super::walk::{Walk, places};
use super::{Change, Class};
use crate::rules::{Matching, Spot};
use mcpreel_wire::json::Value;

impl Walk<'_> {
    pub(super) fn elements(
        &mut self,
        depth: u16,
        left: Value<'_>,
        right: Value<'_>,
    ) -> Result<(), Exhausted> {
        let left: Vec<_> = left.elements().collect();
        let right: Vec<_> = right.elements().collect();
        let matching = self.terms.scope.matching(&self.place);
        let keyed = match matching {
            Some(Matching::Keyed(member)) => align::keyed_by(member, &left, &right),
            Some(Matching::Set) => None,
            None => align::keyed(self.names.last().map(AsRef::as_ref), &left, &right),
        };
        if let Some(keyed) = keyed {
            if matching.is_none() && !keyed.in_order {
                self.other_order(depth, &keyed);
            }
            self.keyed(depth, &keyed, &left, &right);
            return Ok(());
        }
        self.out.limits.unkeyed += u64::from(matches!(matching, Some(Matching::Keyed(_))));
        let mut numbers = Numbers::default();
        let a = align::numbered(&left, &mut numbers, &mut self.work)?;
        let b = align::numbered(&right, &mut numbers, &mut self.work)?;
        let alignment = match matching {
            Some(Matching::Set) => align::as_sets(&a, &b),
            _ => align::align(&a, &b),
        };
        self.aligned(depth, alignment, &left, &right);
        Ok(())
    }

    fn aligned(
        &mut self,
        depth: u16,
        alignment: Alignment,
        left: &[Value<'_>],
        right: &[Value<'_>],
    ) {
        self.out.limits.coarse += u64::from(alignment.coarse);
        for pair in alignment.pairs {
            let (l, r) = places(pair);
            self.pair(depth, [l, r], None, left, right);
        }
    }

    /// Lists whose elements are known by name.
    fn keyed(&mut self, depth: u16, keyed: &Keyed, left: &[Value<'_>], right: &[Value<'_>]) {
        for (key, l, r) in &keyed.pairs {
            self.pair(depth, [*l, *r], Some(key), left, right);
        }
    }

    fn pair(
        &mut self,
        depth: u16,
        [l, r]: [Option<usize>; 2],
        key: Option<&str>,
        left: &[Value<'_>],
        right: &[Value<'_>],
    ) {
        let label = |left, right| Label::Element {
            left,
            right,
            key: key.map(Into::into),
        };
        let (one, other) = (l.map(|at| left[at]), r.map(|at| right[at]));
        self.place.extend(l.or(r).map(Spot::Element));
        match (one, other) {
            (Some(one), Some(other)) if key.is_some() || one.kind() == other.kind() => {
                self.value(depth, label(l, r), one, other);
            }
            _ => {
                if let Some(one) = one {
                    self.removed(depth, label(l, None), one, key.is_some());
                }
                if let Some(other) = other {
                    self.added(depth, label(None, r), other);
                }
            }
        }
        self.place.pop();
    }

    /// That the elements of a list stand in another order, which is worth a word, no more.
    fn other_order(&mut self, depth: u16, keyed: &Keyed) {
        let verdict = Verdict::Differs {
            class: Class::Order,
            change: Change::Order,
            left: Some(names(keyed.pairs.iter().map(|(key, l, _)| (*l, key)))),
            right: Some(names(keyed.pairs.iter().map(|(key, _, r)| (*r, key)))),
        };
        self.push(depth, Label::Root, verdict);
    }
}

/// The keys of one side in its order.
fn names<'k>(keys: impl Iterator<Item = (Option<usize>, &'k Box<str>)>) -> Excerpt {
    let mut keys: Vec<_> = keys
        .filter_map(|(place, key)| Some((place?, &**key)))
        .collect();
    keys.sort_unstable();
    let keys: Vec<_> = keys.into_iter().map(|(_, key)| key).collect();
    Excerpt::new(keys.join(", ").as_bytes())
}

impl Alignment {
    /// What stands beside nothing is paired in order, as far as it goes.
    pub(super) fn of_sets(mut pairs: Vec<Pair>, left: Vec<usize>, right: Vec<usize>) -> Self {
        let both = left.len().min(right.len());
        pairs.extend(left.iter().zip(&right).map(|(l, r)| Pair::Other(*l, *r)));
        pairs.extend(left.into_iter().skip(both).map(Pair::Left));
        pairs.extend(right.into_iter().skip(both).map(Pair::Right));
        Self {
            pairs,
            coarse: false,
        }
    }
}
