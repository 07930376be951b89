//! Frames of the client that go before those of the server that it had not seen.
//!
//! A recording has the frames in the order in which they were complete, and cassettes by other
//! hands in any. Where the recording says that the client had not seen all of what stands before,
//! its frame is given first, so that nobody waits for more than the client did. It overtakes none
//! of its own, and an answer does not overtake the question.

use super::{Step, What};
use mcpreel_store::reader::{ReadError, Recording};
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::Seq;
use std::collections::BTreeMap;

/// Frames that one may overtake: they are held meanwhile. One that is farther ahead stays there.
const MOST_OVERTAKEN: u64 = 4096;

/// The frames of the client that had not seen all of what stands before them, each with the last
/// one of the server that it had seen.
#[derive(Debug, Default)]
pub(super) struct Sooner(BTreeMap<Seq, Seq>);

impl Sooner {
    pub fn of(recording: &Recording) -> Result<Self, ReadError> {
        let (mut sooner, mut after) = (BTreeMap::new(), 0);
        loop {
            let page = recording.events(after)?;
            let Some(last) = page.last() else {
                return Ok(Self(sooner));
            };
            after = last.id;
            for row in &page {
                if let EventKind::Seen { frame } = row.event.kind {
                    let next = Seq(row.event.after_seq.0 + 1);
                    sooner.insert(next, frame.unwrap_or_default());
                }
            }
        }
    }

    /// The next frame of the client after that of the server which is `step`, where it had not seen
    /// that.
    pub fn than(&self, step: &Step) -> Option<Seq> {
        let at = step.head.seq;
        let (next, seen) = self.0.range(at..).next()?;
        let is_near = next.0 - at.0 <= MOST_OVERTAKEN;
        (step.is_from_server() && *seen < at && is_near).then_some(*next)
    }

    /// This frame has gone before what it had not seen.
    pub fn passed(&mut self, seq: Seq) {
        self.0.remove(&seq);
    }
}

/// Where among the frames that follow one of the server `sooner` stands, if it may overtake them.
pub(super) fn place<'s>(mut ahead: impl Iterator<Item = &'s Step>, sooner: Seq) -> Option<usize> {
    let mut at = 0;
    let first = ahead.find(|step| {
        at += 1;
        step.is_from_client()
    })?;
    let may = first.head.seq == sooner && !matches!(first.single(), Some(What::Answers(_)));
    may.then(|| at - 1)
}
