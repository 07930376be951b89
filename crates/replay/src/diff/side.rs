//! One of two recordings: its exchanges and messages, read one at a time.

use super::exchanges::{Judge, Occurrence, is_at_work};
use super::key::{self, Digest, Digesting};
use super::notices::{Notices, Progress};
use super::recordings::{Card, Witness};
use crate::rules::Side;
use compact_str::CompactString;
use mcpreel_redact::{gaps, token};
use mcpreel_store::open::OpenError;
use mcpreel_store::reader::{Held as HeldFile, ReadError, Recording, Summary};
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

/// Progress notifications of an exchange that are looked at.
const MAX_PROGRESS: u32 = 10_000;

/// Exchanges or messages, and bytes, that are read while the recordings are held, in some
/// milliseconds: a writer that waits gets in between.
const TOGETHER: usize = 32;
const BYTES_TOGETHER: u64 = 256 * 1024;

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
/// is the same but for values that are redacted in the first. That stands at `counterpart`, as far
/// as that is known, or in the same place: a redacted copy has the frames of its original.
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

    fn read(
        recordings: [&Recording; 2],
        place: Place,
        counterpart: Option<Place>,
        whole: bool,
    ) -> Result<Option<Self>, ReadError> {
        if whole {
            return message(recordings, place, counterpart);
        }
        let mut digest = Digesting::default();
        let mut blob = recordings[0].stream(place.0)?;
        let mut piece = vec![0; PIECE];
        loop {
            let read = blob.read(&mut piece).map_err(|source| OpenError::Io {
                path: recordings[0].path().to_owned(),
                source,
            })?;
            if read == 0 {
                break;
            }
            digest.push(&piece[..read]);
        }
        Ok(Some(Self {
            digest: Some(digest.finish()),
            ..Self::default()
        }))
    }
}

/// An exchange and its messages, read.
pub(super) struct Held {
    pub exchange: Exchange,
    pub request: Option<Message>,
    pub response: Option<Message>,
    progress: Progress,
    wall_ns: u64,
    /// Values that are redacted here and are as they were on the other side.
    pub redacted: u64,
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
            request: self.request.as_ref().map(|message| &*message.bytes),
            response: self.response.as_ref().map(|message| &*message.bytes),
            outline: self.response.as_ref().and_then(|message| message.digest),
            status: exchange.status,
            latency_ns: exchange.latency_ns(),
            wall_ns: Some(self.wall_ns.saturating_add(exchange.t_request.0)),
            progress: Some(&self.progress),
        }
    }
}

/// Recordings that are held while some exchanges of them are read: asking for each row whether its
/// file has changed takes as long as reading it, and while a live recording is held its log grows.
pub(super) struct Holding<'h, 'r> {
    recordings: &'h [&'r Recording],
    held: Vec<HeldFile<'r>>,
    count: usize,
    bytes: u64,
}

