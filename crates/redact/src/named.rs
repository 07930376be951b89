//! Secrets in a text that are named: `TOKEN=abc`, `password: "x"`, `--api-key x`, `Authorization: …`.

use super::find::{Finder, begin_of_name};
use super::names::Class;
use super::plausible::{Stands, fits, is_one};
use super::policy::id;
use super::report::{Found, Hit};
use super::rules::is_of_name;
use super::token::Kind;
use super::value::Beside;
use super::{code, command, entropy, header, lists, multiline, prose, value};
use std::ops::Range;

pub(super) const NAME: usize = 96;

/// A longer value in quotes is one that has no end.
const QUOTED: usize = 64 * 1024;

/// Pieces of one value that are looked for elsewhere: with more, one that is made so would leave no
/// room for others.
const PIECES: usize = 256;

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

/// Whether a line ends with a name that is what another one says: `name: API_KEY`.
pub(super) fn is_told(finder: &Finder<'_>, line: &[u8]) -> bool {
    let name = name_at(line, line.len());
    let name = name.filter(|name| value::is_said(line, name.start));
    name.is_some_and(|name| finder.policy.class(&line[name]).is_some())
}

/// Finds the values of a name whose last word ends at `end`; what begins before `until` was looked
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
    if is_token(text, &name) {
        return;
    }
    let Some((name, class)) = called(finder, text, name) else {
        return;
    };
    if let Some(value) = form_value(text, &name) {
        *until = value.end;
        let mark = found.hits.len();
        add(finder, text, value, class, Stands::Alone, found);
        return tell(finder, &text[name], &mut found.hits[mark..]);
    }
    if let Some(below) = multiline::of(text, &name) {
        *until = below.find(finder, text, (&name, class), found);
        return;
    }
    let mark = found.hits.len();
    if let Some(beside) = value::of(text, &name, class) {
        *until = add_beside(finder, text, (&name, class), beside, found);
    } else {
        for word in prose::values(text, &name, class) {
            put(finder, text, word, found);
        }
    }
    tell(finder, &text[name], &mut found.hits[mark..]);
}

/// Adds to hits by which name they were found.
fn tell(finder: &Finder<'_>, name: &[u8], hits: &mut [Hit]) {
    if hits.is_empty() {
        return;
    }
    let key = told(finder, name);
    for hit in hits {
        hit.key.clone_from(&key);
    }
}

/// Whether it is the word of a placeholder that stands there already.
fn is_token(text: &[u8], name: &Range<usize>) -> bool {
    let before = &text[..name.start];
    // In a text that is no JSON its sign may be escaped, and then belongs to what looks like a name.
    let is_escaped = text[name.clone()].starts_with(b"u2039") && before.ends_with(b"\\");
    is_escaped || before.ends_with("‹".as_bytes())
}

/// Adds the values in a list beside a name, or the one there and those that stand in a row with it;
/// how far it was looked at.
fn add_beside(
    finder: &Finder<'_>,
    text: &[u8],
    (name, class): (&Range<usize>, Class),
    Beside { start, one }: Beside,
    found: &mut Found,
) -> usize {
    if lists::listed(finder, text, (start, class), found) {
        // What stands in it may have names of its own.
        return name.end;
    }
    let Some((value, stands)) = one else {
        if class != Class::Many {
            lists::on_line(finder, text, (start, class), found);
        }
        return name.end;
    };
    if code::is_other(text, name, &value) {
        return name.end;
    }
    let value = command::whole(text, name, value, found);
    let end = value.end;
    if value.len() > LONG {
        // Nothing but a secret goes on for so long behind such a name; to look at it for each name
        // in it would take its square.
        finder.add(text, value, id::NAME, found);
        return end;
    }
    let (is_over, mark) = (is_in_a_row(text, &value), found.hits.len());
    add(finder, text, value, class, stands, found);
    if let Some(new) = value::changed_to(text, end) {
        add(finder, text, new, class, stands, found);
    }
    // Of several, those behind one that is secret are.
    if !is_over && (class != Class::Many || found.hits.len() > mark) {
        lists::on_line(finder, text, (end, class), found);
    }
    name.end
}

/// Whether a value is quoted, and no white space and a word follow: it may be a part of a list or an
/// object.
fn is_in_a_row(text: &[u8], value: &Range<usize>) -> bool {
    let quote = text.get(value.end);
    let is_opened = value.start > 0 && text.get(value.start - 1) == quote;
    if !is_opened || !matches!(quote, Some(b'"' | b'\'' | b'`')) {
        return false;
    }
    let after = &text[value.end + 1..];
    let space = after
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count();
    space == 0 || !after.get(space).is_some_and(u8::is_ascii_alphanumeric)
}

/// The name as a report may tell it: not if there is something in it.
fn told(finder: &Finder<'_>, name: &[u8]) -> Box<str> {
    let mut inside = Found::default();
    finder.text(name, 0, &mut inside);
    let is_told = inside.hits.is_empty();
    let name = String::from_utf8_lossy(if is_told { name } else { b"" });
    name.trim_start_matches('-').into()
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
    let is_whole = stands == Stands::Whole;
    let pieces = pieces(&value, is_whole, class == Class::Header);
    found
        .plain
        .extend(pieces.map(|piece| (piece.as_bytes().into(), Kind::Secret)));
    finder.add(text, span, id::NAME, found);
}

