//! Events in their order among the frames.

use super::{Part, Selection};
use mcpreel_store::reader::{EventRow, ReadError, Recording};
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::Seq;
use std::iter::Peekable;
use std::vec::IntoIter;

/// The events of a recording, page by page.
pub(super) struct Events<'r> {
    recording: &'r Recording,
    page: Peekable<IntoIter<EventRow>>,
    /// The number of the last one of the page.
    last: u64,
    done: bool,
}

impl<'r> Events<'r> {
    pub fn new(recording: &'r Recording) -> Self {
        Self {
            recording,
            page: Vec::new().into_iter().peekable(),
            last: 0,
            done: false,
        }
    }

    /// Gives the events to `visit` that came before the frame `seq` was complete.
    pub fn before<E: From<ReadError>>(
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
