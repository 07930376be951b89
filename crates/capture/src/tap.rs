//! The handle through which everything is put on record; it never fails.
//!
//! While the kernel takes what is written, a chunk is in the spool when [`Tap::chunk`] returns.
//! When the kernel refuses, the tap only counts, tries again a little later, and keeps in the
//! status block how many bytes went by, so that the gap is known to the byte.

use super::spool::{EndNote, RecordKind, Status, Writer};

/// Bytes of a chunk that is put on record, at most.
pub use super::spool::MAX_CHUNK;

use mcpreel_trace::clock::{Clock, Moment};
use mcpreel_trace::event::EventKind;
use mcpreel_trace::frame::StreamId;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Thread;
use std::time::Duration;

/// How long a refused recording waits before it tries again. Trying at every chunk would cost a
/// failing system call each; waiting longer would widen the gap for no reason.
const RETRY: Duration = Duration::from_millis(100);

/// Events that wait for room while the kernel refuses. Without a limit a session of days on a
/// full disk would grow; what is beyond it is a repetition of stalls and signals.
const MAX_WAITING: usize = 256;

/// Puts chunks and events of one session on record.
#[derive(Debug)]
pub struct Tap {
    clock: Clock,
    inner: Mutex<Inner>,
    /// How much of the spool is written, for the indexer.
    written: Arc<AtomicU64>,
    keeper: OnceLock<Thread>,
}

#[derive(Debug)]
struct Inner {
    medium: Medium,
    status: Status,
    recorded: u64,
    max_size: u64,
    waiting: Vec<(Moment, EventKind)>,
    /// Why something is not on record, in one sentence, until it has been told.
    untold: Option<String>,
}

#[derive(Debug)]
enum Medium {
    Recording(Writer),
    /// The kernel refuses; the next attempt is at `retry_at`.
    Refused {
        writer: Writer,
        retry_at: Moment,
    },
    /// There is no recording, or it has ended.
    Closed,
}

