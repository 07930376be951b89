//! The bytes of a frame.

use super::Entry;
use super::fields::Fields;
use super::giving::Giving;
use crate::cassette::FaultKind;
use crate::cassette::fault::quoted;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::StreamId;

#[derive(Debug)]
pub(super) struct Frame {
    stream: StreamId,
    t: Moment,
    /// When its first byte came, as long as that has not come.
    first: Option<Moment>,
    last: Option<u8>,
}

impl Frame {
    /// A frame of `stream` whose first and last bytes came at these moments.
    pub fn new(stream: StreamId, (first, t): (Moment, Moment)) -> Self {
        Self {
            stream,
            t,
            first: (first != t).then_some(first),
            last: None,
        }
    }

    pub fn piece<E>(&mut self, mut bytes: &[u8], out: &mut Giving<'_, E>) -> Result<(), E> {
        let stream = self.stream;
        self.last = bytes.last().copied().or(self.last);
        if let (Some(t), Some((first, rest))) = (self.first, bytes.split_at_checked(1)) {
            self.first = None;
            out.give(Entry::Chunk {
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
        out.give(Entry::Chunk { stream, t, bytes })
    }

    /// All bytes were given away, `newlines` newlines among them.
    pub fn end<E>(&self, newlines: u64, out: &mut Giving<'_, E>) -> Result<(), E> {
        let is_ended = self.last == Some(b'\n');
        if newlines > u64::from(is_ended) {
            out.fault(FaultKind::SeveralLines)?;
        }
        if is_ended {
            return Ok(());
        }
        let (stream, t) = (self.stream, self.t);
        out.give(Entry::LineEnd { stream, t })
    }
}

/// The stream that a line names, or what it says instead.
pub(super) fn stream(fields: &Fields<'_>) -> Result<StreamId, FaultKind> {
    let found = fields.d.map(|d| d.as_str().unwrap_or_else(|| d.raw_text()));
    let mut streams = StreamId::STDIO.into_iter();
    let named = streams.find(|stream| found.as_deref() == Some(stream.as_str()));
    named.ok_or_else(|| FaultKind::Direction {
        found: found.as_deref().map(quoted),
    })
}

/// The bytes in a line; the first of `raw`, `b64` and `text` counts. A frame has one at least.
pub(super) fn bytes(fields: &Fields<'_>) -> Result<Vec<u8>, FaultKind> {
    let none = || FaultKind::NoBody {
        kind: fields.k.and_then(|k| Some(quoted(&k.as_str()?))),
    };
    let bytes = match (fields.raw, fields.b64, fields.text) {
        (Some(raw), ..) => [raw.raw(), b"\n"].concat(),
        (None, Some(coded), _) => {
            let decoded = BASE64.decode(coded.str_bytes());
            decoded.map_err(|_| FaultKind::Coded)?
        }
        (None, None, Some(text)) => text.str_bytes().into_owned(),
        (None, None, None) => Vec::new(),
    };
    if bytes.is_empty() {
        return Err(none());
    }
    Ok(bytes)
}
