//! One of two recordings: its exchanges, read one at a time.

use super::Witness;
use super::held::Held;
use super::holding::Holding;
use super::message::Message;
use super::original::{self, Original};
use crate::align::Card;
use crate::judge::{self, Judge, Notices, Progress};
use crate::key;
use crate::rules::Side;
use compact_str::CompactString;
use mcpreel_store::reader::{ReadError, Recording, Summary};
use mcpreel_trace::exchange::{Exchange, ExchangeId};
use mcpreel_trace::frame::Seq;
use mcpreel_wire::json::Document;
use mcpreel_wire::message::Direction;

/// Exchanges of a side that are compared: a hundred bytes are held of each.
pub(super) const MAX_EXCHANGES: usize = 100_000;

/// Longer messages are compared by their outline: what is read of one takes ten times its size.
pub(super) const WHOLE: u64 = 32 * 1024 * 1024;

/// Progress notifications of an exchange that are looked at.
const MAX_PROGRESS: u32 = 10_000;

#[derive(Clone, Copy)]
pub(super) struct One<'r> {
    recording: &'r Recording,
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

    /// This recording and the other one.
    fn both(&self) -> [&'r Recording; 2] {
        [self.recording, self.beside]
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
        let request = Message::read(self.both(), exchange.request, None, whole)?;
        let other = self.name(request.as_ref())?;
        let name = other.as_deref().or(exchange.name.as_deref());
        let bytes = request.as_ref().map_or(&[][..], Message::bytes);
        holding.read(exchange.request_size);
        let scope = judge.rules().scope(method, name);
        let terms = key::Terms {
            scope: &scope,
            side: self.side,
            rewrites: &judge.options().rewrites,
            wall_ns: Some(self.wall_ns.saturating_add(exchange.t_request.0)),
        };
        let key = match Document::parse(bytes) {
            Ok(document) => key::key(document.root(), terms),
            // Nested too deeply: its bytes are all there is.
            Err(_) => key::Key::of_bytes(bytes),
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
        let answer = Message::read(self.both(), response, None, true)?;
        let answer = answer.as_ref().map(Message::bytes);
        Ok(judge::is_at_work(&exchange.method, answer))
    }

    pub(super) fn exchange(&self, id: ExchangeId) -> Result<Option<Exchange>, ReadError> {
        self.recording.exchange(id)
    }

    pub(super) fn held(&self, id: Option<ExchangeId>) -> Result<Option<Held>, ReadError> {
        let exchange = id.map(|id| self.exchange(id)).transpose()?.flatten();
        let read = |exchange: Exchange| {
            let whole = [exchange.request_size, exchange.response_size].map(|size| size <= WHOLE);
            self.read(exchange, None, whole)
        };
        exchange.map(read).transpose()
    }

    /// An exchange, which has this one for a counterpart on the other side; whether its messages
    /// are read as a whole.
    pub(super) fn read(
        &self,
        mut exchange: Exchange,
        counterpart: Option<&Exchange>,
        whole: [bool; 2],
    ) -> Result<Held, ReadError> {
        let asked = counterpart.map(|other| other.request);
        let request = Message::read(self.both(), exchange.request, asked, whole[0])?;
        if let Some(name) = self.name(request.as_ref())? {
            exchange.name = Some(name);
        }
        let answered = counterpart.and_then(|other| other.response);
        let response = match exchange.response {
            Some(place) => Message::read(self.both(), place, answered, whole[1])?,
            None => None,
        };
        let messages = [&request, &response].into_iter().flatten();
        Ok(Held {
            redacted: messages.map(|message| message.original.redacted).sum(),
            progress: self.progress(&exchange)?,
            request,
            response,
            wall_ns: self.wall_ns,
            exchange,
        })
    }

    /// What a request is about whose bytes are those of the other side.
    fn name(&self, request: Option<&Message>) -> Result<Option<CompactString>, ReadError> {
        let Some(at) = request.and_then(|request| request.original.at) else {
            return Ok(None);
        };
        let mut others = self.beside.exchanges_of_frame(at.0)?.into_iter();
        let other = others.find(|other| other.request == at);
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
                let place = (at.seq, at.part);
                let message = original::message(self.both(), place, None)?;
                let Original {
                    bytes, redacted, ..
                } = message.unwrap_or_default();
                holding.read(bytes.len() as u64);
                judge.redacted(redacted);
                let wall_ns = Some(self.wall_ns);
                judge.notice(&mut notices, self.side, Some(at.seq), &bytes, wall_ns);
            }
        }
    }
}
