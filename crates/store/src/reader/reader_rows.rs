//! Rows of a recording as values.

use crate::schema::{from_sql, moment};
use compact_str::CompactString;
use mcpreel_lint::Finding;
use mcpreel_trace::correlator::{MessageKind, MessageRecord};
use mcpreel_trace::event::{Event, EventKind};
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_trace::frame::{Carried, Envelope, FrameHead, Seq, StreamId};
use mcpreel_wire::id::RequestId;
use mcpreel_wire::message::{Direction, Era};
use rusqlite::Row;
use rusqlite::types::{Type, ValueRef};
use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRow {
    /// The number in the recording, from 1.
    pub id: u64,
    pub event: Event,
}

#[derive(Clone, Debug)]
pub struct MessageRow {
    pub record: MessageRecord,
    pub span: Range<u64>,
}

#[derive(Clone, Debug)]
pub struct FindingRow {
    /// The number in the recording, from 1.
    pub id: u64,
    pub rule: Box<str>,
    pub severity: Box<str>,
    pub frame: Option<Seq>,
    pub exchange: Option<ExchangeId>,
    /// The path of members from the top of the message, not yet escaped.
    pub path: Option<Box<str>>,
    pub related: Vec<Seq>,
    pub detail: Box<str>,
}

impl From<Finding> for FindingRow {
    /// A finding that is not on record; its number is 0.
    fn from(finding: Finding) -> Self {
        Self {
            id: 0,
            rule: finding.rule.id.into(),
            severity: finding.severity.as_str().into(),
            frame: finding.frame,
            exchange: finding.exchange,
            path: finding.path,
            related: finding.related,
            detail: finding.detail.into(),
        }
    }
}

/// A value that a row of a table is.
pub trait Stored: Sized {
    /// The columns of a row in the order of [`Self::read`], and the tables in which they stand.
    const COLUMNS: &'static str;

    fn read(row: &Row<'_>) -> rusqlite::Result<Self>;
}

impl Stored for FrameHead {
    const COLUMNS: &'static str =
        r#"seq, stream, "offset", t_first, t_last, envelope, length(raw) FROM frame"#;

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        frame_of_size(row, number(row, 6)?)
    }
}

/// `seq, stream, offset, t_first, t_last, envelope`, and `raw` or its length.
pub fn frame<'r>(row: &'r Row<'_>) -> rusqlite::Result<(FrameHead, Option<&'r [u8]>)> {
    let raw = match row.get_ref(6)? {
        ValueRef::Blob(raw) => Some(raw),
        _ => None,
    };
    let size = raw.map_or_else(|| number(row, 6), |raw| Ok(raw.len() as u64))?;
    Ok((frame_of_size(row, size)?, raw))
}

fn frame_of_size(row: &Row<'_>, size: u64) -> rusqlite::Result<FrameHead> {
    Ok(FrameHead {
        seq: Seq(number(row, 0)?),
        stream: StreamId(row.get(1)?),
        offset: number(row, 2)?,
        t_first: moment(row.get(3)?),
        t_last: moment(row.get(4)?),
        size,
        carried: envelope(row, 5)?.map_or_else(Carried::default, |it| it.carried()),
    })
}

/// What a network transport wraps around a frame.
pub fn envelope(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<Envelope>> {
    let json = row.get_ref(at)?.as_str_or_null()?;
    Ok(json.and_then(|json| serde_json::from_str(json).ok()))
}

impl Stored for EventRow {
    const COLUMNS: &'static str = "id, t, after_seq, detail FROM event";

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let detail: String = row.get(3)?;
        // Only a newer version writes an event of a kind that this one does not know.
        let kind = serde_json::from_str(&detail).unwrap_or_else(|_| EventKind::Warning {
            message: format!("an event of an unknown kind: {detail}"),
        });
        let event = Event {
            t: moment(row.get(1)?),
            after_seq: Seq(number(row, 2)?),
            kind,
        };
        let id = number(row, 0)?;
        Ok(Self { id, event })
    }
}

impl Stored for FindingRow {
    const COLUMNS: &'static str =
        "id, rule, severity, frame, exchange, path, related, detail FROM finding";

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let related = row.get_ref(6)?.as_str_or_null()?;
        let related = related.and_then(|json| serde_json::from_str::<Vec<u64>>(json).ok());
        Ok(Self {
            id: number(row, 0)?,
            rule: row.get(1)?,
            severity: row.get(2)?,
            frame: optional(row, 3)?.map(Seq),
            exchange: optional(row, 4)?.map(ExchangeId),
            path: row.get(5)?,
            related: related.into_iter().flatten().map(Seq).collect(),
            detail: row.get(7)?,
        })
    }
}

