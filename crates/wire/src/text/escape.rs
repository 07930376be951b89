//! Hostile text made visible.
//!
//! Three spellings, so that what was there can be told from the escape: `\n`, `\r`, `\t` and
//! `\x1b` for the ASCII controls, `\u{202e}` for any other character that is obeyed or invisible,
//! and `\xff` for a byte that is no UTF-8. A backslash stays as it is: nearly everything shown is
//! JSON, which would become unreadable.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Bytes that are looked at together.
const PLAIN: usize = 32;

/// The text on one line: nothing in it moves the cursor, changes the order of reading, or hides.
pub fn escape(text: &str) -> Cow<'_, str> {
    let Some(first) = first_hostile(text) else {
        return Cow::Borrowed(text);
    };
    let mut escaped = String::with_capacity(text.len() + 16);
    escaped.push_str(&text[..first]);
    let mut previous = text[..first].chars().next_back();
    for character in text[first..].chars() {
        if is_hostile_after(character, previous) {
            push_character(&mut escaped, character);
        } else {
            escaped.push(character);
        }
        previous = Some(character);
    }
    Cow::Owned(escaped)
}

/// Like [`escape`], for bytes that may be no UTF-8.
pub fn escape_bytes(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return escape(text);
    }
    let mut escaped = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        escaped.push_str(&escape(chunk.valid()));
        for byte in chunk.invalid() {
            push_escape(&mut escaped, format_args!("\\x{byte:02x}"));
        }
    }
    Cow::Owned(escaped)
}

/// How many bytes at the beginning are plain ASCII, as nearly all that is written is: such bytes are
/// written as they are. Whole blocks of it are looked at together.
pub(super) fn plain_bytes(bytes: &[u8]) -> usize {
    let is_plain = |byte: &u8| (b' '..=b'~').contains(byte);
    let all = |block: &[u8]| block.iter().fold(true, |all, byte| all & is_plain(byte));
    let blocks = bytes.chunks_exact(PLAIN).take_while(|block| all(block));
    let start = blocks.count() * PLAIN;
    let rest = bytes[start..].iter().position(|byte| !is_plain(byte));
    rest.map_or(bytes.len(), |rest| start + rest)
}

fn first_hostile(text: &str) -> Option<usize> {
    let start = plain_bytes(text.as_bytes());
    if start == text.len() {
        return None;
    }
    let mut previous = text[..start].chars().next_back();
    for (at, character) in text[start..].char_indices() {
        let at = start + at;
        if is_hostile_after(character, previous) {
            return Some(at);
        }
        previous = Some(character);
    }
    None
}

fn push_character(into: &mut String, character: char) {
    match character {
        '\n' => into.push_str("\\n"),
        '\r' => into.push_str("\\r"),
        '\t' => into.push_str("\\t"),
        '\0'..='\x7f' => push_escape(into, format_args!("\\x{:02x}", u32::from(character))),
        _ => push_escape(into, format_args!("\\u{{{:x}}}", u32::from(character))),
    }
}

fn push_escape(into: &mut String, escape: std::fmt::Arguments<'_>) {
    into.write_fmt(escape)
        .expect("writing to a string does not fail");
}

/// Whether a terminal would obey the character, or a reader could not see it.
pub fn is_hostile(character: char) -> bool {
    is_hostile_after(character, None)
}

/// The same where it stands after another one.
fn is_hostile_after(character: char, previous: Option<char>) -> bool {
    if character.is_ascii() {
        return character.is_ascii_control();
    }
    match character {
        // A single selector of text or emoji style is ordinary; a run of them carries hidden data.
        '\u{fe0e}' | '\u{fe0f}' => previous.is_none_or(is_variation_selector),
        _ => is_control_or_order(character) || is_invisible(character),
    }
}

/// C1 controls, line and paragraph separators, and whatever changes the order of reading.
fn is_control_or_order(character: char) -> bool {
    matches!(character,
        '\u{80}'..='\u{9f}'
        | '\u{61c}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{206f}')
}

/// Characters of no width or no ink that can hide text from a reader: joiners, fillers, tags,
/// selectors, annotations, byte order marks, noncharacters.
fn is_invisible(character: char) -> bool {
    is_variation_selector(character)
        || matches!(character,
            '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200d}'
            | '\u{2060}'..='\u{2065}'
            | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{fdd0}'..='\u{fdef}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
        || u32::from(character) & 0xfffe == 0xfffe
}

/// Whether a terminal may obey it, or it changes the order of reading: what stands in no output, not
/// even in one for programs.
pub fn is_obeyed(character: char) -> bool {
    character == '\x7f' || character < ' ' || is_control_or_order(character)
}

fn is_variation_selector(character: char) -> bool {
    matches!(character, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

/// A path as it stands in a URI (RFC 3986, section 3.3): letters, digits, `-._~/` and the bytes in `plain`
/// as they are, all others percent-encoded.
pub fn uri_path(path: &[u8], plain: &[u8]) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(byte) || plain.contains(byte) {
            out.push(char::from(*byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stands_in_a_uri() {
        let path = "/tmp/a b#1@ü.reel".as_bytes();
        assert_eq!(uri_path(path, b"@"), "/tmp/a%20b%231@%C3%BC.reel");
    }

    #[test]
    fn ordinary_text_is_untouched_and_not_copied() {
        for text in [
            "plain",
            "naïve café",
            "日本語",
            "❤️ 🌧",
            "שלום",
            "{\"a\":\"\\n\"}",
        ] {
            assert!(
                matches!(escape(text), Cow::Borrowed(same) if same == text),
                "{text}"
            );
        }
    }

    #[test]
    fn nothing_hides_behind_what_is_plain() {
        for plain in 0..3 * PLAIN {
            let plain = "x".repeat(plain);
            for hostile in ["\x1b", "\u{202e}"] {
                let text = format!("{plain}{hostile}{plain}");
                assert!(!escape(&text).contains(hostile), "{text:?}");
            }
            assert_eq!(
                escape(&format!("{plain}x\u{fe0f}")),
                format!("{plain}x\u{fe0f}")
            );
        }
    }

    #[test]
    fn terminal_controls_become_text() {
        assert_eq!(escape("\x1b[31mred\x07"), "\\x1b[31mred\\x07");
        assert_eq!(escape("a\r\n\tb\0\x7f"), "a\\r\\n\\tb\\x00\\x7f");
        assert_eq!(escape("\u{9b}2J\u{85}"), "\\u{9b}2J\\u{85}");
    }

    #[test]
    fn what_changes_the_order_of_reading_becomes_text() {
        assert_eq!(escape("abc\u{202e}fdp.exe"), "abc\\u{202e}fdp.exe");
        assert_eq!(
            escape("\u{2066}x\u{2069}\u{200f}\u{61c}"),
            "\\u{2066}x\\u{2069}\\u{200f}\\u{61c}"
        );
        assert_eq!(escape("one\u{2028}two"), "one\\u{2028}two");
    }

    #[test]
    fn what_cannot_be_seen_becomes_text() {
        assert_eq!(escape("pass\u{200b}word"), "pass\\u{200b}word");
        assert_eq!(escape("\u{feff}{}"), "\\u{feff}{}");
        assert_eq!(escape("ok\u{e0041}\u{e007f}"), "ok\\u{e0041}\\u{e007f}");
        assert_eq!(
            escape("e\u{fe0f}\u{fe0f}\u{e0101}"),
            "e\u{fe0f}\\u{fe0f}\\u{e0101}"
        );
    }
}
