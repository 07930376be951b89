//! Finding where tokens end, many bytes at a time where it counts.

use std::fmt;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Bytes at the start of a string that are looked at word by word.
const NEAR: usize = 32;

/// How many bytes at the start of `bytes` a JSON string holds as they are: up to the first quote,
/// backslash or control character.
pub(super) fn plain_run(bytes: &[u8]) -> usize {
    // Most strings end within the first words; only in long ones do blocks pay.
    let (near, far) = bytes.split_at(bytes.len().min(NEAR));
    let run = plain_words(near);
    if run < near.len() {
        return run;
    }
    let (blocks, _) = far.as_chunks::<64>();
    let blocks = blocks.iter().take_while(|block| is_plain(block)).count() * 64;
    run + blocks + plain_words(&far[blocks..])
}

/// The same, eight bytes at a time.
fn plain_words(bytes: &[u8]) -> usize {
    let (words, tail) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let stops = stops(u64::from_le_bytes(*word));
        if stops != 0 {
            return index * 8 + stops.trailing_zeros() as usize / 8;
        }
    }
    let done = bytes.len() - tail.len();
    let rest = tail.iter().position(|&byte| is_stop(byte));
    done + rest.unwrap_or(tail.len())
}

/// Whether nothing in a block ends a run. What is left of each byte is 0 where it does: the least
/// of many is found without a branch, on whole vectors.
fn is_plain(block: &[u8; 64]) -> bool {
    let left = |byte: u8| (byte ^ b'"').min(byte ^ b'\\').min(byte & !0x1f);
    block
        .iter()
        .fold(u8::MAX, |least, &byte| least.min(left(byte)))
        > 0
}

/// The high bit of each byte that ends a run. Borrows can set bits above the first hit, never
/// below it, so the lowest one is exact.
fn stops(word: u64) -> u64 {
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
    let quotes = zeros(word ^ (ONES * 0x22));
    let backslashes = zeros(word ^ (ONES * 0x5c));
    let controls = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
    quotes | backslashes | controls
}

fn is_stop(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// Whether `byte` is white space between tokens.
pub(super) fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}

/// Where the string that begins at `start` (its quote) ends, after its closing quote, and whether
/// it has escapes.
pub(super) fn string(text: &[u8], start: usize) -> Result<(usize, bool), SyntaxError> {
    let mut at = start + 1;
    let mut escaped = false;
    loop {
        at += plain_run(&text[at..]);
        match text.get(at) {
            Some(b'"') => return Ok((at + 1, escaped)),
            Some(b'\\') => {
                escaped = true;
                at = escape(text, at)?;
            }
            Some(_) => return error(at, Reason::Control),
            None => return error(at, Reason::End),
        }
    }
}

/// Where the escape that begins at `start` (its backslash) ends.
fn escape(text: &[u8], start: usize) -> Result<usize, SyntaxError> {
    match text.get(start + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(start + 2),
        Some(b'u') => {
            for at in start + 2..start + 6 {
                match text.get(at) {
                    Some(byte) if byte.is_ascii_hexdigit() => {}
                    Some(_) => return error(start, Reason::Escape),
                    None => return error(at, Reason::End),
                }
            }
            Ok(start + 6)
        }
        Some(_) => error(start, Reason::Escape),
        None => error(start + 1, Reason::End),
    }
}

/// Where the number that begins at `start` ends.
pub(super) fn number(text: &[u8], start: usize) -> Result<usize, SyntaxError> {
    let mut at = start;
    if text.get(at) == Some(&b'-') {
        at += 1;
    }
    if text.get(at) == Some(&b'0') {
        at += 1;
    } else {
        at = digits(text, at)?;
    }
    if text.get(at) == Some(&b'.') {
        at = digits(text, at + 1)?;
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        at += 1;
        if matches!(text.get(at), Some(b'+' | b'-')) {
            at += 1;
        }
        at = digits(text, at)?;
    }
    match text.get(at) {
        Some(b'0'..=b'9') => error(at, Reason::Number),
        _ => Ok(at),
    }
}

fn digits(text: &[u8], start: usize) -> Result<usize, SyntaxError> {
    let mut at = start;
    while text.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    match (at > start, at < text.len()) {
        (true, _) => Ok(at),
        (false, true) => error(at, Reason::Number),
        (false, false) => error(at, Reason::End),
    }
}

