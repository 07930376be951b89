//! Noticing that a recording has changed, has ended, or has lost its recorder.
//!
//! Whoever watches owns the loop and calls [`Watch::poll`] every [`INTERVAL`]; asking costs some
//! microseconds as long as nothing has changed. As soon as the recording is complete its file is
//! let go, so that the recorder can make it one plain file.

use super::library::spool_of;
use super::open::{self, OpenError};
use super::reader::{ReadError, Recording};
use mcpreel_capture::spool;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub const INTERVAL: Duration = Duration::from_millis(33);

/// Polls without news between two looks at the recorder's lock.
const LOOK_EVERY: u32 = 15;

/// Polls for which a complete recording is left alone while its recorder makes it one plain file.
const PATIENCE: u32 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// There is no recording yet, only its spool.
    Waiting,
    Quiet,
    /// Something new: read it from [`Watch::recording`], then say so with [`Watch::settle`].
    Changed,
    /// The recorder was killed. [`super::recovery`] completes the recording; polling goes on
    /// where it was.
    Orphaned,
    /// The recording is complete, everything was read.
    Ended,
}

/// How far the reading of a change has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// There is more to read: the next poll says [`Change::Changed`] again.
    Partly,
    All,
    /// All of it, and there will be no more.
    Complete,
}

#[derive(Debug)]
pub struct Watch {
    path: PathBuf,
    recording: Option<Recording>,
    data_version: Option<i64>,
    /// The version that is being read.
    reading: Option<i64>,
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
            reading: None,
            quiet: 0,
            stage: Stage::Following,
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The recording, while it is open.
    pub fn recording(&self) -> Option<&Recording> {
        self.recording.as_ref()
    }

    /// What has happened since the last call.
    pub fn poll(&mut self) -> Result<Change, ReadError> {
        match self.stage {
            Stage::Ended => Ok(Change::Ended),
            Stage::LettingGo => self.let_go(),
            Stage::Following => self.follow(),
        }
    }

    /// What [`Change::Changed`] announced was read, so far.
    pub fn settle(&mut self, read: Read) {
        let frozen = self.recording.as_ref().is_some_and(Recording::is_frozen);
        if frozen {
            // What has no WAL beside it yet was opened as it lay there, and would never change.
            self.recording = None;
            self.data_version = None;
        } else {
            self.data_version = self.reading.filter(|_| read != Read::Partly);
        }
        match read {
            Read::Partly | Read::All => {}
            Read::Complete => {
                self.recording = None;
                self.quiet = 0;
                self.stage = Stage::LettingGo;
            }
        }
    }

    /// Counts a change that held nothing new like no change; see [`Self::poll`].
    pub fn nothing_new(&mut self) -> Change {
        self.wait(Change::Quiet)
    }

    pub fn news(&mut self) {
        self.quiet = 0;
    }

    fn follow(&mut self) -> Result<Change, ReadError> {
        if self.recording.is_none() {
            self.recording = self.open()?;
        }
        let Some(recording) = &self.recording else {
            return Ok(self.wait(Change::Waiting));
        };
        let version = recording.data_version()?;
        if self.data_version == Some(version) && !recording.is_frozen() {
            return Ok(self.wait(Change::Quiet));
        }
        self.reading = Some(version);
        Ok(Change::Changed)
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
    fn wait(&mut self, otherwise: Change) -> Change {
        self.quiet += 1;
        if self.quiet.is_multiple_of(LOOK_EVERY) && spool::lock(&spool_of(&self.path)).is_ok() {
            self.recording = None;
            self.data_version = None;
            return Change::Orphaned;
        }
        otherwise
    }

    fn let_go(&mut self) -> Result<Change, ReadError> {
        self.quiet += 1;
        if open::is_wal(&self.path)? && self.quiet < PATIENCE {
            return Ok(Change::Quiet);
        }
        self.stage = Stage::Ended;
        Ok(Change::Ended)
    }
}
