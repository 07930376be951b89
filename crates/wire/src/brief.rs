//! Texts off the wire in brief: what is remembered of an id, a name or a method.
//!
//! Any of them can be as long as a line. Whatever is remembered of messages is therefore written in
//! at most [`LONGEST`] bytes: longer texts by their beginning, their length and a digest, so that
//! they can still be told apart and compared. Bytes of a frame are never shortened.
//!
//! Different texts have different brief forms, as certainly as nobody finds two texts with one
//! SHA-256: a text that looks like a brief form, and was meant to be taken for another one, is
//! shortened as well.

use crate::json::{Kind, Value, quoted};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::fmt::Write;

/// Bytes of the longest text that is remembered as it is. Names and ids of real peers are shorter,
/// nearly all of them by far; without a limit some thousand of them fill the memory.
pub const LONGEST: usize = 512;

/// Bytes of a longer text that are kept.
const BEGINNING: usize = 256;

const AFTER_BEGINNING: &str = "… [";
const AFTER_LENGTH: &str = " bytes, sha256 ";
const HEX_DIGITS: usize = 64;

/// What is remembered of a text off the wire: most often all of it.
pub fn text(text: &str) -> Cow<'_, str> {
    if is_long(text) {
        Cow::Owned(shortened(text))
    } else {
        Cow::Borrowed(text)
    }
}

/// What is remembered of a JSON value off the wire as JSON text: of a longer one a string with the
/// [`text`] that it is, or that a string holds as it is written.
pub fn json(value: Value<'_>) -> Cow<'_, str> {
    let raw = value.raw_text();
    let inner = match value.kind() {
        Kind::String => raw.get(1..raw.len() - 1).unwrap_or_default(),
        _ => &raw,
    };
    if is_long(inner) {
        Cow::Owned(quoted(&shortened(inner)))
    } else {
        raw
    }
}

/// The brief form of what a person asks for, who may have been shown a brief form.
pub fn asked(text: &str) -> Cow<'_, str> {
    if text.len() > LONGEST {
        Cow::Owned(shortened(text))
    } else {
        Cow::Borrowed(text)
    }
}

/// Bytes of the text whose brief form, or which itself, this is.
pub fn length(text: &str) -> usize {
    length_in_brief(text).unwrap_or(text.len())
}

/// Whether this is the brief form of something longer.
pub fn is_brief(text: &str) -> bool {
    length_in_brief(text).is_some()
}

/// Whether more is off the wire than is remembered, or somebody wants it to look so.
fn is_long(text: &str) -> bool {
    text.len() > LONGEST || is_brief(text)
}

fn shortened(text: &str) -> String {
    let end = text.floor_char_boundary(BEGINNING);
    let mut brief = String::with_capacity(LONGEST);
    // Writing to a string cannot fail.
    let _ = write!(
        brief,
        "{}{AFTER_BEGINNING}{}{AFTER_LENGTH}",
        &text[..end],
        text.len()
    );
    for byte in Sha256::digest(text) {
        let _ = write!(brief, "{byte:02x}");
    }
    brief.push(']');
    brief
}

/// The length that a brief form states.
fn length_in_brief(text: &str) -> Option<usize> {
    let text = text.strip_suffix(']')?;
    let (text, digits) = text.split_at_checked(text.len().checked_sub(HEX_DIGITS)?)?;
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let text = text.strip_suffix(AFTER_LENGTH)?;
    let (_, length) = text.rsplit_once(AFTER_BEGINNING)?;
    let is_number = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
    let length = length.parse().ok().filter(|_| is_number);
    length.filter(|_| digits.bytes().all(is_hex))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    #[test]
    fn a_long_text_is_told_from_any_other_in_a_few_bytes() {
        let base = "é".repeat(30_000);
        let texts = [
            base.clone(),
            format!("{base}x"),
            format!("{base}y"),
            format!("x{base}"),
            "é".repeat(300),
        ];
        let briefs = texts.each_ref().map(|one| text(one).into_owned());
        for (at, brief) in briefs.iter().enumerate() {
            assert!(
                brief.len() <= LONGEST
                    && brief
                        .chars()
                        .zip(texts[at].chars())
                        .take(128)
                        .all(|(a, b)| a == b)
            );
            assert_eq!(length(brief), texts[at].len());
            assert!(is_brief(brief));
            assert_eq!(briefs.iter().filter(|other| *other == brief).count(), 1);
            assert_eq!(asked(&texts[at]), *brief);
            // What a person was shown is what is looked for.
            assert_eq!(asked(brief), *brief);
        }
    }

    #[test]
    fn a_text_that_pretends_to_be_the_brief_form_of_another_is_not_taken_for_it() {
        let honest = text(&"a".repeat(10_000)).into_owned();
        let forged = text(&honest).into_owned();
        assert_ne!(forged, honest);
        assert_eq!(length(&forged), honest.len());
    }

    #[test]
    fn json_stays_json() {
        let long = "1".repeat(60_000);
        for (off_the_wire, kept_whole) in [
            ("7", true),
            (r#""a\u0062""#, true),
            ("{\"a\":[1]}", true),
            (&*long, false),
            (&*format!("\"{long}\""), false),
            (&*format!("[\"\\\"{long}\"]"), false),
        ] {
            let document = Document::parse(off_the_wire.as_bytes()).unwrap();
            let kept = json(document.root());
            assert_eq!(kept == off_the_wire, kept_whole, "{kept}");
            assert!(kept.len() <= 2 * LONGEST);
            assert!(Document::parse(kept.as_bytes()).is_ok(), "{kept}");
        }
    }
}
