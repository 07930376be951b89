//! What looks like a handle: something that a server made up, to be given back to it.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// Shorter texts are too likely to mean something else.
const SHORTEST: usize = 8;

const LONGEST: usize = 512;

/// Longer texts are not searched for handles.
const LONGEST_TEXT: usize = 64 * 1024;

/// What a rule says is a handle may be so short and is still not taken for something else.
const SHORTEST_TELLING: usize = 6;

/// Bits of entropy that it has at least.
const TELLING_BITS: f64 = 12.0;

/// Bits of entropy that a handle has at least, by how often its characters occur in it.
const BITS: f64 = 20.0;

/// Whether `text` looks like a handle: no white space, some digit and some letter (or digits
/// alone), and characters enough that differ. Names of tools have no digits, as a rule.
pub(super) fn is_handle(text: &str) -> bool {
    let shape = (SHORTEST..=LONGEST).contains(&text.len())
        && text
            .chars()
            .all(|char| char.is_ascii_graphic() && char != '"')
        && text.bytes().any(|byte| byte.is_ascii_digit());
    shape && !is_moment(text) && bits(text) >= BITS
}

/// Whether a handle can be told by itself wherever it stands: nobody says by chance what is as long
/// and has letters and digits. `7`, `ok` and `completed` may mean anything.
pub(super) fn is_telling(text: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| text.as_bytes().iter().any(kind);
    let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    let shape = (SHORTEST_TELLING..=LONGEST).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_graphic());
    is_handle(text) || (shape && is_mixed && !is_moment(text) && bits(text) >= TELLING_BITS)
}

/// The handles that two texts are, or have at the same places where all else in them is alike: each
/// as it was and as it is.
pub(super) fn pairs<'t>(then: &'t str, now: &'t str) -> Vec<(&'t str, &'t str)> {
    if then == now || then.len().max(now.len()) > LONGEST_TEXT {
        return Vec::new();
    }
    let whole = (is_handle(then) && is_handle(now)).then_some((then, now));
    let parts = pairs_within(then, now).into_iter();
    let parts = parts.filter(|pair| Some(*pair) != whole);
    whole.into_iter().chain(parts).collect()
}

fn pairs_within<'t>(then: &'t str, now: &'t str) -> Vec<(&'t str, &'t str)> {
    let (mut found, mut old, mut new) = (Vec::new(), Pieces(then), Pieces(now));
    loop {
        match (old.next(), new.next()) {
            (None, None) => return found,
            (Some(then), Some(now)) if then == now => {}
            (Some(then), Some(now)) if is_handle(then) && is_handle(now) => {
                found.push((then, now));
            }
            // Numbers and moments differ in any text that is about now.
            (Some(then), Some(now)) if is_word(then) && is_word(now) => {}
            _ => return Vec::new(),
        }
    }
}

/// What may be a handle of a text: all of it, and words in it.
pub fn candidates(text: &str) -> impl Iterator<Item = &str> {
    let text = if text.len() > LONGEST_TEXT { "" } else { text };
    let whole = is_handle(text).then_some(text);
    let parts = Pieces(text).filter(move |part| part.len() < text.len());
    whole
        .into_iter()
        .chain(parts.filter(|part| is_handle(part)))
}

/// `text` with the handles replaced for which there is another: all of it, or words of it. `None`
/// where there is none.
pub(super) fn replaced(
    text: &str,
    mut other: impl FnMut(&str) -> Option<String>,
) -> Option<String> {
    if let Some(other) = other(text) {
        return Some(other);
    }
    if text.len() > LONGEST_TEXT {
        return None;
    }
    let mut any = false;
    let parts: String = Pieces(text)
        .map(|part| match other(part) {
            Some(other) => {
                any = true;
                Cow::Owned(other)
            }
            None => Cow::Borrowed(part),
        })
        .collect();
    any.then_some(parts)
}

fn is_word_char(char: char) -> bool {
    char.is_alphanumeric() || char == '_' || char == '-'
}

fn is_word(part: &str) -> bool {
    part.chars().next().is_some_and(is_word_char)
}

