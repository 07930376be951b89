//! Exchanges that are no plain calls, or of which more is derived than their bytes say in so many
//! words, found by a thread of its own while the frames are copied.
//!
//! Anybody can change rows of a recording by hand, and leave what was derived of bytes that are
//! gone. What is derived of a plain call is few: where its messages stand and when, and the name and the ids,
//! which stand in the bytes as they are unless these are written otherwise, with escapes; then it
//! counts as odd as well, and is derived anew like all that is.

use super::AlterError;
use crate::indexer::COLLECT_LIMIT;
use crate::reader::{ReadError, Recording};
use crate::values::to_sql;
use rusqlite::{InterruptHandle, params};
use std::fmt;
use std::panic::resume_unwind;
use std::thread::{Builder, JoinHandle};

/// Nanoseconds, in which an answer of a plain call has come: no rule takes less for long.
const SOON_NS: i64 = 5_000_000_000;

/// Frames at the beginning that are in the part: rules look at what a stream begins with.
const FIRST: i64 = 8;

/// A call that is made again while it is open for long is compared with that; what comes first says
/// when a stream began. Of long messages there is a line, which their bytes do not say so.
const ODD: &str = "SELECT e.id FROM exchange e
    LEFT JOIN message q ON q.frame = e.request AND q.part = 0
    LEFT JOIN frame f ON f.seq = e.request
    LEFT JOIN message p ON p.frame = e.response AND p.part = 0
    LEFT JOIN frame g ON g.seq = e.response
    WHERE (e.status = 'ok' AND e.method = 'tools/call' AND e.direction = 'c2s'
        AND e.era = 'legacy' AND e.request_part = 0 AND e.response_part = 0
        AND e.waited = 0 AND e.progress_count = 0
        AND e.t_response_last - e.t_request < ?1 AND e.request > ?2
        AND coalesce(e.parent, e.chain, e.task, e.cancelled, e.code, e.progress) IS NULL
        AND q.exchange = e.id AND q.kind = 'request' AND q.direction = 'c2s'
        AND p.exchange = e.id AND p.kind = 'response' AND p.direction = 's2c'
        AND q.rpc_id = e.rpc_id AND p.rpc_id = e.rpc_id
        AND q.start = 0 AND e.request_size = length(f.raw)
        AND p.start = 0 AND e.response_size = length(g.raw)
        AND e.t_request = f.t_last AND e.t_response = g.t_first AND e.t_response_last = g.t_last
        AND coalesce(q.era, q.method, q.name, q.code, q.task, q.subscription, q.summary,
            p.era, p.method, p.name, p.code, p.task, p.subscription, p.summary,
            p.token, p.trace_id) IS NULL
        AND CASE WHEN length(f.raw) <= ?3 AND length(g.raw) <= ?3 THEN
            substr(f.raw, q.size) IN (x'7d', x'7d0a', x'7d0d0a')
            AND substr(g.raw, p.size) IN (x'7d', x'7d0a', x'7d0d0a') AND
            instr(f.raw, CAST(e.rpc_id AS BLOB))
            AND instr(f.raw, CAST(coalesce(e.name, '') AS BLOB))
            AND instr(f.raw, CAST(coalesce(q.token, '') AS BLOB))
            AND instr(f.raw, CAST(coalesce(q.trace_id, '') AS BLOB)) END) IS NOT TRUE
    LIMIT ?4";

pub(super) struct Odd {
    /// Taken by whoever wants what it finds.
    thread: Option<JoinHandle<Result<Vec<i64>, ReadError>>>,
    stop: InterruptHandle,
}

impl Odd {
    /// Looks for so many, and one more.
    pub fn look(recording: &Recording, most: i64) -> Result<Self, AlterError> {
        let recording = recording.another()?;
        recording.keep_little()?;
        let stop = recording.opened().conn.get_interrupt_handle();
        let look = move || {
            recording.read(|conn| {
                let mut odd = conn.prepare(ODD)?;
                let limits = params![SOON_NS, FIRST, to_sql(COLLECT_LIMIT), most + 1];
                odd.query_map(limits, |row| row.get(0))?.collect()
            })
        };
        let thread = Builder::new().name("odd".into()).spawn(look);
        let thread = Some(thread.map_err(AlterError::Thread)?);
        Ok(Self { thread, stop })
    }

    /// Waits for what it finds, which is asked once.
    pub fn found(&mut self) -> Result<Vec<i64>, AlterError> {
        let thread = self.thread.take();
        let thread = thread.expect("nobody else takes it, and this is done once");
        Ok(thread.join().unwrap_or_else(|panic| resume_unwind(panic))?)
    }
}

impl fmt::Debug for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Odd").finish_non_exhaustive()
    }
}

impl Drop for Odd {
    /// What the thread reads may be gone with the recording.
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.stop.interrupt();
            // Nobody needs what it found.
            let _ = thread.join();
        }
    }
}
