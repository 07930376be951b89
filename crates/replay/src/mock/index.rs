//! What a recording holds, without bodies: the requests that can be answered, and everything else
//! that the server sent, each filed under the anchor after which it came.
//!
//! An [`Entry`] is a request of the recorded client. A [`Step`] is something that the server sent
//! (or waited for), filed under its [`Trigger`]: what has to happen in a live session for the step
//! to come again. Bodies are read from the recording when they are served.

use super::params::{Texts, digest, is_reusable};
use super::reel::{Place, Secrets};
use crate::called;
use crate::rules::{Rules, Side};
use mcpreel_store::reader::{EventRow, FramePage, MessageRow, ReadError, Recording, Summary};
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::event::{Closer, EventKind};
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_trace::frame::{Seq, StreamId};
use mcpreel_trace::session::End;
use mcpreel_wire::message::{Body, Classifier, Lines};
use std::collections::{BTreeSet, HashMap};

pub(super) const NONE: u32 = u32::MAX;

/// Exchanges that are read at once.
const PAGE: u32 = 1000;

/// Placeholders without a value that an error names.
const MOST_NAMED: usize = 20;

/// A request of the recorded client.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub request: Place,
    pub response: Option<Place>,
    /// Digest of method and exact params.
    pub exact: u64,
    /// Digest of method and normalised params.
    pub normalised: u64,
    /// Digest of method and name.
    pub name: u64,
    pub method: u64,
    /// The next round of its chain, or [`NONE`].
    pub(super) next: u32,
    pub outcome: Outcome,
    pub reusable: bool,
    /// Whether it is a later round of a chain, to which only the chain leads.
    pub is_retry: bool,
}

/// The end of a recorded request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Answer,
    /// The server asked for input.
    Input,
    /// There was none, or only after the cancel.
    Silence,
    /// A stream of notifications, whose end is a step.
    Stream,
    Death,
}

/// The live event after which a step comes again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trigger {
    Start,
    /// The request of this entry arrives; the step comes before the answer.
    Asked(u32),
    Answered(u32),
    /// This notification of the client arrives.
    Notified(u32),
    End,
}

#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub trigger: Trigger,
    pub place: Place,
    pub act: Act,
    /// The entry that the step belongs to, or `NONE`.
    pub owner: u32,
}

/// The kind of a step. Requests of the server are given by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// A message, or a line that is none, as it stands.
    Say,
    Log,
    Progress,
    /// A message on the stream of the owner, or its end.
    OnStream,
    /// A request of the server.
    Ask(u32),
    /// The server waited for the answer to its request.
    Heard(u32),
    Stderr,
}

/// A request of the recorded server.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    pub request: Place,
    pub answer: Option<Place>,
}

/// A notification of the client after which the server said something.
#[derive(Clone, Copy, Debug)]
pub struct Notice {
    pub method: u64,
    pub place: Place,
}

/// The way in which the server died over a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Death {
    Code(i32),
    Signal(String),
}

/// Why a recording cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("there is nothing in the recording to answer: no client asked anything")]
    Nothing,
    /// Placeholders of redacted values that have no value.
    #[error(
        "the recording is redacted, and nothing stands for {}: give each a value, for example \
         --bind {}=env:NAME",
        named(.0),
        .0.first().map_or("", String::as_str)
    )]
    Unbound(Vec<String>),
}

