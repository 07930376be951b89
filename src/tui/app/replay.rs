//! A replay: what is offered, what was chosen of it, how far it is.

use crate::tui::worker::beside::survey::{Offer, Requests};

/// A replay, from the question to its end.
#[derive(Debug, Default)]
pub struct Replay {
    /// What could be replayed, as long as it is asked about.
    pub offer: Option<Box<Offer>>,
    /// How much of it.
    pub scope: Scope,
    /// Other arguments for the call, JSON on one line.
    pub edited: Option<Box<str>>,
    /// The one that runs.
    pub running: Option<Running>,
}

/// How much is replayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// The call alone, after the handshake.
    Alone,
    /// All up to the call.
    UpTo,
    /// The whole session.
    #[default]
    Whole,
}

/// What is chosen in the dialog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    /// All of it is replayed.
    All,
    /// Only calls of tools that say that they only read.
    ReadOnly,
    /// The arguments are edited first.
    Edit,
    /// So much is replayed.
    Scope(Scope),
}

/// A replay that runs.
#[derive(Debug)]
pub struct Running {
    /// Names its answers.
    pub generation: u64,
    /// How far it is, escaped.
    pub told: String,
    /// Whether it was told to stop.
    pub is_stopping: bool,
}

impl Replay {
    /// The requests that would be made.
    #[must_use]
    pub fn requests(&self) -> Option<&Requests> {
        let offer = self.offer.as_deref()?;
        let call = offer.call.as_ref();
        match self.scope {
            Scope::Whole => Some(&offer.whole),
            Scope::UpTo => call.map(|call| &call.up_to),
            Scope::Alone => call.map(|call| &call.alone),
        }
    }
}
