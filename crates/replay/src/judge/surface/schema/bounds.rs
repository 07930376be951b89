//! Bounds of numbers, lengths and counts.

use super::view::Parts;
use super::{Comparing, Effect, number};
use mcpreel_wire::json::Number;
use std::cmp::Ordering;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Bound {
    Least,
    Most,
}

use Bound::{Least, Most};

/// The keywords, and whether 0 says nothing.
const BOUNDS: [(&str, Bound, bool); 10] = [
    ("minimum", Least, false),
    ("exclusiveMinimum", Least, false),
    ("minLength", Least, true),
    ("minItems", Least, true),
    ("minProperties", Least, true),
    ("maximum", Most, false),
    ("exclusiveMaximum", Most, false),
    ("maxLength", Most, false),
    ("maxItems", Most, false),
    ("maxProperties", Most, false),
];

impl<'d> Comparing<'d, '_> {
    pub(super) fn bounds(&mut self, sides: [&Parts<'d>; 2]) {
        for (keyword, bound, from_zero) in BOUNDS {
            let values = sides.map(|side| side.get(keyword));
            if self.same(values) {
                continue;
            }
            let [l, r] = values.map(|value| Limit::of(number(value), from_zero, value.is_some()));
            let Some(effect) = effect(bound, &l, &r) else {
                continue;
            };
            let sentence = match (&l, &r) {
                (_, Limit::At(_)) => {
                    let value = values[1].map(|value| value.raw_text());
                    format!("`{keyword}` is {} now", value.unwrap_or_default())
                }
                (_, Limit::None) => format!("no `{keyword}` any more"),
                (_, Limit::Unknown) => format!("another `{keyword}`"),
            };
            self.at(keyword, |this| this.add(effect, &sentence, values));
        }
    }
}

enum Limit {
    None,
    At(Number),
    Unknown,
}

impl Limit {
    fn of(number: Option<Number>, from_zero: bool, present: bool) -> Self {
        match number {
            Some(number) if from_zero && number.to_i64() == Some(0) => Self::None,
            Some(number) => Self::At(number),
            None if present => Self::Unknown,
            None => Self::None,
        }
    }
}

fn effect(bound: Bound, left: &Limit, right: &Limit) -> Option<Effect> {
    let stricter = match (left, right) {
        (Limit::None, Limit::None) => return None,
        (Limit::None, Limit::At(_)) => true,
        (Limit::At(_), Limit::None) => false,
        (Limit::At(left), Limit::At(right)) => match (left.partial_cmp(right), bound) {
            (Some(Ordering::Equal), _) => return None,
            (Some(Ordering::Less), Least) | (Some(Ordering::Greater), Most) => true,
            (Some(_), _) => false,
            (None, _) => return Some(Effect::Changed),
        },
        _ => return Some(Effect::Changed),
    };
    Some(if stricter {
        Effect::Narrowed
    } else {
        Effect::Widened
    })
}
