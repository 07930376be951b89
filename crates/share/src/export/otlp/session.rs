//! The span of the session as a whole, and what happened to its process.

use super::attribute::Attributes;
use super::span::{Event, Failure, Span, Spanned};
use super::{EVENTS, Trace};
use crate::export::WriteError;
use crate::phrases;
use mcpreel_store::reader::{EventRow, ReadError};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::session::End;
use std::io::Write;

impl<W: Write> Trace<'_, W> {
    /// The session as a whole, with what happened to its process.
    pub(super) fn session(&mut self) -> Result<Span, WriteError> {
        let summary = self.summary;
        let mut events = Vec::new();
        let mut dropped = 0;
        let excerpt = self.excerpt;
        excerpt.events(&mut |row| {
            self.written.events += 1;
            if events.len() < EVENTS as usize {
                events.push(self.process(row));
            } else {
                dropped += 1;
            }
            Ok::<_, ReadError>(())
        })?;
        let failure = summary.session.phase.end().and_then(failure_of);
        Ok(Span::new(Spanned {
            name: "mcp.session".to_owned(),
            links: Vec::new(),
            span: self.ids.session().span,
            context: self.ids.root(),
            start: self.wall(Moment(0)),
            end: self.wall(self.end()),
            attributes: self.about_session(failure.as_ref()),
            events,
            dropped,
            failure,
        })
        .internal())
    }

    fn about_session(&self, failure: Option<&Failure>) -> Attributes {
        let mut attributes = Attributes::default();
        attributes.text("mcpreel.recording", &self.summary.id);
        attributes.some("mcp.protocol.version", self.summary.session.version());
        attributes.number("mcpreel.frames", self.summary.frames);
        if self.unpaired > 0 {
            attributes.number("mcpreel.unpaired", self.unpaired);
        }
        if let Some(failure) = failure {
            attributes.text("error.type", &failure.kind);
        }
        attributes
    }

    fn process(&self, row: &EventRow) -> Event {
        let mut attributes = Attributes::default();
        attributes.text("mcpreel.event", &phrases::event(&row.event.kind));
        Event::new("process", self.wall(row.event.t), attributes)
    }
}

fn failure_of(end: &End) -> Option<Failure> {
    let is_bad = !matches!(end, End::Exited { code: 0 } | End::Unknown);
    is_bad.then(|| Failure {
        kind: phrases::end_short(end),
        message: phrases::end(end),
    })
}
