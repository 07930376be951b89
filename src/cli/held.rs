//! Lines of a file, as long as they can be held.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};

/// Bytes that are read at once.
const BUFFER: usize = 256 * 1024;

/// Lines of a file, of which one too long is not held.
pub struct Lines<'f> {
    file: BufReader<&'f File>,
    /// Bytes of a line that are held, its terminator among them.
    most: u64,
    line: Vec<u8>,
    is_whole: bool,
    at: u64,
    number: u64,
}

impl<'f> Lines<'f> {
    /// From where `file` stands, of up to `most` bytes each with their terminators.
    pub fn of(file: &'f File, most: u64) -> Self {
        Self {
            file: BufReader::with_capacity(BUFFER, file),
            most,
            line: Vec::new(),
            is_whole: true,
            at: 0,
            number: 0,
        }
    }

    /// Reads the next line; `false` at the end.
    pub fn next(&mut self) -> io::Result<bool> {
        self.line.clear();
        let mut held = (&mut self.file).take(self.most);
        let read = held.read_until(b'\n', &mut self.line)? as u64;
        self.at += read;
        self.number += 1;
        self.is_whole = read < self.most || self.line.ends_with(b"\n");
        if !self.is_whole {
            self.at += self.file.skip_until(b'\n')? as u64;
        }
        Ok(read > 0)
    }

    /// The line with its terminator; `None` of one that is too long.
    pub fn held(&self) -> Option<&[u8]> {
        self.is_whole.then_some(&*self.line)
    }

    /// Its number, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Bytes that have been read.
    pub fn position(&self) -> u64 {
        self.at
    }
}
