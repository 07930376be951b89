//! What a connection is taken apart into, and how a piece is put together.

use crate::message::Direction;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::ops::Range;
use strum::{EnumString, IntoStaticStr};

/// What is kept of a piece whole. Of a longer one, the first [`KEPT`] bytes are.
pub const LIMIT: usize = 16 << 20;

/// What is kept of a piece longer than [`LIMIT`].
pub const KEPT: usize = 1 << 20;

/// The longest piece of bytes that are not understood.
const MAX_OTHER: usize = 64 << 10;

/// A part of one direction of a connection, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    pub direction: Direction,
    /// The number of the HTTP exchange on this connection, from 1; 0 outside of any. Behind a
    /// switch of protocols it is that of the switch.
    pub exchange: u32,
    pub part: Part,
    /// Where the piece stands in the stream: from its first to behind its last byte. Lines around
    /// chunks and empty lines between pieces need not belong to any. Of several events that the
    /// same compressed byte completes, the first has it, and the others are empty here.
    pub wire: Range<u64>,
    /// When its first byte was read, in nanoseconds.
    pub t_first: u64,
    pub t_last: u64,
    /// The decoded bytes; the first [`KEPT`] of them where there are more than [`LIMIT`].
    pub bytes: &'a [u8],
    /// How many decoded bytes there are.
    pub total: u64,
    /// The fields of a server-sent event.
    pub event: Option<EventFields<'a>>,
    /// How it ended: of [`Part::Body`] and [`Part::End`].
    pub ended: Option<Ended>,
}

/// What a piece is.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    IntoStaticStr,
    EnumString,
    Serialize,
    Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Part {
    /// The exact bytes of a head, with its empty line.
    RequestHead,
    /// Also of an interim response (1xx).
    ResponseHead,
    /// A body that is not a stream of events, and not empty.
    Body,
    /// The data of a server-sent event; empty where it has fields but no data.
    Event,
    /// The lines of a block in a stream of events that has comments only.
    Comment,
    /// A text or binary message of a WebSocket, its fragments joined.
    Message,
    /// The payload of a ping, pong or close of a WebSocket.
    Control,
    /// A line with its terminator; without where the stream ended in it.
    #[default]
    Line,
    /// What is not understood, or was cut before it could be: the bytes as they are. Trailers, too.
    Other,
    /// No bytes: a stream of events ended, or a body that is empty or was cut before its first byte. Where
    /// the head says that there is no body there is no piece.
    End,
}

impl Part {
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// How a body ended.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr, EnumString, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Ended {
    /// As its framing says.
    Whole,
    /// By the end of the connection, as its framing says.
    Closed,
    /// The connection ended, bytes are missing, or its coding is broken before its end.
    Cut,
    /// A chunk is not as long as it says: where the message ends is unknown.
    Misframed,
    /// The recording ended before the body did.
    Unfinished,
}

impl Ended {
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// The fields of a server-sent event besides its data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventFields<'a> {
    pub id: Option<Cow<'a, str>>,
    /// The event's type.
    pub event: Option<Cow<'a, str>>,
    /// The time in milliseconds to wait before connecting again.
    pub retry: Option<u64>,
}

/// Takes the pieces of a connection.
pub type Emit<'a> = &'a mut dyn FnMut(Piece<'_>);

/// Takes the pieces of one direction and exchange.
pub(super) struct Out<'a> {
    pub(super) direction: Direction,
    pub(super) exchange: u32,
    pub(super) emit: Emit<'a>,
}

/// Bytes in a row as they were read: where the first of them stands in its stream, and when it was
/// read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Read<'a> {
    pub(super) at: u64,
    pub(super) t: u64,
    pub(super) bytes: &'a [u8],
}

