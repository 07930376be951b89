//! Limits on the size and depth of schemas and on the work of checks: the validator cannot be
//! interrupted.
//!
//! [`Survey`] looks through the text of a schema: references, expressions, size and depth.
//! [`Survey::visits`] walks a value as the validator would, with a budget of visits and a limit on depth.

use super::schema::Skipped;
use regex_automata::nfa::thompson::{Compiler, Config};
use regex_automata::util::syntax;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Levels of a schema's own text. Compiling is recursive, as checks are.
const SCHEMA_LEVELS: usize = 64;

/// Schemas that a schema consists of.
const PARTS: usize = 8_192;

/// States of all regular expressions of a schema together: compiling and matching are linear in
/// them.
const STATES: u64 = 16_384;

/// Bytes of the states of one expression.
const STATE_BYTES: usize = 1 << 20;

/// Visits of a value by a schema that a check may take, some 10 ms of the slowest kind.
const VISITS: u64 = 1_000_000;

/// States of an expression that are visited in the time of one visit of a value.
const STATES_PER_VISIT: u64 = 2;

/// Schemas that apply within each other, to one value or to values inside: the validator is
/// recursive, and the stack of the thread is 2 MiB.
const DEPTH: usize = 400;

/// A look through the text of a schema.
#[derive(Debug, Default)]
pub(super) struct Survey {
    /// The first `$ref` that leads out of the schema.
    pub external: Option<String>,
    /// The states of the expressions.
    states: HashMap<String, u64>,
    /// Why values cannot be checked by the schema.
    problem: Option<Skipped>,
    parts: usize,
    weight: Option<u64>,
}

impl Survey {
    /// Looks through `schema`, unless it nests too deeply.
    pub fn of(schema: &Value) -> Result<Self, Skipped> {
        if has_more_levels(schema, SCHEMA_LEVELS) {
            return Err(Skipped::DEEP);
        }
        let mut survey = Self::default();
        let references = References::of(schema);
        survey.schema(schema, &references, true);
        survey.weight = survey.weigh(schema, &references, &mut 0);
        Ok(survey)
    }

    /// Whether the schema may be held against its meta schema, which compiles the expressions in it.
    pub fn can_be_judged(&self) -> bool {
        !matches!(self.problem, Some(Skipped::PATTERN | Skipped::MANY_PARTS))
    }

    /// Whether values may be checked by the schema.
    pub fn can_check(&self) -> Result<(), Skipped> {
        match (self.problem, &self.external) {
            (Some(reason), _) => Err(reason),
            (None, Some(_)) => Err(Skipped::EXTERNAL),
            (None, None) => Ok(()),
        }
    }

    fn problem(&mut self, reason: Skipped) {
        // What stands in the way of judging is told before what stands in the way of checks.
        if self.problem.is_none() || matches!(reason, Skipped::PATTERN | Skipped::MANY_PARTS) {
            self.problem = Some(reason);
        }
    }

    fn schema(&mut self, schema: &Value, references: &References<'_>, is_root: bool) {
        self.parts += 1;
        if self.parts > PARTS {
            return self.problem(Skipped::MANY_PARTS);
        }
        for (name, value) in members(schema) {
            match (name.as_str(), value) {
                ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(to)) => {
                    match references.target(to) {
                        Err(Skipped::EXTERNAL) => {
                            self.external.get_or_insert_with(|| to.clone());
                        }
                        Err(reason) => self.problem(reason),
                        Ok(_) => {}
                    }
                }
                ("pattern", Value::String(pattern)) => self.pattern(pattern),
                ("pattern", _) => self.problem(Skipped::PATTERN),
                ("patternProperties", _) => {
                    members(value).for_each(|(pattern, _)| self.pattern(pattern));
                }
                ("$id" | "id", Value::String(_)) if !is_root => self.problem(Skipped::EMBEDDED),
                _ => {}
            }
        }
        for (_, _, inner) in subschemas(schema) {
            self.schema(inner, references, false);
        }
    }

    /// The most visits per byte of a value: each part of a schema visits parts of the value that
    /// lie side by side. `None` if the schema refers to itself or has many parts.
    fn weigh(&self, schema: &Value, references: &References<'_>, seen: &mut usize) -> Option<u64> {
        *seen += 1;
        if *seen > DEPTH {
            return None;
        }
        let mut weight = 1;
        for (keyword, inner) in members(schema) {
            let more = match (keyword.as_str(), inner) {
                ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(to)) => {
                    self.weigh(references.target(to).ok()?, references, seen)?
                }
                ("pattern", Value::String(pattern)) => *self.states.get(pattern)?,
                ("enum" | "const" | "required" | "dependentRequired" | "dependencies", _) => {
                    count(inner)
                }
                ("patternProperties" | "unevaluatedItems" | "unevaluatedProperties", _) => {
                    return None;
                }
                _ => 1,
            };
            weight += 1 + more;
        }
        for (_, _, inner) in subschemas(schema) {
            weight += 1 + self.weigh(inner, references, seen)?;
        }
        Some(weight)
    }

    fn pattern(&mut self, pattern: &str) {
        let known: u64 = self.states.values().sum();
        let states = states(pattern).filter(|states| known + states <= STATES);
        match states {
            Some(states) => _ = self.states.insert(pattern.to_owned(), states),
            None => self.problem(Skipped::PATTERN),
        }
    }
}

