//! Requests that are open, as many as there is room for.

use super::remembered::Remembered;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::ExchangeId;
use mcpreel_trace::frame::Seq;
use mcpreel_wire::id::RequestId;
use mcpreel_wire::mcp::Revision;
use mcpreel_wire::mcp::capabilities::Declared;
use mcpreel_wire::message::Direction;

/// Open requests that are remembered. Whoever has more of them open is told less about them.
const OPEN: usize = 4096;

/// Bytes of their texts together, for the same reason: names and tokens may be of any length.
const BYTES: usize = 1 << 20;

/// Bytes of capabilities that are kept with a request. Honest ones have a few hundred; longer ones
/// would push out the requests of others.
const CAPABILITY_BYTES: usize = 16 << 10;

/// A request that a later message belongs to.
#[derive(Clone, Debug)]
pub struct Asked {
    pub frame: Seq,
    pub t: Moment,
    pub direction: Direction,
    /// Its method, by its name in the protocol.
    pub method: Box<str>,
    /// Tool or prompt name, resource URI, and the like.
    pub name: Option<Box<str>>,
    /// By which revision it and its answer are judged.
    pub revision: Revision,
    /// The progress token that it gave.
    pub token: Option<RequestId>,
    /// What a modern request declares.
    pub capabilities: Capabilities,
    /// Whether it asks for a task (2025-11-25).
    pub task: bool,
}

/// The capabilities that a request declares.
#[derive(Clone, Debug)]
pub enum Capabilities {
    Absent,
    Text(Box<str>),
    /// Too many bytes of them to be kept: nobody knows what is declared.
    TooLong,
}

impl Capabilities {
    /// Those that a request has as JSON text.
    pub fn new(json: Option<&str>) -> Self {
        match json {
            None => Self::Absent,
            Some(json) if json.len() > CAPABILITY_BYTES => Self::TooLong,
            Some(json) => Self::Text(json.into()),
        }
    }

    /// What they declare; `None` where there are none.
    pub fn declared(&self) -> Option<Declared> {
        match self {
            Self::Absent => None,
            Self::Text(json) => Some(Declared::read(Some(json))),
            Self::TooLong => Some(Declared::unknown()),
        }
    }
}

impl Asked {
    fn bytes(&self) -> usize {
        let name = self.name.as_deref().map_or(0, str::len);
        // A token is held as text and as what it is compared by.
        let token = self.token.as_ref().map_or(0, |it| 2 * it.json().len());
        let capabilities = match &self.capabilities {
            Capabilities::Text(json) => json.len(),
            Capabilities::Absent | Capabilities::TooLong => 0,
        };
        self.method.len() + name + token + capabilities
    }
}

/// Requests that are open. The oldest go where there is no room.
#[derive(Clone, Debug)]
pub(super) struct Open {
    entries: Remembered<ExchangeId, Asked>,
    /// Bytes of the texts of all of them.
    bytes: usize,
    /// Whether one had to go, or never came in.
    has_forgotten: bool,
}

impl Default for Open {
    fn default() -> Self {
        Self {
            entries: Remembered::new(OPEN),
            bytes: 0,
            has_forgotten: false,
        }
    }
}

impl Open {
    /// Puts a request in, unless its texts alone are more than there is room for.
    pub fn insert(&mut self, exchange: ExchangeId, asked: Asked) {
        self.remove(exchange);
        let bytes = asked.bytes();
        if bytes > BYTES {
            self.has_forgotten = true;
            return;
        }
        while self.entries.len() == OPEN || self.bytes + bytes > BYTES {
            let Some(oldest) = self.entries.forget_oldest() else {
                break;
            };
            self.has_forgotten = true;
            self.bytes -= oldest.bytes();
        }
        self.bytes += bytes;
        self.entries.insert(exchange, asked);
    }

    pub fn remove(&mut self, exchange: ExchangeId) {
        if let Some(asked) = self.entries.remove(&exchange) {
            self.bytes -= asked.bytes();
        }
    }

    pub fn get(&self, exchange: ExchangeId) -> Option<&Asked> {
        self.entries.get(&exchange)
    }

    /// Whether there may be more of them than are here.
    pub fn has_forgotten(&self) -> bool {
        self.has_forgotten
    }

    pub fn iter(&self) -> impl Iterator<Item = (ExchangeId, &Asked)> {
        self.entries.iter().map(|(id, asked)| (*id, asked))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(name: usize, capabilities: Option<&str>) -> Asked {
        Asked {
            frame: Seq(1),
            t: Moment(1),
            direction: Direction::ClientToServer,
            method: "tools/call".into(),
            name: Some("x".repeat(name).into()),
            revision: Revision::V2026_07_28,
            token: None,
            capabilities: Capabilities::new(capabilities),
            task: false,
        }
    }

    #[test]
    fn the_texts_of_open_requests_have_a_limit_together() {
        let mut open = Open::default();
        for id in 0..100 {
            open.insert(ExchangeId(id), asked(100_000, None));
            assert!(open.bytes <= BYTES);
        }
        assert!(open.get(ExchangeId(0)).is_none() && open.get(ExchangeId(99)).is_some());
        // One that is too long by itself pushes nobody out.
        open.insert(ExchangeId(100), asked(BYTES, None));
        assert!(open.get(ExchangeId(100)).is_none() && open.get(ExchangeId(99)).is_some());
        for id in 0..100 {
            open.remove(ExchangeId(id));
        }
        assert_eq!(open.bytes, 0);
        assert!(open.has_forgotten());
    }

    #[test]
    fn short_requests_are_remembered_by_their_number() {
        let mut open = Open::default();
        for id in 0..=OPEN as u64 {
            open.insert(ExchangeId(id), asked(10, None));
        }
        assert_eq!(open.iter().count(), OPEN);
        assert!(open.get(ExchangeId(0)).is_none() && open.get(ExchangeId(1)).is_some());
    }

    #[test]
    fn capabilities_that_are_too_long_declare_nobody_knows_what() {
        let long = format!(r#"{{"x":"{}"}}"#, "y".repeat(CAPABILITY_BYTES));
        let declared = asked(1, Some(&long)).capabilities.declared();
        assert!(declared.is_some_and(|it| !it.is_whole() && it.has_unknown_extensions()));
        let declared = asked(1, Some("{}")).capabilities.declared();
        assert!(declared.is_some_and(|it| it.is_whole()));
        assert!(asked(1, None).capabilities.declared().is_none());
    }
}
