//! Following a live recording.
//!
//! Whoever follows owns the loop and calls [`Tail::poll`] every [`INTERVAL`]; asking costs some
//! microseconds as long as nothing has changed. Reads are short, so that the recorder's WAL never
//! grows because of them. As soon as the recording is complete its file is let go, so that the
//! recorder can make it one plain file.

use super::library::spool_of;
use super::open;
use super::open::OpenError;
use super::reader::{EventRow, FindingRow, MessageRow, ReadError, Recording, Summary};
use mcpreel_capture::spool;
use mcpreel_trace::exchange::{Exchange, ExchangeId, Status};
use mcpreel_trace::frame::{FrameHead, Seq};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Frames that one poll hands over at most.
const PAGE: u32 = 500;

/// Exchanges given up of which one poll hears at most; of the others the next one does.
const GIVEN_UP: u32 = 10_000;

/// The rows that are new since the last poll. Events belong after the frame `after_seq`.
#[derive(Debug)]
pub struct News {
    pub summary: Summary,
    pub frames: Vec<FrameHead>,
    pub messages: Vec<MessageRow>,
    /// Exchanges that are new or have changed, as they stand now.
    pub exchanges: Vec<Exchange>,
    pub events: Vec<EventRow>,
    pub findings: Vec<FindingRow>,
    /// Whether there is more to read at once.
    pub more: bool,
}

#[derive(Debug)]
pub struct Tail {
    watch: Watch,
    seen: Seen,
}

#[derive(Debug, Default)]
struct Seen {
    frame: Seq,
    event: u64,
    finding: u64,
    /// Exchanges whose status may change without a further message: at the end, or when they are
    /// given up.
    unsettled: BTreeSet<ExchangeId>,
    /// The last exchange that was given up.
    given_up: ExchangeId,
}

impl Tail {
    /// Follows the recording `path` from its beginning.
    pub fn new(path: &Path) -> Self {
        Self {
            watch: Watch::new(path),
            seen: Seen::default(),
        }
    }

    /// The recording, while it is open: for reading bytes of what was handed over.
    pub fn recording(&self) -> Option<&Recording> {
        self.watch.recording()
    }

    /// Reads the news since the last call. If there is more, the next call need not wait.
    pub fn poll(&mut self) -> Result<Change<Box<News>>, ReadError> {
        self.watch.poll(|recording| {
            let news = recording.in_one_read(|recording| self.seen.advance(recording))?;
            let is_final = news.summary.state.is_final();
            Ok(match (news.more, is_final) {
                (true, _) => Read::Partly(Box::new(news)),
                (false, true) => Read::Complete(Box::new(news)),
                (false, false) if news.is_empty() => Read::Nothing,
                (false, false) => Read::All(Box::new(news)),
            })
        })
    }
}

impl News {
    fn is_empty(&self) -> bool {
        self.frames.is_empty()
            && self.events.is_empty()
            && self.exchanges.is_empty()
            && self.findings.is_empty()
    }
}

impl Seen {
    fn advance(&mut self, recording: &Recording) -> Result<News, ReadError> {
        let summary = recording.summary()?;
        let frames = recording.heads(self.frame, PAGE)?;
        let more = frames.len() == PAGE as usize;
        let last = frames.last().map_or(self.frame, |head| head.seq);
        let messages = recording.messages(self.frame, last)?;
        let mut events = recording.events(self.event)?;
        if more {
            events.retain(|row| row.event.after_seq <= last);
        }
        let more = more || events.len() >= PAGE as usize;
        let findings = recording.findings(self.finding)?;
        let exchanges = self.changed(recording, &messages, summary.state.is_final() && !more)?;
        self.frame = last;
        self.event = events.last().map_or(self.event, |row| row.id);
        self.finding = findings.last().map_or(self.finding, |row| row.id);
        Ok(News {
            summary,
            frames,
            messages,
            exchanges,
            events,
            findings,
            more,
        })
    }

    /// The exchanges that `messages` belong to, and those that wait for them; those that were
    /// given up meanwhile; at the end also those that were open.
    fn changed(
        &mut self,
        recording: &Recording,
        messages: &[MessageRow],
        at_end: bool,
    ) -> Result<Vec<Exchange>, ReadError> {
        let mut ids: BTreeSet<_> = messages
            .iter()
            .filter_map(|row| row.record.exchange)
            .collect();
        for id in recording.given_up_after(self.given_up, GIVEN_UP)? {
            self.given_up = id;
            ids.extend(self.unsettled.take(&id));
        }
        if at_end {
            ids.append(&mut self.unsettled);
        }
        let mut exchanges = Vec::with_capacity(ids.len());
        while let Some(id) = ids.pop_first() {
            let Some(exchange) = recording.exchange(id)? else {
                continue;
            };
            // A request of the other side keeps the call waiting in which it was asked.
            ids.extend(exchange.parent.filter(|&parent| parent > id));
            if matches!(
                exchange.status,
                Status::Open | Status::Task | Status::Cancelled
            ) {
                self.unsettled.insert(id);
            } else {
                self.unsettled.remove(&id);
            }
            exchanges.push(exchange);
        }
        Ok(exchanges)
    }
}

