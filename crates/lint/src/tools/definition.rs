//! What is wrong with the definition of a tool: its name, its schemas, its headers.

use super::schema::{self, Judged};
use super::schema_work::Survey;
use super::{
    EXTERNAL_REF, HIDES_TOOLS, INPUT_SCHEMA_INVALID, NAME_FORMAT, OUTPUT_SCHEMA_INVALID, Report,
    X_HEADER_INVALID, member,
};
use crate::{Rule, Severity, quote};
use mcpreel_wire::json::{Kind, Step, Value};
use mcpreel_wire::mcp::Revision;
use serde_json::Map;

/// Bytes of schemas that are looked into per page, some milliseconds of work. How many definitions
/// are left out is told; they are looked into when they are listed again, as far as there is room.
const READ: usize = 128 * 1024;

/// Characters of a name that hosts take.
const NAME: usize = 128;

/// Looks at definitions, one after the other.
pub struct Definitions {
    revision: Revision,
    left: usize,
    skipped: usize,
}

#[derive(Clone, Copy)]
struct Look {
    outside: bool,
    inside: bool,
}

impl Definitions {
    /// For a list that is judged by `revision`.
    pub fn new(revision: Revision) -> Self {
        Self {
            revision,
            left: READ,
            skipped: 0,
        }
    }

    /// Tells what is wrong with `tool`; where it is not `new`, only what its schemas hold. Returns
    /// whether these were looked into.
    pub fn look(&mut self, tool: Value<'_>, new: bool, report: &mut Report<'_>) -> bool {
        let look = Look {
            outside: new,
            inside: self.has_room(tool),
        };
        let mut hides = Vec::new();
        if let Some(wrong) = name(&report.tool.1).filter(|_| look.outside) {
            report.add(&NAME_FORMAT, [member("name")], &wrong);
            hides.push(wrong);
        }
        let input = tool.get("inputSchema");
        self.schema("inputSchema", input, look, report, &mut hides);
        if let Some(output) = tool.get("outputSchema") {
            self.schema("outputSchema", Some(output), look, report, &mut hides);
        }
        if !hides.is_empty() {
            report.add(&HIDES_TOOLS, [], &hides.join("; "));
        }
        look.inside
    }

    /// What is to be said of the definitions whose schemas there was no room for.
    pub fn skipped(&self) -> Option<String> {
        let noun = match self.skipped {
            0 => return None,
            1 => "definition",
            _ => "definitions",
        };
        Some(format!(
            "{} {noun} not looked into: the page has more than {} KiB of schemas",
            self.skipped,
            READ / 1024
        ))
    }

    /// Whether there is room for the schemas of one more tool. One that is too large by itself is
    /// not read at all.
    fn has_room(&mut self, tool: Value<'_>) -> bool {
        let schemas = ["inputSchema", "outputSchema"].into_iter();
        let sizes = schemas.filter_map(|name| Some(tool.get(name)?.raw().len()));
        let bytes = sizes.filter(|bytes| *bytes <= schema::SCHEMA_BYTES).sum();
        let left = self.left.checked_sub(bytes);
        match left {
            Some(left) => self.left = left,
            None => self.skipped += 1,
        }
        left.is_some()
    }

