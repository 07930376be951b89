//! The graph of a schema is drawn part by part.

use super::weight::{size, weight};
use super::{Part, Plan};
use crate::tools::schema::pattern::{self, Weight};
use crate::tools::schema::skipped::Skipped;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Parts of a schema that are looked at.
const PARTS: usize = 8_192;

/// States of all regular expressions of a schema together.
const STATES: u64 = 16_384;

pub(super) fn of(schema: &Value) -> Plan {
    let mut drawing = Drawing {
        schema,
        plan: Plan::default(),
        known: HashMap::new(),
        todo: Vec::new(),
        states: 0,
        anchors: anchors(schema),
    };
    drawing.part(schema);
    while let Some((index, part)) = drawing.todo.pop() {
        // Nothing is left that could be told before it.
        if drawing.plan.readable().is_err() {
            break;
        }
        if let Value::Object(members) = part {
            drawing.members(index, members);
        }
    }
    drawing.plan
}

struct Drawing<'s> {
    schema: &'s Value,
    plan: Plan,
    /// Parts by where they are in memory: a part that several refer to is one.
    known: HashMap<*const Value, usize>,
    todo: Vec<(usize, &'s Value)>,
    states: u64,
    /// Definitions by the names that they give themselves.
    anchors: HashMap<&'s str, &'s Value>,
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
            errors: 1 + members.len() as u64,
            ..Part::default()
        };
        for (name, value) in members {
            if !self.applied(name, value, &mut part) {
                self.asserted(index, name, value, &mut part);
            }
        }
        // What is left over is found by applying everything else once more.
        if members.keys().any(|name| name.starts_with("unevaluated")) {
            part.here.extend_from_within(..);
            part.steps *= 2;
        }
        self.plan.parts[index] = part;
    }

    /// A member that applies other parts. Whether it does.
    fn applied(&mut self, name: &str, value: &'s Value, part: &mut Part) -> bool {
        match name {
            "allOf" => self.list(value, &mut part.here),
            "anyOf" | "oneOf" => {
                let before = part.here.len();
                self.list(value, &mut part.here);
                part.alternatives.extend_from_slice(&part.here[before..]);
            }
            "not" => {
                part.error_bytes += size(value);
                part.here.push(self.part(value));
            }
            "if" | "then" | "else" => part.here.push(self.part(value)),
            "dependentRequired" | "dependentSchemas" | "dependencies" => {
                self.dependent(value, part);
            }
            "$ref" | "$dynamicRef" | "$recursiveRef" => self.reference(value, &mut part.here),
            "properties" => {
                part.steps += value.as_object().map_or(0, |all| all.len() as u64);
                self.map(value, &mut part.one_inside);
            }
            "prefixItems" => self.list(value, &mut part.one_inside),
            "items" | "additionalItems" | "contains" => {
                self.one_or_list(value, &mut part.all_inside);
            }
            "propertyNames" => part.all_inside.push(self.copied(value)),
            "additionalProperties" | "unevaluatedItems" | "unevaluatedProperties" => {
                part.copies += 1;
                part.all_inside.push(self.part(value));
            }
            "patternProperties" => {
                self.map(value, &mut part.all_inside);
                self.names(value, part);
            }
            "$defs" | "definitions" => self.map(value, &mut Vec::new()),
            _ => return false,
        }
        true
    }

    /// A member that asks something of the value itself.
    fn asserted(&mut self, index: usize, name: &str, value: &Value, part: &mut Part) {
        match name {
            "pattern" => {
                part.error_bytes += size(value);
                self.pattern(value.as_str(), part);
            }
            "minLength" | "maxLength" => part.per_byte += 1,
            "enum" | "const" => part.steps += weight(value),
            "required" => required(value, part),
            "uniqueItems" if *value == Value::Bool(true) => self.compares(part),
            "$id" | "id" if index > 0 && value.is_string() => {
                self.incomplete(Skipped::Embedded);
            }
            _ => {}
        }
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

    /// What depends on a member being there: a schema, or names of others.
    fn dependent(&mut self, value: &'s Value, part: &mut Part) {
        for (_, needed) in value.as_object().into_iter().flatten() {
            part.steps += 1;
            if needed.is_array() {
                required(needed, part);
            } else {
                part.here.push(self.part(needed));
            }
        }
    }

    /// A part of its own that applies `schema` and keeps copies of what it finds wrong.
    fn copied(&mut self, schema: &'s Value) -> usize {
        let schema = self.part(schema);
        self.plan.parts.push(Part {
            here: vec![schema],
            alternatives: vec![schema],
            steps: 1,
            errors: 1,
            ..Part::default()
        });
        self.plan.parts.len() - 1
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
            Some(fragment) => match self.target(fragment) {
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

    /// What the fragment of a reference stands for.
    fn target(&self, fragment: &str) -> Option<&'s Value> {
        if fragment.starts_with('/') {
            return self.schema.pointer(fragment);
        }
        self.anchors.get(fragment).copied()
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

/// Each name in `names` is looked for, and an error has it where it is missing.
fn required(names: &Value, part: &mut Part) {
    let names = names.as_array().map_or(&[][..], Vec::as_slice);
    part.steps += names.len() as u64;
    part.errors += names.len() as u64;
    part.error_bytes += names.iter().map(size).sum::<u64>();
}

/// The definitions at the top of `root` that have names for themselves, by them; the first of each
/// name.
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
