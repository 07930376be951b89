//! The rows of a recording, through statements that are prepared once per transaction.

use crate::schema::to_sql;
use mcpreel_lint::Finding;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::{MessageKind, MessageRecord};
use mcpreel_trace::event::Event;
use mcpreel_trace::exchange::{Exchange, Status};
use mcpreel_trace::frame::FrameHead;
use mcpreel_trace::http::{End, HttpExchange};
use mcpreel_wire::id::RequestId;
use mcpreel_wire::mcp::summary;
use rusqlite::{CachedStatement, Connection, OptionalExtension, ToSql, params};
use std::ops::Range;

const INSERT_FRAME: &str = r#"INSERT INTO frame (seq, stream, "offset", t_first, t_last, raw, envelope)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"#;
const INSERT_EVENT: &str = "INSERT INTO event (id, t, after_seq, detail) VALUES (?1, ?2, ?3, ?4)";
const MESSAGE: &str = "frame, part, start, size, direction, kind, era, method, name, rpc_id,
    exchange, code, token, trace_id, task, subscription, summary, conversation, http";
const INSERT_LINE: &str = "INSERT INTO line (frame, stream, http) VALUES (?1, ?2, ?3)";
const INSERT_HTTP: &str =
    "INSERT OR REPLACE INTO http (id, connection, conversation, method, target,
    status, content_type, session, request, response, t_request, t_sent, t_head, t_first, t_last,
    ended, events, alone)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)";
const INSERT_FINDING: &str =
    "INSERT INTO finding (rule, severity, frame, exchange, path, related, detail)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
const STATUS_OF: &str = "SELECT status FROM exchange WHERE id = ?1";
const EXCHANGE: &str = "id, direction, era, method, name, rpc_id, request, request_part,
    t_request, request_size, conversation, http, response, response_part, t_response, t_response_last, waited, status,
    code, parent, chain, task, cancelled, progress_count, progress, response_size, summary";
/// The columns of an exchange that change, in the order of [`EXCHANGE`].
const UPDATE_EXCHANGE: &str = "UPDATE exchange SET response = ?2, response_part = ?3,
    t_response = ?4, t_response_last = ?5, waited = ?6, status = ?7, code = ?8, parent = ?9,
    chain = ?10, task = ?11, cancelled = ?12, progress_count = ?13, progress = ?14,
    response_size = ?15, summary = ?16 WHERE id = ?1";

/// Writes rows within a transaction of `conn`.
pub struct Writer<'c> {
    frame: CachedStatement<'c>,
    event: CachedStatement<'c>,
    messages: Lot<'c>,
    exchanges: Lot<'c>,
    exchange: CachedStatement<'c>,
    status: CachedStatement<'c>,
    finding: CachedStatement<'c>,
    line: CachedStatement<'c>,
    http: CachedStatement<'c>,
}

