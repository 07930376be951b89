//! What of a recording is written, and going through it in order: the same for all formats; and
//! the formats that are for reading and for other people's programs.
//!
//! * [`text`]: a transcript, for people;
//! * [`csv`]: statistics, for spreadsheets;
//! * [`markdown`]: a bug report;
//! * [`otlp`]: a trace by the conventions of OpenTelemetry;
//! * [`perfetto`]: a trace, for timeline viewers.
//!
//! None of them redacts: whoever wants less written gives a recording with less in it. Each holds a
//! bounded part of it, however long it is.

pub mod csv;
pub mod markdown;
pub mod otlp;
pub mod perfetto;
mod selection;
pub mod text;

pub use selection::{Selection, SelectionNote};

use crate::store::indexer::COLLECT_LIMIT;
use crate::store::links::Link;
use crate::store::reader::{EventRow, FramePage, ReadError, Recording};
use crate::trace::clock::Moment;
use crate::trace::event::EventKind;
use crate::trace::exchange::{Exchange, ExchangeId, Status};
use crate::trace::frame::{FrameHead, Seq};
use std::io;
use std::vec::IntoIter;

/// Frames that are looked at between two questions to the recording.
const PAGE: u32 = 1000;

/// Why a recording could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The recording could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// What was made of it could not be written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Frames.
    pub frames: u64,
    /// Exchanges, by formats that write these.
    pub exchanges: u64,
    /// Events, without that of the start.
    pub events: u64,
    /// Frames that were not selected; of formats that write exchanges, exchanges.
    pub left_out: u64,
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

/// Gives the frames and events of `recording` up to the frame `last` to `visit`, in the order in
/// which they were recorded. What a live recording gets meanwhile is not among them.
pub fn walk<E: From<ReadError>>(
    recording: &Recording,
    selection: &Selection,
    last: Seq,
    visit: &mut impl FnMut(Part<'_>) -> Result<(), E>,
) -> Result<(), E> {
    walk_holding(recording, selection, last, COLLECT_LIMIT, visit)
}

/// The same, with the bytes of frames up to `hold` bytes.
pub(super) fn walk_holding<E: From<ReadError>>(
    recording: &Recording,
    selection: &Selection,
    last: Seq,
    hold: u64,
    visit: &mut impl FnMut(Part<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut events = Events::new(recording);
    let mut after = Seq(0);
    loop {
        let mut frames = page(recording, selection, after)?;
        frames.retain(|(head, _)| head.seq <= last);
        let Some(end) = frames.last().map(|(head, _)| head.seq) else {
            break;
        };
        let links = recording.links(after, end)?;
        let mut links = links.iter().peekable();
        for (head, raw) in &frames {
            events.before(head.seq, selection, visit)?;
            // A damaged recording may have messages without a frame.
            while links.next_if(|link| link.frame < head.seq).is_some() {}
            let link = links.next_if(|link| link.frame == head.seq);
            let holding = (raw.as_deref(), hold);
            frame(recording, selection, (head, holding), link, visit)?;
        }
        after = end;
    }
    events.before(Seq(last.0.saturating_add(1)), selection, visit)
}

/// The frames after `after`, with their bytes where all of them are written: to ask for each alone
/// takes longer than to read it.
fn page(recording: &Recording, selection: &Selection, after: Seq) -> Result<FramePage, ReadError> {
    if selection.note().is_none() {
        return recording.frames(after);
    }
    let heads = recording.heads(after, PAGE)?.into_iter();
    Ok(heads.map(|head| (head, None)).collect())
}

fn frame<E: From<ReadError>>(
    recording: &Recording,
    selection: &Selection,
    (head, (raw, hold)): (&FrameHead, (Option<&[u8]>, u64)),
    link: Option<&Link>,
    visit: &mut impl FnMut(Part<'_>) -> Result<(), E>,
) -> Result<(), E> {
    if !selection.has_frame(head.seq) {
        return visit(Part::Passed(head));
    }
    if head.size > hold {
        return visit(Part::Frame(head, None, link));
    }
    if raw.is_some() {
        return visit(Part::Frame(head, raw, link));
    }
    let raw = recording.raw(head.seq)?;
    visit(Part::Frame(head, Some(&raw), link))
}

/// Gives the exchanges of `recording` whose request or answer is selected to `visit`, in the order
/// of their requests, as they stood at the frame `last`, without what their messages say. Returns
/// how many were left out.
pub fn exchanges<E: From<ReadError>>(
    recording: &Recording,
    selection: &Selection,
    last: Seq,
    visit: &mut impl FnMut(&Exchange) -> Result<(), E>,
) -> Result<u64, E> {
    let page = |after| recording.light_exchanges(after, until(last), PAGE);
    each_exchange(page, selection, visit)
}

/// The same with what their messages say.
pub fn told_exchanges<E: From<ReadError>>(
    recording: &Recording,
    selection: &Selection,
    last: Seq,
    visit: &mut impl FnMut(&Exchange) -> Result<(), E>,
) -> Result<u64, E> {
    let page = |after| {
        let mut page = recording.exchanges(after)?;
        page.retain(|exchange| exchange.request.0 <= last);
        Ok(match until(last) {
            Some(until) => page
                .into_iter()
                .map(|exchange| exchange.at(until))
                .collect(),
            None => page,
        })
    };
    each_exchange(page, selection, visit)
}

fn each_exchange<E: From<ReadError>>(
    mut page: impl FnMut(ExchangeId) -> Result<Vec<Exchange>, ReadError>,
    selection: &Selection,
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
            if selection.has_exchange(exchange) {
                visit(exchange)?;
            } else {
                left_out += 1;
            }
        }
    }
}

/// Gives the events that are selected to `visit`, up to the frame `last`, but for that of the start.
pub fn events<E: From<ReadError>>(
    recording: &Recording,
    selection: &Selection,
    last: Seq,
    visit: &mut impl FnMut(&EventRow) -> Result<(), E>,
) -> Result<(), E> {
    let mut events = Events::new(recording);
    let end = Seq(last.0.saturating_add(1));
    events.before(end, selection, &mut |part| match part {
        Part::Event(row) => visit(row),
        Part::Frame(..) | Part::Passed(_) => Ok(()),
    })
}

/// When an exchange was over in a recording that is over at `end`: with its answer, with its
/// cancel, or never. One that was given up is over when it begins: how long it took nobody knows.
fn end_of(recording: &Recording, exchange: &Exchange, end: Moment) -> Result<Moment, ReadError> {
    if exchange.status == Status::GivenUp {
        return Ok(exchange.t_request);
    }
    if let Some(answered) = exchange.t_response_last {
        return Ok(answered);
    }
    let cancelled = exchange.cancelled.map(|seq| recording.head(seq));
    let cancelled = cancelled.transpose()?.flatten();
    Ok(cancelled.map_or(end, |head| head.t_last))
}

/// The last frame that counts; none where the recording is over, and all of it does.
fn until(last: Seq) -> Option<Seq> {
    (last.0 < u64::MAX).then_some(last)
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
