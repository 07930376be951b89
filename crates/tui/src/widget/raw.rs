//! Bytes as text, every one of them, wrapped at the width.
//!
//! ```text
//! {"jsonrpc":"2.0","id":7,"method":"tools/call","par
//! ams":{"name":"search_docs"}}\r\n
//! ```
//!
//! Nothing is laid out but what is shown, however long the text is: a line begins after a line
//! feed, at every `STRIDE` bytes, and in between where the line before is full. So the place of
//! every line follows from at most that many bytes before it. Without the second rule, showing
//! the end of a megabyte without a line feed would take laying out all of it.

use super::pieces::{self, Hits, Piece};
use mcpreel_wire::text;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// A line begins at every multiple of so many bytes (or at the character there). At a width of
/// 100 that is one short line in 160; a millisecond of work at worst.
const STRIDE: usize = 16 * 1024;

/// Bytes of text for a column: a cluster of combining marks takes many for one.
const BYTES_PER_COLUMN: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Controls {
    /// Every one as an escape, also the line feed at the end of a line.
    Shown,
    /// Line feeds break the line and a tab is four spaces; all others as escapes.
    Read,
}

/// Bytes with the way of writing them.
#[derive(Clone, Copy, Debug)]
pub struct Wrapped<'t> {
    bytes: &'t [u8],
    columns: usize,
    controls: Controls,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub range: Range<usize>,
    /// What to show. Wider than the line only where a single character is.
    pub pieces: Vec<Piece>,
}

impl<'t> Wrapped<'t> {
    pub fn new(bytes: &'t [u8], columns: usize, controls: Controls) -> Self {
        Self {
            bytes,
            columns: columns.max(1),
            controls,
        }
    }

    /// Up to `rows` lines from the one that begins at `start`.
    pub fn lines(&self, start: usize, rows: usize, hits: Hits<'_>) -> Vec<Line> {
        let line = |range: Range<usize>| Line {
            pieces: self.write(range.clone(), hits),
            range,
        };
        self.from(start).take(rows).map(line).collect()
    }

    /// The beginning of the line in which the byte `offset` stands, of the last line for one
    /// behind the end.
    pub fn start_of(&self, offset: usize) -> usize {
        let offset = offset.min(self.bytes.len().saturating_sub(1));
        let starts = self.from(self.anchor(offset)).map(|line| line.start);
        starts
            .take_while(|&start| start <= offset)
            .last()
            .unwrap_or(0)
    }

    /// The beginning of the line `rows` after the one that begins at `start`; of the last one if
    /// there are not so many.
    pub fn down(&self, start: usize, rows: usize) -> usize {
        let starts = self.from(start).map(|line| line.start);
        starts.take(rows + 1).last().unwrap_or(start)
    }

    /// The beginning of the line `rows` before the one that begins at `start`; of the first one
    /// if there are not so many. Returns it with the number of lines in between.
    pub fn up(&self, start: usize, rows: usize) -> (usize, usize) {
        let mut at = start;
        let mut left = rows;
        while left > 0 && at > 0 {
            let anchor = self.anchor(at - 1);
            let starts = self.from(anchor).map(|line| line.start);
            let before: Vec<_> = starts.take_while(|&start| start < at).collect();
            let back = left.min(before.len());
            at = before[before.len() - back];
            left -= back;
        }
        (at, rows - left)
    }

    /// The lines from the one that begins at `start`.
    fn from(&self, start: usize) -> impl Iterator<Item = Range<usize>> {
        let mut start = start;
        std::iter::from_fn(move || {
            let line = (start < self.bytes.len()).then(|| start..self.end_of(start))?;
            start = line.end;
            Some(line)
        })
    }

    /// A place at or before `offset` where a line begins whatever comes before it.
    fn anchor(&self, offset: usize) -> usize {
        let stride = pieces::floor_char(self.bytes, offset / STRIDE * STRIDE);
        let before = &self.bytes[stride..offset.max(stride)];
        memchr::memrchr(b'\n', before).map_or(stride, |at| stride + at + 1)
    }

    /// Where the line that begins at `start` ends.
    fn end_of(&self, start: usize) -> usize {
        let stride = pieces::floor_char(self.bytes, (start / STRIDE + 1) * STRIDE);
        // The character at the border may begin before it: then this line begins there.
        let stride = if stride > start {
            stride
        } else {
            pieces::floor_char(self.bytes, (start / STRIDE + 2) * STRIDE)
        };
        let most = start + (self.columns + 8) * BYTES_PER_COLUMN;
        let end = pieces::floor_char(self.bytes, most).min(stride);
        let window = &self.bytes[start..end];
        let window = match memchr::memchr(b'\n', window) {
            Some(at) => &window[..=at],
            None => window,
        };
        start + self.fit(window)
    }

    /// How many bytes at the beginning of `window` fill a line: one character at least.
    fn fit(&self, window: &[u8]) -> usize {
        let plain = |byte: &u8| matches!(byte, 0x20..0x7f);
        if window.len() > self.columns && window[..=self.columns].iter().all(plain) {
            return self.columns;
        }
        let (mut fit, mut used) = (0, 0);
        for chunk in window.utf8_chunks() {
            let clusters = chunk.valid().graphemes(true).map(|cluster| {
                let width = text::width(&self.escape(cluster.as_bytes()));
                (cluster.len(), width)
            });
            let invalid = chunk.invalid().iter().map(|_| (1, "\\xff".len()));
            for (bytes, width) in clusters.chain(invalid) {
                if fit > 0 && used + width > self.columns {
                    return fit;
                }
                fit += bytes;
                used += width;
            }
        }
        fit
    }

