//! What statistics and the timeline are made of: exchanges without what they say, when they took
//! place, and what was notified. Read in pieces, so that nobody waits for a whole recording.

use super::reader::rows::{self, number};
use super::reader::{ReadError, Recording};
use super::values::{self, moment, to_sql};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::ItemKey;
use mcpreel_wire::message::Direction;

/// How long a request was open that was given up nobody knows: it ends where it begins.
macro_rules! t_end {
    () => {
        "CASE status WHEN 'given-up' THEN t_request ELSE t_response_last END"
    };
}

const NOTIFIED: &str = "SELECT direction, coalesce(method, ''), count(*) FROM message
    WHERE frame > ?1 AND frame <= ?2 AND kind = 'notification' GROUP BY 1, 2";
const ANSWERS: &str = "SELECT response, response_part, name FROM exchange
    WHERE method = ?1 AND status = 'ok' AND response <= ?2 ORDER BY id DESC LIMIT ?3";
const TIMES: &str = concat!(
    "SELECT t_request, ",
    t_end!(),
    ", status, method FROM exchange WHERE request = ?1 AND request_part = ?2"
);
const BEGINNINGS: &str = "SELECT id, t_request FROM exchange
    WHERE id > ?1 ORDER BY id LIMIT ?2";
const BEFORE: &str = "SELECT id FROM exchange WHERE request <= ?1
    ORDER BY request DESC, request_part DESC LIMIT 1";
const PROGRESS: &str = "SELECT f.t_last, m.frame FROM message m JOIN frame f ON f.seq = m.frame
    WHERE m.exchange = ?1 AND m.method = 'notifications/progress'
    ORDER BY m.frame LIMIT ?2";
const ASKED: &str = concat!(
    "SELECT t_request, ",
    t_end!(),
    " FROM exchange WHERE parent = ?1 ORDER BY id LIMIT ?2"
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
    /// with a result, up to the frame `until`.
    pub fn answers_of(
        &self,
        method: &str,
        until: Option<Seq>,
        limit: u32,
    ) -> Result<Vec<(Seq, u32)>, ReadError> {
        let until = to_sql(until.map_or(u64::MAX, |until| until.0));
        self.list(ANSWERS, (method, until, limit), |row| {
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
        self.list(BEGINNINGS, (to_sql(after.0), limit), |row| {
            Ok((ExchangeId(number(row, 0)?), moment(row.get(1)?)))
        })
    }

    /// The last exchange whose request is in the frame `seq` or before; 0 if there is none.
    pub fn exchange_before(&self, seq: Seq) -> Result<ExchangeId, ReadError> {
        let found = self.one(BEFORE, [to_sql(seq.0)], |row| number(row, 0))?;
        Ok(ExchangeId(found.unwrap_or(0)))
    }

    /// What happened while `exchange` was open: of each kind the first `limit`.
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
