//! Arguments that a client repeats as HTTP headers (2026-07-28): where they may be asked for.

use super::report::{Place, Report, member};
use super::rules::X_HEADER_INVALID;
use crate::quote;
use mcpreel_wire::json::Step;
use serde_json::{Map, Value};

/// The member of a property's schema that names the header.
pub const ANNOTATION: &str = "x-mcp-header";

/// Tells which annotations of `schema`, an inputSchema, clients have to refuse. Recursion ends
/// where the reader of the schema has set a limit to nesting.
pub fn look(schema: &Value, place: Place<'_>, report: &mut Report<'_, '_>) {
    let mut search = Search {
        place,
        report,
        names: Vec::new(),
        path: vec![member("inputSchema")],
    };
    search.schema(schema, false, true);
}

struct Search<'s, 'a, 'f, 'r> {
    place: Place<'s>,
    report: &'r mut Report<'a, 'f>,
    /// Headers so far, in small letters.
    names: Vec<String>,
    path: Vec<Step>,
}

impl Search<'_, '_, '_, '_> {
    /// `is_property`: whether only `properties` have led here; `leads_on`: whether those in it do.
    fn schema(&mut self, schema: &Value, is_property: bool, leads_on: bool) {
        let Value::Object(members) = schema else {
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
    fn all(&mut self, name: &str, schemas: &Value, leads_on: bool) {
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

    fn annotation(&mut self, header: &Value, schema: &Map<String, Value>, is_property: bool) {
        let wrong = match header.as_str() {
            None => Some("is no string".to_owned()),
            Some(name) => self.name(name),
        };
        let wrong = wrong.or_else(|| {
            let is_wrong = |kind: &&str| matches!(*kind, "number" | "object" | "array" | "null");
            let kind = schema.get("type").and_then(Value::as_str).filter(is_wrong);
            kind.map(|kind| format!("stands at a property of type {kind}"))
        });
        let wrong = wrong.or_else(|| {
            (!is_property).then(|| "stands where not only `properties` lead to".to_owned())
        });
        if let Some(wrong) = wrong {
            let path = self.path.clone().into_iter().chain([member(ANNOTATION)]);
            self.report.add(
                &X_HEADER_INVALID,
                self.place,
                path,
                &format!("{ANNOTATION} {wrong}"),
            );
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
