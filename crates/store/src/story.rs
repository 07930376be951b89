//! All that belongs to one exchange or happened while it was open, and what is in the way of a
//! session: queries for one view each.

mod telling;

use super::reader::rows::{self, EventRow, FindingRow, MessageRow, number};
use super::reader::{ReadError, Recording};
use super::values::{from_sql, to_sql};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::EventKind;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
pub use mcpreel_trace::frame::Unfinished;
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};
use mcpreel_trace::item::ItemKey;
use rusqlite::{Connection, params};
use std::ops::Range;

/// Things of one kind that a story tells at most: a call with a hundred thousand progress
/// notifications has a story all the same.
const EACH: u64 = 500;

const CHILDREN: &str = "SELECT id FROM exchange WHERE parent = ?1 ORDER BY id";
const EVENTS: &str = "SELECT id, t, after_seq, detail FROM event
    WHERE after_seq >= ?1 AND after_seq < ?2 ORDER BY id LIMIT ?3";
const FINDINGS_OF_EXCHANGE: &str =
    "SELECT id, rule, severity, frame, exchange, path, related, detail FROM finding
    WHERE exchange = ?1 OR (exchange IS NULL AND frame IN (?2, ?3)) ORDER BY id LIMIT ?4";
const UNFINISHED: &str =
    "SELECT id, pending, pending_since FROM stream WHERE pending > 0 ORDER BY id";
const STALLS: &str = "SELECT id, t, after_seq, detail FROM event
    WHERE kind IN ('stall-began', 'stall-ended') ORDER BY id";
const MESSAGE_SPAN: &str = "SELECT substr(f.raw, m.start + 1, m.size) FROM message m
    JOIN frame f ON f.seq = m.frame WHERE m.frame = ?1 AND m.part = ?2";

/// What belongs to an exchange or happened while it was open, in order of time. A finding stands
/// after the frame that it points at; one that was made when the recording was over stands last.
#[derive(Clone, Debug)]
pub struct Story {
    pub exchange: Exchange,
    pub entries: Vec<Entry>,
    /// How much of it was left out, because there was too much.
    pub left_out: u64,
}

#[derive(Clone, Debug)]
pub struct Entry {
    pub t: Moment,
    /// Where it stands, through the lens of the wire.
    pub key: ItemKey,
    pub what: Told,
}

#[derive(Clone, Debug)]
pub enum Told {
    Message {
        row: Box<MessageRow>,
        /// Bytes of its frame, terminator included.
        frame_size: u64,
        /// What it has to do with the exchange.
        of: Kinship,
    },
    Line {
        head: FrameHead,
        /// Its first bytes, [`PREVIEW`](mcpreel_trace::item::Item::PREVIEW) at most.
        preview: Box<[u8]>,
    },
    Event(EventRow),
    Finding(FindingRow),
}

impl Told {
    /// Whether it is a finding that was made when the recording was over.
    fn is_of_the_end(&self) -> bool {
        match self {
            Self::Finding(finding) => {
                mcpreel_lint::rule(&finding.rule).is_some_and(|rule| rule.at_end)
            }
            _ => false,
        }
    }
}

/// What a message has to do with the exchange whose story is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kinship {
    Own,
    /// It is of a request that the other side sent meanwhile.
    Child(ExchangeId),
    /// It is of another round of the same chain.
    Chain(ExchangeId),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// The stream whose reader does not read.
    pub stream: StreamId,
    pub bytes: u64,
    /// When it was noticed, 100 ms after it began.
    pub since: Moment,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingGroup {
    pub rule: Box<str>,
    pub severity: Box<str>,
    pub count: u64,
    /// The first frame that one of them points at.
    pub first: Option<Seq>,
    /// The last frame that one of them points at.
    pub last: Option<Seq>,
}

impl Recording {
    /// The story of the exchange `id`: its messages and those of its children and of the other
    /// rounds of its chain; the lines, events and findings between its request and its answer, or
    /// the end. Of each kind the first 500. `None` if there is no such exchange.
    pub fn story(&self, id: ExchangeId) -> Result<Option<Story>, ReadError> {
        let Some(exchange) = self.exchange(id)? else {
            return Ok(None);
        };
        self.read(|conn| telling::tell(conn, exchange).map(Some))
    }

    /// The exchanges in which the other side was asked during `id`, in order.
    pub fn children(&self, id: ExchangeId) -> Result<Vec<ExchangeId>, ReadError> {
        self.list(CHILDREN, [to_sql(id.0)], |row| {
            number(row, 0).map(ExchangeId)
        })
    }

    /// The lines whose ends have not come yet.
    pub fn unfinished(&self) -> Result<Vec<Unfinished>, ReadError> {
        self.list(UNFINISHED, [], |row| {
            Ok(Unfinished {
                stream: StreamId(row.get(0)?),
                bytes: number(row, 1)?,
                since: Moment(row.get::<_, Option<i64>>(2)?.map_or(0, from_sql)),
            })
        })
    }

    pub fn open_stalls(&self) -> Result<Vec<Stall>, ReadError> {
        let events = self.list(STALLS, [], rows::event)?;
        let mut open: Vec<Stall> = Vec::new();
        for EventRow { event, .. } in events {
            match event.kind {
                EventKind::StallBegan { stream, bytes } => {
                    open.retain(|stall| stall.stream != stream);
                    let since = event.t;
                    open.push(Stall {
                        stream,
                        bytes,
                        since,
                    });
                }
                EventKind::StallEnded { stream, .. } => open.retain(|stall| stall.stream != stream),
                _ => {}
            }
        }
        Ok(open)
    }

    /// The first `limit` events that came after the frame `from`, or later, and before the frame
    /// `to` was complete.
    pub fn events_between(
        &self,
        from: Seq,
        to: Seq,
        limit: u32,
    ) -> Result<Vec<EventRow>, ReadError> {
        let range = (to_sql(from.0), to_sql(to.0), limit);
        self.list(EVENTS, range, rows::event)
    }

    /// The findings that point at the exchange, or at one of its frames as a whole; 500 at most.
    pub fn findings_of_exchange(&self, exchange: &Exchange) -> Result<Vec<FindingRow>, ReadError> {
        self.read(|conn| findings_of(conn, exchange))
    }

    /// The bytes of the message at `part` of the frame `seq`; `None` if there is none. Of a long
    /// frame these may be many: [`Self::stream`] reads it in pieces.
    pub fn message_bytes(&self, seq: Seq, part: u32) -> Result<Option<Vec<u8>>, ReadError> {
        self.one(MESSAGE_SPAN, (to_sql(seq.0), part), |row| row.get(0))
    }

    /// Adds the same to `bytes`: where it stands among them.
    pub(super) fn add_message(
        &self,
        seq: Seq,
        part: u32,
        bytes: &mut Vec<u8>,
    ) -> Result<Option<Range<usize>>, ReadError> {
        self.one(MESSAGE_SPAN, (to_sql(seq.0), part), |row| {
            let start = bytes.len();
            bytes.extend_from_slice(row.get_ref(0)?.as_blob()?);
            Ok(start..bytes.len())
        })
    }
}

fn findings_of(conn: &Connection, exchange: &Exchange) -> rusqlite::Result<Vec<FindingRow>> {
    let response = exchange.response.map(|(seq, _)| to_sql(seq.0));
    let mut statement = conn.prepare_cached(FINDINGS_OF_EXCHANGE)?;
    let rows = statement.query_map(
        params![
            to_sql(exchange.id.0),
            to_sql(exchange.request.0.0),
            response,
            to_sql(EACH)
        ],
        rows::finding,
    )?;
    rows.collect()
}
