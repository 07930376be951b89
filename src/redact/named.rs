//! Secrets in a text that are named: `TOKEN=abc`, `password: "x"`, `--api-key x`, `Authorization: …`.

use super::below;
use super::code;
use super::dense;
use super::find::Finder;
use super::header;
use super::hit::Found;
use super::names::Class;
use super::plausible::{Stands, fits, is_one};
use super::policy::id;
use super::rule::is_of_name;
use super::token::Kind;
use super::variable;
use std::ops::Range;

/// A longer name is none.
pub(super) const NAME: usize = 96;

/// White space between a name and its value.
const SPACE: usize = 16;

/// A longer value in quotes is one that has no end.
const QUOTED: usize = 64 * 1024;

/// A longer value is not looked at more closely.
pub(super) const LONG: usize = 2048;

/// The name whose last word ends at `end`, if one ends there: digits and a plural belong to it.
pub(super) fn name_at(text: &[u8], end: usize) -> Option<Range<usize>> {
    let plural = usize::from(matches!(text.get(end), Some(b's' | b'S')));
    let after = |at: usize| text.get(at).copied().unwrap_or(b' ');
    let mut end = end + plural;
    let counted = end + usize::from(matches!(after(end), b'_' | b'-'));
    let digits = text[counted.min(text.len())..].iter().take(4);
    let digits = digits.take_while(|byte| byte.is_ascii_digit()).count();
    if digits > 0 {
        end = counted + digits;
    }
    let goes_on = is_of_name(after(end)) && (after(end) != b'-' || is_of_name(after(end + 1)));
    if goes_on || after(end) == b'.' && is_of_name(after(end + 1)) {
        return None;
    }
    Some(super::find::begin_of_name(text, end, NAME)..end)
}

/// Finds the value of a name whose last word ends at `end`; what begins before `until` was looked
/// at.
pub(super) fn find(
    finder: &Finder<'_>,
    text: &[u8],
    end: usize,
    until: &mut usize,
    found: &mut Found,
) {
    let Some(name) = name_at(text, end).filter(|name| name.end > *until) else {
        return;
    };
    *until = name.end;
    // In a text that is no JSON its sign may be escaped, and then belongs to what looks like a name.
    let is_token = text[name.clone()].starts_with(b"u2039") && text[..name.start].ends_with(b"\\");
    if is_token || text[..name.start].ends_with("‹".as_bytes()) {
        // A token that stands there already.
        return;
    }
    let Some(class) = class(finder, text, &name) else {
        return;
    };
    if let Some(below) = below::of(text, &name) {
        *until = below.find(finder, text, (&name, class), found);
        return;
    }
    let Some((value, stands)) = value(text, &name, class) else {
        return;
    };
    if code::is_other(text, &name, &value) {
        return;
    }
    let value = variable::whole(text, &name, value, found);
    if value.len() > LONG {
        // Nothing but a secret goes on for so long behind such a name; to look at it for each name
        // in it would take its square.
        *until = value.end;
        finder.add(text, value, id::NAME, found);
    } else {
        let mark = found.hits.len();
        add(finder, text, value, class, stands, found);
        if let [hit] = &mut found.hits[mark..] {
            hit.key = told(finder, &text[name]);
        }
    }
}

/// The name as a report may tell it: not if there is something in it.
fn told(finder: &Finder<'_>, name: &[u8]) -> Box<str> {
    let mut inside = Found::default();
    finder.text(name, 0, &mut inside);
    let is_told = inside.hits.is_empty();
    let name = String::from_utf8_lossy(if is_told { name } else { b"" });
    name.trim_start_matches('-').into()
}

/// What the name says. Behind a backslash the first letter may be an escape.
fn class(finder: &Finder<'_>, text: &[u8], name: &Range<usize>) -> Option<Class> {
    let escaped = name.start > 0 && text[name.start - 1] == b'\\';
    let class = finder.policy.class(&text[name.clone()]);
    class.or_else(|| escaped.then(|| finder.policy.class(&text[name.start + 1..name.end]))?)
}

/// Adds a value with such a name, if it is one: of a header what stands behind its scheme.
pub(super) fn add(
    finder: &Finder<'_>,
    text: &[u8],
    span: Range<usize>,
    class: Class,
    stands: Stands,
    found: &mut Found,
) {
    let span = trimmed(text, span);
    let span = match class {
        Class::Header | Class::Pair => header::behind_scheme(text, span),
        _ => span,
    };
    let value = String::from_utf8_lossy(&text[span.clone()]);
    if !fits(class, &value, stands) {
        return;
    }
    let is_wrapped = !is_one(&value) || value.contains(char::is_whitespace);
    if stands == Stands::Whole && is_wrapped {
        // What stands around a value need not stand around it elsewhere.
        let rows = dense::rows(&value).map(|row| value.as_bytes()[row].into());
        found.plain.extend(rows.map(|row| (row, Kind::Secret)));
    }
    if class == Class::Header {
        // What is in a cookie is secret alone as well.
        let parts = value
            .split([';', ','])
            .filter_map(|part| part.split_once('='));
        let values = parts.map(|(_, value)| value.trim().as_bytes().into());
        found
            .plain
            .extend(values.map(|value| (value, Kind::Secret)));
    }
    finder.add(text, span, id::NAME, found);
}