/// The summary of a message, of which `m` stands for its row and `e` for that of its exchange: a
/// request without a summary of its own has that of the exchange, up to the answer.
macro_rules! summary_column {
    () => {
        "coalesce(m.summary, CASE WHEN e.response IS NOT NULL AND e.status <> 'ok'
            AND instr(e.summary, ' → ') > 0
            THEN substr(e.summary, 1, instr(e.summary, ' → ') - 1) ELSE e.summary END, '')"
    };
}
pub(crate) use summary_column;

impl Stored for MessageRow {
    const COLUMNS: &'static str = concat!(
        "m.frame, m.part, m.start, m.size, m.direction, m.kind, m.era, m.method, m.name,
        m.rpc_id, m.exchange, m.code, m.token, m.trace_id, m.task, m.subscription, m.conversation,
        m.http, ",
        summary_column!(),
        " FROM message m LEFT JOIN exchange e ON e.id = m.exchange"
    );

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let start = number(row, 2)?;
        let record = MessageRecord {
            frame: Seq(number(row, 0)?),
            part: row.get(1)?,
            direction: direction(row, 4)?,
            kind: word(row, 5, MessageKind::parse)?,
            era: era(row, 6)?,
            method: text(row, 7)?,
            name: text(row, 8)?,
            rpc_id: request_id(row, 9)?,
            exchange: optional(row, 10)?.map(ExchangeId),
            code: text(row, 11)?,
            token: request_id(row, 12)?,
            trace_id: text(row, 13)?,
            task: text(row, 14)?,
            subscription: request_id(row, 15)?,
            conversation: row.get(16)?,
            http: row.get(17)?,
            summary: row.get(18)?,
        };
        let span = start..start + number(row, 3)?;
        Ok(Self { record, span })
    }
}

impl Stored for Exchange {
    const COLUMNS: &'static str = "e.id, e.direction, e.era, e.method, e.name, e.rpc_id,
        e.request, e.request_part, e.response, e.response_part, e.t_request, e.t_response,
        e.t_response_last, e.waited, e.status, e.code, e.parent, e.chain, e.task, e.cancelled,
        e.progress_count, e.progress, e.request_size, e.response_size, e.summary,
        (SELECT t_last FROM frame WHERE seq = e.cancelled), e.conversation, e.http FROM exchange e";

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let status = word(row, 14, Status::parse)?;
        let time = |at| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(at)?.map(moment));
        Ok(Exchange {
            id: ExchangeId(number(row, 0)?),
            direction: direction(row, 1)?,
            era: era(row, 2)?,
            method: text(row, 3)?.unwrap_or_default(),
            name: text(row, 4)?,
            rpc_id: request_id(row, 5)?.unwrap_or_else(|| RequestId::damaged("null")),
            request: (Seq(number(row, 6)?), row.get(7)?),
            response: optional(row, 8)?.map(Seq).zip(row.get(9)?),
            t_request: moment(row.get(10)?),
            t_response: time(11)?,
            t_response_last: time(12)?,
            waited_ns: number(row, 13)?,
            status,
            code: text(row, 15)?,
            parent: optional(row, 16)?.map(ExchangeId),
            chain: optional(row, 17)?.map(ExchangeId),
            task: text(row, 18)?,
            cancelled: optional(row, 19)?.map(Seq),
            t_cancelled: time(25)?,
            conversation: row.get(26)?,
            http: row.get(27)?,
            progress_count: number(row, 20)?,
            progress: text(row, 21)?,
            request_size: number(row, 22)?,
            response_size: number(row, 23)?,
            summary: row.get(24)?,
        })
    }
}

pub fn number(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    row.get(at).map(from_sql)
}

pub fn optional(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<u64>> {
    Ok(row.get::<_, Option<i64>>(at)?.map(from_sql))
}

/// A text that is mostly a short one.
fn text(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<CompactString>> {
    Ok(row.get_ref(at)?.as_str_or_null()?.map(Into::into))
}

/// The value that a word stands for. An unknown word is damage.
pub fn word<T>(row: &Row<'_>, at: usize, parse: impl Fn(&str) -> Option<T>) -> rusqlite::Result<T> {
    let word = row.get_ref(at)?.as_str()?;
    parse(word).ok_or_else(|| {
        let error = format!("unknown word {word:?}");
        rusqlite::Error::FromSqlConversionFailure(at, Type::Text, error.into())
    })
}

pub fn direction(row: &Row<'_>, at: usize) -> rusqlite::Result<Direction> {
    word(row, at, |word| word.parse().ok())
}

fn era(row: &Row<'_>, at: usize) -> rusqlite::Result<Era> {
    word(row, at, |word| word.parse().ok())
}

fn request_id(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<RequestId>> {
    let json = row.get_ref(at)?.as_str_or_null()?;
    let read = |json| RequestId::from_json(json).unwrap_or_else(|| RequestId::damaged(json));
    Ok(json.map(read))
}