fn named(names: &[String]) -> String {
    let more = names.len().saturating_sub(MOST_NAMED);
    let text = names[..names.len() - more].join(", ");
    match more {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

#[derive(Debug, Default)]
pub struct Index {
    /// The id of the recording, or the file of a cassette. Not escaped.
    pub recording: String,
    /// In the order of their requests.
    pub entries: Vec<Entry>,
    /// Sorted by trigger, then in recorded order.
    pub(super) steps: Vec<Step>,
    pub asks: Vec<Ask>,
    pub notices: Vec<Notice>,
    /// The death of the server, if it died over a request.
    pub death: Option<Death>,
    /// Placeholders of redacted values.
    pub placeholders: BTreeSet<String>,
    /// Responses that answered nothing; they are not served.
    pub orphans: u64,
}

impl Index {
    /// Reads `recording`, with `secrets` in place of redacted values. Requests are told apart by
    /// `rules`.
    pub fn read(
        recording: &Recording,
        secrets: &Secrets,
        rules: &Rules,
    ) -> Result<Self, IndexError> {
        let mut builder = Builder::new(recording, secrets, rules)?;
        let mut after = Seq(0);
        loop {
            let page = recording.frames(after)?;
            let Some((last, _)) = page.last() else { break };
            let last = last.seq;
            let messages = recording.messages(after, last)?;
            builder.page(page, &messages)?;
            after = last;
        }
        let index = builder.finish();
        let unbound = secrets.lacks(&index.placeholders);
        if index.entries.is_empty() {
            return Err(IndexError::Nothing);
        }
        if unbound.is_empty() {
            Ok(index)
        } else {
            Err(IndexError::Unbound(unbound))
        }
    }

    /// The numbers of the steps of a trigger.
    pub fn steps_of(&self, trigger: Trigger) -> std::ops::Range<usize> {
        let start = self.steps.partition_point(|step| step.trigger < trigger);
        let end = self.steps.partition_point(|step| step.trigger <= trigger);
        start..end
    }

    pub fn step(&self, number: usize) -> Step {
        self.steps[number]
    }

    /// The next round of the chain that the entry belongs to.
    pub fn next_round(&self, entry: u32) -> Option<u32> {
        Some(self.entry(entry).next).filter(|next| *next != NONE)
    }

    /// The entry whose request stands at `place`.
    pub fn at(&self, place: Place) -> Option<u32> {
        let found = self.entries.binary_search_by_key(&place, |it| it.request);
        found.ok().map(narrow)
    }

    pub fn entry(&self, number: u32) -> &Entry {
        &self.entries[number as usize]
    }

    /// All entries with their numbers.
    pub fn numbered(&self) -> impl Iterator<Item = (u32, &Entry)> + Clone {
        (0_u32..).zip(&self.entries)
    }
}

/// To which exchange of the recording a message belongs.
#[derive(Clone, Copy)]
enum Owner {
    Nobody,
    Entry(u32),
    /// A request of the server, with the trigger that it is filed under.
    Ask(u32, Trigger),
}

/// After what the next step comes.
#[derive(Clone, Copy)]
enum Anchor {
    Trigger(Trigger),
    /// A notification after which nothing has come yet.
    Notice(Notice),
}

/// Reads a recording once, in the order of its frames.
struct Builder<'r> {
    recording: &'r Recording,
    secrets: &'r Secrets,
    rules: &'r Rules,
    index: Index,
    classifier: Classifier,
    /// Exchanges that were read and not met yet.
    exchanges: HashMap<ExchangeId, Exchange>,
    last_exchange: ExchangeId,
    owners: HashMap<ExchangeId, Owner>,
    chains: HashMap<ExchangeId, u32>,
    anchor: Anchor,
    /// The last frame before the client closed its side.
    last_input: Option<Seq>,
    last_lost: Option<u32>,
}

impl<'r> Builder<'r> {
    fn new(
        recording: &'r Recording,
        secrets: &'r Secrets,
        rules: &'r Rules,
    ) -> Result<Self, ReadError> {
        let summary = recording.summary()?;
        Ok(Self {
            index: Index {
                recording: called::cassette_name(recording).unwrap_or_else(|| summary.id.clone()),
                death: death(&summary),
                ..Index::default()
            },
            recording,
            secrets,
            rules,
            classifier: Classifier::default(),
            exchanges: HashMap::new(),
            last_exchange: ExchangeId(0),
            owners: HashMap::new(),
            chains: HashMap::new(),
            anchor: Anchor::Trigger(Trigger::Start),
            last_input: last_input(recording)?,
            last_lost: None,
        })
    }

    fn page(&mut self, frames: FramePage, mut messages: &[MessageRow]) -> Result<(), ReadError> {
        for (head, raw) in frames {
            let count = messages.partition_point(|row| row.record.frame <= head.seq);
            let (of_frame, rest) = messages.split_at(count);
            messages = rest;
            let raw = match raw {
                Some(raw) => raw.into(),
                None => self.recording.raw(head.seq)?,
            };
            Secrets::find(&raw, &mut self.index.placeholders);
            if self.last_input.is_some_and(|last| head.seq > last) {
                self.anchor = Anchor::Trigger(Trigger::End);
            }
            match head.stream {
                StreamId::STDERR => self.step(Place::new(head.seq, 0), Act::Stderr, NONE),
                StreamId::S2C if of_frame.is_empty() => {
                    self.step(Place::new(head.seq, 0), Act::Say, NONE);
                }
                StreamId::S2C => {
                    for row in of_frame {
                        self.server_said(row)?;
                    }
                }
                _ => self.client_said(raw, of_frame)?,
            }
        }
        Ok(())
    }

    /// Whether a request was not yet answered at `place`.
    fn is_open(&self, entry: u32, place: Place) -> bool {
        let response = self.index.entry(entry).response;
        response.is_none_or(|response| response > place)
    }

    fn step(&mut self, place: Place, act: Act, owner: u32) {
        let trigger = self.trigger();
        self.push(trigger, place, act, owner);
    }

    fn push(&mut self, trigger: Trigger, place: Place, act: Act, owner: u32) {
        self.index.steps.push(Step {
            trigger,
            place,
            act,
            owner,
        });
    }

    /// The trigger of the next step. A notification gets a number when a step follows it.
    fn trigger(&mut self) -> Trigger {
        let trigger = match self.anchor {
            Anchor::Trigger(trigger) => return trigger,
            Anchor::Notice(notice) => {
                self.index.notices.push(notice);
                Trigger::Notified(narrow(self.index.notices.len() - 1))
            }
        };
        self.anchor = Anchor::Trigger(trigger);
        trigger
    }

    fn owner(&self, exchange: Option<ExchangeId>) -> Owner {
        let known = exchange.and_then(|id| self.owners.get(&id));
        known.copied().unwrap_or(Owner::Nobody)
    }

    /// The exchange with this id, once.
    fn exchange(&mut self, id: Option<ExchangeId>) -> Result<Option<Exchange>, ReadError> {
        let Some(id) = id else { return Ok(None) };
        while self.last_exchange < id {
            let after = self.last_exchange;
            let page = self.recording.exchanges(after, PAGE)?;
            let Some(last) = page.last() else { break };
            self.last_exchange = last.id;
            let page = page.into_iter().map(|exchange| (exchange.id, exchange));
            self.exchanges.extend(page);
        }
        Ok(self.exchanges.remove(&id))
    }

    fn finish(mut self) -> Index {
        if let Some(lost) = self.last_lost
            && self.index.death.is_some()
        {
            self.index.entries[lost as usize].outcome = Outcome::Death;
        }
        self.index.steps.sort_by_key(|step| step.trigger);
        self.index
    }
}

/// Messages of the recorded client.
impl Builder<'_> {
    fn client_said(&mut self, raw: Vec<u8>, rows: &[MessageRow]) -> Result<(), ReadError> {
        let raw = self.secrets.fill_bytes(raw);
        for row in rows {
            let place = Place::new(row.record.frame, row.record.part);
            match row.record.kind {
                MessageKind::Request => self.asked(row, place, &raw)?,
                MessageKind::Notification => {
                    let method = digest(row.record.method.as_deref().unwrap_or_default(), "");
                    self.anchor = Anchor::Notice(Notice { method, place });
                }
                MessageKind::Response => self.told(row, place),
                MessageKind::Other => {}
            }
        }
        Ok(())
    }

    fn asked(&mut self, row: &MessageRow, place: Place, raw: &[u8]) -> Result<(), ReadError> {
        let Some(exchange) = self.exchange(row.record.exchange)? else {
            return Ok(());
        };
        let number = narrow(self.index.entries.len());
        let entry = self.entry(&exchange, place, raw);
        if let Some(chain) = exchange.chain
            && let Some(before) = self.chains.insert(chain, number)
        {
            self.index.entries[before as usize].next = number;
        }
        if exchange.status == Status::Lost {
            self.last_lost = Some(number);
        }
        self.index.entries.push(entry);
        self.owners.insert(exchange.id, Owner::Entry(number));
        self.anchor = Anchor::Trigger(Trigger::Asked(number));
        Ok(())
    }

    fn entry(&mut self, exchange: &Exchange, request: Place, raw: &[u8]) -> Entry {
        let (content, root) = self.classifier.read(raw, Lines::OfProgress);
        let mut messages = content.messages.iter();
        let message = messages.find(|message| message.part == request.part);
        let object = if content.batch {
            root.and_then(|root| root.index(request.part as usize))
        } else {
            root
        };
        let params = object.and_then(|object| object.get("params"));
        let (method, name) = (&*exchange.method, exchange.name.as_deref());
        let texts = Texts::new((method, name), params, self.rules, Side::Left);
        let has_retry =
            matches!(message.map(|it| &it.body), Some(Body::Request(it)) if it.retry.is_some());
        Entry {
            request,
            response: exchange.response.map(|(seq, part)| Place::new(seq, part)),
            exact: digest(method, &texts.exact),
            normalised: digest(method, &texts.normalised),
            name: digest(method, name.unwrap_or_default()),
            method: digest(method, ""),
            next: NONE,
            outcome: outcome(exchange),
            reusable: is_reusable(method),
            is_retry: exchange.is_retry() && has_retry,
        }
    }

    /// The client answered a request of the server: what the server said then waits for that.
    fn told(&mut self, row: &MessageRow, place: Place) {
        let Owner::Ask(ask, trigger) = self.owner(row.record.exchange) else {
            return;
        };
        if self.index.asks[ask as usize].answer != Some(place) {
            return;
        }
        let owner = match trigger {
            Trigger::Asked(entry) if !self.is_open(entry, place) => return,
            Trigger::Asked(entry) => entry,
            _ => NONE,
        };
        self.push(trigger, place, Act::Heard(ask), owner);
        self.anchor = Anchor::Trigger(trigger);
    }
}

