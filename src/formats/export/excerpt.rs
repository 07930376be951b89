//! What of a recording is written, and going through it in order.

use super::Selection;
use crate::store::indexer::COLLECT_LIMIT;
use crate::store::links::Link;
use crate::store::notices::Notice;
use crate::store::reader::{EventRow, FramePage, ReadError, Recording};
use crate::trace::event::EventKind;
use crate::trace::exchange::{Exchange, ExchangeId};
use crate::trace::frame::{FrameHead, Seq};
use std::vec::IntoIter;

/// Frames that are looked at between two questions to the recording.
const PAGE: u32 = 1000;

/// What of a recording is written: what is selected, up to a frame.
#[derive(Clone, Copy, Debug)]
pub struct Excerpt<'r> {
    /// Of this recording.
    pub recording: &'r Recording,
    /// What is selected of it.
    pub selection: &'r Selection,
    /// What a live recording gets after this frame is not written.
    pub last: Seq,
}

/// Something that is written.
#[derive(Debug)]
pub enum Part<'a> {
    /// A frame, with its bytes unless it is too long to hold, and what it has to do with other
    /// frames if it is one message.
    Frame(&'a FrameHead, Option<&'a [u8]>, Option<&'a Link>),
    /// A frame that is left out.
    Passed(&'a FrameHead),
    /// An event. That of the start never comes: it stands in the summary.
    Event(&'a EventRow),
}

impl<'r> Excerpt<'r> {
    /// What is selected of a recording that does not grow.
    #[must_use]
    pub fn of(recording: &'r Recording, selection: &'r Selection) -> Self {
        Self {
            recording,
            selection,
            last: Seq(u64::MAX),
        }
    }

    /// Whether the frame is in it.
    #[must_use]
    pub fn has(&self, seq: Seq) -> bool {
        seq <= self.last && self.selection.has_frame(seq)
    }

    /// Whether it is not the whole recording.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.selection.note().is_some()
    }

    /// Gives its frames and events to `visit`, in the order in which they were recorded.
    pub fn walk<E: From<ReadError>>(
        &self,
        visit: &mut impl FnMut(Part<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.walk_holding(COLLECT_LIMIT, visit)
    }

    /// The same, with the bytes of frames up to `hold` bytes.
    pub(in crate::formats) fn walk_holding<E: From<ReadError>>(
        &self,
        hold: u64,
        visit: &mut impl FnMut(Part<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut events = Events::new(self.recording);
        let mut after = Seq(0);
        loop {
            let mut frames = self.page(after)?;
            frames.retain(|(head, _)| head.seq <= self.last);
            let Some(end) = frames.last().map(|(head, _)| head.seq) else {
                break;
            };
            let links = self.recording.links(after, end)?;
            let mut links = links.iter().peekable();
            for (head, raw) in &frames {
                events.before(head.seq, self.selection, visit)?;
                // A damaged recording may have messages without a frame.
                while links.next_if(|link| link.frame < head.seq).is_some() {}
                let link = links.next_if(|link| link.frame == head.seq);
                self.frame(head, (raw.as_deref(), hold), link, visit)?;
            }
            after = end;
        }
        events.before(self.end(), self.selection, visit)
    }

    /// The frames after `after`, with their bytes where all of them are written: to ask for each
    /// alone takes longer than to read it.
    fn page(&self, after: Seq) -> Result<FramePage, ReadError> {
        if !self.is_cut() {
            return self.recording.frames(after);
        }
        let heads = self.recording.heads(after, PAGE)?.into_iter();
        Ok(heads.map(|head| (head, None)).collect())
    }

    fn frame<E: From<ReadError>>(
        &self,
        head: &FrameHead,
        (raw, hold): (Option<&[u8]>, u64),
        link: Option<&Link>,
        visit: &mut impl FnMut(Part<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.selection.has_frame(head.seq) {
            return visit(Part::Passed(head));
        }
        if head.size > hold {
            return visit(Part::Frame(head, None, link));
        }
        if raw.is_some() {
            return visit(Part::Frame(head, raw, link));
        }
        let raw = self.recording.raw(head.seq)?;
        visit(Part::Frame(head, Some(&raw), link))
    }

    /// Gives the exchanges whose request or answer is selected to `visit`, in the order of their
    /// requests, as they stood at the last frame, without what their messages say. Returns how many
    /// were left out.
    pub fn exchanges<E: From<ReadError>>(
        &self,
        visit: &mut impl FnMut(&Exchange) -> Result<(), E>,
    ) -> Result<u64, E> {
        let until = self.until();
        let page = |after| self.recording.light_exchanges(after, until, PAGE);
        self.each_exchange(page, visit)
    }

    /// The same with what their messages say.
    pub fn told_exchanges<E: From<ReadError>>(
        &self,
        visit: &mut impl FnMut(&Exchange) -> Result<(), E>,
    ) -> Result<u64, E> {
        let page = |after| {
            let mut page = self.recording.exchanges(after)?;
            page.retain(|exchange| exchange.request.0 <= self.last);
            Ok(match self.until() {
                Some(until) => page
                    .into_iter()
                    .map(|exchange| exchange.at(until))
                    .collect(),
                None => page,
            })
        };
        self.each_exchange(page, visit)
    }

    fn each_exchange<E: From<ReadError>>(
        &self,
        mut page: impl FnMut(ExchangeId) -> Result<Vec<Exchange>, ReadError>,
        visit: &mut impl FnMut(&Exchange) -> Result<(), E>,
    ) -> Result<u64, E> {
        let mut left_out = 0;
        let mut after = ExchangeId(0);
        loop {
            let page = page(after)?;
            let Some(end) = page.last() else {
                return Ok(left_out);
            };
            after = end.id;
            for exchange in &page {
                if self.selection.has_exchange(exchange) {
                    visit(exchange)?;
                } else {
                    left_out += 1;
                }
            }
        }
    }

    /// Gives its events to `visit`, but for that of the start.
    pub fn events<E: From<ReadError>>(
        &self,
        visit: &mut impl FnMut(&EventRow) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut events = Events::new(self.recording);
        events.before(self.end(), self.selection, &mut |part| match part {
            Part::Event(row) => visit(row),
            Part::Frame(..) | Part::Passed(_) => Ok(()),
        })
    }

    /// Gives its messages that are no request and no answer of an exchange to `visit`, in order;
    /// `progress` is told how far it is.
    pub fn notices<E: From<ReadError>>(
        &self,
        progress: &mut dyn FnMut(Seq),
        visit: &mut impl FnMut(&Notice) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut after = (Seq(0), 0);
        loop {
            let page = self.recording.notices(after, self.last, PAGE)?;
            let Some(end) = page.last() else {
                return Ok(());
            };
            after = (end.seq, end.part);
            progress(end.seq);
            let is_meant = |notice: &&Notice| self.selection.has_frame(notice.seq);
            page.iter().filter(is_meant).try_for_each(&mut *visit)?;
        }
    }

    /// The frame after the last one.
    fn end(&self) -> Seq {
        Seq(self.last.0.saturating_add(1))
    }

    /// The last frame that counts; none where the recording is over, and all of it does.
    fn until(&self) -> Option<Seq> {
        (self.last.0 < u64::MAX).then_some(self.last)
    }
}

/// The events of a recording, page by page.
struct Events<'r> {
    recording: &'r Recording,
    page: std::iter::Peekable<IntoIter<EventRow>>,
    /// The number of the last one of the page.
    last: u64,
    done: bool,
}

impl<'r> Events<'r> {
    fn new(recording: &'r Recording) -> Self {
        Self {
            recording,
            page: Vec::new().into_iter().peekable(),
            last: 0,
            done: false,
        }
    }

    /// Gives the events to `visit` that came before the frame `seq` was complete.
    fn before<E: From<ReadError>>(
        &mut self,
        seq: Seq,
        selection: &Selection,
        visit: &mut impl FnMut(Part<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        loop {
            if self.page.peek().is_none() && !self.done {
                let page = self.recording.events(self.last)?;
                self.last = page.last().map_or(self.last, |row| row.id);
                self.done = page.is_empty();
                self.page = page.into_iter().peekable();
            }
            let Some(row) = self.page.next_if(|row| row.event.after_seq < seq) else {
                return Ok(());
            };
            let is_start = matches!(row.event.kind, EventKind::Start(_));
            if !is_start && selection.has_event(&row) {
                visit(Part::Event(&row))?;
            }
        }
    }
}
