//! A recording as steps: its frames in the order of their seq, as far as that is the order in which
//! the client knew of them, each with what its messages are.
//!
//! ```text
//!  store ──pages──▶ Script ──▶ Joiner ──▶ Step { frame, bytes, parts }
//!                                            part: asks · answers · tells · other
//! ```
//!
//! * [`Script`] reads page by page, of a long recording the next one on a thread of its own: memory
//!   holds two pages and one entry per exchange that is open in the recording, never the recording.
//! * [`Joiner`] is pure: it says what a frame is from the exchanges of the recording, and reads
//!   only those frames that belong to none.
//! * What the client said before it had all of what stands before that is given sooner.
//! * Which request an answer belongs to is what the recording says; nothing is paired anew.

mod joiner;
mod pager;
mod sooner;
mod steps;

pub use joiner::Joiner;
pub use steps::Script;

use crate::protocol::message::Message;
use crate::trace::exchange::{Exchange, ExchangeId};
use crate::trace::frame::{FrameHead, StreamId};
use bytes::Bytes;

/// Longer frames have no bytes here: a line of half a gigabyte would be held several times over.
pub const LONGEST: u64 = 64 << 20;

/// A recorded frame.
#[derive(Clone, Debug)]
pub struct Step {
    /// Where and when.
    pub head: FrameHead,
    /// Its bytes; `None` for one that is longer than [`LONGEST`].
    pub raw: Option<Bytes>,
    /// Its messages, in order; none where it holds no JSON-RPC, or is no frame of the protocol.
    pub parts: Vec<Part>,
    /// Whether it is a JSON array.
    pub batch: bool,
}

/// A message of a frame.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its place in a batch, 0 where there is none.
    pub part: u32,
    /// What it is.
    pub what: What,
}

/// What a message is.
#[derive(Clone, Debug)]
pub enum What {
    /// A request: it begins this exchange.
    Asks(Box<Exchange>),
    /// The response of this exchange.
    Answers(ExchangeId),
    /// A notification.
    Tells(Box<Message>),
    /// A request without a usable id, a response to nothing, or neither.
    Other,
}

impl Step {
    /// Whether the client sent it.
    #[must_use]
    pub fn is_from_client(&self) -> bool {
        self.head.stream == StreamId::C2S
    }

    /// Whether the server sent it, as a frame of the protocol.
    #[must_use]
    pub fn is_from_server(&self) -> bool {
        self.head.stream == StreamId::S2C
    }

    /// The same, with bytes of its own: to be kept for long, without those of the frames around it.
    #[must_use]
    pub fn alone(&self) -> Self {
        Self {
            raw: self.raw.as_deref().map(Bytes::copy_from_slice),
            ..self.clone()
        }
    }

    /// The only message, where it is the whole frame.
    #[must_use]
    pub fn single(&self) -> Option<&What> {
        match self.parts.as_slice() {
            [one] if !self.batch => Some(&one.what),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
