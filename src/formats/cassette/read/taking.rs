//! What the lines mean together: times that do not go back, keys that were told before.

use super::fields::Fields;
use super::{Entry, ReadError};
use crate::formats::cassette::{Fault, FaultKind, US};
use crate::protocol::json::Value;
use crate::trace::clock::Moment;
use crate::trace::event::EventKind;
use crate::trace::frame::StreamId;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use std::collections::BTreeSet;

/// The last moment that there is, microseconds: nanoseconds of it have room in a recording.
const MAX_US: u64 = i64::MAX as u64 / US;

/// More bytes cannot be missing together: offsets have room for no more.
const MAX_MISSING: u64 = 1 << 60;

/// Names that are told; a file that has more has been told enough.
const MAX_TOLD: usize = 32;

/// Characters that are kept of an event that nobody knows.
const MAX_UNKNOWN: usize = 4096;

/// Whatever takes the entries.
type Take<'t, E> = dyn FnMut(Entry<'_>) -> Result<(), E> + 't;

/// What is remembered from line to line.
#[derive(Debug, Default)]
pub(super) struct Taking {
    /// The time of the last line, microseconds.
    us: u64,
    /// When the last frame of each stream was complete, microseconds.
    streams: [u64; 3],
    /// Bytes that are missing.
    missing: u64,
    frames: u64,
    is_renumbered: bool,
    /// Names of keys and kinds that were told.
    told: BTreeSet<String>,
    has_ended: bool,
}

/// A frame whose bytes come.
#[derive(Debug)]
pub(super) struct Frame {
    stream: StreamId,
    t: Moment,
    /// When its first byte came, as long as that has not come.
    first: Option<Moment>,
    last: Option<u8>,
}

impl Frame {
    /// Gives away the next bytes.
    pub fn piece<E>(&mut self, mut bytes: &[u8], take: &mut Take<'_, E>) -> Result<(), E> {
        let stream = self.stream;
        let Some(last) = bytes.last() else {
            return Ok(());
        };
        self.last = Some(*last);
        if let Some(t) = self.first.take() {
            let (first, rest) = bytes.split_at(1);
            take(Entry::Chunk {
                stream,
                t,
                bytes: first,
            })?;
            bytes = rest;
        }
        if bytes.is_empty() {
            return Ok(());
        }
        let t = self.t;
        take(Entry::Chunk { stream, t, bytes })
    }
}

impl Taking {
    pub fn is_renumbered(&self) -> bool {
        self.is_renumbered
    }

    pub fn fault<E>(&self, line: u64, kind: FaultKind, take: &mut Take<'_, E>) -> Result<(), E> {
        take(Entry::Fault(Fault { line, kind }))
    }

    /// The file is at its end.
    pub fn end_of_file<E>(&mut self, line: u64, take: &mut Take<'_, E>) -> Result<(), E> {
        if self.has_ended {
            return Ok(());
        }
        self.has_ended = true;
        self.fault(line, FaultKind::NoEnd, take)
    }

    /// Takes a line. `false`: nothing after it is to be read.
    pub fn line<E: From<ReadError>>(
        &mut self,
        line: u64,
        root: Value<'_>,
        take: &mut Take<'_, E>,
    ) -> Result<bool, E> {
        if !root.is_object() {
            self.fault(line, FaultKind::NotObject, take)?;
            return Ok(true);
        }
        let fields = Fields::of(root);
        if fields.cassette.is_some() {
            self.fault(line, FaultKind::Another, take)?;
            return Ok(false);
        }
        self.unknown_keys(line, &fields, take)?;
        if fields.is("event") {
            self.event(line, &fields, take)?;
        } else if fields.is("end") {
            let t = self.time(line, "t", fields.t, take)?;
            self.has_ended = true;
            take(Entry::End { t: Moment(t * US) })?;
        } else {
            self.frame(line, &fields, take)?;
        }
        Ok(true)
    }

    fn unknown_keys<E>(
        &mut self,
        line: u64,
        fields: &Fields<'_>,
        take: &mut Take<'_, E>,
    ) -> Result<(), E> {
        for key in &fields.others {
            let key = key.as_str().unwrap_or_default().into_owned();
            if self.is_new(&key) {
                self.fault(line, FaultKind::Key(key), take)?;
            }
        }
        Ok(())
    }

