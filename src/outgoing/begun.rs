//! A copy of a recording that is begun while that is looked through.

use super::redacted::MakeError;
use super::temporary::Folder;
use crate::store::altered::Altered;
use crate::store::library::REEL;
use crate::store::reader::Recording;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread::{Builder, JoinHandle};

/// A copy that a thread begins.
#[derive(Debug)]
pub(super) struct Begun {
    /// Taken by whoever wants it.
    thread: Option<JoinHandle<Result<Begin, MakeError>>>,
}

/// What was begun, its file and the folder of that.
pub(super) type Begin = (Altered, PathBuf, Folder);

impl Begun {
    /// Begins a copy of `recording`.
    pub fn start(recording: &Recording) -> Result<Self, MakeError> {
        let (folder, reel) = place(&recording.summary()?.id)?;
        let recording = recording.another()?;
        let begin = move || Ok((recording.alter(&reel)?, reel, folder));
        let thread = Builder::new().name("copy".into()).spawn(begin);
        Ok(Self {
            thread: Some(thread.map_err(MakeError::Folder)?),
        })
    }

    /// Waits for it.
    pub fn finish(mut self) -> Result<Begin, MakeError> {
        let thread = self.thread.take();
        let thread = thread.expect("nobody else takes it, and this is done once");
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

impl Drop for Begun {
    /// Nobody wants it: it is gone when this is.
    fn drop(&mut self) {
        // What it began vanishes with what it returns.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// A folder, and the file in it of a recording with this id.
pub(super) fn place(id: &str) -> Result<(Folder, PathBuf), MakeError> {
    let folder = Folder::make().map_err(MakeError::Folder)?;
    let reel = folder.path().join(Path::new(id)).with_extension(REEL);
    Ok((folder, reel))
}