// Noticing that a recording has changed, has ended, or has lost its recorder.

pub const INTERVAL: Duration = Duration::from_millis(33);

/// Polls without news between two looks at the recorder's lock.
const LOOK_EVERY: u32 = 15;

/// Polls for which a complete recording is left alone while its recorder makes it one plain file.
const PATIENCE: u32 = 8;

#[derive(Debug)]
pub enum Change<T> {
    /// There is no recording yet, only its spool.
    Waiting,
    Quiet,
    /// Something new.
    Changed(T),
    /// The recorder was killed. [`super::recovery`] completes the recording; polling goes on
    /// where it was.
    Orphaned,
    /// The recording is complete, everything was read.
    Ended,
}

/// The part of a change that a caller of [`Watch::poll`] has read.
#[derive(Debug)]
pub enum Read<T> {
    /// All of it, and nothing in it is news.
    Nothing,
    /// There is more to read: the next poll reads again.
    Partly(T),
    All(T),
    /// All of it, and there will be no more.
    Complete(T),
}

#[derive(Debug)]
pub struct Watch {
    path: PathBuf,
    recording: Option<Recording>,
    data_version: Option<i64>,
    quiet: u32,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Following,
    /// Everything was read; the recorder may want the file for itself.
    LettingGo,
    Ended,
}

impl Watch {
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            recording: None,
            data_version: None,
            quiet: 0,
            stage: Stage::Following,
        }
    }

    /// The recording, while it is open.
    pub fn recording(&self) -> Option<&Recording> {
        self.recording.as_ref()
    }

    /// Reports the change since the last call; `read` reads a recording that has changed.
    pub fn poll<T>(
        &mut self,
        read: impl FnOnce(&Recording) -> Result<Read<T>, ReadError>,
    ) -> Result<Change<T>, ReadError> {
        match self.stage {
            Stage::Ended => Ok(Change::Ended),
            Stage::LettingGo => self.let_go(),
            Stage::Following => self.follow(read),
        }
    }

    fn follow<T>(
        &mut self,
        read: impl FnOnce(&Recording) -> Result<Read<T>, ReadError>,
    ) -> Result<Change<T>, ReadError> {
        if self.recording.is_none() {
            self.recording = self.open()?;
        }
        let Some(recording) = &self.recording else {
            return Ok(self.wait(Change::Waiting));
        };
        let (version, is_frozen) = (recording.data_version()?, recording.is_frozen());
        if self.data_version == Some(version) && !is_frozen {
            return Ok(self.wait(Change::Quiet));
        }
        let read = read(recording)?;
        let is_whole = !matches!(read, Read::Partly(_));
        self.data_version = (is_whole && !is_frozen).then_some(version);
        if matches!(read, Read::Complete(_)) {
            self.stage = Stage::LettingGo;
        }
        if is_frozen || self.stage == Stage::LettingGo {
            // What has no WAL beside it yet was opened as it lay there, and would never change.
            self.recording = None;
        }
        match read {
            Read::Nothing => Ok(self.wait(Change::Quiet)),
            Read::Partly(news) | Read::All(news) | Read::Complete(news) => {
                self.quiet = 0;
                Ok(Change::Changed(news))
            }
        }
    }

    fn open(&self) -> Result<Option<Recording>, ReadError> {
        if !open::is_born(&self.path)? && spool_of(&self.path).exists() {
            return Ok(None);
        }
        match Recording::open_as_it_is(&self.path) {
            Ok(recording) => Ok(Some(recording)),
            // While the journal mode is switched nobody else gets in.
            Err(OpenError::Locked { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// `otherwise`, unless the recorder has gone.
    fn wait<T>(&mut self, otherwise: Change<T>) -> Change<T> {
        self.quiet += 1;
        if self.quiet.is_multiple_of(LOOK_EVERY) && spool::lock(&spool_of(&self.path)).is_ok() {
            self.recording = None;
            self.data_version = None;
            return Change::Orphaned;
        }
        otherwise
    }

    fn let_go<T>(&mut self) -> Result<Change<T>, ReadError> {
        self.quiet += 1;
        if open::is_wal(&self.path)? && self.quiet < PATIENCE {
            return Ok(Change::Quiet);
        }
        self.stage = Stage::Ended;
        Ok(Change::Ended)
    }
}
