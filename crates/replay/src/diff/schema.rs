//! Two versions of a tool's schema, by four plain rules: what is required, what was removed, types,
//! and enums with bounds. Whatever else differs is `changed`: nobody can say which schema is
//! stricter. Definitions are compared by name, references are not followed.

use super::lists::Comparing;
use super::{Change, Class, Excerpt};
use mcpreel_wire::json::{Kind, Step, Value, canonical};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Values of an enum that a sentence names.
const NAMED: usize = 5;

/// Characters of each.
const SHOWN: usize = 40;

/// Which direction the values of a schema go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Callers give them: a schema that takes less breaks callers.
    Input,
    /// Callers get them: a schema that allows more breaks callers.
    Output,
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

/// Keywords that have a rule of their own, or say nothing about values.
const RULED: &[&str] = &[
    "$schema",
    "$id",
    "id",
    "$comment",
    "$defs",
    "definitions",
    "type",
    "enum",
    "const",
    "properties",
    "required",
    "additionalProperties",
    "items",
];

/// Keywords that limit types as well as `type` does.
const INSTEAD_OF_TYPE: &[&str] = &["enum", "const", "anyOf", "oneOf", "allOf", "$ref"];

/// Lower bounds, and whether 0 is no bound.
const LEAST: [(&str, bool); 5] = [
    ("minimum", false),
    ("exclusiveMinimum", false),
    ("minLength", true),
    ("minItems", true),
    ("minProperties", true),
];

const MOST: [&str; 5] = [
    "maximum",
    "exclusiveMaximum",
    "maxLength",
    "maxItems",
    "maxProperties",
];

type Sides<'d> = [Option<Value<'d>>; 2];

/// Compares two schemas at the place of `comparing`.
pub(super) fn compare(comparing: &mut Comparing<'_>, role: Role, [left, right]: Sides<'_>) {
    let empty = |side: Option<Value<'_>>| side.is_none_or(|side| canonical(side) == "{}");
    let mut schemas = Schemas {
        comparing,
        role,
        subject: Vec::new(),
    };
    match (left, right) {
        (Some(left), Some(right)) => schemas.both(left, right),
        (left, right) if empty(left) && empty(right) => {}
        (None, right) => schemas.add(Effect::Narrowed, "is described now", [None, right]),
        (left, None) => schemas.add(Effect::Widened, "is not described any more", [left, None]),
    }
}

struct Schemas<'c, 'r> {
    comparing: &'c mut Comparing<'r>,
    role: Role,
    /// The properties on the way: what a person calls the place.
    subject: Vec<Box<str>>,
}

impl Schemas<'_, '_> {
    /// Recursion is bounded by the depth of a document.
    fn both(&mut self, left: Value<'_>, right: Value<'_>) {
        if left.raw() == right.raw() {
            return;
        }
        if !(left.is_object() && right.is_object()) {
            let open = |side: Value<'_>| matches!(&*canonical(side), "true" | "{}");
            if canonical(left) != canonical(right) && !(open(left) && open(right)) {
                let said = "takes other values";
                self.add(Effect::Changed, said, [Some(left), Some(right)]);
            }
            return;
        }
        let keywords = self.comparing.members([Some(left), Some(right)]);
        let keywords: BTreeMap<_, _> = keywords.into_iter().collect();
        self.types(&keywords);
        self.values(&keywords);
        self.bounds(&keywords);
        self.properties(&keywords);
        if let Some([Some(l), Some(r)]) = keywords.get("items") {
            self.within(&["items"], "[]", |this| this.both(*l, *r));
        } else {
            self.other("items", sides(&keywords, "items"));
        }
        for definitions in ["$defs", "definitions"] {
            for (name, both) in self.comparing.members(sides(&keywords, definitions)) {
                if let [Some(l), Some(r)] = both {
                    let subject = format!("({name})");
                    self.within(&[definitions, &name], &subject, |this| this.both(l, r));
                }
            }
        }
        for (keyword, both) in &keywords {
            let is_bound =
                LEAST.iter().any(|(word, _)| *word == &**keyword) || MOST.contains(&&**keyword);
            if !is_bound && !RULED.contains(&&**keyword) {
                self.other(keyword, *both);
            }
        }
    }

