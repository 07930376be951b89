//! Recorded values and what stands for them now, in the messages that are sent. Pure.
//!
//! ```text
//!  recorded answer ─┐
//!                   ├─ learn ──▶ Binder { recorded → live } ──prepare──▶ the bytes to send,
//!  live answer ─────┘                                         ▲          or why they cannot be
//!                                              recorded message
//! ```
//!
//! * What the protocol says the server chooses is bound wherever it would be sent: cursors, task
//!   ids, ids of elicitations, progress tokens of its requests; `requestState` and the keys of its
//!   input requests by the round that they belong to (`round`).
//! * What looks like a handle (`handle`) and differs between the two answers, and is sent by the
//!   recorded client later, as a whole value or as a word of a longer one (a path, a URI), is bound
//!   as well, and reported.
//! * What rules bind (`ruled`) comes before that; at the place of a rule as a word as well.
//! * What stands for what in messages that are compared is told by `pairs`, more narrowly: there a
//!   difference would be hidden.
//! * Placeholders of redacted values are supplied by the user, or by a live answer in their place.
//!   What is neither makes the message one that cannot be sent: [`Fault::Redacted`].
//! * What came with an answer that was never asked for has no live value: a message that needs it
//!   is not sent either, [`Fault::Unreached`].
//! * A message is changed by spans of its bytes ([`Edits`]): order of members, spelling of numbers
//!   and white space stay as recorded, and a message in which nothing changes goes out as it is.
//! * Which message needs which other one follows from the same values: [`Trail`].
//! * Everything is bounded: [`MOST`] values of a kind are remembered, the oldest are forgotten and
//!   counted.

mod bounded;
mod fresh;
mod handle;
mod known;
mod learn;
mod message;
mod own;
mod pairs;
mod prepare;
mod round;
mod ruled;
mod secret;
mod trail;
mod words;

pub use fresh::fresh_id;
pub use handle::candidates;
pub use known::Bound;
pub use learn::About;
pub use prepare::{Fault, Outgoing, Role};
pub use round::{Round, Unexpected};
pub use trail::Trail;

use crate::rewrite::Rewrites;
use crate::rules::{Bind, RuleId};
use known::Known;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::{Edits, Node, Path};
use secret::Secrets;
use std::collections::{HashMap, HashSet};

/// Values of a kind that are remembered.
pub const MOST: usize = 4096;

/// What becomes of the values of messages.
#[derive(Debug, Default)]
pub struct Binder {
    /// What the server chose, then and now.
    known: Known,
    secrets: Secrets,
    pub rewrites: Rewrites,
    /// Whether ids and progress tokens of the client are made anew.
    pub fresh_ids: bool,
    /// What span ids are made of; `None`: they are sent as recorded.
    pub span_seed: Option<u64>,
    /// The version that is asked for instead of the recorded one.
    pub protocol: Option<Box<str>>,
    /// Values that are put into the requests of these frames: JSON texts.
    pub edits: HashMap<Seq, Vec<(Path, Box<str>)>>,
    binds: Vec<(RuleId, Bind)>,
    /// Those of them by which something was sent.
    fired: HashSet<RuleId>,
    spans_made: u64,
    nodes: Vec<Node>,
}

impl Binder {
    /// Supplies the value of a placeholder.
    pub fn supply(&mut self, placeholder: impl Into<Box<str>>, value: impl Into<Box<str>>) {
        self.secrets.supply(placeholder.into(), value.into());
    }

    /// A text that is no message, a word of a command line: with its placeholders and roots
    /// replaced, or the placeholders that are not known.
    pub fn word(&self, text: &str) -> Result<String, Vec<Box<str>>> {
        let supplied = self.secrets.fill(text)?;
        Ok(self.rewrites.apply(&supplied).into_owned())
    }

    /// The handles that were sent in place of recorded ones, and what they stand for.
    pub fn bound(&self) -> Vec<Bound> {
        self.known.bound()
    }

    /// Values that were forgotten because there were too many.
    pub fn forgotten(&self) -> u64 {
        self.known.forgotten
    }
}
