//! What travels over a network connection: HTTP/1.1 with its bodies, server-sent events, WebSocket
//! messages, lines.
//!
//! ```text
//!  bytes as they were read ──▶ Decoder ──▶ Piece: head · body · event · message · line …
//! ```
//!
//! A [`Decoder`] takes both ways of one connection, in whatever pieces they came. It is for reading
//! what was recorded: nothing is forwarded by it. [`Head`], [`BodyLength`] and [`Body`] find the end of
//! a message, also for whoever is in the middle.

mod body;
mod coding;
mod decoder;
mod events;
mod head;

pub use body::{Body, BodyLength, Malformed};
pub use coding::Coding;
pub use decoder::{Decoder, Protocol};
pub use head::Head;

use crate::message::Direction;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use strum::{EnumString, IntoStaticStr};

/// What a piece of a connection is.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, EnumString,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Part {
    RequestHead,
    ResponseHead,
    /// A body that is no stream of events, whole.
    Body,
    /// A server-sent event.
    Event,
    /// Lines in a stream of events that are no event: comments, which keep it open.
    Comment,
    /// A text or binary message of a WebSocket.
    Message,
    /// A ping, pong or close of a WebSocket.
    Control,
    #[default]
    Line,
    /// Bytes that belong to nothing.
    Other,
    /// The end of a stream of events, or of a response that has no other piece.
    End,
}

impl Part {
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// How a body or a stream of events ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr, EnumString)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Ended {
    Whole,
    /// It was as long as the connection.
    Closed,
    /// The connection was over, or bytes are missing, before its end.
    Cut,
}

impl Ended {
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    pub fn parse(word: &str) -> Option<Self> {
        word.parse().ok()
    }
}

/// A piece of what a connection carried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    pub direction: Direction,
    /// The number of the HTTP exchange on this connection, from 1; 0: none.
    pub exchange: u32,
    pub part: Part,
    /// The bytes of the stream that it was made from.
    pub wire: Range<u64>,
    /// When its first and its last byte were read.
    pub t_first: u64,
    pub t_last: u64,
    /// Its content: chunks joined, unpacked, the data of an event.
    pub bytes: &'a [u8],
    /// Bytes of all the content, of which only the beginning is kept where there is too much.
    pub total: u64,
    /// Of an event: what it says beside its data.
    pub event: Option<EventFields<'a>>,
    /// Of the last piece of a response: how it ended.
    pub ended: Option<Ended>,
}

/// What an event says beside its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventFields<'a> {
    pub id: Option<&'a str>,
    pub name: Option<&'a str>,
    /// Milliseconds after which the client is to connect again.
    pub retry: Option<u64>,
}
