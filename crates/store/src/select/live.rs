//! Filters of a request that is on no record: the condition on an exchange, over a recording in
//! memory that has only this one.

use super::scan::Filter;
use super::{Context, Question};
use crate::indexer::derive::{Deriver, Text};
use crate::indexer::write::Writer;
use crate::schema;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};
use mcpreel_trace::item::Lens;
use mcpreel_trace::query::Query;
use rusqlite::Connection;
use std::fmt;

const CLEAR: &str = "DELETE FROM frame; DELETE FROM message; DELETE FROM line;
    DELETE FROM exchange; DELETE FROM finding";

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

    /// Whether a request of the client that has no answer yet fits, sent at `now`.
    pub fn fits(&self, bytes: &[u8], now: Moment) -> rusqlite::Result<bool> {
        self.conn.execute_batch(CLEAR)?;
        let head = FrameHead {
            seq: Seq(1),
            stream: StreamId::C2S,
            offset: 0,
            t_first: now,
            t_last: now,
            size: bytes.len() as u64,
        };
        let mut writer = Writer::prepare(&self.conn)?;
        writer.frame(&head, &bytes)?;
        let mut deriver = Deriver::default();
        deriver.frame(&head, Text::Whole(bytes));
        deriver.flush(&mut writer)?;
        Ok(!self.filter.rows(&self.conn, (1, 1))?.is_empty())
    }
}