    fn types(&mut self, keywords: &Keywords<'_>) {
        let values = sides(keywords, "type");
        let is_silent = |side: usize| {
            let mut others = INSTEAD_OF_TYPE.iter();
            values[side].is_none() && others.any(|word| sides(keywords, word)[side].is_some())
        };
        if is_silent(0) || is_silent(1) {
            return;
        }
        let input = self.role == Role::Input;
        let words = |types: BTreeSet<Box<str>>| in_words(&types);
        let (effect, said) = match values.map(|value| value.map(types)) {
            [None, None] => return,
            [None, Some(r)] => {
                let verb = if input { "takes only" } else { "is always" };
                (Effect::Narrowed, format!("{verb} {}", words(r)))
            }
            [Some(_), None] => {
                let verb = if input { "takes" } else { "may be" };
                (Effect::Widened, format!("{verb} anything now"))
            }
            [Some(l), Some(r)] => match (l.is_subset(&r), r.is_subset(&l)) {
                (true, true) => return,
                (true, false) => {
                    let verb = if input { "also takes" } else { "may now be" };
                    (Effect::Widened, format!("{verb} {}", words(&r - &l)))
                }
                (false, true) => {
                    let verb = if input {
                        "no longer takes"
                    } else {
                        "is no longer"
                    };
                    (Effect::Narrowed, format!("{verb} {}", words(&l - &r)))
                }
                (false, false) => {
                    let verb = if input { "takes" } else { "is" };
                    let said = format!("{verb} {} instead of {}", words(r), words(l));
                    (self.breaking(), said)
                }
            },
        };
        self.within(&["type"], "", |this| this.add(effect, &said, values));
    }

    /// `enum` and `const`.
    fn values(&mut self, keywords: &Keywords<'_>) {
        let [enums, consts] = ["enum", "const"].map(|word| sides(keywords, word));
        let place = if enums.iter().all(Option::is_none) {
            "const"
        } else {
            "enum"
        };
        let given = [0, 1].map(|at| enums[at].or(consts[at]));
        let listed = [0, 1].map(|at| listed(enums[at], consts[at]));
        let said = match &listed {
            [None, None] => return,
            [None, Some(r)] => vec![(Effect::Narrowed, format!("only {}", list(r.values())))],
            [Some(_), None] => vec![(Effect::Widened, "any value, no list of them".to_owned())],
            [Some(l), Some(r)] => {
                let without = |one: &Listed, other: &Listed| {
                    let gone = one.iter().filter(|(key, _)| !other.contains_key(*key));
                    list(gone.map(|(_, shown)| shown))
                };
                let (gone, new) = (without(l, r), without(r, l));
                let gone = (Effect::Narrowed, "no longer", gone);
                let new = (Effect::Widened, "now also", new);
                let some = [gone, new].into_iter().filter(|one| !one.2.is_empty());
                some.map(|(effect, verb, values)| (effect, format!("{verb} {values}")))
                    .collect()
            }
        };
        for (effect, sentence) in said {
            self.within(&[place], "", |this| this.add(effect, &sentence, given));
        }
    }

