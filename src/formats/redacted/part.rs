//! A frame, an event, a link without what is secret in it.

use crate::redact::{Left, Place, Redactor, Report, is_readable};
use crate::store::links::Link;
use crate::store::reader::EventRow;
use crate::trace::event::Event;
use crate::trace::frame::FrameHead;
use std::borrow::Cow;

pub(super) fn link(redactor: &mut Redactor, link: &Link) -> Link {
    let mut link = link.clone();
    if let Some(method) = &link.method {
        // It stands in the frame as well, where it is counted.
        let method = redactor.text(Place::Start, method, &mut Report::default());
        link.method = Some(method.into());
    }
    link
}

/// What is given of a frame, of whose bytes it is said whether there is something in them to be
/// looked at; `None`: they cannot be looked through.
pub(super) fn frame<'f>(
    redactor: &mut Redactor,
    head: &FrameHead,
    raw: Option<(&'f [u8], bool)>,
    report: &mut Report,
) -> Option<Cow<'f, [u8]>> {
    let raw = raw.filter(|(raw, _)| is_readable(raw))?;
    Some(redactor.learned_frame(Place::Frame(head.seq.0), raw, report))
}

/// What stands in place of a frame that is left out.
pub(super) fn left_out(head: &FrameHead, report: &mut Report) -> Vec<u8> {
    let (seq, bytes) = (head.seq.0, head.size);
    report.left.push(Left { seq, bytes });
    format!("[mcpreel left out a line of {bytes} bytes: too long to be redacted]\n").into_bytes()
}

pub(super) fn event(redactor: &mut Redactor, row: &EventRow, report: &mut Report) -> EventRow {
    let place = Place::Event(row.event.after_seq.0);
    let kind = redactor.event(place, &row.event.kind, report);
    let event = Event {
        kind,
        ..row.event.clone()
    };
    EventRow { id: row.id, event }
}

/// A frame that has other bytes now.
pub(super) fn sized(head: &FrameHead, raw: &[u8]) -> FrameHead {
    FrameHead {
        size: raw.len() as u64,
        ..*head
    }
}
