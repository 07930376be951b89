//! Everything that is open: requests that wait for their answers, notifications without a counterpart; requests
//! that were not sent; and the counts of all.

use super::script::{Step, What};
use crate::Counted;
use crate::bind::{Bound, Fault, Round};
use crate::diff::Outcome;
use compact_str::CompactString;
use mcpreel_trace::clock::Moment;
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_trace::frame::{FrameHead, Seq};
use mcpreel_trace::session::{Closed, Side};
use mcpreel_wire::id::RequestId;
use mcpreel_wire::mcp::methods::canonical;
use mcpreel_wire::message::{Notification, Subject};
use mcpreel_wire::text::escape;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::time::Duration;

/// A request that was sent.
#[derive(Debug)]
pub(super) struct Call {
    pub exchange: Box<Exchange>,
    pub id: RequestId,
    pub sent: Moment,
    /// When its answer is given up; `None`: nothing waits for it.
    pub deadline: Option<Moment>,
    /// How long the recorded client waited before it cancelled the request without an answer.
    pub cancelled_after: Option<Duration>,
    pub cancelled: bool,
}

impl Call {
    /// Whether the walk waits for its answer.
    pub fn is_awaited(&self) -> bool {
        self.is_due() && was_answered(&self.exchange)
    }

    /// Whether it has to come to an end: that of the recorded server, if that died over it.
    pub fn is_due(&self) -> bool {
        self.deadline.is_some() && !self.cancelled
    }
}

/// Whether the recorded client had an answer that it could go on from.
pub(super) fn was_answered(exchange: &Exchange) -> bool {
    let in_time = |seq| exchange.cancelled.is_none_or(|cancelled| seq < cancelled);
    exchange.response.is_some_and(|(seq, _)| in_time(seq))
        && exchange.status != Status::Late
        && !exchange.is_listen()
}

/// The open calls, in the order of the recording. There are few: they are looked through.
#[derive(Debug, Default)]
pub(super) struct Calls(pub BTreeMap<ExchangeId, Call>);

impl Calls {
    /// The calls whose answers are waited for.
    pub fn awaited(&self) -> impl Iterator<Item = &Call> {
        self.0.values().filter(|call| call.is_awaited())
    }

    /// The calls that have to come to an end.
    pub fn due(&self) -> impl Iterator<Item = &Call> {
        self.0.values().filter(|call| call.is_due())
    }

    /// The calls to which an answer may come.
    pub fn open(&self) -> impl Iterator<Item = &Call> {
        let calls = self.0.values();
        calls.filter(|call| !call.cancelled && !call.exchange.is_listen())
    }

    /// The oldest open call with this id.
    pub fn by_id(&self, id: &RequestId) -> Option<ExchangeId> {
        let call = self.0.values().find(|call| call.id == *id)?;
        Some(call.exchange.id)
    }

    /// The newest open call within which the server may ask something.
    pub fn newest(&self) -> Option<ExchangeId> {
        let mut calls = self.0.values().rev();
        let asks = |call: &&Call| !call.exchange.is_listen() && &*call.exchange.method != "ping";
        calls.find(asks).map(|call| call.exchange.id)
    }

    pub fn cancel(&mut self, id: &RequestId) {
        if let Some(call) = self.by_id(id).and_then(|id| self.0.get_mut(&id)) {
            call.cancelled = true;
        }
    }
}

/// The outcome of a round of input.
#[derive(Clone, Debug)]
pub(super) enum Chain {
    /// The server asks for input again.
    Asks(Round),
    /// The server has answered at once: its answer.
    Complete(Box<[u8]>),
    /// The chain cannot go on: why.
    Broken(Box<str>),
}

/// Requests that were not sent, and the state of chains of input, as far as later messages depend on
/// them.
#[derive(Debug, Default)]
pub(super) struct Skipped {
    pub exchanges: HashSet<ExchangeId>,
    pub ids: HashSet<RequestId>,
    /// By the first exchange of each chain.
    pub chains: HashMap<ExchangeId, Chain>,
    /// Whether the latest request of the walk was not sent.
    pub latest: bool,
}

impl Skipped {
    pub fn add(&mut self, exchange: &Exchange) {
        self.latest = true;
        self.exchanges.insert(exchange.id);
        self.ids.insert(exchange.rpc_id.clone());
    }

    /// A request was sent: its id means that request from now on.
    pub fn sent(&mut self, id: &RequestId) {
        self.latest = false;
        self.ids.remove(id);
    }
}

/// How long the answer to `exchange` may take: ten times as long as in the recording, and ten seconds
/// at least, also where the recorded server died over it and so `closed` the session; `None` where nothing
/// waits for it.
pub(super) fn patience(exchange: &Exchange, closed: Option<Closed>) -> Option<Duration> {
    let died = closed.is_some_and(|closed| closed.by == Side::Server);
    let recorded = Duration::from_nanos(exchange.latency_ns().unwrap_or(0));
    let patience = recorded.saturating_mul(10).max(Duration::from_secs(10));
    let is_due = was_answered(exchange) || died && exchange.status == Status::Lost;
    is_due.then_some(patience)
}

/// The outcome of a message that a fault keeps from being sent.
pub(super) fn lacks(fault: Fault) -> Outcome {
    match fault {
        Fault::Unreached(what) => Outcome::Unreached(what),
        Fault::Redacted(names) => {
            Outcome::Redacted(names.iter().map(|name| escape(name).into()).collect())
        }
    }
}

/// An exchange by its method, what it is about, and where it stands in the recording. Escaped.
pub(super) fn named(exchange: &Exchange) -> String {
    let name = exchange.name.as_deref().map(|name| format!(" {name}"));
    let what = format!("{}{}", exchange.method, name.unwrap_or_default());
    format!("{} (#{})", escape(&what), exchange.request.0.0)
}

