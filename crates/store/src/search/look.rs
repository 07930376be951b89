//! Looking at frames, by one thread with a connection of its own.

use super::{Finder, Pass, Place, SearchHit};
use crate::indexer::COLLECT_LIMIT;
use crate::open::OpenError;
use crate::reader::rows::number;
use crate::reader::{ReadError, Recording};
use crate::values::to_sql;
use mcpreel_trace::frame::{Seq, StreamId};
use mcpreel_wire::message::Classifier;
use rusqlite::Connection;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

/// Bytes of a long frame that are looked at in one piece.
const PIECE: usize = 1024 * 1024;

/// Bytes that are looked at between two looks at the clock.
const UNWATCHED: usize = 64 * 1024;

/// What a short frame counts for among them: reading it costs something too.
const ROW: usize = 256;

const FRAMES: &str = "SELECT seq, CASE WHEN length(raw) <= ?3 THEN raw END, stream, length(raw)
    FROM frame WHERE seq BETWEEN ?1 AND ?2 ORDER BY seq DESC";
const LONG_SUMMARIES: &str = "SELECT summary FROM message WHERE frame = ?1 AND summary IS NOT NULL";

#[derive(Debug, Default)]
pub(super) struct Seen {
    pub hits: Vec<SearchHit>,
    pub bytes: u64,
}

impl Seen {
    /// Adds the place where something was found in a frame, if it was.
    fn add(&mut self, seq: Seq, place: Option<Place>) {
        self.hits
            .extend(place.map(|place| SearchHit { seq, place }));
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
        pass: Pass,
        (lo, hi): (u64, u64),
        is_over: &dyn Fn() -> bool,
        seen: &mut Seen,
    ) -> Result<u64, ReadError> {
        let mut long = Vec::new();
        let mut oldest = lo;
        self.recording.read(|conn| {
            let mut classifier = Classifier::default();
            let mut statement = conn.prepare_cached(FRAMES)?;
            let mut rows = statement.query([to_sql(lo), to_sql(hi), to_sql(COLLECT_LIMIT)])?;
            let mut unwatched = 0;
            while let Some(row) = rows.next()? {
                let seq = Seq(number(row, 0)?);
                if let Some(raw) = row.get_ref(1)?.as_blob_or_null()? {
                    seen.bytes += raw.len() as u64;
                    let has_messages = || Ok(StreamId(row.get(2)?).messages().is_some());
                    let place = self.place(pass, &mut classifier, raw, &has_messages)?;
                    seen.add(seq, place);
                    unwatched += raw.len() + ROW;
                } else {
                    seen.bytes += number(row, 3)?;
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
            seen.add(seq, self.place_in_long(pass, seq)?);
        }
        Ok(oldest)
    }

    /// Where the pattern stands in a frame with the bytes `raw`.
    fn place(
        &self,
        pass: Pass,
        classifier: &mut Classifier,
        raw: &[u8],
        has_messages: &dyn Fn() -> rusqlite::Result<bool>,
    ) -> rusqlite::Result<Option<Place>> {
        if pass != Pass::Bytes && !self.finder.may_be_in_summary_of(raw) {
            // Then it is not in the bytes either.
            return Ok(None);
        }
        let in_bytes = self.finder.in_bytes(raw).map(Place::Bytes);
        Ok(match (pass, in_bytes) {
            (Pass::Bytes | Pass::Both, Some(place)) => Some(place),
            (Pass::Summaries, Some(_)) | (Pass::Bytes, None) => None,
            (Pass::Summaries | Pass::Both, None) => {
                let is_found = has_messages()? && self.in_summaries(classifier, raw);
                is_found.then_some(Place::Summary)
            }
        })
    }

    fn in_summaries(&self, classifier: &mut Classifier, raw: &[u8]) -> bool {
        let messages = classifier.classify(raw).messages;
        messages.iter().any(|m| self.finder.in_text(&m.summary))
    }

    fn place_in_long(&self, pass: Pass, seq: Seq) -> Result<Option<Place>, ReadError> {
        if pass == Pass::Summaries && !self.recording.read(|conn| self.in_kept(conn, seq))? {
            return Ok(None);
        }
        Ok(match (pass, self.in_long(seq)?.map(Place::Bytes)) {
            (Pass::Bytes, place) | (Pass::Both, place @ Some(_)) => place,
            (Pass::Summaries, place) => place.is_none().then_some(Place::Summary),
            (Pass::Both, None) => {
                let is_found = self.recording.read(|conn| self.in_kept(conn, seq))?;
                is_found.then_some(Place::Summary)
            }
        })
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

    fn in_kept(&self, conn: &Connection, seq: Seq) -> rusqlite::Result<bool> {
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
