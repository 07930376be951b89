use super::*;
use crate::diff::Limits;
use proptest::prelude::*;

fn side(text: &str) -> Side<'_> {
    Side {
        text: Some(text.as_bytes()),
        wall_ns: Some(1_795_000_000_000_000_000),
    }
}

fn responses(left: &str, right: &str) -> Comparison {
    compare(Half::Response, side(left), side(right))
}

/// `path class change`, one for each difference.
fn found(comparison: &Comparison) -> Vec<String> {
    comparison
        .differences()
        .map(|(at, class)| {
            let Verdict::Differs { change, .. } = comparison.lines[at].verdict else {
                panic!("a difference is one");
            };
            let path = comparison.path(at);
            format!("{path} {} {change:?}", class.as_str())
        })
        .collect()
}

fn results(left: &str, right: &str) -> Vec<String> {
    let message = |result: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
    found(&responses(&message(left), &message(right)))
}

/// Once an answer that has its JSON in a text differed where that was only spelled otherwise, and
/// was no more than changed where a member was gone.
#[test]
fn a_text_that_is_json_is_compared_by_what_it_says() {
    let text = |json: &str| {
        let text = serde_json::to_string(json).unwrap();
        format!(r#"{{"content":[{{"type":"text","text":{text}}}]}}"#)
    };
    let was = r#"{"notes":[{"id":1,"title":"a"}],"cursor":"x"}"#;
    for (is, expected) in [
        (
            "{\n \"cursor\":\"x\",\n \"notes\":[ {\"title\":\"a\", \"id\":1.0} ]\n}",
            "",
        ),
        (
            r#"{"notes":[{"id":1}],"cursor":"y"}"#,
            ".notes[0].title breaking Removed, .cursor changed Value",
        ),
        (
            r#"{"error":"db down"}"#,
            ".notes breaking Removed, .cursor breaking Removed, .error added Added",
        ),
        ("no notes", " changed Value"),
        ("[1]", " changed Value"),
        ("{\"notes\"", " changed Value"),
    ] {
        let found = results(&text(was), &text(is)).join(", ");
        assert_eq!(
            found.replace("result.content[0].text", ""),
            expected,
            "{is}"
        );
    }
}

/// Once a resource that says when it was made differed from itself, since it says so in base64.
#[test]
fn what_is_in_base64_is_compared_by_what_it_says() {
    use base64::Engine as _;
    let coded = |text: &[u8]| base64::engine::general_purpose::STANDARD.encode(text);
    let contents = |coded: &str| format!(r#"{{"contents":[{{"uri":"demo:2","blob":"{coded}"}}]}}"#);
    let of = |left: &[u8], right: &[u8]| results(&contents(&coded(left)), &contents(&coded(right)));
    let at = "result.contents[0].blob";
    let noise = of(b"made at 4:53:25 AM", b"made at 11:02:07 PM");
    assert_eq!(noise, [format!("{at} noise Value")]);
    let other = of(b"made at 4:53:25 AM", b"read at 4:53:25 AM");
    assert_eq!(other, [format!("{at} changed Value")]);
    let json = of(
        br#"{"made":"4:53:25 AM","n":1}"#,
        br#"{"made":"4:53:26 AM","n":2}"#,
    );
    let expected = ["made noise", "n changed"].map(|found| format!("{at}.{found} Value"));
    assert_eq!(json, expected);
    // Elsewhere a word is a word.
    let word = |text: &[u8]| format!(r#"{{"structuredContent":{{"blob":"{}"}}}}"#, coded(text));
    let found = results(&word(b"at 4:53:25 AM"), &word(b"at 4:53:26 AM"));
    assert_eq!(found, ["result.structuredContent.blob changed Value"]);
}

#[test]
fn a_text_of_several_lines_is_compared_by_line() {
    let left = r#"{"id":1,"result":{"text":"one\ntwo\ntook 3 ms\nlast"}}"#;
    let right = r#"{"id":1,"result":{"text":"one\nzwei\ntook 9 ms\nlast\nmore"}}"#;
    let comparison = responses(left, right);
    let expected = [
        "result.text changed Value",
        "result.text noise Value",
        "result.text added Added",
    ];
    assert_eq!(found(&comparison), expected);
}

#[test]
fn a_difference_far_inside_a_text_is_in_its_excerpt() {
    let long = "x".repeat(5000);
    let message = |end: &str| format!(r#"{{"result":{{"t":"{long}{end}"}}}}"#);
    let (left, right) = (message("a"), message("b"));
    let comparison = responses(&left, &right);
    let (at, _) = comparison.differences().next().unwrap();
    let Verdict::Differs {
        left: Some(left), ..
    } = &comparison.lines[at].verdict
    else {
        panic!("both sides have it");
    };
    assert!(left.text.ends_with("xa\""), "{left:?}");
    assert!(left.before > 4900 && left.after == 0);
}

#[test]
fn too_much_to_compare_ends_and_says_so() {
    let deep = |leaf: &str| {
        let list = format!("[{}{leaf}]", "{\"k\":1},".repeat(100));
        format!("{}{list}{}", "[".repeat(400), "]".repeat(400))
    };
    let documents = ["1", "2"].map(|leaf| deep(leaf).into_bytes());
    let [left, right] = documents.each_ref().map(|it| Document::parse(it).unwrap());
    let terms = Terms::default();
    let mut walk = Walk::new(&terms, Half::Response, [None; 2]);
    walk.alignable = 4000;
    walk.message(left.root(), right.root());
    assert_eq!(walk.out.differences().count(), 1);
    assert!(walk.out.limits.coarse > 0);
    let many = |value: u32| {
        let members: Vec<_> = (0..30_000).map(|at| format!("\"{at}\":{value}")).collect();
        format!("{{{}}}", members.join(","))
    };
    let comparison = responses(&many(1), &many(2));
    assert!(comparison.lines.len() <= 10_000);
    assert!(comparison.limits.not_compared > 19_000);
}

/// Values with few names and few leaves, so that two of them share parts.
fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        (0u8..3).prop_map(|number| number.to_string()),
        "[ab\\\\n]{0,2}".prop_map(|text| format!("\"{}\"", text.replace('\\', "\\\\"))),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        let member =
            ("[abc]", inner.clone()).prop_map(|(name, value)| format!("\"{name}\":{value}"));
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(|all| format!("[{}]", all.join(","))),
            prop::collection::vec(member, 0..4).prop_map(|all| format!("{{{}}}", all.join(","))),
        ]
    })
}

proptest! {
    #[test]
    fn a_difference_is_found_exactly_if_there_is_one(left in json(), right in json()) {
        let canonical = |text: &str| {
            mcpreel_wire::json::canonical(Document::parse(text.as_bytes()).unwrap().root())
        };
        let comparison = responses(&left, &right);
        prop_assert_eq!(comparison.limits, Limits::default());
        let same = canonical(&left) == canonical(&right);
        prop_assert_eq!(comparison.differences().count() == 0, same, "{} {}", left, right);
    }
}
