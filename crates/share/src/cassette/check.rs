//! Whether bytes that come in pieces are one JSON text, and nothing but that.

use mcpreel_wire::json::{Outline, SyntaxError};

/// Looks at a text that is too long to be held.
#[derive(Debug, Default)]
pub(super) struct Check {
    outline: Outline,
    utf8: Utf8,
    first: Option<u8>,
    last: Option<u8>,
    has_return: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    Syntax(SyntaxError),
    /// It is no UTF-8, or there is something around it, or there are carriage returns in it.
    Bytes,
}

impl Check {
    pub fn push(&mut self, piece: &[u8]) {
        self.first = self.first.or(piece.first().copied());
        self.last = piece.last().copied().or(self.last);
        self.has_return |= memchr::memchr2(b'\r', b'\n', piece).is_some();
        self.utf8.push(piece);
        self.outline.push(piece);
    }

    pub fn finish(self) -> Result<(), Flaw> {
        self.outline.finish().map_err(Flaw::Syntax)?;
        let begins = self
            .first
            .is_some_and(|byte| b"{[\"-0123456789tfn".contains(&byte));
        let ends = self.last.is_some_and(|byte| !byte.is_ascii_whitespace());
        let is_so = begins && ends && !self.has_return && self.utf8.is_whole();
        if is_so { Ok(()) } else { Err(Flaw::Bytes) }
    }
}

/// Whether pieces are UTF-8 together.
#[derive(Debug, Default)]
struct Utf8 {
    /// The beginning of a character whose rest has not come.
    open: Vec<u8>,
    is_broken: bool,
}

impl Utf8 {
    fn push(&mut self, mut piece: &[u8]) {
        while !self.open.is_empty() && !self.is_broken {
            let Some((byte, rest)) = piece.split_first() else {
                return;
            };
            piece = rest;
            self.open.push(*byte);
            match std::str::from_utf8(&self.open) {
                Ok(_) => self.open.clear(),
                Err(error) => self.is_broken = error.error_len().is_some(),
            }
        }
        match std::str::from_utf8(piece) {
            Err(error) if error.error_len().is_none() => {
                self.open = piece[error.valid_up_to()..].to_vec();
            }
            result => self.is_broken |= result.is_err(),
        }
    }

    fn is_whole(&self) -> bool {
        self.open.is_empty() && !self.is_broken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], size: usize) -> Result<(), Flaw> {
        let mut check = Check::default();
        bytes.chunks(size).for_each(|piece| check.push(piece));
        check.finish()
    }

    #[test]
    fn any_pieces_give_the_same_answer() {
        let right = [
            "{\"a\":\"é日👩\",\"b\":[1, 2]}",
            "7",
            "null",
            "\"👩\"",
            "[]",
        ];
        for text in right {
            for size in 1..=text.len() {
                assert_eq!(check(text.as_bytes(), size), Ok(()), "{text} in {size}");
            }
        }
        let wrong: [&[u8]; 10] = [
            b"",
            b" {}",
            b"{} ",
            b"{}{}",
            b"{",
            b"{}\r",
            b"{\r}",
            b"\"\xff\"",
            b"\"\xe6\x97\"",
            b"\xef\xbb\xbf{}",
        ];
        for bytes in wrong {
            for size in 1..=bytes.len().max(1) {
                assert!(check(bytes, size).is_err(), "{bytes:?} in {size}");
            }
        }
    }
}
