//! Frames and lines of a transcript that are laid out together.

use super::frame::Frame;
use crate::in_turn;
use mcpreel_wire::message::Classifier;
use std::io::{self, Write};
use std::ops::Range;

/// Bytes that are laid out together. What holds a frame counts as well: of a short line it is more
/// than its bytes.
pub(super) const TOGETHER: usize = 256 * 1024;

/// Some of them, in order; their memory is used again.
#[derive(Default)]
pub(super) struct Batch {
    items: Vec<Item>,
    /// The bytes of its frames, one after the other.
    bytes: Vec<u8>,
    lines: usize,
    text: String,
    classifier: Classifier,
}

enum Item {
    Frame(Frame, Range<usize>),
    Line(String),
}

impl Batch {
    /// Adds a frame, of which these bytes are there.
    pub fn frame(&mut self, frame: Frame, raw: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(raw);
        self.items.push(Item::Frame(frame, start..self.bytes.len()));
    }

    /// Adds a line as it is to be written.
    pub fn line(&mut self, line: String) {
        self.lines += line.len();
        self.items.push(Item::Line(line));
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_full(&self) -> bool {
        let items = self.items.len() * size_of::<Item>();
        self.bytes.len() + self.lines + items >= TOGETHER
    }

    /// Writes what was made of them, and is empty again.
    pub fn write(&mut self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(self.text.as_bytes())?;
        self.items.clear();
        self.bytes.clear();
        self.lines = 0;
        self.text.clear();
        Ok(())
    }
}

impl in_turn::Batch for Batch {
    fn work(&mut self) {
        for item in &self.items {
            match item {
                Item::Frame(frame, place) => {
                    let raw = &self.bytes[place.clone()];
                    frame.write(raw, &mut self.classifier, &mut self.text);
                }
                Item::Line(line) => self.text.push_str(line),
            }
        }
    }
}
