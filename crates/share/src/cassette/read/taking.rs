//! What the lines mean, one after the other.

use super::fields::{Beside, Fields};
use super::frame::{self, Frame};
use super::giving::Giving;
use super::seen::Seen;
use super::times::Times;
use super::{Entry, ReadError};
use crate::cassette::FaultKind;
use crate::cassette::fault::quoted;
use crate::cassette::keys::{Keys, strange};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{CassetteLine, EventKind};
use mcpreel_trace::frame::{Seq, StreamId};
use mcpreel_wire::json::Value;
use std::collections::HashSet;

/// More bytes cannot be missing together: offsets have room for no more.
const MAX_MISSING: u64 = 1 << 60;

/// Names that are told; a file that has more has been told enough.
const MAX_TOLD: usize = 32;

/// Names that are remembered, so that each counts once: whoever makes up names for every line would
/// fill the memory.
const MAX_COUNTED: usize = 1024;

/// Characters that are kept of an event that nobody knows.
const MAX_UNKNOWN: usize = 4096;

const KINDS: [&str; 5] = ["req", "res", "note", "other", "text"];

/// What is remembered from line to line.
#[derive(Debug, Default)]
pub(super) struct Taking {
    times: Times,
    seen: Seen,
    missing: u64,
    frames: u64,
    is_renumbered: bool,
    /// Keys and kinds that are not known.
    strange: HashSet<FaultKind>,
    /// Whether there were more than can be remembered.
    has_more: bool,
    has_ended: bool,
}

impl Taking {
    /// Of a file that has only a part of a recording, if `is_part`.
    pub fn new(is_part: bool) -> Self {
        Self {
            seen: Seen::new(is_part),
            ..Self::default()
        }
    }

    /// Whether frames had other numbers than one after the other from 1.
    pub fn is_renumbered(&self) -> bool {
        self.is_renumbered
    }

    pub fn end_of_file<E>(&mut self, out: &mut Giving<'_, E>) -> Result<(), E> {
        self.rest(out)?;
        if std::mem::replace(&mut self.has_ended, true) {
            return Ok(());
        }
        out.fault(FaultKind::NoEnd)
    }

    /// Tells how many names were not told.
    fn rest<E>(&mut self, out: &mut Giving<'_, E>) -> Result<(), E> {
        let strange = std::mem::take(&mut self.strange);
        let is_all = !std::mem::take(&mut self.has_more);
        match strange.len().saturating_sub(MAX_TOLD) {
            0 => Ok(()),
            count => out.fault(FaultKind::MoreNames { count, is_all }),
        }
    }

    /// Takes what stands in the line of the start event beside that.
    pub fn start<E>(&mut self, beside: Beside, out: &mut Giving<'_, E>) -> Result<(), E> {
        self.keep(beside.keys, CassetteLine::Start, Moment(0), out)?;
        self.strange(beside.strange, out)
    }

    /// Takes a line. `false`: nothing after it is to be read.
    pub fn line<E: From<ReadError>>(
        &mut self,
        root: Value<'_>,
        out: &mut Giving<'_, E>,
    ) -> Result<bool, E> {
        if !root.is_object() {
            out.fault(FaultKind::NotObject)?;
            return Ok(true);
        }
        let mut fields = Fields::of(root);
        if fields.cassette.is_some() {
            out.fault(FaultKind::Another)?;
            return self.rest(out).map(|()| false);
        }
        if fields.is("event") {
            self.event(&mut fields, out)?;
        } else if fields.is("end") {
            let t = self.times.other(&fields, out)?;
            self.keep(fields.unknown, CassetteLine::End, t, out)?;
            self.has_ended = true;
            out.give(Entry::End { t })?;
        } else {
            self.frame(&mut fields, out)?;
        }
        Ok(true)
    }

    /// Gives away what nobody knows of a line, before what the line says.
    pub fn keep<E>(
        &mut self,
        unknown: Option<Keys>,
        of: CassetteLine,
        t: Moment,
        out: &mut Giving<'_, E>,
    ) -> Result<(), E> {
        let Some(mut keys) = unknown else {
            return Ok(());
        };
        let names = std::mem::take(&mut keys.names);
        match keys.event(of) {
            Ok(kind) => out.give(Entry::Event { t, kind })?,
            Err(fault) => return out.fault(fault),
        }
        let mut names = names.into_iter();
        names.try_for_each(|name| self.once(FaultKind::Key(name), out))
    }

    /// Tells keys of an event that nobody knows.
    fn strange<E>(&mut self, names: Vec<String>, out: &mut Giving<'_, E>) -> Result<(), E> {
        let mut names = names.into_iter();
        names.try_for_each(|name| self.once(FaultKind::EventKey(name), out))
    }

