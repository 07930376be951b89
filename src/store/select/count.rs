//! Totals, values seen, and what has changed.

use crate::query::ast::Field;
use crate::store::reader::rows::number;
use crate::store::reader::{ReadError, Recording};
use crate::store::values::{from_sql, to_sql};
use crate::trace::exchange::ExchangeId;
use crate::trace::frame::Seq;
use crate::trace::item::{ItemKey, Lens};

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
/// which the other side asked them, those whose task they are about, and those that got their end
/// when nothing more came.
const TOUCHED: &str = "WITH fresh (id) AS (
        SELECT DISTINCT exchange FROM message WHERE frame > ?1 AND exchange IS NOT NULL)
    SELECT e.id, e.request, e.request_part FROM exchange e WHERE e.id IN (
        SELECT id FROM fresh
        UNION SELECT c.parent FROM fresh JOIN exchange c ON c.id = fresh.id
            WHERE c.parent IS NOT NULL
        UNION SELECT o.id FROM fresh JOIN exchange c ON c.id = fresh.id
            JOIN exchange o ON o.task = c.task
        UNION SELECT id FROM exchange INDEXED BY exchange_not_ok
            WHERE status <> 'ok' AND status IN ('lost', 'unanswered'))
    ORDER BY e.id";

/// How long an exchange took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Latency {
    /// Which one.
    pub id: ExchangeId,
    /// Its method.
    pub method: Box<str>,
    /// As [`Exchange::latency_ns`](crate::trace::exchange::Exchange::latency_ns) has it.
    pub nanos: Option<u64>,
}

/// How the values of a field are counted, the most frequent `?1` of them. Those of other fields are
/// not counted.
const VALUES: &[(Field, &str)] = &[
    (
        Field::Method,
        "SELECT method, sum(n) AS n FROM (
            SELECT method, count(*) AS n FROM exchange GROUP BY method
            UNION ALL
            SELECT method, count(*) FROM message WHERE method IS NOT NULL GROUP BY method)
        GROUP BY method ORDER BY n DESC, method LIMIT ?1",
    ),
    (
        Field::Name,
        "SELECT name, count(*) AS n FROM exchange WHERE name IS NOT NULL
        GROUP BY name ORDER BY n DESC, name LIMIT ?1",
    ),
    (
        Field::Tool,
        "SELECT name, count(*) AS n FROM exchange WHERE method = 'tools/call'
        AND name IS NOT NULL GROUP BY name ORDER BY n DESC, name LIMIT ?1",
    ),
    (
        Field::Prompt,
        "SELECT name, count(*) AS n FROM exchange WHERE method = 'prompts/get'
        AND name IS NOT NULL GROUP BY name ORDER BY n DESC, name LIMIT ?1",
    ),
    (
        Field::Uri,
        "SELECT name, count(*) AS n FROM exchange WHERE method LIKE 'resources/%'
        AND name IS NOT NULL GROUP BY name ORDER BY n DESC, name LIMIT ?1",
    ),
    (
        Field::Status,
        "SELECT status, count(*) AS n FROM exchange GROUP BY status
        ORDER BY n DESC, status LIMIT ?1",
    ),
    (
        Field::Code,
        "SELECT code, count(*) AS n FROM exchange WHERE code IS NOT NULL
        GROUP BY code ORDER BY n DESC, code LIMIT ?1",
    ),
    (
        Field::Id,
        "SELECT rpc_id, count(*) AS n FROM exchange
        GROUP BY rpc_id ORDER BY n DESC, rpc_id LIMIT ?1",
    ),
    (
        Field::Task,
        "SELECT task, count(*) AS n FROM exchange WHERE task IS NOT NULL
        GROUP BY task ORDER BY n DESC, task LIMIT ?1",
    ),
    (
        Field::Trace,
        "SELECT trace_id, count(*) AS n FROM message WHERE trace_id IS NOT NULL
        GROUP BY trace_id ORDER BY n DESC, trace_id LIMIT ?1",
    ),
    (
        Field::Token,
        "SELECT token, count(*) AS n FROM message WHERE token IS NOT NULL
        GROUP BY token ORDER BY n DESC, token LIMIT ?1",
    ),
    (
        Field::Finding,
        "SELECT rule, count(*) AS n FROM finding GROUP BY rule
        ORDER BY n DESC, rule LIMIT ?1",
    ),
    (
        Field::Severity,
        "SELECT severity, count(*) AS n FROM finding GROUP BY severity
        ORDER BY n DESC, severity LIMIT ?1",
    ),
    (
        Field::Mark,
        "SELECT mark, count(*) AS n FROM annotation WHERE mark <> ''
        GROUP BY mark ORDER BY n DESC, mark LIMIT ?1",
    ),
];

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

    /// The values of `field` that were seen, the most frequent first, at most `limit`, with how
    /// often. Empty for fields whose values are not kept in columns, are numbers, or are given by
    /// the language.
    pub fn values(&self, field: Field, limit: u32) -> Result<Vec<(String, u64)>, ReadError> {
        let Some((_, sql)) = VALUES.iter().find(|(of, _)| *of == field) else {
            return Ok(Vec::new());
        };
        self.read(|conn| {
            let mut statement = conn.prepare_cached(sql)?;
            let rows = statement.query_map([limit], |row| Ok((row.get(0)?, number(row, 1)?)))?;
            rows.collect()
        })
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
