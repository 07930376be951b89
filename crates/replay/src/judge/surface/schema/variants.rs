//! `anyOf` and `oneOf`: which variant stands for which.

use super::types::Types;
use super::view::{Parts, View};
use super::{Comparing, Effect};
use mcpreel_wire::json::{Step, Value};

/// Variants that are looked at; each may be held against each.
const MAX_VARIANTS: usize = 100;

/// The keywords that list variants.
const KEYWORDS: [&str; 2] = ["anyOf", "oneOf"];

/// How many ways there are to know a variant.
const SIGNS: usize = 3;

/// A variant and what it is known by.
struct Signed<'d> {
    at: usize,
    value: Value<'d>,
    signs: [Option<String>; SIGNS],
}

impl<'d> Comparing<'d, '_> {
    pub(super) fn variants(&mut self, sides: [&Parts<'d>; 2]) {
        for keyword in KEYWORDS {
            let lists = sides.map(|side| side.get(keyword));
            match lists {
                [None, None] => {}
                [Some(l), Some(r)] => self.both(keyword, l, r),
                _ => {
                    let said = "there are variants on one side, which nobody can compare";
                    self.at(keyword, |this| this.add(Effect::Changed, said, lists));
                }
            }
        }
    }

    /// Variants on one side, a schema without on the other: what the schema was is held against
    /// the one variant of its type. What types more there are is said elsewhere.
    pub(super) fn chosen(&mut self, sides: [&Parts<'d>; 2]) -> Option<(usize, Parts<'d>)> {
        let lists = sides.map(|side| KEYWORDS.iter().find_map(|keyword| side.get(keyword)));
        let (with, list) = match lists {
            [Some(list), None] => (0, list),
            [None, Some(list)] => (1, list),
            _ => return None,
        };
        let without = 1 - with;
        let types = Types::of(sides[without], self.roots[without], self.work, 0);
        let variants = list.elements().take(MAX_VARIANTS);
        let fitting: Vec<_> = variants
            .filter(|variant| self.types_of(*variant, with).meets(types))
            .collect();
        let [variant] = fitting[..] else { return None };
        match self.view(Some(variant), with) {
            View::Never => None,
            View::Takes(parts) => Some((with, sides[with].chosen(parts, &KEYWORDS))),
        }
    }

    fn both(&mut self, keyword: &str, left: Value<'d>, right: Value<'d>) {
        let [mut l, mut r] = [self.signed(left, 0), self.signed(right, 1)];
        let mut pairs = Vec::new();
        for sign in 0..SIGNS {
            l.retain(|one| {
                let alike = |other: &Signed<'_>| {
                    one.signs[sign].is_some() && one.signs[sign] == other.signs[sign]
                };
                let other = r.iter().position(alike).map(|place| r.remove(place));
                let stays = other.is_none();
                pairs.extend(other.map(|other| (one.at, one.value, other.value)));
                stays
            });
        }
        pairs.sort_by_key(|(at, ..)| *at);
        for (at, one, other) in pairs {
            self.variant(keyword, at, |this| this.schemas(Some(one), Some(other)));
        }
        for Signed { at, value, .. } in l {
            self.variant(keyword, at, |this| {
                this.add(
                    Effect::Narrowed,
                    "this variant is gone",
                    [Some(value), None],
                );
            });
        }
        for Signed { at, value, .. } in r {
            self.variant(keyword, at, |this| {
                this.add(Effect::Widened, "this variant is new", [None, Some(value)]);
            });
        }
    }

    /// The variants of a list, each with what it is known by, the surest first: all of it, a
    /// name, its types.
    fn signed(&mut self, list: Value<'d>, side: usize) -> Vec<Signed<'d>> {
        let variants = list.elements().take(MAX_VARIANTS).enumerate();
        let signed = variants.map(|(at, value)| {
            let names = ["const", "$ref", "title"].into_iter();
            let mut names = names.filter_map(|word| Some((word, value.get(word)?)));
            let name = names.next();
            let name = name.and_then(|(word, name)| {
                let text = self.work.canonical(name)?;
                Some(format!("{word} {text}"))
            });
            let signs = [
                self.work.canonical(value),
                name,
                Some(format!("{:?}", self.types_of(value, side))),
            ];
            Signed { at, value, signs }
        });
        signed.collect()
    }

    fn variant(&mut self, keyword: &str, at: usize, work: impl FnOnce(&mut Self)) {
        let steps = [Step::Member(keyword.into()), Step::Element(at)];
        self.within(&steps, &format!("(variant {})", at + 1), work);
    }

    fn types_of(&mut self, variant: Value<'d>, side: usize) -> Types {
        match self.view(Some(variant), side) {
            View::Never => Types::NONE,
            View::Takes(parts) => Types::of(&parts, self.roots[side], self.work, 1),
        }
    }
}
