//! Appending to a spool: whole records or nothing.

use super::pages::{self, Progress, Status, VERSION};
use super::{
    FIRST, HEADER, Layout, PAGE, PROGRESS_AT, ROOM, RecordHead, RecordKind, SEGMENT,
    SEGMENT_HEADER, STATUS_AT,
};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::frame::StreamId;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::sys::uio::pwritev;
use std::fs::{File, OpenOptions};
use std::io::{self, IoSlice};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Drained segments that keep their disk space: what traffic of a moment needs again.
const KEPT: usize = 2;

/// The one writer of a spool. Holds the lock that says that the recorder lives.
#[derive(Debug)]
pub struct Writer {
    file: Flock<File>,
    layout: Layout,
    /// Where the next record begins.
    end: u64,
    /// The end of the file, as far as records reach.
    len: u64,
    slots: Vec<Slot>,
    /// The slot that is written.
    current: usize,
}

/// A place for a segment in the file.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The sequence of the segment that is or was there.
    sequence: u64,
    /// Whether its disk space was given back.
    is_punched: bool,
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
        // JSON may end with spaces: the segments begin at a page.
        let mut start = start.to_vec();
        start.resize((HEADER + start.len()).next_multiple_of(PAGE) - HEADER, b' ');
        let base = FIRST + (HEADER + start.len()) as u64;
        let mut writer = Self {
            file,
            layout: Layout {
                magic,
                base: u64::MAX,
            },
            end: FIRST,
            len: FIRST,
            slots: Vec::new(),
            current: 0,
        };
        writer.append(RecordKind::Event, StreamId(0), Moment(0), 0, &start)?;
        writer.layout.base = base;
        writer.write_status(&Status::default())?;
        pages::write(&writer.file, PROGRESS_AT, &Progress::default())?;
        Ok(writer)
    }

    /// Where the next record will begin: every byte before it is written.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// What the indexer has published; nothing where that cannot be read.
    pub fn progress(&self) -> Progress {
        let progress = pages::read(&self.file, PROGRESS_AT);
        progress.ok().flatten().unwrap_or_default()
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
            position: self.end,
            kind,
            stream,
            t,
            offset,
            len,
        };
        let header = head.encode(self.layout.magic_at(self.end), payload);
        let (slots, current) = (self.slots.len(), self.current);
        match self.write_whole(&header, payload) {
            Ok(len) => {
                self.end = head.end();
                self.len = len;
                Ok(())
            }
            Err(error) => {
                self.slots.truncate(slots);
                self.current = current;
                // If even this fails, the next record overwrites the remains, and the reader
                // stops at them because their checksum is wrong.
                let _ = nix::unistd::ftruncate(&*self.file, offset_of(self.len)?);
                Err(error)
            }
        }
    }

    /// Writes a record over as many segments as it takes; returns the length of the file then.
    fn write_whole(&mut self, header: &[u8; HEADER], payload: &[u8]) -> io::Result<u64> {
        let total = HEADER + payload.len();
        let (mut done, mut len) = (0, self.len);
        while done < total {
            let (at, room, first) = self.place(self.end + done as u64)?;
            let part = (total - done).min(room);
            let payload_to = (done + part).saturating_sub(HEADER);
            let slices = [
                first.as_ref().map_or(&[][..], |header| header),
                &header[done.min(HEADER)..(done + part).min(HEADER)],
                &payload[done.saturating_sub(HEADER)..payload_to],
            ];
            let end = self.write_all(at, slices)?;
            len = len.max(end);
            done += part;
        }
        Ok(len)
    }

    /// Writes `slices` at `at` of the file; returns where they end.
    fn write_all(&self, at: u64, slices: [&[u8]; 3]) -> io::Result<u64> {
        let (mut at, mut slices) = (at, slices.map(IoSlice::new));
        let mut left = &mut slices[..];
        IoSlice::advance_slices(&mut left, 0);
        while !left.is_empty() {
            match pwritev(&*self.file, left, offset_of(at)?) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => {
                    at += n as u64;
                    IoSlice::advance_slices(&mut left, n);
                }
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(at)
    }

    /// Where in the file `position` is to be written, how many bytes go there, and the header of
    /// the segment that begins with it.
    fn place(&mut self, position: u64) -> io::Result<(u64, usize, Option<[u8; SEGMENT_HEADER]>)> {
        let Some((sequence, at)) = self.layout.place(position) else {
            return Ok((position, usize::MAX, None));
        };
        let room = usize::try_from(ROOM - at).map_err(io::Error::other)?;
        if at == 0 {
            self.current = self.take(sequence);
        }
        let start = self.layout.slot(self.current as u64);
        Ok(match at {
            0 => (start, room, Some(self.layout.encode(sequence))),
            _ => (start + SEGMENT_HEADER as u64 + at, room, None),
        })
    }

    /// A slot for the segment `sequence`: the first that is free, or a new one.
    fn take(&mut self, sequence: u64) -> usize {
        let slot = Slot {
            sequence,
            is_punched: false,
        };
        let released = self.progress().released;
        // One that was begun and refused is known by its sequence: none may be there twice.
        let begun = self.slots.iter().position(|slot| slot.sequence == sequence);
        let mut slots = 0..self.slots.len();
        if let Some(at) = begun.or_else(|| slots.find(|at| self.is_free(*at, released))) {
            self.slots[at] = slot;
            return at;
        }
        self.slots.push(slot);
        self.slots.len() - 1
    }

    fn is_free(&self, at: usize, released: u64) -> bool {
        let sequence = self.slots[at].sequence;
        let current = self.slots.get(self.current).map(|slot| slot.sequence);
        // What is not written to its end is not drained, whatever the page says.
        current.is_some_and(|current| sequence < current)
            && self.layout.start_of(sequence + 1) <= released
    }

    /// Gives the disk space of drained segments back, but for a few. To be called now and then.
    pub fn trim(&mut self) -> io::Result<()> {
        let released = self.progress().released;
        let free: Vec<usize> = (0..self.slots.len())
            .filter(|at| self.is_free(*at, released))
            .collect();
        for &at in free.iter().skip(KEPT).rev() {
            if at + 1 == self.slots.len() {
                self.slots.pop();
                self.len = self.len.min(self.layout.slot(at as u64));
                nix::unistd::ftruncate(&*self.file, offset_of(self.len)?)?;
            } else if !std::mem::replace(&mut self.slots[at].is_punched, true) {
                self.punch(self.layout.slot(at as u64));
            }
        }
        Ok(())
    }

    /// Whether the file holds no more than is needed.
    pub fn is_trim(&self) -> bool {
        let held = self.slots.iter().filter(|slot| !slot.is_punched).count();
        held <= KEPT + 1
    }

    /// Best effort: file systems without holes keep the space until the spool is deleted.
    fn punch(&self, at: u64) {
        #[cfg(target_os = "linux")]
        if let (Ok(at), Ok(len)) = (offset_of(at), offset_of(SEGMENT)) {
            use nix::fcntl::{FallocateFlags, fallocate};
            let flags = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
            let _ = fallocate(&*self.file, flags, at, len);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = at;
    }

    pub fn write_status(&self, status: &Status) -> io::Result<()> {
        let status = Status {
            spool: VERSION,
            magic: self.layout.magic,
            base: self.layout.base,
            ..status.clone()
        };
        pages::write(&self.file, STATUS_AT, &status.bounded())
    }
}

fn offset_of(at: u64) -> io::Result<i64> {
    i64::try_from(at).map_err(io::Error::other)
}

/// Hidden, and of another ending, so that no listing takes it for a spool.
fn temporary_name(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".new");
    path.with_file_name(name)
}
