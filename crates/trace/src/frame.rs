//! A unit on a stream: a line with its terminator, exactly as read.

use super::clock::Moment;
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
            Self::C2S => Some(Direction::ClientToServer),
            Self::S2C => Some(Direction::ServerToClient),
            Self(odd) if odd % 2 == 1 => Some(Direction::ClientToServer),
            Self(_) => Some(Direction::ServerToClient),
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
}

/// A line whose end has not come yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfinished {
    pub stream: StreamId,
    pub bytes: u64,
    pub since: Moment,
}