/// Counts the states of a regular expression; `None` if they are too many, or the text is none.
fn states(pattern: &str) -> Option<u64> {
    let nfa = |is_unicode: bool| {
        let syntax = syntax::Config::new().unicode(is_unicode).utf8(is_unicode);
        let config = Config::new().utf8(is_unicode);
        let config = config.nfa_size_limit(Some(STATE_BYTES));
        let mut compiler = Compiler::new();
        let nfa = compiler.configure(config).syntax(syntax).build(pattern);
        nfa.ok().map(|nfa| nfa.states().len() as u64)
    };
    // Classes like `\w` are those of ASCII in a schema.
    nfa(false).or_else(|| nfa(true))
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

/// The values directly in an array or an object.
fn inside(value: &Value) -> impl Iterator<Item = &Value> {
    let elements = value.as_array().into_iter().flatten();
    elements.chain(members(value).map(|(_, member)| member))
}

/// The place of a schema in the value of a keyword.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place<'s> {
    Itself,
    Name(&'s str),
    Index(usize),
}

/// The schemas directly inside a schema, each with its keyword.
pub(super) fn subschemas(schema: &Value) -> impl Iterator<Item = (&str, Place<'_>, &Value)> {
    members(schema).flat_map(|(keyword, value)| {
        let (one, many) = match keyword.as_str() {
            "not"
            | "if"
            | "then"
            | "else"
            | "contains"
            | "propertyNames"
            | "additionalProperties"
            | "unevaluatedItems"
            | "unevaluatedProperties" => (Some(value), None),
            "items" | "additionalItems" if !value.is_array() => (Some(value), None),
            "allOf" | "anyOf" | "oneOf" | "prefixItems" | "items" | "additionalItems"
            | "properties" | "patternProperties" | "dependentSchemas" | "dependencies"
            | "$defs" | "definitions" => (None, Some(value)),
            _ => (None, None),
        };
        let one = one.map(|one| (Place::Itself, one)).into_iter();
        let named = many.into_iter().flat_map(members);
        let named = named.map(|(name, one)| (Place::Name(name), one));
        let elements = many.and_then(Value::as_array).into_iter().flatten();
        let elements = elements.enumerate();
        let elements = elements.map(|(index, one)| (Place::Index(index), one));
        let all = one.chain(named).chain(elements);
        all.map(move |(place, one)| (keyword.as_str(), place, one))
            .filter(|(.., one)| !one.is_array())
    })
}

/// The targets of references in a schema.
struct References<'s> {
    root: &'s Value,
    /// Definitions at the top by the names that they give themselves.
    anchors: HashMap<&'s str, &'s Value>,
}

impl<'s> References<'s> {
    fn of(root: &'s Value) -> Self {
        let mut anchors = HashMap::new();
        let definitions = ["$defs", "definitions"].into_iter();
        let definitions = definitions.filter_map(|name| root.get(name)?.as_object());
        for schema in definitions.flat_map(Map::values) {
            let names = ["$anchor", "$dynamicAnchor"].into_iter();
            for name in names.filter_map(|name| schema.get(name)?.as_str()) {
                anchors.entry(name).or_insert(schema);
            }
        }
        Self { root, anchors }
    }

    fn target(&self, reference: &str) -> Result<&'s Value, Skipped> {
        let id = self.root.get("$id").and_then(Value::as_str);
        let own = id.unwrap_or_default().trim_end_matches('#');
        let local = reference.strip_prefix(own).unwrap_or(reference);
        let target = match local.strip_prefix('#') {
            Some("") => Some(self.root),
            Some(fragment) if fragment.starts_with('/') => self.root.pointer(fragment),
            Some(fragment) => self.anchors.get(fragment).copied(),
            None if local.is_empty() => Some(self.root),
            None => return Err(Skipped::EXTERNAL),
        };
        target.ok_or(Skipped::DANGLING)
    }
}

