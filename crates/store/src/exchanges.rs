//! The rows for statistics and the timeline: exchanges without what they say, when they took
//! place, and what was notified. Read in pieces, so that nobody waits for a whole recording.

use super::reader::reader_rows::number;
use super::reader::{ReadError, Recording, reader_rows};
use super::schema::{moment, to_sql};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_trace::frame::{Seq, StreamId};
use mcpreel_trace::item::ItemKey;
use mcpreel_wire::message::Direction;

/// A request that was given up ends where it begins, as nobody knows how long it was open; so does one that
/// could have no answer.
macro_rules! t_end {
    () => {
        "CASE WHEN status IN ('given-up', 'after-eof') THEN t_request ELSE t_response_last END"
    };
}

const NOTIFIED: &str = "SELECT direction, coalesce(method, ''), count(*) FROM message
    WHERE frame > ?1 AND frame <= ?2 AND kind = 'notification' GROUP BY 1, 2";
const TIMES: &str = concat!(
    "SELECT t_request, ",
    t_end!(),
    ", status, method FROM exchange WHERE request = ?1 AND request_part = ?2"
);
const PROGRESS: &str = "SELECT f.t_last, m.frame FROM message m JOIN frame f ON f.seq = m.frame
    WHERE m.exchange = ?1 AND m.method = 'notifications/progress'
    ORDER BY m.frame LIMIT ?2";
const ASKED: &str = concat!(
    "SELECT t_request, ",
    t_end!(),
    " FROM exchange WHERE parent = ?1 ORDER BY id LIMIT ?2"
);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notified {
    pub direction: Direction,
    pub method: Box<str>,
    pub count: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    pub from: Moment,
    /// When the response was complete, or its stream broke; for a request that was given up, when it began.
    pub to: Option<Moment>,
    pub failed: bool,
}

/// Progress and questions of the other side while an exchange was open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meanwhile {
    pub progress: Vec<Moment>,
    /// When the other side asked something, and was answered.
    pub asked: Vec<(Moment, Option<Moment>)>,
}

impl Recording {
    /// Counts the notifications of each method in the frames after `after` up to `to`.
    pub fn notified(&self, after: Seq, to: Seq) -> Result<Vec<Notified>, ReadError> {
        self.list(NOTIFIED, [to_sql(after.0), to_sql(to.0)], |row| {
            Ok(Notified {
                direction: reader_rows::direction(row, 0)?,
                method: row.get(1)?,
                count: number(row, 2)?,
            })
        })
    }

    /// The places of the newest `limit` results of a method whose requests have no name, such as
    /// `tools/list`, up to the frame `until`.
    pub fn answers_of(
        &self,
        method: &str,
        until: Option<Seq>,
        limit: u32,
    ) -> Result<Vec<(Seq, u32)>, ReadError> {
        let answers = "SELECT response, response_part FROM exchange
            WHERE method = ?1 AND name IS NULL AND status = 'ok' AND response <= ?2
                AND id <= (SELECT id FROM exchange WHERE request <= ?2 ORDER BY request DESC LIMIT 1)
            ORDER BY id DESC LIMIT ?3";
        let until = to_sql(until.map_or(u64::MAX, |until| until.0));
        self.list(answers, (method, until, limit), |row| {
            Ok((Seq(number(row, 0)?), row.get(1)?))
        })
    }

    /// When the exchange at `key` took place; `None` if there is none.
    pub fn times(&self, key: ItemKey) -> Result<Option<Times>, ReadError> {
        self.one(TIMES, (to_sql(key.seq.0), key.nth), |row| {
            let status: Box<str> = row.get(2)?;
            let method: Box<str> = row.get(3)?;
            Ok(Times {
                from: moment(row.get(0)?),
                to: row.get::<_, Option<i64>>(1)?.map(moment),
                failed: Status::parse(&status).is_some_and(|it| it.is_failure_of(&method)),
            })
        })
    }

    /// When the next `limit` exchanges after `after` began.
    pub fn beginnings(
        &self,
        after: ExchangeId,
        limit: u32,
    ) -> Result<Vec<(ExchangeId, Moment)>, ReadError> {
        let next = "SELECT id, t_request FROM exchange WHERE id > ?1 ORDER BY id LIMIT ?2";
        self.list(next, (to_sql(after.0), limit), |row| {
            Ok((ExchangeId(number(row, 0)?), moment(row.get(1)?)))
        })
    }

    /// The last exchange whose request is in the frame `seq` or before; 0 if there is none.
    pub fn exchange_before(&self, seq: Seq) -> Result<ExchangeId, ReadError> {
        let before = "SELECT id FROM exchange WHERE request <= ?1
            ORDER BY request DESC, request_part DESC LIMIT 1";
        Ok(ExchangeId(self.number(before, [to_sql(seq.0)])?))
    }

