//! Text off the wire, safe to be shown: control characters, invisible characters and invalid
//! UTF-8 are written as escapes.

use mcpreel_wire::brief;
use std::fmt::Write;

/// Bytes that a finding shows. Without a limit a megabyte of log line would be stored twice.
const SHOWN: usize = 80;

/// The first bytes of `bytes` with everything escaped that is not plainly visible, and how many
/// more there are.
pub fn bytes(bytes: &[u8]) -> String {
    beginning(bytes, bytes.len())
}

/// The first bytes of what is `length` bytes long and begins with `bytes`.
fn beginning(bytes: &[u8], length: usize) -> String {
    let shown = &bytes[..cut(bytes)];
    let mut text = String::with_capacity(shown.len() + 24);
    for chunk in shown.utf8_chunks() {
        push_escaped(&mut text, chunk.valid());
        for byte in chunk.invalid() {
            push(&mut text, format_args!("\\x{byte:02x}"));
        }
    }
    let more = length - shown.len();
    if more > 0 {
        let noun = if more == 1 { "byte" } else { "bytes" };
        push(&mut text, format_args!("… ({more} more {noun})"));
    }
    text
}

/// The same for text, also for one that is kept in [brief].
pub fn text(text: &str) -> String {
    beginning(text.as_bytes(), brief::length(text))
}

/// Where to cut: at a character boundary, if the bytes are text there.
fn cut(bytes: &[u8]) -> usize {
    if bytes.len() <= SHOWN {
        return bytes.len();
    }
    let is_continuation = |at: &usize| bytes[*at] & 0xC0 == 0x80;
    (SHOWN - 3..=SHOWN)
        .rev()
        .find(|at| !is_continuation(at))
        .unwrap_or(SHOWN)
}

fn push_escaped(text: &mut String, valid: &str) {
    for char in valid.chars() {
        if matches!(char, '"' | '\'' | '\\') {
            text.push(char);
        } else {
            text.extend(char.escape_debug());
        }
    }
}

fn push(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = text.write_fmt(arguments);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_moves_a_cursor_or_hides_text_is_left() {
        assert_eq!(bytes(b"\x1b[2Jhi\x07\r"), "\\u{1b}[2Jhi\\u{7}\\r");
        assert_eq!(text("a\u{202e}b\u{e0068}"), "a\\u{202e}b\\u{e0068}");
        assert_eq!(bytes(b"ok \xc3\x28 \xff"), "ok \\xc3( \\xff");
        assert_eq!(text("na\u{ef}ve \"x\""), "na\u{ef}ve \"x\"");
    }

    #[test]
    fn a_long_text_is_cut_between_characters() {
        let long = format!("{}\u{20ac}\u{20ac}", "x".repeat(79));
        let shown = text(&long);
        assert_eq!(shown, format!("{}… (6 more bytes)", "x".repeat(79)));
        // Of what is kept in brief the bytes that are not kept count as well.
        let shown = text(&brief::text(&"x".repeat(60_080)));
        assert_eq!(shown, format!("{}… (60000 more bytes)", "x".repeat(80)));
    }
}
