//! A unit on a stream: a line with its terminator, exactly as read.

use super::clock::Moment;
use mcpreel_wire::http::{Ended, Part};
use mcpreel_wire::message::Direction;
use serde::{Deserialize, Serialize};

/// The permanent address of a frame in its recording: `#1187`. Counted from 1, over all streams,
/// in the order in which the last bytes were recorded.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Seq(pub u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StreamId(pub u32);

impl StreamId {
    /// Client to server: the server's stdin.
    pub const C2S: Self = Self(0);
    /// Server to client: the server's stdout.
    pub const S2C: Self = Self(1);
    pub const STDERR: Self = Self(2);
    /// The streams of a stdio session.
    pub const STDIO: [Self; 3] = [Self::C2S, Self::S2C, Self::STDERR];

    /// Its place in a list of streams.
    pub fn index(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }

    /// One way of a network connection; these are counted from 1.
    pub fn of_connection(connection: u32, direction: Direction) -> Self {
        Self(match direction {
            Direction::ClientToServer => connection.saturating_mul(2).saturating_add(1),
            Direction::ServerToClient => connection.saturating_mul(2).saturating_add(2),
        })
    }

    /// The connection that it is one way of, from 1; `None` over stdio.
    pub fn connection(self) -> Option<u32> {
        (self > Self::STDERR).then(|| (self.0 - 1) / 2)
    }

    /// `c2s`, `s2c` or `stderr`.
    pub fn as_str(self) -> &'static str {
        self.messages().map_or("stderr", Direction::as_str)
    }

    /// The direction of the protocol messages on it, `None` for stderr.
    pub fn messages(self) -> Option<Direction> {
        match self {
            Self::STDERR => None,
            Self::S2C => Some(Direction::ServerToClient),
            Self(even) if even > 0 && even % 2 == 0 => Some(Direction::ServerToClient),
            Self(_) => Some(Direction::ClientToServer),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHead {
    pub seq: Seq,
    /// The stream that it was read from.
    pub stream: StreamId,
    /// Bytes of the stream before it, gaps included.
    pub offset: u64,
    pub t_first: Moment,
    /// When its terminator was read (its last byte, where it has none).
    pub t_last: Moment,
    pub size: u64,
    /// The place in the transport; over stdio that of a line.
    pub carried: Carried,
}

/// The way in which a transport carries a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    pub part: Part,
    /// The number of the HTTP exchange in the recording, from 1; 0 outside of any.
    pub http: u32,
    /// How the body or the stream of events ended that ends with it.
    pub ended: Option<Ended>,
    /// Of an event: whether it has an id, from which the client can go on.
    pub has_id: bool,
    /// Of an event: whether it names the endpoint to which the client sends (2024-11-05).
    pub is_endpoint: bool,
    /// Whether only the beginning of it is kept.
    pub is_cut: bool,
}

/// What a network transport wraps around a frame: the column `envelope`, JSON.
///
/// The bytes of a frame are decoded there (chunks joined, unpacked, the data of an event); what was
/// on the wire are `wire` bytes of its stream from its offset on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    pub part: Part,
    #[serde(skip_serializing_if = "is_zero", default)]
    pub http: u32,
    pub wire: u64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended: Option<Ended>,
    /// Of an event: its `id`, its name and its `retry`, milliseconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub event: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub retry: Option<u64>,
    /// The bytes that it has decoded, where only the first of them are kept.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub total: Option<u64>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl From<Carried> for Envelope {
    /// That of a frame in a copy: what was on the wire is not in it.
    fn from(carried: Carried) -> Self {
        let event = |is: bool| is.then(String::new);
        Self {
            part: carried.part,
            http: carried.http,
            ended: carried.ended,
            id: event(carried.has_id),
            event: carried.is_endpoint.then(|| "endpoint".to_owned()),
            total: carried.is_cut.then_some(0),
            ..Self::default()
        }
    }
}

impl Envelope {
    pub fn carried(&self) -> Carried {
        Carried {
            part: self.part,
            http: self.http,
            ended: self.ended,
            has_id: self.id.is_some(),
            is_endpoint: self.event.as_deref() == Some("endpoint"),
            is_cut: self.total.is_some(),
        }
    }
}

/// A line whose end has not come yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfinished {
    pub stream: StreamId,
    pub bytes: u64,
    pub since: Moment,
}
