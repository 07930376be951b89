//! Faults in the definition of a tool: its name, schemas, headers, description.

use super::schema;
use super::schema_limits::{Place, Survey, subschemas};
use super::{
    DESCRIPTION_MISSING, EXTERNAL_REF, HIDES_TOOLS, INPUT_SCHEMA_INVALID, ListedTool, NAME_FORMAT,
    OUTPUT_SCHEMA_INVALID, X_HEADER_INVALID, member,
};
use crate::{Rule, quote};
use mcpreel_wire::json::{Step, Value};
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::text::plural;

/// Bytes of schemas that are looked into per page, some milliseconds of work. How many definitions
/// are left out is told.
const READ: usize = 128 * 1024;

/// Characters of a name that hosts take.
const NAME: usize = 128;

/// Looks at the definitions of one page, one after the other.
pub struct Definitions {
    revision: Revision,
    left: usize,
    skipped: u64,
}

impl Definitions {
    pub fn new(revision: Revision) -> Self {
        let (left, skipped) = (READ, 0);
        Self {
            revision,
            left,
            skipped,
        }
    }

    /// Tells what is wrong with a definition, and with its schemas as far as there is room.
    pub fn look(&mut self, definition: Value<'_>, tool: &ListedTool<'_>) {
        let has_room = self.has_room(definition);
        let mut hides = Vec::new();
        if let Some(wrong) = name(&tool.name) {
            tool.tell(&NAME_FORMAT, [member("name")], &wrong);
            hides.push(wrong);
        }
        let schema = |name| definition.get(name);
        let (input, output) = (schema("inputSchema"), schema("outputSchema"));
        let must_be_object = self.revision < Revision::V2026_07_28;
        let input_wrong = input.and_then(|schema| root(schema, true));
        let output_wrong = output.and_then(|schema| root(schema, must_be_object));
        if input.is_none() {
            tool.tell(&INPUT_SCHEMA_INVALID, [], "no inputSchema");
            hides.push("no inputSchema".to_owned());
        }
        if let Some(wrong) = &input_wrong {
            tool.tell(&INPUT_SCHEMA_INVALID, [member("inputSchema")], wrong);
            hides.push(format!("inputSchema: {wrong}"));
        }
        if let Some(wrong) = &output_wrong {
            tool.tell(&OUTPUT_SCHEMA_INVALID, [member("outputSchema")], wrong);
        }
        hides.extend(input.and_then(combined));
        let schemas: [(_, _, &'static Rule, _); 2] = [
            ("inputSchema", input, &INPUT_SCHEMA_INVALID, input_wrong),
            ("outputSchema", output, &OUTPUT_SCHEMA_INVALID, output_wrong),
        ];
        for (which, schema, rule, wrong) in schemas {
            let schema = schema.filter(|_| has_room);
            let Some((schema, survey)) = schema.and_then(|schema| survey(schema.raw())) else {
                continue;
            };
            if wrong.is_none() && survey.can_be_judged() {
                self.judge(which, rule, &schema, tool);
            }
            if let Some(reference) = &survey.external {
                let detail = format!("refers to {}", quote::text(reference));
                let before = reference.split_once("//").map(|(before, _)| before);
                if matches!(before, Some("http:" | "https:" | "")) {
                    tool.tell(&EXTERNAL_REF, [member(which)], &detail);
                }
                hides.push(format!("{which} {detail}"));
            }
            if which == "inputSchema" && !must_be_object {
                let mut headers = Headers {
                    tool,
                    names: Vec::new(),
                    path: vec![member(which)],
                };
                headers.search(&schema, false, true);
            }
        }
        if !hides.is_empty() {
            tool.tell(&HIDES_TOOLS, [], &hides.join("; "));
        }
        let description = definition.get("description").filter(|text| !text.is_null());
        if description.is_none_or(|text| text.is_str("")) {
            tool.tell(&DESCRIPTION_MISSING, [], "no description");
        }
    }

    /// The number of definitions that were not looked into, in words, if there were any.
    pub fn skipped(&self) -> Option<String> {
        let count = plural(self.skipped, "definition");
        let limit = READ / 1024;
        (self.skipped > 0).then(|| {
            format!("{count} not looked into: the page has more than {limit} KiB of schemas")
        })
    }

    /// Whether there is room for the schemas of one more tool. One that is too large by itself is
    /// not read at all.
    fn has_room(&mut self, tool: Value<'_>) -> bool {
        let schemas = ["inputSchema", "outputSchema"].into_iter();
        let sizes = schemas.filter_map(|name| Some(tool.get(name)?.raw().len()));
        let bytes = sizes.filter(|bytes| *bytes <= schema::SCHEMA_BYTES).sum();
        let left = self.left.checked_sub(bytes);
        self.skipped += u64::from(left.is_none());
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    /// Tells where the schema is none of its dialect.
    fn judge(
        &self,
        which: &str,
        rule: &'static Rule,
        schema: &serde_json::Value,
        tool: &ListedTool<'_>,
    ) {
        if let Ok(Some(violation)) = schema::judge(schema, self.revision) {
            let steps = std::iter::once(member(which)).chain(violation.path);
            tool.tell(rule, steps, &violation.message);
        }
    }
}

fn survey(text: &[u8]) -> Option<(serde_json::Value, Survey)> {
    let schema = schema::read(text).ok()?;
    let survey = Survey::of(&schema).ok()?;
    Some((schema, survey))
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

/// The fault of the outermost level of a schema.
fn root(schema: Value<'_>, must_be_object: bool) -> Option<String> {
    if !schema.is_object() {
        return Some(format!("is {}, no object", schema.kind().as_str()));
    }
    match schema.get("type") {
        _ if !must_be_object => None,
        None => Some("has no `type`, which must be \"object\"".to_owned()),
        Some(kind) if kind.is_str("object") => None,
        Some(kind) => {
            let kind = quote::bytes(kind.raw());
            Some(format!("its type is {kind}, not \"object\""))
        }
    }
}

/// Combinations at the root, which model providers do not take.
fn combined(schema: Value<'_>) -> Option<String> {
    let names = ["oneOf", "anyOf", "allOf"].into_iter();
    let found: Vec<_> = names.filter(|name| schema.get(name).is_some()).collect();
    (!found.is_empty()).then(|| format!("{} at the root of inputSchema", found.join(" and ")))
}

/// The member of a property's schema that names the HTTP header in which clients repeat the
/// argument (2026-07-28).
pub(crate) const X_MCP_HEADER: &str = "x-mcp-header";

/// The search for annotations in a schema that clients have to refuse.
struct Headers<'s> {
    tool: &'s ListedTool<'s>,
    /// Headers so far, in small letters.
    names: Vec<String>,
    path: Vec<Step>,
}

impl Headers<'_> {
    /// `is_property`: whether only `properties` have led here; `leads_on`: whether those in it do.
    /// Recursion ends where the survey of the schema has set a limit to nesting.
    fn search(&mut self, schema: &serde_json::Value, is_property: bool, leads_on: bool) {
        if let Some(wrong) = self.wrong(schema, is_property) {
            let path = self.path.clone().into_iter().chain([member(X_MCP_HEADER)]);
            self.tool
                .tell(&X_HEADER_INVALID, path, &format!("{X_MCP_HEADER} {wrong}"));
        }
        for (keyword, place, inner) in subschemas(schema) {
            let leads_on = leads_on && keyword == "properties";
            let depth = self.path.len();
            let step = match place {
                Place::Itself => None,
                Place::Name(name) => Some(member(name)),
                Place::Index(index) => Some(Step::Element(index)),
            };
            self.path.extend([member(keyword)].into_iter().chain(step));
            self.search(inner, leads_on, leads_on);
            self.path.truncate(depth);
        }
    }

    fn wrong(&mut self, schema: &serde_json::Value, is_property: bool) -> Option<String> {
        let Some(name) = schema.get(X_MCP_HEADER)?.as_str() else {
            return Some("is not a string".to_owned());
        };
        let small = name.to_ascii_lowercase();
        let kind = schema.get("type").and_then(serde_json::Value::as_str);
        // Characters of a token, RFC 9110 section 5.6.2.
        let is_token =
            |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        let wrong = if name.is_empty() {
            "is empty".to_owned()
        } else if !name.bytes().all(is_token) {
            format!("\"{}\" is no token", quote::text(name))
        } else if self.names.contains(&small) {
            format!("\"{}\" is there twice", quote::text(name))
        } else {
            self.names.push(small);
            match kind {
                Some(kind @ ("number" | "object" | "array" | "null")) => {
                    format!("stands at a property of type {kind}")
                }
                _ if !is_property => "stands where not only `properties` lead to".to_owned(),
                _ => return None,
            }
        };
        Some(wrong)
    }
}
