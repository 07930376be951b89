//! How the two sides of a recording ended.

use crate::mock::index::Death;
use mcpreel_store::reader::{EventRow, ReadError, Recording, Summary};
use mcpreel_trace::event::{Closer, EventKind};
use mcpreel_trace::frame::{Seq, StreamId};
use mcpreel_trace::session::End;

/// How the server died, if it did.
pub(super) fn death(summary: &Summary) -> Option<Death> {
    match summary.session.phase.end()? {
        End::Exited { code } => Some(Death::Code(*code)),
        End::Killed { signal } => Some(Death::Signal(signal.clone())),
        End::NotStarted { .. } | End::Unknown => None,
    }
}

/// The last frame before the client closed its side, if it did.
pub(super) fn of_input(recording: &Recording) -> Result<Option<Seq>, ReadError> {
    let mut after = 0;
    loop {
        let page = recording.events(after)?;
        let Some(last) = page.last() else {
            return Ok(None);
        };
        after = last.id;
        let closed = |row: &&EventRow| {
            let kind = &row.event.kind;
            matches!(
                kind,
                EventKind::Eof {
                    stream: StreamId::C2S,
                    by: Closer::Writer
                }
            )
        };
        if let Some(row) = page.iter().find(closed) {
            return Ok(Some(row.event.after_seq));
        }
    }
}
