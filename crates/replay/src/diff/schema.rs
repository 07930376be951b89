//! Two versions of a tool's schema, by plain rules: what is required, what was removed, types,
//! enums and bounds. Whatever else differs is `changed`: nobody can say which schema is stricter.
//! Definitions are compared by name, references are not followed.

use super::Class;
use super::equal::{Sides, members};
use mcpreel_wire::json::{Kind, Step, Value, canonical};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Values of an enum that a sentence names, and characters of each.
const NAMED: usize = 5;
const SHOWN: usize = 40;

/// Which direction the values of a schema go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Callers give them: a schema that takes less breaks callers.
    Input,
    /// Callers get them: a schema that allows more breaks callers.
    Output,
}

/// One difference between two schemas.
#[derive(Debug)]
pub(super) struct Finding<'d> {
    /// Where in the schema.
    pub place: Vec<Step>,
    pub class: Class,
    pub sentence: String,
    pub sides: Sides<'d>,
}

/// What the right schema allows, compared with the left one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Narrowed,
    Widened,
    /// Something optional that was not described before.
    Offered,
    Changed,
}

/// Keywords that say nothing about values.
const SILENT: [&str; 4] = ["$schema", "$id", "id", "$comment"];

/// Keywords that limit types as well as `type` does.
const INSTEAD_OF_TYPE: [&str; 6] = ["enum", "const", "anyOf", "oneOf", "allOf", "$ref"];

const LOWER_BOUNDS: [&str; 5] = [
    "minimum",
    "exclusiveMinimum",
    "minLength",
    "minItems",
    "minProperties",
];

const UPPER_BOUNDS: [&str; 5] = [
    "maximum",
    "exclusiveMaximum",
    "maxLength",
    "maxItems",
    "maxProperties",
];

type Names = BTreeSet<Box<str>>;

/// The keywords of two schemas.
type Keywords<'d> = BTreeMap<Cow<'d, str>, Sides<'d>>;

/// Compares two schemas, and gives `found` each difference.
pub(super) fn compare<'d>(role: Role, sides: Sides<'d>, found: &mut dyn FnMut(Finding<'d>)) {
    let mut schemas = Schemas {
        role,
        place: Vec::new(),
        subject: String::new(),
        found,
    };
    match sides {
        [Some(left), Some(right)] => schemas.both(left, right),
        _ if sides.into_iter().flatten().all(is_open) => {}
        [None, _] => schemas.add(Effect::Narrowed, "is described now", sides),
        _ => schemas.add(Effect::Widened, "is not described any more", sides),
    }
}

struct Schemas<'f, 'd> {
    role: Role,
    place: Vec<Step>,
    /// The properties on the way: what a person calls the place.
    subject: String,
    found: &'f mut dyn FnMut(Finding<'d>),
}

