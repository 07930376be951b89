//! Which recording is open, and how it stands.

use crate::store::library::Standing;
use crate::store::reader::{FindingRow, ReadError, Recording, Summary};
use crate::trace::clock::Moment;
use crate::trace::exchange::Exchange;
use crate::trace::frame::{Seq, StreamId};
use std::path::PathBuf;

/// Opens another recording.
#[derive(Debug)]
pub struct Ask {
    /// Its file; none closes the one that is open.
    pub path: Option<PathBuf>,
}

/// How it stands.
#[derive(Debug)]
pub enum Answer {
    /// Its spool is drained first: bytes done, of so many.
    Draining(u64, u64),
    /// What is derived is derived anew.
    Deriving,
    /// There is no recording yet, only a recorder that starts.
    Waiting,
    /// It is open, has grown, or has ended.
    Vitals(Box<Vitals>),
    /// It cannot be read: one sentence with the way out.
    Unreadable(String),
}

/// What the header tells: is it alive, who waits for whom, what failed.
#[derive(Debug)]
pub struct Vitals {
    /// The session as it stands.
    pub summary: Summary,
    /// Whether somebody still records.
    pub standing: Standing,
    /// Unfinished lines.
    pub unfinished: Vec<Unfinished>,
    /// Writes that hang.
    pub stalls: Vec<Stall>,
    /// The oldest calls that wait for an answer, a few.
    pub open: Vec<Exchange>,
    /// The first failure.
    pub first_failure: Option<Exchange>,
    /// How many times the same method and name failed.
    pub failed_alike: Vec<Seq>,
    /// The first finding that is an error.
    pub first_error: Option<FindingRow>,
    /// The last lines of stderr, where the session has ended badly or nothing was said yet.
    pub last_words: Vec<Box<[u8]>>,
}

/// A line whose end has not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// On which stream.
    pub stream: StreamId,
    /// Bytes so far.
    pub bytes: u64,
    /// When its first byte came.
    pub since: Moment,
}

/// A write that hangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// On which stream: whose reader does not read.
    pub stream: StreamId,
    /// Bytes that wait.
    pub bytes: u64,
    /// Since when.
    pub since: Moment,
}

impl Vitals {
    /// Reads them.
    pub(super) fn read(recording: &Recording, standing: Standing) -> Result<Self, ReadError> {
        Ok(Self {
            summary: recording.summary()?,
            standing,
            unfinished: Vec::new(),
            stalls: Vec::new(),
            open: Vec::new(),
            first_failure: None,
            failed_alike: Vec::new(),
            first_error: None,
            last_words: Vec::new(),
        })
    }
}
