//! Signals that stop a session, and the end of a child, as something that can be polled with pipes.

use mcpreel_capture::process::signals::survive_large_files;
use mcpreel_capture::process::{context, signal_name};
use mcpreel_trace::event::{EventKind, Passed};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use signal_hook::SigId;
use signal_hook::low_level::{pipe, unregister};
use std::io::{self, Read as _, Write as _};
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

const STOPPING: [Signal; 4] = [
    Signal::SIGINT,
    Signal::SIGTERM,
    Signal::SIGHUP,
    Signal::SIGQUIT,
];

/// Signals that were caught. The terminal sends SIGINT to a server as well.
#[derive(Debug)]
pub struct Signals {
    /// Has something to read whenever a signal came, or a child has ended.
    pub(crate) wake: UnixStream,
    latest: Arc<AtomicUsize>,
    first: OnceLock<i32>,
    /// Registered until this is dropped.
    handlers: Vec<SigId>,
}

/// Stops a replay from another thread, as a signal does.
#[derive(Clone, Debug)]
pub struct Stopper {
    woken: Arc<UnixStream>,
    latest: Arc<AtomicUsize>,
}

impl Signals {
    /// Catches signals from now on, each only where it was not ignored at our start. A recording that
    /// may not grow does not end us either.
    pub fn catch() -> io::Result<Self> {
        let (mut signals, stopper) = Self::by_hand()?;
        let ignored = context::dispositions("self").unwrap_or_default().0;
        for signal in STOPPING.map(|signal| signal as i32) {
            if !ignored.contains(signal) {
                let number = usize::try_from(signal).unwrap_or_default();
                let latest = Arc::clone(&signals.latest);
                let flag = signal_hook::flag::register_usize(signal, latest, number)?;
                let wake = pipe::register(signal, stopper.woken.try_clone()?)?;
                signals.handlers.extend([flag, wake]);
            }
        }
        Ok(signals)
    }

    /// Catches no signal that ends programs: the [`Stopper`] stops the session.
    pub fn by_hand() -> io::Result<(Self, Stopper)> {
        survive_large_files();
        let (wake, woken) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        let signals = Self {
            wake,
            latest: Arc::default(),
            first: OnceLock::new(),
            handlers: vec![pipe::register(Signal::SIGCHLD as i32, woken.try_clone()?)?],
        };
        let stopper = Stopper {
            woken: Arc::new(woken),
            latest: Arc::clone(&signals.latest),
        };
        Ok((signals, stopper))
    }

    /// The signal that came since the last call, if one did.
    pub(crate) fn take(&self) -> Option<i32> {
        let mut buffer = [0; 64];
        while matches!((&self.wake).read(&mut buffer), Ok(1..)) {}
        let latest = i32::try_from(self.latest.swap(0, Ordering::SeqCst)).ok()?;
        // The exit code names the first one.
        (latest > 0).then(|| {
            self.first.get_or_init(|| latest);
            latest
        })
    }

    /// Whether a signal came.
    pub fn have_come(&self) -> bool {
        self.latest.load(Ordering::SeqCst) > 0 || self.first().is_some()
    }

    /// The first signal that was taken.
    pub fn first(&self) -> Option<i32> {
        self.first.get().copied()
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for handler in self.handlers.drain(..) {
            unregister(handler);
        }
    }
}

impl Stopper {
    /// Stops the replay; once more, and the server is killed.
    pub fn stop(&self) {
        let signal = usize::try_from(Signal::SIGINT as i32).unwrap_or_default();
        self.latest.store(signal, Ordering::SeqCst);
        // A replay that has gone needs no waking.
        let _ = (&*self.woken).write(&[0]);
    }
}

/// The record of a signal that stops a session.
pub(crate) fn signal_event(signal: i32, passed: Passed) -> EventKind {
    EventKind::Signal {
        signal: signal_name(signal),
        sender: None,
        passed,
    }
}

/// Waits until some of these are ready: which. One that is closed never is.
pub(crate) fn ready<const N: usize>(
    fds: [(Option<BorrowedFd<'_>>, PollFlags); N],
    timeout: PollTimeout,
) -> [bool; N] {
    let open = fds
        .iter()
        .filter_map(|(fd, flags)| Some(PollFd::new((*fd)?, *flags)));
    let mut open: Vec<_> = open.collect();
    let found = loop {
        match poll(&mut open, timeout) {
            Err(Errno::EINTR) => {}
            found => break found.is_ok_and(|count| count > 0),
        }
    };
    let mut open = open.iter().map(|fd| found && fd.any().unwrap_or(true));
    fds.map(|(fd, _)| fd.is_some() && open.next().unwrap_or(false))
}

/// Rounded up: a moment too early would be one more round of nothing.
pub(crate) fn within(time: Duration) -> PollTimeout {
    let millis = time.as_nanos().div_ceil(1_000_000);
    PollTimeout::from(u16::try_from(millis).unwrap_or(u16::MAX))
}
