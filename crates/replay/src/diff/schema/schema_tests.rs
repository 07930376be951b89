use super::super::lists;
use super::Role;
use mcpreel_wire::json::Document;

/// `CLASS PATH: SENTENCE`, one for each difference.
fn found(role: Role, left: &str, right: &str) -> Vec<String> {
    let [left, right] = [left, right]
        .map(|text| Document::parse(text.as_bytes()).unwrap_or_else(|e| panic!("{text}: {e}")));
    lists::lists_tests::schemas(role, left.root(), right.root())
}

/// An object schema with one property `a`.
fn with(a: &str) -> String {
    format!(r#"{{"type":"object","properties":{{"a":{a}}}}}"#)
}

/// What a property was, what it is, and what that means for callers of the tool.
const INPUT: &[(&str, &str, &str)] = &[
    (
        "{}",
        r#"{"type":"integer"}"#,
        "breaking type: input narrowed: `a`: takes only integer",
    ),
    (
        r#"{"type":"number"}"#,
        r#"{"type":"integer"}"#,
        "breaking type: input narrowed: `a`: no longer takes number with a fraction",
    ),
    (
        r#"{"type":"string"}"#,
        r#"{"type":["string","null"]}"#,
        "added type: input widened: `a`: also takes null",
    ),
    (
        r#"{"type":"string"}"#,
        r#"{"type":"integer"}"#,
        "breaking type: input narrowed: `a`: takes integer instead of string",
    ),
    (
        r#"{"enum":["x","y"]}"#,
        r#"{"enum":["y"]}"#,
        r#"breaking enum: input narrowed: `a`: no longer "x""#,
    ),
    (
        r#"{"enum":["x"]}"#,
        r#"{"enum":["y","x"]}"#,
        r#"added enum: input widened: `a`: now also "y""#,
    ),
    (
        r#"{"type":"string","const":"y"}"#,
        r#"{"type":"string"}"#,
        "added const: input widened: `a`: any value, no list of them",
    ),
    (
        r#"{"minimum":1}"#,
        r#"{"minimum":1.5}"#,
        "breaking minimum: input narrowed: `a`: `minimum` is 1.5 now",
    ),
    (
        r#"{"maxLength":9}"#,
        r#"{"maxLength":10}"#,
        "added maxLength: input widened: `a`: `maxLength` is 10 now",
    ),
    (
        r#"{"exclusiveMaximum":3}"#,
        "{}",
        "added exclusiveMaximum: input widened: `a`: no `exclusiveMaximum` any more",
    ),
    (
        r#"{"exclusiveMaximum":3}"#,
        r#"{"exclusiveMaximum":true}"#,
        "changed exclusiveMaximum: input: `a`: another `exclusiveMaximum`",
    ),
    (
        "{}",
        r#"{"pattern":"^x"}"#,
        "changed pattern: input: `a`: `pattern` is new",
    ),
    (
        r#"{"description":"x"}"#,
        r#"{"description":"y"}"#,
        "changed description: input: `a`: another `description`",
    ),
    (
        r#"{"type":"string"}"#,
        r#"{"anyOf":[{"type":"string"},{"type":"null"}]}"#,
        "changed anyOf: input: `a`: `anyOf` is new",
    ),
    ("{}", "false", "changed : input: `a`: takes other values"),
    (
        r#"{"items":{"type":"string"}}"#,
        r#"{"items":{"type":"string","enum":["x"]}}"#,
        r#"breaking items.enum: input narrowed: `a[]`: only "x""#,
    ),
    (
        r#"{"properties":{"b":{"maximum":2}}}"#,
        r#"{"properties":{"b":{}}}"#,
        "added properties.b.maximum: input widened: `a.b`: no `maximum` any more",
    ),
    (
        r#"{"additionalProperties":true}"#,
        r#"{"additionalProperties":false}"#,
        "breaking additionalProperties: input narrowed: `a`: other properties are refused now",
    ),
    (
        r#"{"additionalProperties":{"type":"string"}}"#,
        r#"{"additionalProperties":{"type":"integer"}}"#,
        "breaking additionalProperties.type: input narrowed: `a.*`: takes integer instead of string",
    ),
];

#[test]
fn each_property_is_narrowed_widened_or_changed() {
    for (left, right, expected) in INPUT {
        let found = found(Role::Input, &with(left), &with(right));
        let found: Vec<_> = found
            .iter()
            .map(|line| {
                line.replace("properties.a.", "")
                    .replace("properties.a:", ":")
            })
            .collect();
        assert_eq!(found, [*expected], "{left} {right}");
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
        (r#"{"$schema":"a","$id":"x"}"#, "{}"),
    ] {
        for role in [Role::Input, Role::Output] {
            let found = found(role, &with(left), &with(right));
            assert_eq!(found, [""; 0], "{left} {right}");
        }
    }
}

#[test]
fn properties_come_and_go_and_are_required_or_not() {
    let object = |properties: &[&str], required: &str, rest: &str| {
        let all: Vec<_> = properties
            .iter()
            .map(|name| format!(r#""{name}":{{}}"#))
            .collect();
        format!(
            r#"{{"properties":{{{}}},"required":[{required}]{rest}}}"#,
            all.join(",")
        )
    };
    let (b, closed) = (r#""b""#, r#","additionalProperties":false"#);
    for (left, right, input, output) in [
        (
            object(&["a"], "", ""),
            object(&["a", "b"], b, ""),
            "breaking required: input narrowed: `b`: is a new required property",
            "added required: output: `b`: is a new property that is always there",
        ),
        (
            object(&["b"], "", ""),
            object(&["b"], b, ""),
            "breaking required: input narrowed: `b`: is required now",
            "added required: output narrowed: `b`: is always there now",
        ),
        (
            object(&["b"], b, ""),
            object(&["b"], "", ""),
            "added required: input widened: `b`: is optional now",
            "breaking required: output widened: `b`: may be missing now",
        ),
        (
            object(&["a"], "", ""),
            object(&["a", "b"], "", ""),
            "added properties.b: input: `b`: is a new optional property",
            "added properties.b: output: `b`: is a new property that may be there",
        ),
        (
            object(&["a", "b"], b, ""),
            object(&["a"], "", ""),
            "changed properties.b: input: `b`: is no longer described, and may have no effect any \
             more",
            "breaking properties.b: output widened: `b`: is no longer promised",
        ),
        (
            object(&["a", "b"], "", closed),
            object(&["a"], "", closed),
            "breaking properties.b: input narrowed: `b`: is refused now",
            "breaking properties.b: output widened: `b`: is no longer promised",
        ),
    ] {
        assert_eq!(found(Role::Input, &left, &right), [input]);
        assert_eq!(found(Role::Output, &left, &right), [output]);
    }
}

#[test]
fn definitions_are_compared_by_name() {
    let schema = |kind: &str| {
        format!(
            r##"{{"properties":{{"a":{{"$ref":"#/$defs/T"}}}},"$defs":{{"T":{{"type":"{kind}"}}}}}}"##
        )
    };
    assert_eq!(
        found(Role::Input, &schema("string"), &schema("integer")),
        ["breaking $defs.T.type: input narrowed: `(T)`: takes integer instead of string"]
    );
}
