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

use bytes::Bytes;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::{FrameHead, StreamId};
use mcpreel_wire::message::Message;

/// Longer frames have no bytes here: a line of half a gigabyte would be held several times over.
pub const LONGEST: u64 = 64 << 20;

#[derive(Clone, Debug)]
pub struct Step {
    pub head: FrameHead,
    /// Its bytes; `None` for one that is longer than [`LONGEST`].
    pub raw: Option<Bytes>,
    /// Its messages, in order; none where it holds no JSON-RPC, or is no frame of the protocol.
    pub parts: Vec<Part>,
    pub batch: bool,
}

#[derive(Clone, Debug)]
pub struct Part {
    /// Its place in a batch, 0 where there is none.
    pub part: u32,
    pub what: What,
}

#[derive(Clone, Debug)]
pub enum What {
    /// A request: it begins this exchange.
    Asks(Box<Exchange>),
    Answers(ExchangeId),
    Tells(Box<Message>),
    /// A request without a usable id, a response to nothing, or neither.
    Other,
}

impl Step {
    pub fn is_from_client(&self) -> bool {
        self.head.stream == StreamId::C2S
    }

    /// Whether the server sent it, as a frame of the protocol.
    pub fn is_from_server(&self) -> bool {
        self.head.stream == StreamId::S2C
    }

    /// The same, with bytes of its own: to be kept for long, without those of the frames around it.
    pub fn alone(&self) -> Self {
        Self {
            raw: self.raw.as_deref().map(Bytes::copy_from_slice),
            ..self.clone()
        }
    }

    /// The only message, where it is the whole frame.
    pub fn single(&self) -> Option<&What> {
        match self.parts.as_slice() {
            [one] if !self.batch => Some(&one.what),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
