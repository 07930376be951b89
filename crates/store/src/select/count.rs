//! Totals, latencies, and what has changed.

use crate::reader::reader_rows::number;
use crate::reader::{ReadError, Recording};
use crate::schema::{from_sql, to_sql};
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{ItemKey, Lens};
use mcpreel_trace::query::ast::Field;
use std::collections::HashMap;

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
    /// The latency of [`Exchange::latency_ns`](mcpreel_trace::exchange::Exchange::latency_ns).
    pub nanos: Option<u64>,
}

impl Recording {
    /// Counts the rows of the frames `first..=last` through `lens`; events count to the frame
    /// before them.
    pub fn count_rows(&self, lens: Lens, first: Seq, last: Seq) -> Result<u64, ReadError> {
        let sql = match lens {
            Lens::Exchanges => EXCHANGE_ROWS,
            Lens::Wire => WIRE_ROWS,
        };
        self.number(sql, [to_sql(first.0), to_sql(last.0)])
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

// The values of a field that were seen, and how often.
//
// Whoever types `status:` is offered them, while the rows of the filter so far are being looked
// for. A whole table takes a hundred milliseconds to count, so it is counted in pieces, and
// whatever is more urgent comes in between.

/// Rows that are counted in one step: some milliseconds.
const ROWS: u64 = 10_000;

/// Values that are told apart. Of a field with more of them those that came later are not offered:
/// a peer that makes up a new one for every message would fill the memory.
const MOST: usize = 10_000;

#[derive(Debug)]
struct Column {
    first: &'static str,
    /// The values of a column in the rows with the keys `?1` to `?2`, and how often each.
    count: &'static str,
}

/// `column` of those rows of `table`, ordered by `key`, that have one.
macro_rules! column {
    ($column:literal of $table:literal by $key:literal) => {
        column!($column of $table by $key where "1")
    };
    ($column:literal of $table:literal by $key:literal where $which:literal) => {
        Column {
            first: concat!(
                "SELECT ", $key, " FROM ", $table, " WHERE ", $key, " >= ?1 ORDER BY ", $key, " LIMIT 1"
            ),
            // An index would be gone through from its beginning, once for each piece.
            count: concat!(
                "SELECT ", $column, ", count(*) FROM ", $table, " NOT INDEXED WHERE ", $key,
                " BETWEEN ?1 AND ?2 AND ", $column, " IS NOT NULL AND ", $which, " GROUP BY 1"
            ),
        }
    };
}

/// The columns with the values of `field`; none for fields whose values are not kept in columns, are
/// numbers, or are given by the language.
fn columns(field: Field) -> &'static [Column] {
    match field {
        Field::Method => &[column!("method" of "message" by "frame" where "kind <> 'response'")],
        Field::Name => &[column!("name" of "exchange" by "id")],
        Field::Tool => &[column!("name" of "exchange" by "id" where "method = 'tools/call'")],
        Field::Prompt => &[column!("name" of "exchange" by "id" where "method = 'prompts/get'")],
        Field::Uri => &[column!("name" of "exchange" by "id" where "method LIKE 'resources/%'")],
        Field::Status => &[column!("status" of "exchange" by "id")],
        Field::Code => &[column!("code" of "exchange" by "id")],
        Field::Id => &[column!("rpc_id" of "exchange" by "id")],
        Field::Task => &[column!("task" of "exchange" by "id")],
        Field::Trace => &[column!("trace_id" of "message" by "frame")],
        Field::Token => &[column!("token" of "message" by "frame")],
        Field::Finding => &[column!("rule" of "finding" by "id")],
        Field::Severity => &[column!("severity" of "finding" by "id")],
        Field::Mark => &[column!("mark" of "annotation" by "frame" where "mark <> ''")],
        _ => &[],
    }
}

/// Counts the values of a field in steps.
#[derive(Debug)]
pub struct Values {
    /// The columns that are still to be counted.
    columns: &'static [Column],
    /// The first key of the first of them that was not looked at.
    next: u64,
    counts: HashMap<String, u64>,
}

impl Values {
    pub fn new(field: Field) -> Self {
        Self {
            columns: columns(field),
            next: 0,
            counts: HashMap::new(),
        }
    }

    /// Counts on. Once all is counted: the `limit` most frequent values, those first that were
    /// seen most, with how often.
    pub fn step(
        &mut self,
        recording: &Recording,
        limit: usize,
    ) -> Result<Option<Vec<(String, u64)>>, ReadError> {
        if let [column, rest @ ..] = self.columns {
            let first = recording.one(column.first, [to_sql(self.next)], |row| number(row, 0))?;
            // Behind the greatest key that there can be stands nothing.
            if let Some(first) = first.filter(|first| *first >= self.next) {
                let last = first.saturating_add(ROWS - 1);
                let counted =
                    recording.list(column.count, [to_sql(first), to_sql(last)], |row| {
                        Ok((row.get(0)?, number(row, 1)?))
                    })?;
                for (value, count) in counted {
                    self.add(value, count);
                }
                self.next = last.saturating_add(1);
            } else {
                self.columns = rest;
                self.next = 0;
            }
        }
        Ok(self.columns.is_empty().then(|| self.most_frequent(limit)))
    }

    fn add(&mut self, value: String, count: u64) {
        if let Some(known) = self.counts.get_mut(&value) {
            *known += count;
        } else if self.counts.len() < MOST {
            self.counts.insert(value, count);
        }
    }

    fn most_frequent(&mut self, limit: usize) -> Vec<(String, u64)> {
        let mut values: Vec<_> = std::mem::take(&mut self.counts).into_iter().collect();
        values.sort_unstable_by(|(a, of_a), (b, of_b)| of_b.cmp(of_a).then_with(|| a.cmp(b)));
        values.truncate(limit);
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::written::{Session, bytes, drain};
    use mcpreel_trace::frame::StreamId;

    fn all(field: Field, recording: &Recording, limit: usize) -> Vec<(String, u64)> {
        let mut values = Values::new(field);
        loop {
            if let Some(all) = values.step(recording, limit).unwrap() {
                return all;
            }
        }
    }

    #[test]
    fn values_are_counted_over_all_pieces_and_tables_and_the_most_frequent_come_first() {
        let dir = tempfile::tempdir().unwrap();
        let mut session = Session::start(dir.path(), "weather", 1);
        let often = ROWS + 2;
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
            all(Field::Method, &recording, 3),
            [seen("a", often), seen("ping", 3), seen("b", 2)]
        );
        assert_eq!(all(Field::Status, &recording, 9), [seen("open", 3)]);
        assert!(all(Field::Tool, &recording, 9).is_empty());
        assert!(all(Field::Latency, &recording, 9).is_empty());
    }
}
