//! A recording of a session that happened elsewhere: made from what is told of it, through the same
//! journal and the same indexer as any other.
//!
//! ```text
//!  entries ──▶ Import ──▶ spool ──▶ Indexer ──▶ recording
//!  (stream, t, bytes | event | bytes that are missing)
//! ```
//!
//! What is not known of the process stays unknown in its [`ProcessContext`]. That includes when
//! it was: a file has no date of its own that would be the same for everybody who has it, so the
//! wall clock of such a recording is 0, which means unknown. Its id is the caller's to choose; one
//! made from the content makes the same recording of the same session.

use crate::indexer::{Budget, IndexError, Indexer, Owned};
use crate::library::spool_of;
use crate::schema::State;
use mcpreel_capture::spool::{EndNote, MAX_CHUNK, RecordKind, SpoolReader, Status, Tail, Writer};
use mcpreel_trace::clock::{Clock, Moment};
use mcpreel_trace::event::{EventKind, ProcessContext};
use mcpreel_trace::frame::{FrameHead, StreamId};
use std::io;
use std::path::Path;

/// Bytes at which the journal is drained: it never holds the whole session.
const DRAIN_AT: u64 = 8 * 1024 * 1024;

/// Bytes of frames of connections that are indexed together.
const CARRIED: usize = 1 << 20;

/// Why a recording could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The journal of the recording could not be written.
    #[error("could not write the journal of the recording")]
    Spool(#[from] io::Error),
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The bytes are of none of the three streams.
    #[error("the recording is damaged: it has something of a stream {0}, and there is none")]
    NoStream(u32),
}

/// A recording that is being made. One that is not finished leaves its files behind.
pub struct Import {
    spool: Writer,
    indexer: Indexer,
    budget: Budget,
    /// Bytes of each stream, those that are missing included.
    sent: [u64; 3],
    has_gap: bool,
    /// Why the first bytes are missing.
    gap: Option<String>,
    is_recovered: bool,
    /// Frames of connections that are not indexed yet, and the bytes that they take.
    carried: Vec<Owned>,
    carried_bytes: usize,
}

impl Import {
    /// Begins the recording `reel` of the session that `context` describes, which is called after
    /// its command unless it has a name.
    pub fn begin(reel: &Path, context: ProcessContext) -> Result<Self, ImportError> {
        let mut context = context;
        if context.name.is_empty() {
            context.name = super::recorder::of_command(&context.argv);
        }
        let start = EventKind::Start(Box::new(context.clone()));
        let start = serde_json::to_vec(&start).map_err(io::Error::from)?;
        let magic = getrandom::u32().map_err(io::Error::other)?;
        let path = spool_of(reel);
        let spool = Writer::create(&path, magic, &start)?;
        let reader = SpoolReader::open(&path).map_err(IndexError::from)?;
        let indexer = Indexer::create(reel, &context, reader)?;
        Ok(Self {
            spool,
            indexer,
            budget: Budget::alone(Clock::start()),
            sent: [0; 3],
            has_gap: false,
            gap: None,
            is_recovered: false,
            carried: Vec::new(),
            carried_bytes: 0,
        })
    }

    /// Bytes that were read from a stream of a stdio session at `t`.
    pub fn chunk(&mut self, stream: StreamId, t: Moment, bytes: &[u8]) -> Result<(), ImportError> {
        for part in bytes.chunks(MAX_CHUNK) {
            self.append(stream, t, part)?;
        }
        Ok(())
    }

    /// A frame of a connection, as another recording has it.
    pub fn carried(&mut self, head: &FrameHead, bytes: &[u8]) -> Result<(), ImportError> {
        // What came before it is before it on record.
        if self.carried.is_empty() {
            self.drain(1)?;
        }
        let frame = Owned::copy(head, bytes);
        self.carried_bytes += frame.size();
        self.carried.push(frame);
        if self.carried_bytes > CARRIED {
            self.take_carried()?;
        }
        Ok(())
    }

    fn take_carried(&mut self) -> Result<(), ImportError> {
        self.carried_bytes = 0;
        if !self.carried.is_empty() {
            self.indexer.copied(std::mem::take(&mut self.carried))?;
        }
        Ok(())
    }

    /// Bytes of a stream that are missing, as was noticed at `t`. The line that they interrupt
    /// ends.
    pub fn lose(
        &mut self,
        stream: StreamId,
        t: Moment,
        bytes: u64,
        reason: Option<String>,
    ) -> Result<(), ImportError> {
        if !self.has_gap {
            (self.has_gap, self.gap) = (true, reason);
            self.write_status(None)?;
        } else if let Some(reason) = reason.filter(|it| Some(it) != self.gap.as_ref()) {
            // A recording keeps one reason, which is that of its first gap.
            let message = format!("bytes of {} are missing: {reason}", stream.as_str());
            self.event(t, &EventKind::Warning { message })?;
        }
        *self.sent(stream)? += bytes;
        self.append(stream, t, &[])
    }

    /// The line that is open on a stream goes no further: it becomes a frame as it is.
    pub fn end_line(&mut self, stream: StreamId, t: Moment) -> Result<(), ImportError> {
        self.append(stream, t, &[])
    }

