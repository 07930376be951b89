//! What a recording holds, without bodies: the requests that can be answered, and everything else
//! that the server sent, each filed under the trigger after which it came.
//!
//! An [`Entry`] is a request of the recorded client. A [`Step`] is something that the server sent, or
//! waited for; its [`Trigger`] has to happen in a live session for the step to come again.

use super::params::{Subject, Wanted};
use super::reel::{Place, Secrets};
use crate::called;
use crate::rules::Rules;
use mcpreel_store::reader::{MessageRow, ReadError, Recording};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::event::{Closer, EventKind};
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};
use mcpreel_trace::session::End;
use std::collections::{BTreeSet, HashMap, VecDeque};

/// Placeholders without a value that an error names.
const MOST_NAMED: usize = 20;

/// A request of the recorded client.
#[derive(Clone, Debug)]
pub struct Entry {
    pub subject: Subject,
    /// Digests of the exact and of the normalised params.
    pub digests: [u64; 2],
    pub request: Place,
    pub response: Option<Place>,
    pub asked_at: Moment,
    /// When the first and the last byte of the answer came.
    pub answered_at: [Moment; 2],
    pub outcome: Outcome,
    /// Whether it is a later round of a chain, to which only the chain leads.
    pub is_retry: bool,
    /// The next round of its chain.
    pub next_round: Option<usize>,
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

/// The live event after which steps come again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trigger {
    Start,
    /// The request of this entry arrives; the steps come before the answer.
    Asked(usize),
    Answered(usize),
    /// This notification of the client arrives.
    Notified(usize),
    End,
}

#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub place: Place,
    pub at: Moment,
    pub act: Act,
    /// The entry that the step belongs to.
    pub owner: Option<usize>,
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
    Ask(usize),
    /// The server waited for the answer to its request.
    Heard(usize),
    Stderr,
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
        .0[..MOST_NAMED.min(.0.len())].join(", "),
        .0.first().map_or("", String::as_str)
    )]
    Unbound(Vec<String>),
}

#[derive(Debug, Default)]
pub struct Index {
    /// The id of the recording, or the file of a cassette. Not escaped.
    pub recording: String,
    /// In the order of their requests.
    pub entries: Vec<Entry>,
    pub(super) steps: HashMap<Trigger, Vec<Step>>,
    /// Notifications of the client by method: their numbers, and when they came.
    pub notices: HashMap<Box<str>, VecDeque<(usize, Moment)>>,
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
            let Some(last) = page.last().map(|(head, _)| head.seq) else {
                break;
            };
            let messages = recording.messages(after, last)?;
            let mut messages = messages.as_slice();
            for (head, raw) in page {
                let count = messages.partition_point(|row| row.record.frame <= head.seq);
                let of_frame = messages.split_off(..count).unwrap_or_default();
                let raw = match raw {
                    Some(raw) => raw.into(),
                    None => recording.raw(head.seq)?,
                };
                builder.frame(&head, raw, of_frame)?;
            }
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

    pub fn step(&self, trigger: Trigger, nth: usize) -> Option<Step> {
        self.steps.get(&trigger)?.get(nth).copied()
    }

    /// The entry whose request is the frame `seq`.
    pub fn at(&self, seq: Seq) -> Option<usize> {
        let found = self.entries.binary_search_by_key(&seq, |it| it.request.0);
        found.ok()
    }
}

/// To which exchange of the recording a message belongs.
#[derive(Clone, Copy)]
enum Owner {
    Nobody,
    Entry(usize),
    /// A request of the server with its answer, and the trigger that it is filed under.
    Ask(usize, Option<Place>, Trigger),
}

/// Reads a recording once, in the order of its frames.
struct Builder<'r> {
    recording: &'r Recording,
    secrets: &'r Secrets,
    rules: &'r Rules,
    index: Index,
    owners: HashMap<ExchangeId, Owner>,
    /// The last round of each chain.
    chains: HashMap<ExchangeId, usize>,
    /// After what the next step comes.
    anchor: Trigger,
    asks: usize,
    notices: usize,
    /// The last frame before the client closed its side.
    last_input: Option<Seq>,
    last_lost: Option<usize>,
}

