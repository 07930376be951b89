//! Following a live recording: noticing that it has changed, has ended, or has lost its recorder.
//!
//! Whoever follows owns the loop and calls [`Watch::poll`] every [`INTERVAL`]; asking costs some
//! microseconds as long as nothing has changed. Reads are short, so that the recorder's WAL never
//! grows because of them. As soon as the recording is complete its file is let go, so that the
//! recorder can make it one plain file.

use super::library::spool_of;
use super::open;
use super::open::OpenError;
use super::reader::{ReadError, Recording};
use mcpreel_capture::spool::{self, SpoolReader};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub const INTERVAL: Duration = Duration::from_millis(33);

/// Polls without news between two looks at the recorder's lock.
const LOOK_EVERY: u32 = 15;

/// An indexer that has not come further for so long was stopped: beside busy processes it may take
/// seconds for what is left.
pub(super) const STANDSTILL: Duration = Duration::from_secs(10);

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
    pub fn poll<T, E: From<ReadError>>(
        &mut self,
        read: impl FnOnce(&Recording) -> Result<Read<T>, E>,
    ) -> Result<Change<T>, E> {
        match self.stage {
            Stage::Ended => return Ok(Change::Ended),
            Stage::LettingGo => return Ok(self.let_go()?),
            Stage::Following => {}
        }
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

    /// `otherwise`, unless the recorder has gone, and its indexer too, or that stands still.
    fn wait<T>(&mut self, otherwise: Change<T>) -> Change<T> {
        self.quiet += 1;
        let spool = spool_of(&self.path);
        let is_orphaned = || {
            let indexed = SpoolReader::open(&spool).is_ok_and(|it| it.progress().indexer_lives());
            spool::lock(&spool).is_ok() && (!indexed || INTERVAL * self.quiet > STANDSTILL)
        };
        if self.quiet.is_multiple_of(LOOK_EVERY) && is_orphaned() {
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
