//! The connections of a network recording: what was read goes in, frames come out.
//!
//! Each read is a row of `wire`, written with the frames that it completed. What a decoder remembers
//! follows from these rows, so whoever goes on with a recording lets it read them again.

use super::batch::Batch;
use super::derive::{IndexError, Text};
use super::line::COLLECT_LIMIT;
use super::long::LongText;
use crate::schema::{from_sql, to_sql};
use mcpreel_capture::spool::RecordHead;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{Closer, EventKind};
use mcpreel_trace::frame::{Envelope, FrameHead, Seq, StreamId};
use mcpreel_wire::http::{Decoder, Ended, Part, Piece, Protocol};
use mcpreel_wire::message::Direction;
use rusqlite::{Connection as Sqlite, params};
use std::collections::BTreeMap;

const INSERT_WIRE: &str = r#"INSERT INTO wire (stream, "offset", t, raw) VALUES (?1, ?2, ?3, ?4)"#;
const SAVE_STREAM: &str = "INSERT INTO stream (id, direction, kind, label, committed)
    VALUES (?1, ?2, 'connection', ?3, ?4)
    ON CONFLICT (id) DO UPDATE SET committed = excluded.committed";
const TRANSPORT: &str = "SELECT transport FROM recording";
/// Connections that were made and are not over, as far as it is on record.
const OPEN: &str = "SELECT detail ->> 'connection' FROM event WHERE kind = 'connected'
    EXCEPT SELECT detail ->> 'connection' FROM event WHERE kind = 'disconnected'";
const WIRE: &str = r#"SELECT stream, "offset", t, raw FROM wire
    WHERE stream IN (?1, ?2) ORDER BY id"#;
const ENDED: &str = "SELECT detail ->> 'stream', t FROM event
    WHERE kind = 'eof' AND detail ->> 'by' = 'writer' AND detail ->> 'stream' IN (?1, ?2)";
const NUMBERED: &str = "SELECT envelope ->> 'http' FROM frame
    WHERE stream = ?1 AND envelope ->> 'part' = 'request-head' ORDER BY seq";
const LAST_HTTP: &str = "SELECT coalesce(max(envelope ->> 'http'), 0) FROM frame
    WHERE envelope ->> 'part' = 'request-head'";

/// Exchanges of a connection whose numbers are remembered. Requests that wait for their turn on one
/// connection are few.
const NUMBERS: usize = 1024;

/// The connections that are open.
#[derive(Default)]
pub(super) struct Connections {
    open: BTreeMap<u32, Connection>,
    /// Whether they carry lines and no HTTP.
    is_lines: bool,
    /// Whether frames come decoded, from another recording.
    is_copy: bool,
    /// The number of the last HTTP exchange of the recording.
    last_http: u32,
}

struct Connection {
    decoder: Decoder,
    /// Bytes of both ways that are on record or known to be missing, from the client first.
    ends: [u64; 2],
    /// The numbers in the recording of its HTTP exchanges.
    numbers: BTreeMap<u32, u32>,
    is_saved: bool,
    /// The recording ended before the connection: neither side has cut off what is open.
    is_unfinished: bool,
}

/// A piece with bytes of its own.
pub struct Owned {
    head: FrameHead,
    envelope: Envelope,
    bytes: Vec<u8>,
}

impl Owned {
    /// A frame of another recording.
    pub fn copy(head: &FrameHead, bytes: &[u8]) -> Self {
        Self {
            head: *head,
            envelope: head.carried.into(),
            bytes: bytes.to_vec(),
        }
    }

    /// Bytes that it takes in memory, about.
    pub fn size(&self) -> usize {
        self.bytes.len() + 200
    }
}

fn side(direction: Direction) -> usize {
    usize::from(direction == Direction::ServerToClient)
}

impl Connection {
    fn new(is_lines: bool) -> Self {
        let protocol = if is_lines {
            Protocol::Lines
        } else {
            Protocol::Http
        };
        Self {
            decoder: Decoder::new(protocol),
            ends: [0; 2],
            numbers: BTreeMap::new(),
            is_saved: true,
            is_unfinished: false,
        }
    }

    fn ended(&self, ended: Ended) -> Ended {
        match ended {
            Ended::Cut | Ended::Closed if self.is_unfinished => Ended::Unfinished,
            _ => ended,
        }
    }

    /// The frame that a piece is.
    fn frame(&mut self, stream: StreamId, piece: &Piece<'_>, last_http: &mut u32) -> Owned {
        let http = match piece.exchange {
            0 => 0,
            local => *self.numbers.entry(local).or_insert_with(|| {
                *last_http += 1;
                *last_http
            }),
        };
        while self.numbers.len() > NUMBERS {
            self.numbers.pop_first();
        }
        let event = piece.event.as_ref();
        let envelope = Envelope {
            part: piece.part,
            http,
            wire: piece.wire.end - piece.wire.start,
            ended: piece.ended.map(|ended| self.ended(ended)),
            id: event.and_then(|it| it.id.as_deref().map(str::to_owned)),
            event: event.and_then(|it| it.event.as_deref().map(str::to_owned)),
            retry: event.and_then(|it| it.retry),
            total: (piece.total > piece.bytes.len() as u64).then_some(piece.total),
        };
        let head = FrameHead {
            seq: Seq(0),
            stream,
            offset: piece.wire.start,
            t_first: Moment(piece.t_first),
            t_last: Moment(piece.t_last),
            size: piece.bytes.len() as u64,
            carried: envelope.carried(),
        };
        let bytes = piece.bytes.to_vec();
        Owned {
            head,
            envelope,
            bytes,
        }
    }
}

