//! What was used of a recording, what was not, and what was asked that is not on it.

use super::index::Index;
use super::matcher::Subject;
use super::matcher::{Matcher, Reason};
use crate::rules::{Rules, Unfired};
use mcpreel_trace::frame::Seq;

/// Items of each list that are kept; the rest is counted.
const KEPT: usize = 20;

/// A request that is not on record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missed {
    pub subject: Subject,
    pub reason: Reason,
    /// The nearest recorded request, and the paths at which it differs.
    pub nearest: Option<(Seq, Vec<String>)>,
}

impl Missed {
    /// The near miss in one line; `recording` names the recording.
    pub fn sentence(&self, recording: &str) -> String {
        let why = match self.reason {
            Reason::Method => "no such request is on record",
            Reason::Name => "nothing of this name is on record",
            Reason::Params => "not on record with these params",
            Reason::Used => "what is on record has been used",
            Reason::Round => "the recorded client did not go on from there",
        };
        let mut text = format!("{}: {why}", self.subject);
        if let Some((seq, paths)) = &self.nearest {
            text += &["; the nearest is ", recording, "#", &seq.0.to_string()].concat();
            if !paths.is_empty() {
                text += &[", which differs in ", &paths.join(", ")].concat();
            }
        }
        text
    }
}

/// A recorded request that nobody asked again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unused {
    pub seq: Seq,
    pub subject: Subject,
}

/// A list of which the first items are kept, and all are counted.
#[derive(Clone, Debug)]
pub struct Counted<T> {
    pub kept: Vec<T>,
    pub count: u64,
}

impl<T> Default for Counted<T> {
    fn default() -> Self {
        Self {
            kept: Vec::new(),
            count: 0,
        }
    }
}

impl<T> Counted<T> {
    pub(super) fn add(&mut self, item: impl FnOnce() -> T) {
        self.count += 1;
        if self.kept.len() < KEPT {
            self.kept.push(item());
        }
    }

    /// The number of items that are not kept.
    pub fn left_out(&self) -> u64 {
        self.count - self.kept.len() as u64
    }
}

/// The counts of a session.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub requests: u64,
    /// Requests that were answered from the recording, or left unanswered as there.
    pub served: u64,
    pub repeated: u64,
    /// Served requests that differ from the recorded ones in ids, times and the like.
    pub normalised: u64,
    /// Requests that got the answer to the nearest one.
    pub near: Counted<Missed>,
    pub missed: Counted<Missed>,
    /// Recorded requests that were served out of order.
    pub out_of_order: Counted<Seq>,
    /// Requests that went wrong on purpose.
    pub faults: u64,
    pub malformed: u64,
    /// Requests to the host for which it has not declared the capability.
    pub not_asked: u64,
    /// Requests to the host that it did not answer.
    pub unanswered: u64,
    /// Responses of the host to nothing that we asked.
    pub unexpected: u64,
    /// Parts of the recording that could not be read.
    pub unreadable: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The id of the recording, or the file of a cassette. Not escaped.
    pub recording: String,
    /// Requests on record; pings do not count.
    pub recorded: u64,
    pub unused: Counted<Unused>,
    /// Responses on record that answered nothing; they are not served.
    pub orphans: u64,
    /// Rules about requests that changed nothing.
    pub unfired: Vec<Unfired>,
    pub tally: Tally,
}

impl Report {
    pub(super) fn new(index: &Index, matcher: &Matcher, rules: &Rules, tally: Tally) -> Self {
        let entries = index.entries.iter().enumerate();
        let counts = entries.filter(|(_, entry)| &*entry.subject.method != "ping");
        let mut unused = Counted::default();
        for (_, entry) in counts
            .clone()
            .filter(|(number, _)| !matcher.is_used(*number))
        {
            unused.add(|| Unused {
                seq: entry.request,
                subject: entry.subject.clone(),
            });
        }
        Self {
            recording: index.recording.clone(),
            recorded: counts.count() as u64,
            unused,
            orphans: index.orphans,
            unfired: rules.unfired_in_requests(),
            tally,
        }
    }

    /// The number of recorded requests that were asked again.
    pub fn used(&self) -> u64 {
        self.recorded - self.unused.count
    }
}