impl<'c> Writer<'c> {
    pub fn prepare(conn: &'c Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            frame: conn.prepare_cached(INSERT_FRAME)?,
            event: conn.prepare_cached(INSERT_EVENT)?,
            messages: Lot::prepare(conn, "message", MESSAGE)?,
            exchanges: Lot::prepare(conn, "exchange", EXCHANGE)?,
            exchange: conn.prepare_cached(UPDATE_EXCHANGE)?,
            status: conn.prepare_cached(STATUS_OF)?,
            finding: conn.prepare_cached(INSERT_FINDING)?,
            line: conn.prepare_cached(INSERT_LINE)?,
            http: conn.prepare_cached(INSERT_HTTP)?,
        })
    }

    /// A frame, whose bytes `raw` are, or the zeros in whose place they are written afterwards.
    pub fn frame(
        &mut self,
        head: &FrameHead,
        raw: &dyn ToSql,
        envelope: Option<&str>,
    ) -> rusqlite::Result<()> {
        self.frame.execute(params![
            to_sql(head.seq.0),
            head.stream.0,
            to_sql(head.offset),
            to_sql(head.t_first.0),
            to_sql(head.t_last.0),
            raw,
            envelope,
        ])?;
        Ok(())
    }

    pub fn event(&mut self, id: u64, event: &Event) -> rusqlite::Result<()> {
        let detail = serde_json::to_string(&event.kind)
            .map_err(|e| rusqlite::Error::ToSqlConversionFailure(e.into()))?;
        let (id, t) = (to_sql(id), to_sql(event.t.0));
        self.event
            .execute(params![id, t, to_sql(event.after_seq.0), detail])?;
        Ok(())
    }

    /// Messages, with where each stands in its frame.
    pub fn messages(
        &mut self,
        messages: &[MessageRecord],
        spans: &[Range<usize>],
    ) -> rusqlite::Result<()> {
        let rows = messages.iter().zip(spans);
        self.messages
            .insert(rows, |values, (message, span)| fill(values, message, span))
    }

    pub fn line(&mut self, head: &FrameHead) -> rusqlite::Result<()> {
        let http = head.carried.http;
        self.line
            .execute(params![to_sql(head.seq.0), head.stream.0, http])?;
        Ok(())
    }

    /// An HTTP exchange as it stands now.
    pub fn http(&mut self, http: &HttpExchange) -> rusqlite::Result<()> {
        let time = |t: Option<Moment>| t.map(|t| to_sql(t.0));
        self.http.execute(params![
            http.id,
            http.connection,
            http.conversation,
            http.method.as_str(),
            http.target.as_str(),
            http.status,
            http.content_type.as_deref(),
            http.session.as_deref(),
            to_sql(http.request.0),
            http.response.map(|seq| to_sql(seq.0)),
            to_sql(http.t_request.0),
            to_sql(http.t_sent.0),
            time(http.t_head),
            time(http.t_first),
            time(http.t_last),
            http.ended.map(End::as_str),
            to_sql(http.events),
            !http.has_messages,
        ])?;
        Ok(())
    }

    pub fn finding(&mut self, finding: &Finding) -> rusqlite::Result<()> {
        let numbers: Vec<_> = finding.related.iter().map(|seq| seq.0).collect();
        let related = serde_json::to_string(&numbers).unwrap_or_default();
        let related = Some(related).filter(|_| !numbers.is_empty());
        self.finding.execute(params![
            finding.rule.id,
            finding.severity.as_str(),
            finding.frame.map(|seq| to_sql(seq.0)),
            finding.exchange.map(|id| to_sql(id.0)),
            finding.path,
            related,
            finding.detail,
        ])?;
        Ok(())
    }

    /// The status of the exchange in the file.
    pub fn status_of(&mut self, exchange: &Exchange) -> rusqlite::Result<Option<Status>> {
        let word = self
            .status
            .query_row([to_sql(exchange.id.0)], |row| row.get::<_, String>(0))
            .optional()?;
        Ok(word.as_deref().and_then(Status::parse))
    }

    /// Exchanges that are not on record.
    pub fn new_exchanges(&mut self, exchanges: &[Exchange]) -> rusqlite::Result<()> {
        self.exchanges.insert(exchanges.iter(), |values, exchange| {
            fill_asked(values, exchange)?;
            fill_answered(values, exchange)
        })
    }

    /// Brings the row of the exchange up to date.
    pub fn changed_exchange(&mut self, exchange: &Exchange) -> rusqlite::Result<()> {
        let mut values = Values::of(&mut self.exchange);
        values.push(to_sql(exchange.id.0))?;
        fill_answered(&mut values, exchange)?;
        self.exchange.raw_execute()?;
        Ok(())
    }
}

fn fill(
    values: &mut Values<'_, '_>,
    message: &MessageRecord,
    span: &Range<usize>,
) -> rusqlite::Result<()> {
    values.push(to_sql(message.frame.0))?;
    values.push(message.part)?;
    values.push(to_sql(span.start as u64))?;
    values.push(to_sql(span.len() as u64))?;
    values.push(message.direction.as_str())?;
    values.push(message.kind.as_str())?;
    values.push(message.era.as_str())?;
    values.push(message.method.as_deref())?;
    values.push(message.name.as_deref())?;
    values.push(message.rpc_id.as_ref().map(RequestId::json))?;
    values.push(message.exchange.map(|id| to_sql(id.0)))?;
    values.push(message.code.as_deref())?;
    values.push(message.token.as_ref().map(RequestId::json))?;
    values.push(message.trace_id.as_deref())?;
    values.push(message.task.as_deref())?;
    values.push(message.subscription.as_ref().map(RequestId::json))?;
    // The line of most exchanges begins with that of their request, which is not kept twice.
    let is_paired = message.kind == MessageKind::Request && message.exchange.is_some();
    let method = message.method.as_deref().unwrap_or_default();
    let is_told = is_paired && !summary::tells_answer(method, true);
    values.push(Some(&*message.summary).filter(|_| !is_told))?;
    values.push(message.conversation)?;
    values.push(message.http)
}

