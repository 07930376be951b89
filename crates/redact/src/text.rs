//! Secrets in a text: by shape, by name, in URLs, in private keys, by the user's own patterns.

use super::bind;
use super::encodings::{self, Code};
use super::entropy;
use super::extent::{LONG, behind_scheme, leading, lossy, near, trailing};
use super::names::{Class, LONGEST, Name};
use super::policy::{Notice, Policy, Sign, id};
use super::report::Found;
use super::token::Kind;
use super::value::{Placement, fits, is_placeholder};
use super::{pem, url};
use std::ops::Range;

/// Bytes of a lead that belong to a secret.
const LEAD: usize = 128;

/// Words of a name: `one time code`.
const WORDS: usize = 3;

/// Bytes behind a name in which something tells that it has a value.
const NEAR: usize = 96;

/// Pieces of one value that are looked for elsewhere as well.
const PIECES: usize = 64;

/// A text that is gone through, and how far it has been looked at for what, so that nothing is looked
/// at again and again.
pub(super) struct Scan<'s> {
    pub policy: &'s Policy,
    pub text: &'s [u8],
    pub found: &'s mut Found,
    shapes: Vec<(usize, usize)>,
    name: usize,
    pub pem: pem::Passed,
}

/// Finds all there is in a text as it stands; the codes in which there may be more.
pub(super) fn scan(policy: &Policy, text: &[u8], found: &mut Found) -> Vec<Code> {
    let mut codes = Vec::new();
    let mut scan = Scan::new(policy, text, found);
    for Sign { notice, start, end } in policy.signs(text) {
        match notice {
            Notice::Shape(number) => scan.shape(number, start),
            Notice::Name => scan.name(start..end),
            Notice::Url => url::find(&mut scan, end),
            Notice::Pem => pem::find(&mut scan, start),
            Notice::Code(code) if !codes.contains(&code) => codes.push(code),
            Notice::Code(_) | Notice::Grant => {}
        }
    }
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
        Notice::Code(Code::Percent) => encodings::percent(&raw[start..]).is_some(),
        Notice::Grant => memchr::memmem::find(raw, b"\"code").is_some(),
        Notice::Code(_) | Notice::Pem => true,
    }
}

/// Whether something that a value needs follows the word that ends at `end`: a sign or a quote right
/// behind it, or in the words that follow a digit or a sign that no sentence has. Most words that are
/// names are words of a sentence: to ask this first is cheap.
fn may_have_value(text: &[u8], end: usize) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_digit() || b"sS_-".contains(&byte);
    let is_of_sentence =
        |byte: &u8| byte.is_ascii_alphabetic() || b" ,.\n\r\t;()-_/".contains(byte);
    let near = near(text, end, NEAR);
    let rest = &near[leading(&near[..near.len().min(6)], is_of_name)..];
    match rest.first() {
        None => false,
        Some(b' ' | b'\t') => !rest.iter().all(is_of_sentence) || is_given(&text[..end]),
        Some(byte) => !byte.is_ascii_alphanumeric() || rest.len() < near.len(),
    }
}

/// Whether a value may stand in front of a name: `this as the password`.
fn is_given(before: &[u8]) -> bool {
    let near = &before[before.len().saturating_sub(LONGEST)..];
    memchr::memmem::find(near, b" as ").is_some()
}

/// Where something of a shape stands whose anchor begins at `at`: all of it, and its secret.
pub(super) fn shape(
    policy: &Policy,
    text: &[u8],
    number: usize,
    at: usize,
) -> Option<(Range<usize>, Range<usize>)> {
    let shape = &policy.shapes[number];
    let lead = &text[at.saturating_sub(LEAD)..at];
    let start = at - trailing(lead, |byte| shape.rule.lead.has(byte));
    let before = start.checked_sub(1).map(|before| text[before]);
    // Behind a backslash a letter is an escape, no part of a word.
    let is_escaped = start >= 2 && text[start - 2] == b'\\';
    if before.is_some_and(|byte| shape.rule.edge.has(byte) && !is_escaped) {
        return None;
    }
    let captures = shape.regex().captures(&text[start..])?;
    let all = captures.get(0)?;
    let secret = captures.iter().skip(1).flatten().next().unwrap_or(all);
    let shift = |range: Range<usize>| range.start + start..range.end + start;
    Some((shift(all.range()), shift(secret.range())))
}

impl<'s> Scan<'s> {
    pub fn new(policy: &'s Policy, text: &'s [u8], found: &'s mut Found) -> Self {
        Self {
            policy,
            text,
            found,
            shapes: Vec::new(),
            name: 0,
            pem: pem::Passed::default(),
        }
    }

    pub fn shape(&mut self, number: usize, at: usize) {
        let until = self.shapes.iter_mut().find(|(shape, _)| *shape == number);
        if until.as_ref().is_some_and(|(_, until)| at < *until) {
            return;
        }
        let Some((all, secret)) = shape(self.policy, self.text, number, at) else {
            return;
        };
        match until {
            Some((_, until)) => *until = all.end,
            None => self.shapes.push((number, all.end)),
        }
        let shape = &self.policy.shapes[number];
        let value = lossy(self.text, &secret);
        if shape.rule.needs.iter().all(|needs| needs.is_met(&value)) && !is_dull(&value) {
            self.add(secret, (shape.number, shape.rule.kind));
        }
    }

