//! Frames, and what is wrong with them.

use super::*;
use crate::id::RequestId;
use crate::message::Body;

fn line(text: &str) -> Content {
    classify(format!("{text}\n").as_bytes())
}

fn id(json: &str) -> RequestId {
    RequestId::from_json(json).unwrap()
}

#[test]
fn a_batch_has_parts_with_their_spans() {
    let text =
        r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}, 7 ,[],{"jsonrpc":"2.0","method":"x"}]"#;
    let content = line(text);
    assert!(content.batch);
    assert_eq!(content.problems, []);
    let parts: Vec<(u32, &str)> = content
        .messages
        .iter()
        .map(|m| (m.part, &text[m.span.clone()]))
        .collect();
    assert_eq!(
        parts,
        [
            (0, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#),
            (1, "7"),
            (2, "[]"),
            (3, r#"{"jsonrpc":"2.0","method":"x"}"#),
        ]
    );
    assert_eq!(
        content.messages[1].problems,
        [Problem::NotObject { found: "number" }]
    );
    assert_eq!(
        content.messages[2].problems,
        [Problem::NotObject { found: "array" }]
    );
    let ping = r#"{"jsonrpc":"2.0","method":"x"}"#;
    let long = line(&format!("[{}{ping}]", format!("{ping},").repeat(5000)));
    assert_eq!(long.messages.len(), MAX_PARTS);
    assert_eq!(
        long.problems,
        [Problem::BatchTooLong {
            parts: 5001,
            limit: MAX_PARTS
        }]
    );
}

#[test]
fn deep_nesting_is_told_and_the_message_is_known_all_the_same() {
    let deep = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));
    let text = format!(r#"{{"result":{{"deep":{deep}}},"id":7,"jsonrpc":"2.0"}}"#);
    let content = line(&text);
    assert_eq!(content.problems, [Problem::TooDeep { limit: 512 }]);
    assert_eq!(content.messages[0].span, 0..text.len());
    assert_eq!(content.messages[0].problems, []);
    let Body::Response(response) = &content.messages[0].body else {
        panic!("a response");
    };
    assert_eq!(response.id, Some(id("7")));
    let broken = line(&"{\"a\":".repeat(20_000));
    assert!(matches!(
        broken.problems[..],
        [
            Problem::TooDeep { .. },
            Problem::NotJson {
                offset: 100_001,
                ..
            }
        ]
    ));
}

#[test]
fn a_frame_too_large_to_hold_is_known_by_its_outline() {
    let text = format!(
        r#"{{"result":{{"tools":[{}{{}}]}},"jsonrpc":"2.0","id":7}}"#,
        "{},".repeat(100_000)
    );
    let outline = Outline::of(format!("{text}\r\n").as_bytes()).unwrap();
    let content = classify_outline(&outline);
    assert_eq!(
        content.problems,
        [Problem::CarriageReturn, Problem::OutlineOnly]
    );
    let summary = &content.messages[0].summary;
    assert!(summary.ends_with("+ tools"), "{summary}");
    let error = Outline::of(b"{\"id\":3,\"res").unwrap_err();
    let unread = classify_unread(error, false);
    let expected = Problem::NotJson {
        offset: 12,
        reason: "the text ends too early",
    };
    assert_eq!(unread.problems, [Problem::Truncated, expected]);
}

#[test]
fn a_flawed_line_is_read_all_the_same() {
    let frame = b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"method\":\"x\xff\"}\r\n";
    let content = classify(frame);
    assert_eq!(
        content.problems,
        [
            Problem::ByteOrderMark,
            Problem::CarriageReturn,
            Problem::InvalidUtf8 { offset: 31 }
        ]
    );
    assert_eq!(content.messages[0].span, 3..frame.len() - 2);
    let content = classify(br#"{"jsonrpc":"2.0","method":"x"}"#);
    assert_eq!(content.problems, [Problem::Truncated]);
    assert_eq!(content.messages.len(), 1);
    let outlined = classify_outline(b"{\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n");
    assert_eq!(outlined.problems, [Problem::OutlineOnly]);
}
