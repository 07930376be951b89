//! Appending to a spool: whole records or nothing.

use super::{HEADER, RecordHead, RecordKind};
use crate::spool::{STATUS_SIZE, Status, VERSION};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::StreamId;
use nix::fcntl::{Flock, FlockArg};
use nix::sys::uio::{pwrite, pwritev};
use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The one writer of a spool. Holds the lock that says that the recorder lives.
#[derive(Debug)]
pub struct Writer {
    file: Flock<File>,
    magic: u32,
    len: u64,
}

impl Writer {
    /// Creates the spool `path` (mode 0600) with the start event `start` as its first record.
    ///
    /// It is made under a temporary name, locked, and then renamed, so that nobody ever sees a
    /// spool that is neither locked nor whole.
    pub fn create(path: &Path, magic: u32, start: &[u8]) -> io::Result<Self> {
        let temporary = temporary_name(path);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&temporary)?;
        Self::begin(file, magic, start)
            .and_then(|writer| std::fs::rename(&temporary, path).map(|()| writer))
            .inspect_err(|_| drop(std::fs::remove_file(&temporary)))
    }

    fn begin(file: File, magic: u32, start: &[u8]) -> io::Result<Self> {
        let file = Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, e)| e)?;
        let mut writer = Self {
            file,
            magic,
            len: STATUS_SIZE as u64,
        };
        writer.write_status(&Status {
            spool: VERSION,
            magic,
            ..Status::default()
        })?;
        writer.append(RecordKind::Event, StreamId(0), Moment(0), 0, start)?;
        Ok(writer)
    }

    /// Where the next record will begin: every byte before it is written.
    pub fn end(&self) -> u64 {
        self.len
    }

    /// Appends a record. After an error the spool is as it was before.
    pub fn append(
        &mut self,
        kind: RecordKind,
        stream: StreamId,
        t: Moment,
        offset: u64,
        payload: &[u8],
    ) -> io::Result<()> {
        let len = u32::try_from(payload.len()).map_err(io::Error::other)?;
        let head = RecordHead {
            position: self.len,
            kind,
            stream,
            t,
            offset,
            len,
        };
        let header = head.encode(self.magic, payload);
        match self.write_whole(&header, payload) {
            Ok(()) => {
                self.len = head.end();
                Ok(())
            }
            Err(error) => {
                // If even this fails, the next record overwrites the remains, and the reader
                // stops at them because their checksum is wrong.
                let _ = nix::unistd::ftruncate(&*self.file, self.offset(0)?);
                Err(error)
            }
        }
    }

    fn write_whole(&self, header: &[u8; HEADER], payload: &[u8]) -> io::Result<()> {
        let total = HEADER + payload.len();
        let mut done = 0;
        while done < total {
            let slices = [
                IoSlice::new(&header[done.min(HEADER)..]),
                IoSlice::new(&payload[done.saturating_sub(HEADER)..]),
            ];
            match pwritev(&*self.file, &slices, self.offset(done)?) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => done += n,
                Err(nix::errno::Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn offset(&self, done: usize) -> io::Result<i64> {
        i64::try_from(self.len + done as u64).map_err(io::Error::other)
    }

    pub fn write_status(&self, status: &Status) -> io::Result<()> {
        let status = Status {
            spool: VERSION,
            magic: self.magic,
            ..status.clone()
        };
        match pwrite(&*self.file, &status.encode(), 0)? {
            STATUS_SIZE => Ok(()),
            _ => Err(io::ErrorKind::WriteZero.into()),
        }
    }
}

/// Hidden, and of another ending, so that no listing takes it for a spool.
fn temporary_name(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".new");
    path.with_file_name(name)
}