    /// Tells something, unless that was told before or enough was.
    fn once<E>(&mut self, kind: FaultKind, out: &mut Giving<'_, E>) -> Result<(), E> {
        if self.strange.contains(&kind) {
            return Ok(());
        }
        let before = self.strange.len();
        if before == MAX_COUNTED {
            self.has_more = true;
            return Ok(());
        }
        self.strange.insert(kind.clone());
        if before < MAX_TOLD {
            out.fault(kind)
        } else {
            Ok(())
        }
    }

    fn frame<E>(&mut self, fields: &mut Fields<'_>, out: &mut Giving<'_, E>) -> Result<(), E> {
        let bodies = [fields.raw, fields.b64, fields.text];
        if bodies.iter().flatten().count() > 1 {
            out.fault(FaultKind::Bodies)?;
        }
        let bytes = match frame::bytes(fields) {
            Ok(bytes) => bytes,
            Err(fault) => return out.fault(fault),
        };
        let Some(mut frame) = self.begin(fields, out)? else {
            return Ok(());
        };
        frame.piece(&bytes, out)?;
        frame.end(memchr::memchr_iter(b'\n', &bytes).count() as u64, out)
    }

    /// Begins a frame whose bytes are too many to be held.
    pub fn begin_long<E>(
        &mut self,
        root: Value<'_>,
        out: &mut Giving<'_, E>,
    ) -> Result<Option<Frame>, E> {
        self.begin(&mut Fields::of(root), out)
    }

    /// Begins a frame; `None` where it does not say where it belongs.
    fn begin<E>(
        &mut self,
        fields: &mut Fields<'_>,
        out: &mut Giving<'_, E>,
    ) -> Result<Option<Frame>, E> {
        let stream = match frame::stream(fields) {
            Ok(stream) => stream,
            Err(fault) => return out.fault(fault).map(|()| None),
        };
        let kind = fields.k.and_then(|k| Some(quoted(&k.as_str()?)));
        if let Some(kind) = kind.filter(|kind| !KINDS.contains(&&**kind)) {
            self.once(FaultKind::Kind(kind), out)?;
        }
        let times = self.times.frame(stream, fields, out)?;
        let unknown = fields.unknown.take();
        self.keep(unknown, CassetteLine::Frame, times.0, out)?;
        self.frames += 1;
        self.is_renumbered |= fields.number() != Some(self.frames);
        match self.seen.frame(stream, fields, Seq(self.frames), times) {
            Ok(None) => {}
            Ok(Some(kind)) => out.give(Entry::Event { t: times.0, kind })?,
            Err(fault) => out.fault(fault)?,
        }
        Ok(Some(Frame::new(stream, times)))
    }

    fn event<E>(&mut self, fields: &mut Fields<'_>, out: &mut Giving<'_, E>) -> Result<(), E> {
        let Some(json) = fields.event else {
            return out.fault(FaultKind::NoEvent);
        };
        let t = self.times.other(fields, out)?;
        let event = fields.event().filter(is_of_known_streams);
        if let Some(EventKind::Start(_)) = event {
            return out.fault(FaultKind::Start);
        }
        let unknown = fields.unknown.take();
        self.keep(unknown, CassetteLine::Event, t, out)?;
        let Some(event) = event else {
            out.fault(FaultKind::Event)?;
            let kind = warning(json);
            return out.give(Entry::Event { t, kind });
        };
        self.strange(strange(&event, json), out)?;
        match event {
            EventKind::Gap {
                stream,
                bytes,
                reason,
                ..
            } if bytes > 0 => {
                let bytes = self.missing(bytes, out)?;
                out.give(Entry::Gap {
                    stream,
                    t,
                    bytes,
                    reason,
                })
            }
            kind => out.give(Entry::Event { t, kind }),
        }
    }

    /// So many bytes are missing, of which not more are taken than there can be.
    fn missing<E>(&mut self, bytes: u64, out: &mut Giving<'_, E>) -> Result<u64, E> {
        let fewer = bytes.min(MAX_MISSING - self.missing);
        self.missing += fewer;
        if fewer < bytes {
            out.fault(FaultKind::Gap)?;
        }
        Ok(fewer)
    }
}

/// What is kept of an event that nobody knows.
fn warning(event: Value<'_>) -> EventKind {
    let json: String = event.raw_text().chars().take(MAX_UNKNOWN).collect();
    let message = format!("an event that this version does not know: {json}");
    EventKind::Warning { message }
}

/// Whether an event is about no other streams than there are.
fn is_of_known_streams(kind: &EventKind) -> bool {
    match kind {
        EventKind::Eof { stream, .. }
        | EventKind::StallBegan { stream, .. }
        | EventKind::StallEnded { stream, .. }
        | EventKind::Undelivered { stream, .. }
        | EventKind::Shortened { stream, .. }
        | EventKind::Gap { stream, .. } => StreamId::STDIO.contains(stream),
        _ => true,
    }
}
