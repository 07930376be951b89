//! The work of one transaction: records in, rows out.

use super::derive::{Deriver, IndexError, Text};
use super::line::{Body, Line};
use super::write::Writer;
use super::{Budget, Position, long};
use crate::schema::{State, to_sql};
use mcpreel_capture::spool::{EndNote, RecordHead, RecordKind, SpoolReader, Status, Tail};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{Closer, Event, EventKind};
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};
use rusqlite::blob::ZeroBlob;
use rusqlite::{Connection, params};

const HAS_EXIT: &str = "SELECT EXISTS (SELECT 1 FROM event WHERE kind = 'exit')";
const HAS_WARNING: &str =
    "SELECT EXISTS (SELECT 1 FROM event WHERE kind = 'warning' AND instr(detail, ?1))";
const SAVE_STREAM: &str = "INSERT INTO stream (id, kind, label, committed, pending, pending_since)
    VALUES (?1, 'text', ?2, ?3, ?4, ?5)
    ON CONFLICT (id) DO UPDATE SET committed = excluded.committed, pending = excluded.pending,
        pending_since = excluded.pending_since";
const SAVE_PROGRESS: &str = "UPDATE recording SET resume = ?1, drained = ?2, frames = ?3,
    bytes = ?4, gap_bytes = ?5, t_last = ?6";
const SAVE_STATE: &str = "UPDATE recording SET state = ?1";

/// Stands in the warning that says that a part of the spool was not read.
const UNREAD: &str = "of the spool could not be read";

/// Whether the recording says that a part of its spool was not read. Such a spool is kept.
pub(super) fn names_unread(conn: &Connection) -> rusqlite::Result<bool> {
    conn.query_row(HAS_WARNING, [UNREAD], |row| row.get(0))
}

pub(super) struct Batch<'a> {
    pub conn: &'a Connection,
    pub writer: Writer<'a>,
    pub spool: &'a mut SpoolReader,
    pub state: &'a mut Position,
    pub deriver: Option<&'a mut Deriver>,
    pub payload: &'a mut Vec<u8>,
}

impl Batch<'_> {
    /// Takes records within `budget`. Returns whether there are no more.
    pub fn drain(&mut self, tail: Tail, budget: &Budget) -> Result<bool, IndexError> {
        let began = budget.clock.now();
        let mut bytes = 0;
        while !budget.is_spent(began, bytes) {
            let Some(head) = self.spool.read(self.state.next, tail, self.payload)? else {
                return Ok(true);
            };
            // Which bytes of which stream could not be read, the next chunk of each tells.
            let from = self.state.next;
            if head.position > from {
                self.warn_unread(from, head.position - from, head.t)?;
            }
            self.record(&head)?;
            bytes += u64::from(head.len);
        }
        Ok(false)
    }

    fn warn_unread(&mut self, from: u64, bytes: u64, t: Moment) -> Result<(), IndexError> {
        let message = format!("{bytes} bytes {UNREAD} from byte {from} on; it is kept");
        // Whoever resumes passes over it again.
        let is_said: bool = self
            .conn
            .query_row(HAS_WARNING, [&message], |row| row.get(0))?;
        if is_said {
            return Ok(());
        }
        self.event(t, EventKind::Warning { message })
    }

    /// Says whether the status page could not be read. A last record that is not whole is what a
    /// kill in the middle of writing leaves: nobody has received its bytes.
    pub fn warn_of_damage(&mut self) -> Result<(), IndexError> {
        if self.spool.is_status_damaged()? {
            let (page, t) = (self.spool.first_position(), self.state.t_last);
            self.warn_unread(0, page, t)?;
        }
        Ok(())
    }

    /// Everything is drained: ends what is open, states what is missing.
    pub fn finish(&mut self, status: &Status, state: State) -> Result<(), IndexError> {
        self.finish_lines()?;
        self.finish_connections()?;
        let end = status.end.as_ref();
        let t_end = end.map_or(Moment(0), EndNote::t);
        let t_end = self.state.t_last.max(t_end);
        for (stream, &forwarded) in StreamId::STDIO.into_iter().zip(&status.forwarded) {
            self.with_line(stream, |batch, line| {
                batch.gap(line, stream, forwarded, t_end)
            })?;
        }
        if let Some(exit) = end.and_then(|end| end.exit.clone()) {
            // A full disk may have kept the event itself off the record.
            if !self.conn.query_row(HAS_EXIT, [], |row| row.get(0))? {
                self.event(t_end, exit)?;
            }
        }
        self.state.t_last = t_end;
        if let Some(deriver) = &mut self.deriver {
            deriver.finish(&mut self.writer)?;
        }
        self.conn.execute(SAVE_STATE, [state.as_str()])?;
        Ok(())
    }

    /// Says that the recording was completed by somebody else than its recorder.
    pub fn recovered(&mut self) -> Result<(), IndexError> {
        let frames = self.state.last_seq.0;
        self.event(self.state.t_last, EventKind::Recovered { frames })
    }

    /// Writes what the transaction has changed in memory.
    pub fn save(&mut self) -> rusqlite::Result<()> {
        if let Some(deriver) = &mut self.deriver {
            deriver.flush(&mut self.writer)?;
            deriver.save(self.conn)?;
        }
        let mut save = self.conn.prepare_cached(SAVE_STREAM)?;
        for (id, line) in (0..).map(StreamId).zip(&self.state.lines) {
            save.execute(params![
                id.0,
                id.as_str(),
                to_sql(line.committed),
                to_sql(line.open.map_or(0, |open| open.len)),
                line.open.map(|open| to_sql(open.t_first.0)),
            ])?;
        }
        self.state.connections.save(self.conn)?;
        self.state.drained = self.state.next;
        let state = &self.state;
        self.conn.prepare_cached(SAVE_PROGRESS)?.execute(params![
            to_sql(state.resume()),
            to_sql(state.next),
            to_sql(state.last_seq.0),
            to_sql(state.bytes),
            to_sql(state.gap_bytes),
            to_sql(state.t_last.0),
        ])?;
        Ok(())
    }

    fn record(&mut self, head: &RecordHead) -> Result<(), IndexError> {
        let payload = std::mem::take(self.payload);
        let result = match head.kind {
            RecordKind::Chunk => self.chunk(head, &payload),
            RecordKind::Event if head.position < self.state.events_from => Ok(()),
            RecordKind::Event => self.recorded_event(head, &payload),
        };
        *self.payload = payload;
        self.state.next = head.end();
        result
    }

    fn frame(&mut self, head: FrameHead, body: Body<'_>) -> Result<(), IndexError> {
        let seq = Seq(self.state.last_seq.0 + 1);
        let head = FrameHead { seq, ..head };
        let text = match body {
            Body::Bytes(raw) => {
                self.writer.frame(&head, &raw, None)?;
                Text::Whole(raw)
            }
            Body::Spooled(record) => {
                self.writer.frame(&head, &ZeroBlob(head.size), None)?;
                let text = long::copy(self.conn, self.spool, &head, record)?;
                Text::Long(Box::new(text))
            }
        };
        self.state.last_seq = seq;
        self.state.bytes += head.size;
        if let Some(deriver) = &mut self.deriver {
            deriver.frame(&head, text);
            deriver.flush_if_many(&mut self.writer)?;
        }
        Ok(())
    }

    fn recorded_event(&mut self, head: &RecordHead, payload: &[u8]) -> Result<(), IndexError> {
        // An event that this version does not know is kept as a warning, so that nothing is lost.
        let kind = serde_json::from_slice(payload).unwrap_or_else(|_| {
            let event = String::from_utf8_lossy(payload);
            let message = format!("an event that this version does not know: {event}");
            EventKind::Warning { message }
        });
        if let EventKind::Eof {
            stream,
            by: Closer::Writer,
        } = kind
            && stream.connection().is_none()
        {
            self.finish_line(stream)?;
        }
        self.event_of_connection(head.t, &kind)?;
        self.event(head.t, kind)
    }

    pub fn event(&mut self, t: Moment, kind: EventKind) -> Result<(), IndexError> {
        let event = Event {
            t,
            after_seq: self.state.last_seq,
            kind,
        };
        self.state.last_event += 1;
        self.state.t_last = self.state.t_last.max(t);
        self.writer.event(self.state.last_event, &event)?;
        if let Some(deriver) = &mut self.deriver {
            deriver.event(&event);
        }
        Ok(())
    }
}

