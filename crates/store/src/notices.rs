//! Rows beside the exchanges, with their times: messages that are rows of their own, those
//! that belong to an exchange, and lines without a message; and how the messages of frames relate
//! to each other. Read in pages by key.

use super::reader::reader_rows::{MessageRow, direction, number, optional, summary_column, word};
use super::reader::{ReadError, Recording};
use super::schema::{moment, to_sql};
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

/// Messages that are rows of their own: the index `message_alone` has exactly these.
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
const LOGS_IN_EXCHANGES: &str = "SELECT 1 FROM message INDEXED BY message_alone
    WHERE (exchange IS NULL OR (kind = 'notification'
        AND method <> 'notifications/progress' AND method <> 'notifications/cancelled'))
      AND exchange IS NOT NULL LIMIT 1";
const LINES: &str = "SELECT l.frame, l.stream, (SELECT t_last FROM frame WHERE seq = l.frame),
        (SELECT length(raw) FROM frame WHERE seq = l.frame),
        (SELECT coalesce(substr(raw, 1, ?4), x'') FROM frame WHERE seq = l.frame)
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
    /// The summary for people, not yet escaped.
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
        let params = (to_sql(exchange.0), to_sql(last.0), limit);
        self.list(OF_EXCHANGE, params, notice)
    }

    pub fn notices_count(&self, exchange: ExchangeId, last: Seq) -> Result<u64, ReadError> {
        let all = "SELECT count(*) FROM message
            WHERE exchange = ?1 AND kind = 'notification' AND frame <= ?2";
        self.number(all, (to_sql(exchange.0), to_sql(last.0)))
    }

    /// Whether any exchange has notifications besides its progress and its cancel.
    pub fn has_logs_in_exchanges(&self) -> Result<bool, ReadError> {
        self.has(LOGS_IN_EXCHANGES, [])
    }

    /// Whether nothing is known of when anything was: whatever is on record stands at 0.
    pub fn is_untimed(&self) -> Result<bool, ReadError> {
        self.has("SELECT 1 FROM event WHERE kind = 'untimed' LIMIT 1", [])
    }

    /// Whether any message carries the context of a trace.
    pub fn is_traced(&self) -> Result<bool, ReadError> {
        let traced = "SELECT 1 FROM message WHERE trace_id IS NOT NULL LIMIT 1";
        self.has(traced, [])
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
        direction: direction(row, 2)?,
        kind: word(row, 3, MessageKind::parse)?,
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

// What stands beside the exchanges, for whoever tells all there is: messages that are not the
// request or the response of one, and frames without a message.

const NEXT_BESIDE: &str = "SELECT min(frame) FROM (
    SELECT (SELECT frame FROM message WHERE frame > ?1
        AND (exchange IS NULL OR kind IN ('notification', 'other')) ORDER BY frame LIMIT 1) AS frame
    UNION ALL SELECT (SELECT frame FROM line WHERE frame > ?1 ORDER BY frame LIMIT 1))";
/// Found by what has no message, not by the table `line`, which is derived later in a live
/// recording.
const BARE: &str =
    "SELECT seq, coalesce(substr(raw, 1, ?3), x'') FROM frame f WHERE seq > ?1 AND seq <= ?2
    AND NOT EXISTS (SELECT 1 FROM message m WHERE m.frame = f.seq) ORDER BY seq";

/// A frame, and the bytes that it begins with.
pub type Beginning = (Seq, Box<[u8]>);

impl Recording {
    /// The messages of the frames after `after` up to `last` that are not the request or
    /// the response of an exchange.
    pub fn messages_beside(&self, after: Seq, last: Seq) -> Result<Vec<MessageRow>, ReadError> {
        let beside = "WHERE m.frame > ?1 AND m.frame <= ?2
            AND (m.exchange IS NULL OR m.kind IN ('notification', 'other'))
            ORDER BY m.frame, m.part";
        self.rows(beside, (to_sql(after.0), to_sql(last.0)))
    }