/// Messages of the recorded server.
impl Builder<'_> {
    fn server_said(&mut self, row: &MessageRow) -> Result<(), ReadError> {
        let place = Place::new(row.record.frame, row.record.part);
        match row.record.kind {
            MessageKind::Response => self.answered(row, place),
            MessageKind::Request => self.asks(row, place)?,
            MessageKind::Notification => self.notified(row, place),
            MessageKind::Other => self.step(place, Act::Say, NONE),
        }
        Ok(())
    }

    fn answered(&mut self, row: &MessageRow, place: Place) {
        let entry = match self.owner(row.record.exchange) {
            Owner::Entry(entry) if self.index.entry(entry).response == Some(place) => entry,
            _ => return self.index.orphans += 1,
        };
        if self.index.entry(entry).outcome == Outcome::Stream {
            return self.step(place, Act::OnStream, entry);
        }
        self.anchor = Anchor::Trigger(Trigger::Answered(entry));
    }

    /// A request of the server, filed under the call that it was made for while that is open.
    fn asks(&mut self, row: &MessageRow, place: Place) -> Result<(), ReadError> {
        let Some(exchange) = self.exchange(row.record.exchange)? else {
            self.step(place, Act::Say, NONE);
            return Ok(());
        };
        let number = narrow(self.index.asks.len());
        self.index.asks.push(Ask {
            request: place,
            answer: exchange.response.map(|(seq, part)| Place::new(seq, part)),
        });
        let (trigger, owner) = match self.owner(exchange.parent) {
            Owner::Entry(parent) if self.is_open(parent, place) => (Trigger::Asked(parent), parent),
            _ => (self.trigger(), NONE),
        };
        self.push(trigger, place, Act::Ask(number), owner);
        self.owners.insert(exchange.id, Owner::Ask(number, trigger));
        Ok(())
    }

    fn notified(&mut self, row: &MessageRow, place: Place) {
        let method = row.record.method.as_deref().unwrap_or_default();
        let entry = match self.owner(row.record.exchange) {
            Owner::Entry(entry) => entry,
            // The mock withdraws its own requests.
            Owner::Ask(..) if method == "notifications/cancelled" => return,
            _ if method == "notifications/message" => return self.step(place, Act::Log, NONE),
            _ => return self.step(place, Act::Say, NONE),
        };
        let is_stream = self.index.entry(entry).outcome == Outcome::Stream;
        let is_of_stream = row.record.subscription.is_some() || method == "notifications/cancelled";
        let act = match method {
            "notifications/progress" => Act::Progress,
            _ if is_stream && is_of_stream => Act::OnStream,
            "notifications/message" => Act::Log,
            _ => Act::Say,
        };
        let acknowledges = method == "notifications/subscriptions/acknowledged";
        if self.is_open(entry, place) && (!is_stream || acknowledges) {
            self.push(Trigger::Asked(entry), place, act, entry);
        } else {
            self.step(place, act, entry);
        }
    }
}

