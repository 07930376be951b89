//! The report of a mock: requests on record that were used, that were not, and requests that are not
//! on record.

use super::index::Index;
use super::matcher::{Matcher, Near, Reason, Subject};
use crate::Counted;
use mcpreel_trace::frame::Seq;

/// A request that is not on record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missed {
    pub subject: Subject,
    pub reason: Reason,
    /// The nearest recorded request.
    pub nearest: Option<(Seq, Near)>,
}

impl Missed {
    /// The near miss in one line; `recording` names the recording.
    pub fn sentence(&self, recording: &str) -> String {
        let mut text = format!("{}: {}", self.subject, self.reason.in_words());
        if let Some((seq, near)) = &self.nearest {
            text += &["; the nearest is ", recording, "#", &seq.0.to_string()].concat();
            if !near.paths.is_empty() {
                text += &[", which differs in ", &near.paths.join(", ")].concat();
            }
            for (nth, name) in near.unbound.iter().enumerate() {
                text += [", but is the same with", ""][nth.min(1)];
                text += &[" --bind ", name, "=env:NAME"].concat();
            }
        }
        text
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
    /// Recorded requests that nobody asked again.
    pub unused: Counted<(Seq, Subject)>,
    /// Responses on record that answered nothing; they are not served.
    pub orphans: u64,
    pub tally: Tally,
}

impl Report {
    pub(super) fn new(index: &Index, matcher: &Matcher, tally: Tally) -> Self {
        let mut report = Self {
            recording: index.recording.clone(),
            orphans: index.orphans,
            tally,
            ..Self::default()
        };
        for (number, entry) in index.entries.iter().enumerate() {
            if &*entry.subject.method != "ping" {
                report.recorded += 1;
                if !matcher.is_used(number) {
                    let unused = &mut report.unused;
                    unused.add(|| (entry.request, entry.subject.clone()));
                }
            }
        }
        report
    }

    /// The number of recorded requests that were asked again.
    pub fn used(&self) -> u64 {
        self.recorded - self.unused.count
    }
}
