//! Lines out of chunks.

use crate::protocol::framing::Framer;
use crate::replay::script::LONGEST;
use std::collections::VecDeque;

/// Lines of stderr that are kept.
const LAST_LINES: usize = 5;

/// Bytes of such a line that are kept.
const LAST_BYTES: usize = 400;

/// Cuts chunks into lines. A line that is too long comes in parts, as it is on record.
#[derive(Debug)]
pub(super) struct Lines {
    framer: Framer,
    open: Vec<u8>,
}

impl Default for Lines {
    fn default() -> Self {
        Self {
            framer: Framer::with_limit(LONGEST),
            open: Vec::new(),
        }
    }
}

impl Lines {
    /// Gives `line` every line that ends in `chunk`, with its terminator.
    pub fn push(&mut self, chunk: &[u8], mut line: impl FnMut(&[u8])) {
        for piece in self.framer.push(chunk) {
            let bytes = &chunk[piece.bytes];
            match (piece.ends_frame, self.open.is_empty()) {
                (true, true) => line(bytes),
                (false, _) => self.open.extend_from_slice(bytes),
                (true, false) => {
                    self.open.extend_from_slice(bytes);
                    line(&self.open);
                    // One huge line must not hold its memory for the rest of the session.
                    self.open = Vec::new();
                }
            }
        }
    }

    /// What came last and has no end.
    pub fn rest(&mut self) -> Option<Vec<u8>> {
        let rest = std::mem::take(&mut self.open);
        (!rest.is_empty()).then_some(rest)
    }
}

/// The last lines of a text.
#[derive(Debug, Default)]
pub(super) struct Tail {
    lines: VecDeque<Vec<u8>>,
    ended: bool,
}

impl Tail {
    pub fn push(&mut self, chunk: &[u8]) {
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            if self.lines.is_empty() || self.ended {
                self.lines.push_back(Vec::new());
            }
            self.ended = piece.ends_with(b"\n");
            if let Some(line) = self.lines.back_mut() {
                let room = LAST_BYTES.saturating_sub(line.len());
                line.extend_from_slice(&piece[..piece.len().min(room)]);
            }
            if self.lines.len() > LAST_LINES {
                self.lines.pop_front();
            }
        }
    }

    /// Those with something in them, without their ends.
    pub fn lines(&self) -> Vec<Box<[u8]>> {
        let lines = self.lines.iter().map(|line| line.trim_ascii_end());
        lines.filter(|line| !line.is_empty()).map(Into::into).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_however_they_come() {
        let mut lines = Lines::default();
        let mut found: Vec<Vec<u8>> = Vec::new();
        for chunk in [&b"a\nb"[..], b"c", b"\n\nd\ne"] {
            lines.push(chunk, |line| found.push(line.to_vec()));
        }
        assert_eq!(found, [&b"a\n"[..], b"bc\n", b"\n", b"d\n"]);
        assert_eq!(lines.rest().as_deref(), Some(&b"e"[..]));
        assert_eq!(lines.rest(), None);
    }

    #[test]
    fn the_last_lines_are_kept() {
        let mut tail = Tail::default();
        for n in 0..20 {
            tail.push(format!("line {n}").as_bytes());
            tail.push(b"\n");
        }
        tail.push(b"\nhalf");
        tail.push(b" a line");
        let lines = tail.lines();
        assert_eq!(lines.len(), LAST_LINES - 1);
        assert_eq!(*lines[0], *b"line 17");
        assert_eq!(*lines[3], *b"half a line");
        tail.push(&[b'x'; 10_000]);
        assert!(tail.lines().iter().all(|line| line.len() <= LAST_BYTES));
    }
}
