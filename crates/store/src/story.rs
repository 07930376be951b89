//! All that belongs to one exchange or happened while it was open, and what is in the way of a
//! session: queries for one view each.

use super::reader::reader_rows::{EventRow, FindingRow, MessageRow, Stored as _, number};
use super::reader::{ReadError, Recording};
use super::schema::{from_sql, to_sql};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::EventKind;
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
pub use mcpreel_trace::frame::Unfinished;
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};
use mcpreel_trace::item::{Item, ItemKey};
use rusqlite::{Params, params};

/// Things of one kind that a story tells at most: a call with a hundred thousand progress
/// notifications has a story all the same.
const EACH: u32 = 500;

const UNFINISHED: &str =
    "SELECT id, pending, pending_since FROM stream WHERE pending > 0 ORDER BY id";
const MESSAGE_SPAN: &str = "SELECT substr(f.raw, m.start + 1, m.size) FROM message m
    JOIN frame f ON f.seq = m.frame WHERE m.frame = ?1 AND m.part = ?2";

/// An exchange with all that happened while it was open, in order of time. A finding stands
/// after the frame that it points at; one that was made when the recording was over stands last.
#[derive(Clone, Debug)]
pub struct Story {
    pub exchange: Exchange,
    pub entries: Vec<Entry>,
    /// The number of things that were left out, because there were too many.
    pub left_out: u64,
}

#[derive(Clone, Debug)]
pub struct Entry {
    pub t: Moment,
    /// The address of its row, through the lens of the wire.
    pub key: ItemKey,
    pub what: Told,
}

#[derive(Clone, Debug)]
pub enum Told {
    Message {
        row: Box<MessageRow>,
        /// Bytes of its frame, terminator included.
        frame_size: u64,
        /// The relation of the message to the exchange.
        of: Kinship,
    },
    Line {
        head: FrameHead,
        /// The first bytes, [`PREVIEW`](mcpreel_trace::item::Item::PREVIEW) at most.
        preview: Box<[u8]>,
    },
    Event(EventRow),
    Finding(FindingRow),
}

impl Told {
    /// Whether it is a finding that was made when the recording was over.
    fn is_of_the_end(&self) -> bool {
        let Self::Finding(finding) = self else {
            return false;
        };
        mcpreel_lint::rule(&finding.rule).is_some_and(|rule| rule.at_end)
    }
}

/// The relation of a message to the exchange whose story is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kinship {
    Own,
    /// Part of a request that the other side sent meanwhile.
    Child(ExchangeId),
    /// Part of another round of the same chain.
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
        let (entries, left_out, chain) = (Vec::new(), 0, exchange.chain);
        let mut story = Story {
            exchange,
            entries,
            left_out,
        };
        story.add_messages(self, id, Kinship::Own)?;
        for child in self.children(id)? {
            story.add_messages(self, child, Kinship::Child(child))?;
        }
        let rounds = match chain {
            Some(chain) => self.ids(CHAIN, (to_sql(chain.0), EACH))?,
            None => Vec::new(),
        };
        for round in rounds.into_iter().filter(|round| *round != id) {
            story.add_messages(self, round, Kinship::Chain(round))?;
        }
        story.add_meanwhile(self)?;
        story.sort();
        Ok(Some(story))
    }

    /// The numbers of exchanges that a query gives.
    fn ids(&self, sql: &str, params: impl Params) -> Result<Vec<ExchangeId>, ReadError> {
        self.list(sql, params, |row| number(row, 0).map(ExchangeId))
    }

    /// The exchanges in which the other side was asked during `id`, in order.
    pub fn children(&self, id: ExchangeId) -> Result<Vec<ExchangeId>, ReadError> {
        let children = "SELECT id FROM exchange WHERE parent = ?1 ORDER BY id";
        self.ids(children, [to_sql(id.0)])
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
        let stalls = "WHERE kind IN ('stall-began', 'stall-ended') ORDER BY id";
        let mut open: Vec<Stall> = Vec::new();
        for EventRow { event, .. } in self.rows(stalls, [])? {
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
        let between = "WHERE after_seq >= ?1 AND after_seq < ?2 ORDER BY id LIMIT ?3";
        self.rows(between, (to_sql(from.0), to_sql(to.0), limit))
    }

    /// The findings that point at the exchange, or at one of its frames as a whole; 500 at most.
    pub fn findings_of_exchange(&self, exchange: &Exchange) -> Result<Vec<FindingRow>, ReadError> {
        let response = exchange.response.map(|(seq, _)| to_sql(seq.0));
        let (id, request) = (to_sql(exchange.id.0), to_sql(exchange.request.0.0));
        let of_exchange = "WHERE exchange = ?1 OR (exchange IS NULL AND frame IN (?2, ?3))
            ORDER BY id LIMIT ?4";
        self.rows(of_exchange, (id, request, response, EACH))
    }

    /// The bytes of the message at `part` of the frame `seq`; `None` if there is none. Of a long
    /// frame these may be many: [`Self::stream`] reads it in pieces.
    pub fn message_bytes(&self, seq: Seq, part: u32) -> Result<Option<Vec<u8>>, ReadError> {
        self.one(MESSAGE_SPAN, (to_sql(seq.0), part), |row| row.get(0))
    }
}

// Putting a story together.

const COUNT_MESSAGES: &str = "SELECT count(*) FROM message WHERE exchange = ?1";
const LINES: &str = r#"SELECT l.frame, f.stream, f."offset", f.t_first, f.t_last, f.envelope,
    length(f.raw), coalesce(substr(f.raw, 1, ?4), x'') FROM line l JOIN frame f ON f.seq = l.frame
    WHERE l.frame > ?1 AND l.frame < ?2 AND l.http IN (0, ?5) ORDER BY l.frame LIMIT ?3"#;
