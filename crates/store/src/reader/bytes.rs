//! The bytes of frames: whole, in pieces, or page by page.

use super::{PAGE_ROWS, ReadError, Recording, reader_rows};
use crate::indexer::COLLECT_LIMIT;
use crate::notices::Link;
use crate::open::OpenError;
use crate::schema::to_sql;
use bytes::Bytes;
use mcpreel_trace::exchange::Exchange;
use mcpreel_trace::frame::{FrameHead, Seq};
use rusqlite::MAIN_DB;
use rusqlite::blob::Blob;
use std::ops::Range;

/// Bytes of frames in a page of [`Recording::frames`].
const PAGE_BYTES: u64 = 512 * 1024;

/// Bytes of a page of [`Recording::said`], but for the last exchange of it.
const RESERVED_SAID: usize = 512 * 1024;

/// Bytes that are reserved for each frame of a block: one that has to grow takes twice as much. So
/// many frames as a page has have room for all the bytes of a page in which none is large.
const RESERVED: usize = 576;

/// The bytes of a frame, or how many they are where they are too long to hold.
const FRAMES: &str = r#"SELECT seq, stream, "offset", t_first, t_last,
    CASE WHEN length(raw) <= ?3 THEN raw ELSE length(raw) END
    FROM frame WHERE seq > ?1 ORDER BY seq LIMIT ?2"#;
const RAW: &str = "SELECT raw FROM frame WHERE seq = ?1";

/// Frames in order, each with its bytes unless it is too long to hold.
pub type FramePage = Vec<(FrameHead, Option<Vec<u8>>)>;

/// The bytes of the two messages of an exchange; none of what is not there, or too long to hold.
/// Those of one keep those of all that were read together.
#[derive(Clone, Debug, Default)]
pub struct Said {
    pub request: Option<Bytes>,
    pub response: Option<Bytes>,
}

/// Frames in order, the bytes of all of them in one place: to hold them one by one takes longer
/// than to read them. [`Bytes`] of one frame keep those of all of them.
#[derive(Clone, Debug, Default)]
pub struct FrameBlock {
    frames: Vec<(FrameHead, Option<Range<usize>>)>,
    bytes: Bytes,
}

impl FrameBlock {
    /// The last frame; `None` where there are none.
    pub fn last(&self) -> Option<Seq> {
        self.frames.last().map(|(head, _)| head.seq)
    }

    /// The frames that are too long to hold.
    pub fn too_long(&self) -> impl Iterator<Item = &FrameHead> {
        let frames = self.frames.iter().filter(|(_, place)| place.is_none());
        frames.map(|(head, _)| head)
    }

    /// Forgets the frames after `last`.
    pub fn end_at(&mut self, last: Seq) {
        let kept = self.frames.partition_point(|(head, _)| head.seq <= last);
        self.frames.truncate(kept);
    }

    /// The frames, each with its bytes unless it is too long to hold.
    pub fn iter(&self) -> impl Iterator<Item = (&FrameHead, Option<&[u8]>)> {
        let frames = self.frames.iter();
        frames.map(|(head, place)| (head, place.clone().map(|place| &self.bytes[place])))
    }

    pub fn into_frames(self) -> impl Iterator<Item = (FrameHead, Option<Bytes>)> {
        let Self { frames, bytes } = self;
        let frames = frames.into_iter();
        frames.map(move |(head, place)| (head, place.map(|place| bytes.slice(place))))
    }
}

impl From<Vec<FrameHead>> for FrameBlock {
    /// Frames whose bytes are read one by one.
    fn from(heads: Vec<FrameHead>) -> Self {
        Self {
            frames: heads.into_iter().map(|head| (head, None)).collect(),
            bytes: Bytes::new(),
        }
    }
}

