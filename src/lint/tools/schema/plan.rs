//! The graph of a schema: which part applies which others, to the same value or to what is in it.

use super::pattern::{self, Weight};
use super::skipped::Skipped;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Parts of a schema that are looked at.
const PARTS: usize = 8_192;

/// States of all regular expressions of a schema together.
const STATES: u64 = 16_384;

/// One schema of the schemas that a schema consists of.
#[derive(Debug, Default)]
pub struct Part {
    /// Parts that are applied to the same value.
    pub here: Vec<usize>,
    /// Parts of which at most one is applied to each value inside.
    pub one_inside: Vec<usize>,
    /// Parts that are all applied to each value inside.
    pub all_inside: Vec<usize>,
    /// What is done at a value, beside all that.
    pub steps: u64,
    /// What is done with each byte of a text.
    pub per_byte: u64,
    /// Expressions that a text is matched with by going back.
    pub backtracking: u64,
    /// Parts of which each may fail while the value still fits.
    pub alternatives: u64,
}

/// The graph of a schema; part 0 is the schema itself.
#[derive(Debug, Default)]
pub struct Plan {
    /// Its parts.
    pub parts: Vec<Part>,
    /// The first `$ref` that leads out of the schema.
    pub external: Option<String>,
    /// Why the graph is not the whole truth, so that nothing can be checked by it.
    pub incomplete: Option<Skipped>,
}

impl Plan {
    /// The graph of `schema`.
    #[must_use]
    pub fn of(schema: &Value) -> Self {
        let mut drawing = Drawing {
            schema,
            plan: Self::default(),
            known: HashMap::new(),
            todo: Vec::new(),
            states: 0,
        };
        drawing.part(schema);
        while let Some((index, part)) = drawing.todo.pop() {
            if let Value::Object(members) = part {
                drawing.members(index, members);
            }
        }
        drawing.plan
    }

    /// Whether it may be judged as a schema: not where an expression in it could take too long.
    pub fn readable(&self) -> Result<(), Skipped> {
        match self.incomplete {
            Some(reason @ (Skipped::Pattern | Skipped::ManyParts)) => Err(reason),
            _ => Ok(()),
        }
    }

    /// Whether values may be checked by it.
    pub fn usable(&self) -> Result<(), Skipped> {
        match (self.incomplete, &self.external) {
            (Some(reason), _) => Err(reason),
            (None, Some(_)) => Err(Skipped::External),
            (None, None) => Ok(()),
        }
    }
}

struct Drawing<'s> {
    schema: &'s Value,
    plan: Plan,
    /// Parts by where they are in memory: a part that several refer to is one.
    known: HashMap<*const Value, usize>,
    todo: Vec<(usize, &'s Value)>,
    states: u64,
}

impl<'s> Drawing<'s> {
    fn part(&mut self, schema: &'s Value) -> usize {
        if let Some(index) = self.known.get(&std::ptr::from_ref(schema)) {
            return *index;
        }
        let index = self.plan.parts.len();
        if index == PARTS {
            self.incomplete(Skipped::ManyParts);
            return 0;
        }
        self.plan.parts.push(Part::default());
        self.known.insert(std::ptr::from_ref(schema), index);
        self.todo.push((index, schema));
        index
    }

    fn incomplete(&mut self, reason: Skipped) {
        let first = self.plan.incomplete.get_or_insert(reason);
        // What stands in the way of everything is told before what does so of checks.
        if matches!(reason, Skipped::Pattern | Skipped::ManyParts) {
            *first = reason;
        }
    }

    fn members(&mut self, index: usize, members: &'s Map<String, Value>) {
        let mut part = Part {
            steps: 1 + members.len() as u64,
            ..Part::default()
        };
        for (name, value) in members {
            match name.as_str() {
                "allOf" => self.list(value, &mut part.here),
                "anyOf" | "oneOf" => {
                    let before = part.here.len();
                    self.list(value, &mut part.here);
                    part.alternatives += (part.here.len() - before) as u64;
                }
                "not" | "if" | "then" | "else" => part.here.push(self.part(value)),
                "dependentSchemas" | "dependencies" => self.map(value, &mut part.here),
                "$ref" | "$dynamicRef" | "$recursiveRef" => self.reference(value, &mut part.here),
                "properties" => {
                    part.steps += value.as_object().map_or(0, |all| all.len() as u64);
                    self.map(value, &mut part.one_inside);
                }
                "prefixItems" => self.list(value, &mut part.one_inside),
                "items"
                | "additionalItems"
                | "contains"
                | "additionalProperties"
                | "propertyNames" => self.one_or_list(value, &mut part.all_inside),
                "unevaluatedItems" | "unevaluatedProperties" => {
                    part.all_inside.push(self.part(value));
                }
                "patternProperties" => {
                    self.map(value, &mut part.all_inside);
                    self.names(value, &mut part);
                }
                "$defs" | "definitions" => self.map(value, &mut Vec::new()),
                "pattern" => self.pattern(value.as_str(), &mut part),
                "minLength" | "maxLength" => part.per_byte += 1,
                "enum" | "const" => part.steps += weight(value),
                "required" => part.steps += value.as_array().map_or(0, |all| all.len() as u64),
                "uniqueItems" if *value == Value::Bool(true) => self.compares(&mut part),
                "$id" | "id" if index > 0 && value.is_string() => {
                    self.incomplete(Skipped::Embedded);
                }
                _ => {}
            }
        }
        // What is left over is found by applying everything else once more.
        if members.keys().any(|name| name.starts_with("unevaluated")) {
            part.here.extend_from_within(..);
            part.steps *= 2;
        }
        self.plan.parts[index] = part;
    }

