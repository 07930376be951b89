//! What one wants to know of a recording at a glance: who waits, what was lost, last words.
//!
//! Asked whenever a live recording grows, so every query is answered by an index or looks at a
//! bounded number of rows.

use super::reader::rows;
use super::reader::rows::{exchange_columns, summary_columns};
use super::reader::{ReadError, Recording};
use crate::trace::exchange::Exchange;
use crate::trace::frame::StreamId;

const OLDEST_OPEN: &str = concat!(
    "SELECT ",
    exchange_columns!(),
    " WHERE e.id IN (SELECT id FROM exchange INDEXED BY exchange_not_ok
        WHERE status <> 'ok' AND status = 'open' ORDER BY id LIMIT ?1) ORDER BY e.id"
);
const LAST_LOST: &str = concat!(
    "SELECT ",
    exchange_columns!(),
    " WHERE e.id IN (SELECT id FROM exchange INDEXED BY exchange_not_ok
        WHERE status <> 'ok' AND status IN ('lost', 'unanswered') ORDER BY id DESC LIMIT ?1)
    ORDER BY e.id"
);
const LAST_LINES: &str = "SELECT substr(f.raw, 1, 4096) FROM line l JOIN frame f ON f.seq = l.frame
    WHERE l.stream = ?1 ORDER BY l.frame DESC LIMIT ?2";

impl Recording {
    /// The oldest exchanges that wait for an answer, `limit` at most.
    pub fn oldest_open(&self, limit: u32) -> Result<Vec<Exchange>, ReadError> {
        self.list(OLDEST_OPEN, [limit], rows::exchange)
    }

    /// The last exchanges that ended without an answer, `limit` at most, in their order.
    pub fn last_lost(&self, limit: u32) -> Result<Vec<Exchange>, ReadError> {
        self.list(LAST_LOST, [limit], rows::exchange)
    }

    /// The last lines of stderr, their first 4 KiB, the oldest first.
    pub fn last_words(&self, lines: u32) -> Result<Vec<Box<[u8]>>, ReadError> {
        let params = (StreamId::STDERR.0, lines);
        let mut words = self.list(LAST_LINES, params, |row| {
            row.get(0).map(Vec::into_boxed_slice)
        })?;
        words.reverse();
        Ok(words)
    }
}
