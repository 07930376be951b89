//! Headers in a text: what stands behind their name, to the end of the line.

use super::lists::is_value;
use super::named::{LONG, bare};
use super::plausible::looks_random;
use super::prose::is_prose;
use super::token;
use std::ops::Range;

/// Schemes in front of what proves who asks.
const SCHEMES: [&str; 10] = [
    "bearer",
    "basic",
    "token",
    "digest",
    "apikey",
    "api-key",
    "negotiate",
    "ntlm",
    "dpop",
    "jwt",
];

/// What follows the scheme of a header.
pub(super) fn behind_scheme(text: &[u8], span: Range<usize>) -> Range<usize> {
    let value = &text[span.clone()];
    let word = value
        .iter()
        .take_while(|byte| !byte.is_ascii_whitespace())
        .count();
    let space = value[word..]
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count();
    let is_scheme = SCHEMES
        .iter()
        .any(|scheme| value[..word].eq_ignore_ascii_case(scheme.as_bytes()));
    if is_scheme && space > 0 && word + space < value.len() {
        return span.start + word + space..span.end;
    }
    span
}

/// The bytes of a placeholder at the beginning, with a scheme in front of it or without, if white
/// space or nothing follows.
fn placeholder(text: &[u8]) -> Option<usize> {
    let near = &text[..text.len().min(LONG)];
    let scheme = behind_scheme(near, 0..near.len()).start;
    let end = scheme + token::length(&near[scheme..])?;
    let is_over = near.get(end).is_none_or(u8::is_ascii_whitespace);
    is_over.then_some(end)
}

/// Up to the end of the line, or of what is quoted or tagged. Behind a placeholder and white space
/// stands what somebody says about it, or another value.
pub(super) fn line(text: &[u8], start: usize) -> Range<usize> {
    if let Some(length) = placeholder(&text[start..]) {
        // To look further for each of many placeholders in a line would take its square.
        let near = end_of_line(&text[..text.len().min(start + LONG)], start);
        return values(text, start + length..near).unwrap_or(start..start + length);
    }
    let all = start..end_of_line(text, start);
    if is_of_parameters(text, &all) {
        return start..start;
    }
    if let Some(word) = folded(text, &all) {
        return word;
    }
    if all.len() > LONG || !is_prose(&String::from_utf8_lossy(&text[all.clone()])) {
        return all;
    }
    let behind = behind_scheme(text, all.clone()).start;
    if behind > start && looks_random(&String::from_utf8_lossy(&text[bare(text, behind)])) {
        return first(text, behind..all.end);
    }
    first(text, all)
}

/// Where the line ends on which `start` is, without white space.
fn end_of_line(text: &[u8], start: usize) -> usize {
    let rest = &text[start..];
    let ends = |byte: &u8| matches!(byte, b'\r' | b'\n' | b'"' | b'\'' | b'`' | b'<' | b'\\');
    let end = rest.iter().position(ends).unwrap_or(rest.len());
    start + rest[..end].trim_ascii_end().len()
}

/// Whether nothing but the names of parameters follows, whose values are in quotes.
fn is_of_parameters(text: &[u8], all: &Range<usize>) -> bool {
    let of_name = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-');
    let said = &text[all.clone()];
    let Some(before) = said.strip_suffix(b"=") else {
        return false;
    };
    let name = before.iter().rev().take_while(|byte| of_name(byte)).count();
    // Of a value that ends with that sign the quote is the closing one.
    let after = text.get(all.end + 1).copied().unwrap_or(b' ');
    let is_over = after.is_ascii_whitespace() || b",;)]}\"'\\".contains(&after);
    let is_begun = text.get(all.end) == Some(&b'"') && !is_over;
    let scheme = before[..before.len() - name].strip_suffix(b" ");
    let is_word = |scheme: &[u8]| scheme.iter().all(u8::is_ascii_alphanumeric);
    is_begun && name > 0 && scheme.is_some_and(is_word)
}

/// What stands on the next line, where a line is folded behind its scheme.
fn folded(text: &[u8], all: &Range<usize>) -> Option<Range<usize>> {
    let said = &text[all.clone()];
    let is_scheme = |scheme: &str| said.eq_ignore_ascii_case(scheme.as_bytes());
    SCHEMES.into_iter().find(|scheme| is_scheme(scheme))?;
    let rest = &text[all.end..text.len().min(all.end + LONG)];
    let newline = rest
        .iter()
        .take_while(|byte| matches!(byte, b'\r' | b'\n'))
        .count();
    let space = rest[newline..]
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'));
    let (space, start) = (space.clone().count(), all.end + newline + space.count());
    let word = bare(text, start);
    let is_one = newline > 0
        && space > 0
        && (token::is_one(&text[word.clone()]) || is_value(&text[word.clone()]));
    is_one.then_some(word)
}

/// The first word, and what of those that follow is a value as well.
fn first(text: &[u8], line: Range<usize>) -> Range<usize> {
    let first = bare(text, line.start);
    let more = values(text, first.end.min(line.end)..line.end);
    first.start..more.map_or(first.end, |more| more.end)
}

/// The words from the first one on that are values, whatever follows them.
fn values(text: &[u8], line: Range<usize>) -> Option<Range<usize>> {
    let (mut at, mut found) = (line.start, None);
    while at < line.end {
        let space = text[at..line.end].iter();
        let word = bare(
            text,
            at + space.take_while(|byte| byte.is_ascii_whitespace()).count(),
        );
        if word.is_empty() || word.end > line.end || !is_value(&text[word.clone()]) {
            break;
        }
        at = word.end;
        let begin = found.map_or(word.start, |found: Range<usize>| found.start);
        found = Some(begin..word.end);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_goes_to_the_end_of_its_line_or_of_its_values() {
        for (text, value) in [
            ("Bearer x y\nc", "Bearer x y"),
            ("Bearer ‹secret:1› is invalid", "Bearer ‹secret:1›"),
            ("‹secret:1› -> 401", "‹secret:1›"),
            ("‹secret:1›", "‹secret:1›"),
            ("‹secret:1›  Kq8vWp3mXrT4 is invalid", "Kq8vWp3mXrT4"),
            (
                "‹secret:1› 3f1c0a9be2d47586c1f0 Kq8vWp3mXrT4, gone",
                "3f1c0a9be2d47586c1f0 Kq8vWp3mXrT4",
            ),
            ("k3Jd8f Kq8vWp3mXrT4 is invalid", "k3Jd8f Kq8vWp3mXrT4"),
            ("Token k3Jd8f is invalid", "k3Jd8f"),
            ("Token is invalid", "Token"),
            ("Bearer\n  Kq8vWp3mXrT4\nc", "Kq8vWp3mXrT4"),
            ("Bearer\nKq8vWp3mXrT4", "Bearer"),
            ("Digest username=\"ada\", response=\"1\"", ""),
            ("a=x y Digest username=\"ada\"", "a=x y Digest username="),
            ("Basic YWRhOmh1bnRlcjI=\" x", "Basic YWRhOmh1bnRlcjI="),
        ] {
            assert_eq!(&text[line(text.as_bytes(), 0)], value, "{text}");
        }
    }
}