/// Where `word`, which should begin at `start`, ends.
pub(super) fn literal(text: &[u8], start: usize, word: &[u8]) -> Result<usize, SyntaxError> {
    let found = &text[start..text.len().min(start + word.len())];
    if found == word {
        Ok(start + word.len())
    } else if word.starts_with(found) {
        error(text.len(), Reason::End)
    } else {
        error(start, Reason::Value)
    }
}

/// Shorthand for an error at `offset`.
pub(super) fn error<T>(offset: usize, reason: Reason) -> Result<T, SyntaxError> {
    Err(SyntaxError { offset, reason })
}

// Why bytes are no JSON text.

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason} at byte {offset}")]
pub struct SyntaxError {
    /// Bytes before the one that does not fit.
    pub offset: usize,
    pub reason: Reason,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Empty,
    /// Something else where a value must begin.
    Value,
    /// Something else where a member's name must begin.
    Key,
    /// Something else where a member's colon must stand.
    Colon,
    /// Neither a comma nor the end of the array.
    ArrayEnd,
    /// Neither a comma nor the end of the object.
    ObjectEnd,
    /// A number that breaks off or has a digit too many.
    Number,
    /// An unknown escape in a string, or one that breaks off.
    Escape,
    /// A control character in a string, unescaped.
    Control,
    End,
    Trailing,
    /// Containers nested deeper than the limit of the reader.
    TooDeep {
        limit: usize,
    },
    TooLong,
}

impl Reason {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Value => "expected a value",
            Self::Key => "expected a member name in quotes",
            Self::Colon => "expected a colon",
            Self::ArrayEnd => "expected a comma or the end of the array",
            Self::ObjectEnd => "expected a comma or the end of the object",
            Self::Number => "malformed number",
            Self::Escape => "unknown escape in a string",
            Self::Control => "unescaped control character in a string",
            Self::End => "the text ends too early",
            Self::Trailing => "something follows the value",
            Self::TooDeep { .. } => "nested too deeply",
            Self::TooLong => "too long",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

// What the bytes between a string's quotes mean.

/// One character of a string, or what stands where one should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Char(char),
    /// An escaped surrogate without its other half, `\ud800` to `\udfff`.
    LoneSurrogate(u16),
    Invalid,
}

/// The units of a string, from the bytes between its quotes.
#[derive(Clone, Debug)]
pub struct Units<'d> {
    rest: &'d [u8],
}

impl<'d> Units<'d> {
    /// The units of `inner`. What has not passed the parser is read as far as it goes.
    pub fn new(inner: &'d [u8]) -> Self {
        Self { rest: inner }
    }

    /// Bytes that are not read yet: where in the text the next unit begins.
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    fn escape_sequence(&mut self) -> Unit {
        let byte = self.rest.get(1).copied().unwrap_or(b'\\');
        if byte == b'u' {
            return self.unicode_escape();
        }
        self.skip(2);
        Unit::Char(match byte {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            other => char::from(other),
        })
    }

    fn unicode_escape(&mut self) -> Unit {
        let high = code_unit(self.rest).unwrap_or(0xfffd);
        self.skip(6);
        let low = code_unit(self.rest).filter(|low| (0xdc00..0xe000).contains(low));
        let units = match (high, low) {
            (0xd800..0xdc00, Some(low)) => {
                self.skip(6);
                char::decode_utf16([high, low]).next()
            }
            _ => char::decode_utf16([high]).next(),
        };
        match units {
            Some(Ok(char)) => Unit::Char(char),
            _ => Unit::LoneSurrogate(high),
        }
    }

    fn multi_byte(&mut self) -> Unit {
        let window = &self.rest[..self.rest.len().min(4)];
        let (valid, bad) = match std::str::from_utf8(window) {
            Ok(text) => (text, 0),
            Err(error) => {
                let valid = &window[..error.valid_up_to()];
                let bad = error.error_len().unwrap_or(window.len() - valid.len());
                (std::str::from_utf8(valid).unwrap_or_default(), bad)
            }
        };
        if let Some(char) = valid.chars().next() {
            self.skip(char.len_utf8());
            return Unit::Char(char);
        }
        self.skip(bad.max(1));
        Unit::Invalid
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }
}

