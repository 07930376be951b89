//! Notifications of a recording: those that stand by themselves, and the progress of an exchange.

use super::{PAGE_ROWS, ReadError, Recording};
use crate::values::{self, to_sql};
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::message::Direction;
use rusqlite::Row;

/// The index `message_alone` has exactly these rows.
const ALONE: &str = "SELECT frame, part, direction FROM message
    WHERE (exchange IS NULL OR (kind = 'notification'
        AND method <> 'notifications/progress' AND method <> 'notifications/cancelled'))
      AND kind = 'notification' AND (frame, part) > (?1, ?2)
    ORDER BY frame, part LIMIT ?3";

const PROGRESS: &str = "SELECT frame, part, direction FROM message
    WHERE exchange = ?1 AND kind = 'notification' AND method = 'notifications/progress'
    ORDER BY frame, part LIMIT ?2";

/// Where a notification stands, and which way it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotificationAt {
    pub seq: Seq,
    pub part: u32,
    pub direction: Direction,
}

impl Recording {
    /// A page of the notifications after the one at `after` that belong to no exchange, or say
    /// something else than how an exchange stands.
    pub fn notifications(&self, after: (Seq, u32)) -> Result<Vec<NotificationAt>, ReadError> {
        let (seq, part) = after;
        self.list(ALONE, (to_sql(seq.0), part, PAGE_ROWS), place)
    }

    /// Up to `limit` progress notifications of an exchange, the first ones.
    pub fn progress_of(
        &self,
        exchange: ExchangeId,
        limit: u32,
    ) -> Result<Vec<NotificationAt>, ReadError> {
        self.list(PROGRESS, (to_sql(exchange.0), limit), place)
    }
}

fn place(row: &Row<'_>) -> rusqlite::Result<NotificationAt> {
    Ok(NotificationAt {
        seq: Seq(super::rows::number(row, 0)?),
        part: row.get(1)?,
        direction: super::rows::word(row, 2, values::direction)?,
    })
}
