//! Values against JSON schemas that a stranger wrote: compiled when first needed, never fetched
//! from anywhere, with limits on their size, depth and work (`schema_limits`).
//! What is beyond a limit is [`Skipped`], with the reason.

use super::instance::{Instance, Read};
use super::schema_limits::Survey;
use crate::quote;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{
    Draft, PatternOptions, ValidationError, Validator, draft4, draft6, draft7, draft201909,
    draft202012,
};
use mcpreel_wire::json::{self, Step};
use mcpreel_wire::mcp::Revision;
use serde_json::Value;
use std::fmt;

/// Bytes of a schema that are looked at. Compiling takes up to 10 ms for as many: a larger one
/// would hold the indexer up.
pub const SCHEMA_BYTES: usize = 64 * 1024;

/// Bytes of a value that is checked. Reading alone takes a millisecond per 200 KB.
pub const VALUE_BYTES: usize = 256 * 1024;

/// Bytes that a compiled regular expression and its cache may take. Without a limit one
/// expression could take tens of megabytes.
const EXPRESSION_BYTES: usize = 1 << 20;

/// Violations of one value that are told. More of the same would help nobody.
const TOLD: usize = 3;

/// Bytes that all violations of a value may take: the validator makes them all before it hands over
/// the first, and copies names into some.
const VIOLATION_BYTES: u64 = 32 << 20;

/// Bytes of a violation beside what it copies.
const VIOLATION: u64 = 256;

/// Why a value was not checked against its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Skipped(&'static str);

impl Skipped {
    pub const LARGE_SCHEMA: Self = Self("the schema has more than 64 KiB");
    pub const LARGE_VALUE: Self = Self("the value has more than 256 KiB");
    pub const MANY_PARTS: Self = Self("the schema has too many parts");
    pub const MANY_SCHEMAS: Self = Self("the schemas of all tools are too much together");
    pub const DEEP: Self =
        Self("the schema or the value nests too deeply, or refers to itself without end");
    pub const UNREADABLE: Self =
        Self("it nests too deeply, or holds a text or number that cannot be represented");
    pub const UNKNOWN_DIALECT: Self = Self("the dialect of the schema is not known");
    pub const EXTERNAL: Self = Self("a $ref leads out of the schema, and nothing is ever fetched");
    pub const DANGLING: Self = Self("a $ref leads nowhere");
    pub const EMBEDDED: Self = Self("a part of the schema has an $id of its own");
    pub const PATTERN: Self = Self("a regular expression could take too long or is not understood");
    pub const INVALID: Self = Self("the schema itself is not valid");
    pub const COSTLY: Self = Self("the check could take too long");
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The value of a JSON text.
fn value(text: &[u8]) -> Result<Value, Skipped> {
    serde_json::from_slice(text).map_err(|_| Skipped::UNREADABLE)
}

/// The schema of a JSON text, unless that is too long.
pub fn read(text: &[u8]) -> Result<Value, Skipped> {
    if text.len() > SCHEMA_BYTES {
        return Err(Skipped::LARGE_SCHEMA);
    }
    value(text)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The steps from the value that was checked to what is wrong in it.
    pub path: Vec<Step>,
    pub message: String,
}

impl Violation {
    fn new(error: &ValidationError<'_>, root: &Value) -> Self {
        Self {
            path: steps(error.instance_path().as_str(), root),
            message: quote::text(&error.masked().to_string()),
        }
    }
}

/// The steps of a JSON pointer into `root`: what is a number may be a name as well.
fn steps(pointer: &str, root: &Value) -> Vec<Step> {
    let mut at = Some(root);
    let step = |segment: &str| {
        let name = segment.replace("~1", "/").replace("~0", "~");
        let array = at.and_then(Value::as_array);
        if let Some((array, index)) = array.zip(name.parse().ok()) {
            at = array.get(index);
            return Step::Element(index);
        }
        at = at.and_then(|it| it.get(&name));
        Step::Member(name.into())
    };
    pointer.split('/').skip(1).map(step).collect()
}

/// A schema that is ready to check values.
#[derive(Debug)]
pub struct Checker {
    schema: Value,
    validator: Validator<Read>,
    survey: Survey,
}

impl Checker {
    /// Compiles `schema`, as tools of `revision` have it. `formats` says whether values are held
    /// against formats: those of forms have to fit. Elsewhere formats are hints, about which peers
    /// differ, as are encodings.
    pub fn new(schema: Value, revision: Revision, formats: bool) -> Result<Self, Skipped> {
        let survey = Survey::of(&schema)?;
        survey.can_check()?;
        let draft = dialect(&schema, revision)?;
        if judge(&schema, revision)?.is_some() {
            return Err(Skipped::INVALID);
        }
        let expressions = PatternOptions::regex()
            .size_limit(EXPRESSION_BYTES)
            .dfa_size_limit(EXPRESSION_BYTES);
        let validator = jsonschema::options_for::<Read>()
            .with_draft(draft)
            .offline()
            .should_validate_formats(formats)
            .without_content_encoding_support("base64")
            .without_content_media_type_support("application/json")
            .with_pattern_options(expressions)
            .build(&schema);
        let validator = validator.map_err(|error| match error.kind() {
            ValidationErrorKind::Format { .. } | ValidationErrorKind::Pattern { .. } => {
                Skipped::PATTERN
            }
            ValidationErrorKind::Referencing(_) => Skipped::DANGLING,
            _ => Skipped::INVALID,
        })?;
        Ok(Self {
            schema,
            validator,
            survey,
        })
    }

