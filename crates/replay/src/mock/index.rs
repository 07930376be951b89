//! What a recording holds, without bodies: the requests that can be answered, and everything else
//! that the server sent, each filed under the trigger after which it came.
//!
//! An [`Entry`] is a request of the recorded client. A [`Step`] is something that the server sent, or
//! waited for; its [`Trigger`] has to happen in a live session for the step to come again.

use super::Secrets;
use super::matcher::{Subject, Wanted};
use crate::player::script::{Script, Step as Frame, What};
use crate::rules::Rules;
use compact_str::CompactString;
use mcpreel_redact::token;
use mcpreel_share::export::all_rows;
use mcpreel_store::reader::{EventRow, ReadError, Recording};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::correlator::MessageKind;
use mcpreel_trace::event::{Closer, EventKind};
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_trace::frame::{FrameHead, Seq, StreamId};
use mcpreel_trace::session::{End, Session};
use mcpreel_wire::mcp::{Revision, methods};
use std::collections::{BTreeSet, HashMap, VecDeque};

/// Names of placeholders that are remembered: more could not be listed.
const MOST_NAMES: usize = 1000;

/// A request of the recorded client.
#[derive(Clone, Debug)]
pub struct Entry {
    pub subject: Subject,
    /// Digests of the exact and of the normalised params.
    pub digests: [u64; 2],
    pub request: Seq,
    pub response: Option<Seq>,
    pub asked_at: Moment,
    /// When the first and the last byte of the answer came, or the end in its place.
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
    /// It was refused with this status of HTTP, or got it without an answer.
    Refused(u16),
    /// A stream of notifications, whose end is a step.
    Stream,
    /// The server said nothing any more, and died. One that is not the last may be all that a live
    /// client asks.
    Death {
        is_last: bool,
    },
}

/// The live event after which steps come again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trigger {
    Start,
    /// The request of this entry arrives; the steps come before the answer.
    Asked(usize),
    Answered(usize),
    /// The notification of the client with this frame arrives.
    Notified(Seq),
    End,
}

#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub seq: Seq,
    pub at: Moment,
    pub act: Act,
    /// The entry that the step belongs to.
    pub owner: Option<usize>,
}

/// The kind of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// A message, or a line that is none, as it stands.
    Say,
    Log,
    Progress,
    /// A message on the stream of the owner, or its end.
    OnStream,
    /// A request of the server.
    Ask,
    /// The server waited for the answer to its request in this frame.
    Heard(Seq),
    Stderr,
}

/// Why a recording cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error("there is nothing in the recording to answer: no client asked anything")]
    Nothing,
}

#[derive(Debug, Default)]
pub struct Index {
    /// The id of the recording, or the file of a cassette. Not escaped.
    pub recording: String,
    /// In the order of their requests.
    pub entries: Vec<Entry>,
    pub(super) steps: HashMap<Trigger, Vec<Step>>,
    /// Notifications of the client by method: their frames, and when they came.
    pub notices: HashMap<CompactString, VecDeque<(Seq, Moment)>>,
    pub session: Session,
    /// Capabilities of the server that answers on record show, in the newer era.
    pub capabilities: BTreeSet<&'static str>,
    /// The end of the server, if it is known.
    pub death: Option<End>,
    /// Placeholders of redacted values.
    pub placeholders: BTreeSet<String>,
    /// Those that the recorded client sends, and that have no value.
    pub unbound: BTreeSet<String>,
    /// Responses that answered nothing; they are not served.
    pub orphans: u64,
}

impl Index {
    /// Reads `recording`, with `secrets` in place of redacted values. Requests are told apart by
    /// `rules`. Of a network recording, `conversation` is read.
    pub fn read(
        recording: &Recording,
        secrets: &Secrets,
        rules: &Rules,
        conversation: Option<u32>,
    ) -> Result<Self, IndexError> {
        let mut builder = Builder::new(recording, secrets, rules)?;
        if let Some(id) = conversation {
            let all = recording.conversations()?.into_iter();
            let session = all.filter(|it| it.id == id).map(|it| it.session).next();
            builder.index.session = session.unwrap_or_default();
        }
        let mut script = Script::new(recording, None, conversation);
        while let Some(frame) = script.next_step()? {
            builder.frame(frame);
        }
        let mut index = builder.index;
        for lost in builder.lost.iter().filter(|_| index.death.is_some()) {
            let (is_last, entry) = (builder.lost.last() == Some(lost), &mut index.entries[*lost]);
            if is_last || builder.last_said.is_none_or(|said| entry.request > said) {
                entry.outcome = Outcome::Death { is_last };
                entry.answered_at = [builder.died; 2];
            }
        }
        index.unbound.retain(|name| !secrets.0.contains_key(name));
        if index.entries.is_empty() {
            return Err(IndexError::Nothing);
        }
        Ok(index)
    }