/// Fills the columns that are known when a request is made.
fn fill_asked(values: &mut Values<'_, '_>, exchange: &Exchange) -> rusqlite::Result<()> {
    values.push(to_sql(exchange.id.0))?;
    values.push(exchange.direction.as_str())?;
    values.push(exchange.era.as_str())?;
    values.push(&*exchange.method)?;
    values.push(exchange.name.as_deref())?;
    values.push(exchange.rpc_id.json())?;
    values.push(to_sql(exchange.request.0.0))?;
    values.push(exchange.request.1)?;
    values.push(to_sql(exchange.t_request.0))?;
    values.push(to_sql(exchange.request_size))?;
    values.push(exchange.conversation)?;
    values.push(exchange.http)
}

fn fill_answered(values: &mut Values<'_, '_>, exchange: &Exchange) -> rusqlite::Result<()> {
    values.push(exchange.response.map(|(seq, _)| to_sql(seq.0)))?;
    values.push(exchange.response.map(|(_, part)| part))?;
    values.push(exchange.t_response.map(|t| to_sql(t.0)))?;
    values.push(exchange.t_response_last.map(|t| to_sql(t.0)))?;
    values.push(to_sql(exchange.waited_ns))?;
    values.push(exchange.status.as_str())?;
    values.push(exchange.code.as_deref())?;
    values.push(exchange.parent.map(|id| to_sql(id.0)))?;
    values.push(exchange.chain.map(|id| to_sql(id.0)))?;
    values.push(exchange.task.as_deref())?;
    values.push(exchange.cancelled.map(|seq| to_sql(seq.0)))?;
    values.push(to_sql(exchange.progress_count))?;
    values.push(exchange.progress.as_deref())?;
    values.push(to_sql(exchange.response_size))?;
    values.push(&*exchange.summary)
}

// Rows that go into one table together.
//
// A statement opens a cursor for the table and for each of its indices, which costs as much as a
// row does: one statement for several rows opens them once.

const TOGETHER: usize = 8;

pub(super) struct Lot<'c> {
    one: CachedStatement<'c>,
    together: CachedStatement<'c>,
}

impl<'c> Lot<'c> {
    /// For rows of `table` with these columns.
    pub fn prepare(conn: &'c Connection, table: &str, columns: &str) -> rusqlite::Result<Self> {
        let values = vec!["?"; columns.split(',').count()].join(", ");
        let insert = |rows: usize| {
            let rows = vec![format!("({values})"); rows].join(", ");
            // A row that cannot be written undoes the transaction, by whoever began it: that
            // SQLite remembers how to undo each statement would cost a copy of every page.
            conn.prepare_cached(&format!(
                "INSERT OR FAIL INTO {table} ({columns}) VALUES {rows}"
            ))
        };
        Ok(Self {
            one: insert(1)?,
            together: insert(TOGETHER)?,
        })
    }

    /// Inserts `rows`; `fill` gives the values of each, in the order of the columns.
    pub fn insert<T>(
        &mut self,
        mut rows: impl ExactSizeIterator<Item = T>,
        fill: impl Fn(&mut Values<'_, 'c>, T) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        while rows.len() > 0 {
            let (statement, count) = match rows.len() {
                TOGETHER.. => (&mut self.together, TOGETHER),
                _ => (&mut self.one, 1),
            };
            let mut values = Values::of(statement);
            for row in rows.by_ref().take(count) {
                fill(&mut values, row)?;
            }
            statement.raw_execute()?;
        }
        Ok(())
    }
}

/// The values of a statement, one after the other.
pub(super) struct Values<'s, 'c> {
    statement: &'s mut CachedStatement<'c>,
    next: usize,
}

impl<'s, 'c> Values<'s, 'c> {
    /// The values of a statement, from the first on.
    pub fn of(statement: &'s mut CachedStatement<'c>) -> Self {
        Self { statement, next: 1 }
    }

    pub fn push(&mut self, value: impl ToSql) -> rusqlite::Result<()> {
        self.statement.raw_bind_parameter(self.next, value)?;
        self.next += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_inserted_once_however_many_there_are() {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)")
            .unwrap();
        for count in 0..20_u32 {
            let mut lot = Lot::prepare(&conn, "t", "a, b").unwrap();
            lot.insert(0..count, |values, row| {
                values.push(row)?;
                values.push(format!("row {row}"))
            })
            .unwrap();
            let (rows, right): (u32, u32) = conn
                .query_row("SELECT count(*), sum(b = 'row ' || a) FROM t", [], |row| {
                    Ok((row.get(0)?, row.get::<_, Option<_>>(1)?.unwrap_or(0)))
                })
                .unwrap();
            assert_eq!((rows, right), (count, count));
            conn.execute("DELETE FROM t", []).unwrap();
        }
    }
}
