//! The rows that a session is shown as.
//!
//! In order of time a session is a list of *items*. Through the lens of exchanges an item is an
//! exchange with all that belongs to it, or something that stands for itself: a notification that
//! belongs to no exchange, a message that fits nothing, a line that is no message (stderr, noise),
//! an event. Through the lens of the wire every message is an item of its own, and so is every
//! line without one.

use super::clock::Moment;
use super::correlator::{MessageKind, MessageRecord};
use super::event::Event;
use super::exchange::Exchange;
use super::frame::{FrameHead, Seq, StreamId};
use super::http::HttpExchange;
use mcpreel_wire::message::Direction;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Lens {
    /// An exchange, with its progress, its cancel and its response folded in.
    #[default]
    Exchanges,
    /// A frame; each message of a batch on its own.
    Wire,
}

/// The address of an item, in the order in which items are shown: by frame, then by the place in
/// a batch; events come after the last frame that was complete before them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemKey {
    /// The frame: of an exchange that of its request, of an event the last one before it.
    pub seq: Seq,
    /// The place in a batch, or [`Self::EVENT`] plus the number of the event.
    pub nth: u32,
}

words! {
    /// What kind of thing an item is: the values of `kind` in filters.
    #[derive(PartialOrd, Ord)]
    ItemKind {
        Request = "request", "a request; through the lens of exchanges with its response";
        Response = "response", "a response that belongs to nothing; on the wire any";
        Notification = "notification", "a notification";
        Stderr = "stderr", "a line of stderr";
        Http = "http", "a request of HTTP without a message; on the wire any part of HTTP beside the messages";
        Other = "other", "a line or object that is not a JSON-RPC message";
        Event = "event", "something that happened to the process or to the recording";
    }
}

#[derive(Clone, Debug)]
pub struct Item {
    pub key: ItemKey,
    pub what: What,
    pub findings: Vec<FindingNote>,
    /// What a person put on its frame.
    pub annotation: Option<Annotation>,
}

#[derive(Clone, Debug)]
pub enum What {
    /// A request with its response. Through the lens of exchanges only.
    Exchange(Box<Exchange>),
    /// A message, with its frame and the exchange that it belongs to.
    Message {
        record: Box<MessageRecord>,
        head: FrameHead,
        /// The exchange that it belongs to.
        exchange: Option<Box<Exchange>>,
    },
    /// A request of HTTP without a message, with its response. Through the lens of exchanges only.
    Http(Box<HttpExchange>),
    Line {
        head: FrameHead,
        /// Its first bytes, for the list; [`Item::PREVIEW`] at most.
        preview: Box<[u8]>,
    },
    Event(Box<Event>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingNote {
    pub rule: Box<str>,
    pub severity: Box<str>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Annotation {
    /// The mark, if there is one: a word, empty for a plain mark.
    pub mark: Option<Box<str>>,
    pub note: Option<Box<str>>,
}

impl ItemKey {
    pub const EVENT: u32 = 1 << 31;

    /// The item of a message, or of the first one of a frame, or of a frame without.
    pub fn of_part(seq: Seq, part: u32) -> Self {
        Self { seq, nth: part }
    }

    /// The row of an exchange.
    pub fn of_exchange(exchange: &Exchange) -> Self {
        Self::of_part(exchange.request.0, exchange.request.1)
    }

    /// The item of the event with the number `id`.
    pub fn of_event(after: Seq, id: u64) -> Self {
        // Events are few: a recorder writes some dozens.
        let id = u32::try_from(id).unwrap_or(u32::MAX) & !Self::EVENT;
        Self {
            seq: after,
            nth: Self::EVENT | id,
        }
    }

    /// The number of the event, if it is one.
    pub fn event_id(self) -> Option<u64> {
        (self.nth & Self::EVENT != 0).then_some(u64::from(self.nth & !Self::EVENT))
    }
}

impl Item {
    /// Bytes of a line that the list holds.
    pub const PREVIEW: usize = 512;

    pub fn kind(&self) -> ItemKind {
        match &self.what {
            What::Exchange(_) => ItemKind::Request,
            What::Message { record, .. } => match record.kind {
                MessageKind::Request => ItemKind::Request,
                MessageKind::Response => ItemKind::Response,
                MessageKind::Notification => ItemKind::Notification,
                MessageKind::Other => ItemKind::Other,
            },
            What::Http(_) => ItemKind::Http,
            What::Line { head, .. } if head.stream == StreamId::STDERR => ItemKind::Stderr,
            What::Line { head, .. } if head.carried.http > 0 => ItemKind::Http,
            What::Line { .. } => ItemKind::Other,
            What::Event(_) => ItemKind::Event,
        }
    }

    pub fn t(&self) -> Moment {
        match &self.what {
            What::Exchange(exchange) => exchange.t_request,
            What::Http(http) => http.t_request,
            What::Message { head, .. } | What::Line { head, .. } => head.t_last,
            What::Event(event) => event.t,
        }
    }

    /// The exchange that it is, or belongs to.
    pub fn exchange(&self) -> Option<&Exchange> {
        match &self.what {
            What::Exchange(exchange) => Some(exchange),
            What::Message { exchange, .. } => exchange.as_deref(),
            What::Http(_) | What::Line { .. } | What::Event(_) => None,
        }
    }

    /// Which way it went; none for stderr and events.
    pub fn direction(&self) -> Option<Direction> {
        match &self.what {
            What::Exchange(exchange) => Some(exchange.direction),
            What::Message { record, .. } => Some(record.direction),
            What::Http(_) => Some(Direction::ClientToServer),
            What::Line { head, .. } => head.stream.messages(),
            What::Event(_) => None,
        }
    }

    pub fn method(&self) -> Option<&str> {
        match &self.what {
            What::Exchange(exchange) => Some(&exchange.method),
            What::Message { record, .. } => record.method.as_deref(),
            What::Http(_) | What::Line { .. } | What::Event(_) => None,
        }
    }

    /// Tool or prompt name, resource URI, task id.
    pub fn name(&self) -> Option<&str> {
        match &self.what {
            What::Exchange(exchange) => exchange.name.as_deref(),
            What::Message { record, .. } => record.name.as_deref(),
            What::Http(_) | What::Line { .. } | What::Event(_) => None,
        }
    }
}
