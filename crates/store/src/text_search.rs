//! Text search over the raw bytes of all frames (bodies, stderr, noise), newest first.
//!
//! There is no index: bytes are looked at where they stand, by several threads at a time, each with
//! a read-only connection of its own. A [`Search`] goes on in steps; between two of them no thread
//! runs and no statement is open, so that it can be dropped at any time, and nothing of a recording
//! that is still written is held.

use super::indexer::COLLECT_LIMIT;
use super::open::{self, OpenError};
use super::reader::reader_rows::number;
use super::reader::{ReadError, Recording};
use super::schema::to_sql;
use mcpreel_trace::clock::Deadline;
use mcpreel_trace::frame::Seq;
use mcpreel_trace::query::pattern;
use regex::bytes::Regex;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::thread;

/// More threads than this gain nothing: the file is read by one system call per page.
const MAX_THREADS: u64 = 8;

/// Frames that a thread looks at in one round, the first and the last: few, so that the first hits
/// come at once; many, so that a round costs less than its rows.
const FEWEST: u64 = 64;
const MOST: u64 = 4096;

/// The time that a round should take, nanoseconds: a part of a step.
const ROUND_NS: u64 = 2_000_000;

/// Bytes of a long frame that are looked at in one piece.
const PIECE: usize = 1024 * 1024;

/// A match of a regular expression that is longer than this is not found where it lies across two
/// pieces of a long frame.
const REGEX_OVERLAP: usize = 64 * 1024;

/// The most bytes that a character takes in JSON: two escapes of six.
const LONGEST_FORM: usize = 12;

// A search goes by the numbers of the frames that are there. The count in the recording may be wrong,
// and between two numbers there may be a gap that nobody could count through.
const NEWEST: &str = "SELECT coalesce(max(seq), 0) FROM frame WHERE seq <= ?1";
const FRAMES: &str = "SELECT seq, CASE WHEN length(raw) <= ?3 THEN raw END, length(raw)
    FROM frame WHERE seq BETWEEN ?1 AND ?2 ORDER BY seq DESC";

/// A pattern to search for. Without a capital letter in it, case is ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// This text; it is also found as it may stand in JSON strings, with escapes.
    Literal(String),
    /// A regular expression over the bytes as they were on the wire.
    Regex(String),
}

/// Why a pattern cannot be searched for.
#[derive(Debug, thiserror::Error)]
pub enum PatternError {
    #[error("there is nothing to search for")]
    Empty,
    /// The text is no regular expression, or too large a one.
    #[error("not a regular expression: {0}")]
    Regex(String),
    /// The text is longer than a search can be.
    #[error("the text is too long to search for")]
    TooLong,
}

#[derive(Clone, Debug)]
pub struct Finder {
    regex: Regex,
    /// The bytes that two pieces of a frame have to share, so that no match is cut in two.
    overlap: usize,
}

impl Finder {
    pub fn new(pattern: &Pattern) -> Result<Self, PatternError> {
        let (regex, overlap) = match pattern {
            Pattern::Literal(text) | Pattern::Regex(text) if text.is_empty() => {
                return Err(PatternError::Empty);
            }
            Pattern::Literal(text) => {
                let regex = pattern::in_json(text, pattern::ignores_case(text));
                let regex = regex.ok_or(PatternError::TooLong)?;
                (regex, text.chars().count() * LONGEST_FORM)
            }
            Pattern::Regex(text) => {
                let refused = |error| PatternError::Regex(pattern::reason(&error));
                (pattern::regex(text).map_err(refused)?, REGEX_OVERLAP)
            }
        };
        Ok(Self { regex, overlap })
    }

    /// The places of the pattern in `bytes`: `most` at most, in order and apart from each
    /// other.
    pub fn places(&self, bytes: &[u8], most: usize) -> Vec<Range<usize>> {
        let found = self.regex.find_iter(bytes).map(|found| found.range());
        found.filter(|place| !place.is_empty()).take(most).collect()
    }

    fn first(&self, bytes: &[u8]) -> Option<Range<u64>> {
        let found = self.regex.find(bytes)?;
        Some(found.start() as u64..found.end() as u64)
    }
}

/// A frame in which the pattern was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchHit {
    pub seq: Seq,
    /// The place of the first match in the frame.
    pub place: Range<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Frames with the pattern, from the newest to the oldest.
    pub hits: Vec<SearchHit>,
    /// Whether everything was looked at.
    pub done: bool,
    /// All frames after this one were looked at.
    pub reached: Seq,
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
    /// The frames after the first number up to the second, as the search began, and the last of
    /// them that is not looked at yet; `None` before the first step.
    course: Option<(u64, u64, u64)>,
    /// Frames that a thread looks at in the next round.
    round: u64,
    bytes: u64,
    /// Kept from step to step where nothing more comes: opening takes some milliseconds.
    recordings: Vec<Recording>,
}

impl Search {
    /// A search for `pattern` through the recording `path`, from the last frame back to the first.
    pub fn new(path: &Path, pattern: &Pattern) -> Result<Self, PatternError> {
        let threads = thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
        Ok(Self {
            path: path.to_owned(),
            finder: Finder::new(pattern)?,
            threads: threads.min(MAX_THREADS),
            course: None,
            round: FEWEST,
            bytes: 0,
            recordings: Vec::new(),
        })
    }

