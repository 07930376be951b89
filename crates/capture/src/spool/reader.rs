//! Reading a spool, also while its recorder appends to it.

use super::pages::{self, Progress, Status, VERSION};
use super::{
    FIRST, HEADER, Layout, PROGRESS_AT, ROOM, RecordHead, SEGMENT, SEGMENT_HEADER, STATUS_AT,
    checksum, open_regular, u32_at,
};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A record that begins so many segments before the last is written to its end, or never will be.
const SETTLED: u64 = 18;

/// Whether a spool still grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// Its recorder lives: what is not whole at the end is still being written.
    Growing,
    Final,
}

#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    #[error("could not read the spool {}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// The status block is damaged, or of a version that this program does not know.
    #[error("{} is no spool of this version of mcpreel", path.display())]
    NotASpool { path: PathBuf },
}

/// Reads the records of a spool by position.
#[derive(Debug)]
pub struct SpoolReader {
    path: PathBuf,
    file: File,
    layout: Layout,
    /// Where in the file the segments are, by sequence.
    segments: BTreeMap<u64, u64>,
    window: Vec<u8>,
    window_start: u64,
}

impl SpoolReader {
    /// Opens the spool `path`, for writing too where that is allowed ([`Self::publish`] needs it).
    ///
    /// One damaged byte in the status page or in the first record does not make it unreadable:
    /// both tell the magic, and where the segments begin.
    pub fn open(path: &Path) -> Result<Self, SpoolError> {
        let io_error = |source| SpoolError::Io {
            path: path.to_owned(),
            source,
        };
        let file = open_regular(path, true)
            .or_else(|_| open_regular(path, false))
            .map_err(io_error)?;
        let mut reader = Self {
            path: path.to_owned(),
            file,
            layout: Layout::default(),
            segments: BTreeMap::new(),
            window: Vec::new(),
            window_start: 0,
        };
        reader.layout = reader.find_layout()?;
        Ok(reader)
    }

    fn find_layout(&mut self) -> Result<Layout, SpoolError> {
        if let Some(status) = self.page()? {
            let (magic, base) = (status.magic, status.base);
            return Ok(Layout { magic, base });
        }
        // Where the start record ends, it says itself.
        self.layout.base = u64::MAX;
        let header = self.bytes(FIRST, HEADER)?;
        let magic = u32_at(header, 0).ok_or_else(|| self.no_spool())?;
        self.layout.magic = magic;
        let first = self.whole(FIRST, &mut Vec::new())?;
        let base = first.ok_or_else(|| self.no_spool())?.end();
        Ok(Layout { magic, base })
    }

    /// The status page as it is now; one that says nothing if it is damaged.
    pub fn status(&self) -> Result<Status, SpoolError> {
        Ok(self.page()?.unwrap_or_default())
    }

    /// Whether the status page cannot be read.
    pub fn is_status_damaged(&self) -> Result<bool, SpoolError> {
        Ok(self.page()?.is_none())
    }

    fn page(&self) -> Result<Option<Status>, SpoolError> {
        let page = pages::read(&self.file, STATUS_AT);
        match page {
            Ok(Some(Status { spool, .. })) if spool != VERSION => Err(self.no_spool()),
            Ok(page) => Ok(page),
            Err(source) if source.kind() == io::ErrorKind::UnexpectedEof => Err(self.no_spool()),
            Err(source) => Err(self.io_error(source)),
        }
    }

    /// What the indexer has published; nothing if that cannot be read.
    pub fn progress(&self) -> Progress {
        let progress = pages::read(&self.file, PROGRESS_AT);
        progress.ok().flatten().unwrap_or_default()
    }

