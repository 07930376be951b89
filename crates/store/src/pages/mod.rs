//! A recording page by page, from its beginning to its end: of a long one the next page is read
//! while the one before is gone through.

mod ahead;

use super::links::Link;
use super::reader::{FrameBlock, ReadError, Recording};
use ahead::Ahead;
use mcpreel_trace::frame::Seq;
use std::fmt::Debug;

/// Reads page after page. It is large pieces of memory that go from thread to thread: small ones
/// would have to be given back to the other one.
pub trait Pager: Clone + Debug + Send + 'static {
    type Page: Debug + Send + 'static;

    /// Pages that are read when they are needed: most recordings are no longer, and to begin
    /// reading ahead takes as long as to read some two thousand frames.
    const AT_HAND: usize;

    /// The next page; `None` at the end.
    fn next(&mut self, recording: &Recording) -> Result<Option<Self::Page>, ReadError>;
}

#[derive(Debug)]
pub struct Pages<'r, P: Pager> {
    recording: &'r Recording,
    source: Source<P>,
}

#[derive(Debug)]
enum Source<P: Pager> {
    /// They are read when they are needed.
    Here {
        pager: P,
        left: usize,
    },
    Ahead(Ahead<P::Page>),
}

impl<'r, P: Pager> Pages<'r, P> {
    pub fn new(recording: &'r Recording, pager: P) -> Self {
        let left = P::AT_HAND;
        let source = Source::Here { pager, left };
        Self { recording, source }
    }

    /// The next one; `None` at the end.
    pub fn next_page(&mut self) -> Result<Option<P::Page>, ReadError> {
        if let Source::Here { pager, left } = &mut self.source
            && *left == 0
        {
            match Ahead::start(pager, self.recording) {
                Some(ahead) => self.source = Source::Ahead(ahead),
                // It is slower, and does as well.
                None => *left = usize::MAX,
            }
        }
        match &mut self.source {
            Source::Here { pager, left } => {
                *left -= 1;
                pager.next(self.recording)
            }
            Source::Ahead(ahead) => ahead.next(),
        }
    }
}

/// Frames with their bytes, and what they have to do with each other.
#[derive(Debug, Default)]
pub struct LinkedFrames {
    pub frames: FrameBlock,
    pub links: Vec<Link>,
}

const FRAMES: u32 = 1000;

#[derive(Clone, Debug)]
pub struct FramePager {
    after: Seq,
    last: Seq,
    is_linked: bool,
}

impl FramePager {
    /// All frames up to `last`, with what they have to do with each other only if they are to be
    /// linked: that takes a while to find out.
    pub fn new(last: Seq, is_linked: bool) -> Self {
        Self {
            after: Seq(0),
            last,
            is_linked,
        }
    }
}

impl Pager for FramePager {
    type Page = LinkedFrames;

    const AT_HAND: usize = 2;

    fn next(&mut self, recording: &Recording) -> Result<Option<LinkedFrames>, ReadError> {
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
