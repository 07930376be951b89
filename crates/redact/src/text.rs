//! Secrets in a text: by shape, by name, in URLs, in private keys, by the user's own patterns.

use super::bind::{self, Name};
use super::entropy;
use super::extent::{LONG, behind_scheme, lossy};
use super::find::Noticed;
use super::names::{Class, LONGEST};
use super::policy::{Notice, Policy, Sign, id};
use super::report::Found;
use super::token::Kind;
use super::value::fits;
use super::value::is_placeholder;
use super::{pem, url};
use std::ops::Range;

/// Bytes of a lead that belong to a secret.
const LEAD: usize = 128;

/// Words of a name: `one time code`.
const WORDS: usize = 3;

/// Bytes behind a name in which something tells that it has a value.
const NEAR: usize = 96;

/// Bytes that words of a sentence do not have.
const TELLING: [bool; 256] = {
    let mut telling = [false; 256];
    let mut byte = u8::MAX;
    while byte > 0 {
        let is_of_sentence = byte.is_ascii_alphabetic()
            || matches!(
                byte,
                b' ' | b','
                    | b'.'
                    | b'\n'
                    | b'\r'
                    | b'\t'
                    | b';'
                    | b'('
                    | b')'
                    | b'-'
                    | b'_'
                    | b'/'
            );
        telling[byte as usize] = !is_of_sentence;
        byte -= 1;
    }
    telling
};

/// Pieces of one value that are looked for elsewhere as well.
const PIECES: usize = 64;

/// In what codes something may stand in a text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Codes {
    pub has_percent: bool,
    pub has_escapes: bool,
    pub has_styles: bool,
}

/// Finds all there is in a text as it stands.
pub(super) fn scan(policy: &Policy, noticed: Noticed<'_>, found: &mut Found) -> Codes {
    let (mut codes, mut passed) = (Codes::default(), Passed::default());
    let text = noticed.text;
    noticed.any(policy, |Sign { notice, start, end }| {
        match notice {
            Notice::Shape(number) => shaped(policy, text, number, start, &mut passed, found),
            Notice::Name => named(policy, text, start..end, &mut passed.name, found),
            Notice::Url => url::find(policy, text, end, found),
            Notice::Pem => pem::find(policy, text, start, &mut passed.pem, found),
            Notice::Percent => codes.has_percent = true,
            Notice::Escape => codes.has_escapes = true,
            Notice::Style => codes.has_styles = true,
            Notice::Grant => {}
        }
        false
    });
    for (rule, regex) in &policy.extra {
        for captures in regex.captures_iter(text) {
            if let Some(secret) = captures.get(1).or_else(|| captures.get(0)) {
                found.add(policy, text, secret.range(), (*rule, Kind::Secret));
            }
        }
    }
    codes
}

/// Whether something is likely where a sign stands. Says yes too often, never no where there is
/// something.
pub(super) fn is_likely(policy: &Policy, raw: &[u8], sign: &Sign) -> bool {
    let Sign { notice, start, end } = *sign;
    match notice {
        Notice::Shape(number) => shape(policy, raw, number, start).is_some(),
        Notice::Name => {
            may_have_value(raw, end) && name_ending_at(policy, raw, start..end).is_some()
        }
        Notice::Url => url::may_have_user(&raw[end..]),
        Notice::Percent => super::encodings::percent(&raw[start..]).is_some(),
        Notice::Grant => memchr::memmem::find(raw, b"\"code").is_some(),
        Notice::Escape | Notice::Style | Notice::Pem => true,
    }
}

