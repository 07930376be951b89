//! How many rows there are without a filter.

use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::Lens;

/// Frames that are counted in one step: some milliseconds.
const FRAMES: u64 = 25_000;

/// Counts rows, and goes on where it was when the recording has grown.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// The rows of the frames before this one are counted. Nothing is added to those any more.
    next: u64,
    rows: u64,
}

impl Tally {
    /// Counts on towards the frame `last`; all rows up to it, once it is there.
    pub fn step(
        &mut self,
        recording: &Recording,
        lens: Lens,
        last: Seq,
    ) -> Result<Option<u64>, ReadError> {
        let end = last.0.min(self.next.saturating_add(FRAMES));
        if self.next < end {
            self.rows += recording.count_rows(lens, Seq(self.next), Seq(end - 1))?;
            self.next = end;
        }
        if end < last.0 {
            return Ok(None);
        }
        // Events may still come after the last frame.
        Ok(Some(self.rows + recording.count_rows(lens, last, last)?))
    }
}
