//! Walks through the selected part of a recording, in order.

use super::{ExportError, Progress, Selection, all_rows};
use crate::phrases::UNTIMED;
use crate::phrases::phrases_session::{self, Facts};
use mcpreel_store::notices::{Link, Notice};
use mcpreel_store::reader::{EventRow, FramePage, ReadError, Recording, Summary};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::EventKind;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::{FrameHead, Seq};

/// Frames that are looked at between two questions to the recording.
const PAGE: u32 = 1000;

/// The part of a recording that is written: the selection, up to a frame.
#[derive(Clone, Copy, Debug)]
pub struct Excerpt<'r> {
    pub recording: &'r Recording,
    pub selection: &'r Selection,
    /// The last frame that is written; a live recording gets more meanwhile.
    pub last: Seq,
    /// The time of a session that is still recorded, by the clock of its frames; `None` where it
    /// is over.
    pub now: Option<Moment>,
}

#[derive(Debug)]
pub enum Part<'a> {
    /// A frame, with its bytes unless it is too long to hold, and what it has to do with other
    /// frames if it is one message.
    Frame(&'a FrameHead, Option<&'a [u8]>, Option<&'a Link>),
    Passed(&'a FrameHead),
    /// An event. That of the start never comes: it stands in the summary.
    Event(&'a EventRow),
}

impl<'r> Excerpt<'r> {
    /// The selected part of a recording that does not grow.
    pub fn of(recording: &'r Recording, selection: &'r Selection) -> Self {
        Self {
            recording,
            selection,
            last: Seq(u64::MAX),
            now: None,
        }
    }

    pub fn has(&self, seq: Seq) -> bool {
        seq <= self.last && self.selection.has_frame(seq)
    }

    /// Whether it is not the whole recording.
    pub fn is_cut(&self) -> bool {
        self.selection.note().is_some()
    }

    /// The facts of the session, and what a reader must know of this export of it.
    pub fn facts(&self, summary: &Summary) -> Result<Facts, ReadError> {
        let mut facts = phrases_session::facts(summary, self.recording)?;
        phrases_session::name_clients(&mut facts, &self.recording.conversations()?);
        facts.extend(self.now.map(|now| ("live", phrases_session::live(now))));
        let is_untimed = self.recording.is_untimed()?;
        facts.extend(is_untimed.then(|| ("times", UNTIMED.to_owned())));
        let note = self.selection.note();
        facts.extend(note.map(|note| ("only", phrases_session::only(note))));
        Ok(facts)
    }

    /// Gives its frames and events to `visit`, in the order in which they were recorded. Frames of
    /// up to `hold` bytes come with their bytes; if `with_links`, with what they have to do with
    /// each other, which takes a while to find out.
    pub fn walk<E: From<ReadError>>(
        &self,
        (hold, with_links): (u64, bool),
        visit: &mut impl FnMut(Part<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut events = self.events().peekable();
        let mut after = Seq(0);
        loop {
            let page = self.page(after)?;
            let Some(end) = page.last().map(|(head, _)| head.seq) else {
                return events.try_for_each(|row| visit(Part::Event(&row?)));
            };
            let links = if with_links {
                self.recording.links(after, end)?
            } else {
                Vec::new()
            };
            after = end;
            let mut links = links.iter().peekable();
            for (head, raw) in &page {
                let is_before = |row: &Result<EventRow, _>| {
                    row.as_ref()
                        .map_or(true, |row| row.event.after_seq < head.seq)
                };
                while let Some(row) = events.next_if(is_before) {
                    visit(Part::Event(&row?))?;
                }
                // A damaged recording may have messages without a frame.
                while links.next_if(|link| link.frame < head.seq).is_some() {}
                let link = links.next_if(|link| link.frame == head.seq);
                if !self.selection.has_frame(head.seq) {
                    visit(Part::Passed(head))?;
                } else if head.size > hold || raw.is_some() {
                    let raw = raw.as_deref().filter(|_| head.size <= hold);
                    visit(Part::Frame(head, raw, link))?;
                } else {
                    let raw = self.recording.raw(head.seq)?;
                    visit(Part::Frame(head, Some(&raw), link))?;
                }
            }
        }
    }

    /// The next frames; of a part of a recording without their bytes. To ask for the bytes of each
    /// frame alone takes longer than to read them in pages.
    fn page(&self, after: Seq) -> Result<FramePage, ReadError> {
        let mut page = if self.is_cut() {
            let heads = self.recording.heads(after, PAGE)?;
            heads.into_iter().map(|head| (head, None)).collect()
        } else {
            self.recording.frames(after)?
        };
        page.retain(|(head, _)| head.seq <= self.last);
        Ok(page)
    }

    /// Gives the exchanges whose request or answer is selected to `visit`, in the order of their
    /// requests, as they stood at the last frame. Returns how many were left out.
    pub fn exchanges<E: From<ReadError>>(
        &self,
        visit: &mut impl FnMut(&Exchange) -> Result<(), E>,
    ) -> Result<u64, E> {
        self.exchange_pages(&mut |page| page.iter().try_for_each(&mut *visit))
    }

    /// The same in pages.
    pub fn exchange_pages<E: From<ReadError>>(
        &self,
        visit: &mut impl FnMut(&[Exchange]) -> Result<(), E>,
    ) -> Result<u64, E> {
        let (mut after, mut left_out) = (ExchangeId(0), 0);
        loop {
            let mut page = self.recording.exchanges(after, PAGE)?;
            page.retain(|exchange| exchange.request.0 <= self.last);
            let Some(end) = page.last() else {
                return Ok(left_out);
            };
            after = end.id;
            if self.last < Seq(u64::MAX) {
                let then = page.into_iter().map(|exchange| exchange.at(self.last));
                page = then.collect();
            }
            let all = page.len();
            page.retain(|exchange| self.selection.has_exchange(exchange));
            left_out += (all - page.len()) as u64;
            visit(&page)?;
        }
    }

    /// Its events, but for that of the start.
    pub fn events(&self) -> impl Iterator<Item = Result<EventRow, ReadError>> + use<'r> {
        let Self {
            recording,
            selection,
            last,
            ..
        } = *self;
        let rows = all_rows(0, |after| recording.events(*after), |row| row.id);
        let rows = rows.take_while(move |row| {
            let after = row.as_ref().map(|row| row.event.after_seq);
            after.map_or(true, |after| after <= last)
        });
        rows.filter(move |row| {
            row.as_ref().map_or(true, |row| {
                let is_start = matches!(row.event.kind, EventKind::Start(_));
                !is_start && selection.has_event(row)
            })
        })
    }

    /// Gives its messages that are no request and no answer of an exchange to `visit`, in order;
    /// `progress` is told how far it is.
    pub fn notices(
        &self,
        progress: &mut Progress<'_>,
        visit: &mut impl FnMut(&Notice) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        let page = |after: &(Seq, u32)| self.recording.notices(*after, self.last, PAGE);
        for notice in all_rows((Seq(0), 0), page, |notice| (notice.seq, notice.part)) {
            let notice = notice?;
            progress(notice.seq)?;
            if self.selection.has_frame(notice.seq) {
                visit(&notice)?;
            }
        }
        Ok(())
    }
}
