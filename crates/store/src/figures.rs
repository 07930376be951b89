//! What statistics and the timeline are made of: exchanges without what they say, when they took
//! place, and what was notified. Read in pieces, so that nobody waits for a whole recording.

use super::reader::rows::{self, exchange_columns, number, optional};
use super::reader::{ReadError, Recording};
use super::values::{self, from_sql, last_frame, moment, to_sql};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::ItemKey;
use mcpreel_wire::message::Direction;
use rusqlite::{OptionalExtension, Row, params};

/// How long a request was open that was given up nobody knows: it ends where it begins.
macro_rules! t_end {
    () => {
        "CASE status WHEN 'given-up' THEN t_request ELSE t_response_last END"
    };
}

const LIGHT: &str = concat!(
    "SELECT ",
    exchange_columns!(light),
    " WHERE e.id > ?1 AND e.request <= ?2 ORDER BY e.id LIMIT ?3"
);
const LIGHT_ONE: &str = concat!("SELECT ", exchange_columns!(light), " WHERE e.id = ?1");
const LIGHT_AT: &str = concat!(
    "SELECT ",
    exchange_columns!(light),
    " WHERE e.request = ?1 AND e.request_part = ?2"
);
const NOTIFIED: &str = "SELECT direction, coalesce(method, ''), count(*) FROM message
    WHERE frame > ?1 AND frame <= ?2 AND kind = 'notification' GROUP BY 1, 2";
const ANSWERS: &str = "SELECT response, response_part, name FROM exchange
    WHERE method = ?1 AND status = 'ok' AND response <= ?2 ORDER BY id DESC LIMIT ?3";
const TIMES: &str = concat!(
    "SELECT t_request, ",
    t_end!(),
    ", response, status, method FROM exchange WHERE request = ?1 AND request_part = ?2"
);
const BEGINNINGS: &str = "SELECT id, t_request FROM exchange
    WHERE id > ?1 AND request <= ?2 ORDER BY id LIMIT ?3";
const BEFORE: &str = "SELECT id FROM exchange WHERE request <= ?1
    ORDER BY request DESC, request_part DESC LIMIT 1";
const PROGRESS: &str = "SELECT f.t_last, m.frame FROM message m JOIN frame f ON f.seq = m.frame
    WHERE m.exchange = ?1 AND m.frame <= ?2 AND m.method = 'notifications/progress'
    ORDER BY m.frame LIMIT ?3";
const ASKED: &str = concat!(
    "SELECT t_request, ",
    t_end!(),
    ", response FROM exchange WHERE parent = ?1 AND request <= ?2 ORDER BY id LIMIT ?3"
);
const CANCELLED: &str = "SELECT t_last FROM frame WHERE seq = ?1";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notified {
    pub direction: Direction,
    pub method: Box<str>,
    pub count: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    pub from: Moment,
    /// When the response was complete, if it was; for a request that was given up, when it began.
    pub to: Option<Moment>,
    pub failed: bool,
}

/// What happened while an exchange was open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meanwhile {
    pub progress: Vec<Moment>,
    /// When the other side asked something, and was answered.
    pub asked: Vec<(Moment, Option<Moment>)>,
    pub cancelled: Option<Moment>,
}

impl Recording {
    /// The next `limit` exchanges after `after` with requests up to the frame `until`, as they
    /// stood then, without what their messages say.
    pub fn light_exchanges(
        &self,
        after: ExchangeId,
        until: Option<Seq>,
        limit: u32,
    ) -> Result<Vec<Exchange>, ReadError> {
        self.read(|conn| {
            let mut statement = conn.prepare_cached(LIGHT)?;
            let params = params![to_sql(after.0), last_frame(until), limit];
            let mut rows = statement.query(params)?;
            let mut exchanges = Vec::with_capacity(limit as usize);
            while let Some(row) = rows.next()? {
                exchanges.push(rows::light_at(row, until)?);
            }
            Ok(exchanges)
        })
    }

    /// The exchanges with these numbers, as they stood at `until`, without what their messages
    /// say.
    pub fn light_exchanges_of(
        &self,
        ids: &[ExchangeId],
        until: Option<Seq>,
    ) -> Result<Vec<Exchange>, ReadError> {
        self.read(|conn| {
            let mut statement = conn.prepare_cached(LIGHT_ONE)?;
            let mut exchanges = Vec::with_capacity(ids.len());
            for id in ids {
                let row = statement.query_row([to_sql(id.0)], |row| rows::light_at(row, until));
                exchanges.extend(row.optional()?);
            }
            Ok(exchanges)
        })
    }

