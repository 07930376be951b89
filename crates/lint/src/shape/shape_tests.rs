use super::tables::shapes;
use super::*;
use mcpreel_wire::json::Document;
use mcpreel_wire::mcp::Revision;

/// Collects where something is wrong, and how.
struct Faults(Vec<String>);

impl Visitor for Faults {
    fn wrong(&mut self, place: &Trail<'_>, detail: &dyn Fn() -> String) {
        self.0.push(format!("{}: {}", place.path(), detail()));
    }
}

/// What is wrong with the `params` or the `result` of a message for `method`.
fn faults(revision: Revision, method: &str, member: &'static str, json: &str) -> Vec<String> {
    let known = shapes(revision).method(method);
    let (base, shape) = match member {
        "result" => ("Result", &known.result),
        _ => ("RequestParams", &known.params),
    };
    let document = Document::parse(json.as_bytes()).unwrap();
    let picked = Picked {
        member,
        value: Some(document.root()),
        base,
        shape,
        rule: RULES[0],
    };
    held(Faults(Vec::new()), revision, &picked).0
}

/// For each revision a letter if the message fits it, a dot if not or if there is no such method.
fn fits(method: &str, member: &'static str, json: &str) -> String {
    let letter = |(revision, letter): (Revision, char)| {
        let known = shapes(revision).methods.contains_key(method);
        let fits = known && faults(revision, method, member, json).is_empty();
        if fits { letter } else { '.' }
    };
    Revision::ALL
        .iter()
        .copied()
        .zip("abcde".chars())
        .map(letter)
        .collect()
}

#[test]
fn messages_fit_the_revisions_that_have_what_they_use() {
    let image = r#"{"type":"image","data":"","mimeType":"m"}"#;
    let link = r#"{"type":"resource_link","uri":"a:b","name":"n"}"#;
    let cases = [
        ("tools/call", "result", r#"{"content":[]}"#.to_owned(), "abcde"),
        ("tools/call", "result", format!(r#"{{"content":[{image}]}}"#), "abcde"),
        ("tools/call", "result", format!(r#"{{"content":[{link}]}}"#), "..cde"),
        (
            "tools/call",
            "result",
            r#"{"content":[{"type":"audio","data":"","mimeType":"m"}]}"#.to_owned(),
            ".bcde",
        ),
        ("tools/call", "result", r#"{"content":null}"#.to_owned(), "....."),
        ("tools/call", "params", r#"{"name":"a","task":7}"#.to_owned(), "abc.e"),
        ("tools/call", "params", r#"{"name":"a","requestState":7}"#.to_owned(), "abcd."),
        ("tools/list", "result", r#"{"tools":[{"name":"a","title":7}]}"#.to_owned(), "ab..."),
        ("tools/list", "result", r#"{"tools":[{"name":"a","annotations":7}]}"#.to_owned(), "a...."),
        ("tools/list", "result", r#"{"tools":[{"name":"a","icons":[{}]}]}"#.to_owned(), "abc.."),
        ("tools/list", "result", r#"{"tools":[{"name":"a","execution":7}]}"#.to_owned(), "abc.e"),
        ("sampling/createMessage", "result", format!(r#"{{"role":"user","content":[{image}],"model":"m"}}"#), "...de"),
        ("elicitation/create", "params", r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#.to_owned(), "..cde"),
        ("elicitation/create", "params", r#"{"mode":"url","message":"m","url":"a:b"}"#.to_owned(), "....e"),
        ("elicitation/create", "result", r#"{"action":"accept","content":{"a":["b"]}}"#.to_owned(), "...de"),
        ("elicitation/create", "result", r#"{"action":"accept","content":{"a":0.5}}"#.to_owned(), "..cde"),
        ("completion/complete", "params", r#"{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"v"},"context":{"arguments":{"b":1}}}"#.to_owned(), "ab..."),
        ("logging/setLevel", "params", r#"{"level":"warn"}"#.to_owned(), "....."),
        ("server/discover", "result", r#"{"supportedVersions":["2026-07-28"],"capabilities":{}}"#.to_owned(), "....e"),
        ("tasks/get", "result", r#"{"taskId":"t","status":"completed","createdAt":"","lastUpdatedAt":"","ttl":null}"#.to_owned(), "...d."),
        ("tasks/get", "result", r#"{"taskId":"t","status":"completed","createdAt":"","lastUpdatedAt":"","ttlMs":null,"result":{}}"#.to_owned(), "....e"),
        ("resources/list", "params", r#"{"_meta":[]}"#.to_owned(), "....."),
        ("resources/list", "result", r#"{"resources":[{"uri":"a:b","name":"n","annotations":{"audience":["user"],"priority":1.0}}]}"#.to_owned(), "abcde"),
        ("resources/list", "result", r#"{"resources":[{"uri":"a:b","name":"n","annotations":{"priority":1.01}}]}"#.to_owned(), "....."),
        ("resources/list", "result", r#"{"resources":[{"uri":"a:b","name":"n","size":1e3}]}"#.to_owned(), "abcde"),
    ];
    for (method, member, json, expected) in cases {
        assert_eq!(fits(method, member, &json), expected, "{method} {json}");
    }
}
