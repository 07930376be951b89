//! Cutting a stream of bytes into lines.
//!
//! A frame is a line with its `\n`. Nothing else has a meaning here: carriage returns, byte order
//! marks, NUL and invalid UTF-8 are bytes like any other. The cuts depend on the bytes alone,
//! never on how they were chunked, and the frames of a stream concatenate to the stream.
//!
//! [`Framer`] owns no bytes: it says which range of a chunk belongs to which frame, and whoever
//! reads decides what to keep. Every byte is looked at once, however long the line.

use std::ops::Range;

/// The longest frame. A longer line is cut into parts of this length: `SQLite` holds no value over
/// 1 GB, and 32-bit offsets reach into every frame.
pub const MAX_FRAME: u64 = 512 << 20;

/// A JSON message as a line: its line breaks, which stand for nothing, are spaces.
pub fn as_line(message: &[u8]) -> Vec<u8> {
    let mut line = message.trim_ascii().to_vec();
    for byte in &mut line {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    line.push(b'\n');
    line
}

/// A scanner for one stream that reports where its frames end.
#[derive(Clone, Debug)]
pub struct Framer {
    open: u64,
    limit: u64,
}

/// A range of a chunk that belongs to one frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub bytes: Range<usize>,
    /// Whether the frame ends with this piece; its last byte is `\n` unless it was `cut`.
    pub ends_frame: bool,
    /// Whether the frame ends here only because it reached the limit: the line goes on in the
    /// next frame.
    pub cut: bool,
}

impl Default for Framer {
    fn default() -> Self {
        Self::new()
    }
}

impl Framer {
    /// A framer at the start of a line, which cuts at [`MAX_FRAME`].
    pub fn new() -> Self {
        Self::with_limit(MAX_FRAME)
    }

    /// A framer that cuts lines longer than `limit` bytes (at least one).
    pub fn with_limit(limit: u64) -> Self {
        Self {
            open: 0,
            limit: limit.max(1),
        }
    }

    /// The pieces of the next `chunk`, in order, without gaps. To be consumed to its end before
    /// the next call: the framer moves on with the iterator.
    #[must_use = "the framer moves on only as the pieces are taken"]
    pub fn push<'a>(&'a mut self, chunk: &'a [u8]) -> Pieces<'a> {
        Pieces {
            framer: self,
            chunk,
            at: 0,
        }
    }

    /// Forgets the unfinished frame: what comes next begins a new one. For gaps in a stream.
    pub fn reset(&mut self) {
        self.open = 0;
    }
}

#[derive(Debug)]
pub struct Pieces<'a> {
    framer: &'a mut Framer,
    chunk: &'a [u8],
    at: usize,
}

impl Iterator for Pieces<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let rest = &self.chunk[self.at..];
        if rest.is_empty() {
            return None;
        }
        let room = usize::try_from(self.framer.limit - self.framer.open).unwrap_or(usize::MAX);
        let window = &rest[..rest.len().min(room)];
        let newline = memchr::memchr(b'\n', window);
        let length = newline.map_or(window.len(), |at| at + 1);
        let cut = newline.is_none() && length == room;
        let ends_frame = newline.is_some() || cut;
        let bytes = self.at..self.at + length;
        self.at = bytes.end;
        self.framer.open = if ends_frame {
            0
        } else {
            self.framer.open + length as u64
        };
        Some(Piece {
            bytes,
            ends_frame,
            cut,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn collect(chunks: &[&[u8]], limit: u64) -> Vec<(Vec<u8>, bool)> {
        let mut framer = Framer::with_limit(limit);
        let (mut done, mut open) = (Vec::new(), Vec::new());
        for chunk in chunks {
            for piece in framer.push(chunk) {
                open.extend_from_slice(&chunk[piece.bytes]);
                if piece.ends_frame {
                    done.push((std::mem::take(&mut open), piece.cut));
                }
            }
        }
        assert_eq!(framer.open, open.len() as u64);
        if !open.is_empty() {
            done.push((open, false));
        }
        done
    }

    #[test]
    fn a_line_over_the_limit_is_cut_into_flagged_parts() {
        let frames = collect(&[b"abc", b"defg", b"h\nij\n"], 3);
        let cut: Vec<(&[u8], bool)> = frames.iter().map(|(b, cut)| (&b[..], *cut)).collect();
        assert_eq!(
            cut,
            [
                (&b"abc"[..], true),
                (b"def", true),
                (b"gh\n", false),
                (b"ij\n", false)
            ]
        );
    }

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..300)
    }

    proptest! {
        #[test]
        fn chunking_changes_nothing(
            bytes in bytes(),
            cuts in prop::collection::vec(0usize..300, 0..20),
            limit in prop_oneof![Just(MAX_FRAME), 1u64..20],
        ) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            let chunked = collect(&chunks, limit);
            prop_assert_eq!(&chunked, &collect(&[&bytes], limit));
            let joined: Vec<u8> = chunked.into_iter().flat_map(|(bytes, _)| bytes).collect();
            prop_assert_eq!(joined, bytes);
        }
    }
}
