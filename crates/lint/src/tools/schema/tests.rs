use super::*;
use mcpreel_wire::json::{Document, Path, Step};
use mcpreel_wire::mcp::Revision;
use serde_json::json;

fn checker(schema: &Value) -> Result<Checker, Skipped> {
    Checker::new(schema, Revision::V2025_11_25)
}

/// What `value` does wrong: path and message.
fn wrong(schema: &Value, value: &Value) -> Result<Vec<(String, String)>, Skipped> {
    wrong_in(schema, &value.to_string())
}

/// The same of a value by its text.
fn wrong_in(schema: &Value, text: &str) -> Result<Vec<(String, String)>, Skipped> {
    let document = Document::parse(text.as_bytes()).unwrap();
    let violations = checker(schema)?.check(document.root())?;
    let shown = |violation: Violation| (Path::new(violation.path).to_string(), violation.message);
    Ok(violations.into_iter().map(shown).collect())
}

fn is_fine(schema: &Value, value: &Value) -> bool {
    wrong(schema, value).unwrap().is_empty()
}

/// A schema with as many definitions as `count`, each made by its number.
fn chained(count: usize, definition: impl Fn(usize) -> Value) -> Value {
    let definitions = (0..count).map(|at| (format!("d{at}"), definition(at)));
    let mut definitions: serde_json::Map<_, _> = definitions.collect();
    definitions.insert(format!("d{count}"), json!({"type": "string"}));
    json!({"$ref": "#/$defs/d0", "$defs": definitions})
}

fn reference(at: usize) -> Value {
    json!({"$ref": format!("#/$defs/d{at}")})
}

/// A value with as many levels of `a` around it.
fn deep(levels: usize) -> Value {
    (0..levels).fold(json!("x"), |inner, _| json!({"a": inner}))
}

#[test]
fn a_violation_has_the_path_of_what_is_wrong() {
    let schema = json!({
        "properties": {"list": {"items": {"properties": {"7": {"type": "string"}, "a/b~": {"maximum": 3}}}}},
        "required": ["list"],
    });
    assert_eq!(
        wrong(&schema, &json!({"list": [{}, {"7": 1, "a/b~": 4}]})).unwrap(),
        [
            (
                "list[1].7".to_owned(),
                "value is not of type \"string\"".to_owned()
            ),
            (
                "list[1][\"a/b~\"]".to_owned(),
                "value is greater than the maximum of 3".to_owned()
            ),
        ]
    );
    let missing = wrong(&schema, &json!({})).unwrap();
    assert_eq!(missing[0].1, "\"list\" is a required property");
    assert!(is_fine(&schema, &json!({"list": [{"7": ""}]})));
}

#[test]
fn what_a_stranger_wrote_is_escaped_in_what_is_said() {
    let schema = json!({"properties": {"a": {"enum": ["\u{1b}[2J\u{202e}"]}}});
    let told = wrong(&schema, &json!({"a": 1})).unwrap();
    assert!(
        told[0]
            .1
            .chars()
            .all(|char| !char.is_control() && char != '\u{202e}')
    );
}

#[test]
fn formats_and_encodings_are_hints() {
    let schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "format": "email", "contentEncoding": "base64", "contentMediaType": "application/json",
    });
    assert!(is_fine(&schema, &json!("neither?")));
}

#[test]
fn numbers_are_what_their_text_says() {
    let cents = json!({"multipleOf": 0.01, "maximum": 20});
    assert_eq!(wrong_in(&cents, "19.99"), Ok(Vec::new()));
    assert_eq!(wrong_in(&json!({"type": "integer"}), "1e2"), Ok(Vec::new()));
    let large = json!({"type": "integer", "minimum": 9_007_199_254_740_993_i64});
    assert_eq!(wrong_in(&large, "9007199254740993"), Ok(Vec::new()));
    assert_eq!(wrong_in(&large, "9007199254740992").unwrap().len(), 1);
    assert_eq!(wrong_in(&cents, "[1e999]"), Err(Skipped::Unreadable));
}

#[test]
fn no_check_by_what_is_not_the_whole_schema() {
    let cases = [
        (json!({"$ref": "https://example.com/x"}), Skipped::External),
        (json!({"$ref": "file:///etc/passwd"}), Skipped::External),
        (json!({"$ref": "#/$defs/none"}), Skipped::Dangling),
        (
            json!({"properties": {"a": {"$id": "https://example.com/a"}}}),
            Skipped::Embedded,
        ),
        (
            json!({"$schema": "https://example.com/dialect"}),
            Skipped::UnknownDialect,
        ),
        (json!({"type": "int"}), Skipped::Invalid),
        (json!({"pattern": "("}), Skipped::Pattern),
    ];
    for (schema, reason) in cases {
        assert_eq!(checker(&schema).unwrap_err(), reason, "{schema}");
    }
}

#[test]
fn references_inside_are_followed() {
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
}