    fn schema(
        &self,
        which: &'static str,
        schema: Option<Value<'_>>,
        look: Look,
        report: &mut Report<'_>,
        hides: &mut Vec<String>,
    ) {
        let is_input = which == "inputSchema";
        let rule: &'static Rule = if is_input {
            &INPUT_SCHEMA_INVALID
        } else {
            &OUTPUT_SCHEMA_INVALID
        };
        let Some(schema) = schema else {
            if look.outside {
                report.add(rule, [], &format!("no {which}"));
                hides.push(format!("no {which}"));
            }
            return;
        };
        let must_be_object = is_input || self.revision < Revision::V2026_07_28;
        let wrong = root(schema, must_be_object);
        if let Some(wrong) = wrong.as_ref().filter(|_| look.outside) {
            report.add(rule, [member(which)], wrong);
        }
        if is_input && look.outside {
            hides.extend(wrong.as_ref().map(|wrong| format!("{which}: {wrong}")));
            hides.extend(combined(schema));
        }
        if !look.inside {
            return;
        }
        let Some((schema, survey)) = read(schema) else {
            return;
        };
        if wrong.is_none() {
            self.judge(which, rule, (&schema, &survey), report);
        }
        hides.extend(external(which, &survey, report));
        if is_input && self.revision == Revision::V2026_07_28 {
            headers(&schema, report);
        }
    }

    /// Whether the schema is one of its dialect.
    fn judge(
        &self,
        which: &str,
        rule: &'static Rule,
        (schema, survey): (&serde_json::Value, &Survey),
        report: &mut Report<'_>,
    ) {
        if survey.can_be_judged().is_err() {
            return;
        }
        let (violation, severity) = match schema::judge(schema, self.revision) {
            Ok(Judged::Invalid(violation)) => (violation, rule.severity),
            Ok(Judged::Doubtful(violation)) => (violation, Severity::Warning),
            Ok(Judged::Valid) | Err(_) => return,
        };
        let steps = std::iter::once(member(which)).chain(violation.path);
        report.add_as(severity, rule, steps, &violation.message);
    }
}

fn read(schema: Value<'_>) -> Option<(serde_json::Value, Survey)> {
    let schema = schema::schema(schema.raw()).ok()?;
    let survey = Survey::of(&schema).ok()?;
    Some((schema, survey))
}

/// Tells that a schema refers to another one on the network. Returns why hosts may drop a tool
/// whose schema refers outside.
fn external(which: &'static str, survey: &Survey, report: &mut Report<'_>) -> Option<String> {
    let reference = survey.external.as_deref()?;
    let to = quote::text(reference);
    if is_on_network(reference) {
        let detail = format!("refers to {to}");
        report.add(&EXTERNAL_REF, [member(which)], &detail);
    }
    Some(format!("{which} refers to {to}"))
}

fn is_on_network(reference: &str) -> bool {
    let scheme = reference.split_once("//").map(|(scheme, _)| scheme);
    matches!(scheme, Some("http:" | "https:" | ""))
}

fn name(name: &str) -> Option<String> {
    let is_allowed = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '.');
    if name.is_empty() {
        return Some("an empty name".to_owned());
    }
    if let Some(char) = name.chars().find(|char| !is_allowed(*char)) {
        let char = quote::text(char.encode_utf8(&mut [0; 4]));
        return Some(format!("the name holds '{char}'"));
    }
    (name.len() > NAME).then(|| format!("the name has {} characters", name.len()))
}

/// What is wrong with the outermost level of a schema.
fn root(schema: Value<'_>, must_be_object: bool) -> Option<String> {
    if !schema.is_object() {
        return Some(format!("is {}, no object", article(schema.kind())));
    }
    if !must_be_object {
        return None;
    }
    match schema.get("type") {
        None => Some("has no `type`, which must be \"object\"".to_owned()),
        Some(kind) if kind.is_str("object") => None,
        Some(kind) => {
            let kind = quote::bytes(kind.raw());
            Some(format!("its type is {kind}, not \"object\""))
        }
    }
}

fn article(kind: Kind) -> &'static str {
    match kind {
        Kind::Null => "null",
        Kind::Bool => "a boolean",
        Kind::Number => "a number",
        Kind::String => "a string",
        Kind::Array => "an array",
        Kind::Object => "an object",
    }
}

/// Combinations at the root, which model providers do not take.
fn combined(schema: Value<'_>) -> Option<String> {
    let names = ["oneOf", "anyOf", "allOf"].into_iter();
    let found: Vec<_> = names.filter(|name| schema.get(name).is_some()).collect();
    (!found.is_empty()).then(|| format!("{} at the root of inputSchema", found.join(" and ")))
}

