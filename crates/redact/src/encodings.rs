//! A text that stands within another one in some code, and where its bytes are in that.

use super::extent::{leading, near, trailing};
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use mcpreel_wire::json::{Unit, Units};
use std::ops::Range;

/// A code in which single signs of a text may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    Percent,
    /// An escape of JSON.
    Escape,
    /// A command that sets the colours of a terminal, which says nothing.
    Style,
    /// An entity of XML.
    Entity,
}

impl Code {
    /// Texts that tell that a code is used.
    pub const MARKS: [(&str, Self); 10] = [
        ("%", Self::Percent),
        ("\\u00", Self::Escape),
        ("\\/", Self::Escape),
        ("&quot;", Self::Entity),
        ("&apos;", Self::Entity),
        ("\u{1b}[", Self::Style),
        ("&amp;", Self::Entity),
        ("&lt;", Self::Entity),
        ("&gt;", Self::Entity),
        ("&#3", Self::Entity),
    ];

    /// The byte with which a sign in this code begins.
    fn mark(self) -> u8 {
        match self {
            Self::Percent => b'%',
            Self::Escape => b'\\',
            Self::Style => 0x1b,
            Self::Entity => b'&',
        }
    }

    /// The bytes that the code at the beginning stands for, how many, and its own length.
    fn read(self, text: &[u8]) -> Option<([u8; 4], usize, usize)> {
        let one = |char: char, length: usize| {
            let mut said = [0; 4];
            let count = char.encode_utf8(&mut said).len();
            Some((said, count, length))
        };
        match self {
            Self::Percent => {
                // The first byte of a letter of several is followed by another one.
                let is_one = |byte: &u8| *byte < 0xc0 || text.get(3) == Some(&b'%');
                Some(([percent(text).filter(is_one)?, 0, 0, 0], 1, 3))
            }
            Self::Escape => {
                let mut units = Units::new(text);
                let Some(Unit::Char(char)) = units.next() else {
                    return None;
                };
                one(char, text.len() - units.left())
            }
            Self::Style => {
                let is_number = |byte: u8| byte.is_ascii_digit() || b";:".contains(&byte);
                let numbers = near(text, 2, 32);
                let length = leading(numbers, is_number);
                let is_one = text[1..].starts_with(b"[") && numbers.get(length) == Some(&b'm');
                is_one.then_some(([0; 4], 0, length + 3))
            }
            Self::Entity => {
                let end = memchr::memchr(b';', near(text, 0, 10))?;
                let char = match &text[1..end] {
                    b"amp" => '&',
                    b"lt" => '<',
                    b"gt" => '>',
                    b"quot" | b"#34" => '"',
                    b"apos" | b"#39" => '\'',
                    _ => return None,
                };
                one(char, end + 1)
            }
        }
    }
}

