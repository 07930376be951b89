//! Bytes cut into lines, as many as may be held.

use memchr::memchr;

/// The longest line that is read. Official clients give up at 10 or 16 MiB; without a limit a host
/// that never ends its line would fill the memory.
const LONGEST: usize = 64 << 20;

#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    Nothing,
    Whole(Vec<u8>),
    /// It was longer than is read, and is dropped.
    TooLong,
}

/// What has come of the line that is not at its end.
#[derive(Debug, Default)]
pub struct Lines {
    open: Vec<u8>,
    /// Whether the open line is longer than is read.
    too_long: bool,
}

impl Lines {
    /// Takes bytes in up to the end of a line; returns that line and what is left of them. `None`:
    /// they are used up.
    pub fn push<'b>(&mut self, bytes: &'b [u8]) -> Option<(Line, &'b [u8])> {
        if bytes.is_empty() {
            return None;
        }
        let Some(end) = memchr(b'\n', bytes) else {
            self.take_in(bytes);
            return Some((Line::Nothing, &[]));
        };
        let (line, rest) = bytes.split_at(end + 1);
        self.take_in(line);
        Some((self.rest(), rest))
    }

    /// The line that has no end, where nothing more comes.
    pub fn rest(&mut self) -> Line {
        let line = std::mem::take(&mut self.open);
        match std::mem::replace(&mut self.too_long, false) {
            true => Line::TooLong,
            false if line.is_empty() => Line::Nothing,
            false => Line::Whole(line),
        }
    }

    fn take_in(&mut self, bytes: &[u8]) {
        self.too_long |= self.open.len() + bytes.len() > LONGEST;
        if self.too_long {
            self.open = Vec::new();
        } else {
            self.open.extend_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(lines: &mut Lines, mut bytes: &[u8]) -> Vec<Line> {
        let mut found = Vec::new();
        while let Some((line, rest)) = lines.push(bytes) {
            bytes = rest;
            found.extend((line != Line::Nothing).then_some(line));
        }
        found
    }

    #[test]
    fn lines_are_put_together_from_pieces() {
        let mut lines = Lines::default();
        assert_eq!(all(&mut lines, b"a\nb"), [Line::Whole(b"a\n".to_vec())]);
        let whole = [Line::Whole(b"bc\n".to_vec()), Line::Whole(b"\n".to_vec())];
        assert_eq!(all(&mut lines, b"c\n\nd"), whole);
        assert_eq!(lines.rest(), Line::Whole(b"d".to_vec()));
        assert_eq!(lines.rest(), Line::Nothing);
    }

    #[test]
    fn a_line_without_end_is_dropped_and_the_next_is_read() {
        let mut lines = Lines::default();
        let piece = vec![b'x'; LONGEST / 2 + 1];
        assert_eq!(all(&mut lines, &piece), []);
        assert_eq!(all(&mut lines, &piece), []);
        assert_eq!(lines.open.capacity(), 0);
        let rest = [Line::TooLong, Line::Whole(b"ok\n".to_vec())];
        assert_eq!(all(&mut lines, b"x\nok\n"), rest);
    }
}
