//! What stands beside the exchanges, with its times: messages that are rows of their own, those
//! that belong to an exchange, and lines without a message. Read in pages by key.

use super::reader::rows::{self, number, optional, summary_column};
use super::reader::{ReadError, Recording};
use super::values::{self, moment, to_sql};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::{Seq, StreamId};
use mcpreel_wire::message::Direction;
use rusqlite::Row;

const PREVIEW: u32 = 512;

macro_rules! notice_columns {
    () => {
        concat!(
            "SELECT m.frame, m.part, m.direction, m.kind, m.method, m.name, m.exchange,
            m.trace_id IS NOT NULL, (SELECT t_first FROM frame WHERE seq = m.frame),
            (SELECT t_last FROM frame WHERE seq = m.frame), m.size, ",
            summary_column!()
        )
    };
}

/// What is a row of its own: the index `message_alone` has exactly these.
const ALONE: &str = concat!(
    notice_columns!(),
    " FROM message m INDEXED BY message_alone LEFT JOIN exchange e ON e.id = m.exchange
    WHERE (m.exchange IS NULL OR (m.kind = 'notification'
        AND m.method <> 'notifications/progress' AND m.method <> 'notifications/cancelled'))
      AND (m.frame, m.part) > (?1, ?2) AND m.frame <= ?3
    ORDER BY m.frame, m.part LIMIT ?4"
);
const OF_EXCHANGE: &str = concat!(
    notice_columns!(),
    " FROM message m LEFT JOIN exchange e ON e.id = m.exchange WHERE m.exchange = ?1 AND m.kind = 'notification' AND m.frame <= ?2
    ORDER BY m.frame, m.part LIMIT ?3"
);
const COUNT_OF_EXCHANGE: &str = "SELECT count(*) FROM message
    WHERE exchange = ?1 AND kind = 'notification' AND frame <= ?2";
const HAS_LOGS: &str = "SELECT EXISTS (SELECT 1 FROM message INDEXED BY message_alone
    WHERE (exchange IS NULL OR (kind = 'notification'
        AND method <> 'notifications/progress' AND method <> 'notifications/cancelled'))
      AND exchange IS NOT NULL)";
const IS_TRACED: &str = "SELECT EXISTS (SELECT 1 FROM message WHERE trace_id IS NOT NULL)";
const IS_UNTIMED: &str = "SELECT EXISTS (SELECT 1 FROM event WHERE kind = 'untimed')";
const LINES: &str = "SELECT l.frame, l.stream, (SELECT t_last FROM frame WHERE seq = l.frame),
        (SELECT length(raw) FROM frame WHERE seq = l.frame),
        (SELECT substr(raw, 1, ?4) FROM frame WHERE seq = l.frame)
    FROM line l WHERE l.frame > ?1 AND l.frame <= ?2 ORDER BY l.frame LIMIT ?3";

/// A message that is neither the request nor the response of an exchange, but for one that fits
/// nothing.
#[derive(Clone, Debug)]
pub struct Notice {
    pub seq: Seq,
    pub part: u32,
    pub direction: Direction,
    pub kind: MessageKind,
    pub method: Option<Box<str>>,
    pub name: Option<Box<str>>,
    /// The exchange that it belongs to.
    pub exchange: Option<ExchangeId>,
    /// Whether it carries a trace context.
    pub is_traced: bool,
    /// When the first byte of its frame came.
    pub t_first: Moment,
    pub t_last: Moment,
    pub size: u64,
    /// One line for people, not yet escaped.
    pub summary: Box<str>,
}

#[derive(Clone, Debug)]
pub struct Line {
    pub seq: Seq,
    /// The stream that it was read from.
    pub stream: StreamId,
    pub t: Moment,
    pub size: u64,
    pub preview: Box<[u8]>,
}

impl Recording {
    /// The next `limit` messages after the one at `after`, up to the frame `last`, that belong to
    /// no exchange, or say something else than how an exchange stands.
    pub fn notices(
        &self,
        after: (Seq, u32),
        last: Seq,
        limit: u32,
    ) -> Result<Vec<Notice>, ReadError> {
        let params = (to_sql(after.0.0), after.1, to_sql(last.0), limit);
        self.list(ALONE, params, notice)
    }

    /// The first `limit` notifications that belong to an exchange, up to the frame `last`.
    pub fn notices_of(
        &self,
        exchange: ExchangeId,
        last: Seq,
        limit: u32,
    ) -> Result<Vec<Notice>, ReadError> {
        self.list(
            OF_EXCHANGE,
            (to_sql(exchange.0), to_sql(last.0), limit),
            notice,
        )
    }

    pub fn notices_count(&self, exchange: ExchangeId, last: Seq) -> Result<u64, ReadError> {
        let params = (to_sql(exchange.0), to_sql(last.0));
        let count = self.one(COUNT_OF_EXCHANGE, params, |row| number(row, 0))?;
        Ok(count.unwrap_or(0))
    }

    /// Whether any exchange has notifications besides its progress and its cancel.
    pub fn has_logs_in_exchanges(&self) -> Result<bool, ReadError> {
        Ok(self.one(HAS_LOGS, [], |row| row.get(0))?.unwrap_or(false))
    }

    /// Whether nothing is known of when anything was: whatever is on record stands at 0.
    pub fn is_untimed(&self) -> Result<bool, ReadError> {
        Ok(self.one(IS_UNTIMED, [], |row| row.get(0))?.unwrap_or(false))
    }

    /// Whether any message carries the context of a trace.
    pub fn is_traced(&self) -> Result<bool, ReadError> {
        Ok(self.one(IS_TRACED, [], |row| row.get(0))?.unwrap_or(false))
    }

    /// The next `limit` frames without a message after `after`, up to the frame `last`.
    pub fn lines(&self, after: Seq, last: Seq, limit: u32) -> Result<Vec<Line>, ReadError> {
        let params = (to_sql(after.0), to_sql(last.0), limit, PREVIEW);
        self.list(LINES, params, |row| {
            Ok(Line {
                seq: Seq(number(row, 0)?),
                stream: StreamId(row.get(1)?),
                t: moment(row.get(2)?),
                size: number(row, 3)?,
                preview: row.get::<_, Vec<u8>>(4)?.into_boxed_slice(),
            })
        })
    }
}

fn notice(row: &Row<'_>) -> rusqlite::Result<Notice> {
    Ok(Notice {
        seq: Seq(number(row, 0)?),
        part: row.get(1)?,
        direction: rows::word(row, 2, values::direction)?,
        kind: rows::word(row, 3, values::message_kind)?,
        method: row.get(4)?,
        name: row.get(5)?,
        exchange: optional(row, 6)?.map(ExchangeId),
        is_traced: row.get(7)?,
        t_first: moment(row.get(8)?),
        t_last: moment(row.get(9)?),
        size: number(row, 10)?,
        summary: row.get(11)?,
    })
}
