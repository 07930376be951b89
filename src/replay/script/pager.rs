//! Reads a recording page by page.

use super::{Joiner, LONGEST, Step};
use crate::store::reader::{ReadError, Recording};
use crate::trace::exchange::ExchangeId;
use crate::trace::frame::Seq;
use std::collections::VecDeque;
use std::sync::Arc;

/// Exchanges that are read at once.
const EXCHANGES: u32 = 1000;

/// The steps of a recording.
#[derive(Debug)]
pub struct Script<'r> {
    recording: &'r Recording,
    joiner: Joiner,
    page: VecDeque<Step>,
    /// The step that was given last: what comes of it is asked for again.
    latest: Option<(Seq, Option<Arc<[u8]>>)>,
    after: Seq,
    until: Seq,
    last_exchange: ExchangeId,
    all_exchanges: bool,
}

impl<'r> Script<'r> {
    /// The steps of `recording` up to the frame `until`, `None`: all of them.
    #[must_use]
    pub fn new(recording: &'r Recording, until: Option<Seq>) -> Self {
        Self {
            recording,
            joiner: Joiner::default(),
            page: VecDeque::new(),
            latest: None,
            after: Seq(0),
            until: until.unwrap_or(Seq(u64::MAX)),
            last_exchange: ExchangeId(0),
            all_exchanges: false,
        }
    }

    /// The next step; `None` at the end.
    pub fn next_step(&mut self) -> Result<Option<Step>, ReadError> {
        if self.page.is_empty() {
            self.read_page()?;
        }
        let step = self.page.pop_front();
        self.latest = step.as_ref().map(|step| (step.head.seq, step.raw.clone()));
        Ok(step)
    }

    /// The bytes of a frame, `None` where there are none or too many. Costs little for the latest
    /// one, and for one that comes soon.
    pub fn raw(&self, seq: Seq) -> Result<Option<Arc<[u8]>>, ReadError> {
        if let Some((_, raw)) = self.latest.as_ref().filter(|(latest, _)| *latest == seq) {
            return Ok(raw.clone());
        }
        if let Ok(at) = self.page.binary_search_by_key(&seq, |step| step.head.seq) {
            return Ok(self.page[at].raw.clone());
        }
        match self.recording.head(seq)? {
            Some(head) if head.size <= LONGEST => Ok(Some(self.recording.raw(seq)?.into())),
            _ => Ok(None),
        }
    }

    fn read_page(&mut self) -> Result<(), ReadError> {
        let page = self.recording.frames(self.after)?;
        let Some((last, _)) = page.last() else {
            return Ok(());
        };
        self.after = last.seq;
        self.read_exchanges(last.seq)?;
        for (head, raw) in page {
            if head.seq > self.until {
                break;
            }
            let raw = match raw {
                None if head.size <= LONGEST => Some(self.recording.raw(head.seq)?),
                raw => raw,
            };
            let step = self.joiner.step(head, raw.map(Into::into));
            self.page.push_back(step);
        }
        Ok(())
    }

    /// Reads exchanges until those with requests up to `last` are known.
    fn read_exchanges(&mut self, last: Seq) -> Result<(), ReadError> {
        while !self.all_exchanges && self.joiner.known_until().is_none_or(|known| known < last) {
            let page = self
                .recording
                .light_exchanges(self.last_exchange, None, EXCHANGES)?;
            self.all_exchanges = page.is_empty();
            for exchange in page {
                self.last_exchange = exchange.id;
                self.joiner.add(exchange);
            }
        }
        Ok(())
    }
}
