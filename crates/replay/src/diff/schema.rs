//! Two versions of a tool's schema, by plain rules: what is required, what was removed, types,
//! enums and bounds. Whatever else differs is `changed`: nobody can say which schema is stricter.
//! Definitions are compared by name, references are not followed.

use super::Class;
use super::values::{Sides, members};
use mcpreel_wire::json::{Kind, Step, Value, canonical};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Characters of a value that a sentence names.
const SHOWN: usize = 40;

/// The direction of the values of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Callers give them: a schema that takes less breaks callers.
    Input,
    /// Callers get them: a schema that allows more breaks callers.
    Output,
}

/// Takes a difference between two schemas: its place, how much it matters, and both values.
pub(super) type Found<'f, 'd> = &'f mut dyn FnMut(&[Step], Class, &str, Sides<'d>);

/// The effect of a difference on the values that a schema allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Narrowed,
    Widened,
    /// None that could be told: how much it matters.
    Other(Class),
}

/// Keywords that say nothing about values.
const SILENT: [&str; 4] = ["$schema", "$id", "id", "$comment"];

/// Something that was not described before.
const OFFERED: Effect = Effect::Other(Class::Added);

/// The members of two objects by their names.
type Members<'d> = BTreeMap<Cow<'d, str>, Sides<'d>>;

/// Compares two schemas, and gives `found` each difference.
pub(super) fn compare<'d>(role: Role, sides: Sides<'d>, found: Found<'_, 'd>) {
    let mut schemas = Schemas {
        role,
        place: Vec::new(),
        subject: String::new(),
        found,
    };
    match sides {
        [Some(left), Some(right)] => schemas.both(left, right),
        [None, _] => schemas.add(Effect::Narrowed, "is described now", sides),
        _ => schemas.add(Effect::Widened, "is not described any more", sides),
    }
}

struct Schemas<'f, 'd> {
    role: Role,
    place: Vec<Step>,
    /// The properties on the way: what a person calls the place.
    subject: String,
    found: Found<'f, 'd>,
}

impl<'d> Schemas<'_, 'd> {
    /// Recursion is bounded by the depth of a document.
    fn both(&mut self, left: Value<'d>, right: Value<'d>) {
        let both = [Some(left), Some(right)];
        if left.raw() == right.raw() {
            return;
        }
        if !(left.is_object() && right.is_object()) {
            if canonical(left) != canonical(right) {
                self.add(Effect::Other(Class::Changed), "takes other values", both);
            }
            return;
        }
        let keywords: Members<'d> = members(both).into_iter().collect();
        let of = |word: &str| keywords.get(word).copied().unwrap_or_default();
        self.properties(of("properties"), of("required"));
        let [enums, consts] = [of("enum"), of("const")];
        let is_const = enums.iter().all(Option::is_none);
        let word = if is_const { "const" } else { "enum" };
        self.limit(word, [0, 1].map(|at| enums[at].or(consts[at])), values);
        for (word, sides) in &keywords {
            match (&**word, *sides) {
                ("enum" | "const" | "properties" | "required", _) => {}
                ("type", [Some(_), Some(_)]) => self.limit(word, *sides, types),
                ("items", [Some(left), Some(right)]) => {
                    self.within(&["items"], "[]", |this| this.both(left, right));
                }
                ("additionalProperties", [Some(left), Some(right)]) if left.is_object() => {
                    self.within(&[word], "*", |this| this.both(left, right));
                }
                ("$defs" | "definitions", _) => {
                    for (name, sides) in members(*sides) {
                        if let [Some(left), Some(right)] = sides {
                            let subject = format!("({name})");
                            self.within(&[word, &name], &subject, |this| this.both(left, right));
                        }
                    }
                }
                (word, _) if SILENT.contains(&word) => {}
                (_, [Some(left), Some(right)]) if canonical(left) == canonical(right) => {}
                (word, _) if is_bound(word, *sides) => self.limit(word, *sides, |left, right| {
                    let is_lower = right.number() < left.number();
                    let is_narrower = is_lower != word.to_lowercase().contains("min");
                    let effect = if is_narrower {
                        Effect::Narrowed
                    } else {
                        Effect::Widened
                    };
                    vec![(effect, format!("`{word}` is {} now", shown(right)))]
                }),
                (word, sides) => {
                    let sentence = match sides {
                        [Some(_), Some(_)] => format!("another `{word}`"),
                        [None, _] => format!("`{word}` is new"),
                        _ => format!("no `{word}` any more"),
                    };
                    self.within(&[word], "", |this| {
                        this.add(Effect::Other(Class::Changed), &sentence, sides);
                    });
                }
            }
        }
    }

    /// Compares what limits values: less is taken where it is new, more where it is gone.
    fn limit(
        &mut self,
        word: &str,
        sides: Sides<'d>,
        compare: impl FnOnce(Value<'d>, Value<'d>) -> Vec<(Effect, String)>,
    ) {
        let found = match sides {
            [None, None] => return,
            [Some(left), Some(right)] => compare(left, right),
            [None, Some(right)] => {
                vec![(
                    Effect::Narrowed,
                    format!("`{word}` is {} now", shown(right)),
                )]
            }
            [Some(_), None] => vec![(Effect::Widened, format!("no `{word}` any more"))],
        };
        for (effect, sentence) in found {
            self.within(&[word], "", |this| this.add(effect, &sentence, sides));
        }
    }

    fn properties(&mut self, properties: Sides<'d>, required: Sides<'d>) {
        let is_required = required.map(|list| list.map(names).unwrap_or_default());
        let properties: Members<'d> = members(properties).into_iter().collect();
        for (name, both) in &properties {
            self.within(&["properties", name], name, |this| match *both {
                [Some(left), Some(right)] => this.both(left, right),
                [Some(_), None] => {
                    let (effect, sentence) = match this.role {
                        Role::Input => (Effect::Narrowed, "is not taken any more"),
                        Role::Output => (Effect::Widened, "is no longer promised"),
                    };
                    this.add(effect, sentence, *both);
                }
                // A new property that is required is reported as such.
                _ if is_required[1].contains(&**name) => {}
                _ => this.add(OFFERED, "is a new optional property", *both),
            });
        }
        for name in is_required[0].symmetric_difference(&is_required[1]) {
            let described = properties.get(&**name).copied().unwrap_or_default();
            let is_now = is_required[1].contains(name);
            let (effect, sentence) = match (described.map(|one| one.is_some()), is_now) {
                ([true, false], false) => continue,
                (_, false) => (Effect::Widened, "is optional now"),
                ([true, _], _) => (Effect::Narrowed, "is required now"),
                // Nobody relied on a property that was not there.
                _ if self.role == Role::Output => {
                    (OFFERED, "is a new property that is always there")
                }
                _ => (Effect::Narrowed, "is a new required property"),
            };
            self.within(&["required"], name, |this| {
                this.add(effect, sentence, required);
            });
        }
    }

    /// Does `work` at the end of `path`; people call what is there `subject`.
    fn within(&mut self, path: &[&str], subject: &str, work: impl FnOnce(&mut Self)) {
        let (depth, length) = (self.place.len(), self.subject.len());
        let steps = path.iter().map(|name| Step::Member((*name).into()));
        self.place.extend(steps);
        if length > 0 && !subject.is_empty() && !subject.starts_with(['[', '(']) {
            self.subject.push('.');
        }
        self.subject.push_str(subject);
        work(self);
        self.subject.truncate(length);
        self.place.truncate(depth);
    }

    fn add(&mut self, effect: Effect, what: &str, sides: Sides<'d>) {
        let role = match self.role {
            Role::Input => "input",
            Role::Output => "output",
        };
        let (class, word) = match (effect, self.role) {
            (Effect::Other(class), _) => (class, ""),
            (Effect::Narrowed, Role::Input) => (Class::Breaking, " narrowed"),
            (Effect::Narrowed, Role::Output) => (Class::Added, " narrowed"),
            (Effect::Widened, Role::Input) => (Class::Added, " widened"),
            (Effect::Widened, Role::Output) => (Class::Breaking, " widened"),
        };
        let subject = match &*self.subject {
            "" => String::new(),
            subject => format!("`{subject}`: "),
        };
        let sentence = format!("{role}{word}: {subject}{what}");
        (self.found)(&self.place, class, &sentence, sides);
    }
}