    /// The first few violations in a value.
    pub fn check(&self, instance: json::Value<'_>) -> Result<Vec<Violation>, Skipped> {
        let text = instance.raw();
        if text.len() > VALUE_BYTES {
            return Err(Skipped::LARGE_VALUE);
        }
        let is_light = self.survey.is_light(text.len());
        if is_light && self.validator.is_valid(Instance::Value(instance)) {
            return Ok(Vec::new());
        }
        let value = value(text)?;
        let visits = self.survey.visits(&self.schema, &value)?;
        if !is_light && self.validator.is_valid(Instance::Value(instance)) {
            return Ok(Vec::new());
        }
        let told = |error: ValidationError<'_>| Violation::new(&error, &value);
        let each = VIOLATION + text.len() as u64;
        if visits.saturating_mul(each) <= VIOLATION_BYTES {
            let errors = self.validator.iter_errors(Instance::Value(instance));
            return Ok(errors.take(TOLD).map(told).collect());
        }
        Ok(vec![Violation {
            path: Vec::new(),
            message: "value does not fit; finding out where would take too long".to_owned(),
        }])
    }
}

/// The dialect that `$schema` names; where it names none, that of the revision, which says so
/// from 2025-11-25 on and where everybody took draft-07 before.
fn dialect(schema: &Value, revision: Revision) -> Result<Draft, Skipped> {
    let default = if revision < Revision::V2025_11_25 {
        Draft::Draft7
    } else {
        Draft::Draft202012
    };
    match default.detect(schema) {
        Draft::Unknown => Err(Skipped::UNKNOWN_DIALECT),
        known => Ok(known),
    }
}

/// The fault of `schema` as one of its dialect. Up to 2025-06-18 the revision does not say which is
/// meant where the schema names none: then it may be of the newest as well. To be asked only where
/// the survey of the schema allows that: the expressions in it are compiled.
pub fn judge(schema: &Value, revision: Revision) -> Result<Option<Violation>, Skipped> {
    let draft = dialect(schema, revision)?;
    let error = match validate(schema, draft) {
        // An expression that this engine does not understand may be one for another engine.
        Err(error) if !matches!(error.kind(), ValidationErrorKind::Format { .. }) => error,
        _ => return Ok(None),
    };
    let is_certain = revision >= Revision::V2025_11_25 || schema.get("$schema").is_some();
    if !is_certain && validate(schema, Draft::Draft202012).is_ok() {
        return Ok(None);
    }
    Ok(Some(Violation::new(&error, schema)))
}

fn validate(schema: &Value, draft: Draft) -> Result<(), ValidationError<'_>> {
    match draft {
        Draft::Draft4 => draft4::meta::validate(schema),
        Draft::Draft6 => draft6::meta::validate(schema),
        Draft::Draft7 => draft7::meta::validate(schema),
        Draft::Draft201909 => draft201909::meta::validate(schema),
        _ => draft202012::meta::validate(schema),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_wire::json::Path;
    use serde_json::json;

    fn checker(schema: &Value) -> Result<Checker, Skipped> {
        Checker::new(schema.clone(), Revision::V2025_11_25, false)
    }

    /// What `value` does wrong: path and message.
    fn wrong(schema: &Value, value: &Value) -> Result<Vec<(String, String)>, Skipped> {
        wrong_in(schema, &value.to_string())
    }

    fn wrong_in(schema: &Value, text: &str) -> Result<Vec<(String, String)>, Skipped> {
        let document = json::Document::parse(text.as_bytes()).unwrap();
        let violations = checker(schema)?.check(document.root())?;
        let shown = |one: Violation| (Path::new(one.path).to_string(), one.message);
        Ok(violations.into_iter().map(shown).collect())
    }

    /// A schema with `count` definitions, each made by its number.
    fn chained(count: usize, definition: impl Fn(usize) -> Value) -> Value {
        let definitions = (0..count).map(|at| (format!("d{at}"), definition(at)));
        let mut definitions: serde_json::Map<_, _> = definitions.collect();
        definitions.insert(format!("d{count}"), json!({"type": "string"}));
        json!({"$ref": "#/$defs/d0", "$defs": definitions})
    }

    fn reference(at: usize) -> Value {
        json!({"$ref": format!("#/$defs/d{at}")})
    }

    fn nested(levels: usize) -> Value {
        (0..levels).fold(json!("x"), |inner, _| json!({"a": inner}))
    }

    #[test]
    fn a_violation_has_the_path_of_what_is_wrong() {
        let schema = json!({
            "properties": {"list": {"items": {"properties": {"7": {"type": "string"}, "a/b~": {"maximum": 3}}}}},
            "required": ["list"],
        });
        let told = wrong(&schema, &json!({"list": [{}, {"7": 1, "a/b~": 4}]})).unwrap();
        assert_eq!(told[0].0, "list[1].7");
        assert_eq!(told[0].1, "value is not of type \"string\"");
        assert_eq!(told[1].0, "list[1][\"a/b~\"]");
        let missing = wrong(&schema, &json!({})).unwrap();
        assert_eq!(missing[0].1, "\"list\" is a required property");
        let hostile = json!({"properties": {"a": {"enum": ["\u{1b}[2J\u{202e}"]}}});
        let told = wrong(&hostile, &json!({"a": 1})).unwrap();
        assert!(!told[0].1.contains(['\u{1b}', '\u{202e}']));
    }

    #[test]
    fn references_inside_are_followed_and_others_never() {
        let schema = json!({
            "$id": "https://example.com/tree",
            "properties": {
                "next": {"$ref": "#"},
                "name": {"$ref": "#name"},
                "other": {"$ref": "https://example.com/tree#/$defs/name"},
            },
            "$defs": {"name": {"$anchor": "name", "type": "string"}},
        });
        let told = wrong(&schema, &json!({"next": {"next": {"name": 1}}, "other": 2})).unwrap();
        let paths: Vec<_> = told.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["next.next.name", "other"]);
        for (schema, reason) in [
            (json!({"$ref": "https://example.com/x"}), Skipped::EXTERNAL),
            (json!({"$ref": "file:///etc/passwd"}), Skipped::EXTERNAL),
            (json!({"$ref": "#/$defs/none"}), Skipped::DANGLING),
            (
                json!({"not": {"$id": "https://example.com/a"}}),
                Skipped::EMBEDDED,
            ),
            (
                json!({"$schema": "https://example.com/"}),
                Skipped::UNKNOWN_DIALECT,
            ),
            (json!({"type": "int"}), Skipped::INVALID),
            (json!({"pattern": "("}), Skipped::PATTERN),
        ] {
            assert_eq!(checker(&schema).unwrap_err(), reason, "{schema}");
        }
        for schema in [
            json!({"$ref": "#"}),
            json!({"anyOf": [{"not": {"$ref": "#"}}]}),
        ] {
            assert_eq!(wrong(&schema, &json!(1)), Err(Skipped::DEEP), "{schema}");
        }
    }

