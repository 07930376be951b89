//! Text search: over the raw bytes of all frames (bodies, stderr, noise) and over the summaries
//! of their messages, newest first.
//!
//! It passes over the recording twice. The first time it looks at the bytes, as fast as they are
//! read; the second time at the summaries, which have words that are not on the wire (`14 tools`)
//! and have to be derived, which is slower. Each pass goes from the newest frame to the oldest.
//!
//! There is no index: bytes are looked at where they stand, by several threads at a time, each
//! with a read-only connection of its own over its part of a range of frames. A [`Search`] goes
//! on in steps; between two of them nothing is open, so that it can be dropped at any time and a
//! live recording is not held up.

mod pattern;

pub use pattern::{Finder, Pattern, PatternError};

use super::indexer::COLLECT_LIMIT;
use super::reader::rows::number;
use super::reader::{ReadError, Recording};
use super::values::to_sql;
use crate::protocol::message::Classifier;
use crate::trace::clock::Clock;
use crate::trace::frame::{Seq, StreamId};
use rusqlite::Connection;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::thread;

/// Frames of the first range: few, so that the first hits come at once.
const FIRST_RANGE: u64 = 1024;

/// More threads than this gain nothing: the file is read by one system call per page.
const MAX_THREADS: usize = 8;

/// Bytes of a long frame that are looked at in one piece.
const PIECE: usize = 1024 * 1024;

const EXTENT: &str = "SELECT frames FROM recording";
const FRAMES: &str = "SELECT seq, stream, length(raw), CASE WHEN length(raw) <= ?3 THEN raw END
    FROM frame WHERE seq BETWEEN ?1 AND ?2 ORDER BY seq DESC";
const LONG_SUMMARIES: &str = "SELECT summary FROM message WHERE frame = ?1 AND summary IS NOT NULL";

/// A frame in which the pattern was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchHit {
    /// The frame.
    pub seq: Seq,
    /// Where the first match stands in it.
    pub place: Place,
}

/// Where a match stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the bytes of the frame.
    Bytes(Range<u64>),
    /// In the summary of a message only: words that are not on the wire.
    Summary,
}

/// What is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pass {
    /// The bytes of all frames.
    #[default]
    Bytes,
    /// The summaries of messages in whose bytes nothing was found.
    Summaries,
}

/// How long one step works.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Nanoseconds. A step stops soon after, but for a frame that takes longer to read.
    pub nanos: u64,
    /// What the work is measured with.
    pub clock: Clock,
}

/// What a step found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Frames with the pattern, those of each pass from the newest to the oldest.
    pub hits: Vec<SearchHit>,
    /// Whether all frames were looked at in both passes.
    pub done: bool,
    /// What is looked at next.
    pub pass: Pass,
    /// Frames that are not looked at yet.
    pub left: u64,
    /// Frames that there were when the search began.
    pub of: u64,
    /// Bytes that were looked at since the search began.
    pub bytes: u64,
}

/// A search through one recording.
#[derive(Debug)]
pub struct Search {
    path: PathBuf,
    finder: Finder,
    threads: u64,
    range: u64,
    pass: Pass,
    /// The frames after `after` up to `left` are still to be looked at; `None` before the first
    /// step.
    left: Option<u64>,
    after: u64,
    of: u64,
    bytes: u64,
}

