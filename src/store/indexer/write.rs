//! The rows of a recording, through statements that are prepared once per transaction.

use crate::lint::Finding;
use crate::protocol::id::RequestId;
use crate::store::values::to_sql;
use crate::trace::clock::Moment;
use crate::trace::correlator::{MessageKind, MessageRecord};
use crate::trace::event::Event;
use crate::trace::exchange::{Exchange, Status};
use crate::trace::frame::{FrameHead, Seq, StreamId};
use rusqlite::blob::ZeroBlob;
use rusqlite::{CachedStatement, Connection, OptionalExtension, params};
use std::ops::Range;

const INSERT_FRAME: &str = r#"INSERT INTO frame (seq, stream, "offset", t_first, t_last, raw)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)"#;
const INSERT_EVENT: &str = "INSERT INTO event (id, t, after_seq, detail) VALUES (?1, ?2, ?3, ?4)";
const INSERT_MESSAGE: &str = "INSERT INTO message (frame, part, start, size, direction, kind,
    era, method, name, rpc_id, exchange, code, token, trace_id, task, subscription, summary)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)";
const INSERT_LINE: &str = "INSERT INTO line (frame, stream) VALUES (?1, ?2)";
const INSERT_FINDING: &str =
    "INSERT INTO finding (rule, severity, frame, exchange, path, related, detail)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
const STATUS_OF: &str = "SELECT status FROM exchange WHERE id = ?1";
const SAVE_EXCHANGE: &str = "INSERT INTO exchange (id, direction, era, method, name, rpc_id,
    request, request_part, response, response_part, t_request, t_response, t_response_last,
    waited, status, code, parent, chain, task, cancelled, progress_count, progress,
    request_size, response_size)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19,
    ?20, ?21, ?22, ?23, ?24)
    ON CONFLICT (id) DO UPDATE SET response = excluded.response,
    response_part = excluded.response_part, t_response = excluded.t_response,
    t_response_last = excluded.t_response_last,
    waited = excluded.waited, status = excluded.status, code = excluded.code,
    parent = excluded.parent, chain = excluded.chain, task = excluded.task,
    cancelled = excluded.cancelled, progress_count = excluded.progress_count,
    progress = excluded.progress, response_size = excluded.response_size";

/// The line of a message that is no longer than this, in bytes, is derived when it is read, in
/// microseconds: kept for every message it would make recordings of small ones half as large again.
pub(super) const DERIVED_WHEN_READ: usize = 4096;

/// What is on record, as numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub last_seq: Seq,
    pub last_event: u64,
    pub bytes: u64,
    pub gap_bytes: u64,
    pub t_last: Moment,
}

/// Writes rows within a transaction of `conn`.
pub(crate) struct Writer<'c> {
    frame: CachedStatement<'c>,
    event: CachedStatement<'c>,
    message: CachedStatement<'c>,
    exchange: CachedStatement<'c>,
    status: CachedStatement<'c>,
    finding: CachedStatement<'c>,
    line: CachedStatement<'c>,
}

impl<'c> Writer<'c> {
    pub fn prepare(conn: &'c Connection) -> rusqlite::Result<Self> {
        Ok(Self {
            frame: conn.prepare_cached(INSERT_FRAME)?,
            event: conn.prepare_cached(INSERT_EVENT)?,
            message: conn.prepare_cached(INSERT_MESSAGE)?,
            exchange: conn.prepare_cached(SAVE_EXCHANGE)?,
            status: conn.prepare_cached(STATUS_OF)?,
            finding: conn.prepare_cached(INSERT_FINDING)?,
            line: conn.prepare_cached(INSERT_LINE)?,
        })
    }

    pub fn frame(&mut self, head: &FrameHead, raw: &[u8]) -> rusqlite::Result<()> {
        self.frame.execute(params![
            to_sql(head.seq.0),
            head.stream.0,
            to_sql(head.offset),
            to_sql(head.t_first.0),
            to_sql(head.t_last.0),
            raw,
        ])?;
        Ok(())
    }

    /// A frame whose bytes are written afterwards.
    pub fn long_frame(&mut self, head: &FrameHead) -> rusqlite::Result<()> {
        self.frame.execute(params![
            to_sql(head.seq.0),
            head.stream.0,
            to_sql(head.offset),
            to_sql(head.t_first.0),
            to_sql(head.t_last.0),
            ZeroBlob(head.size),
        ])?;
        Ok(())
    }

