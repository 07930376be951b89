//! The second stage: whether a row fits, where columns do not tell.

use super::item::{self, Detail};
use crate::indexer::COLLECT_LIMIT;
use crate::values::{last_frame, to_sql};
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::item::{Item, ItemKey, Lens, What};
use mcpreel_trace::query::ast::{Expr, Field, Query, Subject};
use mcpreel_trace::query::{Bodies, Context, Matcher};
use rusqlite::{Connection, MAIN_DB, OptionalExtension};
use std::borrow::Cow;
use std::io::Read;

const RAW: &str = "SELECT raw FROM frame WHERE seq = ?1";
const MESSAGE_BYTES: &str = "SELECT CASE WHEN m.start = 0 AND m.size = length(f.raw) THEN f.raw
    ELSE substr(f.raw, m.start + 1, m.size) END
    FROM message m JOIN frame f ON f.seq = m.frame WHERE m.frame = ?1 AND m.part = ?2";
/// What stands before a message in its frame: the bracket, where it is in a batch.
const IN_BATCH: &str = "SELECT m.part > 0 OR instr(substr(f.raw, 1, m.start), x'5b') > 0,
    m.start = 0 AND m.size > ?3
    FROM message m JOIN frame f ON f.seq = m.frame WHERE m.frame = ?1 AND m.part = ?2";
const WAITS: &str = "SELECT EXISTS (SELECT 1 FROM exchange WHERE parent = ?1
    AND request <= ?2 AND CASE WHEN ?2 < ?3 THEN coalesce(response > ?2, 1)
        AND coalesce(cancelled > ?2, 1) AND status <> 'given-up' ELSE status = 'open' END)";

/// White space that is looked through for the bracket of a batch that is too long to hold.
const LEADING: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct Judge {
    matcher: Matcher,
    detail: Detail,
    lens: Lens,
}

impl Judge {
    pub fn new(query: &Query, lens: Lens, context: Context) -> Self {
        let reads_text = query.expr.as_ref().is_some_and(reads_text);
        Self {
            matcher: Matcher::new(query, context),
            detail: if reads_text {
                Detail::Whole
            } else {
                Detail::WithoutSummary
            },
            lens,
        }
    }

    /// Whether the row at `key` fits, as it stood at `until`. An address without a row does not.
    pub fn fits(
        &self,
        conn: &Connection,
        key: ItemKey,
        until: Option<Seq>,
    ) -> rusqlite::Result<bool> {
        let until = item::effective(conn, until)?;
        let Some(item) = item::item(conn, self.lens, key, until, self.detail)? else {
            return Ok(false);
        };
        let mut bytes = Bytes {
            conn,
            item: &item,
            until,
            error: None,
        };
        let fits = self.matcher.fits(&item, &mut bytes);
        bytes.error.map_or(Ok(fits), Err)
    }
}

fn reads_text(expr: &Expr) -> bool {
    match expr {
        Expr::And(list) | Expr::Or(list) => list.iter().any(reads_text),
        Expr::Not(inner) => reads_text(inner),
        Expr::Text(_) => true,
        Expr::Has(subject) | Expr::Compare { subject, .. } => {
            *subject == Subject::Field(Field::Text)
        }
        Expr::Is(_) => false,
    }
}

/// What a row does not carry, read when it is asked for.
struct Bytes<'r> {
    conn: &'r Connection,
    item: &'r Item,
    until: Option<Seq>,
    /// The first thing that went wrong.
    error: Option<rusqlite::Error>,
}

impl Bytes<'_> {
    fn keep<T>(&mut self, result: rusqlite::Result<Option<T>>) -> Option<T> {
        result.unwrap_or_else(|error| {
            self.error.get_or_insert(error);
            None
        })
    }

    /// The bytes of the message at `part` of the frame `seq`.
    fn message(&mut self, (seq, part): (Seq, u32)) -> Option<Cow<'static, [u8]>> {
        let read = || {
            let mut statement = self.conn.prepare_cached(MESSAGE_BYTES)?;
            let bytes = statement.query_row((to_sql(seq.0), part), |row| row.get::<_, Vec<u8>>(0));
            bytes.optional()
        };
        let bytes = read();
        self.keep(bytes).map(Cow::Owned)
    }

    fn line(&mut self, seq: Seq) -> Option<Cow<'static, [u8]>> {
        let read = || {
            let mut statement = self.conn.prepare_cached(RAW)?;
            let bytes = statement.query_row([to_sql(seq.0)], |row| row.get::<_, Vec<u8>>(0));
            bytes.optional()
        };
        let bytes = read();
        self.keep(bytes).map(Cow::Owned)
    }
}

impl Bodies for Bytes<'_> {
    fn request(&mut self) -> Option<Cow<'_, [u8]>> {
        match &self.item.what {
            What::Exchange(exchange) => self.message(exchange.request),
            What::Message { record, .. } if record.kind == MessageKind::Response => None,
            What::Message { record, .. } => self.message((record.frame, record.part)),
            What::Line { head, .. } => self.line(head.seq),
            What::Event(_) => None,
        }
    }

    fn response(&mut self) -> Option<Cow<'_, [u8]>> {
        match &self.item.what {
            What::Exchange(exchange) => self.message(exchange.response?),
            What::Message { record, .. } if record.kind == MessageKind::Response => {
                self.message((record.frame, record.part))
            }
            What::Message { .. } | What::Line { .. } | What::Event(_) => None,
        }
    }

    fn in_batch(&mut self) -> bool {
        let (seq, part) = match &self.item.what {
            What::Exchange(exchange) => exchange.request,
            What::Message { record, .. } => (record.frame, record.part),
            What::Line { .. } | What::Event(_) => return false,
        };
        let is = in_batch(self.conn, seq, part);
        self.keep(is).unwrap_or(false)
    }

    fn waits_now(&mut self) -> bool {
        let Some(id) = self.item.exchange().map(|exchange| exchange.id) else {
            return false;
        };
        let waits = waits(self.conn, id, self.until);
        self.keep(waits.map(Some)).unwrap_or(false)
    }
}

fn in_batch(conn: &Connection, seq: Seq, part: u32) -> rusqlite::Result<Option<bool>> {
    let mut statement = conn.prepare_cached(IN_BATCH)?;
    let params = (to_sql(seq.0), part, to_sql(COLLECT_LIMIT));
    let found = statement
        .query_row(params, |row| Ok((row.get(0)?, row.get::<_, bool>(1)?)))
        .optional()?;
    match found {
        Some((false, true)) => begins_with_bracket(conn, seq).map(Some),
        Some((is, _)) => Ok(Some(is)),
        None => Ok(None),
    }
}

fn begins_with_bracket(conn: &Connection, seq: Seq) -> rusqlite::Result<bool> {
    let blob = conn.blob_open(MAIN_DB, c"frame", c"raw", to_sql(seq.0), true)?;
    let mut leading = Vec::new();
    let read = blob.take(LEADING as u64).read_to_end(&mut leading);
    read.map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    let text = leading.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&leading);
    Ok(text.trim_ascii_start().first() == Some(&b'['))
}

fn waits(conn: &Connection, id: ExchangeId, until: Option<Seq>) -> rusqlite::Result<bool> {
    let mut statement = conn.prepare_cached(WAITS)?;
    statement.query_row((to_sql(id.0), last_frame(until), i64::MAX), |row| {
        row.get(0)
    })
}