    fn bounds(&mut self, keywords: &Keywords<'_>) {
        let most = MOST
            .into_iter()
            .map(|word| (word, false, Ordering::Greater));
        let least = LEAST.map(|(word, from_zero)| (word, from_zero, Ordering::Less));
        for (word, from_zero, stricter) in least.into_iter().chain(most) {
            let values = sides(keywords, word);
            let [l, r] = values.map(|value| {
                let number = value.and_then(|value| value.number());
                number.filter(|number| !(from_zero && number.to_i64() == Some(0)))
            });
            let effect = match (&l, &r) {
                _ if values
                    .into_iter()
                    .flatten()
                    .any(|value| value.number().is_none()) =>
                {
                    self.other(word, values);
                    continue;
                }
                (None, None) => continue,
                (None, Some(_)) => Effect::Narrowed,
                (Some(_), None) => Effect::Widened,
                (Some(l), Some(r)) => match l.partial_cmp(r) {
                    Some(Ordering::Equal) => continue,
                    Some(order) if order == stricter => Effect::Narrowed,
                    Some(_) => Effect::Widened,
                    None => Effect::Changed,
                },
            };
            let said = match (&r, values[1]) {
                (Some(_), Some(value)) => format!("`{word}` is {} now", value.raw_text()),
                _ => format!("no `{word}` any more"),
            };
            self.within(&[word], "", |this| this.add(effect, &said, values));
        }
    }

    fn properties(&mut self, keywords: &Keywords<'_>) {
        let rest = sides(keywords, "additionalProperties");
        let closed = rest.map(|rest| rest.and_then(|rest| rest.as_bool()) == Some(false));
        let lists = sides(keywords, "required");
        let required = lists.map(|list| list.map(names).unwrap_or_default());
        let properties = self.comparing.members(sides(keywords, "properties"));
        for (name, both) in &properties {
            self.within(&["properties", name], name, |this| match *both {
                [Some(l), Some(r)] => this.both(l, r),
                [Some(_), None] => {
                    let (effect, said) = match this.role {
                        Role::Input if closed[1] => (Effect::Narrowed, "is refused now"),
                        Role::Input => (
                            Effect::Changed,
                            "is no longer described, and may have no effect any more",
                        ),
                        Role::Output => (Effect::Widened, "is no longer promised"),
                    };
                    this.add(effect, said, *both);
                }
                _ if required[1].contains(name) => {}
                _ => {
                    let said = match this.role {
                        Role::Input => "is a new optional property",
                        Role::Output => "is a new property that may be there",
                    };
                    this.add(Effect::Offered, said, *both);
                }
            });
        }
        let properties: BTreeMap<_, _> = properties.into_iter().collect();
        self.required(&required, &properties, lists);
        match (closed, rest) {
            ([false, true], _) => {
                let said = "other properties are refused now";
                self.rest(|this| this.add(Effect::Narrowed, said, rest));
            }
            ([true, false], _) => {
                let said = "other properties may be there now";
                self.rest(|this| this.add(Effect::Widened, said, rest));
            }
            (_, [Some(l), Some(r)]) => {
                self.within(&["additionalProperties"], "*", |this| this.both(l, r));
            }
            (_, [one, other]) => {
                let open = |value: Value<'_>| matches!(&*canonical(value), "true" | "{}");
                if !one.or(other).is_none_or(open) {
                    self.other("additionalProperties", rest);
                }
            }
        }
    }

    fn rest(&mut self, add: impl FnOnce(&mut Self)) {
        self.within(&["additionalProperties"], "", add);
    }

    fn required(
        &mut self,
        [left, right]: &[BTreeSet<Box<str>>; 2],
        properties: &BTreeMap<Box<str>, Sides<'_>>,
        lists: Sides<'_>,
    ) {
        let both = |name: &str| properties.get(name).copied().unwrap_or_default();
        for name in right.difference(left) {
            let (effect, said) = match (self.role, both(name)[0].is_some()) {
                (Role::Input, true) => (Effect::Narrowed, "is required now"),
                (Role::Input, false) => (Effect::Narrowed, "is a new required property"),
                (Role::Output, true) => (Effect::Narrowed, "is always there now"),
                // Nobody relied on what was not there.
                (Role::Output, false) => {
                    (Effect::Offered, "is a new property that is always there")
                }
            };
            self.within(&["required"], name, |this| this.add(effect, said, lists));
        }
        for name in left.difference(right) {
            // Of a property that is gone altogether that was said.
            if matches!(both(name), [Some(_), None]) {
                continue;
            }
            let said = match self.role {
                Role::Input => "is optional now",
                Role::Output => "may be missing now",
            };
            self.within(&["required"], name, |this| {
                this.add(Effect::Widened, said, lists);
            });
        }
    }

