//! Totals, latencies, and what has changed.

use super::column::NOTABLE;
use crate::reader::reader_rows::number;
use crate::reader::{ReadError, Recording};
use crate::schema::to_sql;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{ItemKey, Lens};
use mcpreel_trace::query::ast::Field;
use std::sync::LazyLock;

static EXCHANGE_ROWS: LazyLock<String> = LazyLock::new(|| {
    format!(
        "SELECT
    (SELECT count(*) FROM exchange WHERE request BETWEEN ?1 AND ?2)
    + (SELECT count(*) FROM message INDEXED BY message_alone WHERE frame BETWEEN ?1 AND ?2
       AND (exchange IS NULL OR (kind = 'notification'
        AND method <> 'notifications/progress' AND method <> 'notifications/cancelled')))
    + (SELECT count(*) FROM line WHERE frame BETWEEN ?1 AND ?2 AND http = 0)
    + (SELECT count(*) FROM http INDEXED BY http_alone WHERE alone AND request BETWEEN ?1 AND ?2)
    + (SELECT count(*) FROM event WHERE after_seq BETWEEN ?1 AND ?2 AND {NOTABLE})"
    )
});
const WIRE_ROWS: &str = "SELECT
    (SELECT count(*) FROM message WHERE frame BETWEEN ?1 AND ?2)
    + (SELECT count(*) FROM line WHERE frame BETWEEN ?1 AND ?2)
    + (SELECT count(*) FROM event WHERE after_seq BETWEEN ?1 AND ?2)";

/// Exchanges that may stand otherwise since the frame `?1`: those with a message since, those in
/// which the other side asked them, those whose task they are about, those that got their end
/// when nothing more came, and those that were given up to make room. The oldest are, so that the
/// latest of these are the last; and what is kept of one request has room for no eight others.
/// The plus keeps `SQLite` from going over an index of all messages for the few new ones.
const TOUCHED: &str = "WITH fresh (id) AS (
        SELECT DISTINCT exchange FROM message WHERE frame > ?1 AND +exchange IS NOT NULL)
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
const GIVEN_UP: &str = "SELECT count(*) FROM exchange INDEXED BY exchange_not_ok
    WHERE status <> 'ok' AND status = 'given-up'";

/// The calls in another order than that of time: what is remarkable comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    /// The slowest; a call without an answer for as long as it was waited for: until it was cancelled,
    /// or until the end.
    Latency,
    /// The largest, request and response together.
    Size,
    /// What went wrong, by how.
    Status,
}

const SORTED: [&str; 3] = [
    "SELECT request, request_part FROM exchange ORDER BY coalesce(latency, CASE
        WHEN status IN ('open', 'lost', 'unanswered') THEN ?1 - t_request
        WHEN status IN ('cancelled', 'user-cancelled') THEN (SELECT t_last FROM frame WHERE seq = cancelled) - t_request
        ELSE 0 END) DESC, id",
    "SELECT request, request_part FROM exchange, (SELECT ?1)
        ORDER BY request_size + response_size DESC, id",
    "SELECT request, request_part FROM exchange, (SELECT ?1) ORDER BY status = 'ok', status, id",
];

impl Recording {
    /// The addresses of all exchanges in this order; `end_ns`: until when an answer was waited for.
    pub fn sorted(&self, by: Sort, end_ns: u64) -> Result<Vec<ItemKey>, ReadError> {
        self.list(SORTED[by as usize], [to_sql(end_ns)], |row| {
            Ok(ItemKey::of_part(Seq(number(row, 0)?), row.get(1)?))
        })
    }

    /// Counts the rows of the frames `first..=last` through `lens`; events count to the frame
    /// before them.
    pub fn count_rows(&self, lens: Lens, first: Seq, last: Seq) -> Result<u64, ReadError> {
        let sql = match lens {
            Lens::Exchanges => &**EXCHANGE_ROWS,
            Lens::Wire => WIRE_ROWS,
        };
        self.number(sql, [to_sql(first.0), to_sql(last.0)])
    }

    /// Counts the exchanges that were given up.
    pub fn given_up_count(&self) -> Result<u64, ReadError> {
        self.number(GIVEN_UP, [])
    }

    /// The exchanges that may stand otherwise than they did when `after` was the last frame, with
    /// the addresses of their rows, in the order of their requests.
    pub fn exchanges_touched(&self, after: Seq) -> Result<Vec<(ExchangeId, ItemKey)>, ReadError> {
        self.list(TOUCHED, [to_sql(after.0)], |row| {
            let key = ItemKey::of_part(Seq(number(row, 1)?), row.get(2)?);
            Ok((ExchangeId(number(row, 0)?), key))
        })
    }
}

