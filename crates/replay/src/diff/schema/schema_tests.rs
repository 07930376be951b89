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
        &mut |place, class, sentence, _| {
            let (class, path) = (class.as_str(), Path::new(place.to_vec()));
            all.push(format!("{class} {path}: {sentence}"));
        },
    );
    all
}

/// What a property `a` was, what it is, and what that means for callers of the tool.
const INPUT: &str = r#"
{} <> {"type":"integer"} <> changed type: input: `a`: `type` is new
{"type":"number"} <> {"type":"integer"} <> breaking type: input narrowed: `a`: the type is integer now, was number
{"type":"string"} <> {"type":["string","null"]} <> added type: input widened: `a`: the type is null or string now, was string
{"type":"string"} <> {"type":"integer"} <> breaking type: input: `a`: the type is integer now, was string
{"enum":["x","y"]} <> {"enum":["y"]} <> breaking enum: input narrowed: `a`: no longer "x"
{"enum":["x"]} <> {"enum":["y","x"]} <> added enum: input widened: `a`: now also "y"
{"const":"y"} <> {} <> added const: input widened: `a`: no `const` any more
{"minimum":1} <> {"minimum":1.5} <> breaking minimum: input narrowed: `a`: `minimum` is 1.5 now
{"maxLength":9} <> {"maxLength":10} <> added maxLength: input widened: `a`: `maxLength` is 10 now
{"maximum":3} <> {} <> added maximum: input widened: `a`: no `maximum` any more
{"exclusiveMaximum":3} <> {"exclusiveMaximum":true} <> changed exclusiveMaximum: input: `a`: another `exclusiveMaximum`
{} <> {"pattern":"^x"} <> changed pattern: input: `a`: `pattern` is new
{} <> false <> changed : input: `a`: takes other values
{"items":{}} <> {"items":{"enum":["x"]}} <> breaking items.enum: input narrowed: `a[]`: `enum` is ["x"] now
{"properties":{"b":{"maximum":2}}} <> {"properties":{"b":{}}} <> added properties.b.maximum: input widened: `a.b`: no `maximum` any more
{"additionalProperties":true} <> {"additionalProperties":false} <> changed additionalProperties: input: `a`: another `additionalProperties`
{"additionalProperties":{"maximum":1}} <> {"additionalProperties":{}} <> added additionalProperties.maximum: input widened: `a.*`: no `maximum` any more
{"$defs":{"T":{"maximum":1}}} <> {"$defs":{"T":{}}} <> added $defs.T.maximum: input widened: `a(T)`: no `maximum` any more
{"type":"string"} <> {"type":["string"]} <>
{"const":"x"} <> {"enum":["x"]} <>
{"enum":[1,2]} <> {"enum":[2,1.0]} <>
{"minimum":1} <> {"minimum":1.0} <>
{"$schema":"a","$id":"x"} <> {} <>"#;

#[test]
fn each_property_is_narrowed_widened_or_changed() {
    for case in INPUT.lines().skip(1) {
        let mut parts = case.split("<>").map(str::trim);
        let mut next = || parts.next().expect("three parts");
        let (left, right, expected) = (next(), next(), next());
        let with = |a: &str| format!(r#"{{"type":"object","properties":{{"a":{a}}}}}"#);
        let found = found(Role::Input, &with(left), &with(right)).join("\n");
        let found = found
            .replace("properties.a.", "")
            .replace("properties.a:", ":");
        assert_eq!(found, expected, "{case}");
    }
}

#[test]
fn what_is_taken_and_given_has_opposite_classes() {
    let object = |properties: &[&str], required: &str| {
        let all = properties.iter().map(|name| format!(r#""{name}":{{}}"#));
        let all = all.collect::<Vec<_>>().join(",");
        format!(r#"{{"properties":{{{all}}},"required":[{required}]}}"#)
    };
    let b = r#""b""#;
    for (left, right, input, output) in [
        (
            r#"{"type":["string","null"]}"#.to_owned(),
            r#"{"type":"string"}"#.to_owned(),
            "breaking type: input narrowed: the type is string now, was null or string",
            "added type: output narrowed: the type is string now, was null or string",
        ),
        (
            object(&["a"], ""),
            object(&["a", "b"], b),
            "breaking required: input narrowed: `b`: is a new required property",
            "added required: output: `b`: is a new property that is always there",
        ),
        (
            object(&["b"], ""),
            object(&["b"], b),
            "breaking required: input narrowed: `b`: is required now",
            "added required: output narrowed: `b`: is required now",
        ),
        (
            object(&["b"], b),
            object(&["b"], ""),
            "added required: input widened: `b`: is optional now",
            "breaking required: output widened: `b`: is optional now",
        ),
        (
            object(&["a"], ""),
            object(&["a", "b"], ""),
            "added properties.b: input: `b`: is a new optional property",
            "added properties.b: output: `b`: is a new optional property",
        ),
        (
            object(&["a", "b"], b),
            object(&["a"], ""),
            "breaking properties.b: input narrowed: `b`: is not taken any more",
            "breaking properties.b: output widened: `b`: is no longer promised",
        ),
    ] {
        assert_eq!(found(Role::Input, &left, &right), [input]);
        assert_eq!(found(Role::Output, &left, &right), [output]);
    }
}
