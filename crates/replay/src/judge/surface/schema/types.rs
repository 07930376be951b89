//! Which types of values a schema takes, and which values by name.

use super::view::{Parts, View};
use super::{Comparing, Effect, Role, Work};
use mcpreel_wire::json::{Kind, Value};
use std::collections::BTreeMap;
use std::ops::{BitAnd, BitOr, Not};

/// Variants within variants that are looked into for their types.
const MAX_DEPTH: usize = 8;

/// Values of an enumeration that are looked at.
const MAX_VALUES: usize = 1000;

const NAMED: usize = 5;

/// Characters of a value that a sentence shows.
const SHOWN: usize = 40;

/// A set of types. A number is an integer or has a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Types(u8);

const WORDS: [(&str, Types); 7] = [
    ("null", Types(1)),
    ("boolean", Types(2)),
    ("object", Types(4)),
    ("array", Types(8)),
    ("string", Types(16)),
    ("integer", Types(32)),
    ("number", Types(32 | 64)),
];

impl Types {
    pub(super) const NONE: Self = Self(0);
    const ALL: Self = Self(127);

    /// The type with this name; every type where there is none, since it may mean anything.
    fn named(name: &str) -> Self {
        let known = WORDS.iter().find(|(word, _)| *word == name);
        known.map_or(Self::ALL, |(_, types)| *types)
    }

    fn of_value(value: Value<'_>) -> Self {
        match value.kind() {
            Kind::Number if value.number().is_some_and(|number| number.is_integer()) => Self(32),
            Kind::Number => Self(64),
            kind => Self::named(kind.as_str()),
        }
    }

    pub(super) fn of(
        parts: &Parts<'_>,
        root: Option<Value<'_>>,
        work: &mut Work,
        depth: usize,
    ) -> Self {
        let mut types = Self::ALL;
        for part in parts.all("type") {
            types = types & Self::declared(part);
        }
        for values in parts.all("enum") {
            let values = values.elements().take(MAX_VALUES);
            types = types & values.map(Self::of_value).fold(Self::NONE, BitOr::bitor);
        }
        for value in parts.all("const") {
            types = types & Self::of_value(value);
        }
        if depth >= MAX_DEPTH {
            return types;
        }
        for variants in parts.all("anyOf").chain(parts.all("oneOf")) {
            let of = |variant| match View::of(Some(variant), root, work) {
                View::Never => Self::NONE,
                View::Takes(parts) => Self::of(&parts, root, work, depth + 1),
            };
            types = types & variants.elements().map(of).fold(Self::NONE, BitOr::bitor);
        }
        types
    }

    fn declared(value: Value<'_>) -> Self {
        let name = |value: Value<'_>| Self::named(&value.as_str().unwrap_or_default());
        match value.kind() {
            Kind::Array => value.elements().map(name).fold(Self::NONE, BitOr::bitor),
            _ => name(value),
        }
    }

    /// Whether something is of a type of both.
    pub(super) fn meets(self, other: Self) -> bool {
        self & other != Self::NONE
    }

    fn in_words(self) -> String {
        if self == Self::ALL {
            return "anything".to_owned();
        }
        let mut words: Vec<_> = WORDS
            .iter()
            .filter(|(_, types)| self & *types == *types)
            .map(|(word, _)| *word)
            .collect();
        if words.contains(&"number") {
            words.retain(|word| *word != "integer");
        } else if self.meets(Self(64)) {
            words.push("number with a fraction");
        }
        words.join(" or ")
    }
}

impl BitAnd for Types {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for Types {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Not for Types {
    type Output = Self;

    fn not(self) -> Self {
        Self(!self.0 & Self::ALL.0)
    }
}

impl<'d> Comparing<'d, '_> {
    pub(super) fn types(&mut self, sides: [&Parts<'d>; 2]) {
        let [l, r] = [0, 1].map(|at| Types::of(sides[at], self.roots[at], self.work, 0));
        let (gone, new) = (l & !r, r & !l);
        let said = |verb: &str, types: Types| format!("{verb} {}", types.in_words());
        let input = self.role == Role::Input;
        let (effect, sentence) = match (gone == Types::NONE, new == Types::NONE) {
            (true, true) => return,
            (false, true) if l == Types::ALL && input => (Effect::Narrowed, said("takes only", r)),
            (false, true) if l == Types::ALL => (Effect::Narrowed, said("is always", r)),
            (false, true) if input => (Effect::Narrowed, said("no longer takes", gone)),
            (false, true) => (Effect::Narrowed, said("is no longer", gone)),
            (true, false) if input => (Effect::Widened, said("also takes", new)),
            (true, false) => (Effect::Widened, said("may now be", new)),
            (false, false) => {
                let verb = if input { "takes" } else { "is" };
                let (was, is) = (l.in_words(), r.in_words());
                let narrowed = format!("{verb} {is} instead of {was}");
                // What is given is another type: whoever reads it fails, as does who gives it.
                (self.other_type(), narrowed)
            }
        };
        let values = sides.map(|side| side.get("type"));
        self.at("type", |this| this.add(effect, &sentence, values));
    }

    /// The effect that breaks who relied on the left schema.
    fn other_type(&self) -> Effect {
        match self.role {
            Role::Input => Effect::Narrowed,
            Role::Output => Effect::Widened,
        }
    }

    pub(super) fn enums(&mut self, sides: [&Parts<'d>; 2]) {
        let keyword = |side: &Parts<'d>| side.get("enum").or_else(|| side.get("const"));
        let values = sides.map(keyword);
        let at = match values.iter().flatten().next() {
            Some(_) if sides.iter().any(|side| side.get("enum").is_some()) => "enum",
            Some(_) => "const",
            None => return,
        };
        let [l, r] = sides.map(|side| named(side, self.work));
        let said = match (&l, &r) {
            (None, Some(r)) => vec![(Effect::Narrowed, format!("only {}", list(r.values())))],
            (Some(_), None) => vec![(Effect::Widened, "any value, no list of them".to_owned())],
            (Some(l), Some(r)) => {
                let without = |one: &Named, other: &Named| {
                    let gone = one.iter().filter(|(key, _)| !other.contains_key(*key));
                    list(gone.map(|(_, shown)| shown))
                };
                let (gone, new) = (without(l, r), without(r, l));
                let verb = ["no longer", "now also"];
                [(Effect::Narrowed, gone), (Effect::Widened, new)]
                    .into_iter()
                    .zip(verb)
                    .filter(|((_, values), _)| !values.is_empty())
                    .map(|((effect, values), verb)| (effect, format!("{verb} {values}")))
                    .collect()
            }
            (None, None) => Vec::new(),
        };
        for (effect, sentence) in said {
            self.at(at, |this| this.add(effect, &sentence, values));
        }
    }
}

/// Values by their canonical text, each as it is shown.
type Named = BTreeMap<String, String>;

/// The values that a schema names; `None` where it names none.
fn named(parts: &Parts<'_>, work: &mut Work) -> Option<Named> {
    let mut one = |value: Value<'_>| {
        let shown = value.raw_text().chars().take(SHOWN).collect();
        Some((work.canonical(value)?, shown))
    };
    if let Some(values) = parts.get("enum") {
        return Some(values.elements().take(MAX_VALUES).filter_map(one).collect());
    }
    parts
        .get("const")
        .map(|value| one(value).into_iter().collect())
}

fn list<'v>(values: impl Iterator<Item = &'v String>) -> String {
    let all: Vec<_> = values.collect();
    let shown: Vec<_> = all.iter().take(NAMED).map(|value| value.as_str()).collect();
    match all.len().saturating_sub(NAMED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
