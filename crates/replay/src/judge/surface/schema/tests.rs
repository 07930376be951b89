use super::*;
use mcpreel_wire::json::{Document, Path};
use proptest::prelude::*;

/// `EFFECT PATH: SENTENCE`, one for each difference.
fn found(role: Role, left: &str, right: &str) -> Vec<String> {
    let [left, right] = [left, right].map(|text| {
        Document::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
    });
    let mut work = Work::default();
    let outcome = compare(role, Some(left.root()), Some(right.root()), &mut work);
    let line = |found: &Found| {
        let path = Path::new(found.steps.clone());
        format!("{:?} {path}: {}", found.effect, found.sentence)
    };
    outcome.found.iter().map(line).collect()
}

fn input(left: &str, right: &str) -> Vec<String> {
    found(Role::Input, left, right)
}

fn output(left: &str, right: &str) -> Vec<String> {
    found(Role::Output, left, right)
}

/// An object schema with one property `a`.
fn with(a: &str) -> String {
    format!(r#"{{"type":"object","properties":{{"a":{a}}}}}"#)
}

/// What a property was, what it is, and what that means for who calls the tool.
const TAKES: &[(&str, &str, &str)] = &[
    (
        "{}",
        r#"{"type":"integer"}"#,
        "Narrowed properties.a.type: `a`: takes only integer",
    ),
    (
        r#"{"type":"number"}"#,
        r#"{"type":"integer"}"#,
        "Narrowed properties.a.type: `a`: no longer takes number with a fraction",
    ),
    (
        r#"{"type":"integer"}"#,
        r#"{"type":"number"}"#,
        "Widened properties.a.type: `a`: also takes number with a fraction",
    ),
    (
        r#"{"type":["string","null"]}"#,
        r#"{"type":"string"}"#,
        "Narrowed properties.a.type: `a`: no longer takes null",
    ),
    (
        r#"{"type":"string"}"#,
        r#"{"type":"integer"}"#,
        "Narrowed properties.a.type: `a`: takes integer instead of string",
    ),
    (
        r#"{"enum":["x","y"]}"#,
        r#"{"enum":["y"]}"#,
        r#"Narrowed properties.a.enum: `a`: no longer "x""#,
    ),
    (
        r#"{"enum":["x"]}"#,
        r#"{"enum":["y","x"]}"#,
        r#"Widened properties.a.enum: `a`: now also "y""#,
    ),
    (
        r#"{"type":"string"}"#,
        r#"{"type":"string","enum":["y"]}"#,
        r#"Narrowed properties.a.enum: `a`: only "y""#,
    ),
    (
        r#"{"type":"string","const":"y"}"#,
        r#"{"type":"string"}"#,
        "Widened properties.a.const: `a`: any value, no list of them",
    ),
    (
        r#"{"minimum":1}"#,
        r#"{"minimum":1.5}"#,
        "Narrowed properties.a.minimum: `a`: `minimum` is 1.5 now",
    ),
    (
        r#"{"maxLength":9}"#,
        r#"{"maxLength":10}"#,
        "Widened properties.a.maxLength: `a`: `maxLength` is 10 now",
    ),
    (
        "{}",
        r#"{"maxItems":3}"#,
        "Narrowed properties.a.maxItems: `a`: `maxItems` is 3 now",
    ),
    (
        r#"{"exclusiveMaximum":3}"#,
        "{}",
        "Widened properties.a.exclusiveMaximum: `a`: no `exclusiveMaximum` any more",
    ),
    (
        r#"{"exclusiveMaximum":3}"#,
        r#"{"exclusiveMaximum":true}"#,
        "Changed properties.a.exclusiveMaximum: `a`: another `exclusiveMaximum`",
    ),
    (
        "{}",
        r#"{"pattern":"^x"}"#,
        "Narrowed properties.a.pattern: `a`: there is a `pattern` now",
    ),
    (
        r#"{"pattern":"^x"}"#,
        r#"{"pattern":"^y"}"#,
        "Changed properties.a.pattern: `a`: another `pattern`",
    ),
    (
        "{}",
        r#"{"format":"uri"}"#,
        "Changed properties.a.format: `a`: another `format`",
    ),
    (
        "{}",
        r#"{"uniqueItems":true}"#,
        "Narrowed properties.a: `a`: elements may not repeat",
    ),
    (
        r#"{"description":"x"}"#,
        r#"{"description":"y"}"#,
        "Changed properties.a.description: `a`: another `description`",
    ),
    (
        r#"{"default":1}"#,
        "{}",
        "Changed properties.a.default: `a`: no `default` any more",
    ),
    (
        "{}",
        "false",
        "Narrowed properties.a: `a`: nothing is possible here",
    ),
    (
        "false",
        "true",
        "Widened properties.a: `a`: nothing was possible here",
    ),
    (
        r#"{"items":{"type":"string"}}"#,
        r#"{"items":{"enum":["x"]}}"#,
        r#"Narrowed properties.a.items.enum: `a[]`: only "x""#,
    ),
    (
        r#"{"prefixItems":[{},{"maximum":2}]}"#,
        r#"{"prefixItems":[{},{"maximum":1}]}"#,
        "Narrowed properties.a.prefixItems[1].maximum: `a[1]`: `maximum` is 1 now",
    ),
    (
        r#"{"properties":{"b":{"maximum":2}}}"#,
        r#"{"properties":{"b":{}}}"#,
        "Widened properties.a.properties.b.maximum: `a.b`: no `maximum` any more",
    ),
    (
        r#"{"not":{"const":1}}"#,
        r#"{"not":{"const":2}}"#,
        "Changed properties.a.not: `a`: another `not`",
    ),
];

#[test]
fn what_a_tool_takes_is_narrowed_or_widened() {
    for (left, right, expected) in TAKES {
        let found = input(&with(left), &with(right));
        assert_eq!(found.len(), 1, "{left} {right}: {found:?}");
        assert!(found[0].starts_with(expected), "{left} {right}: {found:?}");
    }
}

#[test]
fn what_means_the_same_is_no_difference() {
    for (left, right) in [
        (r#"{"type":"string"}"#, r#"{"type":["string"]}"#),
        (r#"{"const":"x"}"#, r#"{"enum":["x"]}"#),
        (r#"{"enum":[1,2]}"#, r#"{"enum":[2,1.0]}"#),
        (r#"{"enum":["x"],"type":"string"}"#, r#"{"enum":["x"]}"#),
        (r#"{"minimum":1}"#, r#"{"minimum":1.0}"#),
        (r#"{"minLength":0}"#, "{}"),
        ("true", "{}"),
        (
            r#"{"additionalProperties":true}"#,
            r#"{"additionalProperties":{}}"#,
        ),
        (r#"{"uniqueItems":false}"#, "{}"),
        (
            r#"{"allOf":[{"type":"string"},{"maxLength":3}]}"#,
            r#"{"type":"string","maxLength":3}"#,
        ),
        (
            r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#,
            r#"{"anyOf":[{"type":"null"},{"type":"string"}]}"#,
        ),
        (
            r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#,
            r#"{"type":["string","null"]}"#,
        ),
        (r#"{"required":["b","c"]}"#, r#"{"required":["c","b"]}"#),
        (r#"{"$comment":"x","$schema":"y"}"#, "{}"),
    ] {
        let found = input(&with(left), &with(right));
        // Two variants beside none cannot be told apart by one type.
        let found: Vec<_> = found
            .iter()
            .filter(|found| !found.contains("variants on one side"))
            .collect();
        assert_eq!(found, Vec::<&String>::new(), "{left} {right}");
        let back = input(&with(right), &with(left));
        assert!(
            back.iter()
                .all(|found| found.contains("variants on one side"))
        );
    }
}

const AB: &str = r#"{"properties":{"a":{},"b":{}},"required":["a"]}"#;

#[test]
fn properties_come_and_go() {
    let a = r#"{"properties":{"a":{}},"required":["a"]}"#;
    let required = r#"{"properties":{"a":{},"b":{}},"required":["a","b"]}"#;
    let closed = r#"{"properties":{"a":{}},"required":["a"],"additionalProperties":false}"#;
    assert_eq!(
        input(a, AB),
        ["Offered properties.b: `b`: is a new optional property"]
    );
    assert_eq!(
        input(a, required),
        ["Narrowed required: `b`: is a new required property"]
    );
    assert_eq!(
        input(AB, required),
        ["Narrowed required: `b`: is required now"]
    );
    assert_eq!(
        input(required, AB),
        ["Widened required: `b`: is optional now"]
    );
    assert_eq!(
        input(AB, a),
        ["Dropped properties.b: `b`: is no longer described, and may have no effect any more"]
    );
    assert_eq!(
        input(AB, closed),
        [
            "Narrowed properties.b: `b`: is refused now",
            "Narrowed additionalProperties: other properties are refused now",
        ]
    );
    assert_eq!(
        input(closed, a),
        ["Widened additionalProperties: other properties may be there now"]
    );
    assert_eq!(
        input(
            r#"{"additionalProperties":{"type":"string"}}"#,
            r#"{"additionalProperties":{"type":["string","null"]}}"#
        ),
        ["Widened additionalProperties.type: `*`: also takes null"]
    );
    assert_eq!(
        input(
            r#"{"patternProperties":{"^x":{"maximum":2}}}"#,
            r#"{"patternProperties":{"^x":{"maximum":1}}}"#
        ),
        [r#"Narrowed patternProperties["^x"].maximum: `(/^x/)`: `maximum` is 1 now"#]
    );
}

#[test]
fn what_a_tool_gives_is_the_other_way_round() {
    let a = r#"{"properties":{"a":{}},"required":["a"]}"#;
    let required = r#"{"properties":{"a":{},"b":{}},"required":["a","b"]}"#;
    assert_eq!(
        output(AB, a),
        ["Widened properties.b: `b`: is no longer promised"]
    );
    assert_eq!(
        output(required, a),
        ["Widened properties.b: `b`: is no longer promised"]
    );
    assert_eq!(
        output(required, AB),
        ["Widened required: `b`: may be missing now"]
    );
    assert_eq!(
        output(AB, required),
        ["Narrowed required: `b`: is always there now"]
    );
    assert_eq!(
        output(a, required),
        ["Offered required: `b`: is a new property that is always there"]
    );
    assert_eq!(
        output(a, AB),
        ["Offered properties.b: `b`: is a new property that may be there"]
    );
    assert_eq!(
        output(
            &with(r#"{"type":"string"}"#),
            &with(r#"{"type":["string","null"]}"#)
        ),
        ["Widened properties.a.type: `a`: may now be null"]
    );
    // Whoever reads another type fails, whichever way round.
    assert_eq!(
        output(
            &with(r#"{"type":"string"}"#),
            &with(r#"{"type":"integer"}"#)
        ),
        ["Widened properties.a.type: `a`: is integer instead of string"]
    );
}

#[test]
fn references_are_followed_and_may_go_round() {
    let tree = |kind: &str| {
        format!(
            r##"{{"$ref":"#/$defs/node","$defs":{{"node":{{"properties":{{
                "value":{{"type":"{kind}"}},"next":{{"$ref":"#/$defs/node"}}}}}}}}}}"##
        )
    };
    assert_eq!(input(&tree("string"), &tree("string")), [""; 0]);
    let found = input(&tree("number"), &tree("integer"));
    assert_eq!(found.len(), 1, "{found:?}");
    let inline = r#"{"properties":{"value":{"type":"string"},"next":{}}}"#;
    let found = input(&tree("string"), inline);
    // What `next` takes is wider without its description.
    assert!(
        found.iter().all(|found| !found.starts_with("Narrowed")),
        "{found:?}"
    );
    for (left, right, differ) in [
        ("http://x/y", "http://x/y", false),
        ("http://x/y", "http://x/z", true),
        ("#/nowhere", "#/nowhere", false),
        ("#/a~1b/0", "#/a~1b/0", false),
    ] {
        let schema = |to: &str| format!(r#"{{"$ref":"{to}","a/b":[{{"$ref":"{to}"}}]}}"#);
        let found = input(&schema(left), &schema(right));
        assert_eq!(!found.is_empty(), differ, "{left} {right} {found:?}");
    }
    assert_eq!(input(r##"{"$ref":"#"}"##, r##"{"$ref":"#"}"##), [""; 0]);
}

#[test]
fn variants_are_known_by_what_they_are_called() {
    let any = |variants: &str| format!(r#"{{"anyOf":[{variants}]}}"#);
    let (x, y) = (
        r#"{"title":"X","properties":{"k":{"const":"x"}}}"#,
        r#"{"title":"Y","properties":{"k":{"const":"y"}}}"#,
    );
    assert_eq!(
        input(&any(&format!("{x},{y}")), &any(y)),
        ["Narrowed anyOf[0]: `(variant 1)`: this variant is gone"]
    );
    assert_eq!(
        input(&any(y), &any(&format!("{x},{y}"))),
        ["Widened anyOf[0]: `(variant 1)`: this variant is new"]
    );
    let other = r#"{"title":"X","properties":{"k":{"const":"z"}}}"#;
    assert_eq!(
        input(&any(&format!("{x},{y}")), &any(&format!("{y},{other}"))),
        [
            r#"Narrowed anyOf[0].properties.k.const: `(variant 1).k`: no longer "x""#,
            r#"Widened anyOf[0].properties.k.const: `(variant 1).k`: now also "z""#,
        ]
    );
    // As generators write it when a property becomes optional.
    assert_eq!(
        input(
            &with(r#"{"type":"string","maxLength":3}"#),
            &with(r#"{"anyOf":[{"type":"string","maxLength":3},{"type":"null"}]}"#)
        ),
        ["Widened properties.a.type: `a`: also takes null"]
    );
    assert_eq!(
        input(
            &with(r#"{"type":"string"}"#),
            &with(r#"{"anyOf":[{"type":"string","maxLength":3},{"type":"null"}]}"#)
        ),
        [
            "Widened properties.a.type: `a`: also takes null",
            "Narrowed properties.a.maxLength: `a`: `maxLength` is 3 now",
        ]
    );
}

#[test]
fn hostile_schemas_end_and_say_so() {
    // Every property of one leads to every property of the other.
    let web = |prefix: &str, count: usize| {
        let definition = |at: usize| {
            let others: Vec<_> = (0..count)
                .map(|to| {
                    format!(
                        r##""p{to}":{{"$ref":"#/$defs/{prefix}{}"}}"##,
                        (at + to) % count
                    )
                })
                .collect();
            format!(
                r#""{prefix}{at}":{{"properties":{{{}}}}}"#,
                others.join(",")
            )
        };
        let definitions: Vec<_> = (0..count).map(definition).collect();
        format!(
            r##"{{"$ref":"#/$defs/{prefix}0","$defs":{{{}}}}}"##,
            definitions.join(",")
        )
    };
    assert_eq!(input(&web("l", 7), &web("r", 7)), [""; 0]);
    let found = input(&web("l", 97), &web("r", 101));
    assert!(found.len() <= MAX_FOUND);
    let deep = |leaf: &str| {
        let open = r#"{"properties":{"a":"#.repeat(150);
        format!("{open}{leaf}{}", "}}".repeat(150))
    };
    let found = input(&deep("true"), &deep("false"));
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("too much of the schema"), "{found:?}");
    let many = |value: &str| {
        let properties: Vec<_> = (0..500).map(|at| format!("\"p{at}\":{value}")).collect();
        format!(r#"{{"properties":{{{}}}}}"#, properties.join(","))
    };
    let [left, right] = [many("true"), many("false")];
    let [left, right] = [&left, &right].map(|text| Document::parse(text.as_bytes()).expect("JSON"));
    let mut work = Work::default();
    let outcome = compare(
        Role::Input,
        Some(left.root()),
        Some(right.root()),
        &mut work,
    );
    assert_eq!(outcome.found.len(), MAX_FOUND);
    assert_eq!(outcome.more, [(Effect::Narrowed, 500 - 100)].into());
    let mut none = Work(10);
    let outcome = compare(
        Role::Input,
        Some(left.root()),
        Some(right.root()),
        &mut none,
    );
    assert!(
        outcome
            .found
            .iter()
            .any(|found| found.sentence.contains("too much"))
    );
}

/// Schemas with few keywords, so that two of them share parts.
fn schema() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("true".to_owned()),
        Just("false".to_owned()),
        Just(r#"{"type":"string","maxLength":3}"#.to_owned()),
        Just(r#"{"enum":["x",1,null]}"#.to_owned()),
        Just(r##"{"$ref":"#"}"##.to_owned()),
        "[a-z0-9{}\\[\\]\":,]{0,12}".prop_map(|text| {
            if Document::parse(text.as_bytes()).is_ok() {
                text
            } else {
                "7".to_owned()
            }
        }),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let list = prop::collection::vec(inner.clone(), 1..3).prop_map(|all| all.join(","));
        prop_oneof![
            inner.clone().prop_map(|a| with(&a)),
            inner.prop_map(|a| format!(r#"{{"items":{a},"required":["a"]}}"#)),
            list.clone()
                .prop_map(|all| format!(r#"{{"anyOf":[{all}]}}"#)),
            list.clone()
                .prop_map(|all| format!(r#"{{"allOf":[{all}],"title":"t"}}"#)),
            list.prop_map(|all| format!(r#"{{"prefixItems":[{all}]}}"#)),
        ]
    })
}

proptest! {
    #[test]
    fn a_schema_beside_itself_has_no_difference(schema in schema()) {
        prop_assert_eq!(input(&schema, &schema), [""; 0]);
        prop_assert_eq!(output(&schema, &schema), [""; 0]);
    }

    #[test]
    fn any_two_schemas_are_compared(left in schema(), right in schema()) {
        // What one way finds nothing in, the other way does not either.
        let (there, back) = (input(&left, &right), input(&right, &left));
        prop_assert_eq!(there.is_empty(), back.is_empty(), "{:?} {:?}", there, back);
    }
}