    /// Whether a name was not told before, and is to be told now.
    fn is_new(&mut self, name: &str) -> bool {
        self.told.len() < MAX_TOLD && self.told.insert(name.to_owned())
    }

    fn frame<E>(
        &mut self,
        line: u64,
        fields: &Fields<'_>,
        take: &mut Take<'_, E>,
    ) -> Result<(), E> {
        let bytes = match self.bytes(line, fields, take)? {
            Ok(bytes) => bytes,
            Err(fault) => return self.fault(line, fault, take),
        };
        let Some(mut frame) = self.begin(line, fields, take)? else {
            return Ok(());
        };
        frame.piece(&bytes, take)?;
        let newlines = memchr::memchr_iter(b'\n', &bytes).count() as u64;
        self.end(line, &frame, newlines, take)
    }

    /// The bytes of a frame, or what is wrong with them.
    fn bytes<E>(
        &mut self,
        line: u64,
        fields: &Fields<'_>,
        take: &mut Take<'_, E>,
    ) -> Result<Result<Vec<u8>, FaultKind>, E> {
        let bodies = [fields.raw, fields.b64, fields.text];
        if bodies.iter().flatten().count() > 1 {
            self.fault(line, FaultKind::Bodies, take)?;
        }
        let kind = || fields.k.and_then(|k| Some(k.as_str()?.into_owned()));
        let none = || FaultKind::NoBody { kind: kind() };
        let bytes = match bodies {
            [Some(raw), ..] => Ok([raw.raw(), b"\n"].concat()),
            [None, Some(coded), _] => BASE64
                .decode(coded.str_bytes())
                .map_err(|_| FaultKind::Coded),
            [None, None, Some(text)] => text
                .string_bytes()
                .map(|_| text.str_bytes().into_owned())
                .ok_or_else(none),
            [None, None, None] => Err(none()),
        };
        Ok(bytes.and_then(|bytes| {
            if bytes.is_empty() {
                Err(none())
            } else {
                Ok(bytes)
            }
        }))
    }

    /// Begins a frame whose bytes are too many to be held.
    pub fn begin_long<E: From<ReadError>>(
        &mut self,
        line: u64,
        root: Value<'_>,
        take: &mut Take<'_, E>,
    ) -> Result<Option<Frame>, E> {
        let fields = Fields::of(root);
        self.unknown_keys(line, &fields, take)?;
        self.begin(line, &fields, take)
    }

    /// Begins a frame; `None` where it does not say where it belongs.
    fn begin<E>(
        &mut self,
        line: u64,
        fields: &Fields<'_>,
        take: &mut Take<'_, E>,
    ) -> Result<Option<Frame>, E> {
        let found = fields.d.map(|d| d.as_str().unwrap_or_else(|| d.raw_text()));
        let names = StreamId::STDIO.into_iter();
        let named = |name: &str| names.clone().find(|stream| stream.as_str() == name);
        let Some(stream) = found.as_deref().and_then(named) else {
            let found = found.map(std::borrow::Cow::into_owned);
            self.fault(line, FaultKind::Direction { found }, take)?;
            return Ok(None);
        };
        self.kind(line, fields, take)?;
        let (t0, us) = self.times(line, stream, fields, take)?;
        self.frames += 1;
        self.is_renumbered |= fields.number() != Some(self.frames);
        Ok(Some(Frame {
            stream,
            t: Moment(us * US),
            first: (t0 != us).then_some(Moment(t0 * US)),
            last: None,
        }))
    }

    fn kind<E>(&mut self, line: u64, fields: &Fields<'_>, take: &mut Take<'_, E>) -> Result<(), E> {
        const KNOWN: [&str; 5] = ["req", "res", "note", "other", "text"];
        let kind = fields.k.and_then(|k| k.as_str());
        let unknown = kind.filter(|kind| !KNOWN.contains(&&**kind));
        match unknown {
            Some(kind) if self.is_new(&kind) => {
                self.fault(line, FaultKind::Kind(kind.into_owned()), take)
            }
            _ => Ok(()),
        }
    }

