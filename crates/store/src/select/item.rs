//! Whole rows, for a viewport.

use super::scan::Filter;
use super::{Context, Question};
use crate::reader::reader_rows::{self, exchange_columns, message_columns};
use crate::reader::{ReadError, Recording};
use crate::schema::to_sql;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{Annotation, FindingNote, Item, ItemKey, Lens, What};
use rusqlite::{Connection, OptionalExtension, Params, Row};

const EXCHANGE_AT: &str = concat!(
    "SELECT ",
    exchange_columns!(),
    " WHERE e.request = ?1 AND e.request_part = ?2"
);
const EXCHANGE: &str = concat!("SELECT ", exchange_columns!(), " WHERE e.id = ?1");
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
    WHERE exchange = ?1 OR (exchange IS NULL AND frame IN (?2, ?3)) ORDER BY id";
/// What points at a message: at its frame, and not at another exchange in it.
const FINDINGS_OF_MESSAGE: &str = "SELECT rule, severity FROM finding
    WHERE frame = ?1 AND (exchange IS NULL OR ?2 IS NULL OR exchange = ?2) ORDER BY id";

impl Recording {
    /// The rows at `keys`, in their order, with findings and annotation. An address at which
    /// nothing stands is left out.
    pub fn items(&self, lens: Lens, keys: &[ItemKey]) -> Result<Vec<Item>, ReadError> {
        self.read(|conn| {
            let items = keys.iter().map(|&key| item(conn, lens, key));
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
        let filter = Filter::new(question, context);
        self.read(|conn| {
            filter.install(conn)?;
            let mut fitting = Vec::new();
            for &key in keys {
                let rows = filter.rows(conn, false, (key.seq.0, key.seq.0))?;
                fitting.extend(rows.iter().any(|hit| hit.key == key).then_some(key));
            }
            Ok(fitting)
        })
    }
}

fn item(conn: &Connection, lens: Lens, key: ItemKey) -> rusqlite::Result<Option<Item>> {
    let Some(what) = what(conn, lens, key)? else {
        return Ok(None);
    };
    let annotation = match what {
        What::Event(_) => None,
        _ => one(conn, ANNOTATION, [to_sql(key.seq.0)], annotation)?,
    };
    Ok(Some(Item {
        key,
        findings: findings(conn, key, &what)?,
        annotation,
        what,
    }))
}

/// What stands at `key`; `None` if nothing does.
fn what(conn: &Connection, lens: Lens, key: ItemKey) -> rusqlite::Result<Option<What>> {
    if let Some(id) = key.event_id() {
        let row = one(conn, EVENT, [to_sql(id)], reader_rows::event)?;
        return Ok(row.map(|row| What::Event(Box::new(row.event))));
    }
    let at = (to_sql(key.seq.0), key.nth);
    if lens == Lens::Exchanges
        && let Some(exchange) = one(conn, EXCHANGE_AT, at, reader_rows::exchange)?
    {
        return Ok(Some(What::Exchange(Box::new(exchange))));
    }
    let Some(head) = one(conn, HEAD, [at.0], reader_rows::frame_head)? else {
        return Ok(None);
    };
    let Some(row) = one(conn, MESSAGE, at, reader_rows::message)? else {
        let preview = preview(conn, key.seq)?.filter(|_| key.nth == 0);
        return Ok(preview.map(|preview| What::Line { head, preview }));
    };
    let exchange = match row.record.exchange {
        Some(id) => one(conn, EXCHANGE, [to_sql(id.0)], reader_rows::exchange)?,
        None => None,
    };
    Ok(Some(What::Message {
        record: Box::new(row.record),
        head,
        exchange: exchange.map(Box::new),
    }))
}

/// The first bytes of a line without a message; `None` if the frame is none.
fn preview(conn: &Connection, seq: Seq) -> rusqlite::Result<Option<Box<[u8]>>> {
    let params = (to_sql(seq.0), to_sql(Item::PREVIEW as u64));
    let preview = one(conn, PREVIEW, params, |row| row.get::<_, Vec<u8>>(0))?;
    Ok(preview.map(Into::into))
}

fn annotation(row: &Row<'_>) -> rusqlite::Result<Annotation> {
    Ok(Annotation {
        mark: row.get(0)?,
        note: row.get(1)?,
    })
}

fn one<T>(
    conn: &Connection,
    sql: &'static str,
    params: impl Params,
    convert: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    let mut statement = conn.prepare_cached(sql)?;
    statement.query_row(params, convert).optional()
}

/// The findings that point at the row `what`.
fn findings(conn: &Connection, key: ItemKey, what: &What) -> rusqlite::Result<Vec<FindingNote>> {
    let seq = to_sql(key.seq.0);
    let note = |row: &Row<'_>| {
        Ok(FindingNote {
            rule: row.get(0)?,
            severity: row.get(1)?,
        })
    };
    let exchange = match what {
        What::Exchange(exchange) => {
            let response = exchange.response.map(|(seq, _)| to_sql(seq.0));
            let mut statement = conn.prepare_cached(FINDINGS_OF_EXCHANGE)?;
            let params = (to_sql(exchange.id.0), seq, response);
            return statement.query_map(params, note)?.collect();
        }
        What::Message { record, .. } => record.exchange.map(|id| to_sql(id.0)),
        What::Line { .. } => None,
        What::Event(_) => return Ok(Vec::new()),
    };
    let mut statement = conn.prepare_cached(FINDINGS_OF_MESSAGE)?;
    statement.query_map((seq, exchange), note)?.collect()
}
