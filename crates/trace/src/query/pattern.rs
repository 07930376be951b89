//! Patterns for searching texts.
//!
//! Case: a needle of ASCII characters is compared with ASCII letters folded and nothing else, any
//! other one with the simple case folding of Unicode. So what a database folds (ASCII) is right
//! for an ASCII needle, and a needle with other characters is to be looked at again here.

use regex::bytes::{Regex, RegexBuilder};
use std::fmt::Write as _;

/// Compiled size of a pattern that somebody typed; a nest of counted repetitions would take
/// gigabytes.
const PATTERN_BYTES: usize = 1 << 20;

/// Compiled size of a needle: as long as a filter may be, with all its escaped forms.
const NEEDLE_BYTES: usize = 1 << 26;

/// Compiles a regular expression; without a capital letter it ignores case.
pub fn regex(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern)
        .case_insensitive(!has_capital(pattern))
        .size_limit(PATTERN_BYTES)
        .build()
}

/// The last line of an error of [`mod@regex`], which is the reason without the pattern.
pub fn reason(error: &regex::Error) -> String {
    let text = match error {
        regex::Error::CompiledTooBig(_) => return "it is too large".to_owned(),
        other => other.to_string(),
    };
    let last = text.lines().last().unwrap_or_default();
    last.trim_start_matches("error: ").to_owned()
}

/// Whether a pattern has a capital letter, those of classes such as `\S` not counted.
fn has_capital(pattern: &str) -> bool {
    let mut chars = pattern.chars();
    while let Some(char) = chars.next() {
        if char == '\\' {
            chars.next();
        } else if char.is_uppercase() {
            return true;
        }
    }
    false
}

pub fn contains(needle: &str, ignore_case: bool) -> Option<Regex> {
    build(&regex::escape(needle), needle, ignore_case)
}

/// Finds `needle` as it is, or as it may be escaped within a JSON string.
pub fn in_json(needle: &str, ignore_case: bool) -> Option<Regex> {
    let mut pattern = String::new();
    for char in needle.chars() {
        forms(char, ignore_case, &mut pattern);
    }
    build(&pattern, needle, ignore_case)
}

/// Smart case: a needle with a capital is meant exactly.
pub fn ignores_case(needle: &str) -> bool {
    !needle.contains(char::is_uppercase)
}

fn build(pattern: &str, needle: &str, ignore_case: bool) -> Option<Regex> {
    let built = RegexBuilder::new(pattern)
        .case_insensitive(ignore_case)
        .unicode(!needle.is_ascii())
        .size_limit(NEEDLE_BYTES)
        .build();
    built.ok()
}

/// All ways in which JSON may write `char` inside a string. What must not be escaped, and is not
/// by those who make JSON safe for HTML, is looked for as it is only: nobody writes `\u0061`, and
/// to look for it would make every search slow.
fn forms(char: char, ignore_case: bool, out: &mut String) {
    let plain = regex::escape(char.encode_utf8(&mut [0; 4]));
    let as_it_is = char == ' ' || char.is_ascii_graphic();
    if as_it_is && !r#""\/<>&'"#.contains(char) {
        out.push_str(&plain);
        return;
    }
    let _ = write!(out, "(?:{plain}");
    let short = match char {
        '"' => Some(r#"\\""#),
        '\\' => Some(r"\\\\"),
        '/' => Some(r"\\/"),
        '\n' => Some(r"\\n"),
        '\r' => Some(r"\\r"),
        '\t' => Some(r"\\t"),
        '\u{8}' => Some(r"\\b"),
        '\u{c}' => Some(r"\\f"),
        _ => None,
    };
    if let Some(short) = short {
        let _ = write!(out, "|{short}");
    }
    escaped_units(char, out);
    if ignore_case {
        for other in char.to_lowercase().chain(char.to_uppercase()) {
            if other != char {
                escaped_units(other, out);
            }
        }
    }
    out.push(')');
}

/// The escape by code unit, twice for a surrogate pair, its digits in either case.
fn escaped_units(char: char, out: &mut String) {
    out.push('|');
    for unit in char.encode_utf16(&mut [0; 2]) {
        let _ = write!(out, r"\\u(?i:{unit:04x})");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_needle_is_found_however_json_writes_it() {
        for (needle, text) in [
            (r#"a"b"#, r#"{"q":"a\"b"}"#),
            ("a\nb", r#""a\nb""#),
            ("/etc", r#""\/etc""#),
            ("café", r#""caf\u00e9""#),
            ("café", r#""CAF\u00C9""#),
            ("😀", r#""\ud83d\uDE00""#),
            ("<b>", r#""\u003cb\u003e""#),
            (r"C:\x", r#""C:\\x""#),
            ("é", "É"),
        ] {
            let regex = in_json(needle, ignores_case(needle)).unwrap();
            assert!(regex.is_match(text.as_bytes()), "{needle} in {text}");
        }
        assert!(!in_json("a.b", true).unwrap().is_match(b"axb"));
    }

    #[test]
    fn the_longest_needle_compiles() {
        for char in ["é", "\"", "a", "😀"] {
            let needle = char.repeat(crate::query::parse::MAX_BYTES / char.len());
            assert!(in_json(&needle, true).is_some(), "{char}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_do_not_hide_what_is_beside_them() {
        assert!(in_json("é", true).unwrap().is_match(b"\xff\xc3\xa9\xfe"));
        assert!(regex("a.c").unwrap().is_match(b"\xffabc"));
        assert!(regex(r"\SA").unwrap().is_match(b"xA"));
        assert!(!regex(r"\Sa").unwrap().is_match(b"x"));
        assert!(regex(r"\Sa").unwrap().is_match(b"xA"));
    }
}