/// Counts of what was done, and the little that is told one by one.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub sent: u64,
    /// Requests that the user did not ask for.
    pub unwanted: u64,
    /// Not sent: the server answered at once where it had asked for input.
    pub not_needed: u64,
    /// Calls that were not sent because their tools may have side effects.
    pub refused: Counted<(Seq, Box<str>)>,
    /// Answers of the server that were compared with recorded ones.
    pub answered: u64,
    /// Of those, answers that are too long to be compared.
    pub uncompared: u64,
    /// Requests of the server that were answered as in the recording.
    pub asked: u64,
    /// Requests of the server that were answered otherwise.
    pub unexpected: u64,
    /// How the server ended by itself, badly and as in the recording.
    pub ended_as_then: Option<Box<str>>,
    /// The method of the last message that was sent, as on the wire.
    pub last_method: CompactString,
    /// Lines of the server that are no JSON-RPC: recorded and live.
    pub noise: [u64; 2],
    /// The first live one, as on the wire, cut.
    pub first_noise: Option<Box<[u8]>>,
    /// Answers to nothing that was asked: recorded and live.
    pub strays: [u64; 2],
    /// The id of the first live one, JSON text.
    pub first_stray: Option<Box<str>>,
    /// Handles that were sent in place of recorded ones.
    pub bound: Vec<Bound>,
    /// Values that were forgotten, because there were too many to bind.
    pub forgotten: u64,
}

/// Notifications without a counterpart that are remembered on each side.
const MOST: usize = 1024;

/// A message that comes so soon after another one was caused by it.
const REACTION: Duration = Duration::from_millis(100);

/// How long a message of the client waits for a notification.
const PATIENCE: Duration = Duration::from_secs(5);

/// The method of a notification, and the resource or the like that it names.
type Told = (CompactString, Option<CompactString>);

/// A recorded notification that has not come.
#[derive(Clone, Debug)]
pub(super) struct Notice {
    pub told: Told,
    pub seq: Seq,
    /// When it was recorded, and when the walk came to it.
    t: [Moment; 2],
    pub is_due: bool,
    /// Whether the client did in the replay all that it had done before it.
    may_come: bool,
}

/// The notifications of the server that have no counterpart yet.
///
/// They are compared as a multiset, without log messages, which are for people, and without progress
/// and the status of tasks, which go by the clock. A recorded notification that came while a call was
/// open, or just after one, is due: it is missed if it does not come. One that came by itself is not,
/// because a replay is over sooner than the clock that made it. The order in which they come is chance.
#[derive(Debug, Default)]
pub(super) struct Notices {
    pub recorded: VecDeque<Notice>,
    pub live: VecDeque<Told>,
    /// When a message of the client was recorded last.
    pub last_activity: Option<Moment>,
    /// Whether one was waited for in vain: then none is waited for any more.
    in_vain: bool,
}

impl Notices {
    /// The walk has come to a notification. `busy`: a call was open; `may_come`: the client's latest
    /// request was sent in the replay.
    pub fn pass(
        &mut self,
        head: &FrameHead,
        message: &Notification,
        (busy, may_come): (bool, bool),
        now: Moment,
    ) {
        let Some(told) = compared(message) else {
            return;
        };
        if let Some(at) = self.live.iter().position(|it| *it == told) {
            self.live.remove(at);
            return;
        }
        let soon = |last| head.t_last.since(last) <= REACTION;
        self.recorded.push_back(Notice {
            told,
            seq: head.seq,
            t: [head.t_last, now],
            is_due: may_come && (busy || self.last_activity.is_some_and(soon)),
            may_come,
        });
        // The oldest go first.
        let surplus = self.recorded.len().saturating_sub(MOST);
        self.recorded.drain(..surplus);
    }

    /// The server has said this.
    pub fn tell(&mut self, message: &Notification) {
        let Some(told) = compared(message) else {
            return;
        };
        if let Some(at) = self.recorded.iter().position(|it| it.told == told) {
            self.recorded.remove(at);
        } else if self.live.len() < MOST {
            self.live.push_back(told);
        }
    }

    /// The notification that a message of the client waits for, and until when: one that is due, or
    /// one to which the client may have reacted, because it listed or read something at once.
    pub fn held(&mut self, message: &Step, now: Moment) -> Option<(&Notice, Moment)> {
        if self.in_vain {
            return None;
        }
        let looks = match &message.what {
            What::Asks(it) => it.method.ends_with("/list") || it.method == "resources/read",
            _ => false,
        };
        let is_awaited = |it: &&Notice| {
            it.is_due || looks && it.may_come && message.head.t_first.since(it.t[0]) <= REACTION
        };
        let notice = self.recorded.iter().find(is_awaited)?;
        let until = notice.t[1] + PATIENCE;
        self.in_vain = until <= now;
        (now < until).then_some((notice, until))
    }

    /// Whether something is still due.
    pub fn are_due(&self) -> bool {
        self.recorded.iter().any(|notice| notice.is_due)
    }
}

/// Method and name of a notification, if it is compared. Ids of the server's own are left out.
fn compared(message: &Notification) -> Option<Told> {
    let method = canonical(&message.method);
    let about = match &message.subject {
        Subject::Progress { .. } | Subject::Log { .. } | Subject::Task { .. } => return None,
        Subject::Other { name } if method != "notifications/elicitation/complete" => name.clone(),
        Subject::Cancelled { .. } | Subject::Other { .. } => None,
    };
    Some((method.into(), about))
}