/// The byte that three others stand for.
pub(super) fn percent(text: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = text else {
        return None;
    };
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

/// A decoded text, with the place of each byte in the encoded one.
#[derive(Debug, Default)]
pub(super) struct Layer {
    pub text: Vec<u8>,
    pieces: Vec<Piece>,
}

/// A part of a decoded text, and where it stands in the encoded one.
#[derive(Clone, Debug)]
struct Piece {
    start: usize,
    outside: Range<usize>,
    /// Whether it is one sign in several bytes, which cannot be cut.
    is_sign: bool,
}

impl Layer {
    /// A text in which something stands in this code; `None` where nothing does.
    pub fn of(code: Code, text: &[u8]) -> Option<Self> {
        let (mut layer, mut at) = (Self::default(), 0);
        for start in memchr::memchr_iter(code.mark(), text) {
            let Some((said, count, length)) = code.read(&text[start..]).filter(|_| start >= at)
            else {
                continue;
            };
            layer.push(&text[at..start], at..start, false);
            layer.push(&said[..count], start..start + length, true);
            at = start + length;
        }
        layer.push(&text[at..], at..text.len(), false);
        (at > 0).then_some(layer)
    }

    fn push(&mut self, bytes: &[u8], outside: Range<usize>, is_sign: bool) {
        self.pieces.push(Piece {
            start: self.text.len(),
            outside,
            is_sign,
        });
        self.text.extend_from_slice(bytes);
    }

    /// Where a part of the text stands in the one around it.
    pub fn place(&self, span: Range<usize>) -> Range<usize> {
        let outside = |inside: usize| {
            let next = self.pieces.partition_point(|piece| piece.start <= inside);
            let piece = &self.pieces[next.saturating_sub(1)];
            let at = piece.outside.start + (inside - piece.start);
            if piece.is_sign {
                piece.outside.clone()
            } else {
                at..at + 1
            }
        };
        outside(span.start).start..outside(span.end - 1).end
    }
}

// Base64 in texts: where it may be, and what it says.

/// Shorter runs have no room for a secret that is known by its shape.
const LEAST: usize = 24;

/// Bytes that are looked at to see whether a run says something in text.
const PROBE: usize = 32;

/// Lines of text that is coded for mail are at least so long; their run goes on after the newline.
const LINE: usize = 60;

const ENGINE: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Which bytes are letters of base64: it is asked of most bytes of a session.
const LETTERS: [bool; 256] = {
    let mut letters = [false; 256];
    let mut byte = u8::MAX;
    while byte > 0 {
        let is_letter = byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
        letters[byte as usize] = is_letter;
        byte -= 1;
    }
    letters
};

/// A letter of base64, in either alphabet.
pub(super) fn is_letter(byte: u8) -> bool {
    LETTERS[usize::from(byte)]
}

/// Where base64 may stand: long runs of its letters, with their padding.
pub(super) fn runs(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            // A run that is long enough has a letter at every such step.
            let probe = at + LEAST - 1;
            if !is_letter(*text.get(probe)?) {
                at = probe + 1;
                continue;
            }
            let start = probe - trailing(&text[at..probe], is_letter);
            let end = run_end(text, start);
            at = end.max(probe + 1);
            if end - start >= LEAST {
                return Some(start..end);
            }
        }
    })
}

/// Where the run that begins at `start` ends, with its padding.
fn run_end(text: &[u8], start: usize) -> usize {
    let mut line = start;
    loop {
        let end = line + leading(&text[line..], is_letter);
        let rest = near(text, end, 3);
        let newline = leading(rest, |byte| b"\r\n".contains(&byte));
        let goes_on = rest.get(newline).is_some_and(|byte| is_letter(*byte));
        if newline == 0 || end - line < LINE || !goes_on {
            return end + leading(near(text, end, 2), |byte| byte == b'=');
        }
        line = end + newline;
    }
}

/// What a run says where that begins like text: as base64 from its first, second, third or fourth
/// letter on, since what stands before may be no part of it.
pub(super) fn readings(run: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    (0..4).filter_map(|shift| {
        let rest = run.get(shift..)?;
        let probe = decode(&rest[..rest.len().min(PROBE)]);
        is_text(&probe).then(|| decode(rest))
    })
}

/// A run of base64, decoded as far as that is possible.
pub(super) fn decode(run: &[u8]) -> Vec<u8> {
    let letters = run.iter().filter(|byte| is_letter(**byte));
    let letters: Vec<u8> = letters
        .map(|byte| match byte {
            b'-' => b'+',
            b'_' => b'/',
            other => *other,
        })
        .collect();
    ENGINE.decode(&letters).unwrap_or_default()
}

fn is_text(bytes: &[u8]) -> bool {
    let is_printed = |byte: &&u8| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~');
    !bytes.is_empty() && bytes.iter().filter(is_printed).count() * 8 >= bytes.len() * 7
}

/// Whether it is base64 of a name and a secret with a colon between them.
pub(super) fn is_pair(text: &[u8]) -> bool {
    plain_pair(text).is_some()
}

