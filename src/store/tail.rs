//! Following a live recording.
//!
//! Whoever follows owns the loop and calls [`Tail::poll`] every [`INTERVAL`]; asking costs some
//! microseconds as long as nothing has changed. Reads are short, so that the recorder's WAL never
//! grows because of them. As soon as the recording is complete its file is let go, so that the
//! recorder can make it one plain file.

use super::library::spool_of;
use super::open::{self, OpenError};
use super::reader::{EventRow, FindingRow, MessageRow, ReadError, Recording, Summary};
use crate::capture::spool;
use crate::trace::exchange::{Exchange, ExchangeId, Status};
use crate::trace::frame::{FrameHead, Seq};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The time between two polls.
pub const INTERVAL: Duration = Duration::from_millis(33);

/// Frames that one poll hands over at most.
const PAGE: u32 = 500;

/// Polls without news between two looks at the recorder's lock.
const LOOK_EVERY: u32 = 15;

/// Polls for which a complete recording is left alone while its recorder makes it one plain file.
const PATIENCE: u32 = 8;

/// Whether the recorder of the recording `reel` was killed or has left a part in its spool: there
/// is a spool, and nobody writes it. To be asked a few times a second at most.
#[must_use]
pub fn is_orphaned(reel: &Path) -> bool {
    spool::lock(&spool_of(reel)).is_ok()
}

/// What a poll found.
#[derive(Debug)]
pub enum Update {
    /// There is no recording yet, only its spool.
    Waiting,
    /// Nothing new.
    Quiet,
    /// Something new. If there is more, the next poll need not wait.
    News(Box<News>),
    /// The recorder was killed. [`super::recovery`] completes the recording; polling goes on
    /// where it was.
    Orphaned,
    /// The recording is complete, everything was handed over.
    Ended,
}

/// What is new since the last poll. Events belong after the frame `after_seq`.
#[derive(Debug)]
pub struct News {
    /// The session as it stands now.
    pub summary: Summary,
    /// New frames, in order.
    pub frames: Vec<FrameHead>,
    /// Their messages.
    pub messages: Vec<MessageRow>,
    /// Exchanges that are new or have changed, as they stand now.
    pub exchanges: Vec<Exchange>,
    /// New events, in order.
    pub events: Vec<EventRow>,
    /// New findings.
    pub findings: Vec<FindingRow>,
    /// Whether there is more to read at once.
    pub more: bool,
}

/// Follows one recording.
#[derive(Debug)]
pub struct Tail {
    path: PathBuf,
    recording: Option<Recording>,
    data_version: Option<i64>,
    seen: Seen,
    /// Polls without news.
    quiet: u32,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Following,
    /// Everything was handed over; the recorder may want the file for itself.
    LettingGo,
    Ended,
}

/// What was handed over.
#[derive(Debug, Default)]
struct Seen {
    frame: Seq,
    event: u64,
    finding: u64,
    /// Exchanges whose status may change without a further message: at the end.
    unsettled: BTreeSet<ExchangeId>,
}

impl Tail {
    /// Follows the recording `path` from its beginning.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            recording: None,
            data_version: None,
            seen: Seen::default(),
            quiet: 0,
            stage: Stage::Following,
        }
    }

    /// The recording, while it is open: for reading bytes of what was handed over.
    #[must_use]
    pub fn recording(&self) -> Option<&Recording> {
        self.recording.as_ref()
    }

    /// What has happened since the last call.
    pub fn poll(&mut self) -> Result<Update, ReadError> {
        match self.stage {
            Stage::Ended => Ok(Update::Ended),
            Stage::LettingGo => self.let_go(),
            Stage::Following => self.follow(),
        }
    }

    fn follow(&mut self) -> Result<Update, ReadError> {
        let recording = match self.recording.take() {
            Some(recording) => recording,
            None => match self.open()? {
                Some(recording) => recording,
                None => return Ok(self.wait(Update::Waiting)),
            },
        };
        let version = recording.data_version()?;
        if self.data_version == Some(version) && !recording.is_frozen() {
            self.recording = Some(recording);
            return Ok(self.wait(Update::Quiet));
        }
        let news = recording.in_one_read(|recording| self.seen.advance(recording))?;
        let is_final = news.summary.state.is_final();
        // What has no WAL beside it yet was opened as it lay there, and would never change.
        if recording.is_frozen() {
            self.data_version = None;
        } else {
            self.data_version = (!news.more).then_some(version);
            self.recording = Some(recording);
        }
        if is_final && !news.more {
            self.recording = None;
            self.quiet = 0;
            self.stage = Stage::LettingGo;
        }
        if news.is_empty() && !is_final {
            return Ok(self.wait(Update::Quiet));
        }
        self.quiet = 0;
        Ok(Update::News(Box::new(news)))
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
    fn wait(&mut self, otherwise: Update) -> Update {
        self.quiet += 1;
        if self.quiet.is_multiple_of(LOOK_EVERY) && is_orphaned(&self.path) {
            self.recording = None;
            self.data_version = None;
            return Update::Orphaned;
        }
        otherwise
    }

    fn let_go(&mut self) -> Result<Update, ReadError> {
        self.quiet += 1;
        if open::is_wal(&self.path)? && self.quiet < PATIENCE {
            return Ok(Update::Quiet);
        }
        self.stage = Stage::Ended;
        Ok(Update::Ended)
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
    /// Reads what is new.
    fn advance(&mut self, recording: &Recording) -> Result<News, ReadError> {
        let summary = recording.summary()?;
        let frames = recording.heads(self.frame, PAGE)?;
        let more = frames.len() == PAGE as usize;
        let last = frames.last().map_or(self.frame, |head| head.seq);
        let messages = recording.messages_between(self.frame, last)?;
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

    /// The exchanges that `messages` belong to, and those that wait for them. At the end also
    /// those that were open.
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