    /// After the search was done: goes on with the frames after `after` up to `last`, which have
    /// come since.
    pub fn again(&mut self, after: Seq, last: Seq) {
        self.course = Some((after.0, last.0, last.0));
    }

    /// Goes on until soon after the deadline, but for a frame that takes longer to read.
    pub fn step(&mut self, deadline: Deadline) -> Result<Found, ReadError> {
        let mut recordings = std::mem::take(&mut self.recordings);
        while (recordings.len() as u64) < self.threads {
            recordings.push(Recording::open_as_it_is(&self.path)?);
        }
        let (after, last, mut left) = if let Some(course) = self.course {
            course
        } else {
            let last = recordings[0].number(NEWEST, [i64::MAX])?;
            (0, last, last)
        };
        let mut hits = Vec::new();
        while left > after {
            let began = deadline.clock.now();
            let from = left.saturating_sub(self.round * self.threads).max(after);
            for seen in self.round(&mut recordings, from, left)? {
                hits.extend(seen.0);
                self.bytes += seen.1;
            }
            left = recordings[0].number(NEWEST, [to_sql(from)])?.max(after);
            let is_quick = deadline.clock.now().ns_since(began) < ROUND_NS;
            let (twice, half) = (self.round * 2, self.round / 2);
            self.round = if is_quick { twice } else { half }.clamp(FEWEST, MOST);
            if deadline.left_ns() == 0 {
                break;
            }
        }
        self.course = Some((after, last, left));
        // A recorder that ends wants the file for itself.
        if open::is_wal(&self.path).is_ok_and(|is_wal| !is_wal) {
            self.recordings = recordings;
        }
        Ok(Found {
            hits,
            done: left <= after,
            reached: Seq(left),
            left: left.saturating_sub(after),
            of: last.saturating_sub(after),
            bytes: self.bytes,
        })
    }

    /// Looks at the frames after `from` up to `to`, a part of them on each thread, the newest part
    /// first.
    fn round(
        &self,
        recordings: &mut [Recording],
        from: u64,
        to: u64,
    ) -> Result<Vec<Seen>, ReadError> {
        let (finder, part) = (&self.finder, (to - from).div_ceil(self.threads));
        let look = move |recording: &mut Recording, nth: u64| {
            let last = to.saturating_sub(part * nth).max(from);
            let first = last.saturating_sub(part).max(from) + 1;
            // A finder of its own: copies do not wait for each other.
            look_at(recording, &finder.clone(), first, last)
        };
        thread::scope(|scope| {
            let parts = recordings.iter_mut().zip(0..);
            let parts: Vec<_> = parts
                .map(|(recording, nth)| scope.spawn(move || look(recording, nth)))
                .collect();
            let results = parts.into_iter().map(|part| {
                let result = part.join();
                result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            results.collect()
        })
    }
}

/// Hits, and the bytes that were looked at.
type Seen = (Vec<SearchHit>, u64);

/// Looks at the frames `first..=last`, the newest first.
fn look_at(
    recording: &Recording,
    finder: &Finder,
    first: u64,
    last: u64,
) -> Result<Seen, ReadError> {
    let (mut hits, mut bytes, mut long) = (Vec::new(), 0, Vec::new());
    recording.read(|conn| {
        let mut statement = conn.prepare_cached(FRAMES)?;
        let mut rows = statement.query([to_sql(first), to_sql(last), to_sql(COLLECT_LIMIT)])?;
        while let Some(row) = rows.next()? {
            let seq = Seq(number(row, 0)?);
            bytes += number(row, 2)?;
            match row.get_ref(1)?.as_blob_or_null()? {
                Some(raw) => {
                    hits.extend(finder.first(raw).map(|place| SearchHit { seq, place }));
                }
                None => long.push(seq),
            }
        }
        Ok(())
    })?;
    for seq in long {
        let place = in_long(recording, finder, seq)?;
        hits.extend(place.map(|place| SearchHit { seq, place }));
    }
    hits.sort_by_key(|hit| std::cmp::Reverse(hit.seq));
    Ok((hits, bytes))
}

/// A frame that is too long to hold is read in pieces that overlap.
fn in_long(
    recording: &Recording,
    finder: &Finder,
    seq: Seq,
) -> Result<Option<Range<u64>>, ReadError> {
    let mut blob = recording.stream(seq)?;
    let whole = (PIECE + finder.overlap) as u64;
    let (mut piece, mut at) = (Vec::new(), 0);
    loop {
        piece.clear();
        let read = blob
            .seek(SeekFrom::Start(at))
            .and_then(|_| (&mut blob).take(whole).read_to_end(&mut piece));
        let read = read.map_err(|source| OpenError::Io {
            path: recording.path().to_owned(),
            source,
        })?;
        if let Some(Range { start, end }) = finder.first(&piece) {
            return Ok(Some(at + start..at + end));
        }
        if (read as u64) < whole {
            return Ok(None);
        }
        at += PIECE as u64;
    }
}
