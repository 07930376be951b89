//! A replay: what is offered, what was chosen of it, how far it is.

use crate::worker::beside::survey::{Offer, Requests};

/// A replay, from the question to its end.
#[derive(Debug, Default)]
pub struct Replay {
    /// What could be replayed, as long as it is asked about.
    pub offer: Option<Box<Offer>>,
    pub scope: Scope,
    /// Other arguments for the call, JSON on one line.
    pub edited: Option<Box<str>>,
    pub running: Option<Running>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// The call alone, after the handshake.
    Alone,
    UpTo,
    #[default]
    Whole,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Go {
    All,
    /// Only calls of tools that say that they only read.
    ReadOnly,
    /// The arguments are edited first.
    Edit,
    Scope(Scope),
}

#[derive(Debug)]
pub struct Running {
    pub generation: u64,
    pub told: String,
    pub is_stopping: bool,
}

impl Replay {
    /// The requests that would be made.
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