    /// The exchanges at `keys`, as they stood at `until`, without what their messages say.
    pub fn light_exchanges_at(
        &self,
        keys: &[ItemKey],
        until: Option<Seq>,
    ) -> Result<Vec<Exchange>, ReadError> {
        self.read(|conn| {
            let mut statement = conn.prepare_cached(LIGHT_AT)?;
            let mut exchanges = Vec::with_capacity(keys.len());
            for key in keys {
                let row = statement.query_row((to_sql(key.seq.0), key.nth), |row| {
                    rows::light_at(row, until)
                });
                exchanges.extend(row.optional()?);
            }
            Ok(exchanges)
        })
    }

    /// How many notifications of each method are in the frames after `after` up to `to`.
    pub fn notified(&self, after: Seq, to: Seq) -> Result<Vec<Notified>, ReadError> {
        self.list(NOTIFIED, [to_sql(after.0), to_sql(to.0)], |row| {
            Ok(Notified {
                direction: rows::word(row, 0, values::direction)?,
                method: row.get(1)?,
                count: number(row, 2)?,
            })
        })
    }

    /// Where the answers of the newest `limit` exchanges with this method are that were answered
    /// with a result up to the frame `until`.
    pub fn answers_of(
        &self,
        method: &str,
        until: Option<Seq>,
        limit: u32,
    ) -> Result<Vec<(Seq, u32)>, ReadError> {
        self.list(ANSWERS, params![method, last_frame(until), limit], |row| {
            Ok((Seq(number(row, 0)?), row.get(1)?))
        })
    }

    /// When the exchange at `key` took place, as known at `until`; `None` if there is none.
    pub fn times(&self, key: ItemKey, until: Option<Seq>) -> Result<Option<Times>, ReadError> {
        self.one(TIMES, (to_sql(key.seq.0), key.nth), |row| {
            let answered = is_answered(row, 2, until)?;
            let status: Box<str> = row.get(3)?;
            let method: Box<str> = row.get(4)?;
            let failed = Status::parse(&status).is_some_and(|it| it.is_failure_of(&method));
            Ok(Times {
                from: moment(row.get(0)?),
                to: moment_if(row, 1, answered)?,
                failed: failed && answered,
            })
        })
    }

    /// When the next `limit` exchanges after `after` began, with requests up to the frame `until`.
    pub fn beginnings(
        &self,
        after: ExchangeId,
        until: Option<Seq>,
        limit: u32,
    ) -> Result<Vec<(ExchangeId, Moment)>, ReadError> {
        let params = params![to_sql(after.0), last_frame(until), limit];
        self.list(BEGINNINGS, params, |row| {
            Ok((ExchangeId(number(row, 0)?), moment(row.get(1)?)))
        })
    }

    /// The last exchange whose request is in the frame `seq` or before; 0 if there is none.
    pub fn exchange_before(&self, seq: Seq) -> Result<ExchangeId, ReadError> {
        let found = self.one(BEFORE, [to_sql(seq.0)], |row| number(row, 0))?;
        Ok(ExchangeId(found.unwrap_or(0)))
    }

    /// What happened while `exchange` was open, up to the frame `until`: of each kind the first
    /// `limit`.
    pub fn meanwhile(
        &self,
        exchange: &Exchange,
        until: Option<Seq>,
        limit: u32,
    ) -> Result<Meanwhile, ReadError> {
        let id = to_sql(exchange.id.0);
        let progress = match exchange.progress_count {
            0 if until.is_none() => Vec::new(),
            _ => self.list(PROGRESS, (id, last_frame(until), limit), |row| {
                row.get(0).map(moment)
            })?,
        };
        let asked = self.read(|conn| {
            let mut statement = conn.prepare_cached(ASKED)?;
            let rows = statement.query_map((id, last_frame(until), limit), |row| {
                let answered = is_answered(row, 2, until)?;
                Ok((moment(row.get(0)?), moment_if(row, 1, answered)?))
            })?;
            rows.collect()
        })?;
        let cancelled = match exchange.cancelled {
            Some(seq) => self.one(CANCELLED, [to_sql(seq.0)], |row| row.get(0).map(moment))?,
            None => None,
        };
        Ok(Meanwhile {
            progress,
            asked,
            cancelled,
        })
    }
}

/// Whether the response whose frame is in the column `at` had come at `until`.
fn is_answered(row: &Row<'_>, at: usize, until: Option<Seq>) -> rusqlite::Result<bool> {
    let response = optional(row, at)?;
    Ok(response.is_none_or(|seq| until.is_none_or(|until| seq <= until.0)))
}

fn moment_if(row: &Row<'_>, at: usize, answered: bool) -> rusqlite::Result<Option<Moment>> {
    let moment = row.get::<_, Option<i64>>(at)?.map(from_sql).map(Moment);
    Ok(moment.filter(|_| answered))
}