/// Whether something that a value needs follows the word that ends at `end`: a sign or a quote right
/// behind it, or in the words that follow a digit or a sign that no sentence has. Most words that are
/// names are words of a sentence: to ask this first is cheap.
fn may_have_value(text: &[u8], end: usize) -> bool {
    let near = &text[end..text.len().min(end + NEAR)];
    let of_name = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b's' | b'S' | b'_' | b'-');
    let rest = &near[near.iter().take(6).take_while(|byte| of_name(byte)).count()..];
    match rest.first() {
        None => false,
        Some(b' ' | b'\t') => rest.iter().any(|byte| TELLING[usize::from(*byte)]),
        Some(byte) => !byte.is_ascii_alphanumeric() || rest.len() < near.len(),
    }
}

/// How far a text has been looked at, so that nothing is looked at again and again.
#[derive(Debug, Default)]
pub(super) struct Passed {
    shapes: Vec<(usize, usize)>,
    name: usize,
    pem: pem::Scan,
}

/// Where something of a shape stands whose anchor begins at `at`: all of it, and its secret.
pub(super) fn shape(
    policy: &Policy,
    text: &[u8],
    number: usize,
    at: usize,
) -> Option<(Range<usize>, Range<usize>)> {
    let shape = &policy.shapes[number];
    let lead = text[..at]
        .iter()
        .rev()
        .take_while(|byte| shape.rule.lead.has(**byte));
    let start = at - lead.take(LEAD).count();
    let before = start.checked_sub(1).map(|before| text[before]);
    // Behind a backslash a letter is an escape, no part of a word.
    let is_escaped = start >= 2 && text[start - 2] == b'\\';
    if before.is_some_and(|byte| shape.rule.edge.has(byte) && !is_escaped) {
        return None;
    }
    let captures = shape.regex().captures(&text[start..])?;
    let all = captures.get(0)?.range();
    let group = captures.iter().skip(1).flatten().next();
    let secret = group.map_or(all.clone(), |group| group.range());
    let shift = |range: Range<usize>| range.start + start..range.end + start;
    Some((shift(all), shift(secret)))
}

pub(super) fn shaped(
    policy: &Policy,
    text: &[u8],
    number: usize,
    at: usize,
    passed: &mut Passed,
    found: &mut Found,
) {
    let until = passed.shapes.iter_mut().find(|(shape, _)| *shape == number);
    if until.as_ref().is_some_and(|(_, until)| at < *until) {
        return;
    }
    let Some((all, secret)) = shape(policy, text, number, at) else {
        return;
    };
    match until {
        Some((_, until)) => *until = all.end,
        None => passed.shapes.push((number, all.end)),
    }
    let shape = &policy.shapes[number];
    let value = lossy(text, &secret);
    if shape.rule.needs.is_none_or(|needs| needs.are_met(&value)) && !is_dull(&value) {
        found.add(policy, text, secret, (shape.number, shape.rule.kind));
    }
}

/// Whether a secret of some shape only shows what such a secret looks like.
fn is_dull(value: &str) -> bool {
    let after = value
        .rfind(['-', '_', '.'])
        .map_or(value, |at| &value[at + 1..]);
    let is_same = after.len() > 3 && after.bytes().all(|byte| byte == after.as_bytes()[0]);
    is_same || is_placeholder(value)
}

/// Finds the values of the name that ends with `word`, unless it was looked at.
fn named(policy: &Policy, text: &[u8], word: Range<usize>, until: &mut usize, found: &mut Found) {
    if word.end <= *until || !may_have_value(text, word.end) {
        return;
    }
    let Some(name) = name_ending_at(policy, text, word) else {
        return;
    };
    *until = name.span.end;
    let before = &text[..name.span.start];
    // The word of a token that stands there already.
    if before.ends_with("‹".as_bytes())
        || text[name.span.clone()].starts_with("‹".as_bytes())
        || before.ends_with(b"\\") && text[name.span.clone()].starts_with(b"u2039")
    {
        return;
    }
    // A name in the path of another one: `AWS::ApiGateway::ApiKey`.
    if before.ends_with(b"::") {
        return;
    }
    let mark = found.hits.len();
    for value in bind::values(text, &name) {
        if value.span.len() >= LONG {
            // To look at all of it again for each name in it would take its square.
            *until = value.span.end;
        }
        let class = value.class.unwrap_or(name.class);
        add(policy, text, value.span, class, value.placement, found);
    }
    if found.hits.len() == mark {
        return;
    }
    // A name in which something is secret is not told.
    let mut inside = Found::default();
    scan(
        policy,
        Noticed::unknown(&text[name.span.clone()]),
        &mut inside,
    );
    let key = if inside.hits.is_empty() {
        lossy(text, &name.span)
    } else {
        String::new()
    };
    for hit in &mut found.hits[mark..] {
        hit.key = key.trim_start_matches('-').into();
    }
}