/// The same without white space around it: what was read of a file ends with a newline, and is the
/// same value without it.
pub(super) fn trimmed(text: &[u8], span: Range<usize>) -> Range<usize> {
    let value = &text[span.clone()];
    let (before, after) = match std::str::from_utf8(value) {
        Ok(value) => (value.trim_start().len(), value.trim_end().len()),
        Err(_) => (value.trim_ascii_start().len(), value.trim_ascii_end().len()),
    };
    let start = span.start + (value.len() - before);
    start..(span.start + after).max(start)
}

/// Where the value of a name stands, if there is one beside it.
fn value(text: &[u8], name: &Range<usize>, class: Class) -> Option<(Range<usize>, Stands)> {
    let mut at = skip(text, name.end, |byte| byte == b'\\');
    at += usize::from(matches!(text.get(at), Some(b'"' | b'\'' | b'`')));
    at = skip(text, at, is_space);
    let rest = &text[at..];
    let is_tag = name.start > 0 && text[name.start - 1] == b'<';
    let is_flag = text[name.clone()].starts_with(b"--");
    let (sign, stands) = match rest {
        // What begins like an option is the next one.
        [b':', b':', ..] | [b'-', b'-', ..] => return None,
        [b'=', b'=', b'=', ..] => (3, Stands::Alone),
        [b':', b'=', ..] | [b'=', b'>' | b'=' | b'~', ..] => (2, Stands::Alone),
        [b'=', ..] => (1, Stands::Alone),
        [b':', ..] => (1, Stands::InText),
        [b'>', ..] if is_tag => (1, Stands::Alone),
        [_, ..] if is_flag && at > name.end => (0, Stands::InText),
        _ => return None,
    };
    let is_header = class == Class::Header && rest.first() == Some(&b':');
    let start = skip(text, at + sign, is_space);
    let escapes = skip(text, start, |byte| byte == b'\\');
    if let Some(quote @ (b'"' | b'\'' | b'`')) = text.get(escapes).copied() {
        return quoted(text, escapes + 1, quote, escapes - start)
            .filter(|span| !is_between(&text[span.clone()]))
            .map(|span| (span, Stands::Alone));
    }
    let span = if is_header || is_tag {
        header::line(text, start)
    } else {
        header::behind(text, bare(text, start))
    };
    let is_code = !is_header && !is_tag && !is_flag && code::is_code(text, name, &span);
    (!span.is_empty() && !is_code).then_some((span, stands))
}

/// Whether it stands between two strings, of which the first one ends with a name and a colon.
fn is_between(text: &[u8]) -> bool {
    let is_sign = |byte: &u8| matches!(byte, b',' | b':' | b' ' | b'[' | b']' | b'{' | b'}');
    !text.is_empty() && text.iter().all(is_sign)
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// The first byte from `at` on that is none of those, if they are few.
fn skip(text: &[u8], at: usize, is_one: fn(u8) -> bool) -> usize {
    let at = at.min(text.len());
    let near = text[at..].iter().take(SPACE);
    at + near.take_while(|byte| is_one(**byte)).count()
}

/// Up to the closing quote, which has as many backslashes in front of it as the opening one.
pub(super) fn quoted(text: &[u8], start: usize, quote: u8, escapes: usize) -> Option<Range<usize>> {
    let near = &text[start..text.len().min(start + QUOTED)];
    if let Some(of_three) = near.strip_prefix(&[quote; 2]).filter(|_| escapes == 0)
        && let Some(length) = memchr::memmem::find(of_three, &[quote; 3])
    {
        return Some(start + 2..start + 2 + length);
    }
    let mut doubled = None;
    for end in memchr::memchr_iter(quote, near) {
        if doubled.take() == Some(end) {
            continue;
        }
        let before = near[..end]
            .iter()
            .rev()
            .take_while(|byte| **byte == b'\\')
            .count();
        let is_end = before == escapes || escapes == 0 && before % 2 == 0;
        if is_end && escapes == 0 && end > 0 && near.get(end + 1) == Some(&quote) {
            // Two of them are one in the value.
            doubled = Some(end + 1);
        } else if is_end {
            return Some(start..start + end - escapes.min(before));
        }
        if before < escapes {
            return Some(start..start + end - before);
        }
    }
    // A quote that is never closed: what there is of a value.
    Some(bare(text, start)).filter(|span| !span.is_empty())
}

/// Up to white space, or what ends a value where values stand in a row.
pub(super) fn bare(text: &[u8], start: usize) -> Range<usize> {
    let rest = &text[start..];
    let ends = |byte: &u8| {
        byte.is_ascii_whitespace()
            || matches!(byte, b'"' | b'\'' | b'`' | b'&' | b';' | b'<' | b'>')
    };
    let mut end = rest.iter().position(ends).unwrap_or(rest.len());
    let near = &rest[..end.min(LONG)];
    let is_comma = |pair: &[u8]| pair[0] == b',' && pair[1].is_ascii_alphabetic();
    if let Some(comma) = near.windows(2).position(is_comma)
        && near[comma..].contains(&b'=')
    {
        end = comma;
    }
    let trailing = |byte: &&u8| matches!(byte, b',' | b'.' | b')' | b']' | b'}' | b':' | b'\\');
    end -= rest[..end].iter().rev().take_while(trailing).count();
    start..start + end
}
