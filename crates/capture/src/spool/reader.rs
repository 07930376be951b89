//! Reading a spool, also while its recorder appends to it.

use super::{HEADER, RecordHead, checksum, open_regular, u32_at};
use crate::spool::{Block, STATUS_SIZE, Status};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

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
    magic: u32,
    window: Vec<u8>,
    window_start: u64,
}

impl SpoolReader {
    /// Opens the spool `path`, for writing too where that is allowed ([`Self::punch`] needs it).
    ///
    /// One damaged byte in the status block or in the first record does not make it unreadable:
    /// both tell the magic.
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
            magic: 0,
            window: Vec::new(),
            window_start: 0,
        };
        reader.magic = reader.find_magic()?;
        Ok(reader)
    }

    /// What the status block says, unless that is damaged: the records then say otherwise.
    fn find_magic(&mut self) -> Result<u32, SpoolError> {
        let stated = match self.block()? {
            Block::Whole(status) => Some(status.magic),
            Block::Damaged => None,
            Block::Foreign => return Err(self.no_spool()),
        };
        let first = self.first_position();
        let seen = self.magic_at(first)?;
        self.magic = seen.unwrap_or(0);
        let second = match self.whole(first, u64::MAX, &mut Vec::new())? {
            Some(head) => self.magic_at(head.end())?,
            None => return stated.ok_or_else(|| self.no_spool()),
        };
        // One of the two is damaged. The checksum of the record does not say which.
        let magic = if second == seen {
            seen
        } else {
            stated.or(seen)
        };
        magic.ok_or_else(|| self.no_spool())
    }

    fn magic_at(&mut self, position: u64) -> Result<Option<u32>, SpoolError> {
        Ok(u32_at(self.bytes(position, HEADER, u64::MAX)?, 0))
    }

    /// The status block as it is now; one that says nothing if it is damaged.
    pub fn status(&self) -> Result<Status, SpoolError> {
        match self.block()? {
            Block::Whole(status) => Ok(status),
            Block::Damaged => Ok(Status {
                magic: self.magic,
                ..Status::default()
            }),
            Block::Foreign => Err(self.no_spool()),
        }
    }

    /// Whether the status block cannot be read.
    pub fn is_status_damaged(&self) -> Result<bool, SpoolError> {
        Ok(!matches!(self.block()?, Block::Whole(_)))
    }

    fn block(&self) -> Result<Block, SpoolError> {
        let mut block = [0; STATUS_SIZE];
        self.file
            .read_exact_at(&mut block, 0)
            .map_err(|source| match source.kind() {
                io::ErrorKind::UnexpectedEof => self.no_spool(),
                _ => self.io_error(source),
            })?;
        Ok(Status::decode(&block))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn first_position(&self) -> u64 {
        STATUS_SIZE as u64
    }

    pub fn file_len(&self) -> Result<u64, SpoolError> {
        Ok(self
            .file
            .metadata()
            .map_err(|source| self.io_error(source))?
            .len())
    }

    /// Reads the first whole record at `position` or after it, and puts its payload into
    /// `payload`.
    ///
    /// `end` is how much of the file is known to be written; `u64::MAX` for a spool whose
    /// recorder is gone. If the record does not begin at `position`, what stands between cannot
    /// be read: it is damaged, or was punched out. Returns `None` if no whole record follows: at
    /// the end, and before a last record that was torn by a crash of the machine.
    pub fn read(
        &mut self,
        position: u64,
        end: u64,
        payload: &mut Vec<u8>,
    ) -> Result<Option<RecordHead>, SpoolError> {
        if let Some(head) = self.whole(position, end, payload)? {
            return Ok(Some(head));
        }
        let magic = self.magic;
        let header = self.bytes(position, HEADER, end)?;
        if header.is_empty() {
            return Ok(None);
        }
        // Only the payload may be damaged. What looks like a record within it must not be taken
        // for one: a server can have read this very file.
        if let Some(damaged) = RecordHead::decode(position, magic, header)
            && let Some(head) = self.whole(damaged.end(), end, payload)?
        {
            return Ok(Some(head));
        }
        self.search(position + 1, end, payload)
    }

    /// The record at `position`, if a whole one is there.
    fn whole(
        &mut self,
        position: u64,
        end: u64,
        payload: &mut Vec<u8>,
    ) -> Result<Option<RecordHead>, SpoolError> {
        payload.clear();
        let magic = self.magic;
        let header = self.bytes(position, HEADER, end)?;
        let Some(head) = RecordHead::decode(position, magic, header) else {
            return Ok(None);
        };
        let whole = HEADER + head.len as usize;
        let record = self.bytes(position, whole, end)?;
        if record.len() < whole {
            return Ok(None);
        }
        let (header, body) = record.split_at(HEADER);
        if header[4..8] != checksum(header, body).to_le_bytes() {
            return Ok(None);
        }
        payload.extend_from_slice(body);
        Ok(Some(head))
    }

    /// The first whole record from `at` on.
    fn search(
        &mut self,
        mut at: u64,
        end: u64,
        payload: &mut Vec<u8>,
    ) -> Result<Option<RecordHead>, SpoolError> {
        let magic = self.magic.to_le_bytes();
        loop {
            at = self.data_after(at);
            let bytes = self.bytes(at, WINDOW, end)?;
            if bytes.len() < HEADER {
                return Ok(None);
            }
            let Some(found) = memchr::memmem::find(bytes, &magic) else {
                // The magic may lie across the end of what was looked at.
                at += (bytes.len() - magic.len() + 1) as u64;
                continue;
            };
            let candidate = at + found as u64;
            if let Some(head) = self.whole(candidate, end, payload)? {
                return Ok(Some(head));
            }
            at = candidate + 1;
        }
    }

    /// Gives the disk space of the bytes `from..to` back. Best effort: file systems without holes
    /// keep them until the spool is deleted.
    pub fn punch(&self, from: u64, to: u64) {
        #[cfg(target_os = "linux")]
        if let (Ok(offset), Ok(len)) = (i64::try_from(from), i64::try_from(to.saturating_sub(from)))
        {
            use nix::fcntl::{FallocateFlags, fallocate};
            let flags = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
            let _ = fallocate(&self.file, flags, offset, len);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (from, to);
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
    /// Where at or after `at` the file is no hole: holes may be as large as disks.
    fn data_after(&self, at: u64) -> u64 {
        #[cfg(target_os = "linux")]
        {
            use nix::unistd::{Whence, lseek};
            match i64::try_from(at).map(|at| lseek(&self.file, at, Whence::SeekData)) {
                Ok(Ok(data)) => return u64::try_from(data).map_or(at, |data| data.max(at)),
                // Nothing but a hole is left.
                Ok(Err(nix::errno::Errno::ENXIO)) => return u64::MAX,
                _ => {}
            }
        }
        at
    }

    /// `len` bytes at `position`, fewer where the file or `end` comes before.
    fn bytes(&mut self, position: u64, len: usize, end: u64) -> Result<&[u8], SpoolError> {
        let len = usize::try_from(end.saturating_sub(position))
            .unwrap_or(usize::MAX)
            .min(len);
        let inside = position >= self.window_start
            && position + len as u64 <= self.window_start + self.window.len() as u64;
        if !inside {
            self.fill(position, len, end)?;
        }
        let from = usize::try_from(position - self.window_start).unwrap_or(usize::MAX);
        let from = from.min(self.window.len());
        Ok(&self.window[from..self.window.len().min(from + len)])
    }

    fn fill(&mut self, position: u64, len: usize, end: u64) -> Result<(), SpoolError> {
        let known = usize::try_from(end.saturating_sub(position)).unwrap_or(usize::MAX);
        self.window.resize(len.max(WINDOW).min(known), 0);
        self.window_start = position;
        let mut filled = 0;
        while filled < self.window.len() {
            match self
                .file
                .read_at(&mut self.window[filled..], position + filled as u64)
            {
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(self.io_error(source)),
            }
        }
        self.window.truncate(filled);
        Ok(())
    }
}
