//! How much work a schema can make, before it is done: the validator cannot be interrupted.
//!
//! [`Survey`] looks through the text of a schema: references, expressions, size and depth.
//! [`rehearse`] walks a value as the validator would, with a budget of visits and a limit on depth.
//! It visits whatever the validator may visit: alternatives that would not be needed as well.

use super::schema::Skipped;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Levels of a schema's own text. Compiling is recursive, as checks are.
const SCHEMA_LEVELS: usize = 64;

/// Schemas that a schema consists of.
const PARTS: usize = 8_192;

/// States of all regular expressions of a schema together: compiling and matching are linear in
/// them.
const STATES: u64 = 16_384;

/// Visits of a value by a schema that a check may take, some 10 ms of the slowest kind.
const VISITS: u64 = 1_000_000;

/// States of an expression that are visited in the time of one visit of a value.
const STATES_PER_VISIT: u64 = 2;

/// Bytes of a text that are read in the same time.
const BYTES_PER_VISIT: u64 = 16;

/// Schemas that apply within each other, to one value or to values inside: the validator is
/// recursive, and the stack of the thread is 2 MiB.
const DEPTH: usize = 400;

/// What the text of a schema says.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// The first `$ref` that leads out of the schema.
    pub external: Option<String>,
    /// Whether a value may fail a part and still fit: the validator collects such failures.
    pub has_alternatives: bool,
    /// Why values cannot be checked by it.
    problem: Option<Skipped>,
    parts: usize,
    states: u64,
}

impl Survey {
    /// Looks through `schema`, unless it nests too deeply.
    pub fn of(schema: &Value) -> Result<Self, Skipped> {
        if has_more_levels(schema, SCHEMA_LEVELS) {
            return Err(Skipped::DeepSchema);
        }
        let mut survey = Self::default();
        survey.schema(schema, &References::of(schema), true);
        Ok(survey)
    }

    /// Whether the schema may be held against its meta schema, which compiles the expressions in it.
    pub fn can_be_judged(&self) -> Result<(), Skipped> {
        match self.problem {
            Some(reason @ (Skipped::Pattern | Skipped::ManyParts)) => Err(reason),
            _ => Ok(()),
        }
    }

    /// Whether values may be checked by the schema.
    pub fn can_check(&self) -> Result<(), Skipped> {
        match (self.problem, &self.external) {
            (Some(reason), _) => Err(reason),
            (None, Some(_)) => Err(Skipped::External),
            (None, None) => Ok(()),
        }
    }

    fn problem(&mut self, reason: Skipped) {
        let first = self.problem.get_or_insert(reason);
        // What stands in the way of judging is told before what stands in the way of checks.
        if matches!(reason, Skipped::Pattern | Skipped::ManyParts) {
            *first = reason;
        }
    }

    fn schema(&mut self, schema: &Value, references: &References<'_>, is_root: bool) {
        self.parts += 1;
        if self.parts > PARTS {
            return self.problem(Skipped::ManyParts);
        }
        for (name, value) in members(schema) {
            match (name.as_str(), value) {
                ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(to)) => {
                    match references.target(to) {
                        Target::Here(_) => {}
                        Target::Nowhere => self.problem(Skipped::Dangling),
                        Target::Outside => {
                            self.external.get_or_insert_with(|| to.clone());
                        }
                    }
                }
                ("pattern", Value::String(pattern)) => self.pattern(pattern),
                ("pattern", _) => self.problem(Skipped::Pattern),
                ("patternProperties", _) => {
                    members(value).for_each(|(pattern, _)| self.pattern(pattern));
                }
                ("$id" | "id", Value::String(_)) if !is_root => self.problem(Skipped::Embedded),
                ("anyOf" | "oneOf", _) => self.has_alternatives = true,
                _ => {}
            }
            for inner in schemas(name, value) {
                self.schema(inner, references, false);
            }
        }
    }

    fn pattern(&mut self, pattern: &str) {
        self.states = self.states.saturating_add(states(pattern));
        if self.states > STATES {
            self.problem(Skipped::Pattern);
        }
    }
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// The values directly in an array or an object.
fn inside(value: &Value) -> impl Iterator<Item = &Value> {
    let elements = value.as_array().into_iter().flatten();
    elements.chain(members(value).map(|(_, member)| member))
}

/// The schemas that the member `name` of a schema holds.
fn schemas<'s>(name: &str, value: &'s Value) -> Vec<&'s Value> {
    match name {
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => inside(value).collect(),
        "properties" | "patternProperties" | "dependentSchemas" | "$defs" | "definitions" => {
            inside(value).collect()
        }
        "dependencies" => inside(value).filter(|it| !it.is_array()).collect(),
        "items" | "additionalItems" if value.is_array() => inside(value).collect(),
        "not"
        | "if"
        | "then"
        | "else"
        | "items"
        | "additionalItems"
        | "contains"
        | "propertyNames"
        | "additionalProperties"
        | "unevaluatedItems"
        | "unevaluatedProperties" => vec![value],
        _ => Vec::new(),
    }
}