impl Tap {
    /// A tap that writes to `spool`, or to nothing if it could not be created. At most `max_size`
    /// bytes of traffic are put on record.
    pub fn new(clock: Clock, spool: Result<Writer, String>, max_size: Option<u64>) -> Self {
        let (medium, untold) = match spool {
            Ok(writer) => (Medium::Recording(writer), None),
            Err(reason) => {
                let untold = format!("the session goes on, but is not recorded: {reason}");
                (Medium::Closed, Some(untold))
            }
        };
        let written = Arc::new(AtomicU64::new(match &medium {
            Medium::Recording(writer) => writer.end(),
            _ => 0,
        }));
        let inner = Inner {
            medium,
            status: Status::default(),
            recorded: 0,
            max_size: max_size.unwrap_or(u64::MAX),
            waiting: Vec::new(),
            untold,
        };
        Self {
            clock,
            inner: Mutex::new(inner),
            written,
            keeper: OnceLock::new(),
        }
    }

    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// How much of the spool is written; it only grows.
    pub fn written(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.written)
    }

    /// Whoever is to be unparked when something new is on record.
    pub fn set_keeper(&self, thread: Thread) {
        drop(self.keeper.set(thread));
    }

    /// Puts bytes of a stdio stream on record, as read at `t`.
    pub fn chunk(&self, stream: StreamId, t: Moment, bytes: &[u8]) {
        let mut inner = self.lock();
        let offset = inner.status.forwarded[stream.index()];
        inner.status.forwarded[stream.index()] += bytes.len() as u64;
        self.append(inner, stream, t, offset, bytes);
    }

    /// Puts bytes of a network stream on record, as read at `t`. Whoever moves them counts them:
    /// `offset` is the number of those before.
    pub fn chunk_at(&self, stream: StreamId, t: Moment, offset: u64, bytes: &[u8]) {
        self.append(self.lock(), stream, t, offset, bytes);
    }

    fn append(
        &self,
        mut inner: MutexGuard<'_, Inner>,
        stream: StreamId,
        t: Moment,
        offset: u64,
        bytes: &[u8],
    ) {
        if inner.recorded >= inner.max_size {
            inner.note("the recording has reached its --max-size");
            inner.write_status();
        } else {
            inner.recorded += bytes.len() as u64;
            inner.record(t, |writer| {
                writer.append(RecordKind::Chunk, stream, t, offset, bytes)
            });
        }
        self.publish(inner);
    }

    /// Puts an event on record, as happened now.
    pub fn event(&self, kind: EventKind) {
        tracing::debug!(?kind, "event");
        let t = self.clock.now();
        let mut inner = self.lock();
        inner.waiting.push((t, kind));
        inner.record(t, |_| Ok(()));
        inner.waiting.truncate(MAX_WAITING);
        self.publish(inner);
    }

    /// From now on the recording is treated as refused, for example because the disk is nearly
    /// full; `None` lets it go on.
    pub fn refuse(&self, reason: Option<&str>) {
        let mut inner = self.lock();
        match (reason, std::mem::replace(&mut inner.medium, Medium::Closed)) {
            (Some(reason), Medium::Recording(writer) | Medium::Refused { writer, .. }) => {
                inner.note(reason);
                inner.medium = Medium::Refused {
                    writer,
                    retry_at: Moment(u64::MAX),
                };
            }
            (None, Medium::Refused { writer, .. }) => {
                inner.medium = Medium::Refused {
                    writer,
                    retry_at: Moment(0),
                };
            }
            (_, medium) => inner.medium = medium,
        }
    }

    /// Gives disk space back that the spool does not need any more.
    pub fn trim(&self) {
        let mut inner = self.lock();
        if let Medium::Recording(writer) = &mut inner.medium {
            // Where it fails the file stays longer than it must be.
            drop(writer.trim());
        }
    }

    /// Whether there is nothing to [`Self::trim`], now or when the indexer has come further.
    pub fn is_trim(&self) -> bool {
        match &self.lock().medium {
            Medium::Recording(writer) => writer.is_trim(),
            _ => true,
        }
    }

    /// How much of the spool the indexer has drained, as far as it has said.
    pub fn drained(&self) -> u64 {
        match &self.lock().medium {
            Medium::Recording(writer) | Medium::Refused { writer, .. } => writer.progress().drained,
            Medium::Closed => 0,
        }
    }

    /// The session is over: writes the last status. Nothing is put on record after it.
    pub fn end(&self, exit: Option<EventKind>) {
        let end = EndNote {
            t_ns: self.clock.now().0,
            exit,
        };
        let mut inner = self.lock();
        inner.status.end = Some(end);
        inner.write_status();
        self.publish(inner);
    }

    /// Why something is not on record, in one sentence, the first time that this is asked after it
    /// happened.
    pub fn take_untold(&self) -> Option<String> {
        self.lock().untold.take()
    }

    fn publish(&self, inner: MutexGuard<'_, Inner>) {
        if let Medium::Recording(writer) = &inner.medium {
            self.written.store(writer.end(), Ordering::Release);
        }
        drop(inner);
        if let Some(thread) = self.keeper.get() {
            thread.unpark();
        }
    }

    /// A panic of another thread must not stop the session; the state is valid between any two
    /// statements.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn record(&mut self, t: Moment, append: impl FnOnce(&mut Writer) -> io::Result<()>) {
        let mut writer = match std::mem::replace(&mut self.medium, Medium::Closed) {
            Medium::Recording(writer) => writer,
            Medium::Refused { writer, retry_at } if t >= retry_at => writer,
            other => {
                self.medium = other;
                return self.write_status();
            }
        };
        self.medium = match self.flush(&mut writer).and_then(|()| append(&mut writer)) {
            Ok(()) => Medium::Recording(writer),
            Err(error) => {
                self.note(&error.to_string());
                let retry_at = t + RETRY;
                Medium::Refused { writer, retry_at }
            }
        };
        if matches!(self.medium, Medium::Refused { .. }) {
            self.write_status();
        }
    }

    /// Events that could not be written before stand before the chunk that can.
    fn flush(&mut self, writer: &mut Writer) -> io::Result<()> {
        while let Some((t, kind)) = self.waiting.first() {
            let json = serde_json::to_vec(kind).map_err(io::Error::other)?;
            writer.append(RecordKind::Event, StreamId(0), *t, 0, &json)?;
            self.waiting.remove(0);
        }
        Ok(())
    }

    fn note(&mut self, reason: &str) {
        if self.status.gap.is_none() {
            self.status.gap = Some(reason.to_owned());
            self.untold = Some(format!(
                "the session goes on, but is not recorded in full: {reason}"
            ));
        }
    }

    fn write_status(&self) {
        if let Medium::Recording(writer) | Medium::Refused { writer, .. } = &self.medium {
            // The block is one page that already exists; if even that is refused, nothing is
            // left that could keep it.
            drop(writer.write_status(&self.status));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::spool::{SpoolReader, Tail};
    use super::*;

    fn tap(dir: &std::path::Path, max_size: Option<u64>) -> (Tap, SpoolReader) {
        let path = dir.join("a.spool");
        let writer = Writer::create(&path, 1, b"{}").unwrap();
        (
            Tap::new(Clock::start(), Ok(writer), max_size),
            SpoolReader::open(&path).unwrap(),
        )
    }

    fn chunks(reader: &mut SpoolReader) -> Vec<(u64, usize)> {
        let (mut position, mut payload, mut found) =
            (reader.first_position(), Vec::new(), Vec::new());
        while let Some(head) = reader.read(position, Tail::Final, &mut payload).unwrap() {
            if head.kind == RecordKind::Chunk {
                found.push((head.offset, payload.len()));
            }
            position = head.end();
        }
        found
    }

    #[test]
    fn a_refused_recording_counts_what_goes_by_and_goes_on_later() {
        let dir = tempfile::tempdir().unwrap();
        let (tap, mut reader) = tap(dir.path(), None);
        tap.chunk(StreamId::S2C, Moment(1), b"kept");
        tap.refuse(Some("the disk is nearly full"));
        tap.chunk(StreamId::S2C, Moment(2), b"missing");
        assert_eq!(reader.status().unwrap().forwarded, [0, 11, 0]);
        tap.refuse(None);
        tap.chunk(StreamId::S2C, Moment(3), b"kept again");
        assert_eq!(chunks(&mut reader), [(0, 4), (11, 10)]);
        let told = tap.take_untold().unwrap();
        assert!(told.ends_with("not recorded in full: the disk is nearly full"));
        assert_eq!(tap.take_untold(), None);
    }

    #[test]
    fn nothing_is_recorded_beyond_the_largest_size() {
        let dir = tempfile::tempdir().unwrap();
        let (tap, mut reader) = tap(dir.path(), Some(6));
        for t in 0..4 {
            tap.chunk(StreamId::C2S, Moment(t), b"four");
        }
        tap.end(None);
        assert_eq!(chunks(&mut reader), [(0, 4), (4, 4)]);
        assert_eq!(reader.status().unwrap().forwarded, [16, 0, 0]);
    }

    #[test]
    fn without_a_spool_nothing_fails() {
        let tap = Tap::new(Clock::start(), Err("read-only file system".into()), None);
        tap.chunk(StreamId::C2S, Moment(1), b"x");
        tap.event(EventKind::Spawned { pid: 1 });
        tap.end(None);
        let told = tap.take_untold().unwrap();
        assert!(told.ends_with("not recorded: read-only file system"));
    }
}