    pub fn add(&mut self, span: Range<usize>, rule: (usize, Kind)) {
        self.found.add(self.policy, self.text, span, rule);
    }

    /// Finds the values of the name that ends with `word`, unless it was looked at.
    fn name(&mut self, word: Range<usize>) {
        let (policy, text) = (self.policy, self.text);
        if word.end <= self.name || !may_have_value(text, word.end) {
            return;
        }
        let Some(name) = name_ending_at(policy, text, word) else {
            return;
        };
        self.name = name.span.end;
        let (before, called) = (&text[..name.span.start], &text[name.span.clone()]);
        // The word of a token that stands there already; a name in the path of another one:
        // `AWS::ApiGateway::ApiKey`.
        let opens = "‹".as_bytes();
        let is_token = before.ends_with(opens)
            || called.starts_with(opens)
            || before.ends_with(b"\\") && called.starts_with(b"u2039");
        let is_path = before.ends_with(b"::") || text[name.span.end..].starts_with(b"::");
        // `${PASSWORD:?message}`
        if is_token || is_path || text[name.span.end..].starts_with(b":?") {
            return;
        }
        let mark = self.found.hits.len();
        for value in bind::values(text, &name) {
            if value.span.len() >= LONG {
                // To look at all of it again for each name in it would take its square.
                self.name = value.span.end;
            }
            let class = value.class.unwrap_or(name.class);
            add(
                (policy, text),
                value.span,
                (class, value.placement),
                self.found,
            );
        }
        if self.found.hits.len() == mark {
            return;
        }
        // A name in which something is secret is not told.
        let mut inside = Found::default();
        scan(policy, called, &mut inside);
        if inside.hits.is_empty() {
            let key = lossy(text, &name.span);
            for hit in &mut self.found.hits[mark..] {
                hit.key = key.trim_start_matches('-').into();
            }
        }
    }
}

/// Whether a secret of some shape only shows what such a secret looks like.
fn is_dull(value: &str) -> bool {
    let after = value
        .rsplit(['-', '_', '.', '/'])
        .next()
        .unwrap_or_default();
    let is_same = after.len() > 3 && after.bytes().all(|byte| byte == after.as_bytes()[0]);
    is_same || is_placeholder(value)
}

/// The name that ends with `word`, and what it says: a word, or several that make a name together.
fn name_ending_at(policy: &Policy, text: &[u8], word: Range<usize>) -> Option<Name> {
    let mut span = bind::name_at(text, word)?;
    let last = span.clone();
    for count in 0..WORDS {
        let spelled = lossy(text, &span);
        let is_escaped = span.start > 0 && text[span.start - 1] == b'\\';
        let without = spelled.get(1..).filter(|_| is_escaped);
        let class = policy.class(&spelled);
        if let Some(class) = class.or_else(|| policy.class(without?)) {
            let is_phrase = count > 0;
            let class = match class {
                Class::Key if is_phrase => Class::Token,
                class => class,
            };
            return Some(Name {
                span,
                class,
                is_phrase,
            });
        }
        // Of several words only the last one may stand behind a colon or a full stop.
        let before = &text[..span.start];
        let before = before
            .strip_suffix(b" ")
            .or_else(|| before.strip_suffix(b"'"))?;
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
    (policy, text): (&Policy, &[u8]),
    span: Range<usize>,
    (class, placement): (Class, Placement),
    found: &mut Found,
) {
    let said = &text[span.clone()];
    let end = span.start + said.trim_ascii_end().len();
    let start = end - text[span.start..end].trim_ascii_start().len();
    let span = match class {
        Class::Header | Class::Pair => behind_scheme(text, start..end),
        _ => start..end,
    };
    let value = lossy(text, &span);
    if !fits(class, &value, placement) {
        return;
    }
    let is_wrapped = is_placeholder(&value) || value.contains(char::is_whitespace);
    let rows = entropy::rows(&value).filter(|_| is_wrapped);
    let rows = rows.map(|row| &value[row]);
    let all = pieces(&value, class == Class::Header).chain(rows);
    let plain = all
        .take(PIECES)
        .map(|piece| (piece.as_bytes().into(), Kind::Secret));
    found.plain.extend(plain);
    found.add(policy, text, span, (id::NAME, Kind::Secret));
}

/// The parts of a value that are secret alone too: the values of cookies, and random parts of a list.
fn pieces(value: &str, is_header: bool) -> impl Iterator<Item = &str> {
    let several = value.split([',', ';', ':', '|', ' ']);
    let random = several.filter(|piece| piece.len() < value.len() && entropy::is_dense(piece));
    let cookies = value.split([';', ',']).filter(move |_| is_header);
    let cookies = cookies.filter_map(|part| part.split_once('='));
    random.chain(cookies.map(|(_, value)| value.trim()))
}
