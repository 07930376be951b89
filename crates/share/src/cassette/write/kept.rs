//! What is on record of a line that nobody knows, until that line is written.

use crate::cassette::keys::members;
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{CassetteLine, EventKind};
use std::io::{self, Write};

#[derive(Debug, Default)]
pub(super) struct Kept {
    /// The members of the line of the start event.
    pub start: Option<String>,
    next: Option<Next>,
}

#[derive(Debug)]
struct Next {
    t: Moment,
    of: CassetteLine,
    json: String,
}

impl Kept {
    /// Keeps what stands in a line that comes.
    pub fn put(
        &mut self,
        t: Moment,
        of: CassetteLine,
        json: &str,
        out: &mut impl Write,
    ) -> io::Result<()> {
        if of == CassetteLine::Start {
            let members = members(json, usize::MAX).map(str::to_owned);
            self.start = self.start.take().or(members);
            return Ok(());
        }
        let json = json.to_owned();
        match self.next.replace(Next { t, of, json }) {
            Some(before) => before.write(out),
            None => Ok(()),
        }
    }

    /// The members to be written in a line that has `room` bytes for them. What there is of
    /// another line, or has no room, becomes a line of its own: it is not lost.
    pub fn take(
        &mut self,
        of: CassetteLine,
        room: usize,
        out: &mut impl Write,
    ) -> io::Result<Option<String>> {
        let is_later = |next: &Next| next.of == CassetteLine::End && of != CassetteLine::End;
        let Some(next) = self.next.take_if(|next| !is_later(next)) else {
            return Ok(None);
        };
        let fitting = Some(&*next.json).filter(|_| next.of == of);
        match fitting.and_then(|json| members(json, room)) {
            Some(members) => Ok(Some(members.to_owned())),
            None => next.write(out).map(|()| None),
        }
    }
}

impl Next {
    fn write(self, out: &mut impl Write) -> io::Result<()> {
        let (of, json) = (self.of, self.json);
        super::event(self.t, &EventKind::LineKeys { of, json }, None, out)
    }
}

/// The members of the line of the start event, which is written before all others.
pub(super) fn of_start(recording: &Recording) -> Result<Option<String>, ReadError> {
    let first = recording.events(0)?.into_iter().take(2);
    Ok(first.map(|row| row.event.kind).find_map(|kind| match kind {
        EventKind::LineKeys {
            of: CassetteLine::Start,
            json,
        } => members(&json, usize::MAX).map(str::to_owned),
        _ => None,
    }))
}