#[test]
fn a_schema_that_refers_to_itself_without_end_is_skipped() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"not": {"$ref": "#/$defs/b"}}, "b": {"if": {"$ref": "#/$defs/a"}}}}),
        json!({"$dynamicAnchor": "a", "$dynamicRef": "#"}),
    ] {
        assert_eq!(checker(&schema).unwrap_err(), Skipped::Endless, "{schema}");
    }
}

#[test]
fn exponential_schemas_are_figures_and_not_time() {
    let twice = |at| json!({"anyOf": [reference(at + 1), reference(at + 1)]});
    let inside = |at| {
        let inner = json!({"properties": {"a": reference(at + 1)}});
        json!({"anyOf": [inner, inner]})
    };
    assert_eq!(wrong(&chained(60, twice), &json!(1)), Err(Skipped::Costly));
    assert_eq!(wrong(&chained(25, inside), &deep(25)), Err(Skipped::Costly));
    // Where only the reasons would take too long, the verdict stands.
    let told = wrong(&chained(15, twice), &json!(1)).unwrap();
    assert!(told[0].1.contains("would take too long"), "{told:?}");
    // The same shape, small.
    let told = wrong(&chained(3, twice), &json!(1)).unwrap();
    assert!(told[0].1.contains("anyOf"), "{told:?}");
    assert!(is_fine(&chained(60, inside), &json!({"b": 1})));
}

#[test]
fn long_chains_do_not_reach_the_end_of_the_stack() {
    let inside = chained(1000, |at| json!({"properties": {"a": reference(at + 1)}}));
    assert!(is_fine(&inside, &deep(30)));
    let here = chained(350, |at| reference(at + 1));
    assert!(is_fine(&here, &json!("x")));
    assert_eq!(wrong(&here, &json!(["x"])), Err(Skipped::DeepValue));
    let longer = chained(1000, |at| reference(at + 1));
    assert_eq!(checker(&longer).unwrap_err(), Skipped::DeepSchema);
    let nested = (0..28).fold(
        json!({"type": "string"}),
        |inner, _| json!({"allOf": [inner]}),
    );
    assert!(is_fine(&nested, &json!("x")));
    let nested = (0..40).fold(
        json!({"type": "string"}),
        |inner, _| json!({"allOf": [inner]}),
    );
    assert_eq!(checker(&nested).unwrap_err(), Skipped::DeepSchema);
}

#[test]
fn deep_values_are_skipped() {
    let schema = json!({"additionalProperties": {"$ref": "#"}});
    assert!(is_fine(&schema, &deep(30)));
    assert_eq!(wrong(&schema, &deep(40)), Err(Skipped::DeepValue));
    let nested = |levels| "[".repeat(levels) + &"]".repeat(levels);
    assert_eq!(wrong_in(&schema, &nested(127)), Err(Skipped::DeepValue));
    assert_eq!(wrong_in(&schema, &nested(128)), Err(Skipped::Unreadable));
    // What cannot be represented is told before what nests too deeply.
    let both = format!("[{},\"\\ud800\"]", nested(40));
    assert_eq!(wrong_in(&schema, &both), Err(Skipped::Unreadable));
}

#[test]
fn expressions_run_in_linear_time_or_are_given_up() {
    let long = "a".repeat(5000) + "b";
    let matched = |pattern: &str, text: &str| wrong(&json!({"pattern": pattern}), &json!(text));
    assert_eq!(matched("^(a+)+$", &long).unwrap().len(), 1);
    assert_eq!(matched("^(?!b)[a-z]+$", "abc"), Ok(Vec::new()));
    let many: Vec<_> = (0..40)
        .map(|at| format!("{}{at}", "a".repeat(40)))
        .collect();
    let gives_up = json!({"items": {"pattern": "^(?:(?=a)(?:a|aa))+$"}});
    assert_eq!(wrong(&gives_up, &json!(many)), Err(Skipped::Costly));
    assert_eq!(matched("^(a?){1000}a{1000}$", &long), Err(Skipped::Costly));
    for pattern in ["((a{100}){100}){100}", "(\\p{L}{9}){9}", "(a{99999})"] {
        assert_eq!(matched(pattern, "a"), Err(Skipped::Pattern), "{pattern}");
    }
}

