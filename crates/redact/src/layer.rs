//! A text that stands within another one in some code, and where its bytes are in that.

use mcpreel_wire::json::{Unit, Units};
use std::ops::Range;

/// Numbers of a command that is longer mean no colour.
const STYLE: usize = 32;

/// What is read of an encoded text.
#[derive(Debug, Default)]
pub(super) struct Layer {
    pub text: Vec<u8>,
    /// From where on bytes stand elsewhere than those before, in order.
    cuts: Vec<Cut>,
    /// The length of the text around it.
    around: usize,
}

#[derive(Clone, Copy, Debug)]
struct Cut {
    inside: usize,
    outside: usize,
    /// Whether what follows is one sign in several bytes, which cannot be cut.
    is_sign: bool,
}

impl Layer {
    /// The bytes between the quotes of a JSON string, or what else may have such escapes.
    pub fn unescaped(inner: &[u8]) -> Self {
        let mut layer = Self::new(inner.len());
        let mut units = Units::new(inner);
        let mut at = 0;
        while let Some(unit) = units.next() {
            let next = inner.len() - units.left();
            let char = match unit {
                Unit::Char(char) => char,
                Unit::LoneSurrogate(_) | Unit::Invalid => char::REPLACEMENT_CHARACTER,
            };
            let mut buffer = [0; 4];
            let bytes = char.encode_utf8(&mut buffer).as_bytes();
            layer.push(bytes, at..next, *bytes == inner[at..next]);
            at = next;
        }
        layer
    }

    /// A text in which something is percent-encoded; `None` where nothing is.
    pub fn unpercented(text: &[u8]) -> Option<Self> {
        memchr::memchr(b'%', text)?;
        let mut layer = Self::new(text.len());
        let (mut at, mut coded) = (0, false);
        while at < text.len() {
            if let Some(byte) = percent(&text[at..]) {
                layer.push(&[byte], at..at + 3, false);
                (at, coded) = (at + 3, true);
            } else {
                layer.push(&text[at..=at], at..at + 1, true);
                at += 1;
            }
        }
        coded.then_some(layer)
    }

    /// A text without what tells a terminal in which colour to go on; `None` where nothing does.
    pub fn unstyled(text: &[u8]) -> Option<Self> {
        let mut layer = Self::new(text.len());
        let mut at = 0;
        for escape in memchr::memchr_iter(ESCAPE, text) {
            let Some(length) = style(&text[escape..]).filter(|_| escape >= at) else {
                continue;
            };
            layer.push(&text[at..escape], at..escape, true);
            at = escape + length;
        }
        layer.push(&text[at..], at..text.len(), true);
        (at > 0).then_some(layer)
    }

    fn new(around: usize) -> Self {
        Self {
            text: Vec::with_capacity(around),
            cuts: Vec::new(),
            around,
        }
    }

    fn push(&mut self, bytes: &[u8], outside: Range<usize>, is_same: bool) {
        let goes_on = self.cuts.last().is_some_and(|cut| {
            is_same && !cut.is_sign && outside.start - cut.outside == self.text.len() - cut.inside
        });
        if !goes_on {
            self.cuts.push(Cut {
                inside: self.text.len(),
                outside: outside.start,
                is_sign: !is_same,
            });
        }
        self.text.extend_from_slice(bytes);
    }

    /// Where a part of the text stands in the one around it.
    pub fn place(&self, span: Range<usize>) -> Range<usize> {
        self.at(span.start, false)..self.end(span.end).max(self.at(span.start, false))
    }

    /// Where what ends here ends there: what was left out behind it is no part of it.
    fn end(&self, inside: usize) -> usize {
        let before = self.cuts.partition_point(|cut| cut.inside < inside);
        let cut = before.checked_sub(1).and_then(|last| self.cuts.get(last));
        match cut {
            Some(cut) if !cut.is_sign => cut.outside + (inside - cut.inside),
            _ => self.at(inside, true),
        }
    }

    fn at(&self, inside: usize, is_end: bool) -> usize {
        let next = self.cuts.partition_point(|cut| cut.inside <= inside);
        let Some(cut) = next.checked_sub(1).and_then(|last| self.cuts.get(last)) else {
            return 0;
        };
        if cut.is_sign && inside == cut.inside {
            return cut.outside;
        }
        if cut.is_sign {
            let after = self.cuts.get(next).map_or(self.around, |cut| cut.outside);
            return if is_end { after } else { cut.outside };
        }
        cut.outside + (inside - cut.inside)
    }
}

/// What such a command begins with.
const ESCAPE: u8 = 0x1b;

/// The bytes of a command at the beginning that sets colours and the like: `ESC [ 1 ; 31 m`.
fn style(text: &[u8]) -> Option<usize> {
    let numbers = text.strip_prefix(&[ESCAPE, b'['])?;
    let is_number = |byte: &&u8| byte.is_ascii_digit() || matches!(byte, b';' | b':');
    let length = numbers.iter().take(STYLE).take_while(is_number).count();
    (numbers.get(length) == Some(&b'm')).then_some(length + 3)
}

/// The byte that three others stand for.
pub(super) fn percent(text: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = text else {
        return None;
    };
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_read_and_their_places_known() {
        let raw = br"a\u0041b\ud83d\ude00\n\/c".as_slice();
        let layer = Layer::unescaped(raw);
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
        let layer = Layer::unpercented(raw).unwrap();
        assert_eq!(layer.text, b"a:b%zz%2");
        assert_eq!(layer.place(1..3), 1..5);
        assert_eq!(layer.place(2..8), 4..10);
        assert!(Layer::unpercented(b"100 % of it").is_none());
    }

    #[test]
    fn colours_are_left_out_also_behind_a_part() {
        let raw = b"\x1b[36mpassword\x1b[0m=\x1b[1;33mone\x1b[0m two\x1b[2K";
        let layer = Layer::unstyled(raw).unwrap();
        assert_eq!(layer.text, b"password=one two\x1b[2K");
        assert_eq!(&raw[layer.place(9..12)], b"one");
        assert_eq!(&raw[layer.place(0..8)], b"password");
        assert_eq!(&raw[layer.place(9..16)], b"one\x1b[0m two");
        assert!(Layer::unstyled(b"a\x1b[2Kb").is_none());
    }

    #[test]
    fn bytes_that_are_no_text_have_their_place() {
        let layer = Layer::unescaped(b"\xffab\xfe");
        assert_eq!(layer.text, "\u{fffd}ab\u{fffd}".as_bytes());
        assert_eq!(layer.place(3..5), 1..3);
        assert_eq!(layer.place(3..8), 1..4);
    }
}