/// What of a value is secret alone as well: what stands around it need not stand around it elsewhere.
fn pieces(value: &str, is_whole: bool, is_header: bool) -> impl Iterator<Item = &str> {
    let is_wrapped = is_whole && (!is_one(value) || value.contains(char::is_whitespace));
    let rows = entropy::rows(value).filter(move |_| is_wrapped);
    let rows = rows.map(|row| &value[row]);
    let several = value.split([',', ';', ':', '|']);
    let several = several.filter(|piece| piece.len() < value.len());
    let telling = several.filter(|piece| entropy::rows(piece).next().is_some());
    // Of a cookie all values.
    let named = value.split([';', ',']).filter(move |_| is_header);
    let named = named.filter_map(|part| part.split_once('='));
    let named = named.map(|(_, value)| value.trim());
    rows.chain(telling).chain(named).take(PIECES)
}

/// Adds a word that is secret for what it looks like beside its name.
pub(super) fn put(finder: &Finder<'_>, text: &[u8], word: Range<usize>, found: &mut Found) {
    finder.add(text, word, id::NAME, found);
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
    let near = &rest[..rest.len().min(LONG)];
    let near = &near[..near.iter().position(ends).unwrap_or(near.len())];
    let is_comma = |pair: &[u8]| pair[0] == b',' && pair[1].is_ascii_alphabetic();
    let comma = near.windows(2).position(is_comma);
    let comma = comma.filter(|comma| near[*comma..].contains(&b'='));
    let mut end = comma.unwrap_or(near.len());
    if end == LONG {
        end += rest[LONG..]
            .iter()
            .position(ends)
            .unwrap_or(rest.len() - LONG);
    }
    end -= rest[..end]
        .iter()
        .rev()
        .take_while(|byte| is_trailing(byte))
        .count();
    start..start + end
}

/// Whether it may end a sentence or close a bracket behind a value.
pub(super) fn is_trailing(byte: &u8) -> bool {
    matches!(byte, b',' | b'.' | b')' | b']' | b'}' | b':' | b'\\')
}

// What a name says, be it a word or several.

/// Words of a name: `one time code`.
const WORDS: usize = 3;

/// A name, and what it says: that of a word, or of several that make a name together, `API key`.
pub(crate) fn called(
    finder: &Finder<'_>,
    text: &[u8],
    name: Range<usize>,
) -> Option<(Range<usize>, Class)> {
    match class(finder, text, &name) {
        Some(class) => Some((name, class)),
        None => in_words(finder, text, &name),
    }
}

/// The name of which a word is the last one, if those in front of it make it one that says more.
fn in_words(
    finder: &Finder<'_>,
    text: &[u8],
    last: &Range<usize>,
) -> Option<(Range<usize>, Class)> {
    let mut start = last.start;
    for _ in 1..WORDS {
        let before = text[..start].strip_suffix(b" ")?;
        start = begin_of_name(before, before.len(), NAME);
        if start == before.len() {
            return None;
        }
        let name = start..last.end;
        let class = finder.policy.class(&text[name.clone()]);
        match class {
            None => {}
            Some(Class::Password | Class::Token) => return Some((name, Class::Key)),
            Some(Class::Digits) => return Some((name, Class::Digits)),
            Some(_) => return None,
        }
    }
    None
}

/// What the name says. Behind a backslash the first letter may be an escape.
fn class(finder: &Finder<'_>, text: &[u8], name: &Range<usize>) -> Option<Class> {
    let escaped = name.start > 0 && text[name.start - 1] == b'\\';
    let class = finder.policy.class(&text[name.clone()]);
    class.or_else(|| escaped.then(|| finder.policy.class(&text[name.start + 1..name.end]))?)
}

// A field of a form in parts, whose value stands behind an empty line.
//
// ```text
//  Content-Disposition: form-data; name="password"
//
//  this
// ```

/// Bytes of what else is said of a field.
const NEAR: usize = 256;

/// Where the value of the field `name` stands, if it is one.
fn form_value(text: &[u8], name: &Range<usize>) -> Option<Range<usize>> {
    let before = text[..name.start].strip_suffix(b"\"")?;
    let is_field = before.ends_with(b"form-data; name=") && text.get(name.end) == Some(&b'"');
    let near = &text[name.end..text.len().min(name.end + NEAR)];
    let empty = [&b"\r\n\r\n"[..], b"\n\n"];
    let empty = empty.into_iter().filter(|_| is_field).find_map(|empty| {
        let at = memchr::memmem::find(near, empty)?;
        Some(name.end + at + empty.len())
    });
    let start = empty?;
    let rest = &text[start..];
    let end = memchr::memchr2(b'\r', b'\n', rest).unwrap_or(rest.len());
    (end > 0).then_some(start..start + end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stands_behind_an_empty_line() {
        let found = |text: &str| {
            let start = text.find("password").unwrap();
            let span = form_value(text.as_bytes(), &(start..start + 8))?;
            Some(text[span].to_owned())
        };
        for text in [
            "form-data; name=\"password\"\r\n\r\none two\r\n--x",
            "form-data; name=\"password\"\r\nContent-Type: text/plain\r\n\r\none two",
            "form-data; name=\"password\"\n\none two\n--x",
        ] {
            assert_eq!(found(text).as_deref(), Some("one two"), "{text}");
        }
        for text in [
            "form-data; name=\"password\"",
            "form-data; filename=\"password\"\n\none two",
            "name=\"password\"\n\none two",
            "form-data; name=\"password\"\n\n",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