/// Where references of a schema lead.
struct References<'s> {
    root: &'s Value,
    /// Definitions by the names that they give themselves.
    anchors: HashMap<&'s str, &'s Value>,
}

enum Target<'s> {
    Here(&'s Value),
    Nowhere,
    Outside,
}

impl<'s> References<'s> {
    fn of(root: &'s Value) -> Self {
        let anchors = anchors(root);
        Self { root, anchors }
    }

    fn target(&self, reference: &str) -> Target<'s> {
        let id = self.root.get("$id").and_then(Value::as_str);
        let own = id.unwrap_or_default().trim_end_matches('#');
        let local = reference.strip_prefix(own).unwrap_or(reference);
        let target = match local.strip_prefix('#') {
            Some("") => Some(self.root),
            Some(fragment) if fragment.starts_with('/') => self.root.pointer(fragment),
            Some(fragment) => self.anchors.get(fragment).copied(),
            None if local.is_empty() => Some(self.root),
            None => return Target::Outside,
        };
        target.map_or(Target::Nowhere, Target::Here)
    }
}

/// The definitions at the top of `root` that have names for themselves; the first of each name.
fn anchors(root: &Value) -> HashMap<&str, &Value> {
    let mut anchors = HashMap::new();
    let definitions = ["$defs", "definitions"].into_iter();
    let definitions = definitions.filter_map(|name| root.get(name)?.as_object());
    for schema in definitions.flat_map(Map::values) {
        let names = ["$anchor", "$dynamicAnchor"].into_iter();
        for name in names.filter_map(|name| schema.get(name)?.as_str()) {
            anchors.entry(name).or_insert(schema);
        }
    }
    anchors
}

/// How many values there are in `value`, itself included.
fn count(value: &Value) -> u64 {
    1 + inside(value).map(count).sum::<u64>()
}

/// Whether there are more levels in `value` than `levels`. Recursion ends with them.
fn has_more_levels(value: &Value, levels: usize) -> bool {
    match levels.checked_sub(1) {
        Some(left) => inside(value).any(|it| has_more_levels(it, left)),
        None => true,
    }
}

/// About how many states a regular expression has: what is repeated counts as often as it may be.
fn states(pattern: &str) -> u64 {
    let mut outer = Vec::new();
    let (mut total, mut last) = (1_u64, 0_u64);
    let mut rest = pattern.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        last = match first {
            b'(' => {
                outer.push(total);
                total = 1;
                continue;
            }
            b')' => std::mem::replace(&mut total, outer.pop().unwrap_or(1)),
            b'{' => {
                let is_count = |byte: &u8| byte.is_ascii_digit() || *byte == b',';
                let end = rest.iter().take_while(|byte| is_count(byte)).count();
                let (counts, after) = rest.split_at(end);
                rest = after;
                let counts = counts
                    .split(|byte| *byte == b',')
                    .filter(|it| !it.is_empty());
                let count = |digits: &[u8]| str::from_utf8(digits).ok()?.parse().ok();
                let times = counts.map(|it| count(it).unwrap_or(STATES)).max();
                let times: u64 = times.unwrap_or(1).max(1);
                total = total.saturating_add(last.saturating_mul(times - 1));
                last = last.saturating_mul(times);
                continue;
            }
            b'[' => {
                let inside = |at: usize| !(rest[at] == b']' && at > 0 && rest[at - 1] != b'\\');
                let end = (0..rest.len())
                    .find(|at| !inside(*at))
                    .unwrap_or(rest.len());
                let (class, after) = rest.split_at(end);
                rest = after.get(1..).unwrap_or_default();
                let named = class
                    .windows(2)
                    .filter(|two| matches!(*two, b"\\p" | b"\\P"));
                // Characters beyond ASCII, as a negated class has them, are several bytes.
                3 + 500 * named.count() as u64
            }
            b'\\' => {
                let kind = rest.first().copied();
                rest = rest.get(1..).unwrap_or_default();
                // A class of Unicode has hundreds of ranges.
                if matches!(kind, Some(b'p' | b'P')) {
                    500
                } else {
                    2
                }
            }
            b'*' | b'+' | b'?' | b'|' | b'}' => continue,
            _ => 1,
        };
        total = total.saturating_add(last);
    }
    outer.into_iter().fold(total, u64::saturating_add)
}

/// Visits in the time of which a text is read once.
fn bytes(text: &str) -> u64 {
    text.len() as u64 / BYTES_PER_VISIT
}

