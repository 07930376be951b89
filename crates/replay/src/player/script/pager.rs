//! Reads a recording page by page.

use super::LONGEST;
use bytes::Bytes;
use mcpreel_store::reader::{FrameBlock, ReadError, Recording};
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::{FrameHead, Seq};

/// Frames of a page. The memory of larger pages is given back to the system with each of them, and
/// has to be asked for again; of smaller ones so many are handed over that it takes longer.
const FRAMES: u32 = 200;

/// Exchanges that are read at once: as many as most pages have.
const EXCHANGES: u32 = 100;

/// Frames that follow each other, and the exchanges that begin in them or later.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub frames: FrameBlock,
    /// Those of the frames that are too long to be held together.
    pub long: Vec<(Seq, Bytes)>,
    pub exchanges: Vec<Vec<Exchange>>,
}

#[derive(Clone, Debug)]
pub(super) struct Pager {
    after: Seq,
    until: Seq,
    /// The last exchange that was read, and where its request stands.
    known: (ExchangeId, Seq),
    all_exchanges: bool,
}

impl Pager {
    /// Nothing was read yet; no page begins after the frame `until`.
    pub fn new(until: Seq) -> Self {
        Self {
            after: Seq(0),
            until,
            known: (ExchangeId(0), Seq(0)),
            all_exchanges: false,
        }
    }

    /// The exchanges that were not read yet, until those with requests up to `last` are known.
    fn exchanges(
        &mut self,
        recording: &Recording,
        last: Seq,
    ) -> Result<Vec<Vec<Exchange>>, ReadError> {
        let mut pages = Vec::new();
        while !self.all_exchanges && self.known.1 < last {
            let page = recording.light_exchanges(self.known.0, None, EXCHANGES)?;
            match page.last() {
                Some(latest) => self.known = (latest.id, latest.request.0),
                None => self.all_exchanges = true,
            }
            pages.push(page);
        }
        Ok(pages)
    }

    /// The next page; `None` at the end.
    pub fn next_page(&mut self, recording: &Recording) -> Result<Option<Page>, ReadError> {
        if self.after >= self.until {
            return Ok(None);
        }
        let frames = recording.frame_block(self.after, FRAMES)?;
        let Some(last) = frames.last() else {
            return Ok(None);
        };
        self.after = last;
        let is_long = |head: &&FrameHead| head.size <= LONGEST;
        let long = frames.too_long().filter(is_long);
        let read = |head: &FrameHead| Ok((head.seq, recording.raw(head.seq)?.into()));
        Ok(Some(Page {
            long: long.map(read).collect::<Result<_, ReadError>>()?,
            exchanges: self.exchanges(recording, last)?,
            frames,
        }))
    }
}
