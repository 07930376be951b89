//! One text for all texts that mean the same.

use super::string::Unit;
use super::value::{Kind, Value};
use std::borrow::Cow;
use std::fmt::Write;

/// The canonical text of `value`: no white space, members sorted by the canonical text of their
/// names and each name once (the last counts), numbers in the normal form of [`Number`](super::Number), strings with as few
/// escapes as the grammar allows. Two values are equal exactly if their canonical texts are,
/// except that all bytes that are no UTF-8 count as U+FFFD.
pub fn canonical(value: Value<'_>) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

/// Recursion is bounded by the depth that a document may have.
fn write(value: Value<'_>, out: &mut String) {
    match value.kind() {
        Kind::Null | Kind::Bool => out.push_str(&value.raw_text()),
        Kind::Number => match value.number() {
            Some(number) => out.push_str(&number.to_string()),
            None => out.push_str(&value.raw_text()),
        },
        Kind::String => string(value, out),
        Kind::Array => {
            out.push('[');
            for (index, element) in value.elements().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(element, out);
            }
            out.push(']');
        }
        Kind::Object => object(value, out),
    }
}

fn object(object: Value<'_>, out: &mut String) {
    let mut members: Vec<(Cow<'_, str>, Value<'_>)> = object
        .members()
        .map(|(key, value)| (name(key), value))
        .collect();
    members.sort_by(|(a, _), (b, _)| a.cmp(b));
    out.push('{');
    let counting = members.chunk_by(|(a, _), (b, _)| a == b);
    for (index, (name, value)) in counting.filter_map(<[_]>::last).enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(name);
        out.push(':');
        write(*value, out);
    }
    out.push('}');
}

/// A name's canonical text, quotes included, without a copy where it is one already.
fn name(key: Value<'_>) -> Cow<'_, str> {
    if key.has_escapes() {
        let mut out = String::new();
        string(key, &mut out);
        return Cow::Owned(out);
    }
    key.raw_text()
}

fn string(value: Value<'_>, out: &mut String) {
    out.push('"');
    for unit in value.units() {
        match unit {
            Unit::Char(char) => character(char, out),
            Unit::LoneSurrogate(unit) => hex(unit, out),
            Unit::Invalid => out.push(char::REPLACEMENT_CHARACTER),
        }
    }
    out.push('"');
}

fn character(char: char, out: &mut String) {
    match char {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\0'..' ' => hex(char as u16, out),
        other => out.push(other),
    }
}

fn hex(unit: u16, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(out, "\\u{unit:04x}");
}

/// `text` as a JSON string, quotes included, as [`canonical`] writes it.
pub fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    text.chars().for_each(|char| character(char, &mut out));
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;
    use proptest::prelude::*;

    fn of(text: &[u8]) -> String {
        canonical(Document::parse(text).unwrap().root())
    }

    #[test]
    fn texts_that_mean_the_same_have_one_form() {
        let form = r#"{"":null,"a":[1,2e1,-5e-1,true],"b":{"c":"é\n\"/"}}"#;
        for text in [
            form,
            r#" { "b" : {"c":"\u00e9\u000a\u0022\/"}, "a":[1.0, 20, -0.5, true], "":null } "#,
            r#"{"a":7,"":1,"b":{"c":"é\n\"/"},"\u0061":[10e-1,2E1,-50e-2,true],"":null}"#,
        ] {
            assert_eq!(of(text.as_bytes()), form, "{text}");
        }
    }

    #[test]
    fn lone_surrogates_stay_apart() {
        assert_eq!(of(br#""\uD800x""#), r#""\ud800x""#);
        assert_ne!(of(br#""\ud800""#), of(br#""\ud801""#));
        assert_eq!(of(br#""\ud83d\ude00\u0001\u007f""#), "\"😀\\u0001\u{7f}\"");
        assert_eq!(of(b"\"\xff\""), "\"\u{fffd}\"");
    }

    fn json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            any::<i64>().prop_map(serde_json::Value::from),
            any::<f64>().prop_map(serde_json::Value::from),
            any::<String>().prop_map(serde_json::Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(serde_json::Value::from),
                prop::collection::vec((any::<String>(), inner), 0..6)
                    .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_canonical_form_is_its_own(model in json()) {
            let once = of(model.to_string().as_bytes());
            prop_assert_eq!(&of(once.as_bytes()), &once);
            let pretty = serde_json::to_string_pretty(&model).unwrap();
            prop_assert_eq!(&of(pretty.as_bytes()), &once);
            prop_assert!(serde_json::from_str::<serde_json::Value>(&once).is_ok());
        }
    }
}