impl Read<'_> {
    pub(super) fn wire(self) -> Range<u64> {
        self.at..self.at + self.bytes.len() as u64
    }

    pub(super) fn split_at(self, length: usize) -> (Self, Self) {
        let (bytes, rest) = self.bytes.split_at(length);
        let behind = Self {
            at: self.at + length as u64,
            bytes: rest,
            ..self
        };
        (Self { bytes, ..self }, behind)
    }
}

/// A piece that is not whole yet.
#[derive(Debug, Default)]
pub(super) struct Open {
    pub(super) bytes: Vec<u8>,
    pub(super) total: u64,
    /// Its place and times, once something of it was read.
    read: Option<(Range<u64>, u64, u64)>,
}

impl Open {
    pub(super) fn is_begun(&self) -> bool {
        self.read.is_some()
    }

    /// Makes the piece reach over `wire`, read at `t`.
    pub(super) fn reach(&mut self, wire: Range<u64>, t: u64) {
        match &mut self.read {
            Some((all, _, last)) => (all.end, *last) = (wire.end, t),
            None => self.read = Some((wire, t, t)),
        }
    }

    /// Makes the piece reach over what was read of another.
    pub(super) fn reach_over(&mut self, other: &Self) {
        if let Some((wire, t_first, t_last)) = &other.read {
            self.reach(wire.clone(), *t_first);
            self.reach(wire.clone(), *t_last);
        }
    }

    /// Adds decoded bytes.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let over = self.total > LIMIT as u64;
        let room = (if over { KEPT } else { LIMIT }).saturating_sub(self.bytes.len());
        self.bytes
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
        if over && self.bytes.capacity() > KEPT {
            self.bytes.truncate(KEPT);
            self.bytes.shrink_to_fit();
        }
    }

    /// The bytes as they were read, for a piece that needed no decoding.
    pub(super) fn as_read(&self) -> Option<Read<'_>> {
        let (wire, t, _) = self.read.as_ref()?;
        Some(Read {
            at: wire.start,
            t: *t,
            bytes: &self.bytes,
        })
    }

    /// Adds bytes that need no decoding.
    pub(super) fn take(&mut self, read: Read) {
        self.reach(read.wire(), read.t);
        self.add(read.bytes);
    }

    /// The wire that it reaches over, if it is begun.
    pub(super) fn wire(&self) -> Option<Range<u64>> {
        self.read.as_ref().map(|(wire, ..)| wire.clone())
    }

    /// Gives the piece, if anything of it was read. The next one can begin.
    pub(super) fn give(&mut self, part: Part, out: &mut Out) {
        self.give_with(part, None, None, out);
    }

    pub(super) fn give_with(
        &mut self,
        part: Part,
        event: Option<EventFields>,
        ended: Option<Ended>,
        out: &mut Out,
    ) {
        let open = std::mem::take(self);
        if let Some((wire, t_first, t_last)) = open.read {
            (out.emit)(Piece {
                direction: out.direction,
                exchange: out.exchange,
                part,
                wire,
                t_first,
                t_last,
                bytes: &open.bytes,
                total: open.total,
                event,
                ended,
            });
        }
    }
}

/// Gives the piece [`Part::End`]: something ended at `at`.
pub(super) fn give_end(at: u64, t: u64, ended: Ended, out: &mut Out) {
    let mut end = Open::default();
    end.reach(at..at, t);
    end.give_with(Part::End, None, Some(ended), out);
}

/// Bytes that are not understood, in pieces of [`MAX_OTHER`].
#[derive(Debug, Default)]
pub(super) struct Raw(Open);

impl Raw {
    pub(super) fn push(&mut self, mut read: Read, out: &mut Out) {
        while !read.bytes.is_empty() {
            let room = MAX_OTHER - self.0.bytes.len();
            let (now, rest) = read.split_at(read.bytes.len().min(room));
            self.0.take(now);
            if self.0.bytes.len() == MAX_OTHER {
                self.end(out);
            }
            read = rest;
        }
    }

    pub(super) fn end(&mut self, out: &mut Out) {
        self.0.give(Part::Other, out);
    }
}
