//! Values that are known to be secret, and finding them again.

use super::encodings::is_letter;
use super::entropy::is_random;
use super::extent::{leading, near, trailing};
use super::names::{is_of_name, words};
use super::policy::id;
use super::report::{Found, Hit};
use super::token::{Kind, Numbers, Token};
use super::value::{is_code, is_name, is_placeholder, is_words};
use aho_corasick::{AhoCorasick, AhoCorasickKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use mcpreel_wire::mcp::methods;
use std::collections::HashMap;

/// Values that are looked for wherever they appear again. A session with more would take memory
/// and time without end; beyond, values are replaced where they are recognised.
pub const MOST_VALUES: usize = 10_000;

pub const MOST_BYTES: usize = 8 * 1024 * 1024;

/// A longer value is looked for where it is recognised, not elsewhere.
const LONGEST: usize = 16 * 1024;

/// A shorter value is a word, and may stand for something else.
const SHORTEST: usize = 8;

/// A shorter word says too little to tell anything of a value: it stands in many.
const HINT: usize = 4;

/// Values that are known to be secret.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub numbers: Numbers,
    values: Vec<Value>,
    /// Lines of private keys that are too short to be looked for in a text.
    lines: HashMap<Box<[u8]>, Token>,
    bytes: usize,
    /// Values that are not looked for elsewhere: too short, or too many.
    pub short: u64,
    pub beyond: u64,
    matcher: Option<Matcher>,
}

impl Known {
    /// Takes a value in. It is looked for wherever it appears, unless it is too short for that.
    pub fn learn(&mut self, value: &[u8], kind: Kind) -> Token {
        let is_new = !self.numbers.has(value);
        let token = self.numbers.of(value, kind);
        if is_new && kind == Kind::Secret {
            self.look_for(value, token);
        }
        token
    }

    /// Takes in what was found, and what that says if it stands in a code.
    pub fn learn_hit(&mut self, hit: &Hit) {
        let Some(plain) = &hit.plain else {
            self.learn(&hit.value, hit.kind);
            return;
        };
        self.learn_plain(plain, hit.kind);
        let is_new = !self.numbers.has(&hit.value);
        let token = self.token(hit);
        if is_new && hit.kind == Kind::Secret {
            self.look_for(&hit.value, token);
        }
    }

    /// Takes in what a value says when it is decoded, if it is looked for: of itself it was not
    /// seen, so it may have no number until then.
    pub fn learn_plain(&mut self, value: &[u8], kind: Kind) {
        if kind == Kind::Secret && is_telling(value) && !self.numbers.has(value) {
            self.learn(value, kind);
        }
    }

    /// The token in place of a hit. A value that is new is not looked for elsewhere.
    pub fn token(&mut self, hit: &Hit) -> Token {
        match (hit.token, &hit.plain) {
            (Some(token), _) => token,
            (None, Some(plain)) => self.numbers.of_coded(&hit.value, (plain, hit.kind)),
            (None, None) => self.numbers.of(&hit.value, hit.kind),
        }
    }

    /// Takes a private key in, whose lines are secret each.
    pub fn learn_key(&mut self, lines: &[Box<[u8]>]) {
        let token = self.learn(&lines.concat(), Kind::Secret);
        for line in lines {
            if line.len() >= 2 * SHORTEST {
                self.look_for(line, token);
            } else if self.lines.len() < MOST_VALUES {
                self.lines.insert(line.clone(), token);
            }
        }
    }

    /// Whether a word of a text is a part of a value, in whatever case: somebody who looked for a
    /// value may have said no more of it.
    pub fn is_hinted(&self, text: &str) -> bool {
        let small = text.to_ascii_lowercase();
        let words = small.split(|char: char| !char.is_alphanumeric());
        let words: Vec<_> = words.filter(|word| word.len() >= HINT).collect();
        let has_one = |value: &[u8]| {
            let value = value.to_ascii_lowercase();
            let is_in = |word: &&str| memchr::memmem::find(&value, word.as_bytes()).is_some();
            words.iter().any(is_in)
        };
        let said = text.split(|char: char| !char.is_alphanumeric());
        self.values.iter().any(|(value, _)| has_one(value))
            || said
                .filter(|word| !word.is_empty())
                .any(|word| self.numbers.has(word.as_bytes()))
    }

    /// The line of a private key that these bytes are, and the token of the key.
    pub fn line_of_key<'r>(&self, raw: &'r [u8]) -> Option<(&'r [u8], Token)> {
        let line = (!self.lines.is_empty()).then(|| super::shapes::line_of_key(raw))??;
        Some((line, *self.lines.get(line)?))
    }

    fn look_for(&mut self, value: &[u8], token: Token) {
        if !is_telling(value) {
            self.short += 1;
            return;
        }
        if self.values.len() >= MOST_VALUES
            || self.bytes + value.len() > MOST_BYTES
            || value.len() > LONGEST
        {
            self.beyond += 1;
            return;
        }
        self.bytes += value.len();
        self.values.push((value.into(), token));
        self.matcher = None;
    }

    /// No longer looks for values that are numbers: as ids and counts they stay.
    pub fn forget_numbers(&mut self) {
        self.values.retain(|(value, _)| !is_number(value));
        self.matcher = None;
        self.prepare();
    }

    pub fn prepare(&mut self) {
        if self.matcher.is_none() && !self.values.is_empty() {
            self.matcher = Matcher::of(&self.values);
        }
    }

    /// Whether one of them may stand in these bytes, whatever code they are in.
    pub fn may_be_in(&self, raw: &[u8]) -> bool {
        let mut matcher = self.matcher.iter();
        matcher.any(|matcher| matcher.may_be_in(raw)) || self.line_of_key(raw).is_some()
    }

    /// Finds them in a text, as they are, as base64 and as hex digits.
    pub fn find(&self, text: &[u8], found: &mut Found) {
        if let Some(matcher) = &self.matcher {
            matcher.find(text, &self.values, found);
        }
    }
}

