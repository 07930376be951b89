//! Signals that reach us, and whether the server still has to be told.
//!
//! The server is in our process group. A signal from the terminal reaches both of us, and so does
//! one that was sent to the group; only one that was sent to us alone has to be passed on. The
//! last two cannot be told apart, so the server gets a moment to show that it has had it.

use super::context::{SignalSet, dispositions};
use mcpreel_trace::clock::Moment;
use mcpreel_trace::event::{EventKind, Passed};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Origin};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What we handle, each only where it is not to stay ignored.
const HANDLED: [Signal; 6] = [
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
];

/// A server that does not catch the signal and lives after this has not had it.
const FIRST_LOOK: Duration = Duration::from_millis(5);

/// A server that catches the signal gets this long to end of it before it is passed on.
const SECOND_LOOK: Duration = Duration::from_millis(50);

/// Keeps a file that grows over `RLIMIT_FSIZE` from ending us: the write then only fails. To be
/// called before the first write. The server gets the disposition that we were started with.
pub fn survive_large_files() {
    let too_large = Signal::SIGXFSZ as i32;
    if !ignored().contains(too_large) {
        // Without it the worst is what happens without us: the process that writes too much ends.
        drop(signal_hook::flag::register(too_large, Arc::default()));
    }
}

/// How long the thread that waits for signals may take to be scheduled.
pub const SCHEDULED: Duration = Duration::from_millis(100);

/// Which signals have arrived that nobody has been told about yet.
///
/// A signal can end the server sooner than the thread that waits for signals is scheduled. Whoever
/// ends the session then knows from here that something is still to come.
#[derive(Debug, Default)]
pub struct Arrivals(Vec<(i32, Arc<AtomicBool>)>);

impl Arrivals {
    /// Whether something is still to come.
    pub fn are_untold(&self) -> bool {
        self.0.iter().any(|(_, flag)| flag.load(Ordering::SeqCst))
    }

    /// Somebody has been told of `origin`.
    pub fn told(&self, origin: &Origin) {
        for (_, flag) in self.0.iter().filter(|(signal, _)| *signal == origin.signal) {
            flag.store(false, Ordering::SeqCst);
        }
    }
}

/// Signals with their origins, as they arrive.
pub type Caught = SignalsInfo<WithOrigin>;

/// The signals that are ignored since we were started, as `nohup` does it.
pub fn ignored() -> SignalSet {
    dispositions("self").unwrap_or_default().0
}

/// The same for whoever says that Ctrl-C ends it: shells ignore that for all that `&` starts in a script.
pub fn ignored_but_ctrl_c() -> SignalSet {
    ignored().without(Signal::SIGINT as i32)
}

/// From now on signals are told, but for those that are to stay `ignored`.
pub fn catch(ignored: SignalSet) -> io::Result<(Caught, Arrivals)> {
    let mut arrivals = Arrivals::default();
    for signal in HANDLED.map(|s| s as i32) {
        if !ignored.contains(signal) {
            let flag = Arc::default();
            signal_hook::flag::register(signal, Arc::clone(&flag))?;
            arrivals.0.push((signal, flag));
        }
    }
    if ignored.contains(Signal::SIGCHLD as i32) {
        // Ignored, it would make the kernel forget how the server ended.
        signal_hook::flag::register(Signal::SIGCHLD as i32, Arc::default())?;
    }
    let handled = arrivals.0.iter().map(|(signal, _)| signal);
    Ok((SignalsInfo::new(handled)?, arrivals))
}

/// A signal that reached us and about which nothing has been decided yet.
#[derive(Debug)]
pub struct Pending {
    signal: Signal,
    sender: Option<u32>,
    from_terminal: bool,
    arrived: Moment,
    looked: bool,
}

impl Pending {
    /// The signal that arrived with `origin` at `now`; `None` for a number that nobody sends us.
    pub fn new(origin: &Origin, now: Moment) -> Option<Self> {
        Some(Self {
            signal: Signal::try_from(origin.signal).ok()?,
            sender: origin.process.and_then(|p| u32::try_from(p.pid).ok()),
            from_terminal: matches!(origin.cause, Cause::Kernel),
            arrived: now,
            looked: false,
        })
    }

    pub fn due(&self) -> Moment {
        let wait = match (self.from_terminal, self.looked) {
            (true, _) => Duration::ZERO,
            (false, false) => FIRST_LOOK,
            (false, true) => SECOND_LOOK,
        };
        self.arrived + wait
    }

    /// Decides what is to be done now that it is `due`, for a server with process id `server`
    /// (`None`: it has ended). Returns the event once the decision is made.
    pub fn settle(&mut self, server: Option<Pid>) -> Option<EventKind> {
        let Some(server) = server.filter(|_| !self.from_terminal) else {
            return Some(self.event(Passed::NotNeeded));
        };
        // A server that does not catch it would be gone by now if it had had it, or ignores it
        // anyway. Where its dispositions cannot be read it is taken to catch it.
        let catches = dispositions(&server.to_string())
            .is_none_or(|(_, caught)| caught.contains(self.signal as i32));
        if catches && !self.looked {
            self.looked = true;
            return None;
        }
        // It may have ended just now; then it needs no signal.
        let _ = kill(server, self.signal);
        Some(self.event(if catches {
            Passed::PerhapsTwice
        } else {
            Passed::Once
        }))
    }

    fn event(&self, passed: Passed) -> EventKind {
        EventKind::Signal {
            signal: self.signal.as_str().to_owned(),
            sender: self.sender,
            passed,
        }
    }
}
