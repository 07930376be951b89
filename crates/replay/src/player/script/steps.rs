//! The steps of a recording, one after the other.

use super::pager::{Page, Pager};
use super::sooner::{self, Sooner};
use super::{Joiner, LONGEST, Step};
use bytes::Bytes;
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::frame::{FrameHead, Seq};
use std::collections::VecDeque;

#[derive(Debug)]
pub struct Script<'r> {
    recording: &'r Recording,
    pages: Pager,
    until: Seq,
    joiner: Joiner,
    page: VecDeque<(FrameHead, Option<Bytes>)>,
    /// What goes before what stands before it; read when first needed.
    sooner: Option<Sooner>,
    /// Steps that were read and overtaken.
    ahead: VecDeque<Step>,
    /// The step that was given last: what comes of it is asked for again.
    latest: Option<(Seq, Option<Bytes>)>,
}

impl<'r> Script<'r> {
    /// The steps of `recording` up to the frame `until`, `None`: all of them.
    pub fn new(recording: &'r Recording, until: Option<Seq>) -> Self {
        let until = until.unwrap_or(Seq(u64::MAX));
        Self {
            recording,
            pages: Pager::new(until),
            until,
            joiner: Joiner::default(),
            page: VecDeque::new(),
            sooner: None,
            ahead: VecDeque::new(),
            latest: None,
        }
    }

    /// The next step; `None` at the end.
    pub fn next_step(&mut self) -> Result<Option<Step>, ReadError> {
        let mut next = match self.ahead.pop_front() {
            Some(step) => Some(step),
            None => self.read_step()?,
        };
        if let Some(step) = &next
            && let Some(sooner) = self.sooner()?.than(step)
        {
            next = self.overtaken(next, sooner)?;
        }
        let raw = |step: &Step| (step.head.seq, step.raw.clone());
        self.latest = next.as_ref().map(raw);
        Ok(next)
    }

    fn sooner(&mut self) -> Result<&Sooner, ReadError> {
        if self.sooner.is_none() {
            self.sooner = Some(Sooner::of(self.recording)?);
        }
        Ok(self.sooner.get_or_insert_default())
    }

    /// The frame `sooner` of the client, where it may go before `step`; else that.
    fn overtaken(&mut self, step: Option<Step>, sooner: Seq) -> Result<Option<Step>, ReadError> {
        while self.ahead.back().is_none_or(|last| last.head.seq < sooner) {
            let Some(next) = self.read_step()? else { break };
            self.ahead.push_back(next);
        }
        let place = sooner::place(self.ahead.iter(), sooner);
        let Some(first) = place.and_then(|place| self.ahead.remove(place)) else {
            return Ok(step);
        };
        if let Some(known) = &mut self.sooner {
            known.passed(sooner);
        }
        if let Some(step) = step {
            self.ahead.push_front(step);
        }
        Ok(Some(first))
    }

    /// The next one in the order of the recording.
    fn read_step(&mut self) -> Result<Option<Step>, ReadError> {
        if self.page.is_empty()
            && let Some(page) = self.pages.next_page(self.recording)?
        {
            self.open(page);
        }
        let next = self.page.pop_front_if(|(head, _)| head.seq <= self.until);
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
