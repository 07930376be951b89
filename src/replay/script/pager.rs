//! Reads a recording page by page.

use super::{Joiner, LONGEST, Step};
use crate::store::reader::{ReadError, Recording};
use crate::trace::exchange::ExchangeId;
use crate::trace::frame::Seq;
use std::collections::VecDeque;

/// Exchanges that are read at once.
const EXCHANGES: u32 = 1000;

/// Steps that follow each other; none at the end of the recording.
pub(super) type Page = VecDeque<Step>;

/// How far a recording was read.
#[derive(Clone, Debug)]
pub(super) struct Pager {
    joiner: Joiner,
    after: Seq,
    until: Seq,
    last_exchange: ExchangeId,
    all_exchanges: bool,
}

impl Pager {
    /// Nothing was read yet; nothing will be after the frame `until`.
    pub fn new(until: Seq) -> Self {
        Self {
            joiner: Joiner::default(),
            after: Seq(0),
            until,
            last_exchange: ExchangeId(0),
            all_exchanges: false,
        }
    }

    /// The next page.
    pub fn next(&mut self, recording: &Recording) -> Result<Page, ReadError> {
        let frames = recording.frames(self.after)?;
        let mut page = Page::with_capacity(frames.len());
        let Some((last, _)) = frames.last() else {
            return Ok(page);
        };
        self.after = last.seq;
        self.read_exchanges(recording, last.seq)?;
        for (head, raw) in frames {
            if head.seq > self.until {
                break;
            }
            let raw = match raw {
                None if head.size <= LONGEST => Some(recording.raw(head.seq)?),
                raw => raw,
            };
            page.push_back(self.joiner.step(head, raw.map(Into::into)));
        }
        Ok(page)
    }

    /// Reads exchanges until those with requests up to `last` are known.
    fn read_exchanges(&mut self, recording: &Recording, last: Seq) -> Result<(), ReadError> {
        while !self.all_exchanges && self.joiner.known_until().is_none_or(|known| known < last) {
            let page = recording.light_exchanges(self.last_exchange, None, EXCHANGES)?;
            self.all_exchanges = page.is_empty();
            for exchange in page {
                self.last_exchange = exchange.id;
                self.joiner.add(exchange);
            }
        }
        Ok(())
    }
}