impl<'h, 'r> Holding<'h, 'r> {
    pub(super) fn of(recordings: &'h [&'r Recording]) -> Self {
        Self {
            recordings,
            held: Vec::new(),
            count: 0,
            bytes: 0,
        }
    }

    /// Another exchange is about to be read.
    pub(super) fn next(&mut self) -> Result<(), ReadError> {
        if self.count == TOGETHER {
            self.release();
        }
        if self.held.is_empty() {
            let held = self.recordings.iter().map(|recording| recording.hold());
            self.held = held.collect::<Result<_, _>>()?;
        }
        self.count += 1;
        Ok(())
    }

    /// So many bytes of it were read, and are to be worked on.
    pub(super) fn read(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > BYTES_TOGETHER {
            self.release();
        }
    }

    fn release(&mut self) {
        self.held.clear();
        (self.count, self.bytes) = (0, 0);
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

    /// What its exchanges are known by, in the order of their requests, as far as `witness` goes
    /// on.
    pub(super) fn cards(
        &self,
        judge: &Judge,
        witness: &mut dyn Witness,
    ) -> Result<Vec<(ExchangeId, Card)>, ReadError> {
        let mut cards = Vec::new();
        let mut after = ExchangeId(0);
        while cards.len() < MAX_EXCHANGES && witness.reads_on() {
            let page = self.recording().exchanges(after, 1000)?;
            let Some(last) = page.last() else { break };
            after = last.id;
            let page = &page[..page.len().min(MAX_EXCHANGES - cards.len())];
            let recordings = [self.recording()];
            let mut holding = Holding::of(&recordings);
            for exchange in page {
                holding.next()?;
                cards.push((exchange.id, self.card(exchange, judge, &mut holding)?));
            }
            witness.has_read(page.len());
        }
        Ok(cards)
    }

    fn card(
        &self,
        exchange: &Exchange,
        judge: &Judge,
        holding: &mut Holding<'_, '_>,
    ) -> Result<Card, ReadError> {
        let method = &*exchange.method;
        let whole = exchange.request_size <= WHOLE;
        let request = Message::read(self.both, exchange.request, None, whole)?;
        let other = self.name(request.as_ref())?;
        let name = other.as_deref().or(exchange.name.as_deref());
        holding.read(exchange.request_size);
        let scope = judge.rules().scope(method, name);
        let terms = key::Terms {
            scope: &scope,
            side: self.side,
            rewrites: &judge.options().rewrites,
            wall_ns: Some(self.wall_ns.saturating_add(exchange.t_request.0)),
        };
        let request = request.unwrap_or_default();
        let key = match (request.digest, Document::parse(&request.bytes)) {
            (Some(digest), _) => key::Key::of_bytes(digest.to_string().as_bytes()),
            (None, Ok(document)) => key::key(document.root(), terms),
            // Nested too deeply: its bytes are all there is.
            (None, Err(_)) => key::Key::of_bytes(&request.bytes),
        };
        // Whoever asks about a task asks again as long as it is at work, here oftener than there.
        let key = if self.is_at_work(exchange)? {
            key.of_kind("at work")
        } else {
            key
        };
        Ok(Card::new(exchange.direction, method, name, key))
    }

    /// Whether the answer of an exchange is that a task is at work.
    fn is_at_work(&self, exchange: &Exchange) -> Result<bool, ReadError> {
        let is_poll = &*exchange.method == "tasks/get" && exchange.response_size <= WHOLE;
        let Some(response) = exchange.response.filter(|_| is_poll) else {
            return Ok(false);
        };
        let answer = message(self.both, response, None)?;
        let answer = answer.as_ref().map(|answer| &*answer.bytes);
        Ok(is_at_work(&exchange.method, answer))
    }

    pub(super) fn exchange(&self, id: ExchangeId) -> Result<Option<Exchange>, ReadError> {
        self.recording().exchange(id)
    }

    pub(super) fn held(&self, id: Option<ExchangeId>) -> Result<Option<Held>, ReadError> {
        let exchange = id.map(|id| self.exchange(id)).transpose()?.flatten();
        let read = |exchange: Exchange| {
            let whole = [exchange.request_size, exchange.response_size].map(|size| size <= WHOLE);
            self.read(exchange, None, whole)
        };
        exchange.map(read).transpose()
    }

    /// Reads an exchange, which has `counterpart` on the other side; `whole` says whether its
    /// messages are read as a whole.
    pub(super) fn read(
        &self,
        mut exchange: Exchange,
        counterpart: Option<&Exchange>,
        whole: [bool; 2],
    ) -> Result<Held, ReadError> {
        let asked = counterpart.map(|other| other.request);
        let request = Message::read(self.both, exchange.request, asked, whole[0])?;
        if let Some(name) = self.name(request.as_ref())? {
            exchange.name = Some(name);
        }
        let answered = counterpart.and_then(|other| other.response);
        let response = match exchange.response {
            Some(place) => Message::read(self.both, place, answered, whole[1])?,
            None => None,
        };
        let messages = [&request, &response].into_iter().flatten();
        Ok(Held {
            redacted: messages.map(|message| message.redacted).sum(),
            progress: self.progress(&exchange)?,
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

    fn progress(&self, exchange: &Exchange) -> Result<Progress, ReadError> {
        let mut progress = Progress::default();
        if exchange.progress_count == 0 {
            return Ok(progress);
        }
        for at in self.recording().progress_of(exchange.id, MAX_PROGRESS)? {
            let message = self.recording().message_bytes(at.seq, at.part)?;
            progress.add(&message.unwrap_or_default());
        }
        Ok(progress)
    }

    /// The notifications that went one way.
    pub(super) fn notices(
        &self,
        way: Direction,
        judge: &mut Judge,
        witness: &mut dyn Witness,
    ) -> Result<Notices, ReadError> {
        let mut notices = Notices::default();
        let mut after = (Seq(0), 0);
        loop {
            let page = self.recording().notifications(after)?;
            let Some(last) = page.last().filter(|_| witness.reads_on()) else {
                return Ok(notices);
            };
            after = (last.seq, last.part);
            let recordings = [self.recording()];
            let mut holding = Holding::of(&recordings);
            for at in page.iter().filter(|at| at.direction == way) {
                holding.next()?;
                let message = message(self.both, (at.seq, at.part), None)?.unwrap_or_default();
                holding.read(message.bytes.len() as u64);
                judge.redacted(message.redacted);
                let wall_ns = Some(self.wall_ns);
                judge.notice(
                    &mut notices,
                    self.side,
                    Some(at.seq),
                    &message.bytes,
                    wall_ns,
                );
            }
        }
    }
}
