//! What else is secret near a name: other values on its line, and those of a list.
//!
//! ```text
//!  API_KEY = one two      api_keys: [one, two]
//! ```

use super::code::is_camel;
use super::find::Finder;
use super::multiline::past_tags;
use super::named::LONG;
use super::names::Class;
use super::plausible::{Stands, fits, looks_random};
use super::policy::id;
use super::prose::inside;
use super::report::Found;
use super::rules::is_of_name;
use super::{entropy, named, names, token};
use mcpreel_wire::json::Value;
use std::ops::Range;

/// Letters and digits in a row that are no word and no number, whatever they mean.
const ROW: usize = 16;

const LIST: usize = 16 * 1024;

/// The same of a list in which others are.
const NESTED: usize = 512;

/// A longer name of a member is none.
const MEMBER: usize = 96;

/// An item of a list that is shorter is a word of code.
const ITEM: usize = 6;

/// Whether nobody says such a word.
pub(super) fn is_value(word: &[u8]) -> bool {
    let has = |test: fn(&u8) -> bool| word.iter().any(test);
    let is_row = word.len() >= ROW && word.iter().all(u8::is_ascii_alphanumeric);
    is_row && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
        || entropy::rows(&String::from_utf8_lossy(word))
            .next()
            .is_some()
        || entropy::is_signed(word)
}

/// Whether a word alone in a list is no path, no name, and none that is read.
pub(super) fn is_item(word: &[u8]) -> bool {
    let said = String::from_utf8_lossy(word);
    let is_joined = said.contains(['/', '_', '.', ':', '\\', '(', '[', '{', '<']);
    entropy::rows(&said).next().is_some()
        || entropy::is_signed(word)
        || !is_joined && looks_random(&said) && !is_camel(&said) && names::class(word).is_none()
}

/// Finds the values that stand between `from` and the end of the line, or another name: all words
/// that nobody says. Names in a header with values in quotes are its own parameters.
pub(super) fn on_line(
    finder: &Finder<'_>,
    text: &[u8],
    (from, class): (usize, Class),
    found: &mut Found,
) {
    if class == Class::Digits {
        return;
    }
    let near = from..text.len().min(from + LONG);
    for word in words(text, near) {
        if text[word.clone()].starts_with(b"--") {
            return;
        }
        match next(text, &word) {
            Some(true) if class == Class::Header => {}
            Some(_) => return,
            None if is_value(&text[word.clone()]) => named::put(finder, text, word, found),
            None => {}
        }
    }
}

/// The words up to the end of the line.
pub(super) fn words(text: &[u8], near: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = text[near.clone()]
        .iter()
        .position(|byte| matches!(byte, b'\n' | b'\r'));
    let end = end.map_or(near.end, |length| near.start + length);
    let mut at = near.start;
    std::iter::from_fn(move || {
        let line = &text[..end];
        at += line[at..]
            .iter()
            .take_while(|byte| is_between(**byte))
            .count();
        let start = at;
        at += line[at..]
            .iter()
            .take_while(|byte| !is_between(**byte))
            .count();
        let trailing = |byte: &&u8| matches!(byte, b'.' | b':' | b'!' | b'\\');
        let over = line[start..at].iter().rev().take_while(trailing).count();
        (start < at).then(|| inside(text, start..at - over))
    })
}

/// White space, and what no value has in it where several stand beside each other.
fn is_between(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b"\"'`<>&;,|()[]{}".contains(&byte)
}

/// Whether another value begins with a word, which is its name or has that in it: and if so, whether
/// an equals sign and a quote follow.
fn next(text: &[u8], word: &Range<usize>) -> Option<bool> {
    let near = &text[word.start..text.len().min(word.end + 4)];
    let name = near.iter().take_while(|byte| is_of_name(**byte)).count();
    let rest = &near[name..];
    let rest = rest
        .strip_prefix(b"\"")
        .or(rest.strip_prefix(b"'"))
        .unwrap_or(rest);
    let rest = rest.trim_ascii_start();
    // What nobody says is no name, whatever stands behind it.
    let is_name = name > 0 && !is_value(&near[..name]);
    let is_pair = is_name && matches!(rest.first(), Some(b'=' | b':'));
    is_pair.then(|| rest.starts_with(b"=\""))
}

/// Finds the values of a list in brackets that begins at `from`, and of those in it; whether it is
/// one, and no value that begins with a bracket.
pub(super) fn listed(
    finder: &Finder<'_>,
    text: &[u8],
    (from, class): (usize, Class),
    found: &mut Found,
) -> bool {
    let open = text.get(from).filter(|open| b"[({".contains(open));
    let Some(open) = open.filter(|_| class != Class::Digits) else {
        return false;
    };
    let near = &text[from + 1..text.len().min(from + LIST)];
    let Some(end) = end_of_list(near) else {
        return false;
    };
    let mark = found.hits.len();
    if class == Class::Pair
        && let Some(secret) = second(text, from)
    {
        finder.add(text, secret, id::NAME, found);
    }
    let mut at = from + 1;
    for piece in near[..end].split(|byte| b",\n[](){}".contains(byte)) {
        let span = at..at + piece.len();
        at = span.end + 1;
        if let Some(word) = item(finder, text, span, (*open, class)) {
            named::put(finder, text, word, found);
        }
    }
    let said = &near[..end];
    let is_one = |byte: &u8| byte.is_ascii_whitespace() || b",;:\"'[{(".contains(byte);
    found.hits.len() > mark || said.iter().any(is_one) || token::may_be_in(said)
}

