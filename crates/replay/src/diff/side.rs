//! One of two recordings: its exchanges and messages, read one at a time.

use super::judge::{Judge, Occurrence, POLL, is_at_work};
use super::key::{self, Digest, Key};
use super::noise;
use super::notices::Notices;
use crate::rules::Side;
use mcpreel_redact::gaps;
use mcpreel_store::reader::{Held as HeldFile, ReadError, Recording, Summary};
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::Document;
use mcpreel_wire::message::Direction;

/// Exchanges of a side that are compared: a hundred bytes are held of each.
pub(super) const MAX_EXCHANGES: usize = 100_000;

/// Of longer messages only the sizes are compared: what is read of one takes ten times its size.
const WHOLE: u64 = 32 * 1024 * 1024;

/// Notifications that are read at once.
const PAGE: u32 = 1000;

/// Bytes that are read while the recordings are held, in some milliseconds: a writer that waits
/// gets in between. An exchange counts as this many bytes at least.
const BYTES_TOGETHER: u64 = 256 * 1024;
const BYTES_EACH: u64 = 8 * 1024;

/// Takes one message for both where the other one is the same but for values that are redacted in
/// it; returns how many these are.
pub fn fill_redacted(left: &mut Vec<u8>, right: &mut Vec<u8>) -> u64 {
    if let Some(values) = gaps::hidden(left, right) {
        left.clone_from(right);
        return values;
    }
    let values = gaps::hidden(right, left);
    if values.is_some() {
        right.clone_from(left);
    }
    values.unwrap_or_default()
}

/// What an exchange is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Card {
    pub id: ExchangeId,
    /// Which way the request went, and its method.
    pub call: Digest,
    pub name: Digest,
    pub key: Key,
    /// Whether its answer is that a task is at work: a client asks again as long as it is.
    pub is_at_work: bool,
}

impl Card {
    pub(super) fn new(exchange: &Exchange, name: Option<&str>, key: Key) -> Self {
        let method = &*exchange.method;
        // The name of a call about a task is the task's id, which is made up anew every time.
        let name = name.filter(|_| !method.starts_with("tasks/"));
        let call = format!("{} {method}", exchange.direction.as_str());
        Self {
            id: exchange.id,
            call: Digest::of(call.as_bytes()),
            name: Digest::of(noise::shape(name.unwrap_or_default()).as_bytes()),
            key,
            is_at_work: false,
        }
    }
}

/// An exchange and its messages, read.
pub(super) struct Held {
    pub exchange: Exchange,
    /// Empty where it is too long.
    pub request: Option<Vec<u8>>,
    pub response: Option<Vec<u8>>,
    wall_ns: u64,
    is_too_long: bool,
}

impl Held {
    pub(super) fn bytes(&self) -> u64 {
        let exchange = &self.exchange;
        exchange.request_size.saturating_add(exchange.response_size)
    }

    pub(super) fn occurrence(&self) -> Occurrence<'_> {
        let exchange = &self.exchange;
        Occurrence {
            seq: Some(exchange.request.0),
            method: &exchange.method,
            name: exchange.name.as_deref(),
            request: self.request.as_deref(),
            response: self.response.as_deref(),
            size: self.is_too_long.then_some(exchange.response_size),
            status: exchange.status,
            latency_ns: exchange.latency_ns(),
            wall_ns: Some(self.wall_ns.saturating_add(exchange.t_request.0)),
        }
    }
}

/// Recordings that are held while some exchanges of them are read: asking for each row whether its
/// file has changed takes as long as reading it, and while a live recording is held its log grows.
pub(super) struct Holding<'h, 'r> {
    recordings: &'h [&'r Recording],
    held: Vec<HeldFile<'r>>,
    bytes_left: u64,
}

impl<'h, 'r> Holding<'h, 'r> {
    pub(super) fn of(recordings: &'h [&'r Recording]) -> Self {
        Self {
            recordings,
            held: Vec::new(),
            bytes_left: 0,
        }
    }

    /// Another exchange is about to be read.
    pub(super) fn next(&mut self) -> Result<(), ReadError> {
        if self.bytes_left == 0 {
            self.held.clear();
            let held = self.recordings.iter().map(|recording| recording.hold());
            self.held = held.collect::<Result<_, _>>()?;
            self.bytes_left = BYTES_TOGETHER;
        }
        self.read(BYTES_EACH);
        Ok(())
    }

    /// So many bytes were read, and are to be worked on.
    pub(super) fn read(&mut self, bytes: u64) {
        self.bytes_left = self.bytes_left.saturating_sub(bytes);
        if bytes > BYTES_EACH && self.bytes_left == 0 {
            self.held.clear();
        }
    }
}

/// One of two recordings.
#[derive(Clone, Copy)]
pub(super) struct One<'r> {
    pub recording: &'r Recording,
    side: Side,
    wall_ns: u64,
    /// The other recording, where this one is redacted and may be its copy.
    original: Option<&'r Recording>,
}

impl<'r> One<'r> {
    pub(super) fn new(
        recording: &'r Recording,
        side: Side,
        summary: &Summary,
        other: &'r Recording,
    ) -> Self {
        Self {
            recording,
            side,
            wall_ns: summary.wall_ns,
            original: summary.redaction.is_some().then_some(other),
        }
    }

