//! The bytes of frames: whole, in pieces, or page by page.

use super::{PAGE_ROWS, ReadError, Recording, reader_rows};
use crate::indexer::COLLECT_LIMIT;
use crate::open::OpenError;
use crate::schema::to_sql;
use bytes::Bytes;
use mcpreel_trace::frame::{FrameHead, Seq};
use rusqlite::MAIN_DB;
use rusqlite::blob::Blob;
use std::ops::Range;

/// Bytes of frames in a page of [`Recording::frames`].
const PAGE_BYTES: usize = 512 * 1024;

/// The bytes of a frame, or how many they are where they are too long to hold.
const FRAMES: &str = r#"SELECT seq, stream, "offset", t_first, t_last, envelope,
    CASE WHEN length(raw) <= ?3 THEN raw ELSE length(raw) END
    FROM frame WHERE seq > ?1 ORDER BY seq LIMIT ?2"#;
const RAW: &str = "SELECT raw FROM frame WHERE seq = ?1";

/// Frames in order, each with its bytes unless it is too long to hold. Those of one keep those of all
/// that were read together: to hold them one by one takes longer than to read them.
pub type FramePage = Vec<(FrameHead, Option<Bytes>)>;

impl Recording {
    /// A page of at most 1000 frames after `after`, with their bytes; empty at the end. Frames over
    /// 1 MiB come without: read them with [`Self::raw`] or [`Self::stream`].
    pub fn frames(&self, after: Seq) -> Result<FramePage, ReadError> {
        self.read(|conn| {
            let mut statement = conn.prepare_cached(FRAMES)?;
            let params = (to_sql(after.0), PAGE_ROWS, to_sql(COLLECT_LIMIT));
            let mut rows = statement.query(params)?;
            let (mut heads, mut bytes) = (Vec::new(), Vec::with_capacity(PAGE_BYTES));
            while bytes.len() < PAGE_BYTES
                && let Some(row) = rows.next()?
            {
                let (head, raw) = reader_rows::frame(row)?;
                let start = bytes.len();
                bytes.extend_from_slice(raw.unwrap_or_default());
                heads.push((head, raw.map(|_| start..bytes.len())));
                if raw.is_none() {
                    break;
                }
            }
            let bytes = Bytes::from(bytes);
            let with_bytes = |(head, place): (FrameHead, Option<Range<usize>>)| {
                (head, place.map(|place| bytes.slice(place)))
            };
            Ok(heads.into_iter().map(with_bytes).collect())
        })
    }

    /// The exact bytes of the frame `seq`; none if there is no such frame.
    pub fn raw(&self, seq: Seq) -> Result<Vec<u8>, ReadError> {
        let raw = self.one(RAW, [to_sql(seq.0)], |row| row.get(0))?;
        Ok(raw.unwrap_or_default())
    }

    /// The bytes of the frame `seq`, to be read and sought piece by piece. To be held for a short
    /// time only: it keeps a live recording's WAL from being checkpointed.
    pub fn stream(&self, seq: Seq) -> Result<Blob<'_>, ReadError> {
        let (opened, key) = (&self.opened, to_sql(seq.0));
        let blob = opened.conn.blob_open(MAIN_DB, c"frame", c"raw", key, true);
        Ok(blob.map_err(|error| OpenError::from_sqlite(&self.path, error))?)
    }

    /// The bytes `range` of the frame `seq`, as far as there are so many. Costs as much as their
    /// place in the frame, not as much as the frame.
    pub fn piece(&self, seq: Seq, range: Range<u64>) -> Result<Vec<u8>, ReadError> {
        let blob = self.stream(seq)?;
        let within = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(blob.len());
        let (start, end) = (within(range.start), within(range.end));
        let mut piece = vec![0; end.saturating_sub(start)];
        blob.read_at_exact(&mut piece, start)
            .map_err(|error| OpenError::from_sqlite(&self.path, error))?;
        Ok(piece)
    }
}