    /// Reads progress and questions of `exchange`: of each kind the first `limit`.
    pub fn meanwhile(&self, exchange: &Exchange, limit: u32) -> Result<Meanwhile, ReadError> {
        let params = (to_sql(exchange.id.0), limit);
        let progress = match exchange.progress_count {
            0 => Vec::new(),
            _ => self.list(PROGRESS, params, |row| row.get(0).map(moment))?,
        };
        let asked = self.list(ASKED, params, |row| {
            let to = row.get::<_, Option<i64>>(1)?;
            Ok((moment(row.get(0)?), to.map(moment)))
        })?;
        Ok(Meanwhile { progress, asked })
    }
}

// A recording as it is gone through again, from its beginning: what one side asks, and how much
// there is of it.

impl Recording {
    /// The next `limit` requests of the server after `after`.
    pub fn questions(&self, after: ExchangeId, limit: u32) -> Result<Vec<Exchange>, ReadError> {
        let of_server = "WHERE e.id > ?1 AND e.direction = 's2c' ORDER BY e.id LIMIT ?2";
        self.rows(of_server, (to_sql(after.0), limit))
    }

    /// The next `limit` exchanges of a method after `after`.
    pub fn exchanges_with(
        &self,
        method: &str,
        after: ExchangeId,
        limit: u32,
    ) -> Result<Vec<Exchange>, ReadError> {
        let of_method = "WHERE e.method = ?1 AND e.id > ?2 ORDER BY e.id LIMIT ?3";
        self.rows(of_method, (method, to_sql(after.0), limit))
    }

    /// Whether there is an exchange of a method with a tool, prompt or resource of this name.
    pub fn has_exchange_with(&self, method: &str, name: &str) -> Result<bool, ReadError> {
        let named = "SELECT 1 FROM exchange WHERE method = ?1 AND name = ?2 LIMIT 1";
        self.has(named, (method, name))
    }

    /// Counts the requests of one side up to the frame `until`; those of `conversation`, if one is given.
    pub fn requests(
        &self,
        from: Direction,
        until: Seq,
        conversation: Option<u32>,
    ) -> Result<u64, ReadError> {
        // In the order of the table, whatever indexes there are: to look each request up takes
        // longer.
        let sent = "SELECT count(*) FROM exchange WHERE direction = ?1 AND +request <= ?2
            AND (?3 IS NULL OR conversation = ?3)";
        self.number(sent, (from.as_str(), to_sql(until.0), conversation))
    }
}

// What one wants to know of a recording at a glance: who waits, what was lost, last words.
//
// Asked whenever a live recording grows, so every query is answered by an index or looks at a
// bounded number of rows.

/// Findings whose severity is counted at once: more of them would hold up whoever follows.
const COUNTED: u64 = 50_000;

const LAST_LINES: &str = "SELECT substr(f.raw, 1, 4096), l.frame FROM line l
    JOIN frame f ON f.seq = l.frame
    WHERE l.stream = ?1 ORDER BY l.frame DESC LIMIT ?2";
const SEVERITIES: &str = "SELECT severity, count(*) FROM finding
    WHERE id > ?1 AND id <= ?2 GROUP BY severity";

/// The number of findings of each severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Severities {
    pub errors: u64,
    pub warnings: u64,
    pub notes: u64,
    /// The number of the last finding that was counted.
    last: u64,
}

impl Recording {
    /// Counts the findings of each severity on from `before`, the counts so far: of
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
            Ok((row.get::<_, Box<str>>(0)?, reader_rows::number(row, 1)?))
        })?;
        for (severity, count) in counts {
            match &*severity {
                "error" => sum.errors += count,
                "warning" => sum.warnings += count,
                _ => sum.notes += count,
            }
        }
        sum.last = to;
        Ok(sum)
    }

    /// The first `limit` exchanges of a status other than `ok`, in order.
    pub fn first_of(&self, status: Status, limit: u32) -> Result<Vec<Exchange>, ReadError> {
        let first = "WHERE e.id IN (SELECT id FROM exchange INDEXED BY exchange_not_ok
            WHERE status <> 'ok' AND status = ?1 ORDER BY id LIMIT ?2) ORDER BY e.id";
        self.rows(first, (status.as_str(), limit))
    }

    /// The last `limit` exchanges of a status other than `ok`, in order.
    pub(super) fn last_of(&self, status: Status, limit: u32) -> Result<Vec<Exchange>, ReadError> {
        let last = "WHERE e.id IN (SELECT id FROM exchange INDEXED BY exchange_not_ok
            WHERE status <> 'ok' AND status = ?1 ORDER BY id DESC LIMIT ?2) ORDER BY e.id";
        self.rows(last, (status.as_str(), limit))
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