/// Where the bracket is closed that was opened in front. A list in which others are is no longer than
/// [`NESTED`]: to look further for each of many within each other would take their square.
fn end_of_list(near: &[u8]) -> Option<usize> {
    let (mut depth, mut is_flat) = (1, true);
    for (at, byte) in near.iter().enumerate() {
        match byte {
            b'[' | b'(' | b'{' => (depth, is_flat) = (depth + 1, false),
            b']' | b')' | b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
        if !is_flat && at > NESTED {
            return None;
        }
    }
    None
}

/// The value in a piece of a list; of `name: value` what has no other meaning.
fn item(
    finder: &Finder<'_>,
    text: &[u8],
    span: Range<usize>,
    (open, class): (u8, Class),
) -> Option<Range<usize>> {
    let piece = &text[span.clone()];
    let start = match memchr::memchr2(b':', b'=', piece) {
        Some(sign) if is_other(finder, &piece[..sign]) => return None,
        Some(sign) if !is_value(&piece[..sign]) => span.start + sign + 1,
        _ => span.start,
    };
    let is_edge = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`\\>".contains(byte);
    let before = text[start..span.end]
        .iter()
        .take_while(|byte| is_edge(byte));
    let start = start + before.count();
    let cookie = memchr::memchr(b';', &text[start..span.end]);
    let cookie = cookie.filter(|_| class == Class::Header);
    let span = span.start..cookie.map_or(span.end, |length| start + length);
    let after = text[start..span.end]
        .iter()
        .rev()
        .take_while(|byte| is_edge(byte));
    let word = start..span.end - after.count();
    let said = &text[word.clone()];
    let stands = fits(class, &String::from_utf8_lossy(said), Stands::InText);
    let is_one = is_value(said) || open == b'[' && said.len() >= ITEM && stands && is_item(said);
    (is_one && !said.iter().any(u8::is_ascii_whitespace)).then_some(word)
}

/// Whether a name within what is secret says something else, or has its own value.
pub(super) fn is_other(finder: &Finder<'_>, name: &[u8]) -> bool {
    let name = name.trim_ascii();
    let name = name.strip_prefix(b"- ").unwrap_or(name).trim_ascii();
    let name = name.trim_ascii().strip_prefix(b"\"").unwrap_or(name);
    let name = name.strip_suffix(b"\"").unwrap_or(name);
    is_beside(name) || finder.policy.class(name).is_some()
}

/// Finds the value in a line below a name: that of an item of a list, of a member, or all of it.
pub(super) fn below(
    finder: &Finder<'_>,
    text: &[u8],
    (line, class): (&Range<usize>, Class),
    found: &mut Found,
) {
    let said = &text[line.clone()];
    let item = if said.starts_with(b"- ") { 2 } else { 0 };
    let sign = memchr::memmem::find(said, b": ").filter(|sign| *sign < MEMBER);
    // What has a name is more than a few digits.
    if class == Class::Digits || sign.is_some_and(|sign| is_other(finder, &said[..sign])) {
        return;
    }
    let start = line.start + sign.map_or(item, |sign| sign + 2);
    let (start, _) = past_tags(text, start);
    let word = words(text, start..line.end.max(start)).next();
    if let Some(word) = word.filter(|word| is_value(&text[word.clone()])) {
        named::put(finder, text, word, found);
    }
}

// A user and a password in a list of two: `auth=("ada", "this")`, `{"auth":["ada","this"]}`.

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

// What of an object with a secret name is none.

/// Names in what is secret as a whole of what is none.
const BESIDE: [&str; 22] = [
    "type",
    "kind",
    "name",
    "title",
    "description",
    "scope",
    "scopes",
    "id",
    "url",
    "uri",
    "format",
    "alg",
    "algorithm",
    "username",
    "user",
    "login",
    "host",
    "hostname",
    "region",
    "expires",
    "expiresAt",
    "tokenType",
];

const TYPES: [&str; 7] = [
    "string", "number", "integer", "boolean", "object", "array", "null",
];

/// Whether an object describes values instead of being one.
pub(super) fn is_schema(object: Value<'_>) -> bool {
    let words = [
        "$ref", "anyOf", "oneOf", "allOf", "enum", "const", "$schema",
    ];
    let is_typed = object.get("type").is_some_and(|kind| {
        let mut kinds = kind.elements().chain(std::iter::once(kind));
        kinds.any(|kind| TYPES.iter().any(|word| kind.is_str(word)))
    });
    is_typed || words.iter().any(|word| object.get(word).is_some())
}

/// Whether a member of what is secret as a whole says something else.
pub(super) fn is_beside(name: &[u8]) -> bool {
    BESIDE
        .iter()
        .any(|beside| beside.as_bytes().eq_ignore_ascii_case(name))
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
