//! What the frames of a recording have to do with each other: what answers what, and what belongs
//! to which exchange.

use super::reader::rows::{number, optional, word};
use super::reader::{ReadError, Recording};
use super::values::{self, to_sql};
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::exchange::{ExchangeId, Status};
use mcpreel_trace::frame::Seq;
use rusqlite::Row;

/// The request around a message is that of the exchange in which the other side asked it, else the
/// first of its chain of input rounds; of what is neither request nor response its own exchange's.
///
/// Methods longer than any that there is would make a page as large as their frames.
const LINKS: &str = "SELECT m.frame, m.kind,
        CASE WHEN octet_length(coalesce(m.method, e.method)) <= 256
            THEN coalesce(m.method, e.method) END,
        e.request, a.request, e.status, e.latency, m.part
    FROM message m LEFT JOIN exchange e ON e.id = m.exchange
    LEFT JOIN exchange a ON a.id = coalesce(e.parent, nullif(e.chain, e.id))
    WHERE m.frame > ?1 AND m.frame <= ?2 ORDER BY m.frame, m.part";
const FRAMES_OF_EXCHANGE: &str = "WITH chain(id) AS (
        SELECT ?1 UNION SELECT o.id FROM exchange e JOIN exchange o ON o.chain = e.chain
        WHERE e.id = ?1),
    whole(id) AS (SELECT id FROM chain
        UNION SELECT o.id FROM exchange o JOIN chain c ON o.parent = c.id)
    SELECT m.frame FROM message m JOIN whole w ON m.exchange = w.id";

/// What a message has to do with other frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    pub frame: Seq,
    /// Request, notification, response or none of them.
    pub kind: MessageKind,
    /// Its method; of a response that of its request. None if it is longer than 256 bytes: it
    /// stands in the frame anyway.
    pub method: Option<Box<str>>,
    /// Of a response: the frame of its request.
    pub answers: Option<Seq>,
    /// The request around it: of a notification that which it belongs to, of a request the one
    /// during which the other side asked it, or the first round of its chain.
    pub within: Option<Seq>,
    /// Of a response: how its exchange stands.
    pub status: Option<Status>,
    /// Of a response: nanoseconds since its request.
    pub latency_ns: Option<u64>,
}

impl Recording {
    /// What the frames after `after` up to `last` have to do with other frames: those that are one
    /// message, not those that are none, or several.
    pub fn links(&self, after: Seq, last: Seq) -> Result<Vec<Link>, ReadError> {
        self.read(|conn| {
            let mut statement = conn.prepare_cached(LINKS)?;
            let mut rows = statement.query((to_sql(after.0), to_sql(last.0)))?;
            let mut links: Vec<Link> = Vec::new();
            while let Some(row) = rows.next()? {
                let frame = Seq(number(row, 0)?);
                if row.get::<_, u32>(7)? == 0 {
                    links.push(link(row)?);
                } else {
                    // A batch is as long as its frame.
                    links.pop_if(|link| link.frame == frame);
                }
            }
            Ok(links)
        })
    }

    /// The frames of an exchange with all that belongs to it: progress, cancel, the other rounds of
    /// its chain, what the other side asked meanwhile. In no order, some perhaps twice.
    pub fn frames_of_exchange(&self, id: ExchangeId) -> Result<Vec<Seq>, ReadError> {
        self.list(FRAMES_OF_EXCHANGE, [to_sql(id.0)], |row| {
            number(row, 0).map(Seq)
        })
    }
}

fn link(row: &Row<'_>) -> rusqlite::Result<Link> {
    let kind = word(row, 1, values::message_kind)?;
    let request = optional(row, 3)?.map(Seq);
    let around = optional(row, 4)?.map(Seq);
    let (answers, within) = match kind {
        MessageKind::Request => (None, around),
        MessageKind::Response => (request, None),
        MessageKind::Notification | MessageKind::Other => (None, request),
    };
    let is_response = kind == MessageKind::Response;
    let status = row.get_ref(5)?.as_str_or_null()?.filter(|_| is_response);
    Ok(Link {
        frame: Seq(number(row, 0)?),
        kind,
        method: row.get(2)?,
        answers,
        within,
        status: status.and_then(Status::parse),
        latency_ns: optional(row, 6)?.filter(|_| is_response),
    })
}