// The values of a field that were seen: whoever types `status:` is offered them.

/// The newest rows whose values are counted: some milliseconds.
const NEWEST: u32 = 20_000;

/// The column of a table with the values of `field`, the rows that are meant, and the key of the
/// table; none for fields whose values are not kept in columns, are numbers, or are given by the
/// language.
fn column(field: Field) -> Option<[&'static str; 4]> {
    Some(match field {
        Field::Method => ["method", "message", "kind <> 'response'", "frame"],
        Field::Name => ["name", "exchange", "1", "id"],
        Field::Tool => ["name", "exchange", "method = 'tools/call'", "id"],
        Field::Prompt => ["name", "exchange", "method = 'prompts/get'", "id"],
        Field::Uri => ["name", "exchange", "method LIKE 'resources/%'", "id"],
        Field::Status => ["status", "exchange", "1", "id"],
        Field::Code => ["code", "exchange", "1", "id"],
        Field::Id => ["rpc_id", "exchange", "1", "id"],
        Field::Task => ["task", "exchange", "1", "id"],
        Field::Trace => ["trace_id", "message", "1", "frame"],
        Field::Token => ["token", "message", "1", "frame"],
        Field::Finding => ["rule", "finding", "1", "id"],
        Field::Severity => ["severity", "finding", "1", "id"],
        Field::Mark => ["mark", "annotation", "mark <> ''", "frame"],
        _ => return None,
    })
}

impl Recording {
    /// The `limit` most frequent values of `field` in the newest rows, those first that were seen
    /// most, with how often.
    pub fn values_of(&self, field: Field, limit: u32) -> Result<Vec<(String, u64)>, ReadError> {
        let Some([column, table, condition, key]) = column(field) else {
            return Ok(Vec::new());
        };
        // Indexes other than the key's would be gone through as a whole.
        let sql = format!(
            "SELECT value, count(*) FROM (SELECT {column} AS value, {condition} AS is_meant
                FROM {table} NOT INDEXED ORDER BY {key} DESC LIMIT {NEWEST})
            WHERE is_meant AND value IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?1"
        );
        self.list(&sql, [limit], |row| Ok((row.get(0)?, number(row, 1)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::written::{Session, bytes, drain};
    use mcpreel_trace::frame::StreamId;

    #[test]
    fn a_cancelled_call_is_sorted_by_the_time_until_it_was_cancelled() {
        let dir = tempfile::tempdir().unwrap();
        let mut session = Session::start(dir.path(), "weather", 1);
        session.say(
            r#"
            10 > {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"quick"}}
            20 < {"jsonrpc":"2.0","id":1,"result":{"content":[]}}
            30 > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"given-up"}}
            90 > {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}
            100 > {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"slow"}}
            300 < {"jsonrpc":"2.0","id":3,"result":{"content":[]}}
            "#,
        );
        drain(&mut session.indexer(), &bytes(u64::MAX));
        let recording = Recording::open(&session.reel).unwrap();
        let end = recording.summary().unwrap().t_last_ns;
        let sorted = recording.sorted(Sort::Latency, end).unwrap();
        let seqs: Vec<_> = sorted.iter().map(|key| key.seq.0).collect();
        assert_eq!(seqs, [5, 3, 1]);
    }

    #[test]
    fn the_most_frequent_values_of_the_newest_rows_come_first() {
        let dir = tempfile::tempdir().unwrap();
        let mut session = Session::start(dir.path(), "weather", 1);
        let often = u64::from(NEWEST) - 3;
        let says = |method| format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\"}}\n");
        let calls = |id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
        let mut lines = vec![says("b"), calls(1), says("c"), calls(2)];
        lines.extend((0..often).map(|_| says("a")));
        lines.extend([says("b"), calls(3)]);
        for lines in lines.concat().as_bytes().chunks(60_000) {
            session.chunk(StreamId::C2S, lines);
        }
        drain(&mut session.indexer(), &bytes(u64::MAX));
        let recording = Recording::open(&session.reel).unwrap();
        let seen = |value: &str, count| (value.to_owned(), count);
        assert_eq!(
            recording.values_of(Field::Method, 3).unwrap(),
            [seen("a", often), seen("ping", 2), seen("b", 1)]
        );
        assert_eq!(
            recording.values_of(Field::Status, 9).unwrap(),
            [seen("open", 3)]
        );
        assert!(recording.values_of(Field::Tool, 9).unwrap().is_empty());
        assert!(recording.values_of(Field::Latency, 9).unwrap().is_empty());
    }
}