/// The secret that base64 says: of a pair what stands behind the colon, or before it where that is nothing;
/// of a text all of it.
pub(super) fn secret_in(text: &[u8]) -> Option<Vec<u8>> {
    if let Some((mut plain, colon)) = plain_pair(text) {
        let secret = plain.split_off(colon + 1);
        plain.truncate(colon);
        return Some(if secret.is_empty() { plain } else { secret });
    }
    let is_whole = text.len().is_multiple_of(4) && run_end(text, 0) == text.len();
    let plain = is_whole.then(|| decode(text))?;
    (plain.len() >= 8 && plain.iter().all(u8::is_ascii_graphic)).then_some(plain)
}

/// What base64 of such a pair says, and where its colon is.
fn plain_pair(text: &[u8]) -> Option<(Vec<u8>, usize)> {
    let letters = &text[..leading(text, |byte| !b"=%".contains(&byte))];
    if letters.len() < 6 || !letters.iter().all(|byte| is_letter(*byte)) {
        return None;
    }
    let plain = decode(letters);
    let colon = memchr::memchr(b':', &plain)?;
    let is_text = plain.iter().all(|byte| matches!(byte, b' '..=b'~'));
    is_text.then_some((plain, colon))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_read_and_their_places_known() {
        let raw = br"a\u0041b\ud83d\ude00\n\/c".as_slice();
        let layer = Layer::of(Code::Escape, raw).unwrap();
        assert_eq!(layer.text, "aAb😀\n/c".as_bytes());
        let shown =
            |span: Range<usize>| String::from_utf8_lossy(&raw[layer.place(span)]).into_owned();
        assert_eq!(shown(1..2), r"\u0041");
        assert_eq!(shown(0..3), r"a\u0041b");
        assert_eq!(shown(3..7), r"\ud83d\ude00");
        assert_eq!(shown(4..6), r"\ud83d\ude00", "half a sign is all of it");
        assert_eq!(shown(7..10), r"\n\/c");
        assert_eq!(shown(0..layer.text.len()), String::from_utf8_lossy(raw));
    }

    #[test]
    fn percent_signs_are_read_where_they_mean_something() {
        let raw = b"a%3Ab%zz%2";
        let layer = Layer::of(Code::Percent, raw).unwrap();
        assert_eq!(layer.text, b"a:b%zz%2");
        assert_eq!(layer.place(1..3), 1..5);
        assert_eq!(layer.place(2..8), 4..10);
        assert!(Layer::of(Code::Percent, b"100 % of it").is_none());
    }

    #[test]
    fn colours_are_left_out_also_behind_a_part() {
        let raw = b"\x1b[36mpassword\x1b[0m=\x1b[1;33mone\x1b[0m two\x1b[2K";
        let layer = Layer::of(Code::Style, raw).unwrap();
        assert_eq!(layer.text, b"password=one two\x1b[2K");
        assert_eq!(&raw[layer.place(9..12)], b"one");
        assert_eq!(&raw[layer.place(0..8)], b"password");
        assert_eq!(&raw[layer.place(9..16)], b"one\x1b[0m two");
        assert!(Layer::of(Code::Style, b"a\x1b[2Kb").is_none());
    }
}

#[cfg(test)]
mod base_tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        runs(text.as_bytes()).map(|run| &text[run]).collect()
    }

    #[test]
    fn long_runs_are_found_wherever_they_stand() {
        let run = "Z2hwX2szSmQ4ZkxxMld6N1huNVJiMVRj";
        for before in 0..40 {
            let text = format!("{}{run}== and on", " ".repeat(before));
            assert_eq!(found(&text), [format!("{run}==")], "{before}");
        }
        assert_eq!(found("words and short ones, 0123456789abcdef"), [""; 0]);
        let line = "QUJD".repeat(19);
        let lines = format!("{line}\n{line}\r\nQUJD\n\nx");
        assert_eq!(found(&lines), [&lines[..lines.len() - 3]]);
    }

    #[test]
    fn a_run_is_read_whatever_stands_before_it() {
        for before in ["", "/", "f/", "ab-", "path"] {
            let run = format!("{before}Z2hwX2szSmQ4ZkxxMld6N1huNVJi");
            let says = |reading: Vec<u8>| memchr::memmem::find(&reading, b"_k3Jd8f").is_some();
            assert!(readings(run.as_bytes()).any(says), "{before}");
        }
    }
}
