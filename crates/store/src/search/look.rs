//! Looking at frames, by one thread with a connection of its own.

use super::{Finder, Place, SearchHit};
use crate::indexer::COLLECT_LIMIT;
use crate::open::OpenError;
use crate::reader::reader_rows::{number, summary_column};
use crate::reader::{ReadError, Recording};
use crate::schema::to_sql;
use mcpreel_trace::frame::Seq;
use rusqlite::{Connection, Params};
use std::collections::BTreeSet;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

/// Bytes of a long frame that are looked at in one piece.
const PIECE: usize = 1024 * 1024;

/// Bytes that are looked at between two looks at the clock.
const UNWATCHED: usize = 64 * 1024;

/// What a short frame counts for among them: reading it costs something too.
const ROW: usize = 256;

const FRAMES: &str = "SELECT seq, CASE WHEN length(raw) <= ?3 THEN raw END, length(raw)
    FROM frame WHERE seq BETWEEN ?1 AND ?2 ORDER BY seq DESC";
macro_rules! summaries {
    () => {
        concat!(
            "SELECT m.frame, ",
            summary_column!(),
            " FROM message m LEFT JOIN exchange e ON e.id = m.exchange WHERE m.frame "
        )
    };
}
const SUMMARIES: &str = concat!(summaries!(), "BETWEEN ?1 AND ?2");
const SUMMARIES_OF_FRAME: &str = concat!(summaries!(), "= ?1");

#[derive(Debug, Default)]
pub(super) struct Seen {
    pub hits: Vec<SearchHit>,
    pub bytes: u64,
}

impl Seen {
    fn add(&mut self, seq: Seq, place: Place) {
        self.hits.push(SearchHit { seq, place });
    }
}

#[derive(Debug)]
pub(super) struct Looker {
    recording: Recording,
    finder: Finder,
}

impl Looker {
    /// `finder` is best one of its own: its copies do not wait for each other.
    pub fn new(path: &Path, finder: Finder) -> Result<Self, ReadError> {
        Ok(Self {
            recording: Recording::open_as_it_is(path)?,
            finder,
        })
    }

    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Looks at the frames `lo..=hi` from the newest on, until all are looked at or it `is_over`,
    /// but at one at least. Returns the oldest that was looked at.
    pub fn look(
        &self,
        (lo, hi): (u64, u64),
        is_over: &dyn Fn() -> bool,
        seen: &mut Seen,
    ) -> Result<u64, ReadError> {
        let (mut found, mut long, mut in_summary) = (BTreeSet::new(), Vec::new(), BTreeSet::new());
        let mut oldest = lo;
        self.recording.read(|conn| {
            let mut statement = conn.prepare_cached(FRAMES)?;
            let mut rows = statement.query([to_sql(lo), to_sql(hi), to_sql(COLLECT_LIMIT)])?;
            let mut unwatched = 0;
            while let Some(row) = rows.next()? {
                let seq = Seq(number(row, 0)?);
                if let Some(raw) = row.get_ref(1)?.as_blob_or_null()? {
                    seen.bytes += raw.len() as u64;
                    if let Some(place) = self.finder.in_bytes(raw) {
                        found.insert(seq);
                        seen.add(seq, Place::Bytes(place));
                    } else if self.finder.may_be_in_summary_of(raw)
                        && self.finder.has_words()
                        && !self
                            .summaries(conn, SUMMARIES_OF_FRAME, [to_sql(seq.0)])?
                            .is_empty()
                    {
                        in_summary.insert(seq);
                    }
                    unwatched += raw.len() + ROW;
                } else {
                    seen.bytes += number(row, 2)?;
                    long.push(seq);
                    unwatched = UNWATCHED;
                }
                if unwatched >= UNWATCHED {
                    unwatched = 0;
                    if is_over() {
                        oldest = seq.0;
                        break;
                    }
                }
            }
            Ok(())
        })?;
        for seq in long {
            if let Some(place) = self.in_long(seq)? {
                found.insert(seq);
                seen.add(seq, Place::Bytes(place));
            }
        }
        if !self.finder.has_words() {
            let range = [to_sql(oldest), to_sql(hi)];
            in_summary = self
                .recording
                .read(|conn| self.summaries(conn, SUMMARIES, range))?;
        }
        for seq in in_summary.difference(&found) {
            seen.add(*seq, Place::Summary);
        }
        Ok(oldest)
    }

    /// The frames of the messages that `sql` gives in whose summaries the pattern is.
    fn summaries(
        &self,
        conn: &Connection,
        sql: &'static str,
        params: impl Params,
    ) -> rusqlite::Result<BTreeSet<Seq>> {
        let mut statement = conn.prepare_cached(sql)?;
        let mut rows = statement.query(params)?;
        let mut found = BTreeSet::new();
        while let Some(row) = rows.next()? {
            if self.finder.in_text(row.get_ref(1)?.as_str()?) {
                found.insert(Seq(number(row, 0)?));
            }
        }
        Ok(found)
    }

    /// A frame that is too long to hold is read in pieces that overlap.
    fn in_long(&self, seq: Seq) -> Result<Option<Range<u64>>, ReadError> {
        let overlap = self.finder.overlap();
        let mut blob = self.recording.stream(seq)?;
        let mut piece = vec![0; PIECE + overlap];
        let mut at = 0;
        loop {
            let read = blob
                .seek(SeekFrom::Start(at))
                .and_then(|_| fill(&mut blob, &mut piece));
            let read = read.map_err(|source| OpenError::Io {
                path: self.recording.path().to_owned(),
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