    /// Publishes how far the spool is drained: what stands before is written again.
    pub fn publish(&self, progress: &Progress) -> io::Result<()> {
        pages::write(&self.file, PROGRESS_AT, progress)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn first_position(&self) -> u64 {
        FIRST
    }

    /// The end of the journal, rounded up to a segment.
    pub fn last_position(&mut self) -> Result<u64, SpoolError> {
        self.look_for_segments()?;
        let last = self.segments.last_key_value();
        Ok(last.map_or(self.layout.base, |(last, _)| self.layout.start_of(last + 1)))
    }

    /// Reads the first whole record at `position` or after it, and puts its payload into
    /// `payload`.
    ///
    /// If the record does not begin at `position`, what stands between cannot be read: it is
    /// damaged, or was given back. Returns `None` if no whole record follows: at the end, and
    /// before a last record whose writer was killed in the middle of it.
    pub fn read(
        &mut self,
        position: u64,
        tail: Tail,
        payload: &mut Vec<u8>,
    ) -> Result<Option<RecordHead>, SpoolError> {
        if let Some(head) = self.whole(position, payload)? {
            return Ok(Some(head));
        }
        // It may have been written since the window was read.
        self.window.clear();
        if self.is_absent(position)? && tail == Tail::Growing {
            return Ok(None);
        }
        self.look_for_segments()?;
        if let Some(head) = self.whole(position, payload)? {
            return Ok(Some(head));
        }
        if tail == Tail::Growing && !self.is_settled(position) {
            return Ok(None);
        }
        // Only the payload may be damaged. What looks like a record within it must not be taken
        // for one: a server can have read this very file.
        if let Some(damaged) = self.head(position)?
            && let Some(head) = self.whole(damaged.end(), payload)?
        {
            return Ok(Some(head));
        }
        self.search(position + 1, payload)
    }

    /// Whether no header stands at `position`, asked without reading more than that.
    fn is_absent(&mut self, position: u64) -> Result<bool, SpoolError> {
        let mut header = [0; HEADER];
        let read = self.fill_in(position, &mut header)?;
        let magic = self.layout.magic_at(position);
        let absent = RecordHead::decode(position, magic, &header[..read]).is_none();
        Ok(absent && !self.is_settled(position))
    }

    fn is_settled(&self, position: u64) -> bool {
        let at = self
            .layout
            .place(position)
            .map_or(0, |(sequence, _)| sequence);
        let last = self.segments.last_key_value();
        // What was given back may have been written over.
        let is_gone = || !self.segments.contains_key(&at) && self.progress().released > position;
        last.is_some_and(|(last, _)| *last >= at + SETTLED || *last > at && is_gone())
    }

    fn head(&mut self, position: u64) -> Result<Option<RecordHead>, SpoolError> {
        let magic = self.layout.magic_at(position);
        let header = self.bytes(position, HEADER)?;
        Ok(RecordHead::decode(position, magic, header))
    }

    /// The record at `position`, if a whole one is there.
    fn whole(
        &mut self,
        position: u64,
        payload: &mut Vec<u8>,
    ) -> Result<Option<RecordHead>, SpoolError> {
        payload.clear();
        let Some(head) = self.head(position)? else {
            return Ok(None);
        };
        let whole = HEADER + head.len as usize;
        let record = self.bytes(position, whole)?;
        if record.len() < whole {
            return Ok(None);
        }
        let (header, body) = record.split_at(HEADER);
        if header[4..8] != checksum(&header[8..], body).to_le_bytes() {
            return Ok(None);
        }
        payload.extend_from_slice(body);
        Ok(Some(head))
    }

    /// The first whole record from `at` on.
    fn search(
        &mut self,
        mut at: u64,
        payload: &mut Vec<u8>,
    ) -> Result<Option<RecordHead>, SpoolError> {
        loop {
            at = self.data_after(at);
            if at == u64::MAX {
                return Ok(None);
            }
            let magic = self.layout.magic_at(at).to_le_bytes();
            // Each segment has a magic of its own, and the last record in it may reach beyond.
            let next = self
                .layout
                .place(at)
                .map_or(self.layout.base, |(sequence, _)| {
                    self.layout.start_of(sequence.saturating_add(1))
                });
            let left = usize::try_from(next.saturating_sub(at)).unwrap_or(usize::MAX);
            let bytes = self.bytes(at, left.min(WINDOW))?;
            if bytes.is_empty() {
                return Ok(None);
            }
            let (looked_at, found) = (bytes.len(), memchr::memmem::find(bytes, &magic));
            if let Some(found) = found {
                let candidate = at + found as u64;
                if let Some(head) = self.whole(candidate, payload)? {
                    return Ok(Some(head));
                }
                at = candidate + 1;
                continue;
            }
            let tail = &self.bytes(next.saturating_sub(3), magic.len())?;
            if looked_at >= left && *tail == magic {
                at = next - 3;
            } else if looked_at >= left {
                at = next;
            } else {
                // The magic may lie across the end of what was looked at.
                at += (looked_at.saturating_sub(magic.len() - 1)).max(1) as u64;
            }
        }
    }

    fn no_spool(&self) -> SpoolError {
        SpoolError::NotASpool {
            path: self.path.clone(),
        }
    }

    fn io_error(&self, source: io::Error) -> SpoolError {
        SpoolError::Io {
            path: self.path.clone(),
            source,
        }
    }
}

// The bytes of a spool by position, many of them read at once.

/// Bytes read at once: several small records for one system call.
const WINDOW: usize = 256 * 1024;

impl SpoolReader {
    /// The first position at or after `at` that a segment of the file holds.
    fn data_after(&self, at: u64) -> u64 {
        let Some((sequence, _)) = self.layout.place(at) else {
            return at;
        };
        match self.segments.range(sequence..).next() {
            Some((found, _)) => at.max(self.layout.start_of(*found)),
            None => u64::MAX,
        }
    }

