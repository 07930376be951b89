//! Whole rows, for a viewport.

use super::judge::Judge;
use super::{Context, Question};
use crate::reader::rows::{self, exchange_columns, message_columns, number, summary_columns};
use crate::reader::{ReadError, Recording};
use crate::values::{last_frame, to_sql};
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::{FrameHead, Seq};
use mcpreel_trace::item::{Annotation, FindingNote, Item, ItemKey, Lens, What};
use rusqlite::{Connection, OptionalExtension, params};

const FRAMES: &str = "SELECT frames FROM recording";
const EXCHANGE_AT: &str = concat!(
    "SELECT ",
    exchange_columns!(),
    " WHERE e.request = ?1 AND e.request_part = ?2"
);
const LIGHT_EXCHANGE_AT: &str = concat!(
    "SELECT ",
    exchange_columns!(light),
    " WHERE e.request = ?1 AND e.request_part = ?2"
);
const LIGHT_EXCHANGE: &str = concat!("SELECT ", exchange_columns!(light), " WHERE e.id = ?1");
const EXCHANGE: &str = concat!("SELECT ", exchange_columns!(), " WHERE e.id = ?1");
const LIGHT_MESSAGE: &str = concat!(
    "SELECT ",
    message_columns!(light),
    " WHERE m.frame = ?1 AND m.part = ?2"
);
const MESSAGE: &str = concat!(
    "SELECT ",
    message_columns!(),
    " WHERE m.frame = ?1 AND m.part = ?2"
);
const HEAD: &str = r#"SELECT seq, stream, "offset", t_first, t_last, length(raw) FROM frame
    WHERE seq = ?1"#;
const PREVIEW: &str = "SELECT substr(f.raw, 1, ?2) FROM line l JOIN frame f ON f.seq = l.frame
    WHERE l.frame = ?1";
const EVENT: &str = "SELECT id, t, after_seq, detail FROM event WHERE id = ?1";
const ANNOTATION: &str = "SELECT mark, note FROM annotation WHERE frame = ?1";
/// What points at an exchange: at it, or at one of its frames as a whole.
const FINDINGS_OF_EXCHANGE: &str = "SELECT rule, severity FROM finding
    WHERE (exchange = ?1 OR (exchange IS NULL AND frame IN (?2, ?3)))
    AND coalesce(frame, 0) <= ?4 ORDER BY id";
/// What points at a message: at its frame, and not at another exchange in it.
const FINDINGS_OF_MESSAGE: &str = "SELECT rule, severity FROM finding
    WHERE frame = ?1 AND (exchange IS NULL OR ?2 IS NULL OR exchange = ?2) ORDER BY id";

impl Recording {
    /// The rows at `keys`, in their order, whole: with findings and annotation. An address at
    /// which nothing stands is left out. With `until` they are as they stood when that was the
    /// last frame.
    pub fn items(
        &self,
        lens: Lens,
        keys: &[ItemKey],
        until: Option<Seq>,
    ) -> Result<Vec<Item>, ReadError> {
        self.read(|conn| {
            let until = effective(conn, until)?;
            let items = keys
                .iter()
                .map(|&key| item(conn, lens, key, until, Detail::Whole));
            items.filter_map(Result::transpose).collect()
        })
    }

    /// Which of the rows at `keys` fit `question`, in the order of `keys`: for rows that have
    /// changed.
    pub fn fitting(
        &self,
        question: &Question,
        context: Context,
        keys: &[ItemKey],
    ) -> Result<Vec<ItemKey>, ReadError> {
        let judge = Judge::new(&question.query, question.lens, context);
        let mut fitting = Vec::new();
        for &key in keys {
            if self.read(|conn| judge.fits(conn, key, question.until))? {
                fitting.push(key);
            }
        }
        Ok(fitting)
    }
}

/// `until`, unless it is the end: what happened after the last frame is in no frame.
pub(super) fn effective(conn: &Connection, until: Option<Seq>) -> rusqlite::Result<Option<Seq>> {
    let Some(until) = until else {
        return Ok(None);
    };
    let mut statement = conn.prepare_cached(FRAMES)?;
    let last = statement.query_row([], |row| number(row, 0))?;
    Ok((until.0 < last).then_some(until))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    Whole,
    /// All but its summary, for which its bytes would have to be read.
    WithoutSummary,
}

/// The row at `key` as it stood at `until`, which is [`effective`].
pub(super) fn item(
    conn: &Connection,
    lens: Lens,
    key: ItemKey,
    until: Option<Seq>,
    detail: Detail,
) -> rusqlite::Result<Option<Item>> {
    if until.is_some_and(|until| key.seq > until) {
        return Ok(None);
    }
    let Some(what) = what(conn, lens, key, until, detail)? else {
        return Ok(None);
    };
    let is_event = matches!(what, What::Event(_));
    Ok(Some(Item {
        key,
        findings: findings(conn, key, &what, until)?,
        annotation: if is_event {
            None
        } else {
            annotation(conn, key.seq)?
        },
        what,
    }))
}

