//! What an outline keeps, and that it is always a text of its own.

use super::*;
use crate::json::{Document, Value};
use proptest::prelude::*;

fn outline(text: &str) -> String {
    let out = Outline::of(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    let out = String::from_utf8(out).unwrap();
    assert!(out.len() <= OUTLINE_BYTES);
    Document::parse(out.as_bytes()).unwrap_or_else(|error| panic!("{error}: {out}"));
    out
}

fn at(outline: &str, path: &[&str]) -> String {
    let document = Document::parse(outline.as_bytes()).unwrap();
    let value = path
        .iter()
        .fold(document.root(), |value, key| value.get(key).unwrap());
    String::from_utf8(value.raw().to_vec()).unwrap()
}

#[test]
fn what_says_which_message_it_is_survives_wherever_it_stands() {
    let long = "x".repeat(2_000_000);
    let front = format!(
        r#"{{"jsonrpc":"2.0","id":"the-id","method":"tools/call","params":{{"name":"write","_meta":{{"progressToken":7}},"arguments":{{"text":"{long}"}}}}}}"#
    );
    let back = format!(
        r#"{{"params":{{"arguments":{{"text":"{long}"}},"_meta":{{"a":"{long}","progressToken":7}},"name":"write"}},"method":"tools/call","id":"the-id","jsonrpc":"2.0"}}"#
    );
    for text in [front, back] {
        let out = outline(&text);
        assert!(out.len() < 10_000);
        assert_eq!(at(&out, &["id"]), "\"the-id\"");
        assert_eq!(at(&out, &["method"]), "\"tools/call\"");
        assert_eq!(at(&out, &["params", "name"]), "\"write\"");
        assert_eq!(at(&out, &["params", "_meta", "progressToken"]), "7");
        assert!(at(&out, &["params", "arguments", "text"]).ends_with("x…\""));
    }
}

#[test]
fn a_flood_of_payload_costs_no_id_its_place() {
    let members: Vec<String> = (0..100_000).map(|n| format!("\"k{n}\":\"v{n}\"")).collect();
    let flood = members.join(",");
    let id = "i".repeat(50_000);
    let text = format!(
        r#"{{{flood},"result":{{{flood},"_meta":{{{flood},"progressToken":9}},"isError":true}},"id":"{id}"}}"#
    );
    let out = outline(&text);
    assert_eq!(at(&out, &["id"]), format!("\"{id}\""));
    assert_eq!(at(&out, &["result", "_meta", "k0"]), "\"v0\"");
    assert_eq!(at(&out, &["result", "_meta", "progressToken"]), "9");
}

#[test]
fn bytes_that_are_no_json_have_no_outline() {
    for text in [
        "",
        "\n",
        "[INFO] up",
        "{'a':1}",
        "{\"a\" 1}",
        "{\"a\":1,}",
        "[1,]",
        "[1 2]",
        "{\"a\":1]",
        "01",
        "-x",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"a\tb\"",
        "{\"id\":3,\"res",
        "{} {}",
        "1\0",
        "trux",
        "tru",
        "\u{feff}",
        "1.",
        "[1.,2]",
        "\"\\",
        "[tr]",
        "{\"a\":1 \"b\"}",
    ] {
        let error = Outline::of(text.as_bytes()).unwrap_err();
        if !text.starts_with('\u{feff}') {
            assert_eq!(
                Some(error),
                Document::parse(text.as_bytes()).err(),
                "{text:?}"
            );
        }
    }
    assert!(Outline::of(b"\xef\xbb{}").is_err());
    assert!(Outline::of(b" \xbb\xbf{}").is_err());
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<f64>().prop_map(serde_json::Value::from),
        ".{0,400}".prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(12, 128, 48, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..48).prop_map(serde_json::Value::from),
            prop::collection::hash_map(".{0,8}", inner, 0..48)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

fn chunked(text: &[u8], cuts: &[usize]) -> Result<Vec<u8>, SyntaxError> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
    cuts.extend([0, text.len()]);
    cuts.sort_unstable();
    let mut outline = Outline::new();
    cuts.windows(2)
        .for_each(|pair| outline.push(&text[pair[0]..pair[1]]));
    outline.finish()
}

proptest! {
    #[test]
    fn the_outline_of_any_json_is_json_of_the_same_kind(
        result in json(),
        id in any::<u32>(),
        cuts in prop::collection::vec(any::<usize>(), 0..20),
    ) {
        let text = format!("{{\"result\":{result},\"method\":\"m\",\"id\":{id}}}");
        let out = Outline::of(text.as_bytes()).unwrap();
        let document = Document::parse(&out).unwrap();
        let root = document.root();
        prop_assert_eq!(root.get("id").unwrap().raw_text(), id.to_string());
        prop_assert!(root.get("method").unwrap().is_str("m"));
        let whole = Document::parse(text.as_bytes()).unwrap();
        let kind = |value: Value<'_>| value.get("result").unwrap().kind();
        prop_assert_eq!(kind(root), kind(whole.root()));
        prop_assert_eq!(chunked(text.as_bytes(), &cuts).unwrap(), out);
    }

    #[test]
    fn an_outline_judges_as_a_document_does(
        parts in prop::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"a\"", "\"", "\\", "\\u00e9", "1", "-", "0", ".5", "e1",
            "true", "fals", "null", " ", "\n", "\t", "é",
        ]), 0..14),
        cuts in prop::collection::vec(any::<usize>(), 0..5),
    ) {
        let text = parts.concat();
        let whole = Outline::of(text.as_bytes());
        prop_assert_eq!(whole.is_ok(), Document::parse(text.as_bytes()).is_ok(), "{}", text);
        prop_assert_eq!(chunked(text.as_bytes(), &cuts), whole);
    }
}