impl Search {
    /// A search for `pattern` through the recording `path`, from the frame `from` (itself
    /// included; `None`: the last one) back to the first.
    pub fn new(path: &Path, pattern: &Pattern, from: Option<Seq>) -> Result<Self, PatternError> {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            path: path.to_owned(),
            finder: Finder::new(pattern)?,
            threads: threads.min(MAX_THREADS) as u64,
            range: FIRST_RANGE,
            pass: Pass::Bytes,
            left: from.map(|seq| seq.0),
            after: 0,
            of: 0,
            bytes: 0,
        })
    }

    /// After it was done: goes on with the frames after `after` up to `last`, which have come
    /// since.
    pub fn again(&mut self, after: Seq, last: Seq) {
        self.pass = Pass::Bytes;
        self.after = after.0;
        self.left = Some(last.0);
        self.of = last.0;
    }

    /// Goes on for about as long as `pace` says.
    pub fn step(&mut self, pace: &Pace) -> Result<Found, ReadError> {
        let began = pace.clock.now();
        let spent = || pace.clock.now().0.saturating_sub(began.0);
        let mut left = self.begin()?;
        let mut found = Found::default();
        while left > self.after {
            let range_began = spent();
            let from = left.saturating_sub(self.range).max(self.after);
            let (hits, bytes) = self.look(from + 1, left)?;
            found.hits.extend(hits);
            left = from;
            if self.pass == Pass::Bytes {
                self.bytes += bytes;
                if left <= self.after {
                    self.pass = Pass::Summaries;
                    left = self.of;
                }
            }
            self.adapt(spent() - range_began, pace.nanos);
            if spent() >= pace.nanos {
                break;
            }
        }
        self.left = Some(left);
        Ok(Found {
            done: left <= self.after,
            pass: self.pass,
            left: left.saturating_sub(self.after),
            of: self.of.saturating_sub(self.after),
            bytes: self.bytes,
            ..found
        })
    }

    fn begin(&mut self) -> Result<u64, ReadError> {
        if self.of == 0 {
            let recording = Recording::open_as_it_is(&self.path)?;
            let frames = recording.read(|conn| conn.query_row(EXTENT, [], |row| number(row, 0)))?;
            self.of = self.left.map_or(frames, |from| from.min(frames));
            self.left = Some(self.of);
        }
        Ok(self.left.unwrap_or(0))
    }

    /// A range should take a quarter of a step, so that steps end in time.
    fn adapt(&mut self, took: u64, step: u64) {
        let range = match took {
            took if took < step / 4 => self.range.saturating_mul(2),
            _ => self.range / 2,
        };
        self.range = range.clamp(FIRST_RANGE / 4, FIRST_RANGE * 256);
    }

    /// Looks at the frames `lo..=hi`: those with the pattern, the newest first, and how many
    /// bytes all of them have.
    fn look(&self, lo: u64, hi: u64) -> Result<(Vec<SearchHit>, u64), ReadError> {
        let share = (hi - lo + 1).div_ceil(self.threads).max(1);
        let mut parts = Vec::new();
        let mut end = hi;
        while end >= lo && end > 0 {
            let start = end.saturating_sub(share - 1).max(lo);
            parts.push((start, end));
            end = start - 1;
        }
        let results: Vec<_> = thread::scope(|scope| {
            let workers: Vec<_> = parts
                .iter()
                .map(|&(lo, hi)| scope.spawn(move || self.look_alone(lo, hi)))
                .collect();
            let joined = workers.into_iter().map(|worker| {
                let result = worker.join();
                result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            joined.collect()
        });
        let mut all = Vec::new();
        let mut bytes = 0;
        for result in results {
            let (hits, looked_at) = result?;
            all.extend(hits);
            bytes += looked_at;
        }
        Ok((all, bytes))
    }

    fn look_alone(&self, lo: u64, hi: u64) -> Result<(Vec<SearchHit>, u64), ReadError> {
        let recording = Recording::open_as_it_is(&self.path)?;
        let mut long = Vec::new();
        let (mut hits, mut bytes) = (Vec::new(), 0);
        recording.read(|conn| {
            let mut classifier = Classifier::default();
            let mut statement = conn.prepare_cached(FRAMES)?;
            let mut rows = statement.query([to_sql(lo), to_sql(hi), to_sql(COLLECT_LIMIT)])?;
            while let Some(row) = rows.next()? {
                let seq = Seq(number(row, 0)?);
                bytes += number(row, 2)?;
                let Some(raw) = row.get_ref(3)?.as_blob_or_null()? else {
                    long.push(seq);
                    continue;
                };
                let has_messages = StreamId(row.get(1)?).messages().is_some();
                let place = match (self.pass, self.finder.in_bytes(raw)) {
                    (Pass::Bytes, found) => found.map(Place::Bytes),
                    (Pass::Summaries, None) if has_messages => self
                        .in_summaries(&mut classifier, raw)
                        .then_some(Place::Summary),
                    (Pass::Summaries, _) => None,
                };
                hits.extend(place.map(|place| SearchHit { seq, place }));
            }
            Ok(())
        })?;
        for seq in long {
            let place = match self.pass {
                Pass::Bytes => self.in_long(&recording, seq)?.map(Place::Bytes),
                Pass::Summaries => self.in_long_summary(&recording, seq)?,
            };
            hits.extend(place.map(|place| SearchHit { seq, place }));
        }
        hits.sort_by_key(|hit| std::cmp::Reverse(hit.seq));
        Ok((hits, bytes))
    }

    fn in_summaries(&self, classifier: &mut Classifier, raw: &[u8]) -> bool {
        let messages = classifier.classify(raw).messages;
        messages.iter().any(|m| self.finder.in_text(&m.summary))
    }

    /// A frame that is too long to hold is read in pieces that overlap.
    fn in_long(&self, recording: &Recording, seq: Seq) -> Result<Option<Range<u64>>, ReadError> {
        let overlap = self.finder.overlap();
        let mut blob = recording.stream(seq)?;
        let mut piece = vec![0; PIECE + overlap];
        let mut at = 0;
        loop {
            let read = blob
                .seek(SeekFrom::Start(at))
                .and_then(|_| fill(&mut blob, &mut piece));
            let read = read.map_err(|source| super::open::OpenError::Io {
                path: self.path.clone(),
                source,
            })?;
            if let Some(Range { start, end }) = self.finder.in_bytes(&piece[..read]) {
                return Ok(Some(at + start..at + end));
            }
            if read < piece.len() {
                return Ok(None);
            }
            at += PIECE as u64;
        }
    }

    fn in_long_summary(&self, recording: &Recording, seq: Seq) -> Result<Option<Place>, ReadError> {
        let is_found = recording.read(|conn| self.in_kept_summaries(conn, seq))?;
        let is_new = is_found && self.in_long(recording, seq)?.is_none();
        Ok(is_new.then_some(Place::Summary))
    }

    fn in_kept_summaries(&self, conn: &Connection, seq: Seq) -> rusqlite::Result<bool> {
        let mut statement = conn.prepare_cached(LONG_SUMMARIES)?;
        let mut rows = statement.query([to_sql(seq.0)])?;
        while let Some(row) = rows.next()? {
            if self.finder.in_text(row.get_ref(0)?.as_str()?) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Reads until `buffer` is full or nothing more comes; how many bytes that were.
fn fill(from: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut at = 0;
    while at < buffer.len() {
        match from.read(&mut buffer[at..])? {
            0 => break,
            n => at += n,
        }
    }
    Ok(at)
}