const COUNT_LINES: &str =
    "SELECT count(*) FROM line WHERE frame > ?1 AND frame < ?2 AND http IN (0, ?3)";
const COUNT_EVENTS: &str = "SELECT count(*) FROM event WHERE after_seq >= ?1 AND after_seq < ?2";
const COUNT_FINDINGS_BETWEEN: &str = "SELECT count(*) FROM finding
    WHERE frame > ?1 AND frame < ?2 AND exchange IS NULL";
const LAST_OF_HTTP: &str = "SELECT max(frame) FROM (
    SELECT max(frame) AS frame FROM line WHERE http > 0 AND http = ?1
    UNION ALL SELECT max(frame) FROM message WHERE http > 0 AND http = ?1)";
const CHAIN: &str = "SELECT id FROM exchange WHERE chain = ?1 ORDER BY id LIMIT ?2";

impl Story {
    fn sort(&mut self) {
        let entries = &mut self.entries;
        entries.sort_by_cached_key(|entry| (entry.what.is_of_the_end(), entry.key));
        let end = entries.partition_point(|entry| !entry.what.is_of_the_end());
        let (told, at_end) = entries.split_at_mut(end);
        if let Some(last) = told.iter().map(|entry| entry.t).max() {
            for entry in at_end {
                entry.t = last;
            }
        }
    }

    /// Adds the messages of `id`: the first of them, and in any case the answer.
    fn add_messages(
        &mut self,
        recording: &Recording,
        id: ExchangeId,
        of: Kinship,
    ) -> Result<(), ReadError> {
        let id = to_sql(id.0);
        let first = "WHERE m.exchange = ?1 ORDER BY m.frame, m.part LIMIT ?2";
        let mut messages: Vec<MessageRow> = recording.rows(first, (id, EACH))?;
        if messages.len() == EACH as usize {
            let last = messages.last().map_or(0, |row| to_sql(row.record.frame.0));
            let answer = "WHERE m.exchange = ?1 AND m.kind = 'response' AND m.frame > ?2 LIMIT 1";
            messages.extend(recording.row::<MessageRow>(answer, (id, last))?);
        }
        self.count_rest(recording, COUNT_MESSAGES, [id], messages.len())?;
        for row in messages {
            let (frame, part) = (row.record.frame, row.record.part);
            if let Some(head) = recording.head(frame)? {
                let what = Told::Message {
                    row: Box::new(row),
                    frame_size: head.size,
                    of,
                };
                self.push(head.t_last, ItemKey::of_part(frame, part), what);
            }
        }
        Ok(())
    }

    /// Adds what happened between the request and the answer.
    fn add_meanwhile(&mut self, recording: &Recording) -> Result<(), ReadError> {
        let request = self.exchange.request.0;
        let to = match self.exchange.response {
            Some((seq, _)) => seq.0,
            // Nothing comes of it behind the response without an answer.
            None if matches!(self.exchange.status, Status::HttpError | Status::Probe) => {
                1 + recording.number(LAST_OF_HTTP, [self.exchange.http])?
            }
            None => u64::MAX,
        };
        let range = (to_sql(request.0), to_sql(to));
        let limited = (range.0, range.1, EACH);
        let preview = to_sql(Item::PREVIEW as u64);
        let lines = recording.list(
            LINES,
            params![range.0, range.1, EACH, preview, self.exchange.http],
            |row| Ok((FrameHead::read(row)?, row.get::<_, Box<[u8]>>(7)?)),
        )?;
        let all = (range.0, range.1, self.exchange.http);
        self.count_rest(recording, COUNT_LINES, all, lines.len())?;
        for (head, preview) in lines {
            let what = Told::Line { head, preview };
            self.push(head.t_last, ItemKey::of_part(head.seq, 0), what);
        }
        let events = recording.events_between(request, Seq(to), EACH)?;
        self.count_rest(recording, COUNT_EVENTS, range, events.len())?;
        for row in events {
            let key = ItemKey::of_event(row.event.after_seq, row.id);
            self.push(row.event.t, key, Told::Event(row));
        }
        let mut findings = recording.findings_of_exchange(&self.exchange)?;
        let between = "WHERE frame > ?1 AND frame < ?2 AND exchange IS NULL ORDER BY id LIMIT ?3";
        let between: Vec<FindingRow> = recording.rows(between, limited)?;
        self.count_rest(recording, COUNT_FINDINGS_BETWEEN, range, between.len())?;
        findings.extend(between);
        for finding in findings {
            let frame = finding.frame.unwrap_or(request);
            let t = recording.head(frame)?.map_or(Moment(0), |head| head.t_last);
            self.push(t, ItemKey::of_part(frame, 0), Told::Finding(finding));
        }
        Ok(())
    }

    fn push(&mut self, t: Moment, key: ItemKey, what: Told) {
        self.entries.push(Entry { t, key, what });
    }

    /// Counts what is left out where `told` things are told, of which `sql` says how many there
    /// are. Only a full page may be cut.
    fn count_rest(
        &mut self,
        recording: &Recording,
        sql: &'static str,
        params: impl Params,
        told: usize,
    ) -> Result<(), ReadError> {
        if told >= EACH as usize {
            let all = recording.number(sql, params)?;
            self.left_out += all.saturating_sub(told as u64);
        }
        Ok(())
    }
}