/// What stands at `key`; `None` if nothing does.
fn what(
    conn: &Connection,
    lens: Lens,
    key: ItemKey,
    until: Option<Seq>,
    detail: Detail,
) -> rusqlite::Result<Option<What>> {
    if let Some(id) = key.event_id() {
        let mut statement = conn.prepare_cached(EVENT)?;
        let row = statement.query_row([to_sql(id)], rows::event).optional()?;
        return Ok(row.map(|row| What::Event(Box::new(row.event))));
    }
    let at = (to_sql(key.seq.0), key.nth);
    if lens == Lens::Exchanges {
        let exchange = match detail {
            Detail::Whole => conn
                .prepare_cached(EXCHANGE_AT)?
                .query_row(at, |row| rows::exchange_at(row, until)),
            Detail::WithoutSummary => conn
                .prepare_cached(LIGHT_EXCHANGE_AT)?
                .query_row(at, |row| rows::light_at(row, until)),
        };
        if let Some(exchange) = exchange.optional()? {
            return Ok(Some(What::Exchange(Box::new(exchange))));
        }
    }
    let Some(head) = head(conn, key.seq)? else {
        return Ok(None);
    };
    let mut statement = conn.prepare_cached(match detail {
        Detail::Whole => MESSAGE,
        Detail::WithoutSummary => LIGHT_MESSAGE,
    })?;
    let Some(row) = statement.query_row(at, rows::message).optional()? else {
        let preview = preview(conn, key.seq)?.filter(|_| key.nth == 0);
        return Ok(preview.map(|preview| What::Line { head, preview }));
    };
    let exchange = row.record.exchange;
    let exchange = exchange.map(|id| self::exchange(conn, id, until, detail));
    Ok(Some(What::Message {
        record: Box::new(row.record),
        head,
        exchange: exchange.transpose()?.flatten().map(Box::new),
    }))
}

/// The first bytes of a line without a message; `None` if the frame is none.
fn preview(conn: &Connection, seq: Seq) -> rusqlite::Result<Option<Box<[u8]>>> {
    let mut statement = conn.prepare_cached(PREVIEW)?;
    let params = (to_sql(seq.0), to_sql(Item::PREVIEW as u64));
    let preview = statement.query_row(params, |row| row.get::<_, Vec<u8>>(0));
    Ok(preview.optional()?.map(Into::into))
}

fn head(conn: &Connection, seq: Seq) -> rusqlite::Result<Option<FrameHead>> {
    let mut statement = conn.prepare_cached(HEAD)?;
    let head = statement.query_row([to_sql(seq.0)], rows::frame_head);
    head.optional()
}

fn exchange(
    conn: &Connection,
    id: ExchangeId,
    until: Option<Seq>,
    detail: Detail,
) -> rusqlite::Result<Option<Exchange>> {
    let exchange = match detail {
        Detail::Whole => conn
            .prepare_cached(EXCHANGE)?
            .query_row([to_sql(id.0)], |row| rows::exchange_at(row, until)),
        Detail::WithoutSummary => conn
            .prepare_cached(LIGHT_EXCHANGE)?
            .query_row([to_sql(id.0)], |row| rows::light_at(row, until)),
    };
    exchange.optional()
}

fn annotation(conn: &Connection, seq: Seq) -> rusqlite::Result<Option<Annotation>> {
    let mut statement = conn.prepare_cached(ANNOTATION)?;
    let annotation = statement.query_row([to_sql(seq.0)], |row| {
        Ok(Annotation {
            mark: row.get(0)?,
            note: row.get(1)?,
        })
    });
    annotation.optional()
}

/// The findings that point at the row `what`, and were there at `until`.
fn findings(
    conn: &Connection,
    key: ItemKey,
    what: &What,
    until: Option<Seq>,
) -> rusqlite::Result<Vec<FindingNote>> {
    let seq = to_sql(key.seq.0);
    let note = |row: &rusqlite::Row<'_>| {
        Ok(FindingNote {
            rule: row.get(0)?,
            severity: row.get(1)?,
        })
    };
    match what {
        What::Exchange(exchange) => {
            let id = to_sql(exchange.id.0);
            let response = exchange.response.map(|(seq, _)| to_sql(seq.0));
            let mut statement = conn.prepare_cached(FINDINGS_OF_EXCHANGE)?;
            statement
                .query_map(params![id, seq, response, last_frame(until)], note)?
                .collect()
        }
        What::Message { record, .. } => {
            let id = record.exchange.map(|id| to_sql(id.0));
            let mut statement = conn.prepare_cached(FINDINGS_OF_MESSAGE)?;
            statement.query_map(params![seq, id], note)?.collect()
        }
        What::Line { .. } => {
            let mut statement = conn.prepare_cached(FINDINGS_OF_MESSAGE)?;
            statement
                .query_map(params![seq, None::<i64>], note)?
                .collect()
        }
        What::Event(_) => Ok(Vec::new()),
    }
}