impl<'r> Builder<'r> {
    fn new(
        recording: &'r Recording,
        secrets: &'r Secrets,
        rules: &'r Rules,
    ) -> Result<Self, ReadError> {
        let summary = recording.summary()?;
        let death = match summary.session.phase.end() {
            Some(End::Exited { code }) => Some(Death::Code(*code)),
            Some(End::Killed { signal }) => Some(Death::Signal(signal.clone())),
            Some(End::NotStarted { .. } | End::Unknown) | None => None,
        };
        Ok(Self {
            index: Index {
                recording: called::cassette_name(recording).unwrap_or(summary.id),
                death,
                ..Index::default()
            },
            recording,
            secrets,
            rules,
            owners: HashMap::new(),
            chains: HashMap::new(),
            anchor: Trigger::Start,
            asks: 0,
            notices: 0,
            last_input: last_input(recording)?,
            last_lost: None,
        })
    }

    fn frame(
        &mut self,
        head: &FrameHead,
        raw: Vec<u8>,
        rows: &[MessageRow],
    ) -> Result<(), ReadError> {
        Secrets::find(&raw, &mut self.index.placeholders);
        if self.last_input.is_some_and(|last| head.seq > last) {
            self.anchor = Trigger::End;
        }
        match head.stream {
            StreamId::STDERR => self.step((head, 0), Act::Stderr, None),
            StreamId::S2C if rows.is_empty() => self.step((head, 0), Act::Say, None),
            StreamId::S2C => {
                for row in rows {
                    self.server_said(head, row)?;
                }
            }
            _ => {
                let raw = self.secrets.fill(raw);
                for row in rows {
                    self.client_said(head, row, &raw)?;
                }
            }
        }
        Ok(())
    }

    fn client_said(
        &mut self,
        head: &FrameHead,
        row: &MessageRow,
        raw: &[u8],
    ) -> Result<(), ReadError> {
        let place = (head.seq, row.record.part);
        match (row.record.kind, self.owner(row.record.exchange)) {
            (MessageKind::Request, _) => {
                if let Some(exchange) = self.exchange(row)? {
                    let raw = super::reel::element(raw, place.1).unwrap_or_else(|| raw.to_vec());
                    self.asked(&exchange, &raw);
                }
            }
            (MessageKind::Notification, _) => {
                let method = row.record.method.clone().unwrap_or_default();
                let notice = (self.notices, head.t_last);
                let of_method = self.index.notices.entry(method).or_default();
                of_method.push_back(notice);
                self.anchor = Trigger::Notified(self.notices);
                self.notices += 1;
            }
            // What the server says after this answer waits for it.
            (MessageKind::Response, Owner::Ask(ask, Some(answer), trigger)) if answer == place => {
                let owner = match trigger {
                    Trigger::Asked(entry) if !self.is_open(entry, place) => return Ok(()),
                    Trigger::Asked(entry) => Some(entry),
                    _ => None,
                };
                self.anchor = trigger;
                self.step((head, place.1), Act::Heard(ask), owner);
            }
            _ => {}
        }
        Ok(())
    }

    fn asked(&mut self, exchange: &Exchange, raw: &[u8]) {
        let number = self.index.entries.len();
        let wanted = Wanted::recorded(raw, self.rules).unwrap_or_else(|| Wanted {
            subject: Subject {
                method: (&*exchange.method).into(),
                name: exchange.name.as_deref().map(Into::into),
            },
            exact: String::new(),
            normalised: String::new(),
        });
        if let Some(chain) = exchange.chain
            && let Some(before) = self.chains.insert(chain, number)
        {
            self.index.entries[before].next_round = Some(number);
        }
        if exchange.status == Status::Lost {
            self.last_lost = Some(number);
        }
        let answered_at = [exchange.t_response, exchange.t_response_last];
        self.index.entries.push(Entry {
            digests: wanted.digests(),
            subject: wanted.subject,
            request: exchange.request,
            response: exchange.response,
            asked_at: exchange.t_request,
            answered_at: answered_at.map(Option::unwrap_or_default),
            outcome: outcome(exchange),
            is_retry: exchange.is_retry(),
            next_round: None,
        });
        self.owners.insert(exchange.id, Owner::Entry(number));
        self.anchor = Trigger::Asked(number);
    }

