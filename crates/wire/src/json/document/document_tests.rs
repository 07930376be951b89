//! The grammar, checked against `serde_json`, and the walk.

use super::*;
use proptest::prelude::*;
use serde_json::Value as Model;

fn parse(text: &str) -> Document<'_> {
    Document::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refuse(text: &str) -> (usize, Reason) {
    match Document::parse(text.as_bytes()) {
        Ok(_) => panic!("{text} was accepted"),
        Err(error) => (error.offset, error.reason),
    }
}

/// The value as `serde_json` has it.
fn model(value: Value<'_>) -> Model {
    match value.kind() {
        Kind::Null => Model::Null,
        Kind::Bool => Model::Bool(value.as_bool().unwrap()),
        Kind::Number => serde_json::from_slice(value.raw()).unwrap(),
        Kind::String => Model::String(value.as_str().unwrap().into_owned()),
        Kind::Array => value.elements().map(model).collect(),
        Kind::Object => value
            .members()
            .map(|(key, value)| (key.as_str().unwrap().into_owned(), model(value)))
            .collect(),
    }
}

#[test]
fn spans_are_those_of_the_text() {
    let text = r#" {"a" : [1, "x\n"], "b":{}} "#;
    let document = parse(text);
    let root = document.root();
    assert_eq!(root.raw(), text.trim().as_bytes());
    assert_eq!(root.span(), 1..text.len() - 1);
    let a = root.get("a").unwrap();
    assert_eq!(a.raw(), br#"[1, "x\n"]"#);
    assert_eq!(a.index(1).unwrap().raw(), br#""x\n""#);
    assert_eq!(a.index(1).unwrap().as_str().unwrap(), "x\n");
    assert!(a.index(2).is_none());
    assert_eq!(root.get("b").unwrap().members().count(), 0);
    assert!(root.get("c").is_none());
}

#[test]
fn bytes_that_are_no_utf8_are_accepted_in_strings_only() {
    let document = Document::parse(b"{\"a\":\"\xc3\x28\"}").unwrap();
    assert_eq!(
        document.root().get("a").unwrap().as_str().unwrap(),
        "\u{fffd}("
    );
    assert!(Document::parse(b"[\xc3]").is_err());
}

#[test]
fn errors_say_where_and_why() {
    for (text, offset, reason) in [
        ("", 0, Reason::Empty),
        (" \r\n", 3, Reason::Empty),
        ("[INFO] up", 1, Reason::Value),
        ("{'a':1}", 1, Reason::Key),
        ("{\"a\" 1}", 5, Reason::Colon),
        ("{\"a\":1,}", 7, Reason::Key),
        ("[1,]", 3, Reason::Value),
        ("[1 2]", 3, Reason::ArrayEnd),
        ("{\"a\":1]", 6, Reason::ObjectEnd),
        ("[1}", 2, Reason::ArrayEnd),
        ("01", 1, Reason::Number),
        ("-x", 1, Reason::Number),
        ("\"\\x\"", 1, Reason::Escape),
        ("\"\\u12g4\"", 1, Reason::Escape),
        ("\"a\tb\"", 2, Reason::Control),
        ("{\"id\":3,\"res", 12, Reason::End),
        ("tru", 3, Reason::End),
        ("trux", 0, Reason::Value),
        ("{} {}", 3, Reason::Trailing),
        ("1\0", 1, Reason::Trailing),
    ] {
        assert_eq!(refuse(text), (offset, reason), "{text:?}");
    }
}

#[test]
fn nesting_beyond_the_limit_is_told_and_overflows_nothing() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(parse(&nested(MAX_DEPTH)).root().kind(), Kind::Array);
    let deep = (MAX_DEPTH, Reason::TooDeep { limit: MAX_DEPTH });
    assert_eq!(refuse(&nested(MAX_DEPTH + 1)), deep);
    assert_eq!(refuse(&nested(20_000)), deep);
    let objects = "{\"a\":".repeat(20_000);
    assert_eq!(refuse(&objects).1, Reason::TooDeep { limit: MAX_DEPTH });
}

/// What was read of `text`, as nested lists of the raw scalars.
fn prefix(text: &[u8], max_nodes: usize) -> (Option<String>, Option<Stopped>) {
    fn show(value: Value<'_>) -> String {
        match value.kind() {
            Kind::Array => {
                let elements: Vec<_> = value.elements().map(show).collect();
                format!("[{}]", elements.join(","))
            }
            Kind::Object => {
                let members = value.members();
                let members: Vec<_> = members
                    .map(|(key, value)| format!("{}:{}", key.raw_text(), show(value)))
                    .collect();
                format!("{{{}}}", members.join(","))
            }
            _ => value.raw_text().into_owned(),
        }
    }
    let (document, stopped) = Document::read_prefix(text, max_nodes);
    (document.map(|document| show(document.root())), stopped)
}

#[test]
fn the_beginning_of_a_text_is_read_as_far_as_it_goes() {
    for (text, read) in [
        (
            r#"{"a":[1,{"b":2}],"c":"x"}"#,
            r#"{"a":[1,{"b":2}],"c":"x"}"#,
        ),
        (r#"{"a":[1,{"b":2"#, r#"{"a":[1,{}]}"#),
        (r#"{"a":[1,{"b":2,"#, r#"{"a":[1,{"b":2}]}"#),
        (r#"{"a":[1,{"b""#, r#"{"a":[1,{}]}"#),
        (r#"{"a":[1,{"b" "#, r#"{"a":[1,{}]}"#),
        (r#"{"a":[1,{"b": "#, r#"{"a":[1,{}]}"#),
        (r#"{"a":[1,{"b":"iVBO"#, r#"{"a":[1,{"b":"iVBO}]}"#),
        (r#"["cut\"#, r#"["cut\]"#),
        (r#"{"a":1} trailing"#, r#"{"a":1}"#),
        (r#"{"a":1,'b':2}"#, r#"{"a":1}"#),
        (r#"{"a":1]"#, r#"{"a":1}"#),
    ] {
        assert_eq!(
            prefix(text.as_bytes(), 1000).0.as_deref(),
            Some(read),
            "{text}"
        );
    }
    assert_eq!(prefix(b"[INFO] up", 1000).0.as_deref(), Some("[]"));
    assert_eq!(prefix(b"up", 1000).0, None);
}

fn json() -> impl Strategy<Value = Model> {
    let leaf = prop_oneof![
        Just(Model::Null),
        any::<bool>().prop_map(Model::from),
        any::<i64>().prop_map(Model::from),
        any::<f64>().prop_map(Model::from),
        any::<String>().prop_map(Model::from),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Model::from),
            prop::collection::vec((any::<String>(), inner), 0..8)
                .prop_map(|members| Model::Object(members.into_iter().collect())),
        ]
    })
}

/// Texts that are nearly JSON: tokens thrown together.
fn tokens() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "{", "}", "[", "]", ",", ":", "\"a\"", "\"", "\\", "\\u00e9", "\"\\n\"", "1", "-", "0",
        ".5", "e", "E+1", "true", "fals", "null", " ", "\n", "\t", "\u{e9}",
    ]);
    prop::collection::vec(token, 0..12).prop_map(|tokens| tokens.concat())
}

proptest! {
    #[test]
    fn valid_texts_mean_what_serde_json_says(model_in in json()) {
        for text in [model_in.to_string(), serde_json::to_string_pretty(&model_in).unwrap()] {
            let document = parse(&text);
            prop_assert_eq!(model(document.root()), serde_json::from_str::<Model>(&text).unwrap());
        }
    }

    #[test]
    fn near_json_is_judged_as_serde_json_does(text in tokens()) {
        let ours = Document::parse(text.as_bytes()).is_ok();
        // Numbers beyond the range of f64 are the one thing that serde_json refuses.
        match serde_json::from_str::<Model>(&text) {
            Ok(_) => prop_assert!(ours, "{}", text),
            Err(error) if error.to_string().contains("out of range") => {}
            // Lone surrogates are read too.
            Err(error) if error.to_string().contains("surrogate") => {}
            Err(error) => prop_assert!(!ours, "{}: {}", text, error),
        }
    }

    #[test]
    fn every_prefix_can_be_walked(model_in in json(), at in any::<prop::sample::Index>(), max in 1usize..40) {
        let text = model_in.to_string().into_bytes();
        let cut = &text[..at.index(text.len())];
        prefix(cut, max);
        let (read, stopped) = prefix(&text, usize::MAX);
        prop_assert!(read.is_some());
        prop_assert_eq!(stopped, None);
    }

    #[test]
    fn damaged_json_never_panics(model_in in json(), at in any::<prop::sample::Index>(), byte: u8) {
        let mut text = model_in.to_string().into_bytes();
        let at = at.index(text.len());
        text[at] = byte;
        if let Ok(document) = Document::parse(&text) {
            let raw = document.root().raw();
            prop_assert!(Document::parse(raw).is_ok());
        }
        let _ = Document::parse(&text[..at]);
    }
}
