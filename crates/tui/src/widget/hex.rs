//! Bytes as hexadecimal numbers with their text beside them.
//!
//! ```text
//! 0000:0010  2c 22 69 64 22 3a 37 2c  22 6d 65 74 68 6f 64 22  ,"id":7,"method"
//! ```

use super::pieces::Hits;
use std::fmt::Write as _;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Where its first byte stands, in hexadecimal.
    pub offset: String,
    pub cells: Vec<Cell>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    pub byte: u8,
    pub hit: bool,
}

impl Cell {
    pub fn hex(self) -> String {
        format!("{:02x}", self.byte)
    }

    /// The character, a dot where it is none that can be printed.
    pub fn character(self) -> char {
        match self.byte {
            0x20..0x7f => char::from(self.byte),
            _ => '.',
        }
    }
}

/// How many bytes a line of `columns` columns has: 16, or 8, or 4.
pub fn per_line(columns: usize) -> usize {
    // Offset, two spaces; for each byte two digits, a space and a character; two gaps.
    let needed = |bytes: usize| 11 + bytes * 4 + 2;
    [16, 8]
        .into_iter()
        .find(|&bytes| needed(bytes) <= columns)
        .unwrap_or(4)
}

/// How many lines there are for `length` bytes.
pub fn lines(length: usize, per_line: usize) -> usize {
    length.div_ceil(per_line)
}

/// The line `row`, counted from 0. None behind the last one.
pub fn line(bytes: &[u8], row: usize, per_line: usize, hits: Hits<'_>) -> Option<Line> {
    let start = row * per_line;
    let rest = bytes.get(start..).filter(|rest| !rest.is_empty())?;
    let first = hits.partition_point(|hit| hit.end <= start);
    let hits = &hits[first..];
    let cells = rest.iter().take(per_line).zip(start..);
    let cells = cells.map(|(&byte, at)| Cell {
        byte,
        hit: hits
            .iter()
            .take_while(|hit| hit.start <= at)
            .any(|hit| hit.contains(&at)),
    });
    let mut offset = String::new();
    write!(offset, "{:04x}:{:04x}", start >> 16, start & 0xffff)
        .expect("writing to a string does not fail");
    Some(Line {
        offset,
        cells: cells.collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_offset_its_bytes_and_their_text() {
        let bytes: Vec<u8> = (0..=255).cycle().take(0x1_0000 + 21).collect();
        let hit = 0x1_0011..0x1_0013;
        let line = line(&bytes, 0x1001, 16, std::slice::from_ref(&hit)).unwrap();
        assert_eq!(line.offset, "0001:0010");
        let hex: Vec<_> = line.cells.iter().map(|cell| cell.hex()).collect();
        assert_eq!(hex, ["10", "11", "12", "13", "14"]);
        let hits: Vec<_> = line.cells.iter().map(|cell| cell.hit).collect();
        assert_eq!(hits, [false, true, true, false, false]);
        assert_eq!(super::line(&bytes, 0x1002, 16, &[]), None);
        assert_eq!(lines(bytes.len(), 16), 0x1002);
    }

    #[test]
    fn only_ascii_is_shown_as_text() {
        let line = line(b"a\x1b\xc3\xa9\x7f~", 0, 8, &[]).unwrap();
        let text: String = line.cells.iter().map(|cell| cell.character()).collect();
        assert_eq!(text, "a....~");
    }

    #[test]
    fn as_many_bytes_stand_in_a_line_as_fit() {
        assert_eq!([200, 77, 76, 45, 44, 0].map(per_line), [16, 16, 8, 8, 4, 4]);
    }
}