    /// A keyword of which nobody can say what it does.
    fn other(&mut self, keyword: &str, both: Sides<'_>) {
        let said = match both {
            [None, None] => return,
            [Some(l), Some(r)] if canonical(l) == canonical(r) => return,
            [None, _] => format!("`{keyword}` is new"),
            [_, None] => format!("no `{keyword}` any more"),
            _ => format!("another `{keyword}`"),
        };
        self.within(&[keyword], "", |this| {
            this.add(Effect::Changed, &said, both);
        });
    }

    /// Does `work` at the end of `path`; people call what is there `subject`.
    fn within(&mut self, path: &[&str], subject: &str, work: impl FnOnce(&mut Self)) {
        let length = self.comparing.place.len();
        let steps = path.iter().map(|name| Step::Member((*name).into()));
        self.comparing.place.extend(steps);
        let subjects = self.subject.len();
        if !subject.is_empty() {
            self.subject.push(subject.into());
        }
        work(self);
        self.subject.truncate(subjects);
        self.comparing.place.truncate(length);
    }

    /// The effect that breaks callers.
    fn breaking(&self) -> Effect {
        match self.role {
            Role::Input => Effect::Narrowed,
            Role::Output => Effect::Widened,
        }
    }

    fn add(&mut self, effect: Effect, said: &str, sides: Sides<'_>) {
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
        let mut subject = String::new();
        for part in &self.subject {
            if !subject.is_empty() && !part.starts_with(['[', '(']) {
                subject.push('.');
            }
            subject.push_str(part);
        }
        let subject = match &*subject {
            "" => String::new(),
            subject => format!("`{subject}`: "),
        };
        let excerpts = sides.map(|side| side.map(|value| Excerpt::new(value.raw())));
        let change = match sides {
            [None, Some(_)] => Change::Added,
            [Some(_), None] => Change::Removed,
            _ => Change::Value,
        };
        let sentence = format!("{role}{effect}: {subject}{said}");
        self.comparing.add(class, change, sentence, excerpts);
    }
}

/// The keywords of two schemas.
type Keywords<'d> = BTreeMap<Box<str>, Sides<'d>>;

fn sides<'d>(keywords: &Keywords<'d>, word: &str) -> Sides<'d> {
    keywords.get(word).copied().unwrap_or_default()
}

fn names(list: Value<'_>) -> BTreeSet<Box<str>> {
    let names = list.elements().filter_map(|name| name.as_str());
    names.map(Into::into).collect()
}

/// The types that `type` allows; every number includes the integers.
fn types(value: Value<'_>) -> BTreeSet<Box<str>> {
    let mut types = match value.kind() {
        Kind::Array => names(value),
        _ => value.as_str().map(Into::into).into_iter().collect(),
    };
    if types.contains("number") {
        types.insert("integer".into());
    }
    types
}

fn in_words(types: &BTreeSet<Box<str>>) -> String {
    let has = |name: &str| types.contains(name);
    let words = types.iter().filter_map(|name| match &**name {
        "integer" if has("number") => None,
        "number" if !has("integer") => Some("number with a fraction"),
        name => Some(name),
    });
    words.collect::<Vec<_>>().join(" or ")
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

fn list<'v>(values: impl Iterator<Item = &'v String>) -> String {
    let all: Vec<_> = values.map(String::as_str).collect();
    let shown = all[..all.len().min(NAMED)].join(", ");
    match all.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod schema_tests;
