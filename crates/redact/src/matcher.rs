//! Finding values in a text, as they are, as base64 and as hex digits.

use super::extent::{leading, near, trailing};
use super::policy::id;
use super::report::{Found, Hit};
use super::token::Token;
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::collections::{BTreeSet, HashMap};

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

#[derive(Debug, Default)]
struct Form {
    plain: Vec<usize>,
    /// The longest of the values that are coded like this.
    code: Option<Code>,
}

/// A code in which a value stands.
#[derive(Clone, Copy, Debug)]
struct Code {
    is_letter: fn(u8) -> bool,
    value: usize,
    /// Letters before the needle that the value has a part in.
    before: usize,
    /// Letters from the needle's first one on that it has a part in.
    letters: usize,
}

impl Matcher {
    /// Finds them in a text, as they are and as base64.
    pub fn find(&self, text: &[u8], values: &[Value], found: &mut Found) {
        let (mut end, mut budget) = (0, text.len().saturating_mul(COMPARED));
        for needle in self.needles.find_overlapping_iter(text) {
            let form = &self.forms[needle.pattern().as_usize()];
            let those = form.plain.iter().map(|value| &values[*value]);
            let plain = plain(text, needle.start(), those, &mut budget);
            let code = form
                .code
                .map(|code| coded(text, needle.start(), (code, &values[code.value])));
            for hit in plain.into_iter().chain(code) {
                if hit.span.end > end {
                    end = hit.span.end;
                    found.hits.push(hit);
                }
            }
        }
    }

    /// Whether one of them may stand in these bytes, whatever code they are in.
    pub fn may_be_in(&self, raw: &[u8]) -> bool {
        self.parts.is_match(raw)
    }

    /// `None` where it would be too large, which the limits make impossible.
    pub fn of(values: &[Value]) -> Option<Self> {
        let mut forms: HashMap<Vec<u8>, Form> = HashMap::new();
        let mut parts = BTreeSet::new();
        for (index, (value, _)) in values.iter().enumerate() {
            let needle = value[..value.len().min(NEEDLE)].to_vec();
            forms.entry(needle).or_default().plain.push(index);
            parts.insert(plain_part(value).to_vec());
            let which = (index, &**value);
            for (needle, code) in base64(which).into_iter().chain(hex(which)) {
                parts.insert(needle.clone());
                let longest = &mut forms.entry(needle).or_default().code;
                if longest.is_none_or(|longest| longest.letters < code.letters) {
                    *longest = Some(code);
                }
            }
        }
        let (needles, forms): (Vec<_>, Vec<_>) = forms.into_iter().unzip();
        Some(Self {
            needles: automaton(needles, false)?,
            forms,
            // Nearly every frame is without any of them: a few are looked for many bytes at once.
            parts: automaton(parts.into_iter().collect(), true)?,
        })
    }
}

/// The automaton that searches fastest among those that are not too large. Where hardly any text
/// has a match it skips ahead to bytes with which a match may begin.
fn automaton(texts: Vec<Vec<u8>>, is_rare: bool) -> Option<AhoCorasick> {
    let bytes: usize = texts.iter().map(Vec::len).sum();
    let kind = (bytes < SMALL).then_some(AhoCorasickKind::DFA);
    AhoCorasick::builder()
        .kind(kind)
        .prefilter(is_rare)
        .build(texts)
        .ok()
}

/// The longest part of a value that stands as it is in JSON, in JSON in JSON, and in a URL; the
/// beginning of it.
fn plain_part(value: &[u8]) -> &[u8] {
    let parts = value.split(|byte| !super::names::is_of_name(*byte));
    let part = parts.max_by_key(|part| part.len()).unwrap_or_default();
    &part[..part.len().min(NEEDLE)]
}

/// The letters of a value in base64 that do not depend on the bytes before and after it.
fn base64((index, value): (usize, &[u8])) -> Vec<(Vec<u8>, Code)> {
    let mut codes = Vec::new();
    for shift in 0..3 {
        let shifted = [&[0; 2][..shift], &value[..value.len().min(NEEDLE)]].concat();
        // Without the letters that what stands before and after has a part in.
        let first = (shift * 8).div_ceil(6);
        let certain = first..shifted.len() * 8 / 6;
        if certain.len() < 6 {
            continue;
        }
        let code = Code {
            is_letter: super::encodings::is_letter,
            value: index,
            before: usize::from(shift > 0),
            letters: ((shift + value.len()) * 8).div_ceil(6) - first,
        };
        for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            let all = engine.encode(&shifted).into_bytes();
            codes.push((all[certain.clone()].to_vec(), code));
        }
    }
    codes
}

/// A value in hex digits, small and large.
fn hex((index, value): (usize, &[u8])) -> [(Vec<u8>, Code); 2] {
    let code = Code {
        is_letter: |byte| byte.is_ascii_hexdigit(),
        value: index,
        before: 0,
        letters: 2 * value.len(),
    };
    let near = near(value, 0, NEEDLE / 2).iter();
    let digits = near.flat_map(|byte| [byte >> 4, byte & 15]);
    let digits = digits.filter_map(|digit| char::from_digit(digit.into(), 16));
    let small: String = digits.collect();
    let large = small.to_ascii_uppercase();
    [small, large].map(|digits| (digits.into_bytes(), code))
}

/// The longest of these values that stands at `at`.
fn plain<'v>(
    text: &[u8],
    at: usize,
    values: impl Iterator<Item = &'v Value>,
    budget: &mut usize,
) -> Option<Hit> {
    let rest = &text[at..];
    let mut longest: Option<&Value> = None;
    for entry in values {
        let value = &entry.0;
        *budget = budget.saturating_sub(value.len().min(rest.len()));
        let stands = *budget == 0 || rest.starts_with(value);
        let is_longer = longest.is_none_or(|longest| value.len() > longest.0.len());
        if stands && is_longer && is_whole(text, at, value) {
            longest = Some(entry);
        }
        if *budget == 0 {
            break;
        }
    }
    let (value, token) = longest?;
    let span = at..at + value.len().min(rest.len());
    Some(Hit {
        token: Some(*token),
        kind: token.kind,
        ..Hit::new(span, id::KNOWN, value.clone())
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

/// Whether a short value stands alone, and not within a longer word.
fn is_whole(text: &[u8], at: usize, value: &[u8]) -> bool {
    let is_of_word = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let before = at.checked_sub(1).and_then(|before| text.get(before));
    let begins_within = is_of_word(before) && is_of_word(value.first());
    let ends_within = is_of_word(text.get(at + value.len())) && is_of_word(value.last());
    value.len() >= PART || !(begins_within || ends_within)
}