    #[test]
    fn a_hostile_schema_neither_hangs_nor_reaches_the_end_of_the_stack() {
        let twice = |at| json!({"anyOf": [reference(at + 1), reference(at + 1)]});
        let inside = |at| {
            let inner = json!({"properties": {"a": reference(at + 1)}});
            json!({"anyOf": [inner, inner]})
        };
        assert_eq!(wrong(&chained(60, twice), &json!(1)), Err(Skipped::COSTLY));
        assert_eq!(
            wrong(&chained(25, inside), &nested(25)),
            Err(Skipped::COSTLY)
        );
        assert_eq!(
            wrong(&chained(60, inside), &json!({"b": 1})),
            Ok(Vec::new())
        );
        let told = wrong(&chained(3, twice), &json!(1)).unwrap();
        assert!(told[0].1.contains("anyOf"), "{told:?}");
        // Only the reasons would take too much.
        let told = wrong(&chained(15, twice), &json!(1)).unwrap();
        assert!(told[0].1.contains("would take too long"), "{told:?}");
        let names: Vec<_> = (0..3000).map(|at| at.to_string()).collect();
        let depends = json!({"items": {"dependentRequired": {"a": names}}});
        let many = json!(vec![json!({"a": 1}); 1000]);
        assert_eq!(wrong(&depends, &many), Err(Skipped::COSTLY));

        let chain = |count| chained(count, |at| reference(at + 1));
        assert_eq!(wrong(&chain(350), &json!("x")), Ok(Vec::new()));
        assert_eq!(wrong(&chain(2000), &json!("x")), Err(Skipped::DEEP));
        let deep = chained(1500, |at| json!({"properties": {"a": reference(at + 1)}}));
        assert_eq!(wrong(&deep, &nested(30)), Ok(Vec::new()));
        let any = json!({"additionalProperties": {"$ref": "#"}});
        assert_eq!(wrong(&any, &nested(100)), Ok(Vec::new()));
        let each =
            |at| json!({"allOf": [{"allOf": [{"additionalProperties": reference(at + 1)}]}]});
        let slow = chained(130, each);
        assert_eq!(wrong(&slow, &nested(120)), Err(Skipped::DEEP));
        let allow = (0..40).fold(json!({}), |inner, _| json!({"allOf": [inner]}));
        assert_eq!(checker(&allow).unwrap_err(), Skipped::DEEP);
    }

