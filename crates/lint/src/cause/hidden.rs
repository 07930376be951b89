//! What may stand in that which the log has not that a recording was made from.

use super::facts::Facts;
use super::named;
use mcpreel_trace::event::EventKind;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::Seq;

impl Facts {
    /// Whether the answer to a request may stand in what the log has not that the recording was made
    /// from.
    pub fn may_be_hidden(&self, asked: &Exchange) -> bool {
        let skips = |kind: &EventKind| matches!(kind, EventKind::Skipped { .. });
        let is_skipped = self
            .events_that(skips)
            .any(|event| event.after_seq >= asked.request.0);
        let shortened = self.found(named::FRAME_SHORTENED);
        is_skipped
            || shortened.is_some_and(|group| {
                let is_after = |frame: Seq| frame > asked.request.0;
                let mut first = group.first.iter();
                let is_seen =
                    first.any(|it| it.exchange.is_none() && it.frame.is_some_and(is_after));
                is_seen || group.count > group.first.len() as u64
            })
    }

    /// Whether the log that the recording was made from is known to lack something.
    pub fn is_partial(&self) -> bool {
        let skips = |kind: &EventKind| matches!(kind, EventKind::Skipped { .. });
        let lacks = self.events_that(skips).next().is_some();
        let is_open = || self.without_answer().any(|asked| self.may_be_hidden(asked));
        self.counts.gap_bytes > 0 || lacks || is_open()
    }
}