    fn list(&mut self, value: &'s Value, into: &mut Vec<usize>) {
        let elements = value.as_array().into_iter().flatten();
        into.extend(elements.map(|schema| self.part(schema)));
    }

    fn one_or_list(&mut self, value: &'s Value, into: &mut Vec<usize>) {
        if value.is_array() {
            self.list(value, into);
        } else {
            into.push(self.part(value));
        }
    }

    fn map(&mut self, value: &'s Value, into: &mut Vec<usize>) {
        let members = value.as_object().into_iter().flatten();
        into.extend(members.map(|(_, schema)| self.part(schema)));
    }

    fn reference(&mut self, value: &'s Value, into: &mut Vec<usize>) {
        let Some(reference) = value.as_str() else {
            return;
        };
        let root: &'s Value = self.schema;
        let id = root.get("$id").and_then(Value::as_str).unwrap_or_default();
        let own = id.trim_end_matches('#');
        let local = reference.strip_prefix(own).unwrap_or(reference);
        match local.strip_prefix('#') {
            Some("") => into.push(0),
            Some(fragment) => match target(root, fragment) {
                Some(target) => into.push(self.part(target)),
                None => self.incomplete(Skipped::Dangling),
            },
            None if local.is_empty() => into.push(0),
            None => {
                self.plan
                    .external
                    .get_or_insert_with(|| reference.to_owned());
            }
        }
    }

    fn pattern(&mut self, pattern: Option<&str>, part: &mut Part) {
        let Some(weight) = pattern.and_then(pattern::weight) else {
            self.incomplete(Skipped::Pattern);
            return;
        };
        self.states += weight.states;
        if self.states > STATES {
            self.incomplete(Skipped::Pattern);
        }
        let Weight { states, backtracks } = weight;
        part.per_byte += states;
        part.backtracking += u64::from(backtracks);
    }

    /// The names inside are matched with expressions: a part of its own that does so.
    fn names(&mut self, value: &Value, part: &mut Part) {
        let mut names = Part::default();
        for (pattern, _) in value.as_object().into_iter().flatten() {
            self.pattern(Some(pattern), &mut names);
        }
        names.steps = 1;
        part.all_inside.push(self.plan.parts.len());
        self.plan.parts.push(names);
    }

    /// Everything inside is compared: a part of its own that goes all the way down.
    fn compares(&mut self, part: &mut Part) {
        let everything = self.plan.parts.len();
        part.all_inside.push(everything);
        self.plan.parts.push(Part {
            all_inside: vec![everything],
            steps: 16,
            per_byte: 2,
            ..Part::default()
        });
    }
}

/// How many values there are in `value`. As deep as texts are read.
fn weight(value: &Value) -> u64 {
    match value {
        Value::Array(elements) => 1 + elements.iter().map(weight).sum::<u64>(),
        Value::Object(members) => 1 + members.values().map(weight).sum::<u64>(),
        _ => 1,
    }
}

/// What the fragment of a reference stands for.
fn target<'s>(root: &'s Value, fragment: &str) -> Option<&'s Value> {
    if fragment.starts_with('/') {
        return root.pointer(fragment);
    }
    let is_named = |schema: &&Value| {
        let names = ["$anchor", "$dynamicAnchor"].into_iter();
        names
            .filter_map(|name| schema.get(name)?.as_str())
            .any(|name| name == fragment)
    };
    let definitions = ["$defs", "definitions"].into_iter();
    let mut definitions = definitions.filter_map(|name| root.get(name)?.as_object());
    definitions.find_map(|all| all.values().find(is_named))
}
