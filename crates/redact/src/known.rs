//! Values that are known to be secret, and finding them again.

use super::entropy::is_random;
use super::matcher::Matcher;
use super::report::{Found, Hit};
use super::token::{Kind, Numbers, Token};
use super::value::{is_code, is_name, is_placeholder, is_words};
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
    values: Vec<(Box<[u8]>, Token)>,
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
            self.grow();
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
        let line = (!self.lines.is_empty()).then(|| super::pem::line_of_key(raw))??;
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
        self.grow();
    }

    fn grow(&mut self) {
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
    let is_sign = |byte: u8| matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E');
    value
        .iter()
        .all(|byte| byte.is_ascii_digit() || is_sign(*byte))
        && value.iter().any(u8::is_ascii_digit)
}

/// A word without which no message is understood.
fn is_of_protocol(text: &str) -> bool {
    let mut words = super::names::words().protocol.iter();
    words.any(|word| word == text)
        || methods::find(text).is_some()
        || text.starts_with("notifications/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD_NO_PAD;

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
