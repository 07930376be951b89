//! A file that is whole or not there.

use super::temporary::Draft;
use std::fs::Metadata;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Bytes that are written at once.
const BUFFER: usize = 256 * 1024;

#[derive(Debug, thiserror::Error)]
pub enum WholeError {
    /// A file of that name is there, and may not be replaced.
    #[error("{} is there already", .0.display())]
    IsThere(PathBuf),
    /// It would take the place of what is read.
    #[error("that is the recording itself, which would be gone")]
    IsRecording,
    #[error("could not write {}", .0.display())]
    Write(PathBuf, #[source] io::Error),
}

/// A file that appears when it is whole.
#[derive(Debug)]
pub struct Whole {
    pub path: PathBuf,
    pub draft: Draft,
    /// Whether it may take the place of another one.
    pub may: Replace,
}

/// Whether a file that is there already may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
    Yes,
    No,
}

impl Whole {
    /// Begins. `reel` is the recording that is read, which must not be replaced; another file is
    /// if it `may` be.
    pub fn begin(path: &Path, reel: &Path, may: Replace) -> Result<Self, WholeError> {
        // Through a link its target is written: it may stand elsewhere for a reason.
        let resolved = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        match resolved.metadata() {
            Ok(there) if there.is_dir() => {
                let why = io::Error::from(io::ErrorKind::IsADirectory);
                return Err(WholeError::Write(path.to_owned(), why));
            }
            Ok(there) if is_special(&there) => {
                let why = io::Error::other("it is no regular file");
                return Err(WholeError::Write(path.to_owned(), why));
            }
            Ok(there) if is_same(&there, reel) => {
                return Err(WholeError::IsRecording);
            }
            Ok(_) if may == Replace::No => return Err(WholeError::IsThere(path.to_owned())),
            _ => {}
        }
        let draft =
            Draft::beside(&resolved).map_err(|error| WholeError::Write(path.to_owned(), error))?;
        Ok(Self {
            path: resolved,
            draft,
            may,
        })
    }

    pub fn finish(self) -> Result<(), WholeError> {
        let settled = self.draft.settle(&self.path, self.may);
        settled.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => WholeError::IsThere(self.path),
            _ => WholeError::Write(self.path, error),
        })
    }
}

/// Whether something is neither file nor folder: a pipe, a device.
pub fn is_special(there: &Metadata) -> bool {
    !there.is_file() && !there.is_dir()
}

fn is_same(there: &Metadata, reel: &Path) -> bool {
    let identity = |file: &Metadata| (file.dev(), file.ino());
    reel.metadata()
        .is_ok_and(|reel| identity(&reel) == identity(there))
}

#[derive(Debug)]
pub struct Counted<W: Write> {
    out: BufWriter<W>,
    bytes: u64,
}

impl<W: Write> Counted<W> {
    pub fn new(out: W) -> Self {
        Self {
            out: BufWriter::with_capacity(BUFFER, out),
            bytes: 0,
        }
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn into_inner(self) -> io::Result<W> {
        self.out
            .into_inner()
            .map_err(io::IntoInnerError::into_error)
    }
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