    fn server_said(&mut self, head: &FrameHead, row: &MessageRow) -> Result<(), ReadError> {
        let place = (head.seq, row.record.part);
        let at = (head, place.1);
        match (row.record.kind, self.owner(row.record.exchange)) {
            (MessageKind::Response, Owner::Entry(entry))
                if self.index.entries[entry].response == Some(place) =>
            {
                if self.index.entries[entry].outcome == Outcome::Stream {
                    self.step(at, Act::OnStream, Some(entry));
                } else {
                    self.anchor = Trigger::Answered(entry);
                }
            }
            (MessageKind::Response, _) => self.index.orphans += 1,
            (MessageKind::Request, _) => match self.exchange(row)? {
                Some(exchange) => self.asks(at, &exchange),
                None => self.step(at, Act::Say, None),
            },
            (MessageKind::Notification, owner) => self.notified(at, row, owner),
            (MessageKind::Other, _) => self.step(at, Act::Say, None),
        }
        Ok(())
    }

    /// A request of the server, filed under the call that it was made for while that is open.
    fn asks(&mut self, at: (&FrameHead, u32), exchange: &Exchange) {
        let number = self.asks;
        self.asks += 1;
        let (trigger, owner) = match self.owner(exchange.parent) {
            Owner::Entry(parent) if self.is_open(parent, exchange.request) => {
                (Trigger::Asked(parent), Some(parent))
            }
            _ => (self.anchor, None),
        };
        self.file(trigger, at, Act::Ask(number), owner);
        let owner = Owner::Ask(number, exchange.response, trigger);
        self.owners.insert(exchange.id, owner);
    }

    fn notified(&mut self, at: (&FrameHead, u32), row: &MessageRow, owner: Owner) {
        let method = row.record.method.as_deref().unwrap_or_default();
        let is_log = method == "notifications/message";
        let entry = match owner {
            Owner::Entry(entry) => entry,
            // The mock withdraws its own requests.
            Owner::Ask(..) if method == "notifications/cancelled" => return,
            _ => return self.step(at, if is_log { Act::Log } else { Act::Say }, None),
        };
        let is_stream = self.index.entries[entry].outcome == Outcome::Stream;
        let is_of_stream = row.record.subscription.is_some() || method == "notifications/cancelled";
        let act = match method {
            "notifications/progress" => Act::Progress,
            _ if is_stream && is_of_stream => Act::OnStream,
            _ if is_log => Act::Log,
            _ => Act::Say,
        };
        let begins_stream = method == "notifications/subscriptions/acknowledged";
        if self.is_open(entry, (at.0.seq, at.1)) && (!is_stream || begins_stream) {
            self.file(Trigger::Asked(entry), at, act, Some(entry));
        } else {
            self.step(at, act, Some(entry));
        }
    }

    fn step(&mut self, at: (&FrameHead, u32), act: Act, owner: Option<usize>) {
        self.file(self.anchor, at, act, owner);
    }

    fn file(
        &mut self,
        trigger: Trigger,
        (head, part): (&FrameHead, u32),
        act: Act,
        owner: Option<usize>,
    ) {
        let at = match act {
            Act::Heard(_) => head.t_last,
            _ => head.t_first,
        };
        let steps = self.index.steps.entry(trigger).or_default();
        steps.push(Step {
            place: (head.seq, part),
            at,
            act,
            owner,
        });
    }

    /// Whether a request was not yet answered at `place`.
    fn is_open(&self, entry: usize, place: Place) -> bool {
        let response = self.index.entries[entry].response;
        response.is_none_or(|response| response > place)
    }

    fn owner(&self, exchange: Option<ExchangeId>) -> Owner {
        let known = exchange.and_then(|id| self.owners.get(&id));
        known.copied().unwrap_or(Owner::Nobody)
    }

    fn exchange(&self, row: &MessageRow) -> Result<Option<Exchange>, ReadError> {
        let id = row.record.exchange;
        id.map_or(Ok(None), |id| self.recording.exchange(id))
    }

    fn finish(mut self) -> Index {
        if let Some(lost) = self.last_lost
            && self.index.death.is_some()
        {
            self.index.entries[lost].outcome = Outcome::Death;
        }
        self.index
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
        if let Some(row) = page.iter().find(|row| row.event.kind == closed) {
            return Ok(Some(row.event.after_seq));
        }
    }
}
