//! A recording as it is gone through again, from its beginning: what one side asks, how much there
//! is of it, and the frames of one stream alone.

use super::reader::rows::{self, exchange_columns, number};
use super::reader::{FramePage, ReadError, Recording};
use super::values::to_sql;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::{Seq, StreamId};
use mcpreel_wire::message::Direction;

const QUESTIONS: &str = concat!(
    "SELECT ",
    exchange_columns!(),
    " WHERE e.id > ?1 AND e.direction = 's2c' ORDER BY e.id LIMIT ?2"
);
const OF_METHOD: &str = concat!(
    "SELECT ",
    exchange_columns!(),
    " WHERE e.method = ?1 AND e.id > ?2 ORDER BY e.id LIMIT ?3"
);
const NAMED: &str = "SELECT 1 FROM exchange WHERE method = ?1 AND name = ?2 LIMIT 1";
/// In the order of the table, whatever indexes there are: to look each request up takes longer.
const REQUESTS: &str = "SELECT count(*) FROM exchange WHERE direction = ?1 AND +request <= ?2";
const OF_STREAM: &str = r#"SELECT seq, stream, "offset", t_first, t_last, length(raw), raw FROM frame
    WHERE seq > ?1 AND stream = ?2 AND length(raw) <= ?3 ORDER BY seq LIMIT ?4"#;

impl Recording {
    /// The next `limit` requests of the server after `after`.
    pub fn questions(&self, after: ExchangeId, limit: u32) -> Result<Vec<Exchange>, ReadError> {
        self.list(QUESTIONS, (to_sql(after.0), limit), rows::exchange)
    }

    /// The next `limit` exchanges of a method after `after`.
    pub fn exchanges_with(
        &self,
        method: &str,
        after: ExchangeId,
        limit: u32,
    ) -> Result<Vec<Exchange>, ReadError> {
        self.list(OF_METHOD, (method, to_sql(after.0), limit), rows::exchange)
    }

    /// Whether there is an exchange of a method with a tool, prompt or resource of this name.
    pub fn has_exchange_with(&self, method: &str, name: &str) -> Result<bool, ReadError> {
        let found = self.one(NAMED, (method, name), |_| Ok(()))?;
        Ok(found.is_some())
    }

    /// How many requests one side sent up to the frame `until`.
    pub fn requests(&self, from: Direction, until: Seq) -> Result<u64, ReadError> {
        let params = (from.as_str(), to_sql(until.0));
        let count = self.one(REQUESTS, params, |row| number(row, 0))?;
        Ok(count.unwrap_or(0))
    }

    /// The next `limit` frames of a stream after `after` that are no longer than `longest`, with
    /// their bytes.
    pub fn frames_of(
        &self,
        stream: StreamId,
        after: Seq,
        longest: u64,
        limit: u32,
    ) -> Result<FramePage, ReadError> {
        let params = (to_sql(after.0), stream.0, to_sql(longest), limit);
        self.list(OF_STREAM, params, |row| {
            Ok((rows::frame_head(row)?, Some(row.get(6)?)))
        })
    }
}
