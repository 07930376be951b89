//! Filters of a request that is on no record: the condition on an exchange, over a recording in
//! memory that has only this one.

use super::scan::Filter;
use super::{Context, Question};
use crate::schema;
use crate::schema::to_sql;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::item::Lens;
use mcpreel_trace::query::Query;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::message::{Era, classify};
use rusqlite::{Connection, params};
use std::fmt;

const CLEAR: &str = "DELETE FROM frame; DELETE FROM message; DELETE FROM exchange";
const FRAME: &str = r#"INSERT INTO frame (seq, stream, "offset", t_first, t_last, raw)
    VALUES (1, 0, 0, ?1, ?1, ?2)"#;
const MESSAGE: &str = "INSERT INTO message (frame, part, start, size, direction, kind, era, method,
    name, rpc_id, exchange, token, trace_id) VALUES (1, 0, 0, ?1, 'c2s', 'request', ?2, ?3, ?4,
    ?5, 1, ?6, ?7)";
const EXCHANGE: &str = "INSERT INTO exchange (id, direction, era, method, name, rpc_id, request,
    request_part, t_request, waited, status, progress_count, request_size, response_size, summary)
    VALUES (1, 'c2s', ?1, ?2, ?3, ?4, 1, 0, ?5, 0, 'open', 0, ?6, 0, ?7)";

/// A request of the client that has no answer yet.
#[derive(Clone, Debug)]
pub struct LiveRequest<'a> {
    pub method: &'a str,
    pub name: Option<&'a str>,
    pub id: &'a RequestId,
    pub era: Era,
    pub bytes: &'a [u8],
    pub now: Moment,
}

/// Whether requests fit a filter.
pub struct LiveFilter {
    filter: Filter,
    conn: Connection,
}

impl fmt::Debug for LiveFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveFilter").finish_non_exhaustive()
    }
}

impl LiveFilter {
    pub fn new(query: &Query) -> rusqlite::Result<Self> {
        let question = Question {
            lens: Lens::Exchanges,
            query: query.clone(),
            until: None,
        };
        let context = Context {
            end: Moment(0),
            slow_ns: u64::MAX,
        };
        let filter = Filter::new(&question, context);
        let mut conn = Connection::open_in_memory()?;
        let transaction = conn.transaction()?;
        schema::migrate(&transaction)?;
        transaction.commit()?;
        filter.install(&conn)?;
        Ok(Self { filter, conn })
    }

    pub fn fits(&self, request: &LiveRequest<'_>) -> rusqlite::Result<bool> {
        let (size, now) = (to_sql(request.bytes.len() as u64), to_sql(request.now.0));
        let LiveRequest {
            method, name, id, ..
        } = *request;
        let (id, era) = (id.json(), request.era.as_str());
        let message = classify(request.bytes).messages.pop();
        let summary = message.as_ref().map_or("", |it| &it.summary);
        let meta = message.as_ref().map(|it| &it.meta);
        let token = meta.and_then(|it| it.progress_token.as_ref().map(RequestId::json));
        let trace_id = meta.and_then(|it| it.trace_id.as_deref());
        self.conn.execute_batch(CLEAR)?;
        let frame = params![now, request.bytes];
        self.conn.prepare_cached(FRAME)?.execute(frame)?;
        let message = params![size, era, method, name, id, token, trace_id];
        self.conn.prepare_cached(MESSAGE)?.execute(message)?;
        let exchange = params![era, method, name, id, now, size, summary];
        self.conn.prepare_cached(EXCHANGE)?.execute(exchange)?;
        Ok(!self.filter.rows(&self.conn, (1, 1))?.is_empty())
    }
}
