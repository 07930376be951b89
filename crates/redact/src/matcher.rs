//! Finding values in a text, as they are, as base64 and as hex digits.

use super::encodings::is_letter;
use super::extent::{leading, near, trailing};
use super::policy::id;
use super::report::{Found, Hit};
use super::token::Token;
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// Bytes by which a value is found; what follows is compared.
const NEEDLE: usize = 24;

/// A known value of at least so many bytes is found within longer words too.
const PART: usize = 12;

/// Bytes that are compared for each byte of a text; of a text made to take longer than that,
/// whatever begins like a secret is one.
const COMPARED: usize = 64;

/// Bytes of values of which the fastest automaton takes some megabytes.
const SMALL: usize = 16 * 1024;

pub(super) type Value = (Box<[u8]>, Token);

#[derive(Debug)]
pub(super) struct Matcher {
    needles: AhoCorasick,
    forms: Vec<Form>,
    /// Plain parts, which stand as they are in whatever code.
    parts: AhoCorasick,
}

/// What a needle belongs to.
#[derive(Clone, Copy, Debug)]
struct Form {
    value: usize,
    code: Option<Code>,
}

/// A code in which a value stands.
#[derive(Clone, Copy, Debug)]
struct Code {
    is_letter: fn(u8) -> bool,
    /// Letters before the needle that the value has a part in.
    before: usize,
    /// Letters from the needle's first one on that it has a part in.
    letters: usize,
}

impl Matcher {
    /// Finds them in a text, as they are and in their codes.
    pub fn find(&self, text: &[u8], values: &[Value], found: &mut Found) {
        let (mut end, mut budget) = (0, text.len().saturating_mul(COMPARED));
        for needle in self.needles.find_overlapping_iter(text) {
            let form = &self.forms[needle.pattern().as_usize()];
            let value = &values[form.value];
            let hit = match form.code {
                Some(code) => Some(coded(text, needle.start(), (code, value))),
                None => plain(text, needle.start(), value, &mut budget),
            };
            if let Some(hit) = hit.filter(|hit| hit.span.end > end) {
                end = hit.span.end;
                found.hits.push(hit);
            }
        }
    }

    /// Whether one of them may stand in these bytes, whatever code they are in.
    pub fn may_be_in(&self, raw: &[u8]) -> bool {
        self.parts.is_match(raw)
    }

    /// `None` where it would be too large, which the limits make impossible.
    pub fn of(values: &[Value]) -> Option<Self> {
        let (mut needles, mut parts, mut forms) = (Vec::new(), Vec::new(), Vec::new());
        for (index, (value, _)) in values.iter().enumerate() {
            // The longest part that stands as it is in JSON, in JSON in JSON, and in a URL.
            let names = value.split(|byte| !super::names::is_of_name(*byte));
            let part = names.max_by_key(|part| part.len()).unwrap_or_default();
            parts.push(near(part, 0, NEEDLE).to_vec());
            needles.push(near(value, 0, NEEDLE).to_vec());
            forms.push(Form {
                value: index,
                code: None,
            });
            for (needle, code) in codes(value) {
                parts.push(needle.clone());
                needles.push(needle);
                let code = Some(code);
                forms.push(Form { value: index, code });
            }
        }
        Some(Self {
            needles: automaton(&needles, false)?,
            forms,
            // Nearly every frame is without any of them: a few are looked for many bytes at once.
            parts: automaton(&parts, true)?,
        })
    }
}

/// The automaton that searches fastest among those that are not too large. Where hardly any text
/// has a match it skips ahead to bytes with which a match may begin.
fn automaton(texts: &[Vec<u8>], is_rare: bool) -> Option<AhoCorasick> {
    let bytes: usize = texts.iter().map(Vec::len).sum();
    let kind = (bytes < SMALL).then_some(AhoCorasickKind::DFA);
    let mut builder = AhoCorasick::builder();
    builder.kind(kind).prefilter(is_rare).build(texts).ok()
}

/// The beginnings of a value in base64, as far as they do not depend on the bytes before and after it, and
/// in hex digits.
fn codes(value: &[u8]) -> Vec<(Vec<u8>, Code)> {
    let mut codes = Vec::new();
    for shift in 0..3 {
        let shifted = [&[0; 2][..shift], near(value, 0, NEEDLE)].concat();
        // Without the letters that what stands before and after has a part in.
        let first = (shift * 8).div_ceil(6);
        let certain = first..shifted.len() * 8 / 6;
        let code = Code {
            is_letter,
            before: usize::from(shift > 0),
            letters: ((shift + value.len()) * 8).div_ceil(6) - first,
        };
        for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            let all = engine.encode(&shifted).into_bytes();
            codes.extend((certain.len() >= 6).then(|| (all[certain.clone()].to_vec(), code)));
        }
    }
    let code = Code {
        is_letter: |byte| byte.is_ascii_hexdigit(),
        before: 0,
        letters: 2 * value.len(),
    };
    let bytes = near(value, 0, NEEDLE / 2).iter();
    let digits = bytes.flat_map(|byte| [byte >> 4, byte & 15]);
    let small: String = digits
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect();
    codes.push((small.to_ascii_uppercase().into_bytes(), code));
    codes.push((small.into_bytes(), code));
    codes
}

/// The value at `at`, if it stands there: a short one alone, and not within a longer word.
fn plain(text: &[u8], at: usize, (value, token): &Value, budget: &mut usize) -> Option<Hit> {
    let rest = &text[at..];
    *budget = budget.saturating_sub(value.len().min(rest.len()));
    let end = at + value.len().min(rest.len());
    let is_of_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let begins_within = is_of_word(text[..at].last()) && is_of_word(value.first());
    let ends_within = is_of_word(text.get(end)) && is_of_word(value.last());
    let is_whole = value.len() >= PART || !begins_within && !ends_within;
    (is_whole && (*budget == 0 || rest.starts_with(value))).then(|| Hit {
        token: Some(*token),
        kind: token.kind,
        ..Hit::new(at..end, id::KNOWN, value.clone())
    })
}

/// All of the code around what is known to be a secret in it. A slash is a letter of base64 within
/// the secret, and part of a path anywhere else.
fn coded(text: &[u8], needle: usize, (code, (value, token)): (Code, &Value)) -> Hit {
    let of_run = |byte: u8| (code.is_letter)(byte) && byte != b'/';
    let before = &text[needle.saturating_sub(code.before)..needle];
    let start = needle - trailing(before, code.is_letter);
    let start = start - trailing(&text[..start], of_run);
    // Newlines may stand between the letters of the value.
    let (mut left, mut end) = (code.letters, needle);
    for (place, byte) in text.iter().enumerate().skip(needle) {
        if left == 0 || !(code.is_letter)(*byte) && !b"\r\n".contains(byte) {
            break;
        }
        if (code.is_letter)(*byte) {
            (left, end) = (left - 1, place + 1);
        }
    }
    let end = end + leading(&text[end..], of_run);
    let end = end + leading(near(text, end, 2), |byte| byte == b'=');
    Hit {
        plain: Some(value.clone()),
        kind: token.kind,
        ..Hit::new(start..end, id::KNOWN, text[start..end].into())
    }
}