    /// Reads again which segments the file has, and where.
    fn look_for_segments(&mut self) -> Result<(), SpoolError> {
        self.segments.clear();
        let len = self.file.metadata().map_err(|e| self.io_error(e))?.len();
        let slots = len.saturating_sub(self.layout.base).div_ceil(SEGMENT);
        for slot in 0..slots {
            let mut header = [0; SEGMENT_HEADER];
            let at = self.layout.slot(slot);
            if self.file.read_exact_at(&mut header, at).is_ok()
                && let Some(sequence) = self.layout.decode(&header)
            {
                self.segments.insert(sequence, slot);
            }
        }
        Ok(())
    }

    /// `len` bytes at `position`, fewer where the journal ends before.
    fn bytes(&mut self, position: u64, len: usize) -> Result<&[u8], SpoolError> {
        let inside = position >= self.window_start
            && position.saturating_add(len as u64) <= self.window_start + self.window.len() as u64;
        if !inside {
            let mut window = std::mem::take(&mut self.window);
            window.resize(len.max(WINDOW), 0);
            let filled = self.fill_in(position, &mut window)?;
            window.truncate(filled);
            (self.window, self.window_start) = (window, position);
        }
        let from = usize::try_from(position - self.window_start).unwrap_or(usize::MAX);
        let from = from.min(self.window.len());
        Ok(&self.window[from..self.window.len().min(from + len)])
    }

    /// Reads the journal from `position` on into `window`; returns how much of it there is.
    fn fill_in(&mut self, position: u64, window: &mut [u8]) -> Result<usize, SpoolError> {
        let mut filled = 0;
        while filled < window.len() {
            let at = position.saturating_add(filled as u64);
            let Some((from, room)) = self.place(at)? else {
                break;
            };
            let to = window.len().min(filled.saturating_add(room));
            match self.file.read_at(&mut window[filled..to], from) {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(self.io_error(source)),
            }
        }
        Ok(filled)
    }

    /// Where in the file `position` stands, and how many bytes of the journal follow there.
    fn place(&mut self, position: u64) -> Result<Option<(u64, usize)>, SpoolError> {
        let Some((sequence, at)) = self.layout.place(position) else {
            let room = usize::try_from(self.layout.base - position).unwrap_or(usize::MAX);
            return Ok(Some((position, room)));
        };
        // Segments come in order: one that is before the last is missing for good.
        let last = self.segments.last_key_value().map(|(last, _)| *last);
        if last.is_none_or(|last| last < sequence) {
            self.look_for_segments()?;
        }
        let room = usize::try_from(ROOM - at).unwrap_or(usize::MAX);
        Ok(self
            .segments
            .get(&sequence)
            .map(|slot| (self.layout.slot(*slot) + SEGMENT_HEADER as u64 + at, room)))
    }
}
