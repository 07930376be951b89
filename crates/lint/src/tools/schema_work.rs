//! How much work a schema can make, before it is done: the validator cannot be interrupted.
//!
//! A [`Graph`] has the parts of a schema and which part applies which others, to the same value or
//! to the values inside. From that follow the limits: parts that apply each other to one value
//! without end or in a long chain, expressions with too many states, and, for a value, how many
//! visits its levels get at most.

use super::schema::Skipped;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Levels of a schema's own text. Compiling is recursive, as checks are.
const SCHEMA_LEVELS: usize = 64;

const VALUE_LEVELS: usize = 36;

const PARTS: usize = 8_192;

/// States of all regular expressions of a schema together: compiling and matching are linear in
/// them.
const STATES: u64 = 16_384;

/// Visits of a value by a part that a check may take, some 10 ms of the slowest kind.
const WORK: u64 = 1_000_000;

/// States of an expression that are visited in the time of one visit of a value.
const STATES_PER_VISIT: u64 = 2;

/// Parts that apply to one value in a chain, times the levels of the value: the validator is
/// recursive, and the stack of the thread is 2 MiB.
const CALLS: usize = 400;

/// One schema of those that a schema consists of.
#[derive(Debug, Default)]
struct Part {
    /// Parts that apply to the same value.
    here: Vec<usize>,
    /// Parts of which at most one applies to each value inside.
    one_inside: Vec<usize>,
    /// Parts that all apply to each value inside.
    all_inside: Vec<usize>,
    /// What is done with a value beside that, and with each byte of a text in it.
    own: Work,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Work {
    visits: u64,
    per_byte: u64,
}

impl Work {
    fn plus(self, other: Self) -> Self {
        Self {
            visits: self.visits.saturating_add(other.visits),
            per_byte: self.per_byte.saturating_add(other.per_byte),
        }
    }

    fn or(self, other: Self) -> Self {
        Self {
            visits: self.visits.max(other.visits),
            per_byte: self.per_byte.max(other.per_byte),
        }
    }
}

/// The parts of a schema; part 0 is the schema itself.
#[derive(Debug, Default)]
pub(super) struct Graph {
    parts: Vec<Part>,
    /// The first `$ref` that leads out of the schema.
    pub external: Option<String>,
    /// Whether a value may fail a part and still fit: the validator collects such failures.
    pub has_alternatives: bool,
    /// Why the graph is not the whole truth.
    incomplete: Option<Skipped>,
}

impl Graph {
    /// The graph of `schema`, unless it nests too deeply.
    pub fn of(schema: &Value) -> Result<Self, Skipped> {
        if has_more_levels(schema, SCHEMA_LEVELS) {
            return Err(Skipped::DeepSchema);
        }
        let mut builder = Builder {
            root: schema,
            graph: Self::default(),
            known: HashMap::new(),
            todo: Vec::new(),
            states: 0,
            anchors: anchors(schema),
        };
        builder.part(schema);
        while let Some((at, members)) = builder.todo.pop() {
            builder.members(at, members);
            if builder.graph.can_be_judged().is_err() {
                break;
            }
        }
        Ok(builder.graph)
    }

    /// Whether the schema may be held against its meta schema, which compiles the expressions in it.
    pub fn can_be_judged(&self) -> Result<(), Skipped> {
        match self.incomplete {
            Some(reason @ (Skipped::Pattern | Skipped::ManyParts)) => Err(reason),
            _ => Ok(()),
        }
    }

    /// Whether values may be checked by the schema.
    pub fn can_check(&self) -> Result<(), Skipped> {
        match (self.incomplete, &self.external) {
            (Some(reason), _) => Err(reason),
            (None, Some(_)) => Err(Skipped::External),
            (None, None) => Ok(()),
        }
    }
}

struct Builder<'s> {
    root: &'s Value,
    graph: Graph,
    /// Parts by where they are in memory: a part that several refer to is one.
    known: HashMap<*const Value, usize>,
    todo: Vec<(usize, &'s Map<String, Value>)>,
    states: u64,
    /// Definitions by the names that they give themselves.
    anchors: HashMap<&'s str, &'s Value>,
}

impl<'s> Builder<'s> {
    fn part(&mut self, schema: &'s Value) -> usize {
        if let Some(at) = self.known.get(&std::ptr::from_ref(schema)) {
            return *at;
        }
        let at = self.graph.parts.len();
        if at == PARTS {
            self.incomplete(Skipped::ManyParts);
            return 0;
        }
        self.graph.parts.push(Part::default());
        self.graph.parts[at].own.visits = 1;
        self.known.insert(std::ptr::from_ref(schema), at);
        self.todo.extend(schema.as_object().map(|it| (at, it)));
        at
    }