impl<'d> Schemas<'_, 'd> {
    /// Recursion is bounded by the depth of a document.
    fn both(&mut self, left: Value<'d>, right: Value<'d>) {
        let both = [Some(left), Some(right)];
        if left.raw() == right.raw() || is_open(left) && is_open(right) {
            return;
        }
        if !(left.is_object() && right.is_object()) {
            if canonical(left) != canonical(right) {
                self.add(Effect::Changed, "takes other values", both);
            }
            return;
        }
        let keywords: Keywords<'d> = members(both).into_iter().collect();
        self.types(&keywords);
        self.values(&keywords);
        self.properties(&keywords);
        for (keyword, sides) in &keywords {
            match (&**keyword, *sides) {
                ("type" | "enum" | "const" | "properties" | "required", _) => {}
                ("additionalProperties", _) => self.additional(*sides),
                ("items", [Some(left), Some(right)]) => {
                    self.within(&["items"], "[]", |this| this.both(left, right));
                }
                ("$defs" | "definitions", _) => {
                    for (name, sides) in members(*sides) {
                        let subject = format!("({name})");
                        if let [Some(left), Some(right)] = sides {
                            let path = [&**keyword, &*name];
                            self.within(&path, &subject, |this| this.both(left, right));
                        }
                    }
                }
                (word, _) if LOWER_BOUNDS.contains(&word) => {
                    self.bound(word, Ordering::Less, *sides);
                }
                (word, _) if UPPER_BOUNDS.contains(&word) => {
                    self.bound(word, Ordering::Greater, *sides);
                }
                (word, _) if !SILENT.contains(&word) => self.other(word, *sides),
                _ => {}
            }
        }
    }

    fn types(&mut self, keywords: &Keywords<'d>) {
        let values = sides(keywords, "type");
        let is_limited_otherwise = |side: usize| {
            let mut others = INSTEAD_OF_TYPE.iter();
            values[side].is_none() && others.any(|word| sides(keywords, word)[side].is_some())
        };
        if is_limited_otherwise(0) || is_limited_otherwise(1) {
            return;
        }
        let [left, right] = values.map(|value| value.map(types));
        let effect = match (&left, &right) {
            (left, right) if left == right => return,
            (None, _) => Effect::Narrowed,
            (_, None) => Effect::Widened,
            (Some(left), Some(right)) if left.is_subset(right) => Effect::Widened,
            (Some(left), Some(right)) if right.is_subset(left) => Effect::Narrowed,
            _ => self.breaking(),
        };
        let sentence = format!(
            "the type is {} now, was {}",
            in_words(right),
            in_words(left)
        );
        self.within(&["type"], "", |this| this.add(effect, &sentence, values));
    }

    /// Compares `enum` and `const`.
    fn values(&mut self, keywords: &Keywords<'d>) {
        let [enums, consts] = ["enum", "const"].map(|word| sides(keywords, word));
        let given = [0, 1].map(|at| enums[at].or(consts[at]));
        let found = match [0, 1].map(|at| listed(enums[at], consts[at])) {
            [None, None] => return,
            [None, Some(right)] => vec![(Effect::Narrowed, "only", named(right.values()))],
            [Some(_), None] => vec![(Effect::Widened, "any value now", String::new())],
            [Some(left), Some(right)] => {
                let without = |one: &Listed, other: &Listed| {
                    let gone = one.iter().filter(|(key, _)| !other.contains_key(*key));
                    named(gone.map(|(_, shown)| shown))
                };
                let mut both = vec![
                    (Effect::Narrowed, "no longer", without(&left, &right)),
                    (Effect::Widened, "now also", without(&right, &left)),
                ];
                both.retain(|(_, _, values)| !values.is_empty());
                both
            }
        };
        let is_const = enums.iter().all(Option::is_none);
        let keyword = if is_const { "const" } else { "enum" };
        for (effect, verb, values) in found {
            let sentence = format!("{verb} {values}");
            self.within(&[keyword], "", |this| {
                this.add(effect, sentence.trim_end(), given);
            });
        }
    }

    /// Compares a bound that is `stricter` the farther it lies on that side.
    fn bound(&mut self, word: &str, looser: Ordering, values: Sides<'d>) {
        let numbers = values.map(|value| value.and_then(|value| value.number()));
        if [0, 1]
            .iter()
            .any(|at| values[*at].is_some() && numbers[*at].is_none())
        {
            return self.other(word, values);
        }
        // No text is shorter than 0.
        let is_limit = |limit: &mcpreel_wire::json::Number| {
            !word.starts_with("min") || word == "minimum" || limit.to_i64() != Some(0)
        };
        let [left, right] = numbers.map(|number| number.filter(is_limit));
        let effect = match (&left, &right) {
            (None, None) => return,
            (None, Some(_)) => Effect::Narrowed,
            (Some(_), None) => Effect::Widened,
            (Some(left), Some(right)) => match left.partial_cmp(right) {
                Some(Ordering::Equal) => return,
                Some(order) if order == looser => Effect::Narrowed,
                Some(_) => Effect::Widened,
                None => Effect::Changed,
            },
        };
        let sentence = match (right, values[1]) {
            (Some(_), Some(value)) => format!("`{word}` is {} now", value.raw_text()),
            _ => format!("no `{word}` any more"),
        };
        self.within(&[word], "", |this| this.add(effect, &sentence, values));
    }

    fn properties(&mut self, keywords: &Keywords<'d>) {
        let rest = sides(keywords, "additionalProperties");
        let lists = sides(keywords, "required");
        let required = lists.map(|list| list.map(names).unwrap_or_default());
        let properties: Keywords<'d> = members(sides(keywords, "properties")).into_iter().collect();
        for (name, both) in &properties {
            self.within(&["properties", name], name, |this| match *both {
                [Some(left), Some(right)] => this.both(left, right),
                [Some(_), None] => {
                    let (effect, sentence) = match this.role {
                        Role::Input if is_closed(rest[1]) => (Effect::Narrowed, "is refused now"),
                        Role::Input => (Effect::Changed, "is no longer described"),
                        Role::Output => (Effect::Widened, "is no longer promised"),
                    };
                    this.add(effect, sentence, *both);
                }
                // A new property that is required is reported as such.
                _ if required[1].contains(&**name) => {}
                _ => this.add(Effect::Offered, "is a new optional property", *both),
            });
        }
        let [left, right] = &required;
        for name in left.symmetric_difference(right) {
            let (effect, sentence) = match (sides(&properties, name), right.contains(name)) {
                ([Some(_), None], false) => continue,
                (_, false) => (Effect::Widened, "is optional now"),
                ([Some(_), _], true) => (Effect::Narrowed, "is required now"),
                // Nobody relied on a property that was not there.
                ([None, _], true) if self.role == Role::Output => {
                    (Effect::Offered, "is a new property that is always there")
                }
                ([None, _], true) => (Effect::Narrowed, "is a new required property"),
            };
            self.within(&["required"], name, |this| {
                this.add(effect, sentence, lists);
            });
        }
    }

    /// Compares what is said of properties that are not listed.
    fn additional(&mut self, both: Sides<'d>) {
        let keyword = "additionalProperties";
        let (effect, sentence) = match (both.map(is_closed), both) {
            ([false, true], _) => (Effect::Narrowed, "other properties are refused now"),
            ([true, false], _) => (Effect::Widened, "other properties may be there now"),
            (_, [Some(left), Some(right)]) => {
                return self.within(&[keyword], "*", |this| this.both(left, right));
            }
            (_, [one, other]) if one.or(other).is_none_or(is_open) => return,
            _ => return self.other(keyword, both),
        };
        self.within(&[keyword], "", |this| this.add(effect, sentence, both));
    }

    /// Compares a keyword of which nobody can say what its change does.
    fn other(&mut self, keyword: &str, both: Sides<'d>) {
        let sentence = match both {
            [Some(left), Some(right)] if canonical(left) == canonical(right) => return,
            [None, _] => format!("`{keyword}` is new"),
            [_, None] => format!("no `{keyword}` any more"),
            _ => format!("another `{keyword}`"),
        };
        self.within(&[keyword], "", |this| {
            this.add(Effect::Changed, &sentence, both);
        });
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

    /// The effect that breaks callers.
    fn breaking(&self) -> Effect {
        match self.role {
            Role::Input => Effect::Narrowed,
            Role::Output => Effect::Widened,
        }
    }

    fn add(&mut self, effect: Effect, what: &str, sides: Sides<'d>) {
        let class = match effect {
            Effect::Changed => Class::Changed,
            effect if effect == self.breaking() => Class::Breaking,
            _ => Class::Added,
        };
        let role = match self.role {
            Role::Input => "input",
            Role::Output => "output",
        };
        let effect = match effect {
            Effect::Narrowed => " narrowed",
            Effect::Widened => " widened",
            _ => "",
        };
        let subject = match &*self.subject {
            "" => String::new(),
            subject => format!("`{subject}`: "),
        };
        (self.found)(Finding {
            place: self.place.clone(),
            class,
            sentence: format!("{role}{effect}: {subject}{what}"),
            sides,
        });
    }
}

