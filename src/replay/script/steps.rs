//! The steps of a recording, one after the other.

use super::pager::{Page, Pager};
use super::{Joiner, LONGEST, Step};
use crate::store::pages::Pages;
use crate::store::reader::{ReadError, Recording};
use crate::trace::frame::{FrameHead, Seq};
use bytes::Bytes;
use std::collections::VecDeque;

/// The steps of a recording.
#[derive(Debug)]
pub struct Script<'r> {
    recording: &'r Recording,
    pages: Pages<'r, Pager>,
    until: Seq,
    joiner: Joiner,
    page: VecDeque<(FrameHead, Option<Bytes>)>,
    /// The step that was given last: what comes of it is asked for again.
    latest: Option<(Seq, Option<Bytes>)>,
}

impl<'r> Script<'r> {
    /// The steps of `recording` up to the frame `until`, `None`: all of them.
    #[must_use]
    pub fn new(recording: &'r Recording, until: Option<Seq>) -> Self {
        let until = until.unwrap_or(Seq(u64::MAX));
        Self {
            recording,
            pages: Pages::new(recording, Pager::new(until)),
            until,
            joiner: Joiner::default(),
            page: VecDeque::new(),
            latest: None,
        }
    }

    /// The next step; `None` at the end.
    pub fn next_step(&mut self) -> Result<Option<Step>, ReadError> {
        if self.page.is_empty()
            && let Some(page) = self.pages.next_page()?
        {
            self.open(page);
        }
        let next = self.page.pop_front_if(|(head, _)| head.seq <= self.until);
        self.latest = next.as_ref().map(|(head, raw)| (head.seq, raw.clone()));
        Ok(next.map(|(head, raw)| self.joiner.step(head, raw)))
    }

    /// The bytes of a frame, `None` where there are none or too many. Costs little for the latest
    /// one, and for one that comes soon.
    pub fn raw(&self, seq: Seq) -> Result<Option<Bytes>, ReadError> {
        if let Some((_, raw)) = self.latest.as_ref().filter(|(latest, _)| *latest == seq) {
            return Ok(raw.clone());
        }
        if let Ok(at) = self.page.binary_search_by_key(&seq, |(head, _)| head.seq) {
            return Ok(self.page[at].1.clone());
        }
        match self.recording.head(seq)? {
            Some(head) if head.size <= LONGEST => Ok(Some(self.recording.raw(seq)?.into())),
            _ => Ok(None),
        }
    }

    fn open(&mut self, page: Page) {
        for exchange in page.exchanges.into_iter().flatten() {
            self.joiner.add(exchange);
        }
        let mut long = page.long.into_iter().peekable();
        let frames = page.frames.into_frames().map(|(head, raw)| {
            let read = long.next_if(|(seq, _)| *seq == head.seq);
            (head, raw.or(read.map(|(_, raw)| raw)))
        });
        self.page = frames.collect();
    }
}