    fn incomplete(&mut self, reason: Skipped) {
        let first = self.graph.incomplete.get_or_insert(reason);
        // What stands in the way of judging is told before what stands in the way of checks.
        if matches!(reason, Skipped::Pattern | Skipped::ManyParts) {
            *first = reason;
        }
    }

    fn members(&mut self, at: usize, members: &'s Map<String, Value>) {
        let mut part = Part::default();
        part.own.visits = 1 + members.len() as u64;
        for (name, value) in members {
            self.member(at, name, value, &mut part);
        }
        // What is left over is found by applying everything else once more.
        if members.keys().any(|name| name.starts_with("unevaluated")) {
            part.here.extend_from_within(..);
        }
        self.graph.parts[at] = part;
    }

    fn member(&mut self, at: usize, name: &str, value: &'s Value, part: &mut Part) {
        match name {
            "allOf" => self.all(value, &mut part.here),
            "anyOf" | "oneOf" => {
                self.graph.has_alternatives = true;
                self.all(value, &mut part.here);
            }
            "not" | "if" | "then" | "else" => part.here.push(self.part(value)),
            "$ref" | "$dynamicRef" | "$recursiveRef" => self.reference(value, part),
            "dependentRequired" | "dependentSchemas" | "dependencies" => {
                for (_, needed) in value.as_object().into_iter().flatten() {
                    match needed.as_array() {
                        Some(names) => part.own.visits += names.len() as u64,
                        None => part.here.push(self.part(needed)),
                    }
                }
            }
            "properties" | "prefixItems" => self.all(value, &mut part.one_inside),
            "items" | "additionalItems" if value.is_array() => {
                self.all(value, &mut part.all_inside);
            }
            "items"
            | "additionalItems"
            | "contains"
            | "propertyNames"
            | "additionalProperties"
            | "unevaluatedItems"
            | "unevaluatedProperties" => part.all_inside.push(self.part(value)),
            "patternProperties" => {
                self.all(value, &mut part.all_inside);
                for (pattern, _) in value.as_object().into_iter().flatten() {
                    self.pattern(pattern, part);
                }
            }
            "$defs" | "definitions" => self.all(value, &mut Vec::new()),
            "pattern" => match value.as_str() {
                Some(pattern) => self.pattern(pattern, part),
                None => self.incomplete(Skipped::Pattern),
            },
            "minLength" | "maxLength" => part.own.per_byte += 1,
            "enum" | "const" | "required" => part.own.visits += count(value),
            "$id" | "id" if at > 0 && value.is_string() => self.incomplete(Skipped::Embedded),
            _ => {}
        }
    }

    /// All schemas of an array or an object of them.
    fn all(&mut self, schemas: &'s Value, into: &mut Vec<usize>) {
        let elements = schemas.as_array().into_iter().flatten();
        let members = schemas.as_object().into_iter().flat_map(Map::values);
        into.extend(elements.chain(members).map(|schema| self.part(schema)));
    }

    fn reference(&mut self, value: &'s Value, part: &mut Part) {
        let Some(reference) = value.as_str() else {
            return;
        };
        let root: &'s Value = self.root;
        let id = root.get("$id").and_then(Value::as_str).unwrap_or_default();
        let own = id.trim_end_matches('#');
        let local = reference.strip_prefix(own).unwrap_or(reference);
        let target = match local.strip_prefix('#') {
            Some("") => Some(root),
            Some(fragment) if fragment.starts_with('/') => root.pointer(fragment),
            Some(fragment) => self.anchors.get(fragment).copied(),
            None if local.is_empty() => Some(root),
            None => {
                let external = &mut self.graph.external;
                external.get_or_insert_with(|| reference.to_owned());
                return;
            }
        };
        match target {
            Some(target) => part.here.push(self.part(target)),
            None => self.incomplete(Skipped::Dangling),
        }
    }

