//! The requests of the client whose answers say something about the session.

use crate::clock::Moment;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::message::{Identity, Outcome, Response};
use std::collections::VecDeque;

/// Requests that are remembered until their answer. Only the beginning of a session is looked at:
/// without a limit a client that is never answered would make us grow. Those of the handshake are
/// forgotten last: a server that starts slowly answers them after many others were asked.
const REMEMBERED: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Initialize,
    Discover,
    Other,
}

impl Asked {
    pub(super) fn of(method: &str) -> Self {
        match method {
            "initialize" => Self::Initialize,
            "server/discover" => Self::Discover,
            _ => Self::Other,
        }
    }
}

/// A request that waits for its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pending {
    asked: Asked,
    id: RequestId,
    version: Option<Box<str>>,
    t: Moment,
}

/// A result that came for one of them.
#[derive(Debug)]
pub(super) struct Answer<'a> {
    pub(super) asked: Asked,
    /// The version of a modern request.
    pub(super) version: Option<Box<str>>,
    pub(super) t: Moment,
    pub(super) identity: Option<&'a Identity>,
}

/// The requests of the client that wait for their answer, while that matters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Handshake {
    pending: VecDeque<Pending>,
    /// Whether a request of each kind of era was served: others need not be looked at any more.
    served_legacy: bool,
    served_modern: bool,
}

impl Handshake {
    pub(super) fn ask(
        &mut self,
        asked: Asked,
        id: &RequestId,
        modern: Option<&Identity>,
        t: Moment,
    ) {
        let served = match modern {
            Some(_) => self.served_modern,
            None => self.served_legacy,
        };
        if served && asked == Asked::Other {
            return;
        }
        if self.pending.len() == REMEMBERED {
            let is_other = |pending: &Pending| pending.asked == Asked::Other;
            let least = self.pending.iter().position(is_other);
            self.pending.remove(least.unwrap_or(0));
        }
        self.pending.push_back(Pending {
            asked,
            id: id.clone(),
            version: modern.and_then(|identity| identity.protocol_version.clone()),
            t,
        });
    }

    /// The request that a result answers; errors only free their place.
    pub(super) fn answer<'a>(&mut self, response: &'a Response) -> Option<Answer<'a>> {
        let id = response.id.as_ref()?;
        let at = self.pending.iter().position(|asked| asked.id == *id)?;
        let pending = self.pending.remove(at)?;
        let identity = match &response.outcome {
            Outcome::Error { .. } => return None,
            Outcome::Result { identity } => identity.as_deref(),
            _ => None,
        };
        if pending.asked == Asked::Other {
            match pending.version {
                Some(_) => self.served_modern = true,
                None => self.served_legacy = true,
            }
        }
        Some(Answer {
            asked: pending.asked,
            version: pending.version,
            t: pending.t,
            identity,
        })
    }
}

#[cfg(test)]
impl Handshake {
    pub(super) fn waiting(&self) -> usize {
        self.pending.len()
    }
}
