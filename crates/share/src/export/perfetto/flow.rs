//! How many bytes went by, in the course of the frames.

use super::counter::{Bytes, Sample};
use crate::export::Excerpt;
use mcpreel_store::reader::ReadError;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::{Seq, StreamId};

const PAGE: u32 = 1000;

/// Samples that are kept: more than there are where times only grow. Somebody may have changed them.
const KEPT: usize = 1 << 17;

/// Goes over the frames, as far as is asked for.
pub(super) struct Flow<'r> {
    excerpt: Excerpt<'r>,
    /// The last frame that was counted.
    after: Seq,
    is_over: bool,
    streams: [Bytes; StreamId::STDIO.len()],
    pub samples: Vec<Sample>,
    pub frames: u64,
}

impl<'r> Flow<'r> {
    /// None yet, of a recording that is over at `end`.
    pub fn new(excerpt: Excerpt<'r>, end: Moment) -> Self {
        Self {
            excerpt,
            after: Seq(0),
            is_over: false,
            streams: StreamId::STDIO.map(|stream| Bytes::new(stream, end)),
            samples: Vec::new(),
            frames: 0,
        }
    }

    /// Counts the frames up to `seq`, and some more.
    pub fn up_to(&mut self, seq: Seq) -> Result<(), ReadError> {
        while !self.is_over && self.after < seq && self.samples.len() < KEPT {
            self.page()?;
        }
        Ok(())
    }

    /// Counts some more; returns up to which frame, and none after the last one.
    pub fn next(&mut self) -> Result<Option<Seq>, ReadError> {
        if self.is_over {
            return Ok(None);
        }
        self.page()?;
        Ok(Some(self.after.min(self.excerpt.last)))
    }

    fn page(&mut self) -> Result<(), ReadError> {
        let heads = self.excerpt.recording.heads(self.after, PAGE)?;
        for head in heads.iter().filter(|head| self.excerpt.has(head.seq)) {
            let mut streams = self.streams.iter_mut();
            let stream = streams.find(|bytes| bytes.stream == head.stream);
            let sample = stream.and_then(|bytes| bytes.add(head.t_last, head.size));
            self.samples.extend(sample);
            self.frames += 1;
        }
        let end = heads.last().map(|head| head.seq);
        self.after = end.unwrap_or(self.after);
        self.is_over = end.is_none_or(|end| end >= self.excerpt.last);
        if self.is_over {
            let streams = self.streams.iter_mut();
            self.samples.extend(streams.filter_map(Bytes::finish));
        }
        Ok(())
    }
}
