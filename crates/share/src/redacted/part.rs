//! A frame, an event, a link without what is secret in it.

use super::frame_set::FrameSet;
use crate::export::Part;
use mcpreel_redact::{Left, Place, Redactor, Report, is_readable};
use mcpreel_store::links::Link;
use mcpreel_store::reader::EventRow;
use mcpreel_trace::event::Event;
use mcpreel_trace::frame::FrameHead;
use std::borrow::Cow;

/// What it takes to give parts without their secrets.
pub(super) struct Without<'a> {
    pub redactor: &'a mut Redactor,
    pub report: &'a mut Report,
    /// Frames in which there is something to be looked at.
    pub looked: &'a FrameSet,
}

impl Without<'_> {
    /// Gives it to `visit`; every frame has its bytes.
    pub fn give<E>(
        &mut self,
        part: &Part<'_>,
        visit: &mut impl FnMut(Part<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        match part {
            Part::Frame(head, raw, link) => {
                let link = link.map(|link| self.link(link));
                let (raw, link) = match raw.and_then(|raw| self.frame(head, raw)) {
                    Some(raw) => (raw, link),
                    None => (Cow::Owned(self.left_out(head)), None),
                };
                let head = FrameHead {
                    size: raw.len() as u64,
                    ..**head
                };
                visit(Part::Frame(&head, Some(&raw), link.as_ref()))
            }
            Part::Passed(head) => visit(Part::Passed(head)),
            Part::Event(row) => {
                let redacted = self.event(row);
                visit(Part::Event(&redacted))
            }
        }
    }

    fn link(&mut self, link: &Link) -> Link {
        let mut link = link.clone();
        if let Some(method) = &link.method {
            // It stands in the frame as well, where it is counted.
            let mut counted = Report::default();
            let method = self.redactor.text(Place::Start, method, &mut counted);
            link.method = Some(method.into());
        }
        link
    }

    /// What is given of a frame; `None`: it cannot be looked through.
    fn frame<'f>(&mut self, head: &FrameHead, raw: &'f [u8]) -> Option<Cow<'f, [u8]>> {
        let is_readable = is_readable(raw);
        let raw = (raw, self.looked.has(head.seq));
        let place = Place::Frame(head.seq.0);
        is_readable.then(|| self.redactor.learned_frame(place, raw, self.report))
    }

    /// What stands in place of a frame that is left out.
    fn left_out(&mut self, head: &FrameHead) -> Vec<u8> {
        let (seq, bytes) = (head.seq.0, head.size);
        self.report.left.push(Left { seq, bytes });
        let text = format!("[mcpreel left out a line of {bytes} bytes: too long to be redacted]\n");
        text.into_bytes()
    }

    fn event(&mut self, row: &EventRow) -> EventRow {
        let place = Place::Event(row.event.after_seq.0);
        let kind = self.redactor.event(place, &row.event.kind, self.report);
        let event = Event {
            kind,
            ..row.event.clone()
        };
        EventRow { id: row.id, event }
    }
}
