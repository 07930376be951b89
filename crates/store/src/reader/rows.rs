//! Rows of a recording as values.

mod column;
mod exchange;
mod unsaid;

pub use column::{number, optional, word};
pub(crate) use exchange::exchange_columns;
use exchange::unsaid;
pub use exchange::{exchange, exchange_at, light, light_at};
pub use unsaid::{Unsaid, UnsaidPage};

use crate::values::{self, moment};
use column::{direction, era, request_id};
use mcpreel_lint::Finding;
use mcpreel_trace::correlator::MessageRecord;
use mcpreel_trace::event::{Event, EventKind};
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};
use mcpreel_wire::message::{Classifier, classify_cut};
use rusqlite::Row;
use rusqlite::types::ValueRef;
use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRow {
    /// Its number in the recording, from 1.
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
    /// Its number in the recording, from 1.
    pub id: u64,
    pub rule: Box<str>,
    pub severity: Box<str>,
    pub frame: Option<Seq>,
    pub exchange: Option<ExchangeId>,
    /// Where in the message: the path of members from its top, not yet escaped.
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

/// `seq, stream, offset, t_first, t_last, length(raw)`.
pub fn frame_head(row: &Row<'_>) -> rusqlite::Result<FrameHead> {
    frame_of_size(row, number(row, 5)?)
}

/// `seq, stream, offset, t_first, t_last`, and `raw` or its length.
pub fn frame<'r>(row: &'r Row<'_>) -> rusqlite::Result<(FrameHead, Option<&'r [u8]>)> {
    let raw = match row.get_ref(5)? {
        ValueRef::Blob(raw) => Some(raw),
        _ => None,
    };
    let size = raw.map_or_else(|| number(row, 5), |raw| Ok(raw.len() as u64))?;
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
    })
}

pub fn event(row: &Row<'_>) -> rusqlite::Result<EventRow> {
    let detail: String = row.get(3)?;
    Ok(EventRow {
        id: number(row, 0)?,
        event: Event {
            t: moment(row.get(1)?),
            after_seq: Seq(number(row, 2)?),
            kind: event_kind(&detail),
        },
    })
}

/// `id, rule, severity, frame, exchange, path, related, detail`.
pub fn finding(row: &Row<'_>) -> rusqlite::Result<FindingRow> {
    Ok(FindingRow {
        id: number(row, 0)?,
        rule: row.get(1)?,
        severity: row.get(2)?,
        frame: optional(row, 3)?.map(Seq),
        exchange: optional(row, 4)?.map(ExchangeId),
        path: row.get(5)?,
        related: related(row.get_ref(6)?.as_str_or_null()?),
        detail: row.get(7)?,
    })
}

/// Frames as a JSON array; none where it cannot be read.
fn related(json: Option<&str>) -> Vec<Seq> {
    let numbers = json.and_then(|json| serde_json::from_str::<Vec<u64>>(json).ok());
    numbers.into_iter().flatten().map(Seq).collect()
}

/// The columns of [`summary`] for the table alias `$message`: short messages have none on record.
/// Where `$condition` does not hold it is not asked for.
macro_rules! summary_columns {
    ($message:literal) => {
        summary_columns!($message, "TRUE")
    };
    ($message:literal, $condition:literal) => {
        concat!(
            $message,
            ".summary, CASE WHEN ",
            $condition,
            " AND ",
            $message,
            ".summary IS NULL THEN (SELECT substr(raw, ",
            $message,
            ".start + 1, ",
            $message,
            ".size) FROM frame WHERE seq = ",
            $message,
            ".frame) END"
        )
    };
}
pub(crate) use summary_columns;

/// [`summary_columns`], of which the first is at `at`: the line of a message; `None` where there
/// is no message.
pub fn summary(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<Box<str>>> {
    let stored: Option<Box<str>> = row.get(at)?;
    if stored.is_some() {
        return Ok(stored);
    }
    let text = row.get_ref(at + 1)?.as_blob_or_null()?;
    Ok(text.and_then(summary_of))
}

/// The line of a message, of which perhaps only a part is on record.
pub fn summary_of(text: &[u8]) -> Option<Box<str>> {
    summary_by(&mut Classifier::default(), text)
}

/// The same, with memory that is used again.
fn summary_by(classifier: &mut Classifier, text: &[u8]) -> Option<Box<str>> {
    let whole = classifier.classify(text).messages.pop();
    let message = whole.or_else(|| classify_cut(text).messages.pop());
    message.map(|message| message.summary.into())
}

/// The columns of [`message`], in its order, and where they stand.
macro_rules! message_columns {
    () => {
        message_columns!(summary_columns!("m"))
    };
    // Without the bytes of the message: its summary is empty.
    (light) => {
        message_columns!("NULL, NULL")
    };
    ($summary:expr) => {
        concat!(
            "m.frame, m.part, m.start, m.size, m.direction, m.kind, coalesce(m.era, e.era),
            coalesce(m.method, e.method), CASE WHEN m.method IS NULL THEN e.name ELSE m.name END,
            m.rpc_id, m.exchange, m.code, m.token, m.trace_id, m.task, m.subscription, ",
            $summary,
            " FROM message m LEFT JOIN exchange e ON e.id = m.exchange"
        )
    };
}
pub(crate) use message_columns;

pub fn message(row: &Row<'_>) -> rusqlite::Result<MessageRow> {
    let start = number(row, 2)?;
    let record = MessageRecord {
        frame: Seq(number(row, 0)?),
        part: row.get(1)?,
        direction: direction(row, 4)?,
        kind: word(row, 5, values::message_kind)?,
        era: era(row, 6)?,
        method: row.get(7)?,
        name: row.get(8)?,
        rpc_id: request_id(row, 9)?,
        exchange: optional(row, 10)?.map(ExchangeId),
        code: row.get(11)?,
        token: request_id(row, 12)?,
        trace_id: row.get(13)?,
        task: row.get(14)?,
        subscription: request_id(row, 15)?,
        summary: summary(row, 16)?.unwrap_or_default(),
    };
    Ok(MessageRow {
        record,
        span: start..start + number(row, 3)?,
    })
}

/// The event that `detail` describes; one of a kind that this version does not know, which only
/// a newer one writes, becomes a warning that quotes it.
fn event_kind(detail: &str) -> EventKind {
    serde_json::from_str(detail).unwrap_or_else(|_| EventKind::Warning {
        message: format!("an event of an unknown kind: {detail}"),
    })
}