impl Connections {
    /// What is known of the connections of the recording `conn`.
    pub fn load(conn: &Sqlite) -> rusqlite::Result<Self> {
        let transport: String = conn.query_row(TRANSPORT, [], |row| row.get(0))?;
        let mut connections = Self {
            is_lines: transport == "tcp",
            ..Self::default()
        };
        let mut open = conn.prepare(OPEN)?;
        let open = open.query_map([], |row| row.get::<_, u32>(0))?;
        for connection in open.collect::<rusqlite::Result<Vec<_>>>()? {
            let one = read_again(conn, connection, connections.is_lines)?;
            connections.open.insert(connection, one);
        }
        if !connections.open.is_empty() || transport != "stdio" {
            connections.last_http = conn.query_row(LAST_HTTP, [], |row| row.get(0))?;
        }
        Ok(connections)
    }

    fn one(&mut self, connection: u32) -> &mut Connection {
        let is_lines = self.is_lines;
        let begin = || Connection::new(is_lines);
        self.open.entry(connection).or_insert_with(begin)
    }

    /// Saves how far the streams are on record.
    pub fn save(&mut self, conn: &Sqlite) -> rusqlite::Result<()> {
        let mut save = conn.prepare_cached(SAVE_STREAM)?;
        for (id, one) in self.open.iter_mut().filter(|(_, one)| !one.is_saved) {
            for direction in [Direction::ClientToServer, Direction::ServerToClient] {
                let stream = StreamId::of_connection(*id, direction);
                let committed = to_sql(one.ends[side(direction)]);
                let label = format!("{} {id}", direction.as_str());
                save.execute(params![stream.0, direction.as_str(), label, committed])?;
            }
            one.is_saved = true;
        }
        Ok(())
    }
}

/// The decoder of a connection as it was when the recording was written last.
fn read_again(conn: &Sqlite, id: u32, is_lines: bool) -> rusqlite::Result<Connection> {
    let mut one = Connection::new(is_lines);
    let ways = [Direction::ClientToServer, Direction::ServerToClient];
    let streams = ways.map(|way| StreamId::of_connection(id, way));
    let mut nothing = |_: Piece<'_>| ();
    let mut wire = conn.prepare_cached(WIRE)?;
    let mut rows = wire.query([streams[0].0, streams[1].0])?;
    while let Some(row) = rows.next()? {
        let at = usize::from(row.get::<_, u32>(0)? == streams[1].0);
        let (offset, t) = (from_sql(row.get(1)?), from_sql(row.get(2)?));
        let raw = row.get_ref(3)?.as_blob().map_err(rusqlite::Error::from)?;
        if let missing @ 1.. = offset.saturating_sub(one.ends[at]) {
            one.decoder.skip(ways[at], t, missing, &mut nothing);
        }
        one.decoder.push(ways[at], t, raw, &mut nothing);
        one.ends[at] = offset + raw.len() as u64;
    }
    let mut ended = conn.prepare_cached(ENDED)?;
    let mut rows = ended.query([streams[0].0, streams[1].0])?;
    while let Some(row) = rows.next()? {
        let at = usize::from(row.get::<_, u32>(0)? == streams[1].0);
        one.decoder
            .end(ways[at], from_sql(row.get(1)?), &mut nothing);
    }
    let mut numbered = conn.prepare_cached(NUMBERED)?;
    let numbers = numbered.query_map([streams[0].0], |row| row.get::<_, u32>(0))?;
    for (local, number) in (1..).zip(numbers) {
        one.numbers.insert(local, number?);
    }
    Ok(one)
}

