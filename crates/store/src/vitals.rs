//! What one wants to know of a recording at a glance: who waits, what was lost, last words.
//!
//! Asked whenever a live recording grows, so every query is answered by an index or looks at a
//! bounded number of rows.

use super::reader::rows::{self, exchange_columns};
use super::reader::{ReadError, Recording};
use super::values::to_sql;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::StreamId;

/// Findings whose severity is counted at once: more of them would hold up whoever follows.
const COUNTED: u64 = 50_000;

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
const LAST_LINES: &str = "SELECT substr(f.raw, 1, 4096), l.frame FROM line l
    JOIN frame f ON f.seq = l.frame
    WHERE l.stream = ?1 ORDER BY l.frame DESC LIMIT ?2";

const SEVERITIES: &str = "SELECT severity, count(*) FROM finding
    WHERE id > ?1 AND id <= ?2 GROUP BY severity";

/// How many findings there are of each severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Severities {
    pub errors: u64,
    pub warnings: u64,
    pub notes: u64,
    /// The number of the last finding that was counted.
    last: u64,
    /// Whether there are more after that one.
    more: bool,
}

impl Severities {
    /// Whether all findings are counted.
    pub fn is_complete(&self) -> bool {
        !self.more
    }
}

impl Recording {
    /// How many findings there are of each severity, if `before` is what was counted before: of
    /// the rest so many are looked at that nobody has to wait.
    pub fn severities(&self, before: Severities) -> Result<Severities, ReadError> {
        let last = self.last_finding()?;
        // What was derived anew begins again.
        let mut sum = if before.last > last {
            Severities::default()
        } else {
            before
        };
        let to = last.min(sum.last + COUNTED);
        let params = (to_sql(sum.last), to_sql(to));
        let counts = self.list(SEVERITIES, params, |row| {
            Ok((row.get::<_, Box<str>>(0)?, rows::number(row, 1)?))
        })?;
        for (severity, count) in counts {
            match &*severity {
                "error" => sum.errors += count,
                "warning" => sum.warnings += count,
                _ => sum.notes += count,
            }
        }
        (sum.last, sum.more) = (to, to < last);
        Ok(sum)
    }

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
