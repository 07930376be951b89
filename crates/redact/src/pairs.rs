//! A user and a password in a list of two: `auth=("ada", "this")`, `{"auth":["ada","this"]}`.

use super::more::is_value;
use super::names::Class;
use super::plausible::{Stands, fits, looks_random};
use std::ops::Range;

const NEAR: usize = 256;

/// Where the password stands in the list that begins at `from`, if that is one of two in quotes. In
/// parentheses programs have both, in brackets lists of anything.
pub(super) fn second(text: &[u8], from: usize) -> Option<Range<usize>> {
    let near = &text[..text.len().min(from + NEAR)];
    let user = quoted(near, from + 1)?;
    let comma = past_space(near, after(near, user.end)?);
    (near.get(comma) == Some(&b',')).then_some(())?;
    let password = quoted(near, comma + 1)?;
    let close = past_space(near, after(near, password.end)?);
    let said = String::from_utf8_lossy(&near[password.clone()]);
    let is_one = match (near[from], near.get(close)?) {
        (b'(', b')') => looks_random(&said) && fits(Class::Password, &said, Stands::Alone),
        (b'[', b']') => is_made(&said),
        _ => false,
    };
    is_one.then_some(password)
}

/// Whether somebody has made a password of it: it has a digit, and a sign that no name has.
pub(super) fn is_made(said: &str) -> bool {
    let has = |test: fn(&u8) -> bool| said.as_bytes().iter().any(test);
    let is_signed = has(|byte| b"!@#$%^&*+~?".contains(byte));
    let is_mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    said.len() >= 6 && is_mixed && is_signed && fits(Class::Password, said, Stands::Whole)
        || is_value(said.as_bytes())
}

/// What stands in quotes behind white space.
fn quoted(text: &[u8], from: usize) -> Option<Range<usize>> {
    let at = past_space(text, from);
    let at = at + usize::from(text.get(at) == Some(&b'\\'));
    let quote = text.get(at).filter(|quote| matches!(quote, b'"' | b'\''))?;
    let length = memchr::memchr3(*quote, b'\n', b'\\', &text[at + 1..])?;
    (length > 0).then_some(at + 1..at + 1 + length)
}

/// Behind the quote that stands here.
fn after(text: &[u8], end: usize) -> Option<usize> {
    let at = end + usize::from(text.get(end) == Some(&b'\\'));
    matches!(text.get(at), Some(b'"' | b'\'')).then_some(at + 1)
}

fn past_space(text: &[u8], at: usize) -> usize {
    let at = at.min(text.len());
    at + text[at..]
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_of_two_is_a_password() {
        let said = |text: &'static str| second(text.as_bytes(), 0).map(|span| &text[span]);
        for text in [
            "(\"ada\", \"hunter2\")",
            "( 'ada' , 'hunter2' )",
            "[\"ada\",\"hunter2!\"]",
            "(\\\"ada\\\", \\\"hunter2\\\")",
        ] {
            assert!(
                said(text).is_some_and(|it| it.starts_with("hunter2")),
                "{text}"
            );
        }
        for text in [
            "(\"ada\", \"password\")",
            "(\"ada\", secret2)",
            "(\"ada\", \"hunter2\", \"x\")",
            "[\"oauth2\", \"basic2\"]",
            "[\"ada\"]",
            "(\"ada",
        ] {
            assert_eq!(said(text), None, "{text}");
        }
    }
}