#[test]
fn honest_expressions_are_not_too_much() {
    for pattern in [
        "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
        r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$",
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
    let rows: Vec<_> = (0..4000)
        .map(|n| json!({"id": n, "name": "abc", "tags": ["x"]}))
        .collect();
    let schema = json!({"type": "array", "uniqueItems": true, "items": {
        "type": "object", "additionalProperties": false, "required": ["id", "name"],
        "properties": {"id": {"type": "integer"}, "name": {"type": "string"}, "tags": {"items": {"enum": ["x", "y"]}}},
    }});
    assert!(is_fine(&schema, &json!(rows)));
    let members = (0..9000).map(|at| (format!("p{at}"), json!({})));
    let schema = json!({"properties": members.collect::<serde_json::Map<_, _>>()});
    assert_eq!(checker(&schema).unwrap_err(), Skipped::ManyParts);
    let text = schema.to_string();
    assert_eq!(super::schema(text.as_bytes()), Err(Skipped::LargeSchema));
}

#[test]
fn a_schema_is_judged_by_its_dialect() {
    let judged = |schema: Value, revision| judge(&schema, revision).unwrap();
    let pairs = json!({"items": [{"type": "string"}]});
    assert!(matches!(
        judged(pairs.clone(), Revision::V2025_06_18),
        Judged::Valid
    ));
    let Judged::Invalid(violation) = judged(pairs, Revision::V2025_11_25) else {
        panic!("2020-12 has no lists of items");
    };
    assert_eq!(violation.path, [Step::Member("items".into())]);
    let odd = json!({"required": true});
    assert!(matches!(
        judged(odd, Revision::V2025_06_18),
        Judged::Doubtful(_)
    ));
    let stated = json!({"$schema": "http://json-schema.org/draft-07/schema#", "required": true});
    assert!(matches!(
        judged(stated, Revision::V2025_06_18),
        Judged::Invalid(_)
    ));
    let newer = json!({"$defs": {"a": {"minContains": 2}}, "dependentRequired": {"a": ["b"]}});
    assert!(matches!(
        judged(newer, Revision::V2025_06_18),
        Judged::Valid
    ));
}

/// What is said where nobody says what is wrong.
fn is_verdict(told: &[(String, String)]) -> bool {
    told.len() == 1 && told[0].1.contains("would take too long")
}

#[test]
fn a_long_text_is_not_copied_for_each_of_many_alternatives() {
    let with = |keyword: &str, count: usize| {
        let inner = json!({keyword: vec![false; count]});
        json!({"type": "object", "properties": {"a": inner}})
    };
    let value = |bytes: usize| json!({"a": "x".repeat(bytes)});
    for keyword in ["anyOf", "oneOf"] {
        let many = wrong(&with(keyword, 4000), &value(55_000)).unwrap();
        assert!(is_verdict(&many), "{keyword}");
        let few = wrong(&with(keyword, 2), &value(55_000)).unwrap();
        assert_eq!(few[0].0, "a", "{keyword}");
        let small = wrong(&with(keyword, 300), &value(5)).unwrap();
        assert_eq!(small[0].0, "a", "{keyword}");
    }
    // One alternative, in which many things are wrong.
    let one = json!({"properties": {"a": {"anyOf": [{"allOf": vec![false; 4000]}]}}});
    assert!(is_verdict(&wrong(&one, &value(55_000)).unwrap()));
    let names = json!({"propertyNames": {"allOf": vec![false; 4000]}});
    let long = json!({"x".repeat(55_000): 1});
    assert!(is_verdict(&wrong(&names, &long).unwrap()));
}

#[test]
fn where_all_errors_would_be_too_large_together_the_first_is_told() {
    let first = |schema: &Value, value: &Value| {
        let told = wrong(schema, value).unwrap();
        assert_eq!(told.len(), 1);
        told[0].clone()
    };
    let none = vec![json!({}); 2000];
    let name = "n".repeat(5000);
    let (path, _) = first(&json!({"items": {"required": [name]}}), &json!(none));
    assert_eq!(path, "[0]");
    let texts = vec![""; 2000];
    let pattern = "a".repeat(5000);
    let (path, _) = first(&json!({"items": {"pattern": pattern}}), &json!(texts));
    assert_eq!(path, "[0]");
    // The path of each has the long name.
    let schema = json!({"additionalProperties": {"items": false}});
    first(&schema, &json!({name: texts}));
    let told = wrong(&schema, &json!({"a": ["", "", "", ""]})).unwrap();
    assert_eq!(told.len(), 3);
}

#[test]
fn names_that_depend_on_a_member_are_work() {
    let names: Vec<_> = (0..3000).map(|at| at.to_string()).collect();
    for keyword in ["dependentRequired", "dependencies"] {
        let schema = json!({"items": {keyword: {"a": names}}});
        let many = json!(vec![json!({"a": 1}); 1000]);
        assert_eq!(wrong(&schema, &many), Err(Skipped::Costly), "{keyword}");
        let told = wrong(&schema, &json!([{"a": 1}])).unwrap();
        assert_eq!(told[0].0, "[0]", "{keyword}");
    }
    let members = (0..3000).map(|at| (at.to_string(), json!(true)));
    let members: serde_json::Map<_, _> = members.collect();
    let schema = json!({"items": {"dependentSchemas": members}});
    assert_eq!(wrong(&schema, &json!(vec![0; 1000])), Err(Skipped::Costly));
}

#[test]
fn the_first_definition_with_a_name_is_meant() {
    let definitions = json!({"a": {"$anchor": "n", "type": "string"}, "b": {"$anchor": "m"}});
    let schema =
        json!({"properties": {"x": {"$ref": "#n"}, "y": {"$ref": "#m"}}, "$defs": definitions});
    let told = wrong(&schema, &json!({"x": 1, "y": 1})).unwrap();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].0, "x");
    let dangling = json!({"allOf": vec![json!({"$ref": "#none"}); 3000], "$defs": definitions});
    assert_eq!(checker(&dangling).unwrap_err(), Skipped::Dangling);
}
