//! Every reason why a frame or a message is not as it should be.

use super::*;
use Problem as P;

#[test]
fn every_frame_problem_is_told() {
    let not_json = |offset, reason| Problem::NotJson { offset, reason };
    for (frame, expected) in [
        (
            &b"{\"id\":3,\"res"[..],
            vec![Problem::Truncated, not_json(12, "the text ends too early")],
        ),
        (b"[INFO] up\n", vec![not_json(1, "expected a value")]),
        (
            b"\xef\xbb\xbf{]\n",
            vec![
                Problem::ByteOrderMark,
                not_json(4, "expected a member name in quotes"),
            ],
        ),
        (b"\n", vec![Problem::Blank]),
        (b" \t\r\n", vec![Problem::CarriageReturn, Problem::Blank]),
        (b"null\n", vec![Problem::NotObject { found: "null" }]),
        (b"true\n", vec![Problem::NotObject { found: "boolean" }]),
        (b"1\n", vec![Problem::NotObject { found: "number" }]),
        (b"\"ready\"\n", vec![Problem::NotObject { found: "string" }]),
        (b"[]\n", vec![Problem::EmptyBatch]),
        (
            b"\xc3\x28\n",
            vec![
                Problem::InvalidUtf8 { offset: 0 },
                not_json(0, "expected a value"),
            ],
        ),
        (b"\0\n", vec![not_json(0, "expected a value")]),
    ] {
        let content = classify(frame);
        assert_eq!(content.problems, expected, "{frame:x?}");
        assert!(content.messages.is_empty(), "{frame:x?}");
    }
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

/// Each message has these problems and no others.
fn assert_problems<const N: usize>(cases: [(&str, Vec<P>); N]) {
    for (text, expected) in cases {
        assert_eq!(one(text).problems, expected, "{text}");
    }
}

#[test]
fn every_problem_of_a_messages_shape_is_told() {
    assert_problems([
        (r#"{"id":1,"method":"x"}"#, vec![P::Version]),
        (r#"{"jsonrpc":"1.0","id":1,"method":"x"}"#, vec![P::Version]),
        (r#"{"jsonrpc":2.0,"id":1,"method":"x"}"#, vec![P::Version]),
        (r#"{"jsonrpc":"2.0","id":8}"#, vec![P::Unclassifiable]),
        (r#"{"jsonrpc":"2.0","method":42}"#, vec![P::MethodNotString]),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":null,"result":{}}"#,
            vec![P::MethodNotString],
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"x","result":{}}"#,
            vec![P::MethodAndResult],
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#,
            vec![P::ResultAndError],
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"x","params":["a"]}"#,
            vec![P::ParamsNotObject],
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":[]}"#,
            vec![P::ResultNotObject],
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":"it broke"}"#,
            vec![P::ErrorShape],
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#,
            vec![P::ErrorShape],
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":2}}"#,
            vec![P::ErrorShape],
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":"E_FAIL","message":""}}"#,
            vec![P::ErrorCode],
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":""}}"#,
            vec![P::ErrorCode],
        ),
    ]);
}

#[test]
fn every_problem_of_an_id_is_told() {
    assert_problems([
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"x"}"#,
            vec![P::IdNull],
        ),
        (
            r#"{"jsonrpc":"2.0","id":1.5,"method":"x"}"#,
            vec![P::IdType],
        ),
        (r#"{"jsonrpc":"2.0","id":1000.0,"method":"x"}"#, vec![]),
        (r#"{"jsonrpc":"2.0","id":{},"result":{}}"#, vec![P::IdType]),
        (
            r#"{"jsonrpc":"2.0","result":{}}"#,
            vec![P::ResponseWithoutId],
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}"#,
            vec![P::ResponseWithoutId],
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"notifications/acme"}"#,
            vec![P::NotificationWithId],
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"initialized"}"#,
            vec![P::NotificationWithId],
        ),
        (
            r#"{"jsonrpc":"2.0","method":"tools/list"}"#,
            vec![P::RequestWithoutId],
        ),
    ]);
}

#[test]
fn ambiguous_messages_are_taken_one_way() {
    let both = r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"m"}}"#;
    assert_eq!(one(both).problems, [Problem::ResultAndError]);
    assert!(matches!(response(both).outcome, Outcome::Error { .. }));
    let null = r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#;
    assert!(matches!(response(null).outcome, Outcome::Result { .. }));
    assert_eq!(request(r#"{"id":1,"id":2,"method":"x"}"#).id, id("2"));
    assert!(matches!(
        one(r#"{"jsonrpc":"2.0","method":42}"#).body,
        Body::Invalid
    ));
    assert!(matches!(one("{}").body, Body::Invalid));
}
