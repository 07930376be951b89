//! Totals, latencies, and what has changed.

use crate::reader::rows::number;
use crate::reader::{ReadError, Recording};
use crate::values::{from_sql, to_sql};
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{ItemKey, Lens};

const EXCHANGE_ROWS: &str = "SELECT
    (SELECT count(*) FROM exchange WHERE request BETWEEN ?1 AND ?2)
    + (SELECT count(*) FROM message INDEXED BY message_alone WHERE frame BETWEEN ?1 AND ?2
       AND (exchange IS NULL OR (kind = 'notification'
        AND method <> 'notifications/progress' AND method <> 'notifications/cancelled')))
    + (SELECT count(*) FROM line WHERE frame BETWEEN ?1 AND ?2)
    + (SELECT count(*) FROM event WHERE after_seq BETWEEN ?1 AND ?2)";
const WIRE_ROWS: &str = "SELECT
    (SELECT count(*) FROM message WHERE frame BETWEEN ?1 AND ?2)
    + (SELECT count(*) FROM line WHERE frame BETWEEN ?1 AND ?2)
    + (SELECT count(*) FROM event WHERE after_seq BETWEEN ?1 AND ?2)";
const LATENCIES: &str = "SELECT id, method, latency FROM exchange WHERE id > ?1
    ORDER BY id LIMIT ?2";

/// Exchanges that may stand otherwise since the frame `?1`: those with a message since, those in
/// which the other side asked them, those whose task they are about, those that got their end
/// when nothing more came, and those that were given up to make room. The oldest are, so that the
/// latest of these are the last; and what is kept of one request has room for no eight others.
const TOUCHED: &str = "WITH fresh (id) AS (
        SELECT DISTINCT exchange FROM message WHERE frame > ?1 AND exchange IS NOT NULL)
    SELECT e.id, e.request, e.request_part FROM exchange e WHERE e.id IN (
        SELECT id FROM fresh
        UNION SELECT c.parent FROM fresh JOIN exchange c ON c.id = fresh.id
            WHERE c.parent IS NOT NULL
        UNION SELECT o.id FROM fresh JOIN exchange c ON c.id = fresh.id
            JOIN exchange o ON o.task = c.task
        UNION SELECT id FROM exchange INDEXED BY exchange_not_ok
            WHERE status <> 'ok' AND status IN ('lost', 'unanswered')
        UNION SELECT id FROM (SELECT id FROM exchange INDEXED BY exchange_not_ok
            WHERE status <> 'ok' AND status = 'given-up'
            ORDER BY id DESC LIMIT 8 * (SELECT count(*) FROM fresh)))
    ORDER BY e.id";
const GIVEN_UP_AFTER: &str = "SELECT id FROM exchange INDEXED BY exchange_not_ok
    WHERE status <> 'ok' AND status = 'given-up' AND id > ?1 ORDER BY id LIMIT ?2";
const GIVEN_UP: &str = "SELECT count(*) FROM exchange INDEXED BY exchange_not_ok
    WHERE status <> 'ok' AND status = 'given-up'";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Latency {
    pub id: ExchangeId,
    pub method: Box<str>,
    /// As [`Exchange::latency_ns`](mcpreel_trace::exchange::Exchange::latency_ns) has it.
    pub nanos: Option<u64>,
}

impl Recording {
    /// How many rows the frames `first..=last` have through `lens`; events count to the frame
    /// before them.
    pub fn count_rows(&self, lens: Lens, first: Seq, last: Seq) -> Result<u64, ReadError> {
        let sql = match lens {
            Lens::Exchanges => EXCHANGE_ROWS,
            Lens::Wire => WIRE_ROWS,
        };
        self.read(|conn| {
            conn.prepare_cached(sql)?
                .query_row([to_sql(first.0), to_sql(last.0)], |row| number(row, 0))
        })
    }

    /// Method and latency (nanoseconds, where there is one) of up to `limit` exchanges after
    /// `after`, in their order.
    pub fn latencies(&self, after: ExchangeId, limit: u32) -> Result<Vec<Latency>, ReadError> {
        self.list(LATENCIES, (to_sql(after.0), limit), |row| {
            Ok(Latency {
                id: ExchangeId(number(row, 0)?),
                method: row.get(1)?,
                nanos: row.get::<_, Option<i64>>(2)?.map(from_sql),
            })
        })
    }

    /// The next `limit` exchanges after `after` that were given up. They are in the order of their
    /// requests, so that one that is given up later comes later.
    pub fn given_up_after(
        &self,
        after: ExchangeId,
        limit: u32,
    ) -> Result<Vec<ExchangeId>, ReadError> {
        self.list(GIVEN_UP_AFTER, (to_sql(after.0), limit), |row| {
            number(row, 0).map(ExchangeId)
        })
    }

    /// How many exchanges were given up.
    pub fn given_up_count(&self) -> Result<u64, ReadError> {
        Ok(self.one(GIVEN_UP, [], |row| number(row, 0))?.unwrap_or(0))
    }

    /// The exchanges that may stand otherwise than they did when `after` was the last frame, with
    /// the addresses of their rows, in the order of their requests.
    pub fn exchanges_touched(&self, after: Seq) -> Result<Vec<(ExchangeId, ItemKey)>, ReadError> {
        self.read(|conn| {
            let mut statement = conn.prepare_cached(TOUCHED)?;
            let rows = statement.query_map([to_sql(after.0)], |row| {
                let key = ItemKey::of_part(Seq(number(row, 1)?), row.get(2)?);
                Ok((ExchangeId(number(row, 0)?), key))
            })?;
            rows.collect()
        })
    }
}
