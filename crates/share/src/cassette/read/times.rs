//! When things happened: what is no time, and what goes back.

use super::fields::Fields;
use super::giving::Giving;
use crate::cassette::fault::quoted;
use crate::cassette::{FaultKind, US};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::StreamId;
use mcpreel_wire::json::Value;

/// The last moment that there is, microseconds: nanoseconds of it have room in a recording.
const MAX_US: u64 = i64::MAX as u64 / US;

/// The times of the lines so far, microseconds.
#[derive(Debug, Default)]
pub(super) struct Times {
    last: u64,
    /// When the last frame of each stream was complete.
    streams: [u64; 3],
}

impl Times {
    /// When the first and the last byte of a frame came. One pump reads a stream, so on one stream
    /// time does not go back; between two streams it may, by a little.
    pub fn frame<E>(
        &mut self,
        stream: StreamId,
        fields: &Fields<'_>,
        out: &mut Giving<'_, E>,
    ) -> Result<(Moment, Moment), E> {
        let last = self.at("t", fields.t, out)?;
        let mut first = match fields.t0 {
            None => last,
            t0 => self.at("t0", t0, out)?,
        };
        if first > last {
            out.fault(FaultKind::First)?;
            first = last;
        }
        let before = &mut self.streams[usize::from(stream.0)];
        let back = before.saturating_sub(first);
        let (t0, t) = (first.max(*before), last.max(*before));
        *before = t;
        self.last = t;
        if back > 0 {
            out.fault(FaultKind::Backwards { us: back })?;
        }
        Ok((Moment(t0 * US), Moment(t * US)))
    }

    pub fn other<E>(&mut self, fields: &Fields<'_>, out: &mut Giving<'_, E>) -> Result<Moment, E> {
        Ok(Moment(self.at("t", fields.t, out)? * US))
    }

    /// A time; what is none is that of the line before.
    fn at<E>(
        &mut self,
        key: &'static str,
        value: Option<Value<'_>>,
        out: &mut Giving<'_, E>,
    ) -> Result<u64, E> {
        let text = value.and_then(|value| value.number_text());
        let us = text.and_then(|text| text.parse().ok());
        if let Some(us) = us.filter(|us| *us <= MAX_US) {
            self.last = us;
        } else {
            let found = value.map(|value| quoted(&value.raw_text()));
            out.fault(FaultKind::Time { key, found })?;
        }
        Ok(self.last)
    }
}
