//! The bytes of the frames.

use super::FRAME_BYTES;
use super::block::{self, Blocks};
use crate::export::{Excerpt, Part, WriteError, Written};
use crate::in_turn::{self, Batch as _, InTurn};
use mcpreel_trace::frame::Seq;
use serde::Serialize;
use std::io::{self, Write};
use std::ops::Range;

/// Bytes of frames that are made into JSON together. What holds a frame counts as well: of a short
/// line it is more than its bytes.
const TOGETHER: usize = 256 * 1024;

/// The bytes of a frame as text; where some are no UTF-8 in pieces, text and bytes in turn.
#[derive(Serialize)]
#[serde(untagged)]
enum Bytes<'a> {
    Text(&'a str),
    Pieces(Vec<Piece<'a>>),
}

#[derive(Serialize)]
#[serde(untagged)]
enum Piece<'a> {
    Text(&'a str),
    Bytes(&'a [u8]),
}

/// Writes them; returns what there is in the page.
pub(super) fn write(
    excerpt: &Excerpt<'_>,
    out: &mut impl Write,
    progress: &mut dyn FnMut(Seq),
) -> Result<Written, WriteError> {
    let mut written = Written::default();
    let mut frames = Frames::new(out);
    excerpt.walk_alone(&mut |part| {
        match part {
            Part::Frame(head, raw, _) => {
                written.frames += 1;
                let piece;
                let bytes = if let Some(raw) = raw {
                    raw
                } else {
                    piece = excerpt.recording.piece(head.seq, 0..FRAME_BYTES)?;
                    &piece
                };
                frames.push(head.seq.0, bytes, head.size)?;
                progress(head.seq);
            }
            Part::Passed(head) => {
                written.left_out += 1;
                progress(head.seq);
            }
            Part::Event(_) => written.events += 1,
        }
        Ok::<(), WriteError>(())
    })?;
    frames.finish()?;
    Ok(written)
}

/// Frames on their way into blocks.
struct Frames<'o, W: Write> {
    blocks: Blocks<'o, W>,
    /// What is put together, and what was and is being made into JSON.
    batch: Batch,
    others: InTurn<Batch>,
}

/// Frames that are made into JSON together; their memory is used again.
#[derive(Default)]
struct Batch {
    kept: Vec<Kept>,
    /// Their bytes, one after the other.
    bytes: Vec<u8>,
    /// Their JSON, likewise, each with its number and its end.
    text: Vec<u8>,
    ends: Vec<(u64, usize)>,
    failed: Option<io::Error>,
}

struct Kept {
    number: u64,
    /// Where its bytes stand among those of all.
    bytes: Range<usize>,
    left_out: u64,
}

impl<'o, W: Write> Frames<'o, W> {
    fn new(out: &'o mut W) -> Self {
        Self {
            blocks: Blocks::new(out, "frames"),
            batch: Batch::default(),
            others: InTurn::new(),
        }
    }

    /// Adds a frame of `size` bytes, of which these are the beginning.
    fn push(&mut self, number: u64, bytes: &[u8], size: u64) -> io::Result<()> {
        self.batch.push(number, bytes, size);
        if self.batch.is_full() {
            let done = self.others.swap(std::mem::take(&mut self.batch));
            self.batch = done.unwrap_or_default();
            self.batch.write(&mut self.blocks)?;
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        while let Some(mut done) = self.others.take() {
            done.write(&mut self.blocks)?;
        }
        self.batch.work();
        self.batch.write(&mut self.blocks)?;
        self.blocks.finish()
    }
}

impl Batch {
    fn push(&mut self, number: u64, bytes: &[u8], size: u64) {
        let (bytes, start) = (cut(bytes), self.bytes.len());
        self.bytes.extend_from_slice(bytes);
        self.kept.push(Kept {
            number,
            bytes: start..self.bytes.len(),
            left_out: size.saturating_sub(bytes.len() as u64),
        });
    }

    fn is_full(&self) -> bool {
        self.bytes.len() + self.kept.len() * size_of::<Kept>() >= TOGETHER
    }

    /// Writes what was made of them, and is empty again.
    fn write(&mut self, blocks: &mut Blocks<'_, impl Write>) -> io::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let mut start = 0;
        for (number, end) in self.ends.drain(..) {
            blocks.push_made(number, &self.text[start..end])?;
            start = end;
        }
        self.kept.clear();
        self.bytes.clear();
        self.text.clear();
        Ok(())
    }
}

impl in_turn::Batch for Batch {
    fn work(&mut self) {
        for kept in &self.kept {
            let bytes = &self.bytes[kept.bytes.clone()];
            match put(kept, bytes, &mut self.text) {
                Ok(()) => self.ends.push((kept.number, self.text.len())),
                Err(error) => self.failed = Some(error),
            }
        }
    }
}

/// Adds a frame: its number, its bytes, and how many of them are left out.
fn put(kept: &Kept, bytes: &[u8], into: &mut Vec<u8>) -> io::Result<()> {
    write!(into, "[{},", kept.number)?;
    match in_pieces(bytes) {
        Bytes::Text(text) => block::text(text, into)?,
        pieces @ Bytes::Pieces(_) => block::json(&pieces, into)?,
    }
    write!(into, ",{}]", kept.left_out)
}

/// The bytes that a page has of a frame: never half a character.
fn cut(bytes: &[u8]) -> &[u8] {
    let limit = usize::try_from(FRAME_BYTES).unwrap_or(usize::MAX);
    if bytes.len() < limit {
        return bytes;
    }
    let kept = &bytes[..limit];
    match std::str::from_utf8(kept) {
        Err(error) if error.error_len().is_none() => &kept[..error.valid_up_to()],
        _ => kept,
    }
}

fn in_pieces(bytes: &[u8]) -> Bytes<'_> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Bytes::Text(text);
    }
    let pieces = bytes.utf8_chunks().flat_map(|chunk| {
        let text = Piece::Text(chunk.valid());
        [text, Piece::Bytes(chunk.invalid())]
    });
    Bytes::Pieces(pieces.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_stand_beside_the_text_around_them() {
        let json = |bytes| serde_json::to_string(&in_pieces(bytes)).unwrap();
        assert_eq!(json("naïve\n".as_bytes()), "\"naïve\\n\"");
        assert_eq!(
            json(b"a\xff\xfeb\n"),
            "[\"a\",[255],\"\",[254],\"b\\n\",[]]"
        );
    }

    #[test]
    fn of_many_short_lines_few_wait_to_be_written() {
        let mut out = io::sink();
        let mut frames = Frames::new(&mut out);
        for number in 0..2 * (TOGETHER / size_of::<Kept>()) as u64 {
            frames.push(number, b"\n", 1).unwrap();
            assert!(frames.batch.kept.len() * size_of::<Kept>() < TOGETHER);
        }
    }

    #[test]
    fn no_character_is_cut_in_half() {
        let limit = usize::try_from(FRAME_BYTES).unwrap();
        let mut text = "x".repeat(limit - 1);
        assert_eq!(cut(text.as_bytes()).len(), limit - 1);
        text.push('é');
        assert_eq!(cut(text.as_bytes()).len(), limit - 1);
        let mut bytes = vec![0xff; limit + 9];
        bytes[limit - 1] = 0xc3;
        assert_eq!(cut(&bytes).len(), limit, "it is no text anyway");
    }
}
