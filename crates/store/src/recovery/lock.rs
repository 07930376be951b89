//! Who may complete a recording: whoever has the lock of its spool, and may write.

use mcpreel_capture::spool::{self, LockError, SpoolLock};
use nix::unistd::{AccessFlags, access};
use std::path::Path;
use std::time::Duration;

/// How often the lock is tried: whoever only looks whether a recorder lives holds it for
/// microseconds.
const ATTEMPTS: u32 = 5;

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(2);

/// How often the lock of a recording is tried that somebody else is creating: two seconds.
const CREATION_ATTEMPTS: u32 = 100;

/// The pause between two of these.
const CREATION_PAUSE: Duration = Duration::from_millis(20);

/// Takes the lock of the spool `path`. Whoever `is_creating` the recording gets time for that.
pub fn lock_patiently(path: &Path, is_creating: &dyn Fn() -> bool) -> Result<SpoolLock, LockError> {
    let mut attempts = 1;
    loop {
        let result = spool::lock(path);
        let pause = match attempts {
            _ if !matches!(result, Err(LockError::Held)) => return result,
            ..ATTEMPTS => PAUSE,
            ..CREATION_ATTEMPTS if is_creating() => CREATION_PAUSE,
            _ => return result,
        };
        std::thread::sleep(pause);
        attempts += 1;
    }
}

pub fn is_writable(reel: &Path, spool: &Path) -> bool {
    (may_write(reel) || !reel.exists()) && may_write(spool) && reel.parent().is_none_or(may_write)
}

pub fn may_write(path: &Path) -> bool {
    let path = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    access(path, AccessFlags::W_OK).is_ok()
}
