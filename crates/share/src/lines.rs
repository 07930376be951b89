//! The lines of a file, each held in memory up to a limit.

use std::io::{self, BufRead as _, BufReader, Read};

const BUFFER: usize = 256 * 1024;

/// Reads line after line; of one that is longer than the limit only its length counts.
#[derive(Debug)]
pub struct Lines<F> {
    file: BufReader<F>,
    /// The longest line that is held, in bytes with its terminator.
    most: u64,
    line: Vec<u8>,
    is_whole: bool,
    at: u64,
    number: u64,
}

impl<F: Read> Lines<F> {
    /// From where `file` stands, of up to `most` bytes each with their terminators.
    pub fn of(file: F, most: u64) -> Self {
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
    pub fn advance(&mut self) -> io::Result<bool> {
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

    /// The last line with its terminator; `None` if it is too long.
    pub fn held(&self) -> Option<&[u8]> {
        self.is_whole.then_some(&*self.line)
    }

    /// Takes the last line out.
    pub fn take(&mut self) -> Option<Vec<u8>> {
        self.is_whole.then(|| std::mem::take(&mut self.line))
    }

    /// The number of the last line, from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Bytes that have been read.
    pub fn position(&self) -> u64 {
        self.at
    }
}
