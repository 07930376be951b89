//! The bytes of a spool by position, many of them read at once.

use super::{SpoolError, SpoolReader};
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes read at once: several small records for one system call.
pub(super) const WINDOW: usize = 256 * 1024;

impl SpoolReader {
    /// Where at or after `at` the file is no hole: holes may be as large as disks.
    pub(super) fn data_after(&self, at: u64) -> u64 {
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
    pub(super) fn bytes(
        &mut self,
        position: u64,
        len: usize,
        end: u64,
    ) -> Result<&[u8], SpoolError> {
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
