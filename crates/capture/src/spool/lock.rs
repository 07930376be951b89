//! Telling a living recorder from a dead one.

use super::open_regular;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use std::io;
use std::path::Path;

/// The spool belongs to whoever holds this.
#[derive(Debug)]
pub struct SpoolLock {
    _file: Flock<std::fs::File>,
}

#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// The recorder lives, or another reader is recovering the recording.
    #[error("the recorder is still running")]
    Held,
    #[error("there is no spool")]
    Missing,
    #[error("could not lock the spool")]
    Io(#[source] io::Error),
}

/// Takes the lock of the spool `path`, without waiting.
///
/// `flock` and not `fcntl`: the latter's locks vanish when any descriptor of the file is closed.
pub fn lock(path: &Path) -> Result<SpoolLock, LockError> {
    let file = open_regular(path, false).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => LockError::Missing,
        _ => LockError::Io(e),
    })?;
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        // Between opening and locking, its owner may have finished and removed it.
        Ok(file) if path.exists() => Ok(SpoolLock { _file: file }),
        Ok(_) => Err(LockError::Missing),
        Err((_, Errno::EWOULDBLOCK)) => Err(LockError::Held),
        Err((_, errno)) => Err(LockError::Io(errno.into())),
    }
}
