//! One of two recordings: its exchanges and messages, read one at a time.

use super::judge::{Judge, Occurrence, POLL, is_at_work};
use super::key::{self, Digest, Digesting, Key};
use super::noise;
use super::notices::Notices;
use crate::rules::Side;
use compact_str::CompactString;
use mcpreel_redact::{gaps, token};
use mcpreel_store::open::OpenError;
use mcpreel_store::reader::{Held as HeldFile, ReadError, Recording, Summary};
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::Document;
use mcpreel_wire::message::Direction;
use std::io::Read as _;

/// Exchanges of a side that are compared: a hundred bytes are held of each.
pub(super) const MAX_EXCHANGES: usize = 100_000;

/// Longer messages are compared by their digest alone: what is read of one takes ten times its
/// size.
pub(super) const WHOLE: u64 = 32 * 1024 * 1024;

/// Bytes of such a message that are read at once.
const PIECE: usize = 256 * 1024;

/// Notifications that are read at once.
const PAGE: u32 = 1000;

/// Bytes that are read while the recordings are held, in some milliseconds: a writer that waits
/// gets in between. An exchange counts as this many bytes at least.
const BYTES_TOGETHER: u64 = 256 * 1024;
const BYTES_EACH: u64 = 8 * 1024;

/// Where a message stands: its frame, and its place in that if it is a batch.
pub type Place = (Seq, u32);

/// A message as it is compared, without what was redacted in it where the other side has that.
#[derive(Debug, Default)]
pub struct Message {
    /// Its bytes, or what the other recording has in its place; empty for a long one.
    pub bytes: Vec<u8>,
    /// How many values are redacted in its recording and not here.
    pub redacted: u64,
    /// Where the other recording has the bytes that stand here.
    at: Option<Place>,
    /// Of a long message the digest of all of it.
    digest: Option<Digest>,
}

/// The message of the first recording at `place`, or what the second one has in its place if that
/// is the same but for values that are redacted in the first. The other message stands at
/// `counterpart`, as far as that is known, or in the same place: a redacted copy has the frames of
/// its original.
pub fn message(
    [recording, beside]: [&Recording; 2],
    place: Place,
    counterpart: Option<Place>,
) -> Result<Option<Message>, ReadError> {
    let Some(bytes) = recording.message_bytes(place.0, place.1)? else {
        return Ok(None);
    };
    let counterpart = counterpart.filter(|counterpart| *counterpart != place);
    let places = counterpart.into_iter().chain([place]);
    for at in places.filter(|_| token::may_be_in(&bytes)) {
        if let Some(original) = beside.message_bytes(at.0, at.1)?
            && let Some(redacted) = gaps::hidden(&bytes, &original)
        {
            return Ok(Some(Message {
                bytes: original,
                redacted,
                at: Some(at),
                digest: None,
            }));
        }
    }
    Ok(Some(Message {
        bytes,
        ..Message::default()
    }))
}

impl Message {
    /// The bytes of a message that was read as a whole.
    pub(super) fn whole(&self) -> Option<&[u8]> {
        self.digest.is_none().then_some(&*self.bytes)
    }

    /// A long message as its digest.
    fn digested(recording: &Recording, seq: Seq) -> Result<Self, ReadError> {
        let mut digest = Digesting::default();
        let mut blob = recording.stream(seq)?;
        let mut piece = vec![0; PIECE];
        loop {
            let read = blob.read(&mut piece).map_err(|source| OpenError::Io {
                path: recording.path().to_owned(),
                source,
            })?;
            if read == 0 {
                break;
            }
            digest.push(&piece[..read]);
        }
        Ok(Self {
            digest: Some(digest.finish()),
            ..Self::default()
        })
    }
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
    pub request: Option<Message>,
    pub response: Option<Message>,
    wall_ns: u64,
}

impl Held {
    pub(super) fn bytes(&self) -> u64 {
        let exchange = &self.exchange;
        exchange.request_size.saturating_add(exchange.response_size)
    }

    /// Values that are redacted here and are as they were on the other side.
    pub(super) fn redacted(&self) -> u64 {
        let messages = [&self.request, &self.response].into_iter().flatten();
        messages.map(|message| message.redacted).sum()
    }