impl Batch<'_> {
    /// Takes in what was read from a connection.
    pub fn read_of_connection(
        &mut self,
        connection: u32,
        head: &RecordHead,
        payload: &[u8],
    ) -> Result<(), IndexError> {
        let Some(direction) = head.stream.messages() else {
            return Ok(());
        };
        self.missing(connection, head.stream, direction, head.offset, head.t)?;
        let known = self.state.connections.one(connection).ends[side(direction)];
        let passed = usize::try_from(known.saturating_sub(head.offset)).unwrap_or(usize::MAX);
        let bytes = payload.get(passed..).unwrap_or_default();
        if bytes.is_empty() {
            return Ok(());
        }
        let (stream, offset, t) = (head.stream.0, to_sql(known), to_sql(head.t.0));
        self.conn
            .prepare_cached(INSERT_WIRE)?
            .execute(params![stream, offset, t, bytes])?;
        self.state.bytes += bytes.len() as u64;
        self.decode(connection, direction, |decoder, emit| {
            decoder.push(direction, head.t.0, bytes, emit);
        })?;
        self.state.connections.one(connection).ends[side(direction)] += bytes.len() as u64;
        Ok(())
    }

    /// What an event says of a connection, before it is put on record.
    pub fn event_of_connection(&mut self, t: Moment, kind: &EventKind) -> Result<(), IndexError> {
        if self.state.connections.is_copy {
            return Ok(());
        }
        match kind {
            EventKind::Connected { connection, .. } => {
                self.state.connections.one(*connection);
            }
            EventKind::Eof {
                stream,
                by: Closer::Writer,
            } => {
                if let (Some(connection), Some(way)) = (stream.connection(), stream.messages()) {
                    self.decode(connection, way, |it, emit| it.end(way, t.0, emit))?;
                }
            }
            EventKind::Disconnected {
                connection, bytes, ..
            } => {
                let ways = [Direction::ClientToServer, Direction::ServerToClient];
                for (way, bytes) in ways.into_iter().zip(bytes) {
                    let stream = StreamId::of_connection(*connection, way);
                    self.missing(*connection, stream, way, *bytes, t)?;
                    self.decode(*connection, way, |it, emit| it.end(way, t.0, emit))?;
                }
                self.state.connections.save(self.conn)?;
                self.state.connections.open.remove(connection);
            }
            _ => {}
        }
        Ok(())
    }

    /// The recording is over: ends what is open.
    pub fn finish_connections(&mut self) -> Result<(), IndexError> {
        let t = self.state.t_last.0;
        let open: Vec<_> = self.state.connections.open.keys().copied().collect();
        for connection in open {
            self.state.connections.one(connection).is_unfinished = true;
            for way in [Direction::ClientToServer, Direction::ServerToClient] {
                self.decode(connection, way, |it, emit| it.end(way, t, emit))?;
            }
        }
        Ok(())
    }

    /// States the bytes that are missing on a stream before `offset`, if any.
    fn missing(
        &mut self,
        connection: u32,
        stream: StreamId,
        direction: Direction,
        offset: u64,
        t: Moment,
    ) -> Result<(), IndexError> {
        let known = self.state.connections.one(connection).ends[side(direction)];
        let bytes = offset.saturating_sub(known);
        if bytes == 0 {
            return Ok(());
        }
        self.decode(connection, direction, |decoder, emit| {
            decoder.skip(direction, t.0, bytes, emit);
        })?;
        self.state.connections.one(connection).ends[side(direction)] = offset;
        let reason = self.spool.status()?.gap;
        self.state.gap_bytes += bytes;
        let gap = EventKind::Gap {
            stream,
            offset: known,
            bytes,
            reason,
        };
        self.event(t, gap)
    }

    /// Lets the decoder of a connection `work`, and puts on record what comes out.
    fn decode(
        &mut self,
        connection: u32,
        direction: Direction,
        work: impl FnOnce(&mut Decoder, &mut dyn FnMut(Piece<'_>)),
    ) -> Result<(), IndexError> {
        let connections = &mut self.state.connections;
        let mut last_http = connections.last_http;
        let one = connections.one(connection);
        one.is_saved = false;
        let mut pieces = Vec::new();
        let mut decoder = std::mem::replace(&mut one.decoder, Decoder::new(Protocol::Lines));
        work(&mut decoder, &mut |piece| {
            // The end of one way may end what goes the other.
            let stream = StreamId::of_connection(connection, piece.direction);
            pieces.push(one.frame(stream, &piece, &mut last_http));
        });
        one.decoder = decoder;
        let _ = direction;
        self.state.connections.last_http = last_http;
        pieces.into_iter().try_for_each(|piece| self.carried(piece))
    }

    /// Takes in frames of another recording.
    pub fn copied(&mut self, frames: Vec<Owned>) -> Result<(), IndexError> {
        self.state.connections.is_copy = true;
        for frame in frames {
            self.state.t_last = self.state.t_last.max(frame.head.t_last);
            self.state.bytes += frame.head.size;
            self.carried(frame)?;
        }
        Ok(())
    }

    fn carried(&mut self, piece: Owned) -> Result<(), IndexError> {
        let Owned {
            head,
            envelope,
            bytes,
        } = piece;
        let seq = Seq(self.state.last_seq.0 + 1);
        let head = FrameHead { seq, ..head };
        let json = serde_json::to_string(&envelope)
            .map_err(|e| rusqlite::Error::ToSqlConversionFailure(e.into()))?;
        self.writer.frame(&head, &bytes, Some(&json))?;
        self.state.last_seq = seq;
        if let Some(deriver) = &mut self.deriver {
            let text = if head.size > COLLECT_LIMIT && head.carried.part != Part::Line {
                Text::Long(Box::new(LongText::of(&bytes)))
            } else {
                Text::Whole(&bytes)
            };
            deriver.frame(&head, text);
            deriver.flush_if_many(&mut self.writer)?;
        }
        Ok(())
    }
}
