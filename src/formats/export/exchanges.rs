//! Exchanges of a recording page by page, those that are selected: of a long one the next page is
//! read while the one before is written.

use super::Selection;
use crate::store::pages::Pager;
use crate::store::reader::{ReadError, Recording, Said};
use crate::trace::exchange::{Exchange, ExchangeId};
use crate::trace::frame::Seq;

/// Exchanges that are looked at between two questions to the recording.
const PAGE: u32 = 1000;

/// What exchanges come with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum With {
    /// Nothing.
    Nothing,
    /// What their messages say in a line.
    Lines,
    /// The bytes of their messages.
    Bytes,
}

/// Reads them.
#[derive(Clone, Debug)]
pub(super) struct ExchangePager {
    selection: Selection,
    /// The last frame that counts; none where the recording is over, and all of it does.
    until: Option<Seq>,
    with: With,
    after: ExchangeId,
    /// Selected ones that were read, whose bytes were not.
    rest: Vec<Exchange>,
}

/// Some of them.
#[derive(Debug, Default)]
pub(super) struct ExchangePage {
    pub exchanges: Vec<Exchange>,
    /// What each of them said, where that was asked for.
    pub said: Vec<Said>,
    /// How many were not selected.
    pub left_out: u64,
}

impl ExchangePager {
    pub fn new(selection: &Selection, until: Option<Seq>, with: With) -> Self {
        Self {
            selection: selection.clone(),
            until,
            with,
            after: ExchangeId(0),
            rest: Vec::new(),
        }
    }

    /// As they stood at the last frame, those included that are not selected.
    fn all(&self, recording: &Recording) -> Result<Vec<Exchange>, ReadError> {
        if self.with != With::Lines {
            return recording.light_exchanges(self.after, self.until, PAGE);
        }
        let page = recording.exchanges(self.after)?;
        Ok(match self.until {
            Some(until) => {
                let page = page.into_iter().take_while(|it| it.request.0 <= until);
                page.map(|exchange| exchange.at(until)).collect()
            }
            None => page,
        })
    }
}

impl Pager for ExchangePager {
    type Page = ExchangePage;

    const AT_HAND: usize = 2;

    fn next(&mut self, recording: &Recording) -> Result<Option<ExchangePage>, ReadError> {
        let mut page = ExchangePage::default();
        if self.rest.is_empty() {
            self.rest = self.all(recording)?;
            let Some(end) = self.rest.last() else {
                return Ok(None);
            };
            self.after = end.id;
            let all = self.rest.len();
            self.rest
                .retain(|exchange| self.selection.has_exchange(exchange));
            page.left_out = (all - self.rest.len()) as u64;
        }
        page.exchanges = std::mem::take(&mut self.rest);
        if self.with == With::Bytes && !page.exchanges.is_empty() {
            page.said = recording.said(&page.exchanges)?;
            self.rest = page.exchanges.split_off(page.said.len());
        }
        Ok(Some(page))
    }
}
