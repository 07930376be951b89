//! The frames of a recording page by page, from its beginning.

use super::links::Link;
use super::reader::{FrameBlock, ReadError, Recording};
use mcpreel_trace::frame::Seq;

const FRAMES: u32 = 1000;

/// Frames with their bytes, and how they relate to each other.
#[derive(Debug, Default)]
pub struct LinkedFrames {
    pub frames: FrameBlock,
    pub links: Vec<Link>,
}

#[derive(Clone, Debug)]
pub struct FramePager {
    after: Seq,
    last: Seq,
    is_linked: bool,
}

impl FramePager {
    /// All frames up to `last`, with their links only if `is_linked`: those take a while to find.
    pub fn new(last: Seq, is_linked: bool) -> Self {
        Self {
            after: Seq(0),
            last,
            is_linked,
        }
    }

    /// The next page; `None` at the end.
    pub fn next_page(&mut self, recording: &Recording) -> Result<Option<LinkedFrames>, ReadError> {
        let mut frames = recording.frame_block(self.after, FRAMES)?;
        frames.end_at(self.last);
        let Some(end) = frames.last() else {
            return Ok(None);
        };
        let links = if self.is_linked {
            recording.links(self.after, end)?
        } else {
            Vec::new()
        };
        self.after = end;
        Ok(Some(LinkedFrames { frames, links }))
    }
}
