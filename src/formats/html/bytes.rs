//! The bytes of the frames.

use super::FRAME_BYTES;
use super::block::{self, Blocks};
use crate::formats::export::{Excerpt, Part, WriteError, Written};
use crate::store::halves;
use crate::trace::frame::Seq;
use serde::Serialize;
use std::io::{self, Write};
use std::ops::Range;

/// Bytes of frames that are made into JSON together, half of them on a second thread. What holds a
/// frame counts as well: of a short line it is more than its bytes.
const TOGETHER: usize = 512 * 1024;

/// A frame: its number, its bytes, and how many of them are left out.
#[derive(Serialize)]
struct Frame<'a>(u64, Bytes<'a>, u64);

/// Its bytes as text; where some are no UTF-8 in pieces, text and bytes in turn.
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
    /// Those that are not made into JSON yet, and their bytes, one after the other.
    kept: Vec<Kept>,
    bytes: Vec<u8>,
    /// What is made of them, by two threads; their memory is used again.
    texts: [Texts; 2],
}

/// What a page has of a frame.
struct Kept {
    number: u64,
    /// Where its bytes stand among those of all.
    bytes: Range<usize>,
    left_out: u64,
}

/// Frames as JSON, one after the other, each with its number and its end.
#[derive(Default)]
struct Texts {
    text: Vec<u8>,
    ends: Vec<(u64, usize)>,
    /// Why one could not be made.
    failed: Option<io::Error>,
}

impl<'o, W: Write> Frames<'o, W> {
    fn new(out: &'o mut W) -> Self {
        Self {
            blocks: Blocks::new(out, "frames"),
            kept: Vec::new(),
            bytes: Vec::new(),
            texts: Default::default(),
        }
    }

    /// Adds a frame of `size` bytes, of which these are the beginning.
    fn push(&mut self, number: u64, bytes: &[u8], size: u64) -> io::Result<()> {
        let (bytes, start) = (cut(bytes), self.bytes.len());
        self.bytes.extend_from_slice(bytes);
        self.kept.push(Kept {
            number,
            bytes: start..self.bytes.len(),
            left_out: size.saturating_sub(bytes.len() as u64),
        });
        if self.bytes.len() + self.kept.len() * size_of::<Kept>() >= TOGETHER {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let bytes = &self.bytes;
        halves::into(&self.kept, &mut self.texts, |half, texts| {
            texts.text.clear();
            texts.ends.clear();
            for kept in half {
                texts.add(kept, bytes);
            }
        });
        self.kept.clear();
        self.bytes.clear();
        for texts in &mut self.texts {
            if let Some(error) = texts.failed.take() {
                return Err(error);
            }
            let mut start = 0;
            for (number, end) in &texts.ends {
                self.blocks.push_made(*number, &texts.text[start..*end])?;
                start = *end;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        self.blocks.finish()
    }
}

impl Texts {
    fn add(&mut self, kept: &Kept, bytes: &[u8]) {
        let bytes = in_pieces(&bytes[kept.bytes.clone()]);
        let frame = Frame(kept.number, bytes, kept.left_out);
        match block::json(&frame, &mut self.text) {
            Ok(()) => self.ends.push((kept.number, self.text.len())),
            Err(error) => self.failed = Some(error),
        }
    }
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
            assert!(frames.kept.len() * size_of::<Kept>() < TOGETHER);
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