    #[test]
    fn expressions_run_in_linear_time_or_not_at_all() {
        let long = "a".repeat(5000) + "b";
        let matched = |pattern: &str, text: &str| wrong(&json!({"pattern": pattern}), &json!(text));
        assert_eq!(matched("^(a+)+$", &long).unwrap().len(), 1);
        assert_eq!(matched("^(a?){1000}a{1000}$", &long), Err(Skipped::COSTLY));
        for pattern in [
            "((a{100}){100}){100}",
            "(\\p{L}{9}){9}",
            "(a{99999})",
            "^(?!b)a",
        ] {
            assert_eq!(matched(pattern, "a"), Err(Skipped::PATTERN), "{pattern}");
        }
        for pattern in [
            "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
            r"^[\w.]{1,64}@[^@\s]{1,255}$",
            "^https?://",
            r"^\d{4}-(0[1-9]|1[0-2])-\d{2}T[^]]{1}\{\}$",
        ] {
            let schema = json!({"items": {"pattern": pattern}});
            let value = json!(vec!["somebody.long@example.com"; 20]);
            assert!(wrong(&schema, &value).is_ok(), "{pattern}");
        }
    }

    #[test]
    fn large_values_and_schemas_are_skipped_and_ordinary_ones_are_not() {
        let row = |n| json!({"id": n, "name": "abc", "tags": ["x"]});
        let rows: Vec<_> = (0..4000).map(row).collect();
        let table = json!({"type": "array", "uniqueItems": true, "items": {
            "type": "object", "additionalProperties": false, "required": ["id", "name"],
            "properties": {"id": {"type": "integer"}, "name": {"type": "string"}, "tags": {"items": {"enum": ["x", "y"]}}},
        }});
        assert_eq!(wrong(&table, &json!(rows)), Ok(Vec::new()));
        assert_eq!(
            wrong(&table, &json!(vec![rows; 2])),
            Err(Skipped::LARGE_VALUE)
        );
        let members = (0..9000).map(|at| (format!("p{at}"), json!({})));
        let many = json!({"properties": members.collect::<serde_json::Map<_, _>>()});
        assert_eq!(checker(&many).unwrap_err(), Skipped::MANY_PARTS);
        let text = many.to_string();
        assert_eq!(read(text.as_bytes()), Err(Skipped::LARGE_SCHEMA));
    }

    #[test]
    fn a_schema_is_judged_by_its_dialect() {
        let judged = |schema: &Value, revision| judge(schema, revision).unwrap();
        let pairs = json!({"items": [{"type": "string"}]});
        assert_eq!(judged(&pairs, Revision::V2025_06_18), None);
        // 2020-12 has no lists of items.
        let violation = judged(&pairs, Revision::V2025_11_25).unwrap();
        assert_eq!(violation.path, [Step::Member("items".into())]);
        assert!(judged(&json!({"required": true}), Revision::V2025_06_18).is_some());
    }
}
