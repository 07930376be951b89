//! The bytes of streams become lines, and what is missing of them gaps.

use super::Batch;
use crate::indexer::IndexError;
use crate::indexer::line::Line;
use mcpreel_capture::spool::RecordHead;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::StreamId;

impl Batch<'_> {
    pub(super) fn chunk(&mut self, head: &RecordHead, payload: &[u8]) -> Result<(), IndexError> {
        let mut line = std::mem::take(self.state.line(head.stream));
        self.gap(&mut line, head.stream, head.offset, head.t)?;
        line.push(head, payload, &mut |unit| self.frame(head.stream, unit))?;
        if payload.is_empty() {
            line.finish(&mut |unit| self.frame(head.stream, unit))?;
        }
        *self.state.line(head.stream) = line;
        self.state.tally.t_last = self.state.tally.t_last.max(head.t);
        Ok(())
    }

    /// States the bytes that are missing on `stream` before `offset`, if any. The line that they
    /// interrupt ends there.
    pub(super) fn gap(
        &mut self,
        line: &mut Line,
        stream: StreamId,
        offset: u64,
        t: Moment,
    ) -> Result<(), IndexError> {
        let bytes = offset.saturating_sub(line.end());
        if bytes == 0 {
            return Ok(());
        }
        line.finish(&mut |unit| self.frame(stream, unit))?;
        let reason = match self.state.tally.gap_bytes {
            0 => self.spool.status()?.gap,
            _ => None,
        };
        let gap = EventKind::Gap {
            stream,
            offset: line.committed,
            bytes,
            reason,
        };
        line.committed = offset;
        self.state.tally.gap_bytes += bytes;
        self.event(t, gap)
    }

    /// Unfinished lines become frames, in the order of their last bytes.
    pub(super) fn finish_lines(&mut self) -> Result<(), IndexError> {
        let mut open: Vec<_> = (0..)
            .map(StreamId)
            .zip(&self.state.lines)
            .filter_map(|(stream, line)| Some((line.open_until()?, stream)))
            .collect();
        open.sort();
        open.into_iter()
            .try_for_each(|(_, stream)| self.finish_line(stream))
    }

    pub(super) fn finish_line(&mut self, stream: StreamId) -> Result<(), IndexError> {
        let mut line = std::mem::take(self.state.line(stream));
        line.finish(&mut |unit| self.frame(stream, unit))?;
        *self.state.line(stream) = line;
        Ok(())
    }
}