// Arguments that a client repeats as HTTP headers (2026-07-28): where they may be asked for.

/// The member of a property's schema that names the header.
pub const ANNOTATION: &str = "x-mcp-header";

/// Tells which annotations of `schema`, an inputSchema, clients have to refuse. Recursion ends
/// where the reader of the schema has set a limit to nesting.
fn headers(schema: &serde_json::Value, report: &mut Report<'_>) {
    let mut search = Search {
        report,
        names: Vec::new(),
        path: vec![member("inputSchema")],
    };
    search.schema(schema, false, true);
}

struct Search<'r, 'a> {
    report: &'r mut Report<'a>,
    /// Headers so far, in small letters.
    names: Vec<String>,
    path: Vec<Step>,
}

impl Search<'_, '_> {
    /// `is_property`: whether only `properties` have led here; `leads_on`: whether those in it do.
    fn schema(&mut self, schema: &serde_json::Value, is_property: bool, leads_on: bool) {
        let serde_json::Value::Object(members) = schema else {
            return;
        };
        if let Some(header) = members.get(ANNOTATION) {
            self.annotation(header, members, is_property);
        }
        for (name, value) in members {
            match name.as_str() {
                "properties" => self.all(name, value, leads_on),
                "patternProperties" | "$defs" | "definitions" | "dependentSchemas" | "allOf"
                | "anyOf" | "oneOf" | "prefixItems" => self.all(name, value, false),
                "items"
                | "contains"
                | "additionalProperties"
                | "propertyNames"
                | "not"
                | "if"
                | "then"
                | "else"
                | "unevaluatedItems"
                | "unevaluatedProperties" => {
                    self.path.push(member(name));
                    self.schema(value, false, false);
                    self.path.pop();
                }
                _ => {}
            }
        }
    }

    /// All schemas of an object or array of them.
    fn all(&mut self, name: &str, schemas: &serde_json::Value, leads_on: bool) {
        self.path.push(member(name));
        for (name, schema) in schemas.as_object().into_iter().flatten() {
            self.path.push(member(name));
            self.schema(schema, leads_on, leads_on);
            self.path.pop();
        }
        for (index, schema) in schemas.as_array().into_iter().flatten().enumerate() {
            self.path.push(Step::Element(index));
            self.schema(schema, leads_on, leads_on);
            self.path.pop();
        }
        self.path.pop();
    }

    fn annotation(
        &mut self,
        header: &serde_json::Value,
        schema: &Map<String, serde_json::Value>,
        is_property: bool,
    ) {
        let wrong = match header.as_str() {
            None => Some("is no string".to_owned()),
            Some(name) => self.name(name),
        };
        let wrong = wrong.or_else(|| {
            let is_wrong = |kind: &&str| matches!(*kind, "number" | "object" | "array" | "null");
            let kind = schema
                .get("type")
                .and_then(serde_json::Value::as_str)
                .filter(is_wrong);
            kind.map(|kind| format!("stands at a property of type {kind}"))
        });
        let wrong = wrong.or_else(|| {
            (!is_property).then(|| "stands where not only `properties` lead to".to_owned())
        });
        if let Some(wrong) = wrong {
            let path = self.path.clone().into_iter().chain([member(ANNOTATION)]);
            self.report
                .add(&X_HEADER_INVALID, path, &format!("{ANNOTATION} {wrong}"));
        }
    }

    fn name(&mut self, name: &str) -> Option<String> {
        if name.is_empty() {
            return Some("is empty".to_owned());
        }
        if !name.bytes().all(is_token) {
            return Some(format!("\"{}\" is no token", quote::text(name)));
        }
        let small = name.to_ascii_lowercase();
        if self.names.contains(&small) {
            return Some(format!("\"{}\" is there twice", quote::text(name)));
        }
        self.names.push(small);
        None
    }
}

/// Characters of a token, RFC 9110 section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
