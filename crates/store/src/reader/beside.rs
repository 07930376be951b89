//! What stands beside the exchanges, for whoever tells all there is: messages that are not the
//! request or the response of one, and frames without a message.

use super::rows::{self, MessageRow, message_columns};
use super::{ReadError, Recording};
use crate::values::to_sql;
use mcpreel_trace::frame::Seq;

const MESSAGES_BESIDE: &str = concat!(
    "SELECT ",
    message_columns!(),
    " WHERE m.frame > ?1 AND m.frame <= ?2
        AND (m.exchange IS NULL OR m.kind IN ('notification', 'other'))
    ORDER BY m.frame, m.part"
);
const NEXT_BESIDE: &str = "SELECT min(frame) FROM (
    SELECT (SELECT frame FROM message WHERE frame > ?1
        AND (exchange IS NULL OR kind IN ('notification', 'other')) ORDER BY frame LIMIT 1) AS frame
    UNION ALL SELECT (SELECT frame FROM line WHERE frame > ?1 ORDER BY frame LIMIT 1))";
/// Found by what has no message, not by the table `line`, which is derived later in a live
/// recording.
const BARE: &str = "SELECT seq, substr(raw, 1, ?3) FROM frame f WHERE seq > ?1 AND seq <= ?2
    AND NOT EXISTS (SELECT 1 FROM message m WHERE m.frame = f.seq) ORDER BY seq";

/// A frame, and the bytes that it begins with.
pub type Beginning = (Seq, Box<[u8]>);

impl Recording {
    /// Those of the messages of the frames after `after` up to `last` that are not the request or
    /// the response of an exchange.
    pub fn messages_beside(&self, after: Seq, last: Seq) -> Result<Vec<MessageRow>, ReadError> {
        let range = (to_sql(after.0), to_sql(last.0));
        self.list(MESSAGES_BESIDE, range, rows::message)
    }

    /// The first frame after `after`, in what is derived so far, that has a message which is not
    /// the request or the response of an exchange, or that has no message.
    pub fn next_beside(&self, after: Seq) -> Result<Option<Seq>, ReadError> {
        let next = self.one(NEXT_BESIDE, [to_sql(after.0)], |row| rows::optional(row, 0))?;
        Ok(next.flatten().map(Seq))
    }

    /// The frames after `after` up to `last` without a message, with so many bytes of each.
    pub fn bare(&self, after: Seq, last: Seq, bytes: usize) -> Result<Vec<Beginning>, ReadError> {
        let range = (to_sql(after.0), to_sql(last.0), to_sql(bytes as u64));
        self.list(BARE, range, |row| {
            Ok((Seq(rows::number(row, 0)?), row.get(1)?))
        })
    }
}
