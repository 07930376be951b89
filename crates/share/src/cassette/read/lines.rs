//! The lines of a file, one after the other.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;

/// A longer line is not held. Whatever is held of a recording when it is written has room in it.
const MAX_HELD: usize = 2 * 1024 * 1024;

/// Of a line that is not held so much is kept: the keys before its bytes.
const MAX_BEGINNING: usize = 4 * 1024;

const BUFFER: usize = 256 * 1024;

#[derive(Clone, Debug)]
pub(super) struct Line {
    pub start: u64,
    pub end: u64,
    /// Whether all of it is in [`Lines::held`]; else only its beginning is.
    pub is_held: bool,
    /// Whether a newline ends it, and not the file.
    pub is_ended: bool,
}

impl Line {
    pub fn len(&self) -> u64 {
        self.end - self.start
    }
}

/// Reads lines, and holds the last one.
#[derive(Debug)]
pub(super) struct Lines<F> {
    file: BufReader<F>,
    at: u64,
    number: u64,
    held: Vec<u8>,
}

impl<F: Read + Seek> Lines<F> {
    pub fn new(file: F) -> Self {
        Self {
            file: BufReader::with_capacity(BUFFER, file),
            at: 0,
            number: 0,
            held: Vec::new(),
        }
    }

    /// The number of the last line, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    pub fn position(&self) -> u64 {
        self.at
    }

    /// The last line without its newline, or the beginning of it.
    pub fn held(&self) -> &[u8] {
        &self.held
    }

    /// Whether there is nothing in the last line, as far as it is held.
    pub fn is_blank(&self) -> bool {
        self.held.trim_ascii().is_empty()
    }

    pub fn next(&mut self) -> io::Result<Option<Line>> {
        self.held.clear();
        let start = self.at;
        let (mut is_held, mut is_ended) = (true, false);
        while !is_ended {
            let bytes = filled(&mut self.file)?;
            if bytes.is_empty() {
                break;
            }
            let newline = memchr::memchr(b'\n', bytes);
            let len = newline.unwrap_or(bytes.len());
            if is_held {
                self.held.extend_from_slice(&bytes[..len]);
            }
            if self.held.len() > MAX_HELD {
                is_held = false;
                self.held.truncate(MAX_BEGINNING);
                self.held.shrink_to_fit();
            }
            is_ended = newline.is_some();
            let used = len + usize::from(is_ended);
            self.file.consume(used);
            self.at += used as u64;
        }
        if self.at == start {
            return Ok(None);
        }
        self.number += 1;
        Ok(Some(Line {
            start,
            end: self.at,
            is_held,
            is_ended,
        }))
    }

    /// What stands at `range`, to be read; the next line is then to be gone to.
    pub fn at(&mut self, range: &Range<u64>) -> io::Result<io::Take<&mut BufReader<F>>> {
        self.file.seek(SeekFrom::Start(range.start))?;
        let len = range.end.saturating_sub(range.start);
        Ok((&mut self.file).take(len))
    }

    pub fn go_to(&mut self, at: u64) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(at))?;
        self.at = at;
        Ok(())
    }
}

/// What comes next; empty at the end.
pub(super) fn filled(file: &mut impl BufRead) -> io::Result<&[u8]> {
    // Not in one call: what an attempt that was interrupted borrows is borrowed until the end.
    loop {
        match file.fill_buf() {
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    file.fill_buf()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn a_line_is_where_it_stands_and_a_long_one_is_not_held() {
        let long = vec![b'x'; MAX_HELD + 1];
        let file = [b"one\n\n".as_slice(), &long, b"\nlast"].concat();
        let mut lines = Lines::new(Cursor::new(file));
        let mut seen = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            seen.push((
                lines.number(),
                line.len(),
                line.is_held,
                line.is_ended,
                lines.held().len(),
            ));
        }
        let len = MAX_HELD as u64 + 2;
        assert_eq!(
            seen,
            [
                (1, 4, true, true, 3),
                (2, 1, true, true, 0),
                (3, len, false, true, MAX_BEGINNING),
                (4, 4, true, false, 4)
            ]
        );
    }
}
