//! Reading a spool, also while its recorder appends to it.

use super::status::{STATUS_SIZE, Status};
use super::{HEADER, RecordHead, checksum, open_regular};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Bytes read at once: several small records for one system call.
const WINDOW: usize = 256 * 1024;

/// Why a spool cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    /// The kernel refused.
    #[error("could not read the spool {}", path.display())]
    Io {
        /// The spool.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// The status block is damaged, or of a version that this program does not know.
    #[error("{} is no spool of this version of mcpreel", path.display())]
    NotASpool {
        /// The file.
        path: PathBuf,
    },
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
        reader.magic = reader.status()?.magic;
        Ok(reader)
    }

    /// The status block as it is now.
    pub fn status(&self) -> Result<Status, SpoolError> {
        let mut block = [0; STATUS_SIZE];
        self.file
            .read_exact_at(&mut block, 0)
            .map_err(|source| match source.kind() {
                io::ErrorKind::UnexpectedEof => SpoolError::NotASpool {
                    path: self.path.clone(),
                },
                _ => self.io_error(source),
            })?;
        Status::decode(&block).ok_or_else(|| SpoolError::NotASpool {
            path: self.path.clone(),
        })
    }

    /// Where the first record begins.
    #[must_use]
    pub fn first_position(&self) -> u64 {
        STATUS_SIZE as u64
    }

    /// Bytes of the file.
    pub fn file_len(&self) -> Result<u64, SpoolError> {
        Ok(self
            .file
            .metadata()
            .map_err(|source| self.io_error(source))?
            .len())
    }

    /// Reads the record at `position` and puts its payload into `payload`.
    ///
    /// `end` is how much of the file is known to be written; `u64::MAX` for a spool whose
    /// recorder is gone. Returns `None` at the end, at a record that was torn by a crash of the
    /// machine, and in a range that was punched out.
    pub fn read(
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

    fn io_error(&self, source: io::Error) -> SpoolError {
        SpoolError::Io {
            path: self.path.clone(),
            source,
        }
    }
}