    fn pattern(&mut self, pattern: &str, part: &mut Part) {
        let states = states(pattern);
        self.states = self.states.saturating_add(states);
        part.own.per_byte = part.own.per_byte.saturating_add(states);
        if self.states > STATES {
            self.incomplete(Skipped::Pattern);
        }
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
    let elements = value.as_array().into_iter().flatten();
    let members = value.as_object().into_iter().flat_map(Map::values);
    1 + elements.chain(members).map(count).sum::<u64>()
}

/// Whether there are more levels in `value` than `levels`. Recursion ends with them.
fn has_more_levels(value: &Value, levels: usize) -> bool {
    let Some(inside) = levels.checked_sub(1) else {
        return true;
    };
    let elements = value.as_array().into_iter().flatten();
    let members = value.as_object().into_iter().flat_map(Map::values);
    elements
        .chain(members)
        .any(|it| has_more_levels(it, inside))
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

/// What a check by one schema costs, by the levels of the value.
#[derive(Debug)]
pub(super) struct Costs {
    levels: Vec<Work>,
    /// The longest chain of parts that apply to one value.
    chain: usize,
}

impl Costs {
    pub fn of(graph: &Graph) -> Result<Self, Skipped> {
        let parts = &graph.parts;
        let (order, chain) = inside_out(parts)?;
        let mut above = vec![Work::default(); parts.len()];
        let mut levels = Vec::new();
        for level in 0..VALUE_LEVELS {
            let mut work = vec![Work::default(); parts.len()];
            for &at in &order {
                let part = &parts[at];
                let one = part.one_inside.iter().map(|it| above[*it]);
                let all = part.all_inside.iter().map(|it| above[*it]);
                let inside = all.fold(one.fold(Work::default(), Work::or), Work::plus);
                let start = if level == 0 { part.own } else { inside };
                let here = part.here.iter().map(|it| work[*it]);
                work[at] = here.fold(start, Work::plus);
            }
            levels.push(work[0]);
            // The last figures stand for all further levels.
            if work == above {
                break;
            }
            above = work;
        }
        Ok(Self { levels, chain })
    }

    /// How many visits a check of `value` takes at most, unless they are too many.
    pub fn visits(&self, value: &Value) -> Result<u64, Skipped> {
        let mut found = Vec::new();
        measure(value, 0, &mut found)?;
        if found.len() * self.chain > CALLS {
            return Err(Skipped::DeepValue);
        }
        let mut total = 0_u64;
        for (level, (values, bytes)) in found.into_iter().enumerate() {
            let work = self.levels.get(level).or(self.levels.last());
            let Work { visits, per_byte } = work.copied().unwrap_or_default();
            total = total
                .saturating_add(visits.saturating_mul(values))
                .saturating_add(per_byte.saturating_mul(bytes) / STATES_PER_VISIT);
        }
        if total > WORK {
            return Err(Skipped::Costly);
        }
        Ok(total)
    }
}

/// Counts the values of each level and the bytes of their texts and names.
fn measure(value: &Value, level: usize, found: &mut Vec<(u64, u64)>) -> Result<(), Skipped> {
    if level == VALUE_LEVELS {
        return Err(Skipped::DeepValue);
    }
    if found.len() == level {
        found.push((0, 0));
    }
    found[level].0 += 1;
    found[level].1 += value.as_str().map_or(0, str::len) as u64;
    for inside in value.as_array().into_iter().flatten() {
        measure(inside, level + 1, found)?;
    }
    for (name, inside) in value.as_object().into_iter().flatten() {
        found[level].1 += name.len() as u64;
        measure(inside, level + 1, found)?;
    }
    Ok(())
}

/// The parts in an order in which each comes after all that apply to the same value, and the
/// longest chain of those.
fn inside_out(parts: &[Part]) -> Result<(Vec<usize>, usize), Skipped> {
    /// How far a part is on its way into the order.
    #[derive(Clone, Copy)]
    enum Mark {
        New,
        Open,
        /// The longest chain of parts that begins with it.
        Done(usize),
    }
    fn visit(
        parts: &[Part],
        at: usize,
        depth: usize,
        marks: &mut [Mark],
        order: &mut Vec<usize>,
    ) -> Result<usize, Skipped> {
        match marks[at] {
            Mark::Done(chain) => return Ok(chain),
            Mark::Open => return Err(Skipped::Endless),
            Mark::New if depth > CALLS => return Err(Skipped::DeepSchema),
            Mark::New => marks[at] = Mark::Open,
        }
        let mut chain = 1;
        for inner in &parts[at].here {
            chain = chain.max(1 + visit(parts, *inner, depth + 1, marks, order)?);
        }
        marks[at] = Mark::Done(chain);
        order.push(at);
        Ok(chain)
    }
    let mut marks = vec![Mark::New; parts.len()];
    let mut order = Vec::with_capacity(parts.len());
    let mut longest = 0;
    for at in 0..parts.len() {
        longest = longest.max(visit(parts, at, 0, &mut marks, &mut order)?);
    }
    if longest > CALLS {
        return Err(Skipped::DeepSchema);
    }
    Ok((order, longest))
}
