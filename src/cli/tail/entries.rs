//! What of the news is a line: each exchange once when it ends, everything else as it comes.

use crate::cli::exit::Failure;
use crate::cli::json;
use crate::cli::lines::{self, Width, arrow, stream_arrow};
use crate::cli::output::{Ink, Output};
use crate::cli::show::quote;
use mcpreel_share::phrases;
use mcpreel_store::reader::{EventRow, MessageRow, Recording};
use mcpreel_store::tail::{News, Tail};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::{MessageKind, MessageRecord};
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};
use mcpreel_trace::item::{Item, ItemKey, Lens, What};
use mcpreel_trace::session::End;
use mcpreel_wire::text::{duration, escape};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// An exchange that is open for longer gets a line, nanoseconds.
const LONG: u64 = 1_000_000_000;

/// Bytes of a frame that are read for a line.
const QUOTED: u64 = 1_000;

/// What has been shown, as far as that matters for what comes. It grows with what is open only.
#[derive(Default)]
pub struct Entries {
    unsettled: BTreeMap<ExchangeId, Unsettled>,
    /// The last frame that was handed over.
    last: Seq,
}

struct Unsettled {
    exchange: Exchange,
    /// Whether there was a line for its being open.
    told: bool,
}

/// A line to be.
pub enum Shown {
    /// An exchange, and when it ended.
    Ended(Box<Exchange>, Moment),
    /// An exchange that is open for so many nanoseconds.
    Open(Box<Exchange>, u64),
    /// A message that belongs to no exchange as its request or response.
    Message(Box<MessageRecord>, Moment),
    /// A line on stderr, or one on a protocol stream that holds no message.
    Line(FrameHead),
    /// An event.
    Event(EventRow),
}

impl Entries {
    /// The lines for the news, in order.
    pub fn take(&mut self, news: News) -> Vec<Shown> {
        let mut shown: Vec<((Seq, u8), Shown)> = Vec::new();
        let with_messages: BTreeSet<_> = news.messages.iter().map(|row| row.record.frame).collect();
        let times: BTreeMap<_, _> = news
            .frames
            .iter()
            .map(|head| (head.seq, head.t_last))
            .collect();
        for exchange in news.exchanges {
            if let Some((seq, exchange)) = self.settle(exchange) {
                // What nothing on the wire ended was ended by the end of the recording.
                let end = times.get(&seq).copied().or(exchange.t_response);
                let end = end.unwrap_or(Moment(news.summary.t_last_ns));
                shown.push(((seq, 1), Shown::Ended(Box::new(exchange), end)));
            }
        }
        for head in news.frames {
            if !with_messages.contains(&head.seq) {
                shown.push(((head.seq, 0), Shown::Line(head)));
            }
            self.last = self.last.max(head.seq);
        }
        for row in news.messages.into_iter().filter(stands_alone) {
            let t = times.get(&row.record.frame).copied().unwrap_or_default();
            shown.push((
                (row.record.frame, 0),
                Shown::Message(Box::new(row.record), t),
            ));
        }
        for row in news.events {
            shown.push(((row.event.after_seq, 2), Shown::Event(row)));
        }
        shown.sort_by_key(|(place, _)| *place);
        shown.into_iter().map(|(_, shown)| shown).collect()
    }

    /// The exchange with the frame that ended it, if it has just ended.
    fn settle(&mut self, exchange: Exchange) -> Option<(Seq, Exchange)> {
        let before = self.unsettled.remove(&exchange.id);
        let is_news = match &before {
            Some(before) => before.exchange.status != exchange.status,
            // What was settled before is not remembered, but its request is no news.
            None => exchange.request.0 > self.last,
        };
        if matches!(
            exchange.status,
            Status::Open | Status::Listening | Status::Task | Status::Cancelled
        ) {
            let told = before.is_some_and(|before| before.told);
            let exchange = exchange.clone();
            self.unsettled
                .insert(exchange.id, Unsettled { exchange, told });
        }
        let ended = !matches!(exchange.status, Status::Open | Status::Listening);
        let place = exchange.response.map(|(seq, _)| seq).or(exchange.cancelled);
        (is_news && ended).then(|| (place.unwrap_or(Seq(u64::MAX)), exchange))
    }

    /// Exchanges that have now been open for over a second, each once. `now` is nanoseconds since
    /// t = 0.
    pub fn open_for_long(&mut self, now: u64) -> Vec<Shown> {
        let mut shown = Vec::new();
        for unsettled in self
            .unsettled
            .values_mut()
            .filter(|unsettled| !unsettled.told)
        {
            let exchange = &unsettled.exchange;
            let waited = now.saturating_sub(exchange.t_request.0);
            let is_open = matches!(exchange.status, Status::Open | Status::Listening);
            if is_open && waited > LONG {
                unsettled.told = true;
                shown.push(Shown::Open(Box::new(exchange.clone()), waited));
            }
        }
        shown
    }
}

/// Requests and responses show as exchanges; a response to nothing shows as itself.
fn stands_alone(row: &MessageRow) -> bool {
    match row.record.kind {
        MessageKind::Notification | MessageKind::Other => true,
        MessageKind::Request | MessageKind::Response => row.record.exchange.is_none(),
    }
}

