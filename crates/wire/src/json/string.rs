//! What the bytes between a string's quotes mean.

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

    fn escape(&mut self) -> Unit {
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
            b'\\' => self.escape(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    fn decode(json: &[u8]) -> String {
        let document = Document::parse(json).unwrap();
        let value = document.root();
        assert_eq!(value.as_str().unwrap(), value.chars().collect::<String>());
        value.as_str().unwrap().into_owned()
    }

    #[test]
    fn escapes_are_resolved() {
        assert_eq!(
            decode(br#""\"\\\/\b\f\n\r\t\u0041\u00e9""#),
            "\"\\/\u{8}\u{c}\n\r\tA\u{e9}"
        );
        assert_eq!(decode(br#""\ud83d\ude00""#), "😀");
    }

    #[test]
    fn lone_surrogates_are_replaced_and_told_apart() {
        assert_eq!(decode(br#""\ud800x\udc00""#), "\u{fffd}x\u{fffd}");
        assert_eq!(decode(br#""\ud800\ud83d\ude00""#), "\u{fffd}😀");
        let document = Document::parse(br#""\ud800\u0041""#).unwrap();
        let units: Vec<Unit> = document.root().units().collect();
        assert_eq!(units, [Unit::LoneSurrogate(0xd800), Unit::Char('A')]);
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