/// Whether a keyword is a bound: one with `min` in its name is stricter the higher it is.
fn is_bound(word: &str, sides: Sides<'_>) -> bool {
    let are_numbers = sides.iter().flatten().all(|value| value.number().is_some());
    let word = word.to_lowercase();
    are_numbers && (word.contains("min") || word.contains("max"))
}

/// Compares the types that are allowed; every number includes the integers.
fn types(left: Value<'_>, right: Value<'_>) -> Vec<(Effect, String)> {
    let types = [left, right].map(|value| match value.kind() {
        Kind::Array => names(value),
        _ => value.as_str().map(Into::into).into_iter().collect(),
    });
    let allows = |types: &BTreeSet<Box<str>>, name: &str| {
        types.contains(name) || name == "integer" && types.contains("number")
    };
    let [was, is] = &types;
    let is_wider = was.iter().all(|name| allows(is, name));
    let is_narrower = is.iter().all(|name| allows(was, name));
    let effect = match (is_narrower, is_wider) {
        (true, true) => return Vec::new(),
        (true, false) => Effect::Narrowed,
        (false, true) => Effect::Widened,
        // Values that exclude each other.
        (false, false) => Effect::Other(Class::Breaking),
    };
    let [was, is] = types.map(|types| types.into_iter().collect::<Vec<_>>().join(" or "));
    vec![(effect, format!("the type is {is} now, was {was}"))]
}

/// Compares the values that are listed; `const` is a list of one.
fn values(left: Value<'_>, right: Value<'_>) -> Vec<(Effect, String)> {
    let [left, right] = [left, right].map(|list| match list.kind() {
        Kind::Array => list.elements().collect::<Vec<_>>(),
        _ => vec![list],
    });
    let ways = [
        (Effect::Narrowed, "no longer", &left, &right),
        (Effect::Widened, "now also", &right, &left),
    ];
    let found = ways.into_iter().filter_map(|(effect, verb, one, other)| {
        let known: BTreeSet<_> = other.iter().map(|value| canonical(*value)).collect();
        let rest = one
            .iter()
            .filter(|value| !known.contains(&canonical(**value)));
        let rest: Vec<_> = rest.map(|value| shown(*value)).collect();
        (!rest.is_empty()).then(|| (effect, format!("{verb} {}", rest.join(", "))))
    });
    found.collect()
}

fn shown(value: Value<'_>) -> String {
    value.raw_text().chars().take(SHOWN).collect()
}

fn names(list: Value<'_>) -> BTreeSet<Box<str>> {
    let names = list.elements().filter_map(|name| name.as_str());
    names.map(Into::into).collect()
}

#[cfg(test)]
mod schema_tests;
