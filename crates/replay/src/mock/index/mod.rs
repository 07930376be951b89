//! What is on record, without bodies: which requests there are to answer, and what the server said
//! besides, each at the anchor after which it came.
//!
//! An [`Entry`] is a request of the recorded client. A [`Step`] is something that came from the
//! server (or that it waited for), filed under its [`Trigger`]: what a live session has to bring
//! for it to come again. Bodies are read from the recording when they are served.

mod build;
mod place;

pub use build::IndexError;
pub use place::Place;

use mcpreel_trace::clock::Moment;
use std::collections::{BTreeSet, HashMap};
use std::fmt;

pub(super) const NONE: u32 = u32::MAX;

/// A request of the recorded client.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub request: Place,
    pub response: Option<Place>,
    /// Digest of method and exact params.
    pub exact: u64,
    /// Digest of method and normalised params.
    pub normalised: u64,
    pub name: u64,
    pub method: u64,
    /// The next round of its chain, or [`NONE`].
    pub(super) next: u32,
    pub outcome: Outcome,
    /// Whether it can always be repeated.
    pub reusable: bool,
    /// Whether it is not found by its params: a later round of a chain, to which only the chain
    /// leads, or one that was refused for its version.
    pub hidden: bool,
    /// Whether something is filed elsewhere that needs its live id or token.
    pub followed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Answer,
    Input,
    /// An answer after it had been cancelled.
    Late,
    Silence,
    /// A stream of notifications, whose end is a step.
    Stream,
    Death,
}

/// What has to happen for something to come again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trigger {
    Start,
    /// The request of this entry arrives; it comes before the answer.
    Asked(u32),
    Answered(u32),
    /// This notification of the client arrives.
    Notified(u32),
    /// The client has answered this request of the server, which nothing waited for.
    Told(u32),
    End,
}

/// Something that came from the server, or that it waited for.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    pub trigger: Trigger,
    pub place: Place,
    pub act: Act,
}

/// What a step is. Entries and requests of the server are given by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// A message, or a line that is none, as it stands.
    Say,
    /// A notification that belongs to this entry.
    Own(u32),
    /// A log message of this entry, or of none.
    Log(u32),
    Progress(u32),
    /// `resources/updated` that the recorded client had subscribed to.
    Updated,
    /// On the stream of this entry: with its subscription id.
    OnStream(u32),
    /// The response that ends the stream of this entry.
    StreamEnds(u32),
    /// The cancel by which the server ended the stream of this entry.
    StreamCancelled(u32),
    Ask(u32),
    /// The server waited for the answer to its request.
    Heard(u32),
    /// The server withdrew its request.
    Withdraw(u32),
    Stderr,
}

#[derive(Clone, Copy, Debug)]
pub struct Ask {
    pub request: Place,
    /// Where the recorded client's answer stands.
    pub answer: Option<Place>,
}

/// A notification of the client after which the server said something.
#[derive(Clone, Copy, Debug)]
pub struct Notice {
    pub method: u64,
    pub place: Place,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Its method; not escaped, like its name.
    pub method: Box<str>,
    pub name: Option<Box<str>>,
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{} {name}", self.method),
            None => f.write_str(&self.method),
        }
    }
}

/// How the server died over a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Death {
    Code(i32),
    Signal(String),
}

#[derive(Debug, Default)]
pub struct Index {
    /// The id of the recording, or the file of a cassette. Not escaped.
    pub recording: String,
    /// In the order of their requests.
    pub entries: Vec<Entry>,
    /// What they are about, by the digests of their methods and names; the first of so many.
    pub subjects: HashMap<u64, Subject>,
    pub(super) steps: Vec<Step>,
    pub asks: Vec<Ask>,
    pub notices: Vec<Notice>,
    /// Whether there are requests of the era with a handshake.
    pub legacy: bool,
    /// Whether there are requests of the era without.
    pub modern: bool,
    /// The modern versions that were served.
    pub versions: BTreeSet<Box<str>>,
    /// The entries that were refused because of their version.
    pub refused: Vec<u32>,
    /// The version that both sides agreed on.
    pub agreed: Option<Box<str>>,
    /// Whether the recorded client sent batches.
    pub batches: bool,
    /// How the server died, if it died over a request.
    pub death: Option<Death>,
    /// Placeholders of redacted values.
    pub placeholders: BTreeSet<String>,
    /// Responses that answered nothing, which are not served.
    pub orphans: u64,
    pub end: Moment,
}

impl Index {
    /// The numbers of the steps of a trigger.
    pub fn steps_of(&self, trigger: Trigger) -> std::ops::Range<usize> {
        let start = self.steps.partition_point(|step| step.trigger < trigger);
        let end = self.steps.partition_point(|step| step.trigger <= trigger);
        start..end
    }

    pub fn step(&self, number: usize) -> Option<Step> {
        self.steps.get(number).copied()
    }

    /// The entry whose request stands at `place`.
    pub fn at(&self, place: Place) -> Option<u32> {
        let found = self.entries.binary_search_by_key(&place, |it| it.request);
        found.ok().and_then(|at| u32::try_from(at).ok())
    }

    pub fn entry(&self, number: u32) -> &Entry {
        &self.entries[number as usize]
    }
}