// The bytes of streams become lines, and what is missing of them gaps.

impl Batch<'_> {
    /// Lets `work` change the line of a stream beside all else.
    fn with_line(
        &mut self,
        stream: StreamId,
        work: impl FnOnce(&mut Self, &mut Line) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        let mut line = std::mem::take(self.state.line(stream));
        let result = work(self, &mut line);
        *self.state.line(stream) = line;
        result
    }

    fn chunk(&mut self, head: &RecordHead, payload: &[u8]) -> Result<(), IndexError> {
        self.state.t_last = self.state.t_last.max(head.t);
        if let Some(connection) = head.stream.connection() {
            return self.read_of_connection(connection, head, payload);
        }
        self.with_line(head.stream, |batch, line| {
            batch.gap(line, head.stream, head.offset, head.t)?;
            line.push(head, payload, &mut |head, body| batch.frame(head, body))?;
            if payload.is_empty() {
                line.finish(&mut |head, body| batch.frame(head, body))?;
            }
            Ok(())
        })
    }

    /// States the bytes that are missing on `stream` before `offset`, if any. The line that they
    /// interrupt ends there.
    fn gap(
        &mut self,
        line: &mut Line,
        stream: StreamId,
        offset: u64,
        t: Moment,
    ) -> Result<(), IndexError> {
        let bytes = offset.saturating_sub(line.end());
        if bytes == 0 {
            return Ok(());
        }
        line.finish(&mut |head, body| self.frame(head, body))?;
        let reason = match self.state.gap_bytes {
            0 => self.spool.status()?.gap,
            _ => None,
        };
        let gap = EventKind::Gap {
            stream,
            offset: line.committed,
            bytes,
            reason,
        };
        line.committed = offset;
        self.state.gap_bytes += bytes;
        self.event(t, gap)
    }

    /// Unfinished lines become frames, in the order of their last bytes.
    fn finish_lines(&mut self) -> Result<(), IndexError> {
        let lines = (0..).map(StreamId).zip(&self.state.lines);
        let open = lines.filter_map(|(stream, line)| Some((line.open?.t_last, stream)));
        let mut open: Vec<_> = open.collect();
        open.sort();
        open.into_iter()
            .try_for_each(|(_, stream)| self.finish_line(stream))
    }

    fn finish_line(&mut self, stream: StreamId) -> Result<(), IndexError> {
        self.with_line(stream, |batch, line| {
            line.finish(&mut |head, body| batch.frame(head, body))
        })
    }
}