    pub fn step(&self, trigger: Trigger, nth: usize) -> Option<Step> {
        self.steps.get(&trigger)?.get(nth).copied()
    }

    /// The entry whose request is the frame `seq`.
    pub fn at(&self, seq: Seq) -> Option<usize> {
        let found = self.entries.binary_search_by_key(&seq, |it| it.request);
        found.ok()
    }
}

/// To which exchange of the recording a message belongs.
#[derive(Clone, Copy)]
enum Owner {
    Nobody,
    Entry(usize),
    /// A request of the server, by its frame, and the trigger that it is filed under.
    Ask(Seq, Trigger),
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
    /// The last frame before the client closed its side.
    last_input: Option<Seq>,
    died: Moment,
    /// The last frame of the server.
    last_said: Option<Seq>,
    /// Requests over which the server ended.
    lost: Vec<usize>,
}

impl<'r> Builder<'r> {
    fn new(
        recording: &'r Recording,
        secrets: &'r Secrets,
        rules: &'r Rules,
    ) -> Result<Self, ReadError> {
        let summary = recording.summary()?;
        let end = summary.session.phase.end();
        let death = end.filter(|end| matches!(end, End::Exited { .. } | End::Killed { .. }));
        Ok(Self {
            recording,
            index: Index {
                death: death.cloned(),
                session: summary.session,
                recording: crate::cassette_name(recording).unwrap_or(summary.id),
                ..Index::default()
            },
            secrets,
            rules,
            owners: HashMap::new(),
            chains: HashMap::new(),
            anchor: Trigger::Start,
            last_input: last_input(recording)?,
            died: Moment(summary.t_last_ns),
            last_said: None,
            lost: Vec::new(),
        })
    }

    /// A frame of several messages says nothing that could be served one by one.
    fn frame(&mut self, frame: Frame) {
        let (head, raw) = (&frame.head, frame.raw.unwrap_or_default());
        token::names_in(&raw, MOST_NAMES, &mut self.index.placeholders);
        if head.stream == StreamId::C2S {
            token::names_in(&raw, MOST_NAMES, &mut self.index.unbound);
        }
        if self.last_input.is_some_and(|last| head.seq > last) {
            self.anchor = Trigger::End;
        }
        if head.stream == StreamId::S2C {
            self.last_said = Some(head.seq);
        }
        match (head.stream, frame.what) {
            (StreamId::STDERR, _) => self.step(head, Act::Stderr, None),
            (StreamId::C2S, What::Asks(exchange)) => {
                self.asked(&exchange, &self.secrets.fill(raw.into()));
            }
            (StreamId::C2S, What::Tells(notification)) => {
                let of_method = self.index.notices.entry(notification.method).or_default();
                of_method.push_back((head.seq, head.t_last));
                self.anchor = Trigger::Notified(head.seq);
            }
            (StreamId::C2S, What::Answers(id)) => self.client_answered(head, id),
            (StreamId::S2C, What::Asks(exchange)) => self.asks(head, &exchange),
            (StreamId::S2C, What::Tells(it)) => self.notified(head, &it.method, frame.exchange),
            (StreamId::S2C, What::Answers(id)) => match self.owner(Some(id)) {
                Owner::Entry(entry) if self.index.entries[entry].outcome == Outcome::Stream => {
                    self.step(head, Act::OnStream, Some(entry));
                }
                Owner::Entry(entry) => self.anchor = Trigger::Answered(entry),
                _ => self.index.orphans += 1,
            },
            (StreamId::S2C, What::Stray(MessageKind::Response)) => self.index.orphans += 1,
            (StreamId::S2C, _) => self.step(head, Act::Say, None),
            _ => {}
        }
    }

    /// What the server says after the client's answer waits for it.
    fn client_answered(&mut self, head: &FrameHead, id: ExchangeId) {
        let Owner::Ask(ask, trigger) = self.owner(Some(id)) else {
            return;
        };
        let owner = match trigger {
            Trigger::Asked(entry) if !self.is_open(entry, head.seq) => return,
            Trigger::Asked(entry) => Some(entry),
            _ => None,
        };
        self.anchor = trigger;
        self.step(head, Act::Heard(ask), owner);
    }

