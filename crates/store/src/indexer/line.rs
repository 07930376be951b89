//! The unfinished line of one stream: chunks go in, whole lines come out.

use mcpreel_capture::spool::RecordHead;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::{Carried, FrameHead, Seq, StreamId};
use mcpreel_wire::framing::Framer;

/// A longer line is not collected in memory: it is copied from the spool when it is complete.
/// Without the limit one line could take all the memory there is.
pub const COLLECT_LIMIT: u64 = 1024 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Body<'a> {
    Bytes(&'a [u8]),
    /// In the spool, from the record at this position on.
    Spooled(u64),
}

/// A stream that is cut into lines.
#[derive(Debug, Default)]
pub(super) struct Line {
    /// Bytes of the stream that are in frames or gaps.
    pub committed: u64,
    pub open: Option<Open>,
    framer: Framer,
    /// The bytes of the open line, as long as they are few enough.
    bytes: Vec<u8>,
}

/// A line whose terminator has not come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    /// The record with its first byte.
    pub record: u64,
    /// When its first and its last byte were read.
    pub t_first: Moment,
    pub t_last: Moment,
    pub len: u64,
    stream: StreamId,
}

impl Line {
    /// The place of the next byte in the stream.
    pub fn end(&self) -> u64 {
        self.committed + self.open.map_or(0, |open| open.len)
    }

    /// Cuts the chunk `payload`, and gives every line that it completes to `emit`, which numbers
    /// them. Bytes that the stream had before are passed over; whoever calls has taken care of
    /// missing ones.
    pub fn push<E>(
        &mut self,
        head: &RecordHead,
        payload: &[u8],
        emit: &mut impl FnMut(FrameHead, Body<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let known = usize::try_from(self.end().saturating_sub(head.offset)).unwrap_or(usize::MAX);
        let chunk = payload.get(known..).unwrap_or_default();
        let mut framer = std::mem::take(&mut self.framer);
        for piece in framer.push(chunk) {
            let bytes = &chunk[piece.bytes];
            let fresh = Open {
                record: head.position,
                t_first: head.t,
                t_last: head.t,
                len: 0,
                stream: head.stream,
            };
            let len = bytes.len() as u64;
            if piece.ends_frame && self.open.is_none() {
                // A line that lies within one chunk, the usual case, is not copied.
                emit(self.head(Open { len, ..fresh }), Body::Bytes(bytes))?;
                self.committed += len;
                continue;
            }
            let open = self.open.get_or_insert(fresh);
            open.t_last = head.t;
            open.len += len;
            if open.len > COLLECT_LIMIT {
                self.bytes = Vec::new();
            } else {
                self.bytes.extend_from_slice(bytes);
            }
            if piece.ends_frame {
                self.finish(emit)?;
            }
        }
        self.framer = framer;
        Ok(())
    }

    /// Ends the open line, if there is one, as it is: it is complete, or a gap or the end of the
    /// stream follows.
    pub fn finish<E>(
        &mut self,
        emit: &mut impl FnMut(FrameHead, Body<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.framer.reset();
        let Some(open) = self.open.take() else {
            return Ok(());
        };
        let body = if open.len > COLLECT_LIMIT {
            Body::Spooled(open.record)
        } else {
            Body::Bytes(&self.bytes)
        };
        emit(self.head(open), body)?;
        self.committed += open.len;
        self.bytes.clear();
        Ok(())
    }

    /// The head of the line, which has no number yet.
    fn head(&self, line: Open) -> FrameHead {
        FrameHead {
            seq: Seq(0),
            stream: line.stream,
            offset: self.committed,
            t_first: line.t_first,
            t_last: line.t_last,
            size: line.len,
            carried: Carried::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpreel_capture::spool::RecordKind;
    use std::convert::Infallible;

    /// Feeds `chunks` one after the other and returns what comes out, times as chunk numbers.
    fn cut(chunks: &[&[u8]]) -> Vec<(u64, u64, u64, Vec<u8>)> {
        let mut line = Line::default();
        let mut frames = Vec::new();
        let mut emit = |frame: FrameHead, body: Body<'_>| {
            let Body::Bytes(bytes) = body else {
                panic!("a short line is not spooled");
            };
            frames.push((
                frame.offset,
                frame.t_first.0,
                frame.t_last.0,
                bytes.to_vec(),
            ));
            Ok::<(), Infallible>(())
        };
        let mut offset = 0;
        for (n, chunk) in chunks.iter().enumerate() {
            line.push(&head(n as u64, offset, chunk.len()), chunk, &mut emit)
                .unwrap();
            offset += chunk.len() as u64;
        }
        line.finish(&mut emit).unwrap();
        frames
    }

    fn head(n: u64, offset: u64, len: usize) -> RecordHead {
        RecordHead {
            position: n,
            kind: RecordKind::Chunk,
            stream: StreamId::S2C,
            t: Moment(n),
            offset,
            len: u32::try_from(len).unwrap(),
        }
    }

    #[test]
    fn any_chunking_gives_the_same_lines() {
        let bytes = b"one\n\r\n\ntwo\xff\0\nunfinished";
        let whole: Vec<_> = cut(&[bytes])
            .into_iter()
            .map(|frame| (frame.0, frame.3))
            .collect();
        assert_eq!(whole.len(), 5);
        for size in 1..bytes.len() {
            let chunks: Vec<_> = bytes.chunks(size).collect();
            let frames = cut(&chunks).into_iter().map(|frame| (frame.0, frame.3));
            assert_eq!(frames.collect::<Vec<_>>(), whole, "in chunks of {size}");
        }
    }
}