fn outcome(exchange: &Exchange) -> Outcome {
    let answered = exchange.response.is_some();
    match exchange.status {
        Status::Late => Outcome::Silence,
        Status::InputRequired if answered => Outcome::Input,
        // A request that was refused opened no stream.
        _ if exchange.is_listen() && exchange.code.is_none() => Outcome::Stream,
        _ if answered => Outcome::Answer,
        _ => Outcome::Silence,
    }
}

fn death(summary: &Summary) -> Option<Death> {
    match summary.session.phase.end()? {
        End::Exited { code } => Some(Death::Code(*code)),
        End::Killed { signal } => Some(Death::Signal(signal.clone())),
        End::NotStarted { .. } | End::Unknown => None,
    }
}

/// The last frame before the client closed its side, if it did.
fn last_input(recording: &Recording) -> Result<Option<Seq>, ReadError> {
    let closed = EventKind::Eof {
        stream: StreamId::C2S,
        by: Closer::Writer,
    };
    let mut after = 0;
    loop {
        let page = recording.events(after)?;
        let Some(last) = page.last() else {
            return Ok(None);
        };
        after = last.id;
        let is_it = |row: &&EventRow| row.event.kind == closed;
        if let Some(row) = page.iter().find(is_it) {
            return Ok(Some(row.event.after_seq));
        }
    }
}

/// Numbers of rows: a recording with more than fit would fill disks.
fn narrow(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(NONE)
}
