use super::*;
use mcpreel_wire::json::{Document, Path};

/// `CLASS PATH: SENTENCE`, one for each difference.
fn found(role: Role, left: &str, right: &str) -> Vec<String> {
    let [left, right] = [left, right]
        .map(|text| Document::parse(text.as_bytes()).unwrap_or_else(|e| panic!("{text}: {e}")));
    let mut all = Vec::new();
    compare(
        role,
        [Some(left.root()), Some(right.root())],
        &mut |found| {
            let (class, path) = (found.class.as_str(), Path::new(found.place));
            all.push(format!("{class} {path}: {}", found.sentence));
        },
    );
    all
}

/// What a property `a` was, what it is, and what that means for callers of the tool.
const INPUT: &[(&str, &str, &str)] = &[
    (
        "{}",
        r#"{"type":"integer"}"#,
        "breaking type: input narrowed: `a`: the type is integer now, was anything",
    ),
    (
        r#"{"type":"number"}"#,
        r#"{"type":"integer"}"#,
        "breaking type: input narrowed: `a`: the type is integer now, was number",
    ),
    (
        r#"{"type":"string"}"#,
        r#"{"type":["string","null"]}"#,
        "added type: input widened: `a`: the type is null or string now, was string",
    ),
    (
        r#"{"type":"string"}"#,
        r#"{"type":"integer"}"#,
        "breaking type: input narrowed: `a`: the type is integer now, was string",
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
        "added const: input widened: `a`: any value now",
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
        "breaking additionalProperties.type: input narrowed: `a.*`: the type is integer now, was \
         string",
    ),
    (
        r#"{"$defs":{"T":{"type":"string"}}}"#,
        r#"{"$defs":{"T":{"type":"integer"}}}"#,
        "breaking $defs.T.type: input narrowed: `a(T)`: the type is integer now, was string",
    ),
    // What means the same is no difference.
    (r#"{"type":"string"}"#, r#"{"type":["string"]}"#, ""),
    (r#"{"const":"x"}"#, r#"{"enum":["x"]}"#, ""),
    (r#"{"enum":[1,2]}"#, r#"{"enum":[2,1.0]}"#, ""),
    (r#"{"enum":["x"],"type":"string"}"#, r#"{"enum":["x"]}"#, ""),
    (r#"{"minimum":1}"#, r#"{"minimum":1.0}"#, ""),
    (r#"{"minLength":0}"#, "{}", ""),
    ("true", "{}", ""),
    (
        r#"{"additionalProperties":true}"#,
        r#"{"additionalProperties":{}}"#,
        "",
    ),
    (r#"{"$schema":"a","$id":"x"}"#, "{}", ""),
];

#[test]
fn each_property_is_narrowed_widened_or_changed() {
    for (left, right, expected) in INPUT {
        let with = |a: &str| format!(r#"{{"type":"object","properties":{{"a":{a}}}}}"#);
        let found = found(Role::Input, &with(left), &with(right)).join("\n");
        let found = found
            .replace("properties.a.", "")
            .replace("properties.a:", ":");
        assert_eq!(found, *expected, "{left} {right}");
    }
}

#[test]
fn what_is_taken_and_given_has_opposite_classes() {
    let object = |properties: &[&str], required: &str, rest: &str| {
        let all = properties.iter().map(|name| format!(r#""{name}":{{}}"#));
        let all = all.collect::<Vec<_>>().join(",");
        format!(r#"{{"properties":{{{all}}},"required":[{required}]{rest}}}"#)
    };
    let (b, closed) = (r#""b""#, r#","additionalProperties":false"#);
    for (left, right, input, output) in [
        (
            r#"{"type":["string","null"]}"#.to_owned(),
            r#"{"type":"string"}"#.to_owned(),
            "breaking type: input narrowed: the type is string now, was null or string",
            "added type: output narrowed: the type is string now, was null or string",
        ),
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
            "added required: output narrowed: `b`: is required now",
        ),
        (
            object(&["b"], b, ""),
            object(&["b"], "", ""),
            "added required: input widened: `b`: is optional now",
            "breaking required: output widened: `b`: is optional now",
        ),
        (
            object(&["a"], "", ""),
            object(&["a", "b"], "", ""),
            "added properties.b: input: `b`: is a new optional property",
            "added properties.b: output: `b`: is a new optional property",
        ),
        (
            object(&["a", "b"], b, ""),
            object(&["a"], "", ""),
            "changed properties.b: input: `b`: is no longer described",
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