/// Counts the values in `value`, itself included.
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

impl Survey {
    /// Whether no check of a value of so many bytes takes too long, as nearly always.
    pub fn is_light(&self, bytes: usize) -> bool {
        let weight = self.weight.unwrap_or(u64::MAX);
        weight.saturating_mul(2 * (1 + bytes as u64)) <= VISITS
    }

    /// Counts the visits that a check of `value` by `schema` takes at most, unless they are too
    /// many. Alternatives that would not be needed are visited as well.
    pub fn visits(&self, schema: &Value, value: &Value) -> Result<u64, Skipped> {
        let mut walk = Walk {
            references: References::of(schema),
            states: &self.states,
            visits: 0,
        };
        walk.visit(schema, value, 0)?;
        Ok(walk.visits)
    }
}

struct Walk<'s> {
    references: References<'s>,
    states: &'s HashMap<String, u64>,
    visits: u64,
}

impl<'s> Walk<'s> {
    fn spend(&mut self, visits: u64) -> Result<(), Skipped> {
        self.visits = self.visits.saturating_add(visits);
        if self.visits > VISITS {
            return Err(Skipped::COSTLY);
        }
        Ok(())
    }

    fn visit(&mut self, schema: &'s Value, value: &Value, depth: usize) -> Result<(), Skipped> {
        if depth == DEPTH {
            return Err(Skipped::DEEP);
        }
        self.spend(1)?;
        // What is left over is found by applying everything else once more.
        let is_twice = members(schema).any(|(name, _)| name.starts_with("unevaluated"));
        for _ in 0..=usize::from(is_twice) {
            for (keyword, inner) in members(schema) {
                self.spend(1)?;
                self.keyword(keyword, inner, value, depth + 1)?;
            }
            for (keyword, place, inner) in subschemas(schema) {
                self.spend(1)?;
                self.subschema((keyword, place), inner, value, depth + 1)?;
            }
        }
        Ok(())
    }

    /// A keyword that holds no schemas.
    fn keyword(
        &mut self,
        keyword: &str,
        inner: &'s Value,
        value: &Value,
        depth: usize,
    ) -> Result<(), Skipped> {
        let text = inner.as_str().unwrap_or_default();
        match (keyword, value) {
            ("$ref" | "$dynamicRef" | "$recursiveRef", _) => match self.references.target(text) {
                Ok(target) => self.visit(target, value, depth),
                Err(_) => Ok(()),
            },
            ("pattern", Value::String(value)) => self.matches(text, value),
            ("minLength" | "maxLength", Value::String(text)) => self.spend(text.len() as u64),
            ("enum" | "const" | "required" | "dependentRequired" | "dependencies", _) => {
                self.spend(count(inner))
            }
            ("uniqueItems", Value::Array(_)) => self.spend(count(value)),
            _ => Ok(()),
        }
    }

    /// A schema inside another, applied to the value or to what is in the value.
    fn subschema(
        &mut self,
        (keyword, place): (&str, Place<'_>),
        inner: &'s Value,
        value: &Value,
        depth: usize,
    ) -> Result<(), Skipped> {
        let mut elements = value.as_array().into_iter().flatten();
        let one = match (keyword, place) {
            ("$defs" | "definitions", _) => None,
            ("properties", Place::Name(name)) => value.get(name),
            (_, Place::Index(index)) if keyword.ends_with("tems") => value.get(index),
            ("items" | "additionalItems" | "contains" | "unevaluatedItems", _) => {
                return elements.try_for_each(|one| self.visit(inner, one, depth));
            }
            ("additionalProperties" | "unevaluatedProperties", _) => {
                return members(value).try_for_each(|(_, one)| self.visit(inner, one, depth));
            }
            ("patternProperties", Place::Name(pattern)) => {
                return members(value).try_for_each(|(name, member)| {
                    self.matches(pattern, name)?;
                    self.visit(inner, member, depth)
                });
            }
            ("propertyNames", _) => {
                let mut names = members(value).map(|(name, _)| Value::String(name.clone()));
                return names.try_for_each(|name| self.visit(inner, &name, depth));
            }
            _ => Some(value),
        };
        one.map_or(Ok(()), |one| self.visit(inner, one, depth))
    }

    fn matches(&mut self, pattern: &str, text: &str) -> Result<(), Skipped> {
        let states = self.states.get(pattern).copied().unwrap_or(STATES);
        self.spend(states.saturating_mul(1 + text.len() as u64) / STATES_PER_VISIT)
    }
}