    pub fn event(&mut self, id: u64, event: &Event) -> rusqlite::Result<()> {
        let detail = serde_json::to_string(&event.kind)
            .map_err(|e| rusqlite::Error::ToSqlConversionFailure(e.into()))?;
        self.event.execute(params![
            to_sql(id),
            to_sql(event.t.0),
            to_sql(event.after_seq.0),
            detail
        ])?;
        Ok(())
    }

    /// A message that stands at `span` of its frame.
    pub fn message(
        &mut self,
        message: &MessageRecord,
        span: &Range<usize>,
    ) -> rusqlite::Result<()> {
        // What its exchange says as well is not kept twice.
        let paired = matches!(message.kind, MessageKind::Request | MessageKind::Response)
            && message.exchange.is_some();
        let own = |text: &Option<Box<str>>| text.clone().filter(|_| !paired);
        self.message.execute(params![
            to_sql(message.frame.0),
            message.part,
            to_sql(span.start as u64),
            to_sql(span.len() as u64),
            message.direction.as_str(),
            message.kind.as_str(),
            (!paired).then_some(message.era.as_str()),
            own(&message.method),
            own(&message.name),
            message.rpc_id.as_ref().map(RequestId::json),
            message.exchange.map(|id| to_sql(id.0)),
            message.code.as_deref(),
            message.token.as_ref().map(RequestId::json),
            message.trace_id.as_deref(),
            message.task.as_deref(),
            message.subscription.as_ref().map(RequestId::json),
            (span.len() > DERIVED_WHEN_READ).then_some(&*message.summary),
        ])?;
        Ok(())
    }

    /// A frame without a message.
    pub fn line(&mut self, frame: Seq, stream: StreamId) -> rusqlite::Result<()> {
        self.line.execute(params![to_sql(frame.0), stream.0])?;
        Ok(())
    }

    pub fn finding(&mut self, finding: &Finding) -> rusqlite::Result<()> {
        self.finding.execute(params![
            finding.rule.id,
            finding.severity.as_str(),
            finding.frame.map(|seq| to_sql(seq.0)),
            finding.exchange.map(|id| to_sql(id.0)),
            finding.path,
            related(finding),
            finding.detail,
        ])?;
        Ok(())
    }

    /// How the exchange stands in the file.
    pub fn status_of(&mut self, exchange: &Exchange) -> rusqlite::Result<Option<Status>> {
        let word = self
            .status
            .query_row([to_sql(exchange.id.0)], |row| row.get::<_, String>(0))
            .optional()?;
        Ok(word.as_deref().and_then(Status::parse))
    }

    /// Inserts the exchange, or brings its row up to date.
    pub fn exchange(&mut self, exchange: &Exchange) -> rusqlite::Result<()> {
        self.exchange.execute(params![
            to_sql(exchange.id.0),
            exchange.direction.as_str(),
            exchange.era.as_str(),
            &*exchange.method,
            exchange.name.as_deref(),
            exchange.rpc_id.json(),
            to_sql(exchange.request.0.0),
            exchange.request.1,
            exchange.response.map(|(seq, _)| to_sql(seq.0)),
            exchange.response.map(|(_, part)| part),
            to_sql(exchange.t_request.0),
            exchange.t_response.map(|t| to_sql(t.0)),
            exchange.t_response_last.map(|t| to_sql(t.0)),
            to_sql(exchange.waited_ns),
            exchange.status.as_str(),
            exchange.code.as_deref(),
            exchange.parent.map(|id| to_sql(id.0)),
            exchange.chain.map(|id| to_sql(id.0)),
            exchange.task.as_deref(),
            exchange.cancelled.map(|seq| to_sql(seq.0)),
            to_sql(exchange.progress_count),
            exchange.progress.as_deref(),
            to_sql(exchange.request_size),
            to_sql(exchange.response_size),
        ])?;
        Ok(())
    }
}

/// The other frames of a finding as a JSON array, if there are any.
fn related(finding: &Finding) -> Option<String> {
    let numbers: Vec<_> = finding.related.iter().map(|seq| seq.0).collect();
    let json = || serde_json::to_string(&numbers).unwrap_or_default();
    (!numbers.is_empty()).then(json)
}
