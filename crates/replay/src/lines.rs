//! Lines out of chunks, and the last lines of a stream.

use mcpreel_wire::framing::Framer;
use mcpreel_wire::json::Outline;

/// Longer lines are not held, only their outline is: a line of half a gigabyte would be held several
/// times over.
pub const LONGEST: u64 = 64 << 20;

/// Last lines that are kept, and bytes of each.
const LAST_LINES: usize = 5;
const LAST_BYTES: usize = 400;

/// A line of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// With its terminator, where it has one.
    Whole(&'a [u8]),
    /// Too long to be held: its outline, empty where it is no JSON.
    TooLong(&'a [u8]),
}

#[derive(Debug, Default)]
pub(crate) struct Lines {
    framer: Framer,
    /// The line that has no end yet.
    open: Vec<u8>,
    /// Of such a line that became too long.
    outline: Option<Outline>,
}

impl Lines {
    /// Gives `line` every line that ends in `chunk`.
    pub fn push(&mut self, chunk: &[u8], mut line: impl FnMut(Line<'_>)) {
        for piece in self.framer.push(chunk) {
            let bytes = &chunk[piece.bytes];
            match &mut self.outline {
                Some(outline) => outline.push(bytes),
                None if piece.ends_frame && self.open.is_empty() => {
                    line(Line::Whole(bytes));
                    continue;
                }
                None => self.open.extend_from_slice(bytes),
            }
            if self.open.len() as u64 > LONGEST {
                let mut outline = Outline::default();
                outline.push(&std::mem::take(&mut self.open));
                self.outline = Some(outline);
            }
            if piece.ends_frame {
                Self::end((&mut self.open, &mut self.outline), &mut line);
            }
        }
    }

    /// Gives `line` the last line, if it has no terminator.
    pub fn rest(&mut self, mut line: impl FnMut(Line<'_>)) {
        Self::end((&mut self.open, &mut self.outline), &mut line);
    }

    fn end((open, outline): (&mut Vec<u8>, &mut Option<Outline>), line: &mut impl FnMut(Line<'_>)) {
        let open = std::mem::take(open);
        match outline.take() {
            Some(outline) => line(Line::TooLong(&outline.finish().unwrap_or_default())),
            None if open.is_empty() => {}
            None => line(Line::Whole(&open)),
        }
    }
}

/// The last lines of a stream.
#[derive(Debug, Default)]
pub(crate) struct Tail(Vec<u8>);

impl Tail {
    pub fn push(&mut self, chunk: &[u8]) {
        self.0.extend_from_slice(chunk);
        let old = self.0.len().saturating_sub(LAST_LINES * LAST_BYTES);
        self.0.drain(..old);
    }

    /// The lines that are not blank, without their ends, each cut.
    pub fn lines(&self) -> Vec<Box<[u8]>> {
        let lines = self.0.split(|byte| *byte == b'\n');
        let lines = lines
            .map(<[u8]>::trim_ascii_end)
            .filter(|line| !line.is_empty());
        let cut = lines.map(|line| line[..line.len().min(LAST_BYTES)].into());
        let all: Vec<Box<[u8]>> = cut.collect();
        all[all.len().saturating_sub(LAST_LINES)..].to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(line: Line<'_>) -> Vec<u8> {
        match line {
            Line::Whole(line) => line.to_vec(),
            Line::TooLong(_) => panic!("the line is short"),
        }
    }

    #[test]
    fn lines_are_whole_however_they_come() {
        let mut lines = Lines::default();
        let mut found: Vec<Vec<u8>> = Vec::new();
        for chunk in [&b"a\nb"[..], b"c", b"\n\nd\ne"] {
            lines.push(chunk, |line| found.push(whole(line)));
        }
        lines.rest(|line| found.push(whole(line)));
        lines.rest(|line| found.push(whole(line)));
        assert_eq!(found, [&b"a\n"[..], b"bc\n", b"\n", b"d\n", b"e"]);
    }

    #[test]
    fn only_the_outline_of_a_line_that_is_too_long_is_kept() {
        let mut lines = Lines::default();
        let mut found = Vec::new();
        let chunk = vec![b'x'; 8 << 20];
        lines.push(br#"{"jsonrpc":"2.0","id":7,"result":{"text":""#, |_| {
            panic!("the line goes on")
        });
        for _ in 0..9 {
            lines.push(&chunk, |_| panic!("the line goes on"));
        }
        lines.push(b"\"}}\nnext\n", |line| match line {
            Line::Whole(line) => found.push(line.to_vec()),
            Line::TooLong(outline) => {
                assert!(outline.len() < 100_000);
                found.push(outline[..22].to_vec());
            }
        });
        assert_eq!(found, [&br#"{"jsonrpc":"2.0","id":"#[..], b"next\n"]);
    }

    #[test]
    fn the_last_lines_are_kept() {
        let mut tail = Tail::default();
        (0..20).for_each(|n| tail.push(format!("line {n}\n").as_bytes()));
        tail.push(b"\nhalf");
        let lines = tail.lines();
        assert_eq!(
            (lines.len(), &*lines[0], &*lines[4]),
            (5, &b"line 16"[..], &b"half"[..])
        );
    }
}
