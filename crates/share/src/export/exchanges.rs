//! Exchanges of a recording page by page, those that are selected: of a long one the next page is
//! read while the one before is written. What is said in a line is made of the bytes by whoever
//! writes them: that takes as long as to read them.

use super::Selection;
use mcpreel_store::reader::rows::{Unsaid, UnsaidPage};
use mcpreel_store::reader::{ReadError, Recording, Said};
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::Seq;

/// Exchanges that are looked at between two questions to the recording.
const PAGE: u32 = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum With {
    Nothing,
    /// What their messages say in a line.
    Lines,
    Bytes,
}

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

#[derive(Debug, Default)]
pub(super) struct ExchangePage {
    pub exchanges: Vec<Exchange>,
    /// The same while it is not [told](Self::tell) what their messages say.
    unsaid: UnsaidPage,
    /// What each of them said, where that was asked for.
    pub said: Vec<Said>,
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

    /// The next page of those whose messages are told in a line.
    fn unsaid(&mut self, recording: &Recording) -> Result<Option<ExchangePage>, ReadError> {
        let mut page = recording.unsaid_exchanges(self.after)?;
        let unsaid = &mut page.rows;
        if let Some(until) = self.until {
            let counts = |it: &&Unsaid| it.exchange.request.0 <= until;
            let counted = unsaid.iter().take_while(counts).count();
            unsaid.truncate(counted);
        }
        let Some(end) = unsaid.last() else {
            return Ok(None);
        };
        self.after = end.exchange.id;
        let all = unsaid.len();
        unsaid.retain(|it| match self.until {
            Some(until) => self.selection.has_exchange(&it.exchange.clone().at(until)),
            None => self.selection.has_exchange(&it.exchange),
        });
        Ok(Some(ExchangePage {
            left_out: (all - unsaid.len()) as u64,
            unsaid: page,
            ..ExchangePage::default()
        }))
    }
}

impl ExchangePage {
    /// Makes the lines that are not made yet; the exchanges are as they stood when `until` was the
    /// last frame.
    pub fn tell(&mut self, until: Option<Seq>) {
        let told = std::mem::take(&mut self.unsaid).said().into_iter();
        self.exchanges.extend(told.map(|exchange| match until {
            Some(until) => exchange.at(until),
            None => exchange,
        }));
    }
}

impl ExchangePager {
    /// The next page; `None` at the end.
    pub fn next_page(&mut self, recording: &Recording) -> Result<Option<ExchangePage>, ReadError> {
        if self.with == With::Lines {
            return self.unsaid(recording);
        }
        let mut page = ExchangePage::default();
        if self.rest.is_empty() {
            // As they stood at the last frame, those included that are not selected.
            self.rest = recording.light_exchanges(self.after, self.until, PAGE)?;
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