fn sides<'d>(keywords: &Keywords<'d>, word: &str) -> Sides<'d> {
    keywords.get(word).copied().unwrap_or_default()
}

/// Whether a schema takes anything.
fn is_open(schema: Value<'_>) -> bool {
    schema.as_bool() == Some(true) || schema.is_object() && schema.members().next().is_none()
}

fn is_closed(rest: Option<Value<'_>>) -> bool {
    rest.and_then(|rest| rest.as_bool()) == Some(false)
}

fn names(list: Value<'_>) -> Names {
    let names = list.elements().filter_map(|name| name.as_str());
    names.map(Into::into).collect()
}

/// The types that `type` allows; every number includes the integers.
fn types(value: Value<'_>) -> Names {
    let mut types = match value.kind() {
        Kind::Array => names(value),
        _ => value.as_str().map(Into::into).into_iter().collect(),
    };
    if types.contains("number") {
        types.insert("integer".into());
    }
    types
}

fn in_words(types: Option<Names>) -> String {
    let Some(mut types) = types else {
        return "anything".to_owned();
    };
    if types.contains("number") {
        types.remove("integer");
    }
    let words: Vec<_> = types.iter().map(|name| &**name).collect();
    words.join(" or ")
}

/// Values by their canonical texts, as they are shown.
type Listed = BTreeMap<String, String>;

fn listed(list: Option<Value<'_>>, only: Option<Value<'_>>) -> Option<Listed> {
    let one = |value: Value<'_>| {
        let shown = value.raw_text().chars().take(SHOWN).collect();
        (canonical(value), shown)
    };
    match list {
        Some(list) => Some(list.elements().map(one).collect()),
        None => only.map(|only| [one(only)].into()),
    }
}

fn named<'v>(values: impl Iterator<Item = &'v String>) -> String {
    let all: Vec<_> = values.map(String::as_str).collect();
    let shown = all[..all.len().min(NAMED)].join(", ");
    match all.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod schema_tests;