    /// The first frame after `after`, in what is derived so far, that has a message which is not
    /// the request or the response of an exchange, or that has no message.
    pub fn next_beside(&self, after: Seq) -> Result<Option<Seq>, ReadError> {
        let next = self.one(NEXT_BESIDE, [to_sql(after.0)], |row| optional(row, 0))?;
        Ok(next.flatten().map(Seq))
    }

    /// The frames after `after` up to `last` without a message, with so many bytes of each.
    pub fn bare(&self, after: Seq, last: Seq, bytes: usize) -> Result<Vec<Beginning>, ReadError> {
        let range = (to_sql(after.0), to_sql(last.0), to_sql(bytes as u64));
        self.list(BARE, range, |row| Ok((Seq(number(row, 0)?), row.get(1)?)))
    }
}

// What the frames of a recording have to do with each other: what answers what, and what belongs
// to which exchange.

/// The request around a message is that of the exchange in which the other side asked it, else the
/// first of its chain of input rounds; of what is neither request nor response its own exchange's.
///
/// Methods longer than any that there is would make a page as large as their frames.
const LINKS: &str = "SELECT m.frame, m.kind,
        CASE WHEN octet_length(m.method) <= 256 THEN m.method END, e.request, a.request, m.part
    FROM message m LEFT JOIN exchange e ON e.id = m.exchange
    LEFT JOIN exchange a ON a.id = coalesce(e.parent, nullif(e.chain, e.id))
    WHERE m.frame > ?1 AND m.frame <= ?2 ORDER BY m.frame, m.part";
const FRAMES_OF_EXCHANGE: &str = "WITH chain(id) AS (
        SELECT ?1 UNION SELECT o.id FROM exchange e JOIN exchange o ON o.chain = e.chain
        WHERE e.id = ?1),
    whole(id) AS (SELECT id FROM chain
        UNION SELECT o.id FROM exchange o JOIN chain c ON o.parent = c.id)
    SELECT m.frame FROM message m JOIN whole w ON m.exchange = w.id";

/// The relations of a message to other frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub frame: Seq,
    /// Request, notification, response or none of them.
    pub kind: MessageKind,
    /// The method of a request or notification; none if longer than 256 bytes: it stands in the
    /// frame anyway.
    pub method: Option<Box<str>>,
    /// The frame of the request that a response answers.
    pub answers: Option<Seq>,
    /// The request around it: of a notification that which it belongs to, of a request the one
    /// during which the other side asked it, or the first round of its chain.
    pub within: Option<Seq>,
}

impl Recording {
    /// The relations of the frames after `after` up to `last` to other frames: of those that are one
    /// message, not those that are none, or several.
    pub fn links(&self, after: Seq, last: Seq) -> Result<Vec<Link>, ReadError> {
        let mut links: Vec<Link> = Vec::new();
        self.list(LINKS, (to_sql(after.0), to_sql(last.0)), |row| {
            let (link, part) = (link(row)?, row.get::<_, u32>(5)?);
            if part == 0 {
                links.push(link);
            } else {
                // A batch is as long as its frame.
                links.pop_if(|first| first.frame == link.frame);
            }
            Ok(())
        })?;
        Ok(links)
    }

    /// The frames of an exchange with all that belongs to it: progress, cancel, the other rounds of
    /// its chain, what the other side asked meanwhile. In no order, some perhaps twice.
    pub fn frames_of_exchange(&self, id: ExchangeId) -> Result<Vec<Seq>, ReadError> {
        self.list(FRAMES_OF_EXCHANGE, [to_sql(id.0)], |row| {
            number(row, 0).map(Seq)
        })
    }
}

fn link(row: &Row<'_>) -> rusqlite::Result<Link> {
    let kind = word(row, 1, MessageKind::parse)?;
    let request = optional(row, 3)?.map(Seq);
    let around = optional(row, 4)?.map(Seq);
    let (answers, within) = match kind {
        MessageKind::Request => (None, around),
        MessageKind::Response => (request, None),
        MessageKind::Notification | MessageKind::Other => (None, request),
    };
    Ok(Link {
        frame: Seq(number(row, 0)?),
        kind,
        method: row.get(2)?,
        answers,
        within,
    })
}