/// A text cut into words and what is between them.
struct Pieces<'t>(&'t str);

impl<'t> Iterator for Pieces<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let word = is_word_char(self.0.chars().next()?);
        let end = self.0.find(|char| is_word_char(char) != word);
        let (piece, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        self.0 = rest;
        Some(piece)
    }
}

/// Dates and times: `2026-11-20`, `2026-11-20T15:17:03Z`.
fn is_moment(text: &str) -> bool {
    let mut bytes = text.bytes();
    let date = bytes
        .by_ref()
        .take(10)
        .enumerate()
        .all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        });
    let rest = |byte: u8| byte.is_ascii_digit() || b"Tt: .+-Zz".contains(&byte);
    date && text.len() >= 10 && bytes.all(rest)
}

/// How many bits it takes to say which of the texts with these characters it is.
fn bits(text: &str) -> f64 {
    let mut counts = BTreeMap::new();
    for byte in text.bytes() {
        *counts.entry(byte).or_insert(0_u32) += 1;
    }
    #[expect(clippy::cast_precision_loss, reason = "at most 512")]
    let length = text.len() as f64;
    let share = |count: u32| -f64::from(count) * (f64::from(count) / length).log2();
    counts.into_values().map(share).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_made_up_is_told_from_what_it_means() {
        for text in [
            "sess_8f3kd92k",
            "6fa459ea-ee8a-3ca4-894e-db77e160355e",
            "eyJhbGciOiJIUzI1NiJ9",
            "cur-00012345",
            "01HZX3Q9G7",
            "urn:job:77af31",
            "1795003817264",
        ] {
            assert!(is_handle(text), "{text}");
        }
        for text in [
            "search_docs",
            "getWeatherData",
            "short1",
            "2026-11-20T15:17:03.123Z",
            "2026-11-20",
            "two words 12345",
            "00000000000",
            "application/json",
        ] {
            assert!(!is_handle(text), "{text}");
        }
    }

    #[test]
    fn what_may_mean_something_else_is_not_telling() {
        for text in ["h-37c2", "sess_8f3kd92k", "12345678", "abc123", "urn:a7"] {
            assert!(is_telling(text), "{text}");
        }
        for text in [
            "7",
            "42",
            "12345",
            "ok",
            "failed",
            "completed",
            "aaaaa1",
            "v1",
            "2026-11-20",
            "a b 12",
        ] {
            assert!(!is_telling(text), "{text}");
        }
    }

    #[test]
    fn handles_are_found_in_texts_that_are_alike_otherwise() {
        let pairs_of = |then, now| pairs(then, now);
        assert_eq!(
            pairs_of("sess_8f3kd92k", "sess_77ab01cd"),
            [("sess_8f3kd92k", "sess_77ab01cd")]
        );
        assert_eq!(
            pairs_of(
                r#"{"session":"a1b2c3d4e5","n":3}"#,
                r#"{"session":"f6a7b8c9d0","n":4}"#
            ),
            [("a1b2c3d4e5", "f6a7b8c9d0")]
        );
        assert_eq!(
            pairs_of("db://a1b2c3d4e5/rows", "db://f6a7b8c9d0/rows"),
            [
                ("db://a1b2c3d4e5/rows", "db://f6a7b8c9d0/rows"),
                ("a1b2c3d4e5", "f6a7b8c9d0")
            ]
        );
        assert!(pairs_of("opened a1b2c3d4e5", "failed: a1b2c3d4e6").is_empty());
        assert!(pairs_of("same a1b2c3d4e5", "same a1b2c3d4e5").is_empty());
    }

    #[test]
    fn handles_are_replaced_where_they_stand() {
        let other = |part: &str| (part == "a1b2c3d4e5").then(|| "NEW".to_owned());
        assert_eq!(replaced("a1b2c3d4e5", other).unwrap(), "NEW");
        assert_eq!(replaced("id a1b2c3d4e5.", other).unwrap(), "id NEW.");
        assert_eq!(replaced("xa1b2c3d4e5", other), None);
    }
}