impl Recording {
    /// What the first of these exchanges said, as many of them as have about half a megabyte, at
    /// least one. To ask for each message alone takes longer than to read it.
    pub fn said(&self, exchanges: &[Exchange]) -> Result<Vec<Said>, ReadError> {
        self.in_one_read(|recording| {
            let (mut places, mut bytes) = (Vec::new(), Vec::with_capacity(RESERVED_SAID));
            let mut exchanges = exchanges.iter();
            while bytes.len() < RESERVED_SAID
                && let Some(exchange) = exchanges.next()
            {
                places.push(recording.said_in(exchange, &mut bytes)?);
            }
            let bytes = Bytes::from(bytes);
            let said = |place: Option<Range<usize>>| place.map(|place| bytes.slice(place));
            let page = places.into_iter().map(|[request, response]| Said {
                request: said(request),
                response: said(response),
            });
            Ok(page.collect())
        })
    }

    /// Adds what the exchange said to `bytes`: where that stands.
    fn said_in(
        &self,
        exchange: &Exchange,
        bytes: &mut Vec<u8>,
    ) -> Result<[Option<Range<usize>>; 2], ReadError> {
        let mut add = |(seq, part), size: u64| match size {
            ..=COLLECT_LIMIT => self.add_message(seq, part, bytes),
            _ => Ok(None),
        };
        let request = add(exchange.request, exchange.request_size)?;
        let response = exchange.response;
        let response = response.map_or(Ok(None), |at| add(at, exchange.response_size))?;
        Ok([request, response])
    }

    /// A page of frames after `after`, with their bytes; empty at the end. Frames over 1 MiB come
    /// without: read them with [`Self::raw`] or [`Self::stream`].
    pub fn frames(&self, after: Seq) -> Result<FramePage, ReadError> {
        let mut page = FramePage::new();
        self.page(after, PAGE_ROWS, |head, raw| {
            page.push((head, raw.map(Into::into)));
        })?;
        Ok(page)
    }

    /// The same, at most `limit` frames, the bytes of all of them in one place.
    pub fn frame_block(&self, after: Seq, limit: u32) -> Result<FrameBlock, ReadError> {
        let mut frames = Vec::new();
        let mut bytes = Vec::with_capacity(RESERVED * limit as usize);
        self.page(after, limit, |head, raw| {
            let start = bytes.len();
            bytes.extend_from_slice(raw.unwrap_or_default());
            frames.push((head, raw.map(|_| start..bytes.len())));
        })?;
        let bytes = bytes.into();
        Ok(FrameBlock { frames, bytes })
    }

    /// Gives a page of frames after `after`, at most `limit`, to `take`.
    fn page(
        &self,
        after: Seq,
        limit: u32,
        mut take: impl FnMut(FrameHead, Option<&[u8]>),
    ) -> Result<(), ReadError> {
        self.read(|conn| {
            let mut statement = conn.prepare_cached(FRAMES)?;
            let params = (to_sql(after.0), limit, to_sql(COLLECT_LIMIT));
            let (mut rows, mut bytes) = (statement.query(params)?, 0);
            while bytes < PAGE_BYTES
                && let Some(row) = rows.next()?
            {
                let (head, raw) = reader_rows::frame(row)?;
                bytes += head.size.min(COLLECT_LIMIT);
                take(head, raw);
            }
            Ok(())
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

/// Frames of a page of [`FramePager`].
const PAGE_FRAMES: u32 = 1000;

/// Frames with their bytes, and how they relate to each other.
#[derive(Debug, Default)]
pub struct LinkedFrames {
    pub frames: FrameBlock,
    pub links: Vec<Link>,
}

#[derive(Clone, Debug)]
pub struct FramePager {
    after: Seq,
    last: Seq,
    is_linked: bool,
}

impl FramePager {
    /// All frames up to `last`, with their links only if `is_linked`: those take a while to find.
    pub fn new(last: Seq, is_linked: bool) -> Self {
        Self {
            after: Seq(0),
            last,
            is_linked,
        }
    }

    /// The next page; `None` at the end.
    pub fn next_page(&mut self, recording: &Recording) -> Result<Option<LinkedFrames>, ReadError> {
        let mut frames = recording.frame_block(self.after, PAGE_FRAMES)?;
        frames.end_at(self.last);
        let Some(end) = frames.last() else {
            return Ok(None);
        };
        let links = if self.is_linked {
            recording.links(self.after, end)?
        } else {
            Vec::new()
        };
        self.after = end;
        Ok(Some(LinkedFrames { frames, links }))
    }
}