    pub(super) fn occurrence(&self) -> Occurrence<'_> {
        let exchange = &self.exchange;
        Occurrence {
            seq: Some(exchange.request.0),
            method: &exchange.method,
            name: exchange.name.as_deref(),
            request: self.request.as_ref().map(|message| &*message.bytes),
            response: self.response.as_ref().map(|message| &*message.bytes),
            outline: self.response.as_ref().and_then(|message| message.digest),
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
    /// This recording and the other one.
    both: [&'r Recording; 2],
    side: Side,
    wall_ns: u64,
}

impl<'r> One<'r> {
    pub(super) fn new(both: [&'r Recording; 2], side: Side, summary: &Summary) -> Self {
        Self {
            both,
            side,
            wall_ns: summary.wall_ns,
        }
    }

    pub(super) fn recording(&self) -> &'r Recording {
        self.both[0]
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
            let page = self.recording().exchanges(after, 1000)?;
            let Some(last) = page.last() else { break };
            after = last.id;
            let recordings = [self.recording()];
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
        let request = self.message(exchange.request, None, exchange.request_size <= WHOLE)?;
        let other = self.name(request.as_ref())?;
        let name = other.as_deref().or(exchange.name.as_deref());
        let scope = judge.rules().scope(&exchange.method, name);
        let terms = key::Terms {
            scope: &scope,
            side: self.side,
            rewrites: &judge.options().rewrites,
            wall_ns: Some(self.wall_ns.saturating_add(exchange.t_request.0)),
        };
        let request = request.unwrap_or_default();
        let key = match (request.digest, Document::parse(&request.bytes)) {
            (Some(digest), _) => Key::of_bytes(digest),
            (None, Ok(document)) => Key::of(document.root(), terms),
            // Nested too deeply: its bytes are all there is.
            (None, Err(_)) => Key::of_bytes(Digest::of(&request.bytes)),
        };
        Ok(Card {
            is_at_work: self.is_at_work(exchange)?,
            ..Card::new(exchange, name, key)
        })
    }

    /// Whether the answer of an exchange is that a task is at work.
    fn is_at_work(&self, exchange: &Exchange) -> Result<bool, ReadError> {
        let is_poll = exchange.method == POLL && exchange.response_size <= WHOLE;
        let Some(response) = exchange.response.filter(|_| is_poll) else {
            return Ok(false);
        };
        let answer = message(self.both, response, None)?;
        let answer = answer.as_ref().map(|answer| &*answer.bytes);
        Ok(is_at_work(&exchange.method, answer))
    }

    fn message(
        &self,
        place: Place,
        counterpart: Option<Place>,
        whole: bool,
    ) -> Result<Option<Message>, ReadError> {
        if whole {
            return message(self.both, place, counterpart);
        }
        Message::digested(self.recording(), place.0).map(Some)
    }

    /// Reads an exchange, which has `counterpart` on the other side; `whole` says whether its
    /// messages are read as a whole.
    fn read(
        &self,
        mut exchange: Exchange,
        counterpart: Option<&Exchange>,
        whole: [bool; 2],
    ) -> Result<Held, ReadError> {
        let asked = counterpart.map(|other| other.request);
        let request = self.message(exchange.request, asked, whole[0])?;
        if let Some(name) = self.name(request.as_ref())? {
            exchange.name = Some(name);
        }
        let answered = counterpart.and_then(|other| other.response);
        let response = match exchange.response {
            Some(place) => self.message(place, answered, whole[1])?,
            None => None,
        };
        Ok(Held {
            request,
            response,
            wall_ns: self.wall_ns,
            exchange,
        })
    }

    /// The name that a request is about whose bytes are those of the other side.
    fn name(&self, request: Option<&Message>) -> Result<Option<CompactString>, ReadError> {
        let Some(at) = request.and_then(|request| request.at) else {
            return Ok(None);
        };
        let mut others = self.both[1].exchanges_of_frame(at.0)?.into_iter();
        let other = others.find(|other| other.request == at);
        Ok(other.and_then(|other| other.name))
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
            let page = self.recording().notices(after, Seq(u64::MAX), PAGE)?;
            let Some(last) = page.last().filter(|_| goes_on()) else {
                return Ok(notices);
            };
            after = (last.seq, last.part);
            let recordings = [self.recording()];
            let mut holding = Holding::of(&recordings);
            for at in page
                .iter()
                .filter(|at| at.direction == way && at.kind == MessageKind::Notification)
            {
                holding.next()?;
                let message = message(self.both, (at.seq, at.part), None)?.unwrap_or_default();
                holding.read(message.bytes.len() as u64);
                judge.redacted(message.redacted);
                let wall_ns = Some(self.wall_ns);
                judge.notice(&mut notices, self.side, at.seq, &message.bytes, wall_ns);
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
        let found = ids[at].map(|id| sides[at].recording().exchange(id));
        found.transpose().map(Option::flatten)
    };
    let exchanges = [exchange(0)?, exchange(1)?];
    let both = || exchanges.iter().flatten();
    let whole = [
        both().all(|one| one.request_size <= WHOLE),
        both().all(|one| one.response_size <= WHOLE),
    ];
    let held = |at: usize| {
        let counterpart = exchanges[1 - at].as_ref();
        let one = exchanges[at].clone();
        one.map(|one| sides[at].read(one, counterpart, whole))
            .transpose()
    };
    Ok([held(0)?, held(1)?])
}
