//! All that belongs to one exchange or happened while it was open, and what is in the way of a
//! session: queries for one view each.

use super::reader::reader_rows::{EventRow, FindingRow, MessageRow, message_columns, number};
use super::reader::{ReadError, Recording, reader_rows};
use super::schema::{from_sql, to_sql};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::EventKind;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
pub use mcpreel_trace::frame::Unfinished;
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};
use mcpreel_trace::item::{Item, ItemKey};
use rusqlite::{Connection, Params, Row, params};
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
        self.read(|conn| tell(conn, exchange).map(Some))
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
        let events = self.list(STALLS, [], reader_rows::event)?;
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
        self.list(EVENTS, range, reader_rows::event)
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
        reader_rows::finding,
    )?;
    rows.collect()
}

// Putting a story together.

const MESSAGES: &str = concat!(
    "SELECT ",
    message_columns!(),
    " WHERE m.exchange = ?1 ORDER BY m.frame, m.part LIMIT ?2"
);
const ANSWER: &str = concat!(
    "SELECT ",
    message_columns!(),
    " WHERE m.exchange = ?1 AND m.kind = 'response' AND m.frame > ?2 LIMIT 1"
);
const FRAME: &str = "SELECT t_last, length(raw) FROM frame WHERE seq = ?1";
const COUNT_MESSAGES: &str = "SELECT count(*) FROM message WHERE exchange = ?1";
const LINES: &str = r#"SELECT l.frame, f.stream, f."offset", f.t_first, f.t_last, length(f.raw),
    substr(f.raw, 1, ?4) FROM line l JOIN frame f ON f.seq = l.frame
    WHERE l.frame > ?1 AND l.frame < ?2 ORDER BY l.frame LIMIT ?3"#;
const COUNT_LINES: &str = "SELECT count(*) FROM line WHERE frame > ?1 AND frame < ?2";
const COUNT_EVENTS: &str = "SELECT count(*) FROM event WHERE after_seq >= ?1 AND after_seq < ?2";
const FINDINGS_BETWEEN: &str =
    "SELECT id, rule, severity, frame, exchange, path, related, detail FROM finding
    WHERE frame > ?1 AND frame < ?2 AND exchange IS NULL ORDER BY id LIMIT ?3";
const COUNT_FINDINGS_BETWEEN: &str = "SELECT count(*) FROM finding
    WHERE frame > ?1 AND frame < ?2 AND exchange IS NULL";
const CHAIN: &str = "SELECT id FROM exchange WHERE chain = ?1 ORDER BY id LIMIT ?2";

fn tell(conn: &Connection, exchange: Exchange) -> rusqlite::Result<Story> {
    let mut telling = Telling {
        conn,
        entries: Vec::new(),
        left_out: 0,
    };
    let id = exchange.id;
    telling.messages(id, Kinship::Own)?;
    for child in telling.ids(CHILDREN, [to_sql(id.0)])? {
        telling.messages(child, Kinship::Child(child))?;
    }
    if let Some(chain) = exchange.chain {
        for round in telling.ids(CHAIN, (to_sql(chain.0), to_sql(EACH)))? {
            if round != id {
                telling.messages(round, Kinship::Chain(round))?;
            }
        }
    }
    telling.meanwhile(&exchange)?;
    let Telling {
        mut entries,
        left_out,
        ..
    } = telling;
    in_order(&mut entries);
    Ok(Story {
        exchange,
        entries,
        left_out,
    })
}

/// Puts what is told in its order.
fn in_order(entries: &mut [Entry]) {
    entries.sort_by_cached_key(|entry| (entry.what.is_of_the_end(), entry.key));
    let last = entries.iter().filter(|entry| !entry.what.is_of_the_end());
    let last = last.map(|entry| entry.t).max();
    for entry in entries.iter_mut().rev() {
        if !entry.what.is_of_the_end() {
            break;
        }
        entry.t = last.unwrap_or(entry.t);
    }
}

/// A story that is being put together.
struct Telling<'c> {
    conn: &'c Connection,
    entries: Vec<Entry>,
    left_out: u64,
}