    fn asked(&mut self, exchange: &Exchange, raw: &[u8]) {
        let number = self.index.entries.len();
        let Some(wanted) = Wanted::recorded(raw, self.rules) else {
            return;
        };
        if let Some(chain) = exchange.chain
            && let Some(before) = self.chains.insert(chain, number)
        {
            self.index.entries[before].next_round = Some(number);
        }
        if exchange.status == Status::Lost {
            self.lost.push(number);
        }
        let method = methods::find(&exchange.method);
        let usage = method.and_then(|it| it.used_in(Revision::V2026_07_28));
        let usage = usage.filter(|_| exchange.response.is_some() && exchange.code.is_none());
        let capability = usage.and_then(|usage| usage.capability?.split('.').next());
        self.index.capabilities.extend(capability);
        let answered_at = [exchange.t_response, exchange.t_response_last];
        self.index.entries.push(Entry {
            digests: wanted.digests(),
            subject: wanted.subject,
            request: exchange.request.0,
            response: exchange.response.map(|(seq, _)| seq),
            asked_at: exchange.t_request,
            answered_at: answered_at.map(Option::unwrap_or_default),
            outcome: self.outcome(exchange),
            is_retry: exchange.is_retry(),
            next_round: None,
        });
        self.owners.insert(exchange.id, Owner::Entry(number));
        self.anchor = Trigger::Asked(number);
    }

    /// A request of the server, filed under the call that it was made for while that is open.
    fn asks(&mut self, head: &FrameHead, exchange: &Exchange) {
        let (trigger, owner) = match self.owner(exchange.parent) {
            Owner::Entry(parent) if self.is_open(parent, head.seq) => {
                (Trigger::Asked(parent), Some(parent))
            }
            _ => (self.anchor, None),
        };
        self.file(trigger, head, Act::Ask, owner);
        let owner = Owner::Ask(head.seq, trigger);
        self.owners.insert(exchange.id, owner);
    }

    fn notified(&mut self, head: &FrameHead, method: &str, exchange: Option<ExchangeId>) {
        let is_log = method == "notifications/message";
        let entry = match self.owner(exchange) {
            Owner::Entry(entry) => entry,
            // The mock withdraws its own requests.
            Owner::Ask(..) if method == "notifications/cancelled" => return,
            _ => return self.step(head, if is_log { Act::Log } else { Act::Say }, None),
        };
        let is_stream = self.index.entries[entry].outcome == Outcome::Stream;
        let act = match method {
            "notifications/progress" => Act::Progress,
            _ if is_stream => Act::OnStream,
            _ if is_log => Act::Log,
            _ => Act::Say,
        };
        let begins_stream = method == "notifications/subscriptions/acknowledged";
        if self.is_open(entry, head.seq) && (!is_stream || begins_stream) {
            self.file(Trigger::Asked(entry), head, act, Some(entry));
        } else {
            self.step(head, act, Some(entry));
        }
    }

    fn step(&mut self, head: &FrameHead, act: Act, owner: Option<usize>) {
        self.file(self.anchor, head, act, owner);
    }

    fn file(&mut self, trigger: Trigger, head: &FrameHead, act: Act, owner: Option<usize>) {
        let at = match act {
            Act::Heard(_) => head.t_last,
            _ => head.t_first,
        };
        let seq = head.seq;
        let steps = self.index.steps.entry(trigger).or_default();
        steps.push(Step {
            seq,
            at,
            act,
            owner,
        });
    }

    fn outcome(&self, exchange: &Exchange) -> Outcome {
        let http = self.recording.http(exchange.http).ok().flatten();
        outcome(exchange, http.and_then(|http| http.status))
    }

    /// Whether a request was not yet answered at `seq`.
    fn is_open(&self, entry: usize, seq: Seq) -> bool {
        let response = self.index.entries[entry].response;
        response.is_none_or(|response| response > seq)
    }

    fn owner(&self, exchange: Option<ExchangeId>) -> Owner {
        let known = exchange.and_then(|id| self.owners.get(&id));
        known.copied().unwrap_or(Owner::Nobody)
    }
}

fn outcome(exchange: &Exchange, http_status: Option<u16>) -> Outcome {
    let answered = exchange.response.is_some();
    match exchange.status {
        Status::Late | Status::UserCancelled => Outcome::Silence,
        Status::HttpError | Status::Probe | Status::Lost if !answered => {
            http_status.map_or(Outcome::Silence, Outcome::Refused)
        }
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
    let mut events = all_rows(0, |after| recording.events(*after), |row| row.id);
    let is_it =
        |row: &Result<EventRow, _>| row.as_ref().map_or(true, |row| row.event.kind == closed);
    let found = events.find(is_it).transpose()?;
    Ok(found.map(|row| row.event.after_seq))
}