    pub fn event(&mut self, t: Moment, kind: &EventKind) -> Result<(), ImportError> {
        self.take_carried()?;
        self.is_recovered |= matches!(kind, EventKind::Recovered { .. });
        let json = serde_json::to_vec(kind).map_err(io::Error::from)?;
        let event = RecordKind::Event;
        self.spool.append(event, StreamId(0), t, 0, &json)?;
        self.drain(DRAIN_AT)
    }

    /// Brings the recording up to date for readers; it goes on as long as this value lives.
    pub fn catch_up(&mut self) -> Result<(), ImportError> {
        self.take_carried()?;
        self.write_status(None)?;
        self.drain(1)
    }

    /// Ends the recording: the session was over at `t`.
    pub fn finish(mut self, t: Moment) -> Result<(), ImportError> {
        self.take_carried()?;
        let end = EndNote {
            t_ns: t.0,
            exit: None,
        };
        self.write_status(Some(end))?;
        self.drain(1)?;
        let state = if self.is_recovered {
            State::Recovered
        } else {
            State::Complete
        };
        self.indexer.finish(state)?;
        Ok(self.indexer.release_spool()?)
    }

    fn append(&mut self, stream: StreamId, t: Moment, bytes: &[u8]) -> Result<(), ImportError> {
        self.take_carried()?;
        let sent = self.sent(stream)?;
        let before = std::mem::replace(sent, *sent + bytes.len() as u64);
        self.spool
            .append(RecordKind::Chunk, stream, t, before, bytes)?;
        self.drain(DRAIN_AT)
    }

    fn sent(&mut self, stream: StreamId) -> Result<&mut u64, ImportError> {
        let sent = self.sent.get_mut(stream.index());
        sent.ok_or(ImportError::NoStream(stream.0))
    }

    /// Indexes what stands in the journal, if that is as much as `least` bytes.
    fn drain(&mut self, least: u64) -> Result<(), ImportError> {
        let end = self.spool.end();
        if end - self.indexer.position() < least {
            return Ok(());
        }
        while !self.indexer.step(Tail::Final, &self.budget)? {}
        Ok(self.spool.trim()?)
    }

    fn write_status(&self, end: Option<EndNote>) -> Result<(), ImportError> {
        let status = Status {
            forwarded: self.sent,
            gap: self.gap.clone(),
            end,
            ..Status::default()
        };
        Ok(self.spool.write_status(&status)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::Recording;

    fn context() -> ProcessContext {
        ProcessContext {
            recording: "7f3a9c21".into(),
            origin: "import".into(),
            argv: vec!["npx".into(), "-y".into(), "@scope/server-files".into()],
            ..ProcessContext::default()
        }
    }

    /// What `tell` makes of a recording, and its events but that of the start.
    fn made(tell: impl FnOnce(&mut Import)) -> (Recording, Vec<(u64, EventKind)>) {
        let dir = tempfile::tempdir().unwrap();
        let reel = dir.path().join("a.reel");
        let mut import = Import::begin(&reel, context()).unwrap();
        tell(&mut import);
        import.finish(Moment(9)).unwrap();
        let files = std::fs::read_dir(dir.path()).unwrap();
        assert_eq!(files.count(), 1, "it is one plain file");
        let recording = Recording::open(&reel).unwrap();
        let events = recording.events(0).unwrap().into_iter().skip(1);
        let events = events.map(|row| (row.event.after_seq.0, row.event.kind));
        let events = events.collect();
        (recording, events)
    }

    #[test]
    fn bytes_that_are_missing_are_stated_where_they_are_with_every_reason() {
        let (c2s, s2c) = (StreamId::C2S, StreamId::S2C);
        let full = || Some("the disk was full".to_owned());
        let (recording, events) = made(|import| {
            import.chunk(s2c, Moment(1), b"begun").unwrap();
            import.lose(c2s, Moment(2), 4, full()).unwrap();
            import.lose(s2c, Moment(3), 5, full()).unwrap();
            import.chunk(s2c, Moment(4), b"rest\n").unwrap();
            import
                .lose(c2s, Moment(5), 6, Some("another".into()))
                .unwrap();
        });
        let gap = |stream, offset, bytes, reason| EventKind::Gap {
            stream,
            offset,
            bytes,
            reason,
        };
        let message = "bytes of c2s are missing: another".to_owned();
        assert_eq!(
            events,
            [
                (0, gap(c2s, 0, 4, full())),
                (1, gap(s2c, 5, 5, None)),
                (2, EventKind::Warning { message }),
                (2, gap(c2s, 4, 6, None)),
            ]
        );
        assert_eq!(recording.summary().unwrap().gap_bytes, 15);
    }

    #[test]
    fn the_journal_never_holds_the_whole_session() {
        let (recording, _) = made(|import| {
            let line = [vec![b'x'; 1023], vec![b'\n']].concat();
            let mut most = 0;
            for t in 0..(3 * DRAIN_AT / 1024) {
                import.chunk(StreamId::STDERR, Moment(t), &line).unwrap();
                most = most.max(import.spool.end() - import.indexer.position());
            }
            assert!(most < DRAIN_AT, "{most} bytes");
        });
        assert_eq!(recording.summary().unwrap().bytes, 3 * DRAIN_AT);
    }
}
