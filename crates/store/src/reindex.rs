//! Deriving everything anew from the frames and events of a recording.

use super::indexer::derive::{Deriver, Text};
use super::indexer::index_error::IndexError;
use super::indexer::line::COLLECT_LIMIT;
use super::indexer::long;
use super::indexer::write::Writer;
use super::open;
use super::reader::EventRow;
use super::reader::reader_rows::Stored as _;
use super::schema::to_sql;
use mcpreel_trace::frame::FrameHead;
use rusqlite::{Connection, Transaction, TransactionBehavior};
use std::path::Path;

const IS_LIVE: &str = "SELECT state = 'live' FROM recording";
const CLEAR: &str =
    "DELETE FROM message; DELETE FROM line; DELETE FROM exchange; DELETE FROM finding;";
const FRAMES: &str = r#"SELECT seq, stream, "offset", t_first, t_last, length(raw),
    CASE WHEN length(raw) <= ?1 THEN raw END FROM frame ORDER BY seq"#;
const EVENTS: &str = "SELECT id, t, after_seq, detail FROM event ORDER BY id";

/// Frames between two calls of a progress callback.
const REPORT_EVERY: u64 = 4096;

/// Derives everything of the recording `path` anew, in one transaction: whoever reads it
/// meanwhile sees the old rows. `progress` is told how many frames are done.
pub fn reindex(path: &Path, progress: &mut dyn FnMut(u64)) -> Result<(), IndexError> {
    rebuild_all(&open::writable(path)?, progress)
}

pub(super) fn rebuild_all(
    conn: &Connection,
    progress: &mut dyn FnMut(u64),
) -> Result<(), IndexError> {
    let transaction = Transaction::new_unchecked(conn, TransactionBehavior::Immediate)?;
    rebuild(&transaction, progress)?;
    Ok(transaction.commit()?)
}

/// Empties the derived tables and fills them again, within the caller's transaction. What is open at
/// the last frame stays open in a live recording only.
pub(super) fn rebuild(conn: &Connection, progress: &mut dyn FnMut(u64)) -> Result<(), IndexError> {
    conn.execute_batch(CLEAR)?;
    let mut writer = Writer::prepare(conn)?;
    let mut deriver = Deriver::default();
    let mut events = conn.prepare(EVENTS)?;
    let events = events.query_map([], |row| Ok(EventRow::read(row)?.event))?;
    let events = events.collect::<rusqlite::Result<Vec<_>>>()?;
    let mut events = events.into_iter().peekable();
    let mut frames = conn.prepare(FRAMES)?;
    let mut rows = frames.query([to_sql(COLLECT_LIMIT)])?;
    while let Some(row) = rows.next()? {
        let head = FrameHead::read(row)?;
        while let Some(event) = events.next_if(|event| event.after_seq < head.seq) {
            deriver.event(&event);
        }
        if head.size > COLLECT_LIMIT {
            let text = long::read(conn, head.seq)?;
            deriver.frame(&head, Text::Long(Box::new(text)));
        } else {
            let raw = row.get_ref(6)?.as_blob().map_err(rusqlite::Error::from)?;
            deriver.frame(&head, Text::Whole(raw));
        }
        deriver.flush_if_many(&mut writer)?;
        if head.seq.0 % REPORT_EVERY == 0 {
            progress(head.seq.0);
        }
    }
    events.for_each(|event| deriver.event(&event));
    if !conn.query_row(IS_LIVE, [], |row| row.get(0))? {
        deriver.finish(&mut writer)?;
    }
    deriver.flush(&mut writer)?;
    deriver.save(conn)?;
    Ok(())
}