/// Whether a line ends with a name that is the value of another name: `name: API_KEY`.
pub(super) fn ends_with_member_name(policy: &Policy, line: &[u8]) -> bool {
    let name = name_ending_at(policy, line, line.len()..line.len());
    name.is_some_and(|name| bind::is_member_name(line, &name))
}

/// The name that ends with `word`, and what it says: a word, or several that make a name together.
fn name_ending_at(policy: &Policy, text: &[u8], word: Range<usize>) -> Option<Name> {
    let mut span = bind::name_at(text, word)?;
    let last = span.clone();
    for count in 0..WORDS {
        let spelled = lossy(text, &span);
        let is_escaped = span.start > 0 && text[span.start - 1] == b'\\';
        let class = policy.class(&spelled).or_else(|| {
            is_escaped
                .then(|| policy.class(spelled.get(1..)?))
                .flatten()
        });
        if let Some(class) = class {
            let is_phrase = count > 0;
            let class = if is_phrase && class == Class::Password {
                Class::Token
            } else {
                class
            };
            // Of several words only the last one may stand behind a colon or a full stop.
            return Some(Name {
                span,
                class,
                is_phrase,
            });
        }
        let before = text[..span.start].strip_suffix(b" ")?;
        let start = bind::begin(before, before.len());
        if start == before.len() || last.end - start > LONGEST {
            return None;
        }
        span = start..last.end;
    }
    None
}

/// Adds a value with such a name, if it is one: of a header what stands behind its scheme.
pub(super) fn add(
    policy: &Policy,
    text: &[u8],
    span: Range<usize>,
    class: Class,
    placement: super::value::Placement,
    found: &mut Found,
) {
    let spelled = lossy(text, &span);
    let start = span.start + spelled.len() - spelled.trim_start().len();
    let span = if text[span.clone()].is_ascii() || spelled.len() == span.len() {
        start..(start + spelled.trim().len()).min(span.end)
    } else {
        span
    };
    let span = match class {
        Class::Header | Class::Pair => behind_scheme(text, span),
        _ => span,
    };
    let value = lossy(text, &span);
    if !fits(class, &value, placement) {
        return;
    }
    let is_wrapped = is_placeholder(&value) || value.contains(char::is_whitespace);
    let rows = entropy::rows(&value)
        .filter(|_| is_wrapped)
        .map(|row| &value[row]);
    for piece in pieces(&value, class == Class::Header)
        .chain(rows)
        .take(PIECES)
    {
        found.plain.push((piece.as_bytes().into(), Kind::Secret));
    }
    found.add(policy, text, span, (id::NAME, Kind::Secret));
}

/// The parts of a value that are secret alone too: the values of cookies, and random parts of a list.
fn pieces(value: &str, is_header: bool) -> impl Iterator<Item = &str> {
    let several = value
        .split([',', ';', ':', '|', ' '])
        .filter(|piece| piece.len() < value.len());
    let random = several.filter(|piece| entropy::is_dense(piece));
    let cookies = value.split([';', ',']).filter(move |_| is_header);
    let cookies = cookies
        .filter_map(|part| part.split_once('='))
        .map(|(_, value)| value.trim());
    random.chain(cookies)
}