/// The code unit whose escape, a `\u` and four digits, `bytes` begin with.
fn code_unit(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

impl Iterator for Units<'_> {
    type Item = Unit;

    #[inline]
    fn next(&mut self) -> Option<Unit> {
        let (&first, rest) = self.rest.split_first()?;
        Some(match first {
            b'\\' => self.escape_sequence(),
            ..0x80 => {
                self.rest = rest;
                Unit::Char(char::from(first))
            }
            _ => self.multi_byte(),
        })
    }
}

/// The characters of a string; what is none becomes U+FFFD.
#[derive(Clone, Debug)]
pub struct Chars<'d>(Units<'d>);

impl<'d> Chars<'d> {
    pub(super) fn new(inner: &'d [u8]) -> Self {
        Self(Units::new(inner))
    }
}

impl Iterator for Chars<'_> {
    type Item = char;

    #[inline]
    fn next(&mut self) -> Option<char> {
        Some(match self.0.next()? {
            Unit::Char(char) => char,
            Unit::LoneSurrogate(_) | Unit::Invalid => char::REPLACEMENT_CHARACTER,
        })
    }
}

// A text as a JSON string.

/// Adds `text` as a JSON string, quotes included. What needs no escape is found and copied many
/// bytes at a time: most texts that are long need few.
pub fn quote(text: &str, into: &mut Vec<u8>) {
    into.reserve(text.len() + text.len() / 8 + 2);
    into.push(b'"');
    let mut rest = text.as_bytes();
    loop {
        let (plain, stop) = rest.split_at(plain_run(rest));
        into.extend_from_slice(plain);
        let Some((byte, after)) = stop.split_first() else {
            break;
        };
        push_escape(*byte, into);
        rest = after;
    }
    into.push(b'"');
}

/// Adds the escape of a quote, a backslash or a control character.
fn push_escape(byte: u8, into: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\x08' => b'b',
        b'\x0c' => b'f',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        _ => {
            let digit = |half: u8| DIGITS[usize::from(half)];
            into.extend_from_slice(b"\\u00");
            into.extend_from_slice(&[digit(byte >> 4), digit(byte & 0xf)]);
            return;
        }
    };
    into.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn many_at_a_time_find_what_one_at_a_time_finds(
            bytes in prop::collection::vec(
                prop_oneof![80 => Just(b'a'), 2 => any::<u8>(), 1 => Just(0x1f), 9 => Just(0x20)],
                0..240,
            )
        ) {
            let slow = bytes.iter().position(|&byte| is_stop(byte)).unwrap_or(bytes.len());
            prop_assert_eq!(plain_run(&bytes), slow);
        }
    }
}

#[cfg(test)]
mod string_tests {

    use crate::json::Document;

    fn decode(json: &[u8]) -> String {
        let document = Document::parse(json).unwrap();
        let value = document.root();
        assert_eq!(value.as_str().unwrap(), value.chars().collect::<String>());
        value.as_str().unwrap().into_owned()
    }

    #[test]
    fn invalid_bytes_are_replaced_as_the_standard_library_does() {
        for bytes in [
            &b"\"a\xffb\""[..],
            b"\"\xe2\x82\"",
            b"\"\xf0\x9f\x98x\xc3\"",
            b"\"\xed\xa0\x80\"",
            b"\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"",
        ] {
            let lossy = String::from_utf8_lossy(&bytes[1..bytes.len() - 1]).into_owned();
            assert_eq!(decode(bytes), lossy, "{bytes:x?}");
        }
    }
}

#[cfg(test)]
mod quote_tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_quoted_text_is_what_serde_makes_of_it(
            text in prop::collection::vec(
                prop_oneof![9 => Just('a'), 2 => any::<char>(), 1 => prop::char::range('\0', '\x7f')],
                0..240,
            )
        ) {
            let text: String = text.into_iter().collect();
            let mut quoted = Vec::new();
            quote(&text, &mut quoted);
            prop_assert_eq!(quoted, serde_json::to_vec(&text).unwrap());
        }
    }
}
