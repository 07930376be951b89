//! How far a value goes from where it begins: to its closing quote, the end of its word, or the end of
//! its line.

use super::names::{LONGEST, is_of_name};
use regex::bytes::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// Bytes in which the end of a bare value is looked for; a longer one goes on to the next white space.
pub(super) const LONG: usize = 2048;

/// Bytes in which a closing quote is looked for; without one the first word counts.
const QUOTED: usize = 64 * 1024;

/// Quotes that close otherwise than they open, as bytes.
const PAIRS: [(&str, &str); 4] = [("“", "”"), ("„", "“"), ("«", "»"), ("「", "」")];

/// The bytes from `at` on, so many at most.
pub(super) fn near(text: &[u8], at: usize, most: usize) -> &[u8] {
    &text[at.min(text.len())..text.len().min(at + most)]
}

/// How many bytes at the beginning of a text are so.
pub(super) fn leading(text: &[u8], is_so: impl Fn(u8) -> bool) -> usize {
    let other = text.iter().position(|byte| !is_so(*byte));
    other.unwrap_or(text.len())
}

/// How many bytes at the end of a text are so.
pub(super) fn trailing(text: &[u8], is_so: impl Fn(u8) -> bool) -> usize {
    let other = text.iter().rev().position(|byte| !is_so(*byte));
    other.unwrap_or(text.len())
}

/// The part of a text without the bytes around it that are so.
pub(super) fn within(text: &[u8], span: Range<usize>, is_so: fn(u8) -> bool) -> Range<usize> {
    let start = span.start + leading(&text[span.clone()], is_so);
    start..span.end - trailing(&text[start..span.end], is_so)
}

/// White space, and what stands around a value in a row or a list.
pub(super) fn is_around(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b"\"'`*\\".contains(&byte)
}

/// Where the line begins on which `at` is, or what is near enough of it.
pub(super) fn line_start(text: &[u8], at: usize) -> usize {
    let from = at.saturating_sub(LONG);
    memchr::memrchr(b'\n', &text[from..at]).map_or(from, |newline| from + newline + 1)
}

/// Where the line ends on which `at` is.
pub(super) fn line_end(text: &[u8], at: usize) -> usize {
    memchr::memchr(b'\n', &text[at..]).map_or(text.len(), |length| at + length)
}

pub(super) fn lossy(text: &[u8], span: &Range<usize>) -> String {
    String::from_utf8_lossy(&text[span.clone()]).into_owned()
}

/// The beginning of a text that is UTF-8.
pub(super) fn valid(text: &[u8]) -> &str {
    text.utf8_chunks().next().map_or("", |chunk| chunk.valid())
}

/// A pattern of this crate; the tests of the corpora use each of them.
pub(super) fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant that tests compile")
}

/// Up to the closing quote, which has as many backslashes in front of it as the opening one. Two
/// quotes are one of the value.
pub(super) fn quoted(text: &[u8], start: usize, quote: &[u8]) -> Option<Range<usize>> {
    let near = near(text, start, QUOTED);
    let pair = PAIRS.iter().find(|(open, _)| open.as_bytes() == quote);
    let close = pair.map_or(quote, |(_, close)| close.as_bytes());
    if quote.len() > 1 && quote[0] != b'\\' {
        let end = memchr::memmem::find(near, close)?;
        return (!near[..end].contains(&b'\n')).then_some(start..start + end);
    }
    let (sign, escapes) = (*quote.last()?, quote.len() - 1);
    if let Some(of_three) = near.strip_prefix(&[sign; 2]).filter(|_| escapes == 0)
        && let Some(length) = memchr::memmem::find(of_three, &[sign; 3])
    {
        return Some(start + 2..start + 2 + length);
    }
    let mut ends = memchr::memchr_iter(sign, near).filter(|end| {
        let before = trailing(&near[..*end], |byte| byte == b'\\');
        before == escapes || escapes == 0 && before % 2 == 0
    });
    while let Some(end) = ends.next() {
        if escapes > 0 || end == 0 || near.get(end + 1) != Some(&sign) {
            return Some(start..start + end - escapes);
        }
        ends.next();
    }
    // A quote that is never closed: the word that begins there.
    let is_inside = |byte: u8| !byte.is_ascii_whitespace() && !b"\"'`&;<>".contains(&byte);
    Some(start..start + leading(near, is_inside)).filter(|span| !span.is_empty())
}

/// A word without quotes: up to white space, or to what ends a value where values stand in a row.
pub(super) fn bare(text: &[u8], name: &Range<usize>, start: usize) -> Range<usize> {
    let near = near(text, start, LONG);
    let is_of_url = matches!(text[..name.start].last(), Some(b'?' | b'&'));
    let is_next = |rest: &[u8]| {
        let word = leading(&rest[..rest.len().min(LONGEST)], is_of_name);
        word > 0 && rest.get(word) == Some(&b'=')
    };
    let is_last = |rest: &[u8]| {
        rest.first()
            .is_none_or(|byte| byte.is_ascii_whitespace() || b"\"'&;)".contains(byte))
    };
    let ends = |(at, byte): (usize, &u8)| match byte {
        b'"' | b'\'' | b'`' | b'<' | b'>' => true,
        b';' if at < 3 => true,
        b'&' | b';' => is_last(&near[at + 1..]) || is_of_url || is_next(&near[at + 1..]),
        b',' => is_next(&near[at + 1..]),
        byte => byte.is_ascii_whitespace(),
    };
    let end = near.iter().enumerate().position(ends).unwrap_or_else(|| {
        // A secret is never cut: all of a longer one.
        let rest = &text[start + near.len()..];
        near.len() + leading(rest, |byte| !byte.is_ascii_whitespace())
    });
    trim(text, start..start + end)
}

/// Without what may end a sentence or close a bracket behind a value.
pub(super) fn trim(text: &[u8], span: Range<usize>) -> Range<usize> {
    let word = &text[span.clone()];
    let ends = trailing(word, |byte| b",.)]}:\\!?".contains(&byte));
    span.start..span.start + word.len() - ends
}

/// Schemes in front of what proves who asks.
static SCHEME: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i-u)^(?:bearer|basic|token|digest|api-?key|negotiate|ntlm|dpop|jwt|hmac|aws4-hmac-sha256)(?:[ \t]+|$)",
    )
});

/// The part of a header behind its scheme: `this` of `Bearer this`; empty where it has nothing else.
pub(super) fn behind_scheme(text: &[u8], span: Range<usize>) -> Range<usize> {
    let scheme = SCHEME.find(&text[span.clone()]);
    span.start + scheme.map_or(0, |scheme| scheme.end())..span.end
}
