//! A copy of a recording that is begun while that is looked through.

use super::redacted::MakeError;
use super::temporary::Folder;
use mcpreel_store::altered::{Altered, Rest};
use mcpreel_store::library::REEL;
use mcpreel_store::reader::Recording;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::thread::{Builder, JoinHandle};

#[derive(Debug)]
pub(super) struct Copying {
    thread: Option<JoinHandle<Result<Begun, MakeError>>>,
}

#[derive(Debug)]
pub(super) struct Begun {
    pub altered: Altered,
    pub folder: Folder,
}

impl Copying {
    /// Begins a copy of `recording`; none where that is not over yet, or there is no place for it.
    /// `rest` says where the frames of it are that stay as they are.
    pub fn start(recording: &Recording, rest: Rest) -> Option<Self> {
        let summary = recording.summary().ok()?;
        if !summary.state.is_final() {
            return None;
        }
        let (folder, reel) = place(&summary.id).ok()?;
        let recording = recording.another().ok()?;
        let begin = move || {
            Ok(Begun {
                altered: recording.alter(&reel, rest)?,
                folder,
            })
        };
        let thread = Builder::new().name("copy".into()).spawn(begin).ok()?;
        Some(Self {
            thread: Some(thread),
        })
    }

    pub fn finish(mut self) -> Result<Begun, MakeError> {
        let thread = self.thread.take();
        let thread = thread.expect("nobody else takes it, and this is done once");
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

impl Drop for Copying {
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