/// Reads from the recording that is followed; once it is complete that has let go of it.
pub fn with_recording<T>(
    tail: &Tail,
    path: &Path,
    read: impl FnOnce(&Recording) -> Result<T, Failure>,
) -> Result<T, Failure> {
    match tail.recording() {
        Some(recording) => read(recording),
        None => read(&Recording::open(path)?),
    }
}

/// The bytes of a frame: all of them, or the beginning.
pub fn bytes(recording: &Recording, head: &FrameHead, all: bool) -> Result<Vec<u8>, Failure> {
    if all {
        return Ok(recording.raw(head.seq)?);
    }
    Ok(recording.piece(head.seq, 0..QUOTED)?)
}

/// A JSON object with what it is in front.
#[derive(Serialize)]
pub struct Tagged<T> {
    r#type: &'static str,
    #[serde(flatten)]
    value: T,
}

/// Any of the objects.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Object<'a> {
    Exchange(Tagged<json::ExchangeLine<'a>>),
    Message(Tagged<json::MessageLine<'a>>),
    Frame(Tagged<json::Frame<'a>>),
    Event(Tagged<json::EventLine>),
}

impl From<Item> for Shown {
    fn from(item: Item) -> Self {
        let id = item.key.event_id().unwrap_or_default();
        match item.what {
            What::Exchange(exchange) => {
                let t = exchange.t_request;
                Self::Ended(exchange, t)
            }
            What::Message { record, head, .. } => Self::Message(record, head.t_last),
            What::Line { head, .. } => Self::Line(head),
            What::Event(event) => Self::Event(EventRow { id, event: *event }),
        }
    }
}

impl Shown {
    /// Which row of the recording it is.
    pub fn row(&self) -> (Lens, ItemKey) {
        match self {
            Self::Ended(exchange, _) | Self::Open(exchange, _) => {
                let (seq, part) = exchange.request;
                (Lens::Exchanges, ItemKey::of_part(seq, part))
            }
            Self::Message(record, _) => (Lens::Wire, ItemKey::of_part(record.frame, record.part)),
            Self::Line(head) => (Lens::Wire, ItemKey::of_part(head.seq, 0)),
            Self::Event(row) => (Lens::Wire, ItemKey::of_event(row.event.after_seq, row.id)),
        }
    }

    /// The frame whose bytes are wanted.
    pub fn frame(&self) -> Option<&FrameHead> {
        match self {
            Self::Line(head) => Some(head),
            _ => None,
        }
    }

    /// As JSON; `raw` are the bytes of its frame, where it wants them.
    pub fn json<'a>(&'a self, raw: &'a [u8]) -> Object<'a> {
        match self {
            Self::Ended(exchange, _) => exchange_object("exchange", exchange),
            Self::Open(exchange, _) => exchange_object("open", exchange),
            Self::Message(record, t) => Object::Message(Tagged {
                r#type: record.kind.as_str(),
                value: json::MessageLine::new(record, *t),
            }),
            Self::Line(head) => Object::Frame(Tagged {
                r#type: if head.stream == StreamId::STDERR {
                    "stderr"
                } else {
                    "line"
                },
                value: json::Frame::new(head, raw),
            }),
            Self::Event(row) => Object::Event(Tagged {
                r#type: "event",
                value: json::EventLine::from(&row.event),
            }),
        }
    }

    /// As a line for people; `over` is how the session ended, where that is known.
    pub fn line(&self, raw: &[u8], over: Option<&End>, width: Width, out: &Output) -> String {
        match self {
            Self::Ended(exchange, end) => lines::exchange(exchange, *end, over, width, out),
            Self::Open(exchange, waited) => {
                let t = Moment(exchange.t_request.0 + waited);
                let summary = escape(&exchange.summary);
                let waited = duration(*waited);
                let what = format!("{} {summary}  for {waited} now", arrow(exchange.direction));
                let at = (Some(exchange.request.0), t);
                lines::other(at, (exchange.status.as_str(), Ink::Warn), &what, width, out)
            }
            Self::Message(record, t) => {
                let summary = escape(&record.summary);
                let what = format!("{} {summary}", arrow(record.direction));
                let kind = match record.kind {
                    MessageKind::Notification => ("notification", Ink::Faint),
                    MessageKind::Response => ("orphan", Ink::Warn),
                    MessageKind::Request | MessageKind::Other => ("no message", Ink::Warn),
                };
                lines::other((Some(record.frame), *t), kind, &what, width, out)
            }
            Self::Line(head) => {
                let what = format!("{} {}", stream_arrow(head.stream), quote(raw));
                let kind = match head.stream {
                    StreamId::STDERR => ("stderr", Ink::Faint),
                    _ => ("no message", Ink::Warn),
                };
                lines::other((Some(head.seq), head.t_last), kind, &what, width, out)
            }
            Self::Event(row) => {
                let what = format!("• {}", phrases::event(&row.event.kind));
                lines::other(
                    (None, row.event.t),
                    ("event", Ink::Faint),
                    &what,
                    width,
                    out,
                )
            }
        }
    }
}

fn exchange_object<'a>(r#type: &'static str, exchange: &'a Exchange) -> Object<'a> {
    Object::Exchange(Tagged {
        r#type,
        value: json::ExchangeLine::from(exchange),
    })
}