    fn write(&self, range: Range<usize>, hits: Hits<'_>) -> Vec<Piece> {
        match self.controls {
            Controls::Shown => pieces::divide(self.bytes, range, hits),
            Controls::Read => self.write_read(range, hits),
        }
    }

    /// Without the line feed, with tabs as spaces.
    fn write_read(&self, mut range: Range<usize>, hits: Hits<'_>) -> Vec<Piece> {
        if self.bytes[range.clone()].ends_with(b"\n") {
            range.end -= 1;
        }
        let mut pieces = Vec::new();
        while range.start < range.end {
            let rest = &self.bytes[range.clone()];
            let tab = memchr::memchr(b'\t', rest).map_or(range.end, |at| range.start + at);
            pieces.extend(pieces::divide(self.bytes, range.start..tab, hits));
            if tab < range.end {
                pieces.push(Piece::plain(TAB));
            }
            range.start = tab + 1;
        }
        pieces
    }

    fn escape<'a>(&self, cluster: &'a [u8]) -> std::borrow::Cow<'a, str> {
        match (self.controls, cluster) {
            (Controls::Read, b"\n") => "".into(),
            (Controls::Read, b"\r\n") => "\\r".into(),
            (Controls::Read, b"\t") => TAB.into(),
            _ => text::escape_bytes(cluster),
        }
    }
}

const TAB: &str = "    ";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn show(lines: &[Line]) -> Vec<String> {
        let show = |line: &Line| line.pieces.iter().map(|piece| &*piece.text).collect();
        lines.iter().map(show).collect()
    }

    fn all(text: &[u8], columns: usize, controls: Controls) -> Vec<String> {
        show(&Wrapped::new(text, columns, controls).lines(0, usize::MAX, &[]))
    }

    #[test]
    fn every_byte_is_shown_and_wrapped() {
        let text = "ab\tcdef日本語\x1b[0m\r\nnext\n".as_bytes();
        assert_eq!(
            all(text, 8, Controls::Shown),
            ["ab\\tcdef", "日本語", "\\x1b[0m", "\\r\\n", "next\\n"]
        );
        assert_eq!(all(b"a\xff\xfeb", 8, Controls::Shown), ["a\\xff", "\\xfeb"]);
        assert_eq!(all(b"", 8, Controls::Shown), [""; 0]);
    }

    #[test]
    fn text_to_be_read_has_its_line_feeds_and_tabs() {
        let text = b"if x {\n\tgo();\n\n}\r\n\x07";
        assert_eq!(
            all(text, 20, Controls::Read),
            ["if x {", "    go();", "", "}\\r", "\\x07"]
        );
    }

    #[test]
    fn a_character_wider_than_the_line_has_one_of_its_own() {
        let text = "a\u{202e}b".as_bytes();
        assert_eq!(all(text, 3, Controls::Shown), ["a", "\\u{202e}", "b"]);
    }

    #[test]
    fn hits_are_marked_across_lines() {
        let hits = 2..5;
        let hits = std::slice::from_ref(&hits);
        let lines = Wrapped::new(b"abcdef", 4, Controls::Shown).lines(0, 9, hits);
        let marked = lines.iter().flat_map(|line| &line.pieces);
        let marked: Vec<_> = marked.map(|piece| (&*piece.text, piece.hit)).collect();
        assert_eq!(
            marked,
            [("ab", false), ("cd", true), ("e", true), ("f", false)]
        );
    }

    #[test]
    fn the_end_of_a_long_line_is_reached_without_laying_out_the_rest() {
        let text = vec![b'x'; 3 * STRIDE + 10];
        let wrapped = Wrapped::new(&text, 100, Controls::Shown);
        let last = wrapped.start_of(usize::MAX);
        assert_eq!(last, 3 * STRIDE);
        assert_eq!(wrapped.up(last, 1), (3 * STRIDE - STRIDE % 100, 1));
        let lines = 3 * STRIDE.div_ceil(100);
        assert_eq!(wrapped.up(last, usize::MAX), (0, lines));
        assert_eq!(wrapped.down(0, usize::MAX - 1), last);
    }

    fn texts() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            "[a-z]{0,40}".prop_map(String::into_bytes),
            any::<String>().prop_map(String::into_bytes),
            prop::collection::vec(any::<u8>(), 0..8),
            Just(b"\n".to_vec()),
        ];
        prop::collection::vec(part, 0..12).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn lines_follow_each_other_and_lead_back(text in texts(), columns in 1usize..30) {
            for controls in [Controls::Shown, Controls::Read] {
                let wrapped = Wrapped::new(&text, columns, controls);
                let lines = wrapped.lines(0, usize::MAX, &[]);
                let mut at = 0;
                for (nth, line) in lines.iter().enumerate() {
                    prop_assert_eq!(line.range.start, at);
                    prop_assert!(line.range.end > at);
                    prop_assert_eq!(wrapped.start_of(line.range.end - 1), at);
                    prop_assert_eq!(wrapped.up(at, nth + 1), (0, nth));
                    prop_assert_eq!(wrapped.down(0, nth), at);
                    at = line.range.end;
                }
                prop_assert_eq!(at, text.len());
            }
        }
    }
}
