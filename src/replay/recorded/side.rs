//! One of two recordings: its exchanges, read one at a time.

use super::Witness;
use super::held::{Held, Message};
use super::holding::Holding;
use super::original::message;
use crate::protocol::json::{Document, Outline};
use crate::protocol::message::Direction;
use crate::replay::align::Card;
use crate::replay::judge::{Judge, Notices, Progress};
use crate::replay::key::{self, Digesting};
use crate::replay::rules::Side;
use crate::store::open::OpenError;
use crate::store::reader::{ReadError, Recording, Summary};
use crate::trace::exchange::{Exchange, ExchangeId};
use crate::trace::frame::Seq;
use compact_str::CompactString;
use std::io::Read as _;

/// Exchanges of a side that are compared: a hundred bytes are held of each.
pub(super) const MAX_EXCHANGES: usize = 100_000;

/// Longer messages are compared by their outline: what is read of one takes ten times its size.
pub(super) const WHOLE: u64 = 32 * 1024 * 1024;

/// Bytes of a long message that are read at once.
const PIECE: usize = 256 * 1024;

/// Progress notifications of an exchange that are looked at.
const MAX_PROGRESS: u32 = 10_000;

/// One of the recordings.
#[derive(Clone, Copy)]
pub(super) struct One<'r> {
    recording: &'r Recording,
    /// The other one.
    beside: &'r Recording,
    side: Side,
    wall_ns: u64,
}

impl<'r> One<'r> {
    pub(super) fn new(
        [recording, beside]: [&'r Recording; 2],
        side: Side,
        summary: &Summary,
    ) -> Self {
        Self {
            recording,
            beside,
            side,
            wall_ns: summary.wall_ns,
        }
    }

    pub(super) fn recording(&self) -> &'r Recording {
        self.recording
    }

    /// What its exchanges are known by, in the order of their requests, as far as `witness` wants
    /// to go on.
    pub(super) fn cards(
        &self,
        judge: &Judge,
        witness: &mut dyn Witness,
    ) -> Result<Vec<(ExchangeId, Card)>, ReadError> {
        let mut cards = Vec::new();
        let mut after = ExchangeId(0);
        while cards.len() < MAX_EXCHANGES && witness.reads_on() {
            let page = self.recording.exchanges(after)?;
            let Some(last) = page.last() else { break };
            after = last.id;
            let page = &page[..page.len().min(MAX_EXCHANGES - cards.len())];
            let recordings = [self.recording];
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
        let request = self.message(exchange.request, whole)?;
        let other = self.name(exchange, request.as_ref())?;
        let name = other.as_deref().or(exchange.name.as_deref());
        let bytes = request.map(|request| request.bytes).unwrap_or_default();
        holding.read(exchange.request_size);
        let scope = judge.rules().scope(method, name);
        let terms = key::Terms {
            scope: &scope,
            side: self.side,
            rewrites: &judge.options().rewrites,
            wall_ns: Some(self.wall_ns.saturating_add(exchange.t_request.0)),
        };
        let key = match Document::parse(&bytes) {
            Ok(document) => key::key(document.root(), terms),
            // Nested too deeply: its bytes are all there is.
            Err(_) => key::Key::of_bytes(&bytes),
        };
        Ok(Card::new(exchange.direction, method, name, key))
    }

    pub(super) fn exchange(&self, id: ExchangeId) -> Result<Option<Exchange>, ReadError> {
        self.recording.exchange(id)
    }

    pub(super) fn held(&self, id: Option<ExchangeId>) -> Result<Option<Held>, ReadError> {
        let exchange = id.map(|id| self.exchange(id)).transpose()?.flatten();
        let read = |exchange: Exchange| {
            let whole = [exchange.request_size, exchange.response_size].map(|size| size <= WHOLE);
            self.read(exchange, whole)
        };
        exchange.map(read).transpose()
    }

    pub(super) fn read(&self, mut exchange: Exchange, whole: [bool; 2]) -> Result<Held, ReadError> {
        let request = self.message(exchange.request, whole[0])?;
        if let Some(name) = self.name(&exchange, request.as_ref())? {
            exchange.name = Some(name);
        }
        let response = match exchange.response {
            Some(place) => self.message(place, whole[1])?,
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

    /// What a request is about whose bytes are those of the other side.
    fn name(
        &self,
        exchange: &Exchange,
        request: Option<&Message>,
    ) -> Result<Option<CompactString>, ReadError> {
        if request.is_none_or(|request| request.redacted == 0) {
            return Ok(None);
        }
        let others = self.beside.exchanges_of_frame(exchange.request.0)?;
        let other = others
            .into_iter()
            .find(|other| other.request == exchange.request);
        Ok(other.and_then(|other| other.name))
    }

    fn progress(&self, exchange: &Exchange) -> Result<Progress, ReadError> {
        let mut progress = Progress::default();
        if exchange.progress_count == 0 {
            return Ok(progress);
        }
        for at in self.recording.progress_of(exchange.id, MAX_PROGRESS)? {
            let message = self.recording.message_bytes(at.seq, at.part)?;
            progress.add(&message.unwrap_or_default());
        }
        Ok(progress)
    }

    /// A message, or where it is not read as a whole its outline.
    fn message(&self, (seq, part): (Seq, u32), whole: bool) -> Result<Option<Message>, ReadError> {
        if whole {
            let message = message([self.recording, self.beside], seq, part)?;
            return Ok(message.map(|(bytes, redacted)| Message {
                bytes,
                outline: None,
                redacted,
            }));
        }
        let (mut shape, mut digest) = (Outline::new(), Digesting::default());
        let mut blob = self.recording.stream(seq)?;
        let mut piece = vec![0; PIECE];
        loop {
            let read = blob.read(&mut piece).map_err(|source| OpenError::Io {
                path: self.recording.path().to_owned(),
                source,
            })?;
            if read == 0 {
                break;
            }
            shape.push(&piece[..read]);
            digest.push(&piece[..read]);
        }
        Ok(Some(Message {
            // What is no JSON is compared by its digest alone.
            bytes: shape.finish().unwrap_or_default(),
            outline: Some(digest.finish()),
            redacted: 0,
        }))
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
            let page = self.recording.notifications(after)?;
            let Some(last) = page.last().filter(|_| witness.reads_on()) else {
                return Ok(notices);
            };
            after = (last.seq, last.part);
            let recordings = [self.recording];
            let mut holding = Holding::of(&recordings);
            for at in page.iter().filter(|at| at.direction == way) {
                holding.next()?;
                let message = message([self.recording, self.beside], at.seq, at.part)?;
                let (message, redacted) = message.unwrap_or_default();
                holding.read(message.len() as u64);
                judge.redacted(redacted);
                let wall_ns = Some(self.wall_ns);
                judge.notice(&mut notices, self.side, Some(at.seq), &message, wall_ns);
            }
        }
    }
}
