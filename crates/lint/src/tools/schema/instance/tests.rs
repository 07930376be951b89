use super::{FEW, Instance};
use crate::tools::schema::check::{Checker, compile, violation};
use crate::tools::schema::nodes::Cells;
use crate::tools::schema::{Skipped, Violation, value};
use jsonschema::Draft;
use jsonschema_value::{Json, SerdeJson, conformance};
use mcpreel_wire::json::{Document, Path};
use mcpreel_wire::mcp::Revision;
use proptest::prelude::*;
use serde_json::{Value, json};

/// What is told of the value `text`, by the checker and by the validator's own representation.
fn both_ways(schema: &Value, text: &str) -> [Vec<(String, String)>; 2] {
    let document = Document::parse(text.as_bytes()).unwrap();
    let checker = Checker::new(schema, Revision::V2025_11_25).unwrap();
    let ours = checker.check(document.root()).unwrap();
    let validator = compile::<SerdeJson>(schema, Draft::Draft202012).unwrap();
    let whole = value(text.as_bytes()).unwrap();
    let errors = validator.iter_errors(&whole).take(3);
    let theirs = errors.map(|error| violation::<SerdeJson>(&error, &whole));
    let shown = |it: Violation| (Path::new(it.path).to_string(), it.message);
    [
        ours.into_iter().map(shown).collect(),
        theirs.map(shown).collect(),
    ]
}

#[test]
fn the_validator_finds_in_it_what_it_relies_on() {
    let text = conformance::document().to_string();
    let document = Document::parse(text.as_bytes()).unwrap();
    let instance = Instance::read(document.root()).unwrap();
    conformance::assert_conformance::<Cells>(&instance.root());
}

#[test]
fn of_a_name_that_is_there_twice_the_last_value_counts_in_the_first_place() {
    let schema = json!({
        "maxProperties": 2, "properties": {"a": {"type": "string"}, "b": {"type": "null"}},
    });
    for (text, told) in [
        (r#"{"a":1,"b":null,"a":""}"#, 0),
        (r#"{"a":"","b":null,"\u0061":1}"#, 1),
        (r#"{"a":"","b":1,"a":1}"#, 2),
        (r#"{"a":"","b":null,"c":1,"a":""}"#, 1),
    ] {
        let [ours, theirs] = both_ways(&schema, text);
        assert_eq!((ours.len(), &ours), (told, &theirs), "{text}");
    }
    // What is replaced has to be one that can be represented, too.
    let document = Document::parse(br#"{"a":1e999,"a":""}"#).unwrap();
    let checker = Checker::new(&schema, Revision::V2025_11_25).unwrap();
    assert_eq!(checker.check(document.root()), Err(Skipped::Unreadable));
}

#[test]
fn members_are_found_by_name_however_many_they_are() {
    for count in [0, 1, FEW, FEW + 1, 1000] {
        let members: Vec<_> = (0..count).map(|at| format!("\"m{at}\":{at}")).collect();
        let text = format!("{{{}}}", members.join(","));
        let names: Vec<_> = (0..=count).map(|at| format!("m{at}")).collect();
        let [ours, theirs] = both_ways(&json!({"required": names}), &text);
        assert_eq!((ours.len(), &ours), (1, &theirs), "{count}");
        let last = json!({"properties": {(format!("m{}", count.max(1) - 1)): false}});
        let [ours, theirs] = both_ways(&last, &text);
        assert_eq!((ours.len(), &ours), (count.min(1), &theirs), "{count}");
    }
}

#[test]
fn a_name_is_looked_at_as_a_value_of_its_own() {
    let schema = json!({"propertyNames": {"anyOf": [{"maxLength": 1}, {"const": "long"}]}});
    let [ours, theirs] = both_ways(&schema, r#"{"é":1,"long":2,"lo\u006eger":3}"#);
    assert_eq!((ours.len(), &ours), (1, &theirs));
    let mut buffer = super::Cell::default();
    Cells::with_string_node(&mut buffer, "name", |node| {
        use jsonschema_value::Node;
        assert_eq!(**node.lazy_value().get(), json!("name"));
    });
}

/// Texts of values that hold what schemas ask about; names repeat now and then.
fn text() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "null",
        "true",
        "false",
        "0",
        "-0",
        "1",
        "1.0",
        "2",
        "1e2",
        "0.5",
        "-3",
        "18446744073709551616",
        "9007199254740993",
        "\"\"",
        "\"a\"",
        "\"ab\"",
        "\"\\u0061\"",
        "\"é\"",
        "\"\\ud83d\\ude00\"",
        "[]",
        "{}",
    ]);
    let name = prop::sample::select(vec!["a", "b", "c", "\\u0061", "", "x y"]);
    let leaf = leaf.prop_map(str::to_owned);
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6)
                .prop_map(|elements| format!("[{}]", elements.join(", "))),
            prop::collection::vec((name.clone(), inner), 0..6).prop_map(|members| {
                let members = members
                    .into_iter()
                    .map(|(name, it)| format!("\"{name}\":{it}"));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            }),
        ]
    })
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop::sample::select(vec![
        json!(true),
        json!(false),
        json!({"type": "string", "minLength": 1}),
        json!({"type": "integer"}),
        json!({"type": ["array", "object", "null"]}),
        json!({"minimum": 1, "multipleOf": 0.5}),
        json!({"enum": [1, "a", null, [1, "a"], {"a": 1, "b": [true]}]}),
        json!({"const": {"a": 1}}),
        json!({"const": 100}),
        json!({"pattern": "^[a-z]$"}),
        json!({"uniqueItems": true, "maxItems": 3}),
        json!({"required": ["a", "b"]}),
        json!({"required": ["a", "b", "c"], "minProperties": 1}),
        json!({"dependentRequired": {"a": ["b"]}}),
        json!({"contains": {"type": "number"}, "maxContains": 1}),
        json!({"propertyNames": {"maxLength": 1}}),
        json!({"maxProperties": 1}),
    ]);
    leaf.prop_recursive(3, 24, 3, |inner| {
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            two.clone().prop_map(|(a, b)| json!({"properties": {"a": a, "b": b}, "additionalProperties": false})),
            two.clone().prop_map(|(a, b)| json!({"properties": {"a": a}, "required": ["a", "b"], "additionalProperties": b})),
            two.clone().prop_map(|(a, b)| json!({"patternProperties": {"^[ab]": a, "c": b}, "unevaluatedProperties": false})),
            two.clone().prop_map(|(a, b)| json!({"prefixItems": [a], "items": b})),
            two.clone().prop_map(|(a, b)| json!({"prefixItems": [a, b], "unevaluatedItems": false})),
            two.clone().prop_map(|(a, b)| json!({"anyOf": [a, b]})),
            two.clone().prop_map(|(a, b)| json!({"oneOf": [a, b]})),
            two.clone().prop_map(|(a, b)| json!({"allOf": [a, {"not": b}]})),
            two.prop_map(|(a, b)| json!({"if": a, "then": b, "else": {"$ref": "#/$defs/x"}, "$defs": {"x": {"items": {"type": "string"}}}})),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_told_is_what_the_validator_tells_of_values_of_its_own(schema in schema(), text in text()) {
        // Where a `$ref` does not lead from the root, there is nothing to compare.
        prop_assume!(Checker::new(&schema, Revision::V2025_11_25).is_ok());
        let [ours, theirs] = both_ways(&schema, &text);
        prop_assert_eq!(ours, theirs);
    }
}
