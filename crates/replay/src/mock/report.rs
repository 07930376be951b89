//! What was used of a recording, what was not, and what was asked that is not on it.

use super::index::{Index, Place, Subject};
use super::matcher::{Matcher, Reason};
use crate::rules::{Rules, Unfired};
use mcpreel_trace::frame::Seq;

/// Of each list so many are kept; the rest is counted.
const KEPT: usize = 20;

/// A request that is not on record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missed {
    /// Its method; not escaped, like its name.
    pub method: Box<str>,
    pub name: Option<Box<str>>,
    pub reason: Reason,
    /// What comes nearest, and where it differs.
    pub nearest: Option<(Seq, Vec<String>)>,
}

impl Missed {
    pub fn subject(&self) -> String {
        let subject = Subject {
            method: self.method.clone(),
            name: self.name.clone(),
        };
        subject.to_string()
    }

    /// Why, and what comes nearest on `recording`.
    pub fn sentence(&self, recording: &str) -> String {
        let why = match self.reason {
            Reason::Method => "no such request is on record",
            Reason::Name => "nothing of this name is on record",
            Reason::Params => "not on record with these params",
            Reason::Used => "what is on record has been used",
            Reason::Order => "out of recorded order",
            Reason::Round => "the recorded client did not go on from there",
            Reason::Version => "the recording is of another version",
            Reason::Noise => "on record but for ids, times and temporary files",
        };
        let nearest = self
            .nearest
            .as_ref()
            .map_or_else(String::new, |(seq, paths)| {
                let where_ = match paths.as_slice() {
                    [] => String::new(),
                    paths => format!(", which differs in {}", paths.join(", ")),
                };
                format!("; the nearest is {recording}#{}{where_}", seq.0)
            });
        format!("{}: {why}{nearest}", self.subject())
    }
}

/// A request on record that nobody asked again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unused {
    pub seq: Seq,
    /// What it is about, as far as that is known.
    pub subject: Option<Subject>,
}

/// Things of which the first are kept, and all counted.
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
    pub(super) fn add(&mut self, one: T) {
        self.count += 1;
        if self.kept.len() < KEPT {
            self.kept.push(one);
        }
    }

    pub fn more(&self) -> u64 {
        self.count.saturating_sub(self.kept.len() as u64)
    }
}

/// What is counted while a recording is served.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub requests: u64,
    /// Those that were answered from the recording, or left unanswered as there.
    pub served: u64,
    pub repeated: u64,
    /// Of them those that were matched without what no two runs share.
    pub normalised: Counted<Missed>,
    /// Those that got the answer to what comes nearest.
    pub near: Counted<Missed>,
    pub missed: Counted<Missed>,
    /// Those that the server behind us answered.
    pub passed: Counted<Missed>,
    /// Those that were passed to it and that it had not answered when they were cancelled, or when
    /// the session was over.
    pub left_open: Counted<Missed>,
    /// Those that were meant for it and that failed: it was not there, or went.
    pub not_passed: Counted<Missed>,
    /// Those that came out of recorded order, by their frames there.
    pub out_of_order: Counted<Seq>,
    /// Those that were not served because they came out of recorded order.
    pub refused_order: u64,
    /// Those that went wrong on purpose.
    pub faults: u64,
    pub malformed: u64,
    /// Requests to the host that it did not declare a capability for.
    pub not_asked: u64,
    /// Requests to the host that it did not answer.
    pub unanswered: u64,
    /// Answers of the host that differ from those on record, which stand in these frames.
    pub otherwise: Counted<Seq>,
    /// Responses of the host to nothing that we asked.
    pub unexpected: u64,
    /// Parts of the recording that could not be read.
    pub unreadable: u64,
    /// Why the server behind us could not be used.
    pub behind_failed: Option<String>,
}

impl Tally {
    pub(super) fn miss(&mut self, missed: Missed) {
        self.missed.add(missed);
    }

    pub(super) fn near(&mut self, missed: Missed) {
        self.near.add(missed);
    }

    pub(super) fn came_out_of_order(&mut self, seq: Seq) {
        self.out_of_order.add(seq);
    }

    pub(super) fn answered_otherwise(&mut self, answer: Place) {
        self.otherwise.add(answer.seq());
    }
}

#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The id of the recording, or the file of a cassette. Not escaped.
    pub recording: String,
    /// Requests that are on record; pings do not count.
    pub recorded: u64,
    pub unused: Counted<Unused>,
    /// Responses on record that answered nothing, which are not served.
    pub orphans: u64,
    /// Rules about requests that changed nothing.
    pub unfired: Vec<Unfired>,
    pub tally: Tally,
}

impl Report {
    pub(super) fn new(index: &Index, matcher: &Matcher, rules: &Rules, tally: Tally) -> Self {
        let mut report = Self {
            recording: index.recording.clone(),
            orphans: index.orphans,
            unfired: rules.unfired_in_requests(),
            tally,
            ..Self::default()
        };
        let ping = super::wanted::digest("ping", "");
        for (entry, number) in index.entries.iter().zip(0_u32..) {
            if entry.method == ping {
                continue;
            }
            report.recorded += 1;
            if !matcher.is_used(number) {
                report.unused.add(Unused {
                    seq: entry.request.seq(),
                    subject: index.subjects.get(&entry.name).cloned(),
                });
            }
        }
        report
    }

    /// How many recorded requests were asked again.
    pub fn used(&self) -> u64 {
        self.recorded - self.unused.count
    }
}
