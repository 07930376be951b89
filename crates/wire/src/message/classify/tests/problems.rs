//! Every reason why a frame or a message is not as it should be.

use super::*;

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