    /// A message as it was before it was redacted, where the other recording has it in the same
    /// frame, and how many values are redacted in it: a redacted copy has the frames of its original.
    fn unredacted(&self, at: (Seq, u32), message: Vec<u8>) -> Result<(Vec<u8>, u64), ReadError> {
        let original = match self.original {
            Some(other) => other.message_bytes(at.0, at.1)?,
            None => None,
        };
        let values = original
            .as_ref()
            .and_then(|original| gaps::hidden(&message, original));
        Ok(match (original, values) {
            (Some(original), Some(values)) => (original, values),
            _ => (message, 0),
        })
    }

    /// What its exchanges are known by, in the order of their requests, as long as `goes_on` says
    /// so. It is told how many are known.
    pub(super) fn cards(
        &self,
        judge: &Judge,
        goes_on: &mut dyn FnMut(usize) -> bool,
    ) -> Result<Vec<Card>, ReadError> {
        let mut cards = Vec::new();
        let mut after = ExchangeId(0);
        while cards.len() < MAX_EXCHANGES && goes_on(cards.len()) {
            let page = self.recording.exchanges(after, 1000)?;
            let Some(last) = page.last() else { break };
            after = last.id;
            let recordings = [self.recording];
            let mut holding = Holding::of(&recordings);
            for exchange in &page[..page.len().min(MAX_EXCHANGES - cards.len())] {
                holding.next()?;
                cards.push(self.card(exchange, judge)?);
                holding.read(exchange.request_size);
            }
        }
        Ok(cards)
    }

    fn card(&self, exchange: &Exchange, judge: &Judge) -> Result<Card, ReadError> {
        let request = self.message(exchange.request, exchange.request_size <= WHOLE)?;
        let name = exchange.name.as_deref();
        let scope = judge.rules().scope(&exchange.method, name);
        let terms = key::Terms {
            scope: &scope,
            side: self.side,
            rewrites: &judge.options().rewrites,
            wall_ns: Some(self.wall_ns.saturating_add(exchange.t_request.0)),
        };
        let (request, _) = self.unredacted(exchange.request, request.unwrap_or_default())?;
        let key = match Document::parse(&request) {
            Ok(document) => Key::of(document.root(), terms),
            // Nested too deeply, or too long: its bytes are all there is.
            Err(_) => Key::of_bytes(Digest::of(&request)),
        };
        Ok(Card {
            is_at_work: self.is_at_work(exchange)?,
            ..Card::new(exchange, name, key)
        })
    }

    /// Whether the answer of an exchange is that a task is at work.
    fn is_at_work(&self, exchange: &Exchange) -> Result<bool, ReadError> {
        let is_poll = exchange.method == POLL;
        let Some(response) = exchange.response.filter(|_| is_poll) else {
            return Ok(false);
        };
        let answer = self.message(response, exchange.response_size <= WHOLE)?;
        Ok(is_at_work(&exchange.method, answer.as_deref()))
    }

    fn message(
        &self,
        (frame, part): (Seq, u32),
        is_whole: bool,
    ) -> Result<Option<Vec<u8>>, ReadError> {
        if is_whole {
            return self.recording.message_bytes(frame, part);
        }
        Ok(Some(Vec::new()))
    }

    /// Reads an exchange; `whole` says whether its messages are read as a whole.
    fn read(&self, exchange: Exchange, whole: [bool; 2]) -> Result<Held, ReadError> {
        let response = exchange.response;
        let response = response.map(|place| self.message(place, whole[1]));
        Ok(Held {
            request: self.message(exchange.request, whole[0])?,
            response: response.transpose()?.flatten(),
            wall_ns: self.wall_ns,
            is_too_long: !whole[1],
            exchange,
        })
    }

    /// The notifications that went one way, as long as `goes_on` says so.
    pub(super) fn notices(
        &self,
        way: Direction,
        judge: &mut Judge,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<Notices, ReadError> {
        let mut notices = Notices::default();
        let mut after = (Seq(0), 0);
        loop {
            let page = self.recording.notices(after, Seq(u64::MAX), PAGE)?;
            let Some(last) = page.last().filter(|_| goes_on()) else {
                return Ok(notices);
            };
            after = (last.seq, last.part);
            let recordings = [self.recording];
            let mut holding = Holding::of(&recordings);
            for at in page
                .iter()
                .filter(|at| at.direction == way && at.kind == MessageKind::Notification)
            {
                holding.next()?;
                let message = self.message((at.seq, at.part), true)?.unwrap_or_default();
                holding.read(message.len() as u64);
                let (message, redacted) = self.unredacted((at.seq, at.part), message)?;
                judge.redacted(redacted);
                let wall_ns = Some(self.wall_ns);
                judge.notice(&mut notices, self.side, at.seq, &message, wall_ns);
            }
        }
    }
}

/// Reads an exchange of both sides, or of one; its messages as a whole where both can be read so.
pub(super) fn read(
    sides: [One<'_>; 2],
    ids: [Option<ExchangeId>; 2],
) -> Result<[Option<Held>; 2], ReadError> {
    let exchange = |at: usize| {
        let found = ids[at].map(|id| sides[at].recording.exchange(id));
        found.transpose().map(Option::flatten)
    };
    let exchanges = [exchange(0)?, exchange(1)?];
    let both = || exchanges.iter().flatten();
    let whole = [
        both().all(|one| one.request_size <= WHOLE),
        both().all(|one| one.response_size <= WHOLE),
    ];
    let [left, right] = exchanges;
    let held =
        |side: One<'_>, one: Option<Exchange>| one.map(|it| side.read(it, whole)).transpose();
    Ok([held(sides[0], left)?, held(sides[1], right)?])
}