impl Telling<'_> {
    /// The messages of `id`: the first of them, and in any case the answer.
    fn messages(&mut self, id: ExchangeId, of: Kinship) -> rusqlite::Result<()> {
        let id = to_sql(id.0);
        let mut messages = self.list(MESSAGES, (id, to_sql(EACH)), reader_rows::message)?;
        if messages.len() as u64 == EACH {
            let last = messages.last().map_or(0, |row| to_sql(row.record.frame.0));
            messages.extend(self.list(ANSWER, (id, last), reader_rows::message)?);
        }
        self.count(COUNT_MESSAGES, [id], messages.len())?;
        for row in messages {
            let (frame, part) = (row.record.frame, row.record.part);
            let (t, frame_size) = self.frame(frame)?;
            let what = Told::Message {
                row: Box::new(row),
                frame_size,
                of,
            };
            self.push(t, ItemKey::of_part(frame, part), what);
        }
        Ok(())
    }

    /// What happened between the request and the answer.
    fn meanwhile(&mut self, exchange: &Exchange) -> rusqlite::Result<()> {
        let from = to_sql(exchange.request.0.0);
        let to = exchange.response.map_or(i64::MAX, |(seq, _)| to_sql(seq.0));
        let preview = to_sql(Item::PREVIEW as u64);
        let lines = self.list(LINES, params![from, to, to_sql(EACH), preview], |row| {
            Ok((reader_rows::frame_head(row)?, row.get::<_, Vec<u8>>(6)?))
        })?;
        self.count(COUNT_LINES, (from, to), lines.len())?;
        for (head, preview) in lines {
            let preview = preview.into();
            let what = Told::Line { head, preview };
            self.push(head.t_last, ItemKey::of_part(head.seq, 0), what);
        }
        let events = self.list(EVENTS, (from, to, to_sql(EACH)), reader_rows::event)?;
        self.count(COUNT_EVENTS, (from, to), events.len())?;
        for row in events {
            let key = ItemKey::of_event(row.event.after_seq, row.id);
            self.push(row.event.t, key, Told::Event(row));
        }
        let mut findings = findings_of(self.conn, exchange)?;
        let between = self.list(
            FINDINGS_BETWEEN,
            (from, to, to_sql(EACH)),
            reader_rows::finding,
        )?;
        self.count(COUNT_FINDINGS_BETWEEN, (from, to), between.len())?;
        findings.extend(between);
        for finding in findings {
            let frame = finding.frame.unwrap_or(exchange.request.0);
            let (t, _) = self.frame(frame)?;
            self.push(t, ItemKey::of_part(frame, 0), Told::Finding(finding));
        }
        Ok(())
    }

    fn push(&mut self, t: Moment, key: ItemKey, what: Told) {
        self.entries.push(Entry { t, key, what });
    }

    /// Counts what is left out of `told` things of which `sql` says how many there are.
    fn count(
        &mut self,
        sql: &'static str,
        params: impl Params,
        told: usize,
    ) -> rusqlite::Result<()> {
        // Only a full page may be cut.
        if told as u64 >= EACH {
            let mut statement = self.conn.prepare_cached(sql)?;
            let all = statement.query_row(params, |row| number(row, 0))?;
            self.left_out += all.saturating_sub(told as u64);
        }
        Ok(())
    }

    /// When the frame was complete, and how many bytes it has.
    fn frame(&self, frame: Seq) -> rusqlite::Result<(Moment, u64)> {
        let mut statement = self.conn.prepare_cached(FRAME)?;
        statement.query_row([to_sql(frame.0)], |row| {
            Ok((Moment(number(row, 0)?), number(row, 1)?))
        })
    }

    fn ids(&self, sql: &'static str, params: impl Params) -> rusqlite::Result<Vec<ExchangeId>> {
        self.list(sql, params, |row| number(row, 0).map(ExchangeId))
    }

    fn list<T>(
        &self,
        sql: &'static str,
        params: impl Params,
        convert: fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        let mut statement = self.conn.prepare_cached(sql)?;
        statement.query_map(params, convert)?.collect()
    }
}