    /// When the first and the last byte of a frame came, microseconds. One pump reads a stream, so
    /// on one stream time does not go back; between two streams it may, by a little.
    fn times<E>(
        &mut self,
        line: u64,
        stream: StreamId,
        fields: &Fields<'_>,
        take: &mut Take<'_, E>,
    ) -> Result<(u64, u64), E> {
        let last = self.time(line, "t", fields.t, take)?;
        let mut first = match fields.t0 {
            None => last,
            t0 => self.time(line, "t0", t0, take)?,
        };
        if first > last {
            self.fault(line, FaultKind::First, take)?;
            first = last;
        }
        let before = &mut self.streams[usize::from(stream.0)];
        let t0 = first.max(*before);
        let us = last.max(t0);
        *before = us;
        self.us = us;
        let back = (t0 - first).max(us - last);
        if back > 0 {
            self.fault(line, FaultKind::Backwards { us: back }, take)?;
        }
        Ok((t0, us))
    }

    /// A time in microseconds; what is none is that of the line before.
    fn time<E>(
        &mut self,
        line: u64,
        key: &'static str,
        value: Option<Value<'_>>,
        take: &mut Take<'_, E>,
    ) -> Result<u64, E> {
        let text = value.and_then(|value| value.number_text());
        let us = text.and_then(|text| text.parse().ok());
        let us = match us.filter(|us| *us <= MAX_US) {
            Some(us) => us,
            None => {
                let found = value.map(|value| value.raw_text().into_owned());
                self.fault(line, FaultKind::Time { key, found }, take)?;
                self.us
            }
        };
        self.us = us;
        Ok(us)
    }

    /// All bytes of a frame were given away, `newlines` newlines among them.
    pub fn end<E>(
        &mut self,
        line: u64,
        frame: &Frame,
        newlines: u64,
        take: &mut Take<'_, E>,
    ) -> Result<(), E> {
        let is_ended = frame.last == Some(b'\n');
        if newlines > u64::from(is_ended) {
            self.fault(line, FaultKind::SeveralLines, take)?;
        }
        if is_ended {
            return Ok(());
        }
        let (stream, t) = (frame.stream, frame.t);
        take(Entry::LineEnd { stream, t })
    }

    fn event<E>(
        &mut self,
        line: u64,
        fields: &Fields<'_>,
        take: &mut Take<'_, E>,
    ) -> Result<(), E> {
        let Some(json) = fields.event else {
            return self.fault(line, FaultKind::NoEvent, take);
        };
        let t = Moment(self.time(line, "t", fields.t, take)? * US);
        match fields.event().filter(is_of_known_streams) {
            Some(EventKind::Start(_)) => self.fault(line, FaultKind::Start, take),
            Some(EventKind::Gap {
                stream,
                bytes,
                reason,
                ..
            }) if bytes > 0 => self.gap(line, stream, (t, bytes), reason, take),
            Some(kind) => take(Entry::Event { t, kind }),
            None => {
                self.fault(line, FaultKind::Event, take)?;
                let json = json.raw_text();
                let json: String = json.chars().take(MAX_UNKNOWN).collect();
                let message = format!("an event that this version does not know: {json}");
                let kind = EventKind::Warning { message };
                take(Entry::Event { t, kind })
            }
        }
    }

    fn gap<E>(
        &mut self,
        line: u64,
        stream: StreamId,
        (t, bytes): (Moment, u64),
        reason: Option<String>,
        take: &mut Take<'_, E>,
    ) -> Result<(), E> {
        let fewer = bytes.min(MAX_MISSING.saturating_sub(self.missing));
        if fewer < bytes {
            self.fault(line, FaultKind::Gap, take)?;
        }
        self.missing += fewer;
        take(Entry::Gap {
            stream,
            t,
            bytes: fewer,
            reason,
        })
    }
}

/// Whether an event is about no other streams than there are.
fn is_of_known_streams(kind: &EventKind) -> bool {
    match kind {
        EventKind::Eof { stream, .. }
        | EventKind::StallBegan { stream, .. }
        | EventKind::StallEnded { stream, .. }
        | EventKind::Undelivered { stream, .. }
        | EventKind::Gap { stream, .. } => StreamId::STDIO.contains(stream),
        _ => true,
    }
}