/// How many visits a check of `value` by `schema` takes at most, unless they are too many.
pub(super) fn rehearse(schema: &Value, value: &Value) -> Result<u64, Skipped> {
    let mut rehearsal = Rehearsal {
        references: References::of(schema),
        visits: 0,
    };
    rehearsal.visit(schema, value, Depth::default())?;
    Ok(rehearsal.visits)
}

struct Rehearsal<'s> {
    references: References<'s>,
    visits: u64,
}

/// How many schemas apply within each other, and how many of them to the same value.
#[derive(Clone, Copy, Default)]
struct Depth {
    all: usize,
    here: usize,
}

impl Depth {
    fn deeper(self, is_same_value: bool) -> Result<Self, Skipped> {
        let here = if is_same_value { self.here + 1 } else { 0 };
        match self.all + 1 {
            DEPTH if here > DEPTH / 2 => Err(Skipped::Endless),
            DEPTH => Err(Skipped::DeepValue),
            all => Ok(Self { all, here }),
        }
    }
}

impl<'s> Rehearsal<'s> {
    fn spend(&mut self, visits: u64) -> Result<(), Skipped> {
        self.visits = self.visits.saturating_add(visits);
        if self.visits > VISITS {
            return Err(Skipped::Costly);
        }
        Ok(())
    }

    fn visit(&mut self, schema: &'s Value, value: &Value, depth: Depth) -> Result<(), Skipped> {
        self.spend(1)?;
        // What is left over is found by applying everything else once more.
        let is_twice = members(schema).any(|(name, _)| name.starts_with("unevaluated"));
        for _ in 0..=usize::from(is_twice) {
            for (name, inner) in members(schema) {
                self.spend(1)?;
                self.here(name, inner, value, depth)?;
                self.inside(name, inner, value, depth)?;
                self.assert(name, inner, value)?;
            }
        }
        Ok(())
    }

    /// Applies schemas to the value itself.
    fn here(
        &mut self,
        name: &str,
        inner: &'s Value,
        value: &Value,
        depth: Depth,
    ) -> Result<(), Skipped> {
        let apply = match name {
            "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" | "dependentSchemas"
            | "dependencies" => schemas(name, inner),
            "$ref" | "$dynamicRef" | "$recursiveRef" => {
                match self.references.target(inner.as_str().unwrap_or_default()) {
                    Target::Here(target) => vec![target],
                    Target::Nowhere | Target::Outside => Vec::new(),
                }
            }
            _ => return Ok(()),
        };
        let depth = depth.deeper(true)?;
        apply
            .into_iter()
            .try_for_each(|it| self.visit(it, value, depth))
    }

    /// Applies schemas to the values inside.
    fn inside(
        &mut self,
        name: &str,
        inner: &'s Value,
        value: &Value,
        depth: Depth,
    ) -> Result<(), Skipped> {
        let depth = depth.deeper(false)?;
        match name {
            "properties" => {
                for (name, schema) in members(inner) {
                    self.spend(1)?;
                    if let Some(member) = value.get(name) {
                        self.visit(schema, member, depth)?;
                    }
                }
            }
            "prefixItems" | "items" | "additionalItems" if inner.is_array() => {
                for (schema, element) in inside(inner).zip(value.as_array().into_iter().flatten()) {
                    self.visit(schema, element, depth)?;
                }
            }
            "items" | "additionalItems" | "contains" | "unevaluatedItems" => {
                for element in value.as_array().into_iter().flatten() {
                    self.visit(inner, element, depth)?;
                }
            }
            "additionalProperties" | "unevaluatedProperties" => {
                for (_, member) in members(value) {
                    self.visit(inner, member, depth)?;
                }
            }
            "propertyNames" => {
                for (name, _) in members(value) {
                    self.spend(bytes(name))?;
                    self.visit(inner, &Value::String(name.clone()), depth)?;
                }
            }
            "patternProperties" => {
                for (pattern, schema) in members(inner) {
                    for (name, member) in members(value) {
                        self.matches(pattern, name)?;
                        self.visit(schema, member, depth)?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Looks at the value by itself.
    fn assert(&mut self, name: &str, inner: &Value, value: &Value) -> Result<(), Skipped> {
        match (name, value) {
            ("pattern", Value::String(text)) => {
                self.matches(inner.as_str().unwrap_or_default(), text)
            }
            ("minLength" | "maxLength", Value::String(text)) => self.spend(text.len() as u64),
            ("enum" | "const" | "required" | "dependentRequired" | "dependencies", _) => {
                self.spend(count(inner))
            }
            ("uniqueItems", Value::Array(_)) => self.spend(count(value)),
            _ => Ok(()),
        }
    }

    fn matches(&mut self, pattern: &str, text: &str) -> Result<(), Skipped> {
        // Its states have to be counted first.
        self.spend(bytes(pattern))?;
        let matching = states(pattern).saturating_mul(1 + text.len() as u64);
        self.spend(matching / STATES_PER_VISIT)
    }
}
