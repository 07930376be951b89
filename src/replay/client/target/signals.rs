//! The user who wants it to stop, and the server that has ended, as something to be polled.

use crate::capture::process::signals::survive_large_files;
use nix::sys::signal::Signal;
use signal_hook::low_level::pipe;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What stops a replay.
const STOPPING: [Signal; 4] = [
    Signal::SIGINT,
    Signal::SIGTERM,
    Signal::SIGHUP,
    Signal::SIGQUIT,
];

/// Signals that were caught. The terminal sends SIGINT to the server as well.
#[derive(Debug)]
pub struct Signals {
    /// Has something to read whenever a signal came.
    pub(super) wake: Wake,
    latest: Arc<AtomicUsize>,
    first: AtomicUsize,
}

/// The reading end of what the handlers write.
#[derive(Debug)]
pub(super) struct Wake(UnixStream);

impl AsFd for Wake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Signals {
    /// Catches them from now on. A recording that may not grow is no reason to end either.
    pub fn catch() -> io::Result<Self> {
        survive_large_files();
        let (wake, woken) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        let latest = Arc::new(AtomicUsize::new(0));
        for signal in STOPPING {
            let number = usize::try_from(signal as i32).unwrap_or_default();
            signal_hook::flag::register_usize(signal as i32, Arc::clone(&latest), number)?;
            pipe::register(signal as i32, woken.try_clone()?)?;
        }
        pipe::register(Signal::SIGCHLD as i32, woken)?;
        Ok(Self {
            wake: Wake(wake),
            latest,
            first: AtomicUsize::new(0),
        })
    }

    /// Takes what the handlers wrote.
    pub(super) fn clear(&self) {
        let mut buffer = [0; 64];
        while matches!((&self.wake.0).read(&mut buffer), Ok(1..)) {}
    }

    /// The signal by which the user wants it to stop, once for each time.
    pub(super) fn take(&self) -> Option<i32> {
        let latest = self.latest.swap(0, Ordering::SeqCst);
        if latest == 0 {
            return None;
        }
        // Which one ended it is what the exit code says.
        let _ = self
            .first
            .compare_exchange(0, latest, Ordering::SeqCst, Ordering::SeqCst);
        i32::try_from(latest).ok()
    }

    /// The first signal that was taken.
    #[must_use]
    pub fn first(&self) -> Option<i32> {
        let first = self.first.load(Ordering::SeqCst);
        i32::try_from(first).ok().filter(|first| *first > 0)
    }
}
