//! What of a recording is written, and going through it in order: the same for all formats.

mod selection;

pub use selection::{Selection, SelectionNote};

use crate::store::indexer::COLLECT_LIMIT;
use crate::store::links::Link;
use crate::store::reader::{EventRow, ReadError, Recording};
use crate::trace::event::EventKind;
use crate::trace::frame::{FrameHead, Seq};
use std::vec::IntoIter;

/// Frames that are looked at between two questions to the recording.
const PAGE: u32 = 1000;

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
        let mut heads = recording.heads(after, PAGE)?;
        heads.retain(|head| head.seq <= last);
        let Some(end) = heads.last().map(|head| head.seq) else {
            break;
        };
        let links = recording.links(after, end)?;
        let mut links = links.iter().peekable();
        for head in &heads {
            events.before(head.seq, selection, visit)?;
            // A damaged recording may have messages without a frame.
            while links.next_if(|link| link.frame < head.seq).is_some() {}
            let link = links.next_if(|link| link.frame == head.seq);
            frame(recording, selection, (head, hold), link, visit)?;
        }
        after = end;
    }
    events.before(Seq(last.0.saturating_add(1)), selection, visit)
}

fn frame<E: From<ReadError>>(
    recording: &Recording,
    selection: &Selection,
    (head, hold): (&FrameHead, u64),
    link: Option<&Link>,
    visit: &mut impl FnMut(Part<'_>) -> Result<(), E>,
) -> Result<(), E> {
    if !selection.has_frame(head.seq) {
        return visit(Part::Passed(head));
    }
    if head.size > hold {
        return visit(Part::Frame(head, None, link));
    }
    let raw = recording.raw(head.seq)?;
    visit(Part::Frame(head, Some(&raw), link))
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