/// Whether a value says enough to be looked for elsewhere.
fn is_telling(value: &[u8]) -> bool {
    let text = String::from_utf8_lossy(value);
    let is_long = value.len() >= SHORTEST || value.len() >= 6 && is_random(&text);
    is_long && is_one_value(&text) && !is_placeholder(&text) && !is_of_protocol(&text)
}

/// Whether a text is one value, and neither words nor code: what is replaced elsewhere must be sure.
fn is_one_value(text: &str) -> bool {
    let is_phrase = || {
        text.split(' ')
            .all(|word| !word.is_empty() && word.chars().all(char::is_alphanumeric))
    };
    let is_wrapped = text.starts_with(['(', '[', '{', '<', '"', '\''])
        && text.ends_with([')', ']', '}', '>', '"', '\'']);
    !text.contains(['\n', '\r', '\t'])
        && !is_wrapped
        && !is_code(text)
        && !text.ends_with([',', ';', '('])
        && if text.contains(' ') {
            is_phrase()
        } else {
            let is_lower = text.bytes().all(|byte| byte.is_ascii_lowercase());
            text.len() >= 2 * SHORTEST && is_lower || !is_words(text) && !is_name(text)
        }
}

/// Whether a value may stand as a number in a message.
fn is_number(value: &[u8]) -> bool {
    let is_read = || std::str::from_utf8(value).is_ok_and(|said| said.parse::<f64>().is_ok());
    value.iter().any(u8::is_ascii_digit) && is_read()
}

/// A word without which no message is understood.
fn is_of_protocol(text: &str) -> bool {
    let mut words = words().protocol.iter();
    words.any(|word| word == text)
        || methods::find(text).is_some()
        || text.starts_with("notifications/")
}

// Finding values in a text, as they are, as base64 and as hex digits.

/// Bytes by which a value is found; what follows is compared.
const NEEDLE: usize = 24;

/// A known value of at least so many bytes is found within longer words too.
const PART: usize = 12;

/// Bytes that are compared for each byte of a text; of a text made to take longer than that,
/// whatever begins like a secret is one.
const COMPARED: usize = 64;

/// Bytes of values of which the fastest automaton takes some megabytes.
const SMALL: usize = 16 * 1024;

type Value = (Box<[u8]>, Token);

#[derive(Debug)]
struct Matcher {
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
            let names = value.split(|byte| !is_of_name(*byte));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(known: &Known, text: &str) -> Vec<String> {
        let mut found = Found::default();
        known.find(text.as_bytes(), &mut found);
        found.settle();
        found
            .hits
            .iter()
            .map(|hit| text[hit.span.clone()].to_owned())
            .collect()
    }

    fn known(values: &[&str]) -> Known {
        let mut known = Known::default();
        for value in values {
            known.learn(value.as_bytes(), Kind::Secret);
        }
        known.prepare();
        known
    }

    #[test]
    fn a_value_is_found_wherever_it_stands() {
        let known = known(&["hunter2", "correcthorsebattery", "p@ss/w0rd"]);
        assert_eq!(
            spans(&known, "hunter2, hunter22 xhunter2 (hunter2)"),
            ["hunter2", "hunter2"]
        );
        assert_eq!(
            spans(&known, "acorrecthorsebatterys"),
            ["correcthorsebattery"]
        );
        for before in ["", "a", "ab", "user:"] {
            let coded = STANDARD_NO_PAD.encode(format!("{before}correcthorsebattery!"));
            assert_eq!(
                spans(&known, &format!("x {coded}= y")),
                [format!("{coded}=")],
                "{before}"
            );
            assert!(known.may_be_in(coded.as_bytes()));
        }
        assert!(known.may_be_in(b"p%40ss%2Fw0rd") && known.may_be_in(br"p@ss\/w0rd"));
    }

    #[test]
    fn short_words_and_those_of_the_protocol_are_not_looked_for() {
        let known = known(&["abc", "sunny", "tools/call", "arguments", "xxxxxxxx"]);
        assert_eq!(known.numbers.len(), 5);
        assert_eq!(known.short, 5);
        assert_eq!(
            spans(&known, "abc sunny tools/call arguments xxxxxxxx"),
            [""; 0]
        );
    }

    #[test]
    fn parts_of_a_value_are_hints_in_any_case() {
        let known = known(&["Kq8vWp3m/XrT4ZbLd7", "abc"]);
        for text in ["text:kq8vwp3m", "a~\"XRT4.*\"", "password=abc"] {
            assert!(known.is_hinted(text), "{text}");
        }
        for text in ["is:failed", "method:tools/call", "a~\"Kq8\"", "abcd", ""] {
            assert!(!known.is_hinted(text), "{text}");
        }
    }

    #[test]
    fn numbers_are_forgotten_and_nothing_else() {
        let mut known = known(&["445566778", "1.25e+17", "hunter2", "e4455667x"]);
        let text = "445566778 1.25e+17 hunter2 e4455667x";
        assert_eq!(spans(&known, text).len(), 4);
        known.forget_numbers();
        assert_eq!(spans(&known, text), ["hunter2", "e4455667x"]);
    }

    #[test]
    fn what_is_made_to_take_long_takes_no_longer() {
        let value = format!("{}b", "a".repeat(4000));
        let known = known(&[&value]);
        let text = "a".repeat(200_000);
        assert!(!spans(&known, &text).is_empty(), "in doubt it is one");
    }
}
